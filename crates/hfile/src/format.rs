//! Constants of HFile v3 (HBase 2.6).
//!
//! A block is `header | payload | checksums`:
//!
//! ```text
//! offset  0  8 bytes  magic, says what the block is
//!         8  u32      on-disk size after the header: packed payload and checksums
//!        12  u32      plain size of the payload
//!        16  i64      offset of the previous block of the same kind, -1 for none
//!        24  u8       checksum kind: 0 none, 1 CRC32, 2 CRC32C
//!        25  u32      bytes per checksum
//!        29  u32      on-disk size of header and packed payload, without checksums
//!        33  payload, then one u32 per started chunk of (header and payload)
//! ```
//! The worked example is in docs/formats/hfile.md.

/// Bytes of a block's header.
pub const HEADER_BYTES: usize = 33;
/// Bytes of the trailer, the last thing in a file.
pub const TRAILER_BYTES: usize = 4096;
pub const MAJOR_VERSION: u32 = 3;
/// The newest minor version that HBase 2.6 writes and reads.
pub const MINOR_VERSION: u32 = 3;
/// A block that claims to be larger is refused: no writer makes one (HBase's cells end at 10 MiB by default).
pub const MAX_BLOCK_BYTES: usize = 1 << 30;
/// Deepest index that HBase writes.
pub const MAX_INDEX_LEVELS: u32 = 16;
/// Bytes of the mid-key metadata at the end of the root of a multi-level index.
pub const MID_KEY_BYTES: usize = 16;
/// Bloom filter format: chunks in blocks of their own.
pub const BLOOM_VERSION: u32 = 3;

/// Comparator names as HBase 1 knows them; HBase 2 writes these too.
pub const COMPARATOR: &str = "org.apache.hadoop.hbase.KeyValue$KVComparator";
pub const META_COMPARATOR: &str = "org.apache.hadoop.hbase.KeyValue$MetaComparator";
/// In the bloom meta of a ROWCOL filter.
pub const ROW_COL_COMPARATOR: &str = "org.apache.hadoop.hbase.CellComparatorImpl";

/// Keys of the file info map that other crates use.
pub mod info {
    pub const MAX_SEQ_ID_KEY: &[u8] = b"MAX_SEQ_ID_KEY";
    pub const MAJOR_COMPACTION_KEY: &[u8] = b"MAJOR_COMPACTION_KEY";
    pub const EXCLUDE_FROM_MINOR_COMPACTION: &[u8] = b"EXCLUDE_FROM_MINOR_COMPACTION";
    pub const COMPACTION_EVENT_KEY: &[u8] = b"COMPACTION_EVENT_KEY";
    pub const HISTORICAL: &[u8] = b"HISTORICAL";
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
