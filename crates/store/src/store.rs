//! [`Store`]: the memstore and the files of one family of a region.
#![allow(clippy::todo)]

use crate::{FamilyOptions, Files, MemStore, ReadView, StoreConfig, StoreError, StoreFile};
use bytes::Bytes;
use martite_env::{FileSystem, Random};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// What stores share.
pub struct StoreContext {
    pub fs: Arc<dyn FileSystem>,
    pub files: Arc<Files>,
    /// For file names.
    pub random: Arc<dyn Random>,
    /// The HBase root directory: the archive lies below it.
    pub root: PathBuf,
    pub config: StoreConfig,
}

/// One family of a region.
pub struct Store {}

/// Numbers of one store for RegionLoad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreCounters {
    pub files: u64,
    pub references: u64,
    pub size_bytes: u64,
    pub uncompressed_size_bytes: u64,
    pub memstore_data_bytes: u64,
    pub memstore_heap_bytes: u64,
    /// Index that stays in memory.
    pub root_index_bytes: u64,
    pub total_index_bytes: u64,
    pub bloom_bytes: u64,
    pub min_file_modified_ms: u64,
    pub max_file_modified_ms: u64,
    /// Cells of running compactions, and how many of them are done.
    pub compacting_cells: u64,
    pub compacted_cells: u64,
    pub flushes: u64,
    pub flushed_cells: u64,
    pub flushed_bytes: u64,
    pub compactions: u64,
    pub compacted_bytes: u64,
}

impl Store {
    /// Opens the family's directory (made if absent): finishes what a crash interrupted, opens every file.
    pub fn open(
        _ctx: Arc<StoreContext>,
        _dir: PathBuf,
        _options: Arc<FamilyOptions>,
        _now_ms: u64,
    ) -> Result<Store, StoreError> {
        todo!()
    }
    pub fn memstore(&self) -> &MemStore {
        todo!()
    }
    /// What a scanner that starts now reads.
    pub fn view(&self) -> ReadView {
        todo!()
    }
    pub fn options(&self) -> &Arc<FamilyOptions> {
        todo!()
    }
    pub fn context(&self) -> &Arc<StoreContext> {
        todo!()
    }
    pub fn dir(&self) -> &Path {
        todo!()
    }
    /// Highest sequence id in the files; edits up to it need no replay.
    pub fn max_seq_id(&self) -> u64 {
        todo!()
    }
    /// Highest sequence id of any cell in the files (`MAX_MEMSTORE_TS_KEY`).
    pub fn max_mvcc(&self) -> u64 {
        todo!()
    }
    pub fn files(&self) -> Arc<Vec<Arc<StoreFile>>> {
        todo!()
    }
    pub fn file_count(&self) -> usize {
        todo!()
    }
    pub fn size_bytes(&self) -> u64 {
        todo!()
    }
    pub fn largest_file_bytes(&self) -> u64 {
        todo!()
    }
    pub fn has_references(&self) -> bool {
        todo!()
    }
    /// More files than [`StoreConfig::blocking_files`]: flushes should wait.
    pub fn has_too_many_files(&self) -> bool {
        todo!()
    }
    /// The row that halves the largest file; None if the store cannot be split.
    pub fn split_point(&self) -> Result<Option<Bytes>, StoreError> {
        todo!()
    }
    pub fn counters(&self) -> StoreCounters {
        todo!()
    }
    /// Archives inputs of finished compactions that no reader holds any more; called now and then. Number archived.
    pub fn archive_compacted(&self, _now_ms: u64) -> Result<usize, StoreError> {
        todo!()
    }
    /// Adds an HFile as a bulk-loaded store file with sequence id `seq_id`; moves it into the family's directory.
    pub fn bulk_load(&self, _hfile: &Path, _seq_id: u64) -> Result<Arc<StoreFile>, StoreError> {
        todo!()
    }
}
