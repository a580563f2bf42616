//! Rows of one plain cell each, taken or passed over one behind the other: what a scan spends its time with when its filter judges
//! rows by their keys and lets some pass.

use crate::{Block, BlockSource, JudgeRules, Scanner, cells::CellAt, plain::Lying, scanner::Current};
use martite_cell::{CellType, ShortRows, key};
use std::sync::Arc;

/// Who takes rows.
pub trait TakeRows {
    /// How many of these rows, side by side, come before the first that is wanted.
    fn before_first_wanted(&mut self, rows: ShortRows<'_>) -> usize;
    /// Takes a cell as it lies in the block, with its lengths; false: it is left, and so is all that is behind it.
    fn take(&mut self, key_value: &[u8], block: &Arc<Block>) -> bool;
    /// Of a block: the last row that is behind the scanner now.
    fn passed(&mut self, last: &[u8]);
    /// A block is over: whether to go on in the next one.
    fn goes_on(&mut self) -> bool;
}

impl Scanner {
    /// Whether [`Self::take_rows`] can take any here.
    #[inline]
    pub fn may_take_rows(&self) -> bool {
        self.block().is_some_and(|block| block.marks().one_cell_rows().is_some())
    }

    /// Shows the rows that begin here to `takes`, as long as each is one plain cell: a put without tags. It stops at the first one that is
    /// left, or of another kind, in front of a block that is not at hand, or in which one of the rows `before` may be, and after as many cells as
    /// may be; how many are behind it then.
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
            let (cells, is_over) = self.take_rows_of_block(JudgeRules { most_cells, ..rules }, takes);
            passed += cells;
            if !is_over {
                break;
            }
            self.step_ahead(src);
            if !takes.goes_on() {
                break;
            }
        }
        passed
    }

    /// True: the last row of the block is to be passed, too, by a step into the block behind, which is at hand.
    fn take_rows_of_block(&mut self, rules: JudgeRules<'_>, takes: &mut impl TakeRows) -> (usize, bool) {
        let layout = self.reader().layout();
        let Some(Current { block, cell: current, ahead, .. }) = self.current() else { return (0, false) };
        let (payload, marks) = (block.payload(), block.marks());
        let (Some(rows), Some(first)) = (marks.one_cell_rows(), marks.mark_at(current.start)) else {
            return (0, false);
        };
        let mut whole = rows.whole();
        let last = rows.len() - 1;
        // It may go on in the block behind.
        let rows_here = if ahead.begins_another_row(whole.of(rows.row(last)), layout) { rows.len() } else { last };
        let end = first.saturating_add(rules.most_cells).min(rows_here);
        let next_wanted = |takes: &mut _, from: usize| {
            let wanted = from + TakeRows::before_first_wanted(takes, rows.take(end).skip(from));
            if wanted < end {
                marks.prefetch_cell_of(wanted, payload);
            }
            wanted.min(end)
        };
        if first >= end {
            return (0, false);
        }
        let mut at = next_wanted(takes, first);
        while at < end {
            // Its memory comes while the one before is taken.
            let next = next_wanted(takes, at + 1);
            let cell = payload.get(marks.place(at) as usize..).and_then(|rest| Lying::parse::<false>(rest, layout));
            let Some(cell) = cell.filter(|cell| is_wanted(cell, rules)) else { break };
            if !takes.take(cell.key_value, block) {
                break;
            }
            at = next;
        }
        if at > first {
            takes.passed(whole.of(rows.row(at - 1)));
        }
        if at <= last
            && let Some(cell) = CellAt::parse(payload, marks.place(at), layout)
        {
            *current = cell;
        }
        (at - first, at > last)
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
