//! Rows that lie side by side, passed over one behind the other, and those of one plain cell each, or the first cells of all, taken: what
//! a scan spends its time with when its filter judges rows by their keys, or counts them.

use crate::{
    Block, BlockSource, JudgeRules, Scanner,
    cells::CellAt,
    plain::Lying,
    scanner::{Current, GoOn},
};
use martite_cell::{CellType, ShortRows, key};
use std::sync::Arc;

/// First cells are asked for so many rows ahead.
const FIRST_CELLS_AHEAD: usize = 8;

/// Who takes rows.
pub trait TakeRows {
    /// How many of these rows, side by side, come before the first that is wanted.
    fn before_first_wanted(&mut self, rows: ShortRows<'_>) -> usize;
    /// Whether of each row that is wanted only the first cell is.
    fn only_first_cells(&self) -> bool;
    /// Takes a cell as it lies in the block, with its lengths; false: it is left, and so is all that is behind it.
    fn take(&mut self, key_value: &[u8], block: &Arc<Block>) -> bool;
    /// Of a block: the last row that is behind the scanner now.
    fn passed(&mut self, last: &[u8]);
    /// A block is over: whether to go on in the next one.
    fn goes_on(&mut self) -> bool;
}

impl Scanner {
    /// Whether [`Self::take_rows`] can do anything here; `of_several`: with rows of several cells.
    #[inline]
    pub fn may_take_rows(&self, of_several: bool) -> bool {
        let marks = self.block().map(Block::marks);
        marks.is_some_and(|marks| if of_several { marks.rows() } else { marks.one_cell_rows() }.is_some())
    }

    /// Shows the rows that begin here to `takes`, and those that are wanted as long as each is one plain cell, a put without tags, or begins with
    /// one and no more is wanted. It stops at the first wanted one that is left, or of another kind, in front of a block that is not at hand, or in
    /// which one of the rows `before` may be, and after as many rows as `rules` allow cells; how many are behind it then.
    pub fn take_rows(
        &mut self,
        rules: JudgeRules<'_>,
        before: [Option<&[u8]>; 2],
        takes: &mut impl TakeRows,
        src: &dyn BlockSource,
    ) -> usize {
        let mut passed = 0;
        while passed < rules.most_cells && before.iter().flatten().all(|row| self.block_is_before(row)) {
            let most_cells = rules.most_cells - passed;
            let (rows, end) = self.take_rows_of_block(JudgeRules { most_cells, ..rules }, takes);
            passed += rows;
            if !self.go_on(end, src) || !takes.goes_on() {
                break;
            }
        }
        passed
    }

    /// How many, and where to go from there.
    fn take_rows_of_block(&mut self, rules: JudgeRules<'_>, takes: &mut impl TakeRows) -> (usize, GoOn) {
        let layout = self.reader().layout();
        let second_row = self.block_ahead().and_then(|block| block.marks().next_row_start(0));
        let Some(Current { block, cell: current, ahead, .. }) = self.current() else { return (0, GoOn::Here) };
        let (payload, marks) = (block.payload(), block.marks());
        let Some(rows) = marks.rows() else { return (0, GoOn::Here) };
        let first = marks.row_at(current.start);
        if marks.row_start(first) != current.start {
            return (0, GoOn::Here);
        }
        let only_first = takes.only_first_cells();
        let may_take = only_first || marks.one_cell_rows().is_some();
        let mut whole = rows.whole();
        let last = rows.len() - 1;
        // It may go on in the block behind: then it can be passed over, or its first cell taken.
        let is_whole = ahead.begins_another_row(whole.of(rows.row(last)), layout);
        let most = first.saturating_add(rules.most_cells);
        let end = most.min(if is_whole { rows.len() } else { last });
        let next_wanted = |takes: &mut _, from: usize| {
            let wanted = from + TakeRows::before_first_wanted(takes, rows.take(end).skip(from));
            if wanted < end && only_first {
                marks.prefetch_first_cell(wanted + FIRST_CELLS_AHEAD, payload);
            } else if wanted < end {
                marks.prefetch_row(wanted, payload);
            }
            wanted.min(end)
        };
        let take = |takes: &mut _, at| {
            let cell = payload.get(marks.row_start(at) as usize..).and_then(|rest| Lying::parse::<false>(rest, layout));
            let cell = cell.filter(|cell| is_wanted(cell, rules));
            cell.is_some_and(|cell| TakeRows::take(takes, cell.key_value, block))
        };
        let mut at = if first < end { next_wanted(takes, first) } else { first };
        while at < end && may_take {
            // Its memory comes while the one before is taken.
            let next = next_wanted(takes, at + 1);
            if !take(takes, at) {
                break;
            }
            at = next;
        }
        let behind = second_row.filter(|_| at == last && last < most && !is_whole);
        let behind = behind.and_then(|start| CellAt::parse(ahead.behind, start, layout));
        let behind =
            behind.filter(|_| takes.before_first_wanted(rows.skip(last)) > 0 || only_first && take(takes, last));
        at += usize::from(behind.is_some());
        if at > first {
            takes.passed(whole.of(rows.row(at - 1)));
        }
        if at <= last
            && let Some(cell) = CellAt::parse(payload, marks.row_start(at), layout)
        {
            *current = cell;
        }
        let end = if at > last { behind.map_or(GoOn::Ahead, GoOn::AheadAt) } else { GoOn::Here };
        (at - first, end)
    }
}

/// Whether it is a put without tags that the rules want.
#[inline(always)]
fn is_wanted(cell: &Lying<'_>, rules: JudgeRules<'_>) -> bool {
    let Some(key) = cell.key_value.get(8..8 + cell.key_len) else { return false };
    key::type_code(key) == CellType::Put as u8
        && cell.tags_len == 0
        && (rules.oldest..=rules.newest).contains(&key::timestamp(key))
        && rules.want(key::qualifier(key))
}
