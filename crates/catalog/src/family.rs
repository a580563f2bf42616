//! [`FamilyDescriptor`]: a column family's name and settings (HBase: ColumnFamilyDescriptor).

use crate::{Attributes, CatalogError, attributes, to_string_binary};
use bytes::Bytes;
use martite_cell::key::MAX_FAMILY_LENGTH;
use martite_proto as pb;
use std::collections::BTreeMap;

/// TTL of cells that never expire, in seconds.
pub const FOREVER_S: i64 = i32::MAX as i64;
/// VERSIONS that keeps everything.
pub const ALL_VERSIONS: u32 = i32::MAX as u32;
pub const DEFAULT_BLOCK_SIZE_BYTES: u32 = 65536;
pub const DEFAULT_MOB_THRESHOLD_BYTES: u64 = 102_400;

/// The attributes that HBase's builder always sends, with their defaults.
pub const DEFAULTS: [(&str, &str); 12] = [
    ("BLOCKCACHE", "true"),
    ("BLOCKSIZE", "65536"),
    ("BLOOMFILTER", "ROW"),
    ("COMPRESSION", "NONE"),
    ("DATA_BLOCK_ENCODING", "NONE"),
    ("INDEX_BLOCK_ENCODING", "NONE"),
    ("IN_MEMORY", "false"),
    ("KEEP_DELETED_CELLS", "FALSE"),
    ("MIN_VERSIONS", "0"),
    ("REPLICATION_SCOPE", "0"),
    ("TTL", "2147483647"),
    ("VERSIONS", "1"),
];

const COMPRESSIONS: [&str; 9] = ["LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"];
pub const BLOOMS: [&str; 4] = ["NONE", "ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH"];
const ENCODINGS: [&str; 5] = ["NONE", "PREFIX", "DIFF", "FAST_DIFF", "ROW_INDEX_V1"];

/// What happens to cells behind a delete marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepDeletedCells {
    False,
    True,
    /// Kept until the marker itself expires.
    Ttl,
}

/// A family's descriptor. The getters give HBase's defaults for what is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyDescriptor {
    name: Bytes,
    pub attributes: Attributes,
    /// Overrides of configuration keys for this family.
    pub configuration: BTreeMap<String, String>,
}

impl FamilyDescriptor {
    /// A family with the attributes that HBase's builder sends by default.
    pub fn new(name: &str) -> FamilyDescriptor {
        FamilyDescriptor {
            name: Bytes::copy_from_slice(name.as_bytes()),
            attributes: DEFAULTS.into_iter().collect(),
            configuration: BTreeMap::new(),
        }
    }

    /// The same with one attribute set; for descriptors written in code.
    pub fn with(mut self, key: &str, value: &str) -> FamilyDescriptor {
        self.attributes.set(key, value.as_bytes().to_vec());
        self
    }

    /// Takes what was sent; refuses only an illegal name.
    pub fn from_proto(schema: &pb::ColumnFamilySchema) -> Result<FamilyDescriptor, CatalogError> {
        check_family_name(&schema.name)?;
        Ok(FamilyDescriptor {
            name: schema.name.clone(),
            attributes: Attributes::from_proto(&schema.attributes),
            configuration: attributes::pairs_from_proto(&schema.configuration),
        })
    }

    pub fn to_proto(&self) -> pb::ColumnFamilySchema {
        pb::ColumnFamilySchema {
            name: self.name.clone(),
            attributes: self.attributes.to_proto(),
            configuration: attributes::pairs_to_proto(&self.configuration),
        }
    }

    pub fn name(&self) -> &Bytes {
        &self.name
    }
    /// The name as directories and messages have it.
    pub fn name_string(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }

    pub fn max_versions(&self) -> u32 {
        self.attributes.parsed("VERSIONS").unwrap_or(1)
    }
    pub fn min_versions(&self) -> u32 {
        self.attributes.parsed("MIN_VERSIONS").unwrap_or(0)
    }
    /// Seconds; [`FOREVER_S`] when cells do not expire.
    pub fn ttl_s(&self) -> i64 {
        match self.attributes.text("TTL") {
            Some(v) if v.trim().eq_ignore_ascii_case("FOREVER") => FOREVER_S,
            _ => self.attributes.parsed("TTL").unwrap_or(FOREVER_S),
        }
    }
    /// Milliseconds; None when cells do not expire.
    pub fn ttl_ms(&self) -> Option<u64> {
        match self.ttl_s() {
            FOREVER_S => None,
            s => Some((s.max(0) as u64).saturating_mul(1000)),
        }
    }
    pub fn block_size_bytes(&self) -> u32 {
        self.attributes.parsed("BLOCKSIZE").unwrap_or(DEFAULT_BLOCK_SIZE_BYTES)
    }
    pub fn is_in_memory(&self) -> bool {
        self.attributes.bool_or("IN_MEMORY", false)
    }
    /// Whether data blocks that are read are cached.
    pub fn is_block_cache(&self) -> bool {
        self.attributes.bool_or("BLOCKCACHE", true)
    }
    /// NONE, ROW, ROWCOL or ROWPREFIX_FIXED_LENGTH.
    pub fn bloom_filter(&self) -> String {
        self.attributes.name_or("BLOOMFILTER", "ROW")
    }
    /// The prefix length of ROWPREFIX_FIXED_LENGTH.
    pub fn bloom_prefix_length(&self) -> Option<usize> {
        let key = "RowPrefixBloomFilter.prefix_length";
        self.attributes.parsed(key).or_else(|| self.configuration.get(key).and_then(|v| v.trim().parse().ok()))
    }
    /// HBase's name of the algorithm, upper case.
    pub fn compression(&self) -> String {
        self.attributes.name_or("COMPRESSION", "NONE")
    }
    /// The algorithm of compacted files; `major` chooses COMPRESSION_COMPACT_MAJOR or _MINOR.
    pub fn compaction_compression(&self, major: bool) -> String {
        let special = if major { "COMPRESSION_COMPACT_MAJOR" } else { "COMPRESSION_COMPACT_MINOR" };
        [special, "COMPRESSION_COMPACT"]
            .iter()
            .find_map(|key| self.attributes.text(key))
            .map_or_else(|| self.compression(), str::to_ascii_uppercase)
    }
    /// NONE, PREFIX, DIFF, FAST_DIFF or ROW_INDEX_V1.
    pub fn data_block_encoding(&self) -> String {
        self.attributes.name_or("DATA_BLOCK_ENCODING", "NONE")
    }
    pub fn keep_deleted_cells(&self) -> KeepDeletedCells {
        match self.attributes.name_or("KEEP_DELETED_CELLS", "FALSE").as_str() {
            "TRUE" => KeepDeletedCells::True,
            "TTL" => KeepDeletedCells::Ttl,
            _ => KeepDeletedCells::False,
        }
    }
    /// 0: not replicated; 1: to all peers; 2: serially (legacy).
    pub fn replication_scope(&self) -> i32 {
        self.attributes.parsed("REPLICATION_SCOPE").unwrap_or(0)
    }
    pub fn is_new_version_behavior(&self) -> bool {
        self.attributes.bool_or("NEW_VERSION_BEHAVIOR", false)
    }
    pub fn is_cache_data_on_write(&self) -> bool {
        self.attributes.bool_or("CACHE_DATA_ON_WRITE", false)
    }
    pub fn is_cache_indexes_on_write(&self) -> bool {
        self.attributes.bool_or("CACHE_INDEX_ON_WRITE", false)
    }
    pub fn is_cache_blooms_on_write(&self) -> bool {
        self.attributes.bool_or("CACHE_BLOOMS_ON_WRITE", false)
    }
    pub fn is_evict_blocks_on_close(&self) -> bool {
        self.attributes.bool_or("EVICT_BLOCKS_ON_CLOSE", false)
    }
    pub fn is_prefetch_blocks_on_open(&self) -> bool {
        self.attributes.bool_or("PREFETCH_BLOCKS_ON_OPEN", false)
    }
    pub fn is_compress_tags(&self) -> bool {
        self.attributes.bool_or("COMPRESS_TAGS", true)
    }
    /// NONE, BASIC, EAGER or ADAPTIVE, when the family says so.
    pub fn in_memory_compaction(&self) -> Option<String> {
        self.attributes.text("IN_MEMORY_COMPACTION").map(str::to_ascii_uppercase)
    }
    pub fn is_mob(&self) -> bool {
        self.attributes.bool_or("IS_MOB", false)
    }
    pub fn mob_threshold_bytes(&self) -> u64 {
        self.attributes.parsed("MOB_THRESHOLD").unwrap_or(DEFAULT_MOB_THRESHOLD_BYTES)
    }
    pub fn dfs_replication(&self) -> i32 {
        self.attributes.parsed("DFS_REPLICATION").unwrap_or(0)
    }
    pub fn encryption(&self) -> Option<&str> {
        self.attributes.text("ENCRYPTION").filter(|v| !v.is_empty())
    }
    /// A configuration override: CONFIGURATION first, then METADATA.
    pub fn setting(&self, key: &str) -> Option<&str> {
        self.configuration.get(key).map(String::as_str).or_else(|| self.attributes.text(key))
    }

    /// Refuses attributes that HBase would fail to read.
    pub fn check(&self) -> Result<(), CatalogError> {
        let a = &self.attributes;
        for key in ["VERSIONS", "MIN_VERSIONS", "BLOCKSIZE", "REPLICATION_SCOPE", "DFS_REPLICATION"] {
            a.check::<i32>(key, "a number")?;
        }
        if !a.text("TTL").is_some_and(|v| v.trim().eq_ignore_ascii_case("FOREVER")) {
            a.check::<i32>("TTL", "a number of seconds")?;
        }
        a.check::<i64>("MOB_THRESHOLD", "a number of bytes")?;
        for key in ["COMPRESSION", "COMPRESSION_COMPACT", "COMPRESSION_COMPACT_MAJOR", "COMPRESSION_COMPACT_MINOR"] {
            a.check_name(key, &COMPRESSIONS)?;
        }
        a.check_name("BLOOMFILTER", &BLOOMS)?;
        a.check_name("DATA_BLOCK_ENCODING", &ENCODINGS)?;
        a.check_name("INDEX_BLOCK_ENCODING", &["NONE", "PREFIX_TREE"])?;
        a.check_name("KEEP_DELETED_CELLS", &["FALSE", "TRUE", "TTL"])?;
        a.check_name("IN_MEMORY_COMPACTION", &["NONE", "BASIC", "EAGER", "ADAPTIVE"])
    }
}

/// Checks a family's name as HBase does.
pub fn check_family_name(name: &[u8]) -> Result<(), CatalogError> {
    let illegal = |text: String| Err(CatalogError::Illegal(text));
    let text = || String::from_utf8_lossy(name).into_owned();
    match name.first() {
        None => return illegal("Column Family name can not be empty".into()),
        Some(b'.') => return illegal(format!("Column Family names cannot start with a period: {}", text())),
        Some(_) if name.len() > MAX_FAMILY_LENGTH => {
            return illegal(format!("Length of family {} is greater than {MAX_FAMILY_LENGTH}", to_string_binary(name)));
        }
        Some(_) => {}
    }
    // Java's bytes are signed: those from 0x80 on are negative code points there, never control characters.
    if let Some(&bad) = name.iter().find(|b| b.is_ascii_control() || matches!(b, b':' | b'\\' | b'/')) {
        return illegal(format!(
            "Illegal character <{bad}>. Column Family names cannot contain control characters or colons: {}",
            text()
        ));
    }
    if name == b"recovered.edits" {
        return illegal("Column Family name cannot be: recovered.edits".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_hbases() {
        let bare = FamilyDescriptor::from_proto(&pb::ColumnFamilySchema { name: "f".into(), ..Default::default() });
        for family in [FamilyDescriptor::new("f"), bare.unwrap()] {
            assert_eq!((family.max_versions(), family.min_versions(), family.ttl_ms()), (1, 0, None));
            assert_eq!((family.block_size_bytes(), family.is_block_cache()), (65536, true));
            assert_eq!((family.bloom_filter().as_str(), family.compression().as_str()), ("ROW", "NONE"));
            assert_eq!(family.keep_deleted_cells(), KeepDeletedCells::False);
            assert_eq!(family.data_block_encoding(), "NONE");
            family.check().unwrap();
        }
    }

    #[test]
    fn what_was_sent_is_kept() {
        let sent = FamilyDescriptor::new("f").with("COMPRESSION", "gz").with("X-UNKNOWN", "1 DAY").with("TTL", "60");
        let family = FamilyDescriptor::from_proto(&sent.to_proto()).unwrap();
        assert_eq!(family, sent);
        assert_eq!((family.compression().as_str(), family.attributes.text("COMPRESSION")), ("GZ", Some("gz")));
        assert_eq!((family.ttl_ms(), family.setting("X-UNKNOWN")), (Some(60_000), Some("1 DAY")));
        assert_eq!(family.with("COMPRESSION_COMPACT_MAJOR", "ZSTD").compaction_compression(true), "ZSTD");
    }

    #[test]
    fn unreadable_attributes_are_named() {
        let text =
            |key: &str, value: &str| FamilyDescriptor::new("f").with(key, value).check().unwrap_err().to_string();
        assert_eq!(text("VERSIONS", "many"), "VERSIONS is many, which is not a number");
        assert!(text("COMPRESSION", "ZIP").starts_with("COMPRESSION is ZIP, which is not one of LZO, GZ,"));
    }

    #[test]
    fn illegal_names_are_refused_in_hbases_words() {
        let text = |name: &[u8]| check_family_name(name).unwrap_err().to_string();
        assert_eq!(text(b""), "Column Family name can not be empty");
        assert_eq!(text(b".f"), "Column Family names cannot start with a period: .f");
        assert_eq!(
            text(b"f:q"),
            "Illegal character <58>. Column Family names cannot contain control characters or colons: f:q"
        );
        assert_eq!(text(b"recovered.edits"), "Column Family name cannot be: recovered.edits");
        assert!(check_family_name("föö".as_bytes()).is_ok());
        assert!(check_family_name(&[b'f'; 128]).is_err());
    }
}
