//! [`StoreScanner`]: the visible cells of one store, row by row (HBase: StoreScanner, ReversedStoreScanner).

use super::matcher::{Match, UserMatcher};
use super::merge::{Merge, Start};
use super::prune::{Candidates, Pruning};
use super::row_read::{RowRead, StoreEnd};
use super::run::{Ran, run};
use super::source::{Source, ready};
use super::{ReadView, StoreScan};
use crate::{FamilyOptions, StoreError};
use martite_cell::{CellRef, CellType, LATEST_TIMESTAMP, Order, key};
use martite_hfile::{BlockSource, NEAR_CELLS, Passed, RefuseRows, RowJudge, Step, TakeRows};
use std::sync::Arc;

/// A move that was decided and may have been interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Move {
    None,
    Next,
    /// To `target`.
    Forward,
    /// Reversed: to `target`, in its row or the one before.
    Backward,
    /// Reversed: to the row before that of `target`.
    RowBefore,
}

/// What became of cells that need not be looked at one by one.
enum Moved {
    /// The next one is to be looked at.
    Not,
    On,
    Ended(StoreEnd),
}

enum Phase {
    Pruning(Pruning),
    Starting,
    Open,
    /// Nothing more for this scan.
    Closed,
}

pub struct StoreScanner {
    view: ReadView,
    family: Arc<FamilyOptions>,
    scan: Arc<StoreScan>,
    phase: Phase,
    merge: Merge,
    /// Gets: sources of rows before, which the next row may need again.
    spare: Vec<Source>,
    matcher: UserMatcher,
    pending: Move,
    /// Flat key that `pending` goes to.
    target: Vec<u8>,
    /// The row is over; to be told once `pending` is done.
    row_over: bool,
    /// The last cell was kept.
    kept: bool,
    /// The next cell is an older version of a column, and more of them may follow: no run steps over them.
    wants_seek: bool,
    count_in_row: u64,
}

impl StoreScanner {
    /// For a scan without filter.
    pub fn new(view: ReadView, family: Arc<FamilyOptions>, scan: Arc<StoreScan>) -> StoreScanner {
        StoreScanner::with_filter(view, family, scan, false)
    }

    /// `has_filter`: every [`RowRead`] will bring one that minds cells. Versions are then counted twice, before and after it.
    pub fn with_filter(
        view: ReadView,
        family: Arc<FamilyOptions>,
        scan: Arc<StoreScan>,
        has_filter: bool,
    ) -> StoreScanner {
        let pruning = Pruning::new(&view, &family, &scan);
        let closed = StoreScanner::closed(view, family, scan, has_filter);
        StoreScanner { phase: Phase::Pruning(pruning), ..closed }
    }

    /// One that reads nothing until it is restarted.
    pub(super) fn closed(
        view: ReadView,
        family: Arc<FamilyOptions>,
        scan: Arc<StoreScan>,
        has_filter: bool,
    ) -> StoreScanner {
        StoreScanner {
            phase: Phase::Closed,
            merge: Merge::new(Vec::new(), family.order, scan.reversed),
            spare: Vec::new(),
            matcher: UserMatcher::new(&family, &scan, has_filter),
            view,
            family,
            scan,
            pending: Move::None,
            target: Vec::new(),
            row_over: false,
            kept: false,
            wants_seek: false,
            count_in_row: 0,
        }
    }

    pub fn view(&self) -> &ReadView {
        &self.view
    }

    fn order(&self) -> Order {
        self.family.order
    }

    /// Chooses what to read and goes to the first row. To be called until it is ready, before anything else.
    pub fn open(&mut self, src: &dyn BlockSource) -> Result<Step<()>, StoreError> {
        ready!(self.choose(src)?);
        if let Phase::Starting = self.phase {
            let (scan, column_key, row_start) = (&self.scan, &self.target, self.row_start());
            let row_key = row_start.as_ref().unwrap_or(column_key);
            if !scan.is_get && !scan.reversed {
                // While the memstore is searched, the memory of what the files will look at comes.
                self.merge.aim(src, |_| row_key);
            }
            ready!(self.merge.start(src, |source| match (scan.reversed, scan.include_start) {
                (false, _) if source.starts_at_column => Start::Key(column_key),
                (false, _) => Start::Key(row_key),
                (true, _) if scan.start_row.is_empty() => Start::Last,
                (true, true) => Start::Back(row_key),
                (true, false) => Start::Before(&scan.start_row),
            })?);
            self.phase = Phase::Open;
        }
        Ok(Step::Ready(()))
    }

    /// Of a Get, some time before `open`: chooses what to read, and asks for the memory that it lies in.
    pub fn aim(&mut self, src: &dyn BlockSource) -> Result<Step<()>, StoreError> {
        ready!(self.choose(src)?);
        let (column_key, row_start) = (&self.target, self.row_start());
        let row_key = row_start.as_ref().unwrap_or(column_key);
        self.merge.aim(src, |source| if source.starts_at_column { column_key } else { row_key });
        Ok(Step::Ready(()))
    }

    /// Between `aim` and `open`, when what the first asked for will be there.
    pub fn aim_at_cells(&self) {
        self.merge.aim_at_cells();
    }

    fn choose(&mut self, src: &dyn BlockSource) -> Result<Step<()>, StoreError> {
        if let Phase::Pruning(pruning) = &mut self.phase {
            ready!(pruning.run(&mut self.spare, &self.view, &self.family, &self.scan, src)?);
            self.merge.restart(std::mem::take(&mut pruning.chosen));
            self.start_key();
            self.phase = Phase::Starting;
        }
        Ok(Step::Ready(()))
    }

    /// Where sources begin that do not begin at the first column, if that is what `target` has.
    fn row_start(&self) -> Option<Vec<u8>> {
        let from_row = self.scan.is_get && self.scan.columns.is_some() && !self.merge.all_start_at_column();
        from_row.then(|| key::first_on_row(&self.scan.start_row))
    }

    /// Whether it is a Get's scanner, for this row.
    pub fn is_get_of(&self, row: &[u8]) -> bool {
        self.scan.is_get && self.scan.start_row == row
    }

    /// A Get's scanner goes on with another row: what it has open stays open. To be opened again.
    pub(super) fn restart_among(&mut self, row: bytes::Bytes, candidates: &Candidates) {
        let scan = Arc::make_mut(&mut self.scan);
        (scan.start_row, scan.stop_row) = (row.clone(), row);
        self.spare.append(&mut self.merge.restart(Vec::new()));
        self.matcher.clear_row();
        self.pending = Move::None;
        (self.row_over, self.kept, self.wants_seek) = (false, false, false);
        let pruning = Pruning::among(candidates, &mut self.spare, &self.view, &self.family, &self.scan);
        self.phase = Phase::Pruning(pruning);
    }

    /// Leaves the key that the scan starts at in `target`: of a Get with columns, that of its first column.
    fn start_key(&mut self) {
        let scan = &self.scan;
        let (row, highest, maximum) = (&scan.start_row[..], LATEST_TIMESTAMP, CellType::Maximum as u8);
        self.target.clear();
        match scan.columns.as_ref().and_then(|c| c.first()) {
            Some(column) if scan.is_get => {
                key::append_key(&mut self.target, row, &self.family.name, column, highest, maximum);
            }
            _ if scan.include_start || row.is_empty() => {
                key::append_key(&mut self.target, row, &[], &[], highest, maximum);
            }
            _ => append_last_on_row(&mut self.target, row),
        }
    }

    /// The next cell that would be looked at; None at the end. Only between calls that were ready.
    #[inline]
    pub fn peek(&self) -> Option<CellRef<'_>> {
        if matches!(self.phase, Phase::Open) { self.merge.peek() } else { None }
    }

    /// The row of that cell.
    #[inline]
    pub fn peek_row(&self) -> Option<&[u8]> {
        if matches!(self.phase, Phase::Open) { self.merge.peek_key().map(key::row) } else { None }
    }

    /// Whether the scanner stands in `row`. Only between calls that were ready.
    #[inline]
    pub fn is_in_row(&self, row: &[u8]) -> bool {
        self.peek_row().is_some_and(|at| key::is_same(at, row))
    }

    /// A move was interrupted: [`Self::next`] must be called before anything else is asked.
    pub fn is_moving(&self) -> bool {
        self.pending != Move::None
    }

    /// Reads on in the row where the scanner stands.
    pub fn next(&mut self, read: &mut RowRead<'_>) -> Result<Step<StoreEnd>, StoreError> {
        if self.pending == Move::None
            && self.matcher.has_row()
            && self.merge.peek_key().is_some_and(|key| !self.matcher.is_in_row(key))
        {
            // The last read ended, by a limit, with its row.
            self.matcher.clear_row();
        }
        loop {
            ready!(self.finish_move(read.src)?);
            let kept = std::mem::take(&mut self.kept);
            if std::mem::take(&mut self.row_over) {
                return Ok(Step::Ready(StoreEnd::Row));
            }
            if let Some(end) = read.end_after_cell(kept) {
                return Ok(Step::Ready(end));
            }
            if matches!(self.phase, Phase::Closed) {
                return Ok(Step::Ready(StoreEnd::Exhausted));
            }
            let Some(key) = self.merge.peek_key() else {
                self.phase = Phase::Closed;
                return Ok(Step::Ready(StoreEnd::Exhausted));
            };
            let begins_row = !self.matcher.has_row();
            // A filter that is done says so here, at the cell behind its row, if at all: no pause comes before that.
            if let Some(end) = read.end_before_cell()
                && (end != StoreEnd::Paused || begins_row || self.matcher.is_in_row(key))
            {
                return Ok(Step::Ready(end));
            }
            if begins_row {
                self.matcher.set_row(key);
                self.count_in_row = 0;
            }
            let may_run = !std::mem::take(&mut self.wants_seek) && !read.discard;
            if may_run {
                match self.run_cells(begins_row, read) {
                    Moved::Not => {}
                    Moved::On => continue,
                    Moved::Ended(end) => return Ok(Step::Ready(end)),
                }
            }
            let Some(cell) = self.merge.peek() else { continue };
            read.cells_scanned += 1;
            let mut code = self.matcher.check(&cell, begins_row, read.cell_filter());
            if let Match::Include | Match::IncludeNextCol | Match::IncludeNextRow = code {
                self.count_in_row += 1;
                let offset = u64::from(self.scan.store_offset);
                if self.count_in_row > offset {
                    if !read.keep(&cell) {
                        return Ok(Step::Ready(StoreEnd::TooBig));
                    }
                    self.kept = true;
                    if let Ok(limit) = u64::try_from(self.scan.store_limit)
                        && self.count_in_row >= limit + offset
                    {
                        code = Match::IncludeNextRow;
                    }
                }
            }
            if let Some(end) = self.decide_move(code, read) {
                return Ok(Step::Ready(end));
            }
        }
    }

    /// Takes plain cells of the row, or leaves it if it is over.
    #[inline]
    fn run_cells(&mut self, begins_row: bool, read: &mut RowRead<'_>) -> Moved {
        if !begins_row && self.merge.peek_key().is_some_and(|key| !self.matcher.is_in_row(key)) {
            if read.cell_filter().is_some_and(|filter| filter.filter_all_remaining()) {
                return Moved::Not;
            }
            return self.decide_move(Match::Done, read).map_or(Moved::On, Moved::Ended);
        }
        let Some(rules) = self.matcher.run_rules() else { return Moved::Not };
        let ran = run(&mut self.merge, rules, self.scan.read_point, read);
        if ran.cells == 0 {
            return Moved::Not;
        }
        if ran.row_over {
            return Moved::Ended(self.leave_row(&ran, read));
        }
        self.count_in_row += ran.included;
        self.kept = ran.kept;
        if let Some(code) = ran.code.filter(|_| ran.end.is_none()) {
            return self.decide_move(code, read).map_or(Moved::On, Moved::Ended);
        }
        if ran.left_row {
            // The next cell of all is perhaps yet to be found.
            self.matcher.clear_row();
            self.row_over = true;
        }
        if ran.in_named && ran.end.is_none() {
            let code = if self.matcher.has_all_columns() { Match::IncludeNextRow } else { Match::IncludeNextCol };
            return self.decide_move(code, read).map_or(Moved::On, Moved::Ended);
        }
        self.wants_seek = ran.wants_seek;
        self.pending = Move::Next;
        ran.end.map_or(Moved::On, Moved::Ended)
    }

    /// A run has brought the scanner to the next row.
    #[inline]
    fn leave_row(&mut self, ran: &Ran, read: &RowRead<'_>) -> StoreEnd {
        self.matcher.clear_row();
        let has_all = self.matcher.has_all_columns() || ran.left_row;
        if let Some(limit) = ran.end.or_else(|| read.end_after_cell(ran.kept).filter(|_| !has_all)) {
            return limit;
        }
        if self.scan.is_get {
            self.phase = Phase::Closed;
            return StoreEnd::Exhausted;
        }
        StoreEnd::Row
    }

    /// Whether rows that [`Self::pass_rows`] leaves now are all before `row`.
    #[inline]
    pub fn block_is_before(&mut self, row: &[u8]) -> bool {
        matches!(self.phase, Phase::Open) && self.merge.block_is_before(row)
    }

    /// Forward scans: leaves the row where the scanner stands, and rows behind it of which `refuse` says so, without judging their
    /// cells, `most` at most, if that takes no more than steps inside a block. Where it stops otherwise it is in a refused row,
    /// which [`Self::pass_row`] leaves.
    #[inline]
    pub fn pass_rows(&mut self, most: usize, refuse: &mut impl RefuseRows) -> Passed {
        if self.pending != Move::None || self.matcher.has_row() || !matches!(self.phase, Phase::Open) {
            return Passed::default();
        }
        self.merge.pass_rows(most, refuse)
    }

    /// Forward scans, between rows: passes over rows that `judge` refuses, about `most` cells of them at most, as far as each
    /// of their cells is plain and can be judged where it lies; how many cells.
    pub fn pass_judged(&mut self, most: usize, judge: &mut impl RowJudge, src: &dyn BlockSource) -> usize {
        if self.pending != Move::None || self.matcher.has_row() || !matches!(self.phase, Phase::Open) {
            return 0;
        }
        self.matcher.judge_rules(most).map_or(0, |rules| self.merge.pass_judged(rules, judge, src))
    }

    /// Whether it is worth to call [`Self::take_rows`]: the scanner stands where rows lie side by side, each of one cell or
    /// `of_several`.
    #[inline]
    pub fn may_take_rows(&self, of_several: bool) -> bool {
        self.merge.may_take_rows(of_several)
    }

    /// Forward scans, between rows: shows rows to `takes`, all before the row `before`, as far as they lie behind one another, need nothing
    /// else to be asked, are not more than `most`, and those that are wanted are, or begin with, one plain cell; how many are behind the
    /// scanner then.
    #[inline]
    pub fn take_rows(
        &mut self,
        most: usize,
        before: Option<&[u8]>,
        takes: &mut impl TakeRows,
        src: &dyn BlockSource,
    ) -> usize {
        if self.pending != Move::None || self.matcher.has_row() || !matches!(self.phase, Phase::Open) {
            return 0;
        }
        self.matcher.judge_rules(most).map_or(0, |rules| self.merge.take_rows(rules, before, takes, src))
    }

    /// Leaves `row`, where the scanner stands, without judging its cells.
    pub fn pass_row(&mut self, row: &[u8], read: &mut RowRead<'_>) -> Result<Step<StoreEnd>, StoreError> {
        self.kept = false;
        let mut passed = 0;
        loop {
            ready!(self.finish_move(read.src)?);
            if !self.is_in_row(row) {
                break;
            }
            if let Some(end) = read.end_before_cell() {
                return Ok(Step::Ready(end));
            }
            read.cells_scanned += 1;
            passed += 1;
            self.pending = Move::Next;
            if passed == NEAR_CELLS || self.scan.reversed {
                self.target.clear();
                append_last_on_row(&mut self.target, row);
                self.pending = if self.scan.reversed { Move::RowBefore } else { Move::Forward };
            }
        }
        self.matcher.clear_row();
        self.row_over = false;
        Ok(Step::Ready(if self.peek_row().is_none() { StoreEnd::Exhausted } else { StoreEnd::Row }))
    }

    /// Where to go from the current cell; or how the read ends here.
    fn decide_move(&mut self, code: Match, read: &mut RowRead<'_>) -> Option<StoreEnd> {
        self.pending = match code {
            Match::Include | Match::Skip => Move::Next,
            Match::IncludeNextCol | Match::NextCol => {
                let cell = self.merge.peek()?;
                self.matcher.next_column_key(&cell, &mut self.target);
                let ahead = self.family.order.keys(&self.target, cell.key).is_gt();
                seek_if(ahead, self.scan.reversed)
            }
            Match::IncludeNextRow | Match::NextRow => {
                let row = self.merge.peek_key().map(key::row)?;
                if !self.matcher.more_rows_after(row) {
                    self.phase = Phase::Closed;
                    return None;
                }
                self.target.clear();
                append_last_on_row(&mut self.target, row);
                self.matcher.clear_row();
                self.row_over = true;
                if self.scan.reversed { Move::RowBefore } else { Move::Forward }
            }
            Match::Hint => {
                let cell = self.merge.peek()?;
                match read.filter.as_deref_mut().and_then(|f| f.next_hint(&cell)) {
                    Some(hint) if key::check(&hint).is_ok() => {
                        let compared = self.family.order.keys(&hint, cell.key);
                        self.target = hint;
                        let ahead = if self.scan.reversed { compared.is_lt() } else { compared.is_gt() };
                        seek_if(ahead, self.scan.reversed)
                    }
                    _ => Move::Next,
                }
            }
            Match::Done => {
                self.matcher.clear_row();
                if !self.scan.is_get {
                    return Some(StoreEnd::Row);
                }
                self.phase = Phase::Closed;
                Move::None
            }
            Match::DoneScan => {
                self.phase = Phase::Closed;
                Move::None
            }
        };
        None
    }

    #[inline]
    fn finish_move(&mut self, src: &dyn BlockSource) -> Result<Step<()>, StoreError> {
        if self.pending == Move::None { Ok(Step::Ready(())) } else { self.make_move(src) }
    }

    fn make_move(&mut self, src: &dyn BlockSource) -> Result<Step<()>, StoreError> {
        ready!(match self.pending {
            Move::None => return Ok(Step::Ready(())),
            Move::Next => self.merge.next(src),
            Move::Forward => self.merge.seek_forward(&self.target, src),
            Move::Backward => self.merge.seek_backward(&self.target, src),
            Move::RowBefore => self.merge.seek_to_row_before(key::row(&self.target), src),
        }?);
        self.pending = Move::None;
        Ok(Step::Ready(()))
    }

    /// Forward scans: to `row` or the first one after it, giving up the row where the scanner stands.
    pub fn seek_to_row(&mut self, row: &[u8], src: &dyn BlockSource) -> Result<Step<()>, StoreError> {
        ready!(self.finish_move(src)?);
        self.row_over = false;
        self.kept = false;
        match self.peek_row() {
            Some(at) if self.order().rows(at, row).is_lt() => {}
            _ => return Ok(Step::Ready(())),
        }
        self.matcher.clear_row();
        self.target = key::first_on_row(row);
        self.pending = Move::Forward;
        self.finish_move(src)
    }
}

/// The key behind every cell of `row`.
fn append_last_on_row(out: &mut Vec<u8>, row: &[u8]) {
    key::append_key(out, row, &[], &[], i64::MIN as u64, CellType::Minimum as u8);
}

/// A seek to `target` if that lies ahead, else just the next cell.
fn seek_if(ahead: bool, reversed: bool) -> Move {
    match (ahead, reversed) {
        (false, _) => Move::Next,
        (true, false) => Move::Forward,
        (true, true) => Move::Backward,
    }
}
