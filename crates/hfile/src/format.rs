//! Constants of HFile v3 (HBase 2.6).

/// Keys of the file info map that other crates use.
pub mod info {
    pub const MAX_SEQ_ID_KEY: &[u8] = b"MAX_SEQ_ID_KEY";
    pub const MAJOR_COMPACTION_KEY: &[u8] = b"MAJOR_COMPACTION_KEY";
    pub const EXCLUDE_FROM_MINOR_COMPACTION: &[u8] = b"EXCLUDE_FROM_MINOR_COMPACTION";
    pub const COMPACTION_EVENT_KEY: &[u8] = b"COMPACTION_EVENT_KEY";
    pub const TIMERANGE: &[u8] = b"TIMERANGE";
    pub const EARLIEST_PUT_TS: &[u8] = b"EARLIEST_PUT_TS";
    pub const DELETE_FAMILY_COUNT: &[u8] = b"DELETE_FAMILY_COUNT";
    pub const BLOOM_FILTER_TYPE: &[u8] = b"BLOOM_FILTER_TYPE";
    pub const BLOOM_FILTER_PARAM: &[u8] = b"BLOOM_FILTER_PARAM";
    pub const LAST_BLOOM_KEY: &[u8] = b"LAST_BLOOM_KEY";
    pub const BULKLOAD_SOURCE_TASK: &[u8] = b"BULKLOAD_SOURCE_TASK";
    pub const BULKLOAD_TIMESTAMP: &[u8] = b"BULKLOAD_TIMESTAMP";
    pub const SKIP_RESET_SEQ_ID: &[u8] = b"SKIP_RESET_SEQ_ID";
    pub const KEY_VALUE_VERSION: &[u8] = b"KEY_VALUE_VERSION";
    pub const MAX_MEMSTORE_TS_KEY: &[u8] = b"MAX_MEMSTORE_TS_KEY";
    pub const DATA_BLOCK_ENCODING: &[u8] = b"DATA_BLOCK_ENCODING";
    pub const INDEX_BLOCK_ENCODING: &[u8] = b"INDEX_BLOCK_ENCODING";
    pub const LASTKEY: &[u8] = b"hfile.LASTKEY";
    pub const AVG_KEY_LEN: &[u8] = b"hfile.AVG_KEY_LEN";
    pub const AVG_VALUE_LEN: &[u8] = b"hfile.AVG_VALUE_LEN";
    pub const CREATE_TIME_TS: &[u8] = b"hfile.CREATE_TIME_TS";
    pub const MAX_TAGS_LEN: &[u8] = b"hfile.MAX_TAGS_LEN";
    pub const TAGS_COMPRESSED: &[u8] = b"hfile.TAGS_COMPRESSED";
    pub const KEY_OF_BIGGEST_CELL: &[u8] = b"hfile.KEY_OF_BIGGEST_CELL";
    pub const LEN_OF_BIGGEST_CELL: &[u8] = b"hfile.LEN_OF_BIGGEST_CELL";
}
