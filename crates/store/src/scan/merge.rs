//! [`Merge`]: the cells of several sources in one order (HBase: KeyValueHeap and ReversedKeyValueHeap).
//!
//! Sources are kept in a list sorted by their current cell; the first one is the top. A scanner has few sources, and
//! after a move the top mostly stays the top: one comparison.
//!
//! Forward: cells ascending. Reversed: rows descending, cells of a row ascending.

use super::source::{Source, ready};
use crate::{StoreError, StoreFileScanner};
use martite_cell::{CellRef, Order, ShortRows, key};
use martite_hfile::{BlockSource, JudgeRules, Passed, RefuseRows, RowJudge, Step, TakeRows, Verdict};
use std::cmp::Ordering;

/// A forward seek first steps this far, inside a block, before it searches: the next column or row is mostly near.
const NEAR: usize = 3;

type Moved = Result<Step<()>, StoreError>;
const READY: Moved = Ok(Step::Ready(()));

/// Where a scan begins.
pub(super) enum Start<'a> {
    /// At the first cell not before a key.
    Key(&'a [u8]),
    /// Reversed: in the key's row from the key on, else in the row before.
    Back(&'a [u8]),
    /// Reversed: in the row before.
    Before(&'a [u8]),
    /// Reversed: in the last row.
    Last,
}

/// The sources besides the top one.
struct Others<'a> {
    /// Their first row; None: they have no more.
    from: Option<&'a [u8]>,
    order: Order,
}

impl Others<'_> {
    #[inline]
    fn are_behind(&self, row: &[u8]) -> bool {
        self.from.is_none_or(|from| self.order.rows(row, from).is_lt())
    }
    #[inline]
    fn are_behind_all(&self, rows: ShortRows<'_>) -> bool {
        self.from.is_none()
            || rows.len().checked_sub(1).is_none_or(|last| self.are_behind(rows.whole().of(rows.row(last))))
    }
}

/// Judges rows that others do not have.
struct Alone<'a, J> {
    judge: &'a mut J,
    others: Others<'a>,
}

impl<J: RowJudge> RowJudge for Alone<'_, J> {
    #[inline]
    fn begin(&mut self, row: &[u8]) -> bool {
        self.others.are_behind(row) && self.judge.begin(row)
    }
    #[inline]
    fn cell(&mut self, cell: &CellRef<'_>) -> Verdict {
        self.judge.cell(cell)
    }
    #[inline]
    fn refuses(&mut self) -> bool {
        self.judge.refuses()
    }
    fn goes_on(&mut self) -> bool {
        self.judge.goes_on()
    }
}

impl<J: RefuseRows> RefuseRows for Alone<'_, J> {
    #[inline]
    fn refuses(&mut self, row: &[u8]) -> bool {
        self.others.are_behind(row) && self.judge.refuses(row)
    }
    #[inline]
    fn refuses_first_of(&mut self, rows: ShortRows<'_>) -> Option<usize> {
        if self.others.are_behind_all(rows) { self.judge.refuses_first_of(rows) } else { None }
    }
}

pub(super) struct Merge {
    /// Newest data first: of equal cells the one of the first source wins.
    sources: Vec<Source>,
    /// Sources that have a cell, by that cell.
    sorted: Vec<u16>,
    /// Sources that are at their start already.
    started: usize,
    order: Order,
    reversed: bool,
    /// Steps of the current forward seek.
    steps: usize,
    /// The top has moved on, but the new one has not made its seek yet.
    moved: bool,
    /// Reversed: the row of the top.
    row: Vec<u8>,
}

impl Merge {
    pub(super) fn new(sources: Vec<Source>, order: Order, reversed: bool) -> Merge {
        let sorted = Vec::with_capacity(sources.len());
        Merge { sources, sorted, started: 0, order, reversed, steps: 0, moved: false, row: Vec::new() }
    }

    pub(super) fn all_start_at_column(&self) -> bool {
        self.sources.iter().all(|s| s.starts_at_column)
    }

    /// Begins anew with other sources; returns those that it had.
    pub(super) fn restart(&mut self, sources: Vec<Source>) -> Vec<Source> {
        self.sorted.clear();
        (self.started, self.steps, self.moved) = (0, 0, false);
        std::mem::replace(&mut self.sources, sources)
    }

    /// Before `start`, or between two calls of it: has the sources that will seek at once look where to.
    pub(super) fn aim<'a>(&mut self, src: &dyn BlockSource, key_of: impl Fn(&Source) -> &'a [u8]) {
        let alone = self.sources.len() == 1;
        for source in self.sources[self.started..].iter_mut().filter(|source| alone || !source.can_wait()) {
            let key = key_of(source);
            source.aim(key, src);
        }
    }

    pub(super) fn aim_at_cells(&self) {
        self.sources.iter().for_each(Source::aim_at_cell);
    }

    /// Puts every source at its start. `start_of` tells it for each one.
    pub(super) fn start<'a>(&mut self, src: &dyn BlockSource, start_of: impl Fn(&Source) -> Start<'a>) -> Moved {
        let alone = self.sources.len() == 1;
        while self.started < self.sources.len() {
            let at = self.started;
            let source = &mut self.sources[at];
            ready!(match start_of(source) {
                Start::Key(key) if source.can_wait() && !alone => {
                    source.seek_lazily(key);
                    READY
                }
                Start::Key(key) => source.seek(key, src),
                Start::Back(key) => source.seek_backward(key, src),
                Start::Before(row) => source.seek_to_row_before(row, src),
                Start::Last => source.seek_to_last_row(src),
            }?);
            if source.peek_key().is_some() {
                let place = self.sorted.partition_point(|other| self.before(*other, at as u16));
                self.sorted.insert(place, at as u16);
            }
            self.started += 1;
        }
        self.settle_top(src)
    }

    /// Seeks that were put off are made when they come to the top, and only then.
    #[inline]
    fn settle_top(&mut self, src: &dyn BlockSource) -> Moved {
        while let Some(top) = self.sorted.first() {
            let source = &mut self.sources[*top as usize];
            if !source.is_lazy() {
                break;
            }
            ready!(source.seek_now(src)?);
            self.sink();
        }
        READY
    }

    /// The next cell.
    #[inline]
    pub(super) fn peek(&self) -> Option<CellRef<'_>> {
        self.sources[*self.sorted.first()? as usize].peek()
    }

    /// The next cell's key: cheaper than the cell where it is enough.
    #[inline]
    pub(super) fn peek_key(&self) -> Option<&[u8]> {
        self.sources[*self.sorted.first()? as usize].peek_key()
    }

    /// Whether source `a` comes before source `b`; both have a cell.
    #[inline]
    fn before(&self, a: u16, b: u16) -> bool {
        let (x, y) = (&self.sources[a as usize], &self.sources[b as usize]);
        let (Some(x_key), Some(y_key)) = (x.peek_key(), y.peek_key()) else { return false };
        if self.reversed {
            match self.order.rows(key::row(x_key), key::row(y_key)) {
                Ordering::Less => return false,
                Ordering::Greater => return true,
                Ordering::Equal => {}
            }
        }
        let seq_id = |source: &Source| source.peek().map_or(0, |cell| cell.seq_id);
        let compared = self.order.keys(x_key, y_key).then_with(|| seq_id(y).cmp(&seq_id(x)));
        match compared {
            Ordering::Less => true,
            Ordering::Equal => a < b,
            Ordering::Greater => false,
        }
    }

    /// Restores the order after the top source has moved.
    #[inline]
    fn sink(&mut self) {
        self.sink_behind(0);
    }

    /// The same, where it is known to come behind so many others.
    #[inline]
    fn sink_behind(&mut self, others: usize) {
        let top = self.sorted[0];
        if self.sources[top as usize].peek_key().is_none() {
            self.sorted.remove(0);
            return;
        }
        let mut place = 1 + others;
        if self.sorted.len() <= 8 {
            while place < self.sorted.len() && self.before(self.sorted[place], top) {
                place += 1;
            }
        } else {
            place += self.sorted[place..].partition_point(|other| self.before(*other, top));
        }
        if place > 1 {
            self.sorted.copy_within(1..place, 0);
            self.sorted[place - 1] = top;
        }
    }

    /// The source of the current cell, and the key from which on others have a cell. None where a move is to be finished.
    #[inline]
    pub(super) fn top_and_next(&mut self) -> Option<(&mut Source, Option<&[u8]>)> {
        if self.moved {
            return None;
        }
        match self.sorted[..] {
            [] => None,
            [top] => Some((&mut self.sources[top as usize], None)),
            [top, next, ..] => {
                let [top, next] = self.sources.get_disjoint_mut([top as usize, next as usize]).ok()?;
                Some((top, next.peek_key()))
            }
        }
    }

    /// After a run whose next cell is plain, but not before those of others: lets the next source come to the top. False: that
    /// one has to seek first.
    #[inline]
    pub(super) fn top_gives_way(&mut self) -> bool {
        match self.sorted[..] {
            [top, next, ..] if !self.sources[next as usize].is_lazy() => {
                self.sources[top as usize].ran(false);
                self.sink_behind(1);
                true
            }
            _ => false,
        }
    }

    /// A run begins in `row`.
    #[inline]
    pub(super) fn stands_in(&mut self, row: &[u8]) {
        if self.reversed && self.row != row {
            self.row.clear();
            self.row.extend_from_slice(row);
        }
    }

    /// After a run that left its row, of which no other source has cells: to the next row, if that takes no step of a source.
    #[inline]
    pub(super) fn settles_behind_row(&mut self) -> bool {
        if self.reversed || !self.sources[self.sorted[0] as usize].settles() {
            return false;
        }
        if self.sorted.len() > 1 {
            self.sink();
            self.moved = self.sources[self.sorted[0] as usize].is_lazy();
        }
        !self.moved
    }

    /// Past the current cell.
    #[inline]
    pub(super) fn next(&mut self, src: &dyn BlockSource) -> Moved {
        if std::mem::take(&mut self.moved) {
            return self.settle_moved(src);
        }
        let Some(top) = self.sorted.first() else { return READY };
        let source = &mut self.sources[*top as usize];
        if self.reversed {
            if !source.unsettled()
                && let Some(row) = source.peek_key().map(key::row)
                && row != self.row
            {
                self.row.clear();
                self.row.extend_from_slice(row);
            }
            ready!(source.next_in_row_or_back(&self.row, src)?);
        } else {
            ready!(source.next(src)?);
        }
        self.sink();
        self.settle_moved(src)
    }

    /// Forward scans: whether rows that [`Self::pass_rows`] passes over now are all before `row`.
    #[inline]
    pub(super) fn block_is_before(&mut self, row: &[u8]) -> bool {
        self.file_and_others().is_some_and(|(file, _)| file.block_is_before(row))
    }

    /// Forward scans: passes over the rest of the row that the top is in, and over rows behind it of which `refuse` says so, without
    /// leaving its block. It stops at the first row that another source may have, too, without asking.
    #[inline]
    pub(super) fn pass_rows(&mut self, most: usize, refuse: &mut impl RefuseRows) -> Passed {
        let Some((file, others)) = self.file_and_others() else { return Passed::default() };
        if !file.peek_key().is_some_and(|key| others.are_behind(key::row(key))) {
            return Passed::default();
        }
        let passed = file.pass_rows(most, &mut Alone { judge: refuse, others });
        self.sink_after(passed.cells);
        passed
    }

    /// See [`StoreFileScanner::may_take_rows`].
    #[inline]
    pub(super) fn may_take_rows(&self, of_several: bool) -> bool {
        self.sorted.first().is_some_and(|top| self.sources[*top as usize].may_take_rows(of_several))
    }

    /// Forward scans: see [`StoreFileScanner::take_rows`]. In blocks in which other sources have rows, too, nothing is taken.
    pub(super) fn take_rows(
        &mut self,
        rules: JudgeRules<'_>,
        before: Option<&[u8]>,
        takes: &mut impl TakeRows,
        src: &dyn BlockSource,
    ) -> usize {
        let Some((file, others)) = self.file_and_others() else { return 0 };
        let passed = file.take_rows(rules, [before, others.from], takes, src);
        self.sink_after(passed);
        passed
    }

    /// Forward scans: passes over the row that begins at the top and over those behind it that `judge` refuses, under the same
    /// conditions; how many cells.
    pub(super) fn pass_judged(
        &mut self,
        rules: JudgeRules<'_>,
        judge: &mut impl RowJudge,
        src: &dyn BlockSource,
    ) -> usize {
        let Some((file, others)) = self.file_and_others() else { return 0 };
        let passed = file.pass_judged(rules, &mut Alone { judge, others }, src);
        self.sink_after(passed);
        passed
    }

    /// The file at the top, if all its cells can be seen and it is known where other sources have theirs.
    #[inline]
    fn file_and_others(&mut self) -> Option<(&mut StoreFileScanner, Others<'_>)> {
        if self.sorted.get(1).is_some_and(|next| self.sources[*next as usize].is_lazy()) {
            return None;
        }
        let order = self.order;
        let (top, next) = self.top_and_next()?;
        Some((top.visible_file()?, Others { from: next.map(key::row), order }))
    }

    /// The top has passed over so many cells.
    #[inline]
    fn sink_after(&mut self, cells: usize) {
        if self.sorted.len() > 1 && cells > 0 {
            self.sink();
        }
    }

    #[inline]
    fn settle_moved(&mut self, src: &dyn BlockSource) -> Moved {
        let settled = self.settle_top(src);
        self.moved = !matches!(settled, Ok(Step::Ready(())));
        settled
    }

    /// Forward scans: to the first cell not before `key`. Stays if it is there already.
    pub(super) fn seek_forward(&mut self, key: &[u8], src: &dyn BlockSource) -> Moved {
        while let Some(top) = self.sorted.first() {
            let source = &mut self.sources[*top as usize];
            if !source.unsettled() && source.peek_key().is_none_or(|at| self.order.keys(at, key).is_ge()) {
                break;
            }
            if source.is_lazy() {
                source.seek_lazily(key);
            } else if self.steps < NEAR && (source.unsettled() || !source.is_last_in_block()) {
                ready!(source.next(src)?);
                self.steps += 1;
            } else {
                ready!(source.reseek(key, src)?);
            }
            self.sink();
        }
        ready!(self.settle_top(src)?);
        self.steps = 0;
        READY
    }

    /// Reversed scans: to the first cell of the key's row not before `key`, else to the row before.
    pub(super) fn seek_backward(&mut self, key: &[u8], src: &dyn BlockSource) -> Moved {
        while let Some(top) = self.sorted.first() {
            let source = &mut self.sources[*top as usize];
            if !source.unsettled() && source.peek_key().is_none_or(|at| may_stay(self.order, at, key)) {
                break;
            }
            ready!(source.seek_backward(key, src)?);
            self.sink();
        }
        READY
    }

    /// Reversed scans: to the row before `row`.
    pub(super) fn seek_to_row_before(&mut self, row: &[u8], src: &dyn BlockSource) -> Moved {
        while let Some(top) = self.sorted.first() {
            let source = &mut self.sources[*top as usize];
            if !source.unsettled() && source.peek_key().is_none_or(|at| self.order.rows(key::row(at), row).is_lt()) {
                break;
            }
            ready!(source.seek_to_row_before(row, src)?);
            self.sink();
        }
        READY
    }
}

/// Whether a reversed scan that wants `key` may stay at the cell with the key `at`.
fn may_stay(order: Order, at: &[u8], key: &[u8]) -> bool {
    match order.rows(key::row(at), key::row(key)) {
        Ordering::Less => true,
        Ordering::Equal => order.keys(at, key).is_ge(),
        Ordering::Greater => false,
    }
}
