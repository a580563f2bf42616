//! [`CompactionScanner`]: the cells of a flush's or compaction's inputs that are worth keeping, in order.

use super::compaction_matcher::CompactionMatcher;
use super::matcher::Match;
use super::merge::{Merge, Start};
use super::source::{Source, ready};
use super::{CompactionScan, ReadView};
use crate::{FamilyOptions, StoreError};
use martite_cell::{CellRef, key};
use martite_hfile::{BlockSource, Step};
use std::sync::Arc;

/// A move that was decided and may have been interrupted.
enum Move {
    /// Every source to its first cell.
    Start,
    None,
    Next,
    /// To `target`.
    Seek,
}

pub struct CompactionScanner {
    merge: Merge,
    family: Arc<FamilyOptions>,
    matcher: CompactionMatcher,
    pending: Move,
    target: Vec<u8>,
    cells_read: u64,
}

impl CompactionScanner {
    /// Every segment and file of `view` is read, whatever its sequence ids.
    pub fn new(view: ReadView, family: Arc<FamilyOptions>, scan: CompactionScan) -> CompactionScanner {
        let segments = view.segments.iter().map(|s| Source::segment(s.scanner(), u64::MAX));
        let files = view.files.iter().rev().map(|f| Source::file(f, u64::MAX, false));
        CompactionScanner {
            merge: Merge::new(segments.chain(files).collect(), family.order, false),
            matcher: CompactionMatcher::new(&family, scan),
            family,
            pending: Move::Start,
            target: Vec::new(),
            cells_read: 0,
        }
    }

    /// Cells looked at so far, kept or not.
    pub fn cells_read(&self) -> u64 {
        self.cells_read
    }

    /// The next cell to keep; None at the end. On `Need`, call again.
    pub fn next(&mut self, src: &dyn BlockSource) -> Result<Step<Option<CellRef<'_>>>, StoreError> {
        loop {
            ready!(self.finish_move(src)?);
            let Some(cell) = self.merge.peek() else { break };
            self.cells_read += 1;
            let code = self.matcher.check(&cell);
            self.pending = match code {
                Match::NextCol | Match::IncludeNextCol => {
                    self.matcher.next_column_key(&cell, &mut self.target);
                    let ahead = self.family.order.keys(&self.target, cell.key).is_gt();
                    if ahead { Move::Seek } else { Move::Next }
                }
                Match::NextRow | Match::IncludeNextRow => {
                    self.target = key::last_on_row(cell.row());
                    Move::Seek
                }
                _ => Move::Next,
            };
            if let Match::Include | Match::IncludeNextCol | Match::IncludeNextRow = code {
                break;
            }
        }
        Ok(Step::Ready(self.merge.peek()))
    }

    fn finish_move(&mut self, src: &dyn BlockSource) -> Result<Step<()>, StoreError> {
        ready!(match self.pending {
            Move::None => return Ok(Step::Ready(())),
            Move::Start => {
                let first = key::first_on_row(&[]);
                self.merge.start(src, |_| Start::Key(&first))
            }
            Move::Next => self.merge.next(src),
            Move::Seek => self.merge.seek_forward(&self.target, src),
        }?);
        self.pending = Move::None;
        Ok(Step::Ready(()))
    }
}
