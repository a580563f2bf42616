//! Rows of plain cells that are judged where they lie: what a scan spends its time with when its filter refuses most rows.

use crate::{BlockSource, Scanner, cells::CellAt, plain::AHEAD_BYTES, scanner::Current};
use bytes::Bytes;
use martite_cell::{CellRef, CellType, key};
use martite_env::prefetch::Through;

/// A row of more cells is left to others: what was looked at is looked at once more then.
const MOST_IN_ROW: usize = 64;

/// Which cells are judged.
#[derive(Debug, Clone, Copy)]
pub struct JudgeRules<'a> {
    /// Timestamps that are wanted, both included.
    pub oldest: u64,
    pub newest: u64,
    /// Cells of other times are passed over; else nothing is judged where they are.
    pub other_times_pass: bool,
    /// The same of further versions of a column.
    pub older_pass: bool,
    /// Qualifiers, ascending; None: all. Cells of others are passed over.
    pub columns: Option<&'a [Bytes]>,
    /// No further row once so many cells are passed over.
    pub most_cells: usize,
}

impl JudgeRules<'_> {
    #[inline]
    pub(crate) fn want(&self, qualifier: &[u8]) -> bool {
        self.columns.is_none_or(|columns| columns.iter().any(|column| key::is_same(column, qualifier)))
    }
}

impl JudgeRules<'_> {
    /// None: the row is to be read in another way.
    #[inline(always)]
    fn sees<'a>(
        &self,
        cell: &CellAt,
        payload: &'a [u8],
        row_prefix: &[u8],
        last_column: &mut Option<&'a [u8]>,
    ) -> Option<Seen> {
        let (key, column) = (cell.key(payload), cell.column(payload));
        let is_plain = key::type_code(key) == CellType::Put as u8 && cell.tags_len() == 0;
        let in_time = (self.oldest..=self.newest).contains(&key::timestamp(key));
        if !is_plain || !(in_time || self.other_times_pass) {
            return None;
        }
        if !in_time {
            return Some(Seen::Passed);
        }
        if last_column.is_some_and(|last| key::is_same(last, column)) {
            return self.older_pass.then_some(Seen::Passed);
        }
        *last_column = Some(column);
        let qualifier = key::qualifier_at(key, row_prefix.len());
        Some(match self.columns.and_then(<[Bytes]>::last) {
            _ if self.want(qualifier) => Seen::Wanted,
            Some(last) if last[..] < *qualifier => Seen::BehindAll,
            _ => Seen::Passed,
        })
    }
}

/// What is done with a cell of a row.
enum Seen {
    Wanted,
    Passed,
    /// It is behind the last of the columns, as all further ones of the row are.
    BehindAll,
}

/// What comes after a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The next one of the row.
    Next,
    /// Further cells of the row are not wanted.
    EndRow,
    /// The row is to be read in another way.
    Leave,
}

/// Who judges rows. A row that is not refused is shown once more, to whoever reads it.
pub trait RowJudge {
    /// A row begins; false: it is not to be judged now.
    fn begin(&mut self, row: &[u8]) -> bool;
    fn cell(&mut self, cell: &CellRef<'_>) -> Verdict;
    /// The row is over: whether it is refused.
    fn refuses(&mut self) -> bool;
    /// A block is over: whether rows of the next one are to be judged, too.
    fn goes_on(&mut self) -> bool;
}

impl Scanner {
    /// Passes over the row that begins here and those behind it that `judge` refuses, as long as the blocks behind are at hand, until
    /// that are `most_cells`; returns how many. The rows consist of puts without tags: it stops at the first cell of any other row.
    pub fn pass_judged(&mut self, rules: JudgeRules<'_>, judge: &mut impl RowJudge, src: &dyn BlockSource) -> usize {
        let mut passed = 0;
        while passed < rules.most_cells {
            let most_cells = rules.most_cells - passed;
            let (cells, is_over) = self.pass_judged_in_block(JudgeRules { most_cells, ..rules }, judge);
            passed += cells;
            if !is_over {
                break;
            }
            self.step_ahead(src);
            if !judge.goes_on() {
                break;
            }
        }
        passed
    }

    /// True: the last row of the block was refused, too, and is passed over by a step into the block behind, which is at hand.
    fn pass_judged_in_block(&mut self, rules: JudgeRules<'_>, judge: &mut impl RowJudge) -> (usize, bool) {
        let layout = self.reader().layout();
        let one_row = self.is_for_one_row();
        let Some(Current { block, cell: current, keys_asked, mut ahead, .. }) = self.current() else {
            return (0, false);
        };
        let payload = block.payload();
        let (mut first, mut passed, mut is_last) = (*current, 0, false);
        // Where rows lie side by side: which one this is.
        let mut number = block.marks().rows().map(|_| block.marks().row_at(first.start));
        let _way = Through::new(payload, ahead.behind);
        'rows: while passed < rules.most_cells {
            let first_key = first.key(payload);
            let row = key::row(first_key);
            if !judge.begin(row) {
                break;
            }
            let row_prefix = &first_key[..2 + row.len()];
            let (mut cell, mut cells, mut decided) = (first, 0, false);
            let mut last_column: Option<&[u8]> = None;
            first = loop {
                if cell.is_long() {
                    *keys_asked = block.marks().prefetch_keys(*keys_asked, cell.start, payload);
                } else {
                    ahead.prefetch(payload, cell.start as usize, AHEAD_BYTES);
                }
                if !decided {
                    let Some(seen) = rules.sees(&cell, payload, row_prefix, &mut last_column) else { break 'rows };
                    let verdict = match seen {
                        Seen::Wanted => judge.cell(&cell.cell(payload)),
                        Seen::Passed => Verdict::Next,
                        Seen::BehindAll => Verdict::EndRow,
                    };
                    match verdict {
                        Verdict::Next => {}
                        Verdict::EndRow => decided = true,
                        Verdict::Leave => break 'rows,
                    }
                }
                cells += 1;
                let next = match number.filter(|_| decided) {
                    Some(row) => block.marks().next_row_start(row).unwrap_or(payload.len() as u32),
                    None => cell.end,
                };
                match CellAt::parse_inline(payload, next, layout) {
                    Some(next) if cells <= MOST_IN_ROW => {
                        if !key::is_in_row(next.key(payload), row_prefix) {
                            break next;
                        }
                        cell = next;
                    }
                    // Where the block ends the row may go on in the next one.
                    None if next as usize == payload.len()
                        && !one_row
                        && cells <= MOST_IN_ROW
                        && ahead.begins_another_row(row, layout) =>
                    {
                        is_last = true;
                        break first;
                    }
                    _ => break 'rows,
                }
            };
            if !judge.refuses() {
                break;
            }
            passed += cells;
            if is_last {
                return (passed, true);
            }
            *current = first;
            number = number.map(|row| row + 1);
        }
        (passed, false)
    }
}
