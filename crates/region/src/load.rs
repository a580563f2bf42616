//! The numbers of a region for RegionLoad.

use crate::Region;
use bytes::Bytes;
use martite_proto as pb;
use pb::region_load::CompactionState;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a region holds and has done.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    pub stores: u64,
    pub files: u64,
    pub references: u64,
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
    /// The same for each family.
    pub store_complete_seq_ids: Vec<(Bytes, u64)>,
    pub last_major_compaction_ms: u64,
    pub compaction_state: CompactionState,
}

impl Region {
    pub fn load(&self) -> Load {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        let mut load = Load {
            stores: self.stores.len() as u64,
            files: 0,
            references: 0,
            file_size_bytes: 0,
            uncompressed_file_size_bytes: 0,
            memstore_data_bytes: self.memstore_data_bytes(),
            memstore_heap_bytes: self.memstore_heap_bytes(),
            root_index_bytes: 0,
            total_index_bytes: 0,
            bloom_bytes: 0,
            read_requests: get(&counters.read_requests),
            filtered_read_requests: get(&counters.filtered_read_requests),
            write_requests: get(&counters.write_requests),
            compacting_cells: 0,
            compacted_cells: 0,
            complete_seq_id: get(&counters.flushed_seq),
            store_complete_seq_ids: Vec::with_capacity(self.stores.len()),
            last_major_compaction_ms: get(&counters.last_major_compaction_ms),
            compaction_state: self.compaction_state(),
        };
        for (family, store) in &self.stores {
            let c = store.counters();
            load.files += c.files;
            load.references += c.references;
            load.file_size_bytes += c.size_bytes;
            load.uncompressed_file_size_bytes += c.uncompressed_size_bytes;
            load.root_index_bytes += c.root_index_bytes;
            load.total_index_bytes += c.total_index_bytes;
            load.bloom_bytes += c.bloom_bytes;
            load.compacting_cells += c.compacting_cells;
            load.compacted_cells += c.compacted_cells;
            let complete = match self.ctx.wal.lowest_unflushed(&self.wal_name, Some(family)) {
                Some(lowest) => lowest.saturating_sub(1),
                None => self.mvcc.read_point(),
            };
            load.store_complete_seq_ids.push((family.clone(), complete));
        }
        load
    }

    /// What kind of compaction runs.
    pub fn compaction_state(&self) -> CompactionState {
        let all = self.counters.compactions_running.load(Ordering::Acquire);
        let major = self.counters.major_compactions_running.load(Ordering::Acquire);
        match (all, major) {
            (0, _) => CompactionState::None,
            (_, 0) => CompactionState::Minor,
            (all, major) if all > major => CompactionState::MajorAndMinor,
            _ => CompactionState::Major,
        }
    }
}

impl Load {
    /// The message of a server's report.
    pub fn to_proto(&self, region_name: &Bytes) -> pb::RegionLoad {
        let mb = |bytes: u64| Some((bytes >> 20).min(u64::from(u32::MAX)) as u32);
        let kb = |bytes: u64| Some((bytes >> 10).min(u64::from(u32::MAX)) as u32);
        let count = |n: u64| Some(n.min(u64::from(u32::MAX)) as u32);
        pb::RegionLoad {
            region_specifier: pb::RegionSpecifier {
                r#type: pb::region_specifier::RegionSpecifierType::RegionName as i32,
                value: region_name.clone(),
            },
            stores: count(self.stores),
            storefiles: count(self.files),
            store_uncompressed_size_mb: mb(self.uncompressed_file_size_bytes),
            storefile_size_mb: mb(self.file_size_bytes),
            region_size_mb: mb(self.file_size_bytes),
            mem_store_size_mb: mb(self.memstore_data_bytes),
            storefile_index_size_kb: Some(self.root_index_bytes >> 10),
            root_index_size_kb: kb(self.root_index_bytes),
            total_static_index_size_kb: kb(self.total_index_bytes),
            total_static_bloom_size_kb: kb(self.bloom_bytes),
            read_requests_count: Some(self.read_requests),
            filtered_read_requests_count: Some(self.filtered_read_requests),
            write_requests_count: Some(self.write_requests),
            total_compacting_k_vs: Some(self.compacting_cells),
            current_compacted_k_vs: Some(self.compacted_cells),
            complete_sequence_id: Some(self.complete_seq_id),
            store_complete_sequence_id: self
                .store_complete_seq_ids
                .iter()
                .map(|(family, seq)| pb::StoreSequenceId { family_name: family.clone(), sequence_id: *seq })
                .collect(),
            data_locality: Some(1.0),
            last_major_compaction_ts: Some(self.last_major_compaction_ms),
            compaction_state: Some(self.compaction_state as i32),
            ..pb::RegionLoad::default()
        }
    }
}
