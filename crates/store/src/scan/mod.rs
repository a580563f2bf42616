//! Scanners over one store: what a read, a flush or a compaction sees of the memstore's segments and the store files.
//!
//! ```text
//!   segment ─┐ source: a run of cells, those newer than the read point left out
//!   segment ─┤
//!   file    ─┼─► merge ─► matcher ─► StoreScanner        cells of a row for a Get or Scan, filter included
//!   file    ─┘   (heap)   (deletes, versions, columns)
//!                └──────► matcher ─► CompactionScanner   cells worth keeping
//! ```
//!
//! Nothing here waits: a move that misses a block ends with `Step::Need`, and the same call goes on where it stopped.

mod columns;
mod compaction;
mod compaction_matcher;
mod deletes;
mod matcher;
mod merge;
mod new_version;
mod point;
mod prune;
mod row_read;
mod run;
mod shows;
mod source;
mod store_scanner;

pub use compaction::CompactionScanner;
pub use point::{Lookup, PointEnd, PointReader};
pub use row_read::{RowLimits, RowRead, StoreEnd};
pub use store_scanner::StoreScanner;

use crate::{FamilyOptions, Segment, StoreFile};
use bytes::Bytes;
use martite_cell::TimeRange;
use smallvec::SmallVec;
use std::sync::Arc;

/// What one scanner reads.
#[derive(Clone)]
pub struct ReadView {
    /// Newest first.
    pub segments: SmallVec<[Arc<Segment>; 2]>,
    /// Oldest sequence id first.
    pub files: Arc<Vec<Arc<StoreFile>>>,
}

impl ReadView {
    /// Whether this view keeps segments alive that `now` does not have any more: they were flushed.
    pub fn is_outdated(&self, now: &ReadView) -> bool {
        !self.segments.iter().all(|old| now.segments.iter().any(|s| Arc::ptr_eq(s, old)))
    }
}

/// What a scan wants from one store.
#[derive(Debug, Clone)]
pub struct StoreScan {
    /// Sorted qualifiers; None means all.
    pub columns: Option<Arc<[Bytes]>>,
    pub max_versions: u32,
    pub time_range: TimeRange,
    /// Empty: from the first row (reversed: from the last).
    pub start_row: Bytes,
    pub include_start: bool,
    /// Empty: to the end.
    pub stop_row: Bytes,
    pub include_stop: bool,
    pub reversed: bool,
    /// Delete markers and what they hide are returned too.
    pub raw: bool,
    /// Only `start_row` is read.
    pub is_get: bool,
    pub cache_blocks: bool,
    pub now_ms: u64,
    /// Cells with a newer sequence id are invisible.
    pub read_point: u64,
    /// Cells of a row to return; -1: all.
    pub store_limit: i32,
    /// Cells of a row to leave out first.
    pub store_offset: u32,
}

impl StoreScan {
    /// All rows, newest version of everything, as of `now_ms`.
    pub fn all(now_ms: u64) -> StoreScan {
        StoreScan {
            columns: None,
            max_versions: 1,
            time_range: TimeRange::ALL,
            start_row: Bytes::new(),
            include_start: true,
            stop_row: Bytes::new(),
            include_stop: false,
            reversed: false,
            raw: false,
            is_get: false,
            cache_blocks: true,
            now_ms,
            read_point: u64::MAX,
            store_limit: -1,
            store_offset: 0,
        }
    }

    /// One row.
    pub fn get(row: impl Into<Bytes>, now_ms: u64) -> StoreScan {
        let row = row.into();
        StoreScan { start_row: row.clone(), stop_row: row, include_stop: true, is_get: true, ..StoreScan::all(now_ms) }
    }

    /// Cells with an older timestamp have outlived the family's time to live. Raw scans see them all the same.
    pub(crate) fn oldest_unexpired(&self, family: &FamilyOptions) -> u64 {
        if self.raw { 0 } else { oldest_unexpired(family, self.now_ms) }
    }
}

pub(crate) fn oldest_unexpired(family: &FamilyOptions, now_ms: u64) -> u64 {
    family.ttl_ms.map_or(0, |ttl| now_ms.saturating_sub(ttl))
}

/// What a compaction scanner is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionKind {
    Flush,
    Minor,
    Major,
}

/// How a flush or a compaction reads its inputs.
#[derive(Debug, Clone, Copy)]
pub struct CompactionScan {
    pub kind: CompactionKind,
    /// Oldest read point of any open scanner; what it can see is kept.
    pub smallest_read_point: u64,
    pub now_ms: u64,
    /// Oldest put in the inputs; delete markers older than it can go in a major compaction.
    pub earliest_put_ms: u64,
}
