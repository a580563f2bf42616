//! [`Judge`]: a filter as the judge of rows that are looked at where they lie; or none, of rows none of whose cells is wanted.

use super::rows::RowBounds;
use martite_cell::order::compare_without_row;
use martite_cell::{CellRef, key};
use martite_filter::{Filter, ReturnCode};
use martite_hfile::{RowJudge, Verdict};
use std::cell::Cell;

/// Says of a row what a reader of it would say, as long as that is a refusal. Of anything else it says nothing.
pub(super) struct Judge<'a> {
    pub filter: Option<&'a mut Filter>,
    pub bounds: &'a RowBounds,
    pub stop_row: &'a [u8],
    /// Bytes of blocks read so far, and how many end the call.
    pub block_bytes: (&'a Cell<u64>, u64),
    /// Rows refused.
    pub refused: u64,
    /// Of the current row.
    included: usize,
    included_bytes: usize,
    /// Where the filter's last hint leads in it.
    target: Option<Vec<u8>>,
    /// It is refused by its key.
    by_key: bool,
}

impl<'a> Judge<'a> {
    /// None if the filter does not judge each row by itself.
    pub(super) fn new(
        filter: Option<&'a mut Filter>,
        bounds: &'a RowBounds,
        stop_row: &'a [u8],
        block_bytes: (&'a Cell<u64>, u64),
    ) -> Option<Judge<'a>> {
        let may_judge = filter.as_ref().is_none_or(|filter| filter.is_row_local()) && !bounds.reversed;
        may_judge.then_some(Judge {
            filter,
            bounds,
            stop_row,
            block_bytes,
            refused: 0,
            included: 0,
            included_bytes: 0,
            target: None,
            by_key: false,
        })
    }
}

impl RowJudge for Judge<'_> {
    #[inline]
    fn begin(&mut self, row: &[u8]) -> bool {
        if self.bounds.is_past(self.stop_row, row) {
            return false;
        }
        (self.included, self.included_bytes, self.target, self.by_key) = (0, 0, None, false);
        let Some(filter) = &mut self.filter else { return true };
        filter.reset();
        if filter.filter_all_remaining() {
            return false;
        }
        self.by_key = filter.filter_row_key(row);
        // Who minds keys alone is asked about many rows at once, elsewhere.
        !self.by_key || filter.minds_cells() && !filter.filter_all_remaining()
    }

    #[inline]
    fn cell(&mut self, cell: &CellRef<'_>) -> Verdict {
        let Some(filter) = &mut self.filter else { return Verdict::Leave };
        if self.by_key {
            return Verdict::EndRow;
        }
        if self.target.as_ref().is_some_and(|target| compare_without_row(cell.key, target).is_lt()) {
            return Verdict::Next;
        }
        let code = filter.filter_cell(cell);
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
            ReturnCode::SeekNextUsingHint => {
                self.target = filter.next_hint(cell);
                let stays = |target: &Vec<u8>| key::check(target).is_ok() && key::row(target) == cell.row();
                if self.target.as_ref().is_none_or(stays) { Verdict::Next } else { Verdict::Leave }
            }
        }
    }

    #[inline]
    fn refuses(&mut self) -> bool {
        let refused = match &mut self.filter {
            Some(filter) => filter.failure().is_none() && (self.by_key || self.included == 0 || filter.filter_row()),
            None => true,
        };
        self.refused += u64::from(refused);
        refused
    }

    fn goes_on(&mut self) -> bool {
        let (read, end) = self.block_bytes;
        read.get() < end
    }
}
