//! Rows of plain cells that are judged where they lie: what a scan spends its time with when its filter refuses most rows.

use crate::{
    BlockSource, Scanner,
    cells::{CellAt, Layout},
    plain::AHEAD_BYTES,
    scanner::{Current, GoOn},
};
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
            let (cells, end) = self.pass_judged_in_block(JudgeRules { most_cells, ..rules }, judge);
            passed += cells;
            if !self.go_on(end, src) || !judge.goes_on() {
                break;
            }
        }
        passed
    }

    /// How many cells, and where to go from there.
    fn pass_judged_in_block(&mut self, rules: JudgeRules<'_>, judge: &mut impl RowJudge) -> (usize, GoOn) {
        let layout = self.reader().layout();
        let one_row = self.is_for_one_row();
        let second_row_ahead = self.block_ahead().and_then(|block| block.marks().next_row_start(0));
        let Some(Current { block, cell: current, keys_asked, mut ahead, .. }) = self.current() else {
            return (0, GoOn::Here);
        };
        let (payload, marks) = (block.payload(), block.marks());
        let mut passed = 0;
        // Where rows lie side by side: which one this is.
        let mut number = marks.rows().map(|_| marks.row_at(current.start));
        let _way = Through::new(payload, ahead.behind);
        while passed < rules.most_cells {
            let key = current.key(payload);
            if !judge.begin(key::row(key)) {
                break;
            }
            let mut row = InRow::new(&key[..2 + key::row(key).len()]);
            let next_row = number.map(|row| marks.next_row_start(row).unwrap_or(payload.len() as u32));
            let prefetch = |cell: &CellAt| {
                if cell.is_long() {
                    *keys_asked = marks.prefetch_keys(*keys_asked, cell.start, payload);
                } else {
                    ahead.prefetch(payload, cell.start as usize, AHEAD_BYTES);
                }
            };
            let end = match row.look_through((payload, layout), *current, next_row, &rules, judge, prefetch) {
                // The row may go on in the block behind.
                Some(RowEnd::Block) => match CellAt::parse(ahead.behind, 0, layout).filter(|_| !one_row) {
                    Some(next) if key::is_in_row(next.key(ahead.behind), row.prefix) => {
                        row.look_through_rest((ahead.behind, layout), next, second_row_ahead, &rules, judge)
                    }
                    next => next.map(|_| RowEnd::Block),
                },
                end => end,
            };
            let Some(end) = end.filter(|_| judge.refuses()) else { break };
            passed += row.cells;
            match end {
                RowEnd::Next(next) => *current = next,
                RowEnd::NextAhead(next) => return (passed, GoOn::AheadAt(next)),
                RowEnd::Block => return (passed, GoOn::Ahead),
            }
            number = number.map(|row| row + 1);
        }
        (passed, GoOn::Here)
    }
}

/// How looking through a row ended.
enum RowEnd {
    /// Here the next one begins.
    Next(CellAt),
    /// The same, in the block behind.
    NextAhead(CellAt),
    /// With the block.
    Block,
}

/// A row that is being looked through.
struct InRow<'a> {
    prefix: &'a [u8],
    cells: usize,
    /// Further cells are not wanted.
    decided: bool,
    last_column: Option<&'a [u8]>,
}

impl<'a> InRow<'a> {
    fn new(prefix: &'a [u8]) -> InRow<'a> {
        InRow { prefix, cells: 0, decided: false, last_column: None }
    }

    /// From `cell` on; `next_row`: where the next row begins, if that is known. None: the row is to be read in another way.
    #[inline(always)]
    fn look_through(
        &mut self,
        (payload, layout): (&'a [u8], Layout),
        mut cell: CellAt,
        next_row: Option<u32>,
        rules: &JudgeRules<'_>,
        judge: &mut impl RowJudge,
        mut prefetch: impl FnMut(&CellAt),
    ) -> Option<RowEnd> {
        while self.cells < MOST_IN_ROW {
            prefetch(&cell);
            if !self.decided {
                let verdict = match rules.sees(&cell, payload, self.prefix, &mut self.last_column) {
                    Some(Seen::Wanted) => judge.cell(&cell.cell(payload)),
                    Some(Seen::Passed) => Verdict::Next,
                    Some(Seen::BehindAll) => Verdict::EndRow,
                    None => Verdict::Leave,
                };
                match verdict {
                    Verdict::Next => {}
                    Verdict::EndRow => self.decided = true,
                    Verdict::Leave => return None,
                }
            }
            self.cells += 1;
            let next = next_row.filter(|_| self.decided).unwrap_or(cell.end);
            match CellAt::parse_inline(payload, next, layout) {
                Some(next) if key::is_in_row(next.key(payload), self.prefix) => cell = next,
                Some(next) => return Some(RowEnd::Next(next)),
                None => return (next as usize == payload.len()).then_some(RowEnd::Block),
            }
        }
        None
    }

    /// The same in the block behind.
    #[inline(never)]
    fn look_through_rest(
        &mut self,
        block: (&'a [u8], Layout),
        cell: CellAt,
        next_row: Option<u32>,
        rules: &JudgeRules<'_>,
        judge: &mut impl RowJudge,
    ) -> Option<RowEnd> {
        match self.look_through(block, cell, next_row, rules, judge, |_| {}) {
            Some(RowEnd::Next(next)) => Some(RowEnd::NextAhead(next)),
            _ => None,
        }
    }
}
