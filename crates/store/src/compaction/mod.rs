//! Compaction: several store files become one; what nobody can see any more is left out.
//!
//! ```text
//! select_compaction   policy over sizes and ages ──▶ a plan, which reserves its files
//! run_compaction      merge the files ──▶ .tmp ──▶ rename ──▶ swap the file list ──▶ archive the inputs
//!                                                   │                                 when their last reader is gone
//!                                                   └ from here on a crash loses nothing: the new file names its inputs,
//!                                                     and a store that opens archives what is left of them
//! ```

pub mod policy;
mod run;
mod source;
mod warm;

use crate::{CompactionScanner, Store, StoreError, StoreFile};
use martite_cell::CellRef;
use martite_hfile::{BlockSource, Step};
use parking_lot::Mutex;
use policy::Candidate;
use std::{collections::HashSet, sync::Arc};

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
    /// Oldest first.
    pub files: Vec<Arc<StoreFile>>,
    /// It was asked for or due as a major compaction.
    pub major: bool,
    /// All files of the store: deletes can be dropped.
    pub all_files: bool,
    pub off_peak: bool,
    pub size_bytes: u64,
    /// Belongs into the pool for large compactions.
    pub large: bool,
    _reservation: Reservation,
}

/// Keeps other compactions away from files.
struct Reservation {
    compacting: Arc<Mutex<HashSet<String>>>,
    names: Vec<String>,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut compacting = self.compacting.lock();
        for name in &self.names {
            compacting.remove(name);
        }
    }
}

/// Called every [`crate::StoreConfig::throttle_every_bytes`]: may sleep, or stop the compaction.
pub trait Throttle: Sync {
    /// `bytes` were read and written since the last call. `Err` cancels; the reason is reported.
    fn pause(&self, bytes: u64) -> Result<(), String>;

    /// Does a piece of a compaction, on whatever thread, and returns when it has ended.
    fn run(&self, piece: &mut (dyn FnMut() + Send)) {
        piece();
    }

    /// Asked after each pause: whether the piece is to end soon, and another to begin.
    fn ends_piece(&self) -> bool {
        false
    }
}

/// How a piece ended.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    /// The throttle wanted it to.
    Ended,
    /// Nothing is left.
    Last,
}

/// Does pieces until nothing is left.
fn in_pieces(
    throttle: &dyn Throttle,
    mut piece: impl FnMut() -> Result<Piece, StoreError> + Send,
) -> Result<(), StoreError> {
    loop {
        let mut outcome = Ok(Piece::Ended);
        throttle.run(&mut || outcome = piece());
        if outcome? == Piece::Last {
            return Ok(());
        }
    }
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
    /// Name of the new file. It is there even if no cell was left: it carries the highest sequence id.
    pub output: String,
    pub major: bool,
    /// Cells of the inputs; of references about half.
    pub cells_read: u64,
    pub cells_written: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
}

impl Store {
    /// Chooses files, None if there is nothing worth doing. Files whose cells have all expired are dropped first.
    pub fn select_compaction(&self, request: CompactionRequest) -> Option<CompactionPlan> {
        if self.check_doubt().is_err() {
            return None;
        }
        match self.drop_expired(request.now_ms) {
            Ok(0) => {}
            Ok(_) => {
                if let Err(error) = self.archive_compacted(request.now_ms) {
                    // They are out of the file list; the next archiving tries again.
                    tracing::warn!(%error, "expired store files were not archived");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "expired store files stay: the file list was not written");
                return None;
            }
        }
        let mut compacting = self.compacting.lock();
        let files = self.files();
        let newest_busy = files.iter().rposition(|f| compacting.contains(f.name()));
        let candidates: Vec<Candidate> = files.iter().map(|f| candidate(f)).collect();
        let request = CompactionRequest { force_major: request.force_major && newest_busy.is_none(), ..request };
        let config = self.config();
        let chosen = policy::select(&candidates, newest_busy, config, self.options().file_ttl_ms(), &request)?;
        let files: Vec<_> = chosen.files.iter().map(|i| files[*i].clone()).collect();
        let names: Vec<String> = files.iter().map(|f| f.name().to_owned()).collect();
        compacting.extend(names.iter().cloned());
        let size_bytes = files.iter().map(|f| f.size_bytes()).sum();
        Some(CompactionPlan {
            files,
            major: chosen.major,
            all_files: chosen.all_files,
            off_peak: chosen.off_peak,
            size_bytes,
            large: size_bytes > config.compaction.large_above_bytes,
            _reservation: Reservation { compacting: self.compacting.clone(), names },
        })
    }

    /// Whether a compaction should be asked for: enough files, or references to get rid of.
    pub fn needs_compaction(&self) -> bool {
        let compacting = self.compacting.lock();
        let files = self.files();
        let free = files.iter().filter(|f| !compacting.contains(f.name()));
        let references = free.clone().any(|f| f.is_reference());
        references || free.count() >= self.config().compaction.min_files
    }

    /// Whether enough time has passed for a major compaction.
    pub fn needs_major_compaction(&self, now_ms: u64) -> bool {
        let candidates: Vec<Candidate> = self.files().iter().map(|f| candidate(f)).collect();
        let candidates: Vec<_> = candidates.iter().collect();
        policy::major_is_due(&candidates, self.config(), self.options().file_ttl_ms(), now_ms)
    }

    /// How near the store is to the number of files at which its flushes wait: 0 with no more than a compaction takes, 1 there, more beyond.
    pub fn compaction_pressure(&self) -> f64 {
        let (files, min) = (self.file_count(), self.config().compaction.min_files);
        let room = self.config().blocking_files.saturating_sub(min);
        // With no room between the two numbers any file too many is one that flushes wait for.
        if files <= min { 0.0 } else { (files - min) as f64 / (room as f64).max(0.5) }
    }

    /// How urgent compaction is: the files that are still allowed before flushes wait; negative beyond.
    pub fn compaction_priority(&self) -> i64 {
        self.config().blocking_files as i64 - self.file_count() as i64
    }
}

fn candidate(file: &StoreFile) -> Candidate {
    Candidate {
        name: file.name().to_owned(),
        size_bytes: file.size_bytes(),
        is_reference: file.is_reference(),
        exclude_from_minor: file.exclude_from_minor,
        modified_ms: file.modified_ms,
        min_timestamp: file.time_range().map(|(min, _)| min),
    }
}

/// The next cell from a source that may block.
pub(crate) fn next_cell<'a>(
    scanner: &'a mut CompactionScanner,
    source: &dyn BlockSource,
) -> Result<Option<CellRef<'a>>, StoreError> {
    match scanner.next(source)? {
        Step::Ready(cell) => Ok(cell),
        Step::Need(request) => {
            Err(StoreError::Invalid(format!("the source did not wait for the block at offset {}", request.offset)))
        }
    }
}
