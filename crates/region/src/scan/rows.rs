//! [`Rows`]: the stores of a read, merged by row, with the filter's say over whole rows
//! (HBase: RegionScannerImpl.nextInternal).
//!
//! ```text
//! Start ─► filter_row_key ─ no ─► Main: essential families ─► filter_row ─ no ─► Joined: the other families ─► Result
//!   ▲          │ yes                    │ limit: partial Result  │ yes               │ limit: partial Result     │
//!   └── reset ◄┴── Skip: rest of the row shown to the filter ◄───┘                                               │
//!   └─────────────────────────────────────────────────── reset ◄─────────────────────────────────────────────────┘
//! ```
//!
//! Every state can be left by `Step::Need` or a pause and entered again.

use super::judge::Judge;
use super::limits::ResultMark;
use super::taker::{TakeRoom, Taker};
use crate::RegionError;
use martite_cell::{CellBuf, Order, ShortRows, buf::Mark};
use martite_filter::{Filter, NextRow};
use martite_hfile::{RefuseRows, Step};
use martite_store::scan::{RowRead, StoreEnd, StoreScanner};
use std::cmp::Ordering;

/// So many cells may be looked at between two questions about the deadline, between rows.
const CELLS_PER_TIME_CHECK: u64 = 1_000;

/// One family of a read.
pub(crate) struct FamilyScanner {
    pub scanner: StoreScanner,
    /// Whether the filter needs it; others are read for accepted rows only.
    pub essential: bool,
}

/// Where and how a read ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowBounds {
    pub order: Order,
    pub reversed: bool,
    pub include_stop: bool,
    pub has_filter_row: bool,
    /// Cells of one Result; `usize::MAX`: all.
    pub batch: usize,
    pub max_row_bytes: usize,
}

impl RowBounds {
    #[inline]
    pub(super) fn is_past(&self, stop_row: &[u8], row: &[u8]) -> bool {
        if stop_row.is_empty() {
            return false;
        }
        match self.order.rows(row, stop_row) {
            Ordering::Less => self.reversed,
            Ordering::Equal => !self.include_stop,
            Ordering::Greater => !self.reversed,
        }
    }
}

/// Where the scanners stand after rows were refused.
enum Behind {
    /// Inside a refused row, which is the current one now.
    Same,
    /// At a row that the filter has not seen.
    New,
    /// At one whose key it has let pass, which is the current one now.
    Accepted,
    /// Nothing more is wanted.
    End,
}

/// Refuses rows as the filter does, up to the scan's end.
struct ByFilter<'a> {
    filter: &'a mut Filter,
    /// Where the scan ends, if that may be here.
    stop: Option<(RowBounds, &'a [u8])>,
    refused: u64,
    /// Of the row that is not refused.
    answer: Option<NextRow>,
}

impl RefuseRows for ByFilter<'_> {
    #[inline]
    fn refuses(&mut self, row: &[u8]) -> bool {
        let is_past = self.stop.is_some_and(|(bounds, stop_row)| bounds.is_past(stop_row, row));
        let next = if is_past { NextRow::End } else { self.filter.next_row(row) };
        let refused = next == NextRow::Refused;
        if refused {
            self.refused += 1
        } else {
            self.answer = Some(next)
        }
        refused
    }
    #[inline]
    fn refuses_first_of(&mut self, rows: ShortRows<'_>) -> Option<usize> {
        if self.stop.is_some() {
            return None;
        }
        let (count, answer) = self.filter.next_rows(rows);
        self.refused += count as u64;
        self.answer = answer;
        Some(count)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Between rows.
    Start,
    Main(usize),
    /// The row's essential families are read.
    Judge,
    JoinSeek(usize),
    Joined(usize),
    /// The rest of a refused row.
    Skip(usize),
    Done,
}

/// What one call brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The cells since [`Rows::mark`] are a Result.
    Result {
        partial: bool,
    },
    /// A limit was reached before any cell of a Result.
    Limit(StoreEnd),
    Paused,
    /// No more rows.
    Exhausted,
}

pub(crate) struct Rows {
    /// Sorted by family.
    pub families: Vec<FamilyScanner>,
    bounds: RowBounds,
    stop_row: bytes::Bytes,
    phase: Phase,
    /// The row last looked at.
    row: Vec<u8>,
    /// The one behind it, if that has been looked at.
    next: Vec<u8>,
    knows_next: bool,
    /// The filter refused the last row by its key.
    refused_last: bool,
    /// Where the cells of the current Result begin.
    mark: Mark,
    cells_before: usize,
    bytes_before: usize,
    block_bytes_end: u64,
    /// Cells scanned when the deadline was last asked about.
    time_asked_at: u64,
    pub rows_scanned: u64,
    pub rows_filtered: u64,
}

impl Rows {
    pub(crate) fn new(families: Vec<FamilyScanner>, stop_row: bytes::Bytes, bounds: RowBounds, out: &CellBuf) -> Rows {
        Rows {
            families,
            bounds,
            stop_row,
            phase: Phase::Open,
            row: Vec::new(),
            next: Vec::new(),
            knows_next: false,
            refused_last: false,
            mark: out.mark(),
            cells_before: out.len(),
            bytes_before: out.size_bytes(),
            block_bytes_end: u64::MAX,
            time_asked_at: 0,
            rows_scanned: 0,
            rows_filtered: 0,
        }
    }

    /// The row last looked at.
    pub(crate) fn row(&self) -> &[u8] {
        &self.row
    }
    /// Each call counts its cells from zero, and has its own limits of a Result and of blocks.
    pub(crate) fn begin_call(&mut self, batch: usize, block_bytes_end: u64) {
        self.time_asked_at = 0;
        self.bounds.batch = batch;
        self.block_bytes_end = block_bytes_end;
    }
    /// Whether as many bytes of blocks have been read as may be; a limit between rows.
    pub(crate) fn has_read_enough(&self, read: &RowRead<'_>) -> bool {
        read.block_bytes.get() >= self.block_bytes_end
    }
    /// Between rows, with every scanner open: the scanners may be exchanged.
    pub(crate) fn is_between_rows(&self) -> bool {
        self.phase == Phase::Start
    }
    /// New scanners, not open yet, that begin at the next row.
    pub(crate) fn exchange(&mut self, families: Vec<FamilyScanner>) {
        self.families = families;
        self.knows_next = false;
        self.phase = Phase::Open;
    }
    pub(crate) fn is_done(&self) -> bool {
        self.phase == Phase::Done
    }

    /// The family whose next row comes next of all; None at the end of the scan.
    fn next_family(&self) -> Option<usize> {
        let mut next: Option<(usize, &[u8])> = None;
        for (at, family) in self.families.iter().enumerate().filter(|(_, f)| f.essential) {
            let Some(row) = family.scanner.peek_row() else { continue };
            let sooner = next.is_none_or(|(_, best)| {
                let compared = self.bounds.order.rows(row, best);
                if self.bounds.reversed { compared.is_gt() } else { compared.is_lt() }
            });
            if sooner {
                next = Some((at, row));
            }
        }
        next.filter(|(_, row)| !self.is_past_stop(row)).map(|(at, _)| at)
    }

    /// The row that comes next; None at the end of the scan.
    #[inline]
    pub(crate) fn next_row(&self) -> Option<&[u8]> {
        match &self.families[..] {
            [only] if only.essential => only.scanner.peek_row().filter(|row| !self.is_past_stop(row)),
            families => families[self.next_family()?].scanner.peek_row(),
        }
    }

    fn is_past_stop(&self, row: &[u8]) -> bool {
        self.bounds.is_past(&self.stop_row, row)
    }

    /// A scanner that was interrupted is in the row, too.
    fn stands_in_row(&self, at: usize) -> bool {
        let scanner = &self.families[at].scanner;
        scanner.is_moving() || scanner.is_in_row(&self.row)
    }

    /// Reads until a Result is there, or a limit is reached. `read.out` keeps what calls before have put there.
    pub(crate) fn next_result(&mut self, read: &mut RowRead<'_>) -> Result<Step<Piece>, RegionError> {
        loop {
            let piece = match self.phase {
                Phase::Open => ready_or_need!(self.open(read)),
                Phase::Start => match self.start_row(read) {
                    None if self.phase == Phase::Main(0) && self.families.len() == 1 => {
                        ready_or_need!(self.read_main(0, true, read))
                    }
                    piece => piece,
                },
                Phase::Main(at) => ready_or_need!(self.read_main(at, false, read)),
                Phase::Judge => self.judge(read)?,
                Phase::JoinSeek(at) => ready_or_need!(self.seek_joined(at, read)),
                Phase::Joined(at) => ready_or_need!(self.read_joined(at, read)),
                Phase::Skip(at) => ready_or_need!(self.skip(at, read)),
                Phase::Done => Some(Piece::Exhausted),
            };
            if let Some(filter) = &read.filter
                && let Some(failure) = filter.failure()
            {
                return Err(RegionError::Filter(failure.to_string()));
            }
            if let Some(piece) = piece {
                return Ok(Step::Ready(piece));
            }
        }
    }

    fn open(&mut self, read: &mut RowRead<'_>) -> Result<Step<Option<Piece>>, RegionError> {
        for family in self.families.iter_mut().filter(|f| f.essential) {
            ready_or_need!(family.scanner.open(read.src));
        }
        self.phase = Phase::Start;
        Ok(Step::Ready(None))
    }

    /// Goes to the next row that is not refused by its key, or to the first refused one that takes more than a few steps
    /// to leave.
    fn start_row(&mut self, read: &mut RowRead<'_>) -> Option<Piece> {
        self.begin_result(read.out);
        let can_pass = self.can_pass(read) && !self.bounds.reversed;
        if read.filter.is_some()
            && self.may_take_rows(self.refused_last)
            && let Some(limit) = self.take_rows(read, TakeRoom::NONE, &mut Vec::new())
        {
            return Some(limit);
        }
        loop {
            if !self.take_next_row() {
                self.phase = Phase::Done;
                return Some(Piece::Exhausted);
            }
            self.phase = Phase::Main(0);
            let filter = read.filter.as_deref_mut()?;
            self.refused_last = filter.filter_row_key(&self.row);
            if !self.refused_last {
                return None;
            }
            self.rows_filtered += 1;
            if filter.filter_all_remaining() {
                self.phase = Phase::Done;
                return Some(Piece::Exhausted);
            }
            self.rows_scanned += 1;
            self.phase = Phase::Skip(0);
            let behind = if can_pass { self.pass_refused(read) } else { Behind::Same };
            match behind {
                Behind::Same => return None,
                Behind::Accepted => (self.phase, self.refused_last) = (Phase::Main(0), false),
                Behind::End => self.phase = Phase::Done,
                Behind::New => {
                    let piece = self.end_refused_row(read);
                    if piece.is_none() && self.phase == Phase::Start {
                        continue;
                    }
                    return piece;
                }
            }
            return (self.phase == Phase::Done).then_some(Piece::Exhausted);
        }
    }

    /// Leaves the refused row, and those behind it that the filter refuses, too, as far as that takes a few steps and nothing
    /// else is to be asked.
    fn pass_refused(&mut self, read: &mut RowRead<'_>) -> Behind {
        let most = self.cells_to_next_check(read);
        if self.has_read_enough(read) {
            return Behind::Same;
        }
        let Rows { families, bounds, stop_row, rows_scanned, rows_filtered, row: last, .. } = self;
        let ([only], Some(filter)) = (&mut families[..], read.filter.as_deref_mut()) else { return Behind::Same };
        // Asked once for a block.
        let may_be_past = !stop_row.is_empty() && !only.scanner.block_is_before(stop_row);
        let mut by_filter =
            ByFilter { filter, stop: may_be_past.then_some((*bounds, stop_row)), refused: 0, answer: None };
        let passed = only.scanner.pass_rows(most, &mut by_filter);
        let (refused, behind) = (by_filter.refused, by_filter.answer);
        *rows_scanned += refused;
        *rows_filtered += refused + u64::from(behind == Some(NextRow::RefusedAsLast));
        read.cells_scanned += passed.cells as u64;
        if passed.cells > 0 {
            keep_row(last, &only.scanner);
        }
        match behind {
            Some(NextRow::Accepted) => Behind::Accepted,
            Some(_) => Behind::End,
            None if passed.stopped => Behind::New,
            None => Behind::Same,
        }
    }

    /// Whether it is worth to call [`Self::take_rows`]; `of_several`: where rows have several cells, too.
    #[inline]
    pub(super) fn may_take_rows(&self, of_several: bool) -> bool {
        self.phase == Phase::Start && matches!(&self.families[..], [only] if only.scanner.may_take_rows(of_several))
    }

    /// Between rows, of which the filter judges by the key alone, or takes the first cell of each: passes over those that it refuses, and makes
    /// Results of the others as far as there is room for them and each is, or begins with, one plain cell. It stops at the first row of any
    /// other kind. A limit may be reached then.
    pub(super) fn take_rows(
        &mut self,
        read: &mut RowRead<'_>,
        room: TakeRoom,
        results: &mut Vec<ResultMark>,
    ) -> Option<Piece> {
        let may_take = self.may_take_rows(true) && !self.bounds.reversed && self.bounds.batch == usize::MAX;
        let filter = read.filter.as_deref();
        let takes_first = filter.is_some_and(Filter::takes_first_cells);
        let by_key = filter.is_none_or(Filter::judges_by_key) || takes_first && room.results > 0;
        if !may_take || !by_key || self.has_read_enough(read) {
            return None;
        }
        let room = if filter.is_some_and(Filter::minds_cells) && !takes_first { TakeRoom::NONE } else { room };
        let most = self.cells_to_next_check(read);
        let [only] = &mut self.families[..] else { return None };
        let mut taker = Taker {
            filter,
            out: read.out,
            results,
            room,
            scratch: read.scratch,
            max_row_bytes: self.bounds.max_row_bytes,
            block_bytes: (read.block_bytes, self.block_bytes_end),
            row: &mut self.row,
            taken: 0,
        };
        let stop_row = Some(&self.stop_row[..]).filter(|row| !row.is_empty());
        let passed = only.scanner.take_rows(most, stop_row, &mut taker, read.src);
        let refused = (passed - taker.taken) as u64;
        if passed == 0 {
            return None;
        }
        self.knows_next = false;
        read.cells_scanned += passed as u64;
        self.rows_scanned += passed as u64;
        self.rows_filtered += refused;
        self.limit_between_rows(read)
    }

    /// Leaves the next row in `row`; false at the end of the scan.
    #[inline]
    fn take_next_row(&mut self) -> bool {
        let found = std::mem::take(&mut self.knows_next) || self.look_ahead();
        if found {
            std::mem::swap(&mut self.row, &mut self.next);
        }
        found
    }

    /// Leaves the row that comes next in `next`; false at the end of the scan.
    #[inline]
    fn look_ahead(&mut self) -> bool {
        let mut next = std::mem::take(&mut self.next);
        let row = self.next_row();
        let found = row.is_some();
        if let Some(row) = row {
            next.clear();
            next.extend_from_slice(row);
        }
        self.next = next;
        found
    }

    fn set_row_limits(&self, read: &mut RowRead<'_>) {
        let batch = if self.bounds.has_filter_row { usize::MAX } else { self.bounds.batch };
        read.limits.cells_end = self.cells_before.saturating_add(batch);
        read.limits.too_big_at = self.bytes_before.saturating_add(self.bounds.max_row_bytes);
    }

    /// `stands`: it is known that the family `from` stands in the row.
    fn read_main(
        &mut self,
        from: usize,
        stands: bool,
        read: &mut RowRead<'_>,
    ) -> Result<Step<Option<Piece>>, RegionError> {
        self.set_row_limits(read);
        for at in from..self.families.len() {
            self.phase = Phase::Main(at);
            if !self.families[at].essential || !((stands && at == from) || self.stands_in_row(at)) {
                continue;
            }
            match ready_or_need!(self.families[at].scanner.next(read)) {
                StoreEnd::Row | StoreEnd::Exhausted => {}
                StoreEnd::Paused => return Ok(Step::Ready(Some(Piece::Paused))),
                StoreEnd::TooBig => return Err(self.too_big()),
                limit @ (StoreEnd::Batch | StoreEnd::Size | StoreEnd::Time) => {
                    let more = (at..self.families.len()).any(|f| self.families[f].essential && self.stands_in_row(f));
                    if more {
                        return Ok(Step::Ready(Some(self.partial(limit, read))));
                    }
                    break;
                }
            }
        }
        self.rows_scanned += 1;
        self.phase = Phase::Judge;
        Ok(Step::Ready(None))
    }

    /// A limit inside a row: what there is of it is a Result.
    fn partial(&mut self, limit: StoreEnd, read: &RowRead<'_>) -> Piece {
        if self.is_empty(read) { Piece::Limit(limit) } else { Piece::Result { partial: true } }
    }

    /// The next Result begins; of the same row if that is not over.
    pub(crate) fn begin_result(&mut self, out: &CellBuf) {
        self.mark = out.mark();
        self.cells_before = out.len();
        self.bytes_before = out.size_bytes();
    }

    /// The current Result is not wanted after all.
    pub(crate) fn drop_result(&self, read: &mut RowRead<'_>) {
        read.out.truncate(self.mark);
    }

    /// Cells of the current Result.
    pub(crate) fn result_cells(&self, read: &RowRead<'_>) -> usize {
        read.out.len() - self.cells_before
    }

    fn is_empty(&self, read: &RowRead<'_>) -> bool {
        read.out.len() == self.cells_before
    }

    fn too_big(&self) -> RegionError {
        let max = self.bounds.max_row_bytes;
        RegionError::RowTooBig(format!("Max row size allowed: {max}, but row is bigger than that"))
    }

    /// All essential families of the row are read: does the filter want it?
    fn judge(&mut self, read: &mut RowRead<'_>) -> Result<Option<Piece>, RegionError> {
        if self.bounds.has_filter_row && self.result_cells(read) >= self.bounds.batch {
            return Err(RegionError::DoNotRetry(
                "Filter whose hasFilterRow() returns true is incompatible with scans that must stop mid-row because of \
                 a limit"
                    .into(),
            ));
        }
        let mut refused = self.is_empty(read);
        if let Some(filter) = read.filter.as_deref_mut() {
            if self.bounds.has_filter_row {
                filter.filter_row_cells(read.out, self.mark);
                // A row that lost all its cells is not shown again, and not counted as refused before it is joined.
                let left = read.out.len() > self.cells_before;
                refused = refused || (left && filter.filter_row());
            } else {
                refused = refused || filter.filter_row();
            }
        }
        if refused {
            return Ok(self.refuse(read));
        }
        self.phase = Phase::JoinSeek(0);
        Ok(None)
    }

    fn refuse(&mut self, read: &mut RowRead<'_>) -> Option<Piece> {
        read.out.truncate(self.mark);
        self.rows_filtered += 1;
        self.phase = Phase::Skip(0);
        None
    }

    /// Brings the first family from `from` on that has cells of the row to it; at the end of all, ends the row.
    fn seek_joined(&mut self, from: usize, read: &mut RowRead<'_>) -> Result<Step<Option<Piece>>, RegionError> {
        for at in from..self.families.len() {
            self.phase = Phase::JoinSeek(at);
            let family = &mut self.families[at];
            if family.essential {
                continue;
            }
            ready_or_need!(family.scanner.open(read.src));
            ready_or_need!(family.scanner.seek_to_row(&self.row, read.src));
            if self.stands_in_row(at) {
                self.phase = Phase::Joined(at);
                return Ok(Step::Ready(None));
            }
        }
        if self.is_empty(read) {
            // The filter took every cell out, or the rest of a row in pieces was empty.
            return Ok(Step::Ready(self.refuse(read)));
        }
        self.sort_joined(read);
        self.end_row(read);
        Ok(Step::Ready(Some(Piece::Result { partial: false })))
    }

    fn read_joined(&mut self, at: usize, read: &mut RowRead<'_>) -> Result<Step<Option<Piece>>, RegionError> {
        if !self.stands_in_row(at) {
            // A pause or a limit came with the end of the family's part of the row.
            self.phase = Phase::JoinSeek(at + 1);
            return Ok(Step::Ready(None));
        }
        self.set_row_limits(read);
        match ready_or_need!(self.families[at].scanner.next(read)) {
            StoreEnd::Row | StoreEnd::Exhausted => self.phase = Phase::JoinSeek(at + 1),
            StoreEnd::Paused => return Ok(Step::Ready(Some(Piece::Paused))),
            StoreEnd::TooBig => return Err(self.too_big()),
            limit @ (StoreEnd::Batch | StoreEnd::Size | StoreEnd::Time) => {
                self.sort_joined(read);
                return Ok(Step::Ready(Some(self.partial(limit, read))));
            }
        }
        Ok(Step::Ready(None))
    }

    /// Families that were joined come after the others: puts the Result's cells in order.
    fn sort_joined(&self, read: &mut RowRead<'_>) {
        let order = self.bounds.order;
        let cells = || (self.cells_before..read.out.len()).filter_map(|at| read.out.get(at));
        if self.families.iter().all(|f| f.essential) || cells().is_sorted_by(|a, b| order.keys(a.key, b.key).is_le()) {
            return;
        }
        let mut cells: Vec<_> = cells().map(|c| c.to_owned_cell()).collect();
        cells.sort_by(|a, b| order.keys(a.as_ref().key, b.as_ref().key));
        read.out.truncate(self.mark);
        for cell in &cells {
            read.out.push(&cell.as_ref());
        }
    }

    /// Leaves what is left of a refused row; shows it to the filter if that wants to see it.
    fn skip(&mut self, from: usize, read: &mut RowRead<'_>) -> Result<Step<Option<Piece>>, RegionError> {
        for at in from..self.families.len() {
            self.phase = Phase::Skip(at);
            let can_pass = self.can_pass(read);
            while self.families[at].essential && (can_pass || self.stands_in_row(at)) {
                let scanner = &mut self.families[at].scanner;
                read.discard = true;
                let step = if can_pass { scanner.pass_row(&self.row, read) } else { scanner.next(read) };
                read.discard = false;
                if let StoreEnd::Paused = ready_or_need!(step) {
                    return Ok(Step::Ready(Some(Piece::Paused)));
                }
                if can_pass {
                    break;
                }
            }
        }
        Ok(Step::Ready(self.end_refused_row(read)))
    }

    fn end_refused_row(&mut self, read: &mut RowRead<'_>) -> Option<Piece> {
        if let Some(filter) = read.filter.as_deref_mut() {
            filter.reset();
        }
        self.phase = Phase::Start;
        self.pass_judged(read);
        self.limit_between_rows(read)
    }

    /// After a refused row: those behind it that the filter refuses by their cells, too, or that have none that is wanted, as far as
    /// these can be judged where they lie.
    fn pass_judged(&mut self, read: &mut RowRead<'_>) {
        let most = self.cells_to_next_check(read);
        let Rows { families, bounds, stop_row, block_bytes_end, row: last, .. } = self;
        let [only] = &mut families[..] else { return };
        let filter = read.filter.as_deref_mut();
        let Some(mut judge) = Judge::new(filter, bounds, stop_row, (read.block_bytes, *block_bytes_end)) else {
            return;
        };
        let cells = only.scanner.pass_judged(most, &mut judge, read.src);
        if cells > 0 {
            keep_row(last, &only.scanner);
        }
        read.cells_scanned += cells as u64;
        self.rows_scanned += judge.refused;
        self.rows_filtered += judge.refused;
        if let Some(filter) = read.filter.as_deref_mut() {
            filter.reset();
        }
    }

    /// So many cells may be passed over before somebody is to be asked.
    fn cells_to_next_check(&self, read: &RowRead<'_>) -> usize {
        let to_time_check = (self.time_asked_at + CELLS_PER_TIME_CHECK).saturating_sub(read.cells_scanned);
        read.limits.pause_at.saturating_sub(read.cells_scanned).min(to_time_check) as usize
    }

    /// Whether the cells of a refused row need not be looked at.
    fn can_pass(&self, read: &RowRead<'_>) -> bool {
        read.filter.as_ref().is_none_or(|f| !f.watches_refused_rows())
    }

    fn end_row(&mut self, read: &mut RowRead<'_>) {
        if let Some(filter) = read.filter.as_deref_mut() {
            filter.reset();
        }
        self.knows_next = self.look_ahead();
        self.phase = if self.knows_next { Phase::Start } else { Phase::Done };
    }

    /// After a refused row: whether it is time to tell the caller.
    fn limit_between_rows(&mut self, read: &mut RowRead<'_>) -> Option<Piece> {
        if read.filter.as_deref_mut().is_some_and(|f| f.filter_all_remaining()) {
            self.phase = Phase::Done;
        }
        if self.phase == Phase::Done {
            return None;
        }
        if self.has_read_enough(read) {
            return Some(Piece::Limit(StoreEnd::Size));
        }
        self.is_late(read).then_some(Piece::Limit(StoreEnd::Time))
    }

    /// Whether the deadline has passed; asked now and then.
    pub(crate) fn is_late(&mut self, read: &mut RowRead<'_>) -> bool {
        if read.cells_scanned.saturating_sub(self.time_asked_at) < CELLS_PER_TIME_CHECK {
            return false;
        }
        self.time_asked_at = read.cells_scanned;
        (read.expired)()
    }

    /// The filter wants nothing more.
    pub(crate) fn finish(&mut self) {
        self.phase = Phase::Done;
    }
}

/// Leaves the row where `scanner` stands in `last`.
fn keep_row(last: &mut Vec<u8>, scanner: &StoreScanner) {
    if let Some(row) = scanner.peek_row() {
        last.clear();
        last.extend_from_slice(row);
    }
}
