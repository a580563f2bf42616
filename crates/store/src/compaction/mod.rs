//! Compaction: several store files become one; what nobody can see any more is left out.
#![allow(clippy::todo)]

use crate::{Store, StoreError, StoreFile};
use std::sync::Arc;

/// Why and how a compaction is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactionRequest {
    /// A major compaction was asked for.
    pub force_major: bool,
    /// By a user: more than the maximum number of files may be taken.
    pub user: bool,
    pub off_peak: bool,
    pub now_ms: u64,
}

/// Files that a compaction will take. While it lives no other compaction takes them.
pub struct CompactionPlan {
    pub files: Vec<Arc<StoreFile>>,
    /// All files of the store: deletes can be dropped.
    pub major: bool,
    pub size_bytes: u64,
    /// Belongs into the pool for large compactions.
    pub large: bool,
}

/// Called every [`crate::StoreConfig::throttle_every_bytes`]: may sleep, or stop the compaction.
pub trait Throttle {
    /// `bytes` were read and written since the last call. `Err` cancels; the reason is reported.
    fn pause(&self, bytes: u64) -> Result<(), String>;
}

/// Runs at full speed.
pub struct Unthrottled;

impl Throttle for Unthrottled {
    fn pause(&self, _bytes: u64) -> Result<(), String> {
        Ok(())
    }
}

/// What a compaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionOutcome {
    pub inputs: Vec<String>,
    /// Name of the new file; None if nothing was left.
    pub output: Option<String>,
    pub major: bool,
    pub cells_read: u64,
    pub cells_written: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

impl Store {
    /// Chooses files, None if there is nothing worth doing.
    pub fn select_compaction(&self, _request: CompactionRequest) -> Option<CompactionPlan> {
        todo!()
    }
    /// Runs a plan to its end: writes, commits, archives the inputs (once no reader holds them).
    pub fn run_compaction(
        &self,
        _plan: CompactionPlan,
        _smallest_read_point: u64,
        _now_ms: u64,
        _throttle: &dyn Throttle,
    ) -> Result<CompactionOutcome, StoreError> {
        todo!()
    }
    pub fn needs_compaction(&self) -> bool {
        todo!()
    }
    /// Whether enough time has passed for a major compaction.
    pub fn needs_major_compaction(&self, _now_ms: u64) -> bool {
        todo!()
    }
}
