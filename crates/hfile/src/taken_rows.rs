//! Rows of one plain cell each, taken or passed over one behind the other: what a scan spends its time with when its filter judges
//! rows by their keys and lets some pass.

use crate::{JudgeRules, Scanner, cells::CellAt, plain::Lying, scanner::Current};
use martite_cell::{CellType, ShortRows, key};

/// Who takes rows.
pub trait TakeRows {
    /// How many of these rows, side by side, come before the first that is wanted.
    fn before_first_wanted(&mut self, rows: ShortRows<'_>) -> usize;
    /// Takes a cell as it lies, with its lengths; false: it is left, and so is all that is behind it.
    fn take(&mut self, key_value: &[u8]) -> bool;
    /// The last row that is behind the scanner now.
    fn passed(&mut self, last: &[u8]);
}

impl Scanner {
    /// Shows the rows that begin here, and lie in this block, to `takes`, as long as each is one plain cell: a put without tags. It stops
    /// at the first one that is left, or of another kind, at the last of the block, or after as many cells as may be; how many are behind it then.
    pub fn take_rows(&mut self, rules: JudgeRules<'_>, takes: &mut impl TakeRows) -> usize {
        let layout = self.reader().layout();
        let Some(Current { block, cell: current, .. }) = self.current() else { return 0 };
        let (payload, marks) = (block.payload(), block.marks());
        let (Some(rows), Some(first)) = (marks.one_cell_rows(), marks.mark_at(current.start)) else { return 0 };
        // The last row of the block may go on in the one behind.
        let end = first.saturating_add(rules.most_cells).min(rows.len() - 1);
        let next_wanted = |takes: &mut _, from: usize| {
            let wanted = from + TakeRows::before_first_wanted(takes, rows.take(end).skip(from));
            if wanted < end {
                marks.prefetch_whole(wanted, payload);
            }
            wanted.min(end)
        };
        if first >= end {
            return 0;
        }
        let mut at = next_wanted(takes, first);
        while at < end {
            // Its memory comes while the one before is taken.
            let next = next_wanted(takes, at + 1);
            let cell = payload.get(marks.place(at) as usize..).and_then(|rest| Lying::parse::<false>(rest, layout));
            let Some(cell) = cell.filter(|cell| is_wanted(cell, rules)) else { break };
            if !takes.take(cell.key_value) {
                break;
            }
            at = next;
        }
        if at > first
            && let Some(cell) = CellAt::parse(payload, marks.place(at), layout)
        {
            takes.passed(rows.whole().of(rows.row(at - 1)));
            *current = cell;
        }
        at - first
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
