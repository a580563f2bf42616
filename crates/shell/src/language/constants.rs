//! The constants of HBase's shell: each is its own name, but for a few that stand for another.

/// Names that evaluate to another name.
const ALIASES: &[(&str, &str)] = &[("ENDKEY", "STOPROW"), ("ENDROW", "STOPROW"), ("STARTKEY", "STARTROW")];

/// Of the commands, and of HBase's descriptors of tables and families. Sorted.
pub const NAMES: &[&str] = &[
    "ALLOW_PARTIAL_RESULTS",
    "ALL_METRICS",
    "ATTRIBUTES",
    "AUTHORIZATIONS",
    "BATCH",
    "BLOCKCACHE",
    "BLOCKSIZE",
    "BLOOMFILTER",
    "CACHE",
    "CACHE_BLOCKS",
    "CACHE_BLOOMS_ON_WRITE",
    "CACHE_DATA_IN_L1",
    "CACHE_DATA_ON_WRITE",
    "CACHE_INDEX_ON_WRITE",
    "CLASSNAME",
    "CLONE_SFT",
    "CLUSTER",
    "CLUSTER_KEY",
    "COLUMN",
    "COLUMNS",
    "COMPACTION_ENABLED",
    "COMPRESSION",
    "COMPRESSION_COMPACT",
    "COMPRESSION_COMPACT_MAJOR",
    "COMPRESSION_COMPACT_MINOR",
    "COMPRESS_TAGS",
    "CONFIG",
    "CONFIGURATION",
    "CONSISTENCY",
    "DATA",
    "DATA_BLOCK_ENCODING",
    "DFS_REPLICATION",
    "DISABLE",
    "DURABILITY",
    "ENCRYPTION",
    "ENCRYPTION_KEY",
    "ENDPOINT_CLASSNAME",
    "ERASURE_CODING_POLICY",
    "EVICT_BLOCKS_ON_CLOSE",
    "FILTER",
    "FLUSH_POLICY",
    "FOREVER",
    "FORMATTER",
    "FORMATTER_CLASS",
    "GLOBAL_BYPASS",
    "INDEX_BLOCK_ENCODING",
    "INTERVAL",
    "IN_MEMORY",
    "IN_MEMORY_COMPACTION",
    "ISOLATION_LEVEL",
    "IS_META",
    "IS_MOB",
    "KEEP_DELETED_CELLS",
    "LENGTH",
    "LIMIT",
    "LOCALITY_THRESHOLD",
    "MACHINE",
    "MAXLENGTH",
    "MAX_FILESIZE",
    "MAX_RESULT_SIZE",
    "MEMSTORE_FLUSHSIZE",
    "MERGE_ENABLED",
    "METADATA",
    "METHOD",
    "METRICS",
    "MIN_VERSIONS",
    "MOB_COMPACT_PARTITION_POLICY",
    "MOB_THRESHOLD",
    "NAME",
    "NAMESPACE",
    "NAMESPACES",
    "NEW_VERSION_BEHAVIOR",
    "NONE",
    "NORMALIZATION_ENABLED",
    "NORMALIZER_TARGET_REGION_COUNT",
    "NORMALIZER_TARGET_REGION_SIZE",
    "NORMALIZER_TARGET_REGION_SIZE_MB",
    "NO_INSERTS",
    "NO_WRITES",
    "NO_WRITES_COMPACTIONS",
    "NUMREGIONS",
    "OWNER",
    "POLICY",
    "PREFETCH_BLOCKS_ON_OPEN",
    "PRIORITY",
    "RAW",
    "READ",
    "READONLY",
    "READ_CAPACITY_UNIT",
    "READ_NUMBER",
    "READ_SIZE",
    "READ_TYPE",
    "REGEX",
    "REGIONSERVER",
    "REGION_MEMSTORE_REPLICATION",
    "REGION_REPLICATION",
    "REGION_REPLICA_ID",
    "REOPEN_REGIONS",
    "REPLICATION_SCOPE",
    "REQUEST",
    "REQUEST_CAPACITY_UNIT",
    "REQUEST_NUMBER",
    "REQUEST_SIZE",
    "RESTORE_ACL",
    "REVERSED",
    "ROWPREFIXFILTER",
    "SCOPE",
    "SERIAL",
    "SERVER_NAME",
    "SKIP_FLUSH",
    "SPACE",
    "SPLITALGO",
    "SPLITS",
    "SPLITS_FILE",
    "SPLIT_ENABLED",
    "SPLIT_POLICY",
    "STARTROW",
    "STATE",
    "STOPROW",
    "STORAGE_POLICY",
    "TABLE",
    "TABLE_CFS",
    "TABLE_NAME",
    "TABLE_NAMES",
    "THROTTLE",
    "THROTTLE_TYPE",
    "TIMERANGE",
    "TIMESTAMP",
    "TTL",
    "TYPE",
    "USER",
    "VALUE",
    "VERSIONS",
    "VISIBILITY",
    "WRITE",
    "WRITE_CAPACITY_UNIT",
    "WRITE_NUMBER",
    "WRITE_SIZE",
];

/// What a constant evaluates to; None if there is none of this name.
pub fn value(name: &str) -> Option<&'static str> {
    if let Some((_, value)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Some(value);
    }
    NAMES.binary_search(&name).ok().map(|i| NAMES[i])
}

/// Every name, to complete what is typed.
pub fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied().chain(ALIASES.iter().map(|(alias, _)| *alias))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_and_their_own_names() {
        assert!(NAMES.is_sorted());
        assert_eq!(value("NAME"), Some("NAME"));
        assert_eq!(value("ENDKEY"), Some("STOPROW"));
        assert_eq!(value("XX"), None);
        assert_eq!(all().count(), NAMES.len() + 3);
    }
}
