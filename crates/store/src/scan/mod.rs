//! Scanners over one store (placeholder; the types others build against).
#![allow(clippy::todo)]

use crate::{FamilyOptions, Segment, StoreError, StoreFile};
use bytes::Bytes;
use martite_cell::{CellRef, TimeRange};
use martite_hfile::{BlockSource, Step};
use std::sync::Arc;

/// What one scanner reads.
#[derive(Clone)]
pub struct ReadView {
    pub segments: Vec<Arc<Segment>>,
    pub files: Arc<Vec<Arc<StoreFile>>>,
}

/// What a scan wants from one store.
pub struct StoreScan {
    /// Sorted qualifiers; None means all.
    pub columns: Option<Arc<[Bytes]>>,
    pub max_versions: u32,
    pub time_range: TimeRange,
    pub start_row: Bytes,
    pub include_start: bool,
    pub stop_row: Bytes,
    pub include_stop: bool,
    pub reversed: bool,
    pub raw: bool,
    pub is_get: bool,
    pub cache_blocks: bool,
    pub now_ms: u64,
    pub read_point: u64,
    pub store_limit: i32,
    pub store_offset: u32,
}

/// Rows of one store.
pub struct StoreScanner {}

impl StoreScanner {
    pub fn new(_view: ReadView, _family: Arc<FamilyOptions>, _scan: Arc<StoreScan>) -> StoreScanner {
        todo!()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionKind {
    Flush,
    Minor,
    Major,
}

/// How a flush or a compaction reads its inputs.
pub struct CompactionScan {
    pub kind: CompactionKind,
    /// Oldest read point of any open scanner; what it can see is kept.
    pub smallest_read_point: u64,
    pub now_ms: u64,
    /// Oldest put in the inputs; delete markers older than it can go in a major compaction.
    pub earliest_put_ms: u64,
}

/// The cells to keep, in order.
pub struct CompactionScanner {}

impl CompactionScanner {
    pub fn new(_view: ReadView, _family: Arc<FamilyOptions>, _scan: CompactionScan) -> CompactionScanner {
        todo!()
    }
    /// The next cell to keep; None at the end.
    pub fn next(&mut self, _src: &dyn BlockSource) -> Result<Step<Option<CellRef<'_>>>, StoreError> {
        todo!()
    }
}
