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
    /// What was looked at: cells, or rows that lie side by side.
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
    /// inside the block. It stops at a cell of a refused row after `most` cells, or [`NEAR_CELLS`] of one row: a seek may be better. Rows that
    /// lie side by side count as a cell each.
    #[inline]
    pub fn pass_rows(&mut self, most: usize, refuse: &mut impl RefuseRows) -> Passed {
        let layout = self.reader().layout();
        let Some(Current { block, cell: current, keys_asked: asked, .. }) = self.current() else {
            return Passed::default();
        };
        let (payload, marks) = (block.payload(), block.marks());
        let mut at = current.start as usize;
        let mark = || (marks, marks.mark_at(current.start));
        let passed = match (marks.rows(), layout) {
            (Some(rows), _) => pass_side_by_side(block, rows, &mut at, most, refuse),
            (None, Layout { tags: false, mvcc: true }) => {
                pass::<true>(payload, layout, mark(), (&mut at, asked), most, refuse)
            }
            _ => pass::<false>(payload, layout, mark(), (&mut at, asked), most, refuse),
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

/// The same where rows lie side by side: no cell is looked at.
#[inline(always)]
fn pass_side_by_side(
    block: &Block,
    rows: ShortRows<'_>,
    at: &mut usize,
    most: usize,
    refuse: &mut impl RefuseRows,
) -> Passed {
    let marks = block.marks();
    let first = marks.row_at(*at as u32) + 1;
    let behind = rows.skip(first).take(most);
    let refused = if behind.is_empty() { Some(0) } else { refuse.refuses_first_of(behind) };
    let refused = match refused {
        Some(refused) => refused.min(behind.len()),
        None => {
            let mut whole = rows.whole();
            (0..behind.len()).take_while(|row| refuse.refuses(whole.of(behind.row(*row)))).count()
        }
    };
    let (from, stopped) = (*at, refused < behind.len());
    *at = if stopped {
        marks.prefetch_row_and_next(first + refused, block.payload());
        marks.row_start(first + refused)
    } else if first + refused == rows.len() && most > 0 {
        marks.last_cell()
    } else {
        marks.row_start(first + refused - 1).max(from as u32)
    } as usize;
    Passed { cells: (refused + usize::from(stopped)).max(usize::from(*at != from)), stopped }
}

/// The row of the cell there, if one begins there.
#[inline(always)]
fn row_at(payload: &[u8], at: usize) -> Option<&[u8]> {
    let (_, key) = payload.get(at..)?.split_first_chunk::<8>()?;
    let (len, rest) = key.split_first_chunk::<2>()?;
    rest.get(..u16::from_be_bytes(*len) as usize)
}
