//! One sorted run of cells that a scanner merges: a memstore segment or a store file, as a reader sees it.
//!
//! Cells newer than the read point are passed over here, so nobody above meets them. Every move may end with
//! `Step::Need`; the same move, called again, then goes on where it stopped: `unsettled` tells that the raw cursor has
//! moved already and only has to pass over invisible cells.

use crate::memstore::SegmentScanner;
use crate::{StoreError, StoreFile, StoreFileScanner};
use martite_cell::{CellRef, CellType, key};
use martite_hfile::{BlockSource, Step};
use std::sync::Arc;

/// Passes `Need` on; the way `?` does errors.
macro_rules! ready {
    ($step:expr) => {
        match $step {
            martite_hfile::Step::Ready(value) => value,
            martite_hfile::Step::Need(request) => return Ok(martite_hfile::Step::Need(request)),
        }
    };
}
pub(crate) use ready;

type Moved = Result<Step<()>, StoreError>;
const READY: Moved = Ok(Step::Ready(()));

enum Kind {
    Segment(SegmentScanner),
    File(Box<StoreFileScanner>),
}

/// A source that stands at a cell.
pub(super) enum Plain<'a> {
    Segment(&'a mut SegmentScanner),
    File(&'a mut StoreFileScanner),
}

pub(super) struct Source {
    cells: Kind,
    read_point: u64,
    /// Whether it can hold cells newer than the read point.
    has_newer: bool,
    unsettled: bool,
    /// A Get of columns need not begin at the row's start.
    pub(super) starts_at_column: bool,
    /// Newest timestamp in a file that says so.
    newest: Option<u64>,
    /// The seek that is put off, if any: no cell of the file comes before this key.
    lazy: Option<Vec<u8>>,
    /// Reversed scans: the row to go back from, while that is not finished.
    back_from: Option<Vec<u8>>,
}

impl Source {
    pub(super) fn segment(cells: SegmentScanner, read_point: u64) -> Source {
        // The active segment grows, so its newest sequence id says nothing.
        Source::new(Kind::Segment(cells), read_point, true)
    }

    pub(super) fn file(file: &Arc<StoreFile>, read_point: u64, cache_blocks: bool) -> Source {
        let has_newer = file.seq_id > read_point && file.max_mvcc() > read_point;
        let cells = Kind::File(Box::new(file.scanner(cache_blocks)));
        Source { newest: file.time_range().map(|(_, newest)| newest), ..Source::new(cells, read_point, has_newer) }
    }

    fn new(cells: Kind, read_point: u64, has_newer: bool) -> Source {
        Source {
            cells,
            read_point,
            has_newer: has_newer && read_point != u64::MAX,
            unsettled: false,
            starts_at_column: false,
            newest: None,
            lazy: None,
            back_from: None,
        }
    }

    /// Whether it reads `file`.
    pub(super) fn reads(&self, file: &Arc<StoreFile>) -> bool {
        matches!(&self.cells, Kind::File(f) if Arc::ptr_eq(f.file(), file))
    }

    /// Forgets where it was going; the next move is a seek.
    pub(super) fn rewound(mut self) -> Source {
        if let Kind::File(file) = &mut self.cells {
            file.forget();
        }
        Source { unsettled: false, lazy: None, back_from: None, ..self }
    }

    /// Only cells of `row` are wanted: see [`martite_hfile::Scanner::keep_to_row`].
    pub(super) fn keep_to_row(&mut self, row: &[u8]) {
        if let Kind::File(file) = &mut self.cells {
            file.keep_to_row(row);
        }
    }

    /// Whether the next cell is in another block than the current one.
    #[inline]
    pub(super) fn is_last_in_block(&self) -> bool {
        matches!(&self.cells, Kind::File(file) if file.is_last_in_block())
    }

    /// A seek to `key` is to come: see [`martite_hfile::Scanner::aim`].
    pub(super) fn aim(&mut self, key: &[u8], src: &dyn BlockSource) {
        if let Kind::File(file) = &mut self.cells {
            file.aim(key, src);
        }
    }

    pub(super) fn aim_at_cell(&self) {
        if let Kind::File(file) = &self.cells {
            file.aim_at_cell();
        }
    }

    /// The current cell; while a seek is put off, the earliest that it could find.
    #[inline]
    pub(super) fn peek(&self) -> Option<CellRef<'_>> {
        if let Some(key) = &self.lazy {
            return Some(CellRef::seek_key(key));
        }
        match &self.cells {
            Kind::Segment(s) => s.peek(),
            Kind::File(f) => f.peek(),
        }
    }

    /// The key of that cell.
    #[inline]
    pub(super) fn peek_key(&self) -> Option<&[u8]> {
        if let Some(key) = &self.lazy {
            return Some(key);
        }
        match &self.cells {
            Kind::Segment(s) => s.peek().map(|cell| cell.key),
            Kind::File(f) => f.peek_key(),
        }
    }

    /// Whether a move was interrupted: `peek` means nothing until the move is called again.
    #[inline]
    pub(super) fn unsettled(&self) -> bool {
        self.unsettled
    }

    /// Whether seeks can be put off: the file says how new its cells are.
    pub(super) fn can_wait(&self) -> bool {
        self.starts_at_column && self.newest.is_some()
    }

    pub(super) fn is_lazy(&self) -> bool {
        self.lazy.is_some()
    }

    /// Puts off the seek to `key`, a place in a column: until the file's newest timestamp comes up there.
    pub(super) fn seek_lazily(&mut self, key: &[u8]) {
        let place = self.lazy.get_or_insert_default();
        place.clear();
        match self.newest {
            // Timestamps are signed: the lowest one means "behind the column".
            Some(newest) if (newest as i64) < key::timestamp(key) as i64 => {
                let (family, qualifier) = key::column(key);
                key::append_key(place, key::row(key), family, qualifier, newest, CellType::Maximum as u8);
            }
            _ => place.extend_from_slice(key),
        }
    }

    /// Does the seek that was put off.
    pub(super) fn seek_now(&mut self, src: &dyn BlockSource) -> Moved {
        if let Some(key) = self.lazy.take() {
            let sought = self.seek(&key, src);
            if !matches!(sought, Ok(Step::Ready(()))) {
                self.unsettled = false;
                self.lazy = Some(key);
                return sought;
            }
        }
        READY
    }

    fn raw_next(&mut self, src: &dyn BlockSource) -> Moved {
        match &mut self.cells {
            Kind::Segment(s) => s.next(),
            Kind::File(f) => return Ok(f.next(src)?),
        }
        READY
    }

    fn raw_seek(&mut self, key: &[u8], src: &dyn BlockSource) -> Moved {
        match &mut self.cells {
            Kind::Segment(s) => s.seek(key),
            Kind::File(f) => return Ok(f.seek(key, src)?),
        }
        READY
    }

    fn raw_seek_before(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, StoreError> {
        match &mut self.cells {
            Kind::Segment(s) => Ok(Step::Ready(s.seek_before(key))),
            Kind::File(f) => Ok(f.seek_before(key, src)?),
        }
    }

    #[inline]
    fn settle(&mut self, src: &dyn BlockSource) -> Moved {
        if self.has_newer {
            while self.peek().is_some_and(|cell| cell.seq_id > self.read_point) {
                ready!(self.raw_next(src)?);
            }
        }
        self.unsettled = false;
        READY
    }

    /// To the next visible cell.
    #[inline]
    pub(super) fn next(&mut self, src: &dyn BlockSource) -> Moved {
        if !self.unsettled {
            ready!(self.raw_next(src)?);
            self.unsettled = true;
        }
        self.settle(src)
    }

    /// See [`StoreFileScanner::may_take_rows`].
    #[inline]
    pub(super) fn may_take_rows(&self, of_several: bool) -> bool {
        matches!(&self.cells, Kind::File(file) if file.may_take_rows(of_several))
    }

    /// The file, if each of its cells from the current one on can be seen.
    #[inline]
    pub(super) fn visible_file(&mut self) -> Option<&mut StoreFileScanner> {
        match &mut self.cells {
            Kind::File(file) if !self.has_newer && !self.unsettled && self.lazy.is_none() => Some(file),
            _ => None,
        }
    }

    /// Where the current cell and those after it can be taken from. If any were, [`Self::ran`] is to be told.
    #[inline]
    pub(super) fn plain(&mut self) -> Option<Plain<'_>> {
        if self.unsettled || self.lazy.is_some() {
            return None;
        }
        Some(match &mut self.cells {
            Kind::Segment(s) => Plain::Segment(s),
            Kind::File(f) => Plain::File(f),
        })
    }

    /// After a run that took cells: the next move is one forward, which stays at a cell that was not taken if that is
    /// visible.
    #[inline]
    pub(super) fn ran(&mut self, left: bool) {
        self.unsettled = left;
    }

    /// After a run that left the source at a cell: whether that is known to be visible, so that no step is to come.
    #[inline]
    pub(super) fn settles(&mut self) -> bool {
        self.unsettled = self.has_newer;
        !self.unsettled
    }

    /// To the first visible cell not before `key`.
    pub(super) fn seek(&mut self, key: &[u8], src: &dyn BlockSource) -> Moved {
        self.unsettled = true;
        ready!(self.raw_seek(key, src)?);
        self.settle(src)
    }

    /// As `seek`, forward only.
    pub(super) fn reseek(&mut self, key: &[u8], src: &dyn BlockSource) -> Moved {
        if !self.unsettled {
            match &mut self.cells {
                Kind::Segment(s) => s.reseek(key),
                Kind::File(f) => ready!(f.reseek(key, src)?),
            }
            self.unsettled = true;
        }
        self.settle(src)
    }

    /// Reversed scans: the next visible cell of `row` (which the source is in), else the first one of the row before.
    pub(super) fn next_in_row_or_back(&mut self, row: &[u8], src: &dyn BlockSource) -> Moved {
        if self.back_from.is_none() {
            ready!(self.next(src)?);
            if self.peek().is_some_and(|cell| cell.row() == row) {
                return READY;
            }
            self.unsettled = true;
            self.back_from = Some(row.to_vec());
        }
        self.seek_to_row_before(row, src)
    }

    /// To the first visible cell of the last row before `row`.
    pub(super) fn seek_to_row_before(&mut self, row: &[u8], src: &dyn BlockSource) -> Moved {
        if let Kind::File(file) = &mut self.cells
            && !self.has_newer
            && file.to_row_before(row)
        {
            (self.unsettled, self.back_from) = (false, None);
            return READY;
        }
        self.unsettled = true;
        let mut bound = key::first_on_row(row);
        loop {
            if !ready!(self.raw_seek_before(&bound, src)?) {
                break;
            }
            if ready!(self.enter_row(&mut bound, src)?) {
                break;
            }
        }
        self.unsettled = false;
        self.back_from = None;
        READY
    }

    /// To the first visible cell of the row under the raw cursor, whose first key is left in `first`; false if none of
    /// the row is visible.
    fn enter_row(&mut self, first: &mut Vec<u8>, src: &dyn BlockSource) -> Result<Step<bool>, StoreError> {
        let Some(cell) = self.peek() else { return Ok(Step::Ready(false)) };
        *first = key::first_on_row(cell.row());
        ready!(self.raw_seek(first, src)?);
        loop {
            match self.peek() {
                Some(cell) if cell.row() == key::row(first) => {
                    if cell.seq_id <= self.read_point {
                        return Ok(Step::Ready(true));
                    }
                }
                _ => return Ok(Step::Ready(false)),
            }
            ready!(self.raw_next(src)?);
        }
    }

    /// Reversed scans: to the first visible cell of the row of `key` that is not before `key`, else to the first of the
    /// row before.
    pub(super) fn seek_backward(&mut self, key: &[u8], src: &dyn BlockSource) -> Moved {
        self.unsettled = true;
        ready!(self.raw_seek(key, src)?);
        loop {
            match self.peek() {
                Some(cell) if cell.row() == key::row(key) => {
                    if cell.seq_id <= self.read_point {
                        self.unsettled = false;
                        return READY;
                    }
                }
                _ => return self.seek_to_row_before(key::row(key), src),
            }
            ready!(self.raw_next(src)?);
        }
    }

    /// Reversed scans: to the first visible cell of the last row.
    pub(super) fn seek_to_last_row(&mut self, src: &dyn BlockSource) -> Moved {
        let behind = match &mut self.cells {
            Kind::Segment(s) => {
                s.seek_to_last();
                s.peek().map(|cell| row_behind(cell.row()))
            }
            Kind::File(f) => f.file().last_key().map(|last| row_behind(key::row(last))),
        };
        match behind {
            Some(row) => self.seek_to_row_before(&row, src),
            None => READY,
        }
    }
}

/// The first row after `row`. A row has 32,767 bytes at most, so one more still fits the length field.
fn row_behind(row: &[u8]) -> Vec<u8> {
    let mut behind = Vec::with_capacity(row.len() + 1);
    behind.extend_from_slice(row);
    behind.push(0);
    behind
}
