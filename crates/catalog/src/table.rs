//! [`TableDescriptor`]: a table's families and settings (HBase: TableDescriptor), and [`TableState`].

use crate::coprocessor::{CoprocessorSpec, is_coprocessor_key};
use crate::{Attributes, CatalogError, FamilyDescriptor, TableName, attributes, with_magic, without_magic};
use bytes::Bytes;
use martite_cell::Order;
use martite_proto::{self as pb, Message};
use std::collections::BTreeMap;

pub const IS_META: &str = "IS_META";
/// The attribute that HBase adds to each table it creates.
pub const FILE_TRACKER: &str = "hbase.store.file-tracker.impl";

/// The names that DURABILITY may have.
pub const DURABILITIES: [&str; 5] = ["USE_DEFAULT", "SKIP_WAL", "ASYNC_WAL", "SYNC_WAL", "FSYNC_WAL"];

/// A table's descriptor. Families are ordered by name; getters give HBase's defaults for what is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDescriptor {
    name: TableName,
    pub attributes: Attributes,
    families: BTreeMap<Bytes, FamilyDescriptor>,
    configuration: BTreeMap<String, String>,
}

impl TableDescriptor {
    pub fn new(name: TableName) -> TableDescriptor {
        let is_meta = if name.is_meta() { "true" } else { "false" };
        TableDescriptor {
            name,
            attributes: [(IS_META, is_meta)].into_iter().collect(),
            families: BTreeMap::new(),
            configuration: BTreeMap::new(),
        }
    }

    /// The same with one family added or replaced.
    pub fn with_family(mut self, family: FamilyDescriptor) -> TableDescriptor {
        self.set_family(family);
        self
    }

    /// The same with one attribute set.
    pub fn with(mut self, key: &str, value: &str) -> TableDescriptor {
        self.attributes.set(key, value.as_bytes().to_vec());
        self
    }

    /// Takes what was sent; refuses only illegal names.
    pub fn from_proto(schema: &pb::TableSchema) -> Result<TableDescriptor, CatalogError> {
        let name =
            schema.table_name.as_ref().ok_or_else(|| CatalogError::malformed("table schema", "no table name"))?;
        let mut table = TableDescriptor::new(TableName::from_proto(name)?);
        let is_meta = table.attributes.clone();
        table.attributes = Attributes::from_proto(&schema.attributes);
        // Whatever the client says, only hbase:meta is meta.
        for (key, value) in is_meta.iter() {
            table.attributes.set(&String::from_utf8_lossy(key), value.clone());
        }
        for family in &schema.column_families {
            table.set_family(FamilyDescriptor::from_proto(family)?);
        }
        table.configuration = attributes::pairs_from_proto(&schema.configuration);
        Ok(table)
    }

    pub fn to_proto(&self) -> pb::TableSchema {
        pb::TableSchema {
            table_name: Some(self.name.to_proto()),
            attributes: self.attributes.to_proto(),
            column_families: self.families.values().map(FamilyDescriptor::to_proto).collect(),
            configuration: attributes::pairs_to_proto(&self.configuration),
        }
    }

    /// `PBUF` and the message: the content of `.tableinfo` files.
    pub fn to_bytes(&self) -> Vec<u8> {
        with_magic(&self.to_proto())
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<TableDescriptor, CatalogError> {
        let body = without_magic(bytes, "table descriptor")?;
        let schema = pb::TableSchema::decode(body).map_err(|e| CatalogError::malformed("table descriptor", e))?;
        TableDescriptor::from_proto(&schema)
    }

    pub fn name(&self) -> &TableName {
        &self.name
    }
    pub fn families(&self) -> impl Iterator<Item = &FamilyDescriptor> {
        self.families.values()
    }
    pub fn family_count(&self) -> usize {
        self.families.len()
    }
    pub fn family(&self, name: &[u8]) -> Option<&FamilyDescriptor> {
        self.families.get(name)
    }
    /// Adds or replaces a family.
    pub fn set_family(&mut self, family: FamilyDescriptor) {
        self.families.insert(family.name().clone(), family);
    }
    pub fn remove_family(&mut self, name: &[u8]) -> Option<FamilyDescriptor> {
        self.families.remove(name)
    }

    pub fn is_meta(&self) -> bool {
        self.name.is_meta()
    }
    /// The order of the table's cells.
    pub fn order(&self) -> Order {
        if self.is_meta() { Order::Meta } else { Order::Default }
    }
    /// Store size at which a region splits, when the table says so.
    pub fn max_file_size_bytes(&self) -> Option<u64> {
        self.attributes.parsed::<i64>("MAX_FILESIZE").and_then(|v| u64::try_from(v).ok())
    }
    pub fn is_read_only(&self) -> bool {
        self.attributes.bool_or("READONLY", false)
    }
    /// Memstore size at which a region flushes, when the table says so.
    pub fn memstore_flush_size_bytes(&self) -> Option<u64> {
        self.attributes.parsed::<i64>("MEMSTORE_FLUSHSIZE").and_then(|v| u64::try_from(v).ok())
    }
    /// The message's durability; USE_DEFAULT when absent.
    pub fn durability(&self) -> pb::mutation_proto::Durability {
        use pb::mutation_proto::Durability;
        match self.attributes.name_or("DURABILITY", "USE_DEFAULT").as_str() {
            "SKIP_WAL" => Durability::SkipWal,
            "ASYNC_WAL" => Durability::AsyncWal,
            "SYNC_WAL" => Durability::SyncWal,
            "FSYNC_WAL" => Durability::FsyncWal,
            _ => Durability::UseDefault,
        }
    }
    pub fn region_replication(&self) -> i32 {
        self.attributes.parsed("REGION_REPLICATION").unwrap_or(1)
    }
    pub fn priority(&self) -> i32 {
        self.attributes.parsed("PRIORITY").unwrap_or(0)
    }
    pub fn is_compaction_enabled(&self) -> bool {
        self.attributes.bool_or("COMPACTION_ENABLED", true)
    }
    pub fn is_split_enabled(&self) -> bool {
        self.attributes.bool_or("SPLIT_ENABLED", true)
    }
    pub fn is_merge_enabled(&self) -> bool {
        self.attributes.bool_or("MERGE_ENABLED", true)
    }
    /// None when the table leaves it to the configuration.
    pub fn is_normalization_enabled(&self) -> Option<bool> {
        self.attributes.text("NORMALIZATION_ENABLED").map(|v| v.eq_ignore_ascii_case("true"))
    }
    /// A Java class name.
    pub fn split_policy(&self) -> Option<&str> {
        self.attributes.text("SPLIT_POLICY")
    }
    /// A Java class name.
    pub fn flush_policy(&self) -> Option<&str> {
        self.attributes.text("FLUSH_POLICY")
    }
    /// An override of a configuration key for this table.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.attributes.text(key)
    }
    /// Every `coprocessor$N` attribute: its key, its text, and what it says if it can be read.
    pub fn coprocessors(&self) -> Vec<(String, String, Option<CoprocessorSpec>)> {
        self.attributes
            .iter()
            .filter(|(key, _)| is_coprocessor_key(key))
            .map(|(key, value)| {
                let text = String::from_utf8_lossy(value).into_owned();
                let spec = CoprocessorSpec::parse(&text);
                (String::from_utf8_lossy(key).into_owned(), text, spec)
            })
            .collect()
    }

    /// Refuses attributes that HBase would fail to read.
    pub fn check(&self) -> Result<(), CatalogError> {
        for key in ["MAX_FILESIZE", "MEMSTORE_FLUSHSIZE", "NORMALIZER_TARGET_REGION_SIZE_MB"] {
            self.attributes.check::<i64>(key, "a number")?;
        }
        for key in ["REGION_REPLICATION", "PRIORITY", "NORMALIZER_TARGET_REGION_COUNT"] {
            self.attributes.check::<i32>(key, "a number")?;
        }
        self.attributes.check_name("DURABILITY", &DURABILITIES)?;
        self.families.values().try_for_each(FamilyDescriptor::check)
    }
}

/// Whether a table serves; the values are those of the TableState message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableState {
    Enabled = 0,
    Disabled = 1,
    Disabling = 2,
    Enabling = 3,
}

impl TableState {
    pub fn from_code(code: i32) -> Option<TableState> {
        Some(match code {
            0 => TableState::Enabled,
            1 => TableState::Disabled,
            2 => TableState::Disabling,
            3 => TableState::Enabling,
            _ => return None,
        })
    }

    pub fn name(self) -> &'static str {
        match self {
            TableState::Enabled => "ENABLED",
            TableState::Disabled => "DISABLED",
            TableState::Disabling => "DISABLING",
            TableState::Enabling => "ENABLING",
        }
    }

    pub fn to_proto(self) -> pb::TableState {
        pb::TableState { state: self as i32 }
    }

    /// The value of table:state: the message without magic.
    pub fn to_bytes(self) -> Vec<u8> {
        self.to_proto().encode_to_vec()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<TableState, CatalogError> {
        let state = pb::TableState::decode(bytes).map_err(|e| CatalogError::malformed("table state", e))?.state;
        TableState::from_code(state).ok_or_else(|| CatalogError::malformed("table state", format!("code {state}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn descriptor() -> TableDescriptor {
        TableDescriptor::new(TableName::parse("ns:t").unwrap())
            .with_family(FamilyDescriptor::new("b"))
            .with_family(FamilyDescriptor::new("a").with("TTL", "5"))
            .with("MAX_FILESIZE", "1048576")
            .with("coprocessor$1", "|org.example.C|7|")
            .with("my.key", "my value")
    }

    #[test]
    fn bytes_round_trip() {
        let table = descriptor();
        let read = TableDescriptor::from_bytes(&table.to_bytes()).unwrap();
        assert_eq!(read, table);
        let names: Vec<_> = read.families().map(|f| f.name_string()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!((read.max_file_size_bytes(), read.setting("my.key")), (Some(1_048_576), Some("my value")));
        assert_eq!(read.attributes.text(IS_META), Some("false"));
        assert_eq!(read.coprocessors()[0].2.as_ref().unwrap().priority, 7);
        assert!(TableDescriptor::from_bytes(b"PBUF\x0a\xff").is_err());
    }

    #[test]
    fn defaults_are_hbases() {
        let table = TableDescriptor::new(TableName::parse("t").unwrap());
        assert_eq!((table.max_file_size_bytes(), table.memstore_flush_size_bytes()), (None, None));
        assert!(table.is_split_enabled() && table.is_compaction_enabled() && !table.is_read_only());
        assert_eq!((table.region_replication(), table.priority()), (1, 0));
        assert_eq!(table.durability(), pb::mutation_proto::Durability::UseDefault);
    }

    #[test]
    fn a_client_cannot_declare_its_table_meta() {
        let mut schema = descriptor().to_proto();
        schema.attributes.push(pb::BytesBytesPair { first: IS_META.into(), second: "true".into() });
        assert_eq!(TableDescriptor::from_proto(&schema).unwrap().attributes.text(IS_META), Some("false"));
    }

    #[test]
    fn states_round_trip() {
        assert_eq!(TableState::Enabled.to_bytes(), [8, 0]);
        assert_eq!(TableState::from_bytes(&TableState::Enabling.to_bytes()).unwrap(), TableState::Enabling);
        assert!(TableState::from_bytes(&[8, 9]).is_err());
    }
}
