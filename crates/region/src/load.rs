//! The numbers of a region for RegionLoad.

use crate::Region;
use bytes::Bytes;
use martite_proto as pb;

/// What a region holds and has done.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Load {
    pub stores: u64,
    pub files: u64,
    pub file_size_bytes: u64,
    pub uncompressed_file_size_bytes: u64,
    pub memstore_data_bytes: u64,
    pub memstore_heap_bytes: u64,
    pub root_index_bytes: u64,
    pub total_index_bytes: u64,
    pub bloom_bytes: u64,
    pub read_requests: u64,
    pub filtered_read_requests: u64,
    pub write_requests: u64,
    pub compacting_cells: u64,
    pub compacted_cells: u64,
    /// Everything up to it is in files.
    pub complete_seq_id: u64,
    pub store_complete_seq_ids: Vec<(Bytes, u64)>,
    pub last_major_compaction_ms: u64,
    pub references: u64,
    pub compaction_state: pb::region_load::CompactionState,
}

impl Region {
    pub fn load(&self) -> Load {
        todo!()
    }
}

impl Load {
    /// The message of a server's report.
    pub fn to_proto(&self, region_name: &Bytes) -> pb::RegionLoad {
        let _ = region_name;
        todo!()
    }
}
