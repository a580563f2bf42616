//! Plain cells of a row, shown one after the other to who says what becomes of each: most of what a scan does whose filter has
//! its say about cells.

use crate::{
    Block, NEAR_CELLS, PlainEnd, PlainRules, PlainTaken, Scanner,
    cells::{CellAt, Layout},
    plain::{AHEAD_BYTES, Ahead, Fate, PlainJudge},
    scanner::Current,
};
use martite_cell::order::compare_without_row;
use martite_cell::{CellBuf, CellRef, FlatCell, key};
use std::sync::Arc;

/// What becomes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// It is taken.
    pub takes: bool,
    pub then: Then,
}

impl Shown {
    /// Tells `judge`, which wants the cell, if it is not taken; what comes after it: behind the last of the named columns nothing of the row is
    /// wanted.
    #[inline(always)]
    pub fn tell<const NAMED: bool>(self, judge: &mut PlainJudge<'_, '_, NAMED>) -> Then {
        if !self.takes {
            judge.leaves_last();
        }
        if self.then != Then::Seek && judge.has_all_named() { Then::NextRow } else { self.then }
    }
}

/// What comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Next,
    /// Further versions of its column are not to be shown.
    NextColumn,
    /// Further cells of the row are not.
    NextRow,
    /// Nor those before a key: see [`ShowCells::target`].
    Seek,
}

/// Who is shown cells.
pub trait ShowCells {
    /// Before each cell, of whichever row: whether it wants to see nothing more.
    fn is_done(&mut self) -> bool;
    fn show(&mut self, cell: &CellRef<'_>) -> Shown;
    /// After [`Then::Seek`]: the flat key to go to; None: it does not know.
    fn target(&mut self, cell: &CellRef<'_>) -> Option<&[u8]>;
    /// Appends a cell that is taken; false: as it lies.
    fn put(&mut self, cell: &CellRef<'_>, out: &mut CellBuf) -> bool;
}

/// What was shown.
pub struct ShownPlain<'s> {
    /// `cells`: those that were taken; `last`: the last one that was shown, taken or not.
    pub plain: PlainTaken<'s>,
    /// Key of the last one that was taken.
    pub last_taken: Option<&'s [u8]>,
    /// [`PlainEnd::Row`]: further cells of the row were not wanted.
    pub left_row: bool,
}

impl<'s> ShownPlain<'s> {
    pub const NONE: ShownPlain<'static> = ShownPlain { plain: PlainTaken::NONE, last_taken: None, left_row: false };

    #[inline(always)]
    pub fn saw(&mut self, cell: FlatCell<'s>, answer: Shown) {
        if answer.takes {
            self.plain.cells += 1;
            self.last_taken = Some(cell.key());
        } else {
            self.plain.passed += 1;
        }
        self.plain.last = Some(cell);
    }
}

impl Scanner {
    /// As [`Scanner::take_plain`], but for what `shows` has to say of each cell that would be taken. Without a bound no other source has cells
    /// of the row, so that it may be left.
    pub fn show_plain<'s>(
        &'s mut self,
        rules: &PlainRules<'_>,
        shows: &mut impl ShowCells,
        out: &mut CellBuf,
    ) -> ShownPlain<'s> {
        let layout = self.reader().layout();
        let Some(Current { block, cell, keys_asked, ahead, takes }) = self.current() else { return ShownPlain::NONE };
        let asked = Asked { keys: keys_asked, ahead, takes };
        show_lying(block, layout, (cell, asked), rules, (shows, out))
    }
}

/// What has been asked for.
struct Asked<'a> {
    keys: &'a mut usize,
    ahead: Ahead<'a>,
    /// The last cell that was shown was taken: the next ones may be.
    takes: &'a mut bool,
}

impl Asked<'_> {
    /// Of long cells that are not taken, their keys; else all of them.
    #[inline(always)]
    fn prefetch(&mut self, block: &Block, cell: &CellAt) {
        if cell.is_long() && !*self.takes {
            *self.keys = block.marks().prefetch_keys(*self.keys, cell.start, block.payload());
        } else {
            self.ahead.prefetch(block.payload(), cell.start as usize, AHEAD_BYTES);
        }
    }
}

fn show_lying<'s>(
    block: &'s Arc<Block>,
    layout: Layout,
    (current, mut asked): (&mut CellAt, Asked<'_>),
    rules: &PlainRules<'_>,
    (shows, out): (&mut impl ShowCells, &mut CellBuf),
) -> ShownPlain<'s> {
    let payload = block.payload();
    let mut judge = PlainJudge::<true>::new(rules);
    let mut walk = Walk { block, layout, rules, shows, out, shown: ShownPlain::NONE };
    let mut cell = *current;
    let end = loop {
        if walk.shows.is_done() {
            break PlainEnd::Other;
        }
        asked.prefetch(block, &cell);
        let key = cell.key(payload);
        if !judge.is_in_row(key) {
            break PlainEnd::Row;
        }
        let next = CellAt::parse_inline(payload, cell.end, layout);
        match judge.judge(key, cell.tags_len() > 0, cell.seq_id()) {
            Fate::End(end) => break end,
            Fate::Pass | Fate::PassOne => walk.shown.plain.passed += 1,
            Fate::Take => {
                let answer = walk.show(&cell);
                *asked.takes = answer.takes;
                let then = answer.tell(&mut judge);
                match walk.goes_on(then, &cell, next) {
                    On::Next => {}
                    On::Stays => break PlainEnd::Shown,
                    // Those in between are not looked at, and not counted.
                    On::To(found) => {
                        cell = found;
                        walk.shown.left_row = then == Then::NextRow;
                        if walk.shown.left_row {
                            break PlainEnd::Row;
                        }
                        continue;
                    }
                }
            }
        }
        if walk.is_full() {
            break PlainEnd::Limit;
        }
        if judge.has_all() {
            break PlainEnd::Columns;
        }
        let Some(next) = next else { break PlainEnd::Block };
        cell = next;
    };
    *current = cell;
    let mut shown = walk.shown;
    shown.plain.end = end;
    judge.finish(&mut shown.plain);
    shown
}

/// What comes after a cell that was shown.
enum On {
    Next,
    To(CellAt),
    /// Where to go is to be asked there.
    Stays,
}

/// The cells of one block being shown.
struct Walk<'w, 's, S> {
    block: &'s Arc<Block>,
    layout: Layout,
    rules: &'w PlainRules<'w>,
    shows: &'w mut S,
    out: &'w mut CellBuf,
    shown: ShownPlain<'s>,
}

impl<'s, S: ShowCells> Walk<'_, 's, S> {
    #[inline(always)]
    fn show(&mut self, cell: &CellAt) -> Shown {
        let payload = self.block.payload();
        let flat = cell.flat(payload);
        let as_cell = flat.as_cell();
        let answer = self.shows.show(&as_cell);
        if answer.takes && !self.shows.put(&as_cell, self.out) {
            self.out.push_or_borrow(cell.key_value(payload), self.block);
        }
        self.shown.saw(flat, answer);
        answer
    }

    /// Of a row of many cells, where rows lie side by side.
    fn next_row(&self, cell: &CellAt) -> Option<CellAt> {
        let marks = self.block.marks();
        marks.rows()?;
        let start = marks.next_row_start(marks.row_at(cell.start))?;
        CellAt::parse(self.block.payload(), start, self.layout)
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        let PlainTaken { cells, passed, .. } = self.shown.plain;
        cells + passed >= self.rules.most_cells || self.out.size_bytes() >= self.rules.bytes_end
    }

    /// Behind `cell`, which was shown; `next` comes next in the block.
    #[inline(always)]
    fn goes_on(&mut self, then: Then, cell: &CellAt, next: Option<CellAt>) -> On {
        let payload = self.block.payload();
        let near = Near { payload, layout: self.layout, first: next, row_prefix: self.rules.row_prefix };
        let alone = self.rules.bound.is_none();
        let may_leap = alone && !self.is_full();
        let found = match then {
            Then::Next => return On::Next,
            Then::NextColumn => {
                // Older versions would be shown: those that come next, or that another source has.
                let column = cell.column(payload);
                let is_last = alone && next.is_some_and(|next| !next.key(payload).starts_with(column));
                return if self.rules.most_older > 0 || is_last { On::Next } else { On::Stays };
            }
            Then::NextRow if may_leap => near.find(|_| false).or_else(|| self.next_row(cell)),
            Then::Seek if may_leap => near.seek(cell.key(payload), self.shows.target(&cell.cell(payload))),
            Then::NextRow | Then::Seek => None,
        };
        found.map_or(On::Stays, On::To)
    }
}

/// The cells behind one, of its block.
struct Near<'a> {
    payload: &'a [u8],
    layout: Layout,
    first: Option<CellAt>,
    row_prefix: &'a [u8],
}

impl Near<'_> {
    /// The first one of another row, or with a key that `is_there`, if that is near.
    #[inline]
    fn find(&self, is_there: impl Fn(&[u8]) -> bool) -> Option<CellAt> {
        let mut cell = self.first?;
        for _ in 0..NEAR_CELLS {
            let key = cell.key(self.payload);
            if !key::is_in_row(key, self.row_prefix) || is_there(key) {
                return Some(cell);
            }
            cell = CellAt::parse_inline(self.payload, cell.end, self.layout)?;
        }
        None
    }

    /// The first one not before `target`, if that is in the row, and behind the cell with the key `from`.
    #[inline]
    fn seek(&self, from: &[u8], target: Option<&[u8]>) -> Option<CellAt> {
        let target = target.filter(|target| key::check(target).is_ok() && key::is_in_row(target, self.row_prefix))?;
        if compare_without_row(target, from).is_le() {
            return None;
        }
        self.find(|key| compare_without_row(key, target).is_ge())
    }
}
