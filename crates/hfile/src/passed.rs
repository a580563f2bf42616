//! Rows that are passed over by their keys alone: what a scan spends its time with when its filter refuses most of them.

use crate::{
    Block, Scanner,
    cells::{CellAt, Layout},
    marks::{MARKS_AHEAD, Marks},
    plain::Lying,
    scanner::Current,
};
use martite_cell::{ShortRows, key};

/// So many cells of a row are stepped over before its end is sought.
pub const NEAR_CELLS: usize = 16;

/// What [`Scanner::pass_rows`] has passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Passed {
    pub cells: usize,
    /// The scanner stands at the first cell of the row that was not refused.
    pub stopped: bool,
}

/// Who refuses rows by their keys.
pub trait RefuseRows {
    /// Asked of one row after the other, until one is not refused.
    fn refuses(&mut self, row: &[u8]) -> bool;
    /// The same of rows side by side, in one call: how many are refused, one behind the other; the row behind them, if there is one, is not.
    /// None: they are to be asked of one by one.
    fn refuses_first_of(&mut self, rows: ShortRows<'_>) -> Option<usize>;
}

impl Scanner {
    /// Passes over the rest of the current cell's row, and over each row behind it of which `refuse` says so, cell by cell
    /// inside the block. It stops at a cell of a refused row after `most` cells, or [`NEAR_CELLS`] of one row: a seek may be better.
    #[inline]
    pub fn pass_rows(&mut self, most: usize, refuse: &mut impl RefuseRows) -> Passed {
        let layout = self.reader().layout();
        let Some(Current { block, cell: current, keys_asked: asked, .. }) = self.current() else {
            return Passed::default();
        };
        let (payload, marks) = (block.payload(), block.marks());
        let mut at = current.start as usize;
        let mark = marks.mark_at(current.start);
        let passed = match (mark, marks.rows(), layout) {
            (Some(mark), Some(rows), _) => match pass_one_cell_rows(block, mark, &mut at, most, refuse) {
                Some(passed) => passed,
                None => pass_marked(block, rows, mark, &mut at, most, refuse),
            },
            (_, _, Layout { tags: false, mvcc: true }) => {
                pass::<true>(payload, layout, (marks, mark), (&mut at, asked), most, refuse)
            }
            _ => pass::<false>(payload, layout, (marks, mark), (&mut at, asked), most, refuse),
        };
        if passed.cells > 0
            && let Some(cell) = CellAt::parse(payload, at as u32, layout)
        {
            *current = cell;
        }
        passed
    }
}

/// See [`Scanner::pass_rows`]; `at`: the cell; `asked`: how many marks were asked for. `USUAL`: cells without tags, with sequence
/// ids. The end of a cell that is not passed is not looked at: it may be far from here in memory.
#[inline(always)]
fn pass<const USUAL: bool>(
    payload: &[u8],
    layout: Layout,
    (marks, mut mark): (&Marks, Option<usize>),
    (at, asked): (&mut usize, &mut usize),
    most: usize,
    refuse: &mut impl RefuseRows,
) -> Passed {
    let mut passed = Passed::default();
    let Some(mut row) = row_at(payload, *at) else { return passed };
    let mut in_row = 0;
    while passed.cells < most && in_row < NEAR_CELLS {
        // A marked cell tells where the next one begins if that is marked, too: nothing but its key is looked at.
        let marked = mark.and_then(|mark| Some((mark, marks.next_marked(mark, payload)? as usize)));
        let next = match marked {
            Some((this, next)) => {
                (mark, *asked) = (Some(this + 1), (*asked).max(this + MARKS_AHEAD + 1));
                next
            }
            None => {
                let Some(cell) = payload.get(*at..).and_then(|rest| Lying::parse::<USUAL>(rest, layout)) else { break };
                let next = *at + cell.len;
                *asked = marks.prefetch_keys(*asked, next as u32, payload);
                mark = mark.and_then(|_| marks.mark_at(next as u32));
                next
            }
        };
        let Some(row_here) = row_at(payload, next) else { break };
        *at = next;
        passed.cells += 1;
        in_row += 1;
        if !key::is_same(row_here, row) {
            if refuse.refuses(row_here) {
                (row, in_row) = (row_here, 0);
                continue;
            }
            passed.stopped = true;
            break;
        }
    }
    passed
}

/// The same where the rows of all cells lie side by side: no cell is looked at.
#[inline(always)]
fn pass_marked(
    block: &Block,
    rows: ShortRows<'_>,
    first: usize,
    at: &mut usize,
    most: usize,
    refuse: &mut impl RefuseRows,
) -> Passed {
    let marks = block.marks();
    let (mut mark, mut row, mut whole) = (first, rows.row(first), rows.whole());
    let (mut passed, mut in_row) = (Passed::default(), 0);
    while passed.cells < most && in_row < NEAR_CELLS && mark + 1 < marks.count() {
        mark += 1;
        passed.cells += 1;
        in_row += 1;
        let next = rows.row(mark);
        if next != row {
            if refuse.refuses(whole.of(next)) {
                (row, in_row) = (next, 0);
                continue;
            }
            marks.prefetch_whole(mark, block.payload());
            passed.stopped = true;
            break;
        }
    }
    *at = marks.place(mark) as usize;
    passed
}

/// The same where each cell is a row; None: they are to be asked of one by one.
#[inline(always)]
fn pass_one_cell_rows(
    block: &Block,
    first: usize,
    at: &mut usize,
    most: usize,
    refuse: &mut impl RefuseRows,
) -> Option<Passed> {
    let marks = block.marks();
    let behind = marks.one_cell_rows()?.skip(first + 1).take(most);
    if behind.is_empty() {
        return None;
    }
    let refused = refuse.refuses_first_of(behind)?.min(behind.len());
    let stopped = refused < behind.len();
    let cells = refused + usize::from(stopped);
    if stopped {
        marks.prefetch_whole(first + cells, block.payload());
    }
    *at = marks.place(first + cells) as usize;
    Some(Passed { cells, stopped })
}

/// The row of the cell there, if one begins there.
#[inline(always)]
fn row_at(payload: &[u8], at: usize) -> Option<&[u8]> {
    let (_, key) = payload.get(at..)?.split_first_chunk::<8>()?;
    let (len, rest) = key.split_first_chunk::<2>()?;
    rest.get(..u16::from_be_bytes(*len) as usize)
}
