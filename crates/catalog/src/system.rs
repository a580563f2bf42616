//! The descriptors of the tables that HBase itself needs, as HBase 2.6 writes them.

use crate::coprocessor::{CoprocessorSpec, PRIORITY_SYSTEM};
use crate::table::FILE_TRACKER;
use crate::{FamilyDescriptor, TableDescriptor, TableName};
use std::collections::BTreeMap;

pub const CATALOG_FAMILY: &[u8] = b"info";
pub const TABLE_FAMILY: &[u8] = b"table";
pub const REPLICATION_BARRIER_FAMILY: &[u8] = b"rep_barrier";
/// The endpoint that hbase:meta always has.
pub const MULTI_ROW_MUTATION_ENDPOINT: &str = "org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint";

/// hbase:meta: families info, table and rep_barrier.
pub fn meta_table() -> TableDescriptor {
    let endpoint = CoprocessorSpec {
        path: None,
        class: MULTI_ROW_MUTATION_ENDPOINT.to_string(),
        priority: PRIORITY_SYSTEM,
        arguments: BTreeMap::new(),
    };
    let family = |name: &str, versions: &str| {
        FamilyDescriptor::new(name)
            .with("VERSIONS", versions)
            .with("IN_MEMORY", "true")
            .with("DATA_BLOCK_ENCODING", "ROW_INDEX_V1")
            .with("BLOOMFILTER", "ROWCOL")
    };
    TableDescriptor::new(TableName::meta())
        .with_family(family("info", "3").with("BLOCKSIZE", "8192"))
        .with_family(family("table", "3").with("BLOCKSIZE", "8192"))
        .with_family(family("rep_barrier", "2147483647"))
        .with("coprocessor$1", &endpoint.to_text())
        .with(FILE_TRACKER, "DEFAULT")
}

/// hbase:namespace: info:d holds the descriptors.
pub fn namespace_table() -> TableDescriptor {
    TableDescriptor::new(TableName::namespace_table())
        .with_family(
            FamilyDescriptor::new("info").with("VERSIONS", "10").with("IN_MEMORY", "true").with("BLOCKSIZE", "8192"),
        )
        .with(FILE_TRACKER, "DEFAULT")
}

/// hbase:quota: settings in family q, usage in family u.
pub fn quota_table() -> TableDescriptor {
    TableDescriptor::new(TableName::quota_table())
        .with_family(FamilyDescriptor::new("q"))
        .with_family(FamilyDescriptor::new("u"))
        .with(FILE_TRACKER, "DEFAULT")
}

/// master:store, the master's own region: procedures and switches. HBase 2.6 has families info, proc, rs and state.
pub fn master_store_table() -> TableDescriptor {
    let catalog = FamilyDescriptor::new("info")
        .with("VERSIONS", "3")
        .with("IN_MEMORY", "true")
        .with("BLOCKSIZE", "8192")
        .with("DATA_BLOCK_ENCODING", "ROW_INDEX_V1")
        .with("BLOOMFILTER", "ROWCOL");
    TableDescriptor::new(TableName::master_store())
        .with_family(catalog)
        .with_family(FamilyDescriptor::new("proc"))
        .with_family(FamilyDescriptor::new("rs"))
        .with_family(FamilyDescriptor::new("state"))
        .with(FILE_TRACKER, "DEFAULT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::Order;

    #[test]
    fn meta_is_as_hbase_describes_it() {
        let meta = meta_table();
        meta.check().unwrap();
        assert_eq!(meta.order(), Order::Meta);
        assert_eq!(
            meta.attributes.text("coprocessor$1"),
            Some("|org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint|536870911|")
        );
        assert_eq!(meta.attributes.text("IS_META"), Some("true"));
        let info = meta.family(b"info").unwrap();
        assert_eq!((info.max_versions(), info.block_size_bytes(), info.is_in_memory()), (3, 8192, true));
        assert_eq!(meta.family(b"rep_barrier").unwrap().max_versions(), crate::family::ALL_VERSIONS);
        assert_eq!(namespace_table().family(b"info").unwrap().max_versions(), 10);
        assert_eq!(quota_table().families().map(|f| f.name_string()).collect::<Vec<_>>(), ["q", "u"]);
    }
}
