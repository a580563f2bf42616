//! [`Judge`]: a filter as the judge of rows that are looked at where they lie.

use super::rows::RowBounds;
use martite_cell::CellRef;
use martite_filter::{Filter, ReturnCode};
use martite_hfile::{RowJudge, Verdict};
use std::cell::Cell;

/// Says of a row what a reader of it would say, as long as that is a refusal. Of anything else it says nothing.
pub(super) struct Judge<'a> {
    pub filter: &'a mut Filter,
    pub bounds: &'a RowBounds,
    pub stop_row: &'a [u8],
    /// Bytes of blocks read so far, and how many end the call.
    pub block_bytes: (&'a Cell<u64>, u64),
    /// Rows refused.
    pub refused: u64,
    /// Of the current row.
    included: usize,
    included_bytes: usize,
}

impl<'a> Judge<'a> {
    /// None if the filter does not judge each row by itself.
    pub(super) fn new(
        filter: &'a mut Filter,
        bounds: &'a RowBounds,
        stop_row: &'a [u8],
        block_bytes: (&'a Cell<u64>, u64),
    ) -> Option<Judge<'a>> {
        let may_judge = filter.is_row_local() && !bounds.reversed;
        may_judge.then_some(Judge { filter, bounds, stop_row, block_bytes, refused: 0, included: 0, included_bytes: 0 })
    }
}

impl RowJudge for Judge<'_> {
    #[inline]
    fn begin(&mut self, row: &[u8]) -> bool {
        self.filter.reset();
        (self.included, self.included_bytes) = (0, 0);
        !self.bounds.is_past(self.stop_row, row)
            && !self.filter.filter_all_remaining()
            && !self.filter.filter_row_key(row)
    }

    #[inline]
    fn cell(&mut self, cell: &CellRef<'_>) -> Verdict {
        let code = self.filter.filter_cell(cell);
        if code.is_include() {
            // A row without judgement over the whole is wanted now; one with it may be too large to be collected.
            self.included += 1;
            self.included_bytes += cell.key.len() + cell.value.len();
            let too_large = self.included >= self.bounds.batch
                || self.included_bytes.saturating_mul(2) >= self.bounds.max_row_bytes;
            if !self.bounds.has_filter_row || too_large {
                return Verdict::Leave;
            }
        }
        match code {
            ReturnCode::Include | ReturnCode::IncludeAndNextCol | ReturnCode::Skip | ReturnCode::NextCol => {
                Verdict::Next
            }
            ReturnCode::NextRow | ReturnCode::IncludeAndSeekNextRow => Verdict::EndRow,
            ReturnCode::SeekNextUsingHint => Verdict::Leave,
        }
    }

    #[inline]
    fn refuses(&mut self) -> bool {
        let refused = self.filter.failure().is_none() && (self.included == 0 || self.filter.filter_row());
        self.refused += u64::from(refused);
        refused
    }

    fn goes_on(&mut self) -> bool {
        let (read, end) = self.block_bytes;
        read.get() < end
    }
}
