//! [`ByFilter`]: a filter as the one who is shown a run's cells.

use super::matcher::Match;
use martite_cell::{CellBuf, CellRef};
use martite_filter::{Filter, ReturnCode};
use martite_hfile::{ShowCells, Shown, Then};

pub(super) struct ByFilter<'a> {
    filter: &'a mut Filter,
    scratch: &'a mut Vec<u8>,
    /// Of the last cell.
    code: Option<ReturnCode>,
    target: Option<Vec<u8>>,
}

impl<'a> ByFilter<'a> {
    /// None: there is no filter that minds cells.
    #[inline]
    pub(super) fn new(filter: Option<&'a mut Filter>, scratch: &'a mut Vec<u8>) -> Option<ByFilter<'a>> {
        let filter = filter.filter(|filter| filter.minds_cells())?;
        Some(ByFilter { filter, scratch, code: None, target: None })
    }

    /// Where it wants to go from the last cell, of which one version was shown.
    pub(super) fn code(&self) -> Option<Match> {
        Some(match self.code? {
            ReturnCode::Include => Match::Include,
            ReturnCode::IncludeAndNextCol => Match::IncludeNextCol,
            ReturnCode::IncludeAndSeekNextRow => Match::IncludeNextRow,
            ReturnCode::Skip => Match::Skip,
            ReturnCode::NextCol => Match::NextCol,
            ReturnCode::NextRow => Match::NextRow,
            ReturnCode::SeekNextUsingHint => Match::Hint,
        })
    }
}

impl ShowCells for ByFilter<'_> {
    #[inline]
    fn is_done(&mut self) -> bool {
        self.filter.filter_all_remaining()
    }

    #[inline]
    fn show(&mut self, cell: &CellRef<'_>) -> Shown {
        let code = self.filter.filter_cell(cell);
        self.code = Some(code);
        let then = match code {
            ReturnCode::Include | ReturnCode::Skip => Then::Next,
            ReturnCode::IncludeAndNextCol | ReturnCode::NextCol => Then::NextColumn,
            ReturnCode::IncludeAndSeekNextRow | ReturnCode::NextRow => Then::NextRow,
            ReturnCode::SeekNextUsingHint => Then::Seek,
        };
        Shown { takes: code.is_include(), then }
    }

    fn target(&mut self, cell: &CellRef<'_>) -> Option<&[u8]> {
        // Backwards a hint is where to go back to; in its row the next cell is asked about.
        self.target = if self.filter.is_reversed() { None } else { self.filter.next_hint(cell) };
        self.target.as_deref()
    }

    #[inline]
    fn put(&mut self, cell: &CellRef<'_>, out: &mut CellBuf) -> bool {
        let changes = self.filter.changes_values();
        if changes {
            out.push(&self.filter.transform(*cell, self.scratch));
        }
        changes
    }
}
