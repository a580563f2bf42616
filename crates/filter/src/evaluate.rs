//! The contract of one filter; its defaults are those of a filter that has nothing to say.

use crate::error::Result;
use crate::return_code::ReturnCode;
use martite_cell::{CellRef, ShortRows};

pub(crate) trait Evaluate: Send {
    /// Java class name without its package.
    fn name(&self) -> &'static str;
    fn reset(&mut self) {}
    fn filter_all_remaining(&mut self) -> bool {
        false
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(self.filter_all_remaining())
    }
    /// Between rows: all that is asked before the cells of the next one, in one call.
    fn next_row(&mut self, row: &[u8]) -> Result<NextRow> {
        self.reset();
        if self.filter_all_remaining() {
            return Ok(NextRow::End);
        }
        if !self.filter_row_key(row)? {
            return Ok(NextRow::Accepted);
        }
        Ok(if self.filter_all_remaining() { NextRow::RefusedAsLast } else { NextRow::Refused })
    }
    /// The same of one row after the other, as long as they are refused; how many are, and what is said of the one behind them.
    fn next_rows(&mut self, rows: ShortRows<'_>) -> (usize, Option<Result<NextRow>>) {
        // Those known to be refused need not be shown, but for the last row of all: what is asked next is of that.
        let known = self.first_passing(rows).unwrap_or(0).min(rows.len().saturating_sub(1));
        let mut whole = rows.whole();
        for at in known..rows.len() {
            match self.next_row(whole.of(rows.row(at))) {
                Ok(NextRow::Refused) => {}
                answer => return (at, Some(answer)),
            }
        }
        (rows.len(), None)
    }
    /// For filters that say all they have to say by [`Evaluate::filter_row_key`], of each row by itself, and do not fail: how many rows they
    /// refuse before the first that they let pass. Nothing is remembered of that. None: it is another filter.
    fn first_passing(&self, _rows: ShortRows<'_>) -> Option<usize> {
        None
    }
    /// For filters that do not fail: what they let pass of each row, if that is the same of all rows, whatever is in them. None: it is another
    /// filter.
    fn part_of_each_row(&self) -> Option<RowPart> {
        None
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode>;
    /// Whether cells of a row that was refused by its key change anything but what [`Evaluate::reset`] resets.
    fn watches_refused_rows(&self) -> bool {
        !self.is_row_local()
    }
    /// Whether a cell of a row whose key was let pass can be anything but included as it is, or tells the filter something.
    fn minds_cells(&self) -> bool {
        true
    }
    /// Whether what it says of a row follows from that row alone, so that this may be shown to it twice. It keeps nothing that
    /// [`Evaluate::reset`] does not reset but where its last hint led, and its hints stay in the row.
    fn is_row_local(&self) -> bool {
        false
    }
    fn next_hint(&mut self, _cell: &CellRef<'_>) -> Option<Vec<u8>> {
        None
    }
    fn transform(&self, value: ValueForm) -> ValueForm {
        value
    }
    /// Whether [`Evaluate::transform`] can say anything but that.
    fn changes_values(&self) -> bool {
        false
    }
    fn has_filter_row(&self) -> bool {
        false
    }
    fn keeps_row_cell(&mut self, _cell: &CellRef<'_>) -> bool {
        true
    }
    fn filter_row(&mut self) -> bool {
        false
    }
    fn is_family_essential(&self, _family: &[u8]) -> bool {
        true
    }
    fn set_reversed(&mut self, _reversed: bool) {}
    /// Whether an AND list asks this filter about a cell that another one has excluded already, for its hint.
    fn gives_hints(&self) -> bool {
        false
    }
}

/// Cells of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowPart {
    /// The first one that is shown to the filter.
    FirstCell,
    AllCells,
}

/// What a filter says between two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRow {
    /// The scan is over, whatever the row is.
    End,
    /// Its cells are to be looked at.
    Accepted,
    Refused,
    /// And the scan is over.
    RefusedAsLast,
}

pub(crate) type Boxed = Box<dyn Evaluate>;

/// The value that goes out with an included cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueForm {
    /// As it is stored; its length.
    Stored(usize),
    Empty,
    /// This number, as i32.
    Length(usize),
}

impl ValueForm {
    pub(crate) fn len(self) -> usize {
        match self {
            ValueForm::Stored(len) => len,
            ValueForm::Empty => 0,
            ValueForm::Length(_) => 4,
        }
    }
}
