//! [`Filter`]: what a scanner holds; forwards to the decoded tree and remembers the first failure.

use crate::FilterError;
use crate::decode;
use crate::error::Result;
use crate::evaluate::{Boxed, NextRow, RowPart, ValueForm};
use crate::return_code::ReturnCode;
use martite_cell::{CellBuf, CellRef, ShortRows, buf::Mark};
use martite_proto as pb;

/// One decoded filter tree with its state; belongs to one scanner.
pub struct Filter {
    tree: Boxed,
    reversed: bool,
    /// Asked once per cell, known from the start for nearly all filters.
    has_filter_row: bool,
    watches_refused_rows: bool,
    minds_cells: bool,
    is_row_local: bool,
    judges_by_key: bool,
    takes_first_cells: bool,
    changes_values: bool,
    failure: Option<Box<FilterError>>,
}

impl Filter {
    pub fn decode(proto: &pb::Filter) -> std::result::Result<Filter, FilterError> {
        let tree = decode::filter(proto, 0).map_err(|e| *e)?;
        let (has_filter_row, watches_refused_rows) = (tree.has_filter_row(), tree.watches_refused_rows());
        Ok(Filter {
            has_filter_row,
            watches_refused_rows,
            minds_cells: tree.minds_cells(),
            is_row_local: tree.is_row_local(),
            changes_values: tree.changes_values(),
            takes_first_cells: tree.part_of_each_row() == Some(RowPart::FirstCell),
            judges_by_key: tree.first_passing(ShortRows::NONE).is_some(),
            tree,
            reversed: false,
            failure: None,
        })
    }

    /// Java class name without its package, for errors and logs.
    pub fn name(&self) -> &'static str {
        self.tree.name()
    }

    /// To be called after each row.
    pub fn reset(&mut self) {
        self.tree.reset();
    }

    /// True: the scan is over. If [`Filter::failure`] says why, the scan must fail with it.
    pub fn filter_all_remaining(&mut self) -> bool {
        self.failure.is_some() || self.tree.filter_all_remaining()
    }

    /// True: the whole row is left out.
    pub fn filter_row_key(&mut self, row: &[u8]) -> bool {
        let answer = self.tree.filter_row_key(row);
        self.note(answer, true)
    }

    /// [`Self::reset`], [`Self::filter_all_remaining`], [`Self::filter_row_key`] and once more whether the scan is over, in one call.
    pub fn next_row(&mut self, row: &[u8]) -> NextRow {
        if self.failure.is_some() {
            return NextRow::End;
        }
        let answer = self.tree.next_row(row);
        self.note(answer, NextRow::RefusedAsLast)
    }

    /// [`Self::next_row`] of one row after the other, as long as they are refused; how many are, and what is said of the one behind them.
    pub fn next_rows(&mut self, rows: ShortRows<'_>) -> (usize, Option<NextRow>) {
        if self.failure.is_some() {
            return (0, (!rows.is_empty()).then_some(NextRow::End));
        }
        let (refused, answer) = self.tree.next_rows(rows);
        (refused, answer.map(|answer| self.note(answer, NextRow::RefusedAsLast)))
    }

    /// Whether all it says of a row follows from the row's key alone: [`Self::first_passing`] tells.
    pub fn judges_by_key(&self) -> bool {
        self.judges_by_key
    }

    /// If the filter judges each row by its key and by nothing else: how many rows come before the first that passes. It need not be shown
    /// these rows, nor be reset after them.
    #[inline]
    pub fn first_passing(&self, rows: ShortRows<'_>) -> Option<usize> {
        self.tree.first_passing(rows)
    }

    /// Whether it lets the first cell pass of each row, whatever the row is, and nothing else. It need not be shown such rows: the cell goes out
    /// as [`Self::transform`] says.
    pub fn takes_first_cells(&self) -> bool {
        self.takes_first_cells
    }

    /// Whether the cells of a row that was refused by its key must be shown to the filter all the same.
    pub fn watches_refused_rows(&self) -> bool {
        self.watches_refused_rows
    }

    /// Whether cells have to be shown to the filter at all: false if it judges rows only, by their keys or by their number.
    pub fn minds_cells(&self) -> bool {
        self.minds_cells
    }

    /// For raw scans: they count what of a column passed the filter, delete markers included, whatever the filter is.
    pub fn mind_cells(&mut self) {
        (self.minds_cells, self.takes_first_cells) = (true, false);
    }

    /// Whether what it says of a row follows from that row alone: after a reset, this may be shown to it once more.
    pub fn is_row_local(&self) -> bool {
        self.is_row_local
    }

    pub fn filter_cell(&mut self, cell: &CellRef<'_>) -> ReturnCode {
        let answer = self.tree.filter_cell(cell);
        self.note(answer, ReturnCode::NextRow)
    }

    /// After `SeekNextUsingHint`: the flat key to seek to; None: the filter does not know, go on with the next cell.
    ///
    /// In a reversed scan the hint's row is an upper bound: seek to it, or to the last row before it.
    pub fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        self.tree.next_hint(cell)
    }

    /// Whether [`Self::transform`] can hand out another cell than the one that is included.
    pub fn changes_values(&self) -> bool {
        self.changes_values
    }

    /// The cell to hand out in place of an included one; `scratch` holds new bytes if there are any.
    pub fn transform<'a>(&self, cell: CellRef<'a>, scratch: &'a mut Vec<u8>) -> CellRef<'a> {
        match self.tree.transform(ValueForm::Stored(cell.value.len())) {
            ValueForm::Stored(_) => cell,
            ValueForm::Empty => CellRef { value: &[], tags: &[], ..cell },
            ValueForm::Length(len) => {
                scratch.clear();
                scratch.extend_from_slice(&(len as i32).to_be_bytes());
                CellRef { value: scratch, tags: &[], ..cell }
            }
        }
    }

    /// Whether the filter judges whole rows: the scanner must then collect each row before it hands out any of it.
    pub fn has_filter_row(&self) -> bool {
        self.has_filter_row
    }

    /// Removes those of the row's collected cells (all since `from`) that the filter does not want.
    pub fn filter_row_cells(&mut self, row: &mut CellBuf, from: Mark) {
        if self.minds_cells {
            row.retain_since(from, |cell| self.tree.keeps_row_cell(cell));
        }
    }

    /// The same decision for one collected cell: whether it stays.
    pub fn keeps_row_cell(&mut self, cell: &CellRef<'_>) -> bool {
        self.tree.keeps_row_cell(cell)
    }

    /// True: the row that was collected is left out.
    pub fn filter_row(&mut self) -> bool {
        self.tree.filter_row()
    }

    /// Whether the filter needs the family to judge a row.
    pub fn is_family_essential(&self, family: &[u8]) -> bool {
        self.tree.is_family_essential(family)
    }

    /// To be called before the first row.
    pub fn set_reversed(&mut self, reversed: bool) {
        self.reversed = reversed;
        self.tree.set_reversed(reversed);
    }

    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Why the filter could not judge a row or a cell. The scan must end with this error and not be tried again.
    pub fn failure(&self) -> Option<&FilterError> {
        self.failure.as_deref()
    }

    fn note<T>(&mut self, answer: Result<T>, on_failure: T) -> T {
        answer.unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            on_failure
        })
    }
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filter").field("name", &self.name()).field("reversed", &self.reversed).finish_non_exhaustive()
    }
}
