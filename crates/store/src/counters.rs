//! Numbers of a store, for RegionLoad and metrics.

use crate::StoreFile;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// Numbers of one store at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreCounters {
    pub files: u64,
    pub references: u64,
    pub size_bytes: u64,
    pub uncompressed_size_bytes: u64,
    pub cells: u64,
    pub memstore_data_bytes: u64,
    pub memstore_heap_bytes: u64,
    /// Index that stays in memory.
    pub root_index_bytes: u64,
    pub total_index_bytes: u64,
    pub bloom_bytes: u64,
    /// 0 without files.
    pub min_file_modified_ms: u64,
    pub max_file_modified_ms: u64,
    /// Cells of running compactions, and how many of them are written.
    pub compacting_cells: u64,
    pub compacted_cells: u64,
    /// Since the store was opened.
    pub flushes: u64,
    pub flushed_cells: u64,
    pub flushed_bytes: u64,
    pub compactions: u64,
    pub major_compactions: u64,
    /// Written by compactions.
    pub compacted_bytes: u64,
}

impl StoreCounters {
    pub(crate) fn add_files(&mut self, files: &[Arc<StoreFile>]) {
        self.files = files.len() as u64;
        for file in files {
            self.references += u64::from(file.is_reference());
            self.size_bytes += file.size_bytes();
            self.uncompressed_size_bytes += file.reader.total_uncompressed_bytes();
            self.cells += file.entries();
            self.root_index_bytes += file.reader.heap_size() as u64;
            self.total_index_bytes += file.reader.index_size();
            self.bloom_bytes += file.reader.bloom_size();
        }
        self.min_file_modified_ms = files.iter().map(|f| f.modified_ms).min().unwrap_or(0);
        self.max_file_modified_ms = files.iter().map(|f| f.modified_ms).max().unwrap_or(0);
    }
}

/// What the store counts as it goes.
#[derive(Default)]
pub(crate) struct Counters {
    flushes: AtomicU64,
    flushed_cells: AtomicU64,
    flushed_bytes: AtomicU64,
    compactions: AtomicU64,
    major_compactions: AtomicU64,
    compacted_bytes: AtomicU64,
    compacting_cells: AtomicU64,
    compacted_cells: AtomicU64,
}

impl Counters {
    pub(crate) fn count_flush(&self, cells: u64, bytes: u64) {
        self.flushes.fetch_add(1, Relaxed);
        self.flushed_cells.fetch_add(cells, Relaxed);
        self.flushed_bytes.fetch_add(bytes, Relaxed);
    }
    pub(crate) fn count_compaction(&self, major: bool, bytes: u64) {
        self.compactions.fetch_add(1, Relaxed);
        self.major_compactions.fetch_add(u64::from(major), Relaxed);
        self.compacted_bytes.fetch_add(bytes, Relaxed);
    }
    /// Counts a running compaction of `cells` until the progress is dropped.
    pub(crate) fn start_compaction(&self, cells: u64) -> Progress<'_> {
        self.compacting_cells.fetch_add(cells, Relaxed);
        Progress { counters: self, total: cells, done: 0 }
    }
    pub(crate) fn read(&self) -> StoreCounters {
        StoreCounters {
            flushes: self.flushes.load(Relaxed),
            flushed_cells: self.flushed_cells.load(Relaxed),
            flushed_bytes: self.flushed_bytes.load(Relaxed),
            compactions: self.compactions.load(Relaxed),
            major_compactions: self.major_compactions.load(Relaxed),
            compacted_bytes: self.compacted_bytes.load(Relaxed),
            compacting_cells: self.compacting_cells.load(Relaxed),
            compacted_cells: self.compacted_cells.load(Relaxed),
            ..StoreCounters::default()
        }
    }
}

/// One running compaction.
pub(crate) struct Progress<'a> {
    counters: &'a Counters,
    total: u64,
    done: u64,
}

impl Progress<'_> {
    /// The total is an estimate where references are read: never more than that.
    pub(crate) fn set_done(&mut self, cells: u64) {
        let cells = cells.min(self.total);
        self.counters.compacted_cells.fetch_add(cells - self.done, Relaxed);
        self.done = cells;
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.counters.compacting_cells.fetch_sub(self.total, Relaxed);
        self.counters.compacted_cells.fetch_sub(self.done, Relaxed);
    }
}
