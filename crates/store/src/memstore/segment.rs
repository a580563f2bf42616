//! A segment of the memstore: a sorted list of cells with what is known about all of them.

use super::skiplist::{Cursor, Inserter, SkipList, Visit};
use martite_cell::{CellRef, CellType, FlatCell, Order, TimeRange};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering as Mem};

/// Cells in memory. One segment of a memstore is active; the others are frozen and only read.
pub struct Segment {
    list: Arc<SkipList>,
    data_size: AtomicU64,
    min_timestamp: AtomicU64,
    max_timestamp: AtomicU64,
    min_seq_id: AtomicU64,
    max_seq_id: AtomicU64,
    oldest_edit_ms: AtomicU64,
    has_family_markers: AtomicBool,
}

impl Segment {
    pub fn new(order: Order) -> Segment {
        Segment {
            list: Arc::new(SkipList::new(order)),
            data_size: AtomicU64::new(0),
            min_timestamp: AtomicU64::new(u64::MAX),
            max_timestamp: AtomicU64::new(0),
            min_seq_id: AtomicU64::new(u64::MAX),
            max_seq_id: AtomicU64::new(0),
            oldest_edit_ms: AtomicU64::new(u64::MAX),
            has_family_markers: AtomicBool::new(false),
        }
    }

    /// Copies a cell in.
    pub fn add(&self, cell: &CellRef<'_>) {
        self.add_all([*cell]);
    }

    /// Copies cells in and returns the bytes that the data size grew by. Cheaper the nearer each is to the one before.
    pub fn add_all<'a>(&self, cells: impl IntoIterator<Item = CellRef<'a>>) -> u64 {
        let mut inserter = Inserter::new(&self.list);
        let mut added = 0;
        for cell in cells {
            self.widen(&cell);
            added += data_bytes(&cell);
            inserter.insert(&cell);
        }
        added
    }

    /// Before a cell is put in: whoever sees it also sees it counted.
    fn widen(&self, cell: &CellRef<'_>) {
        let timestamp = cell.timestamp();
        // A marker that covers all older versions touches every time before it (HBase: TimeRangeTracker).
        let type_code = cell.type_code();
        let covers_older = type_code == CellType::DeleteColumn as u8 || type_code == CellType::DeleteFamily as u8;
        if type_code == CellType::DeleteFamily as u8 || type_code == CellType::DeleteFamilyVersion as u8 {
            self.has_family_markers.store(true, Mem::Relaxed);
        }
        lower(&self.min_timestamp, if covers_older { 0 } else { timestamp });
        raise(&self.max_timestamp, timestamp);
        lower(&self.min_seq_id, cell.seq_id);
        raise(&self.max_seq_id, cell.seq_id);
        self.data_size.fetch_add(data_bytes(cell), Mem::Relaxed);
    }

    /// Notes that an edit came in at `now_ms`; only the first one counts.
    pub fn mark_edit(&self, now_ms: u64) {
        lower(&self.oldest_edit_ms, now_ms);
    }

    pub fn cell_count(&self) -> u64 {
        self.list.len() as u64
    }
    pub fn is_empty(&self) -> bool {
        self.list.len() == 0
    }
    /// Bytes of keys, values and tags.
    pub fn data_size(&self) -> u64 {
        self.data_size.load(Mem::Relaxed)
    }
    /// Bytes of memory that the cells take, links included.
    pub fn heap_size(&self) -> u64 {
        self.list.used_bytes()
    }
    /// Bytes of memory that were allocated for them: the heap size, and what the arena has in stock.
    pub fn allocated_bytes(&self) -> u64 {
        self.list.allocated_bytes()
    }
    /// Smallest and largest timestamp, both inclusive; none when empty.
    pub fn timestamps(&self) -> Option<(u64, u64)> {
        let (min, max) = (self.min_timestamp.load(Mem::Relaxed), self.max_timestamp.load(Mem::Relaxed));
        (min <= max).then_some((min, max))
    }
    /// Smallest and largest sequence id; none when empty.
    pub fn seq_ids(&self) -> Option<(u64, u64)> {
        let (min, max) = (self.min_seq_id.load(Mem::Relaxed), self.max_seq_id.load(Mem::Relaxed));
        (min <= max).then_some((min, max))
    }
    /// When the oldest edit came in, if it was marked.
    pub fn oldest_edit_ms(&self) -> Option<u64> {
        Some(self.oldest_edit_ms.load(Mem::Relaxed)).filter(|ms| *ms != u64::MAX)
    }
    /// Whether a DeleteFamily or DeleteFamilyVersion was added.
    pub fn has_family_markers(&self) -> bool {
        self.has_family_markers.load(Mem::Relaxed)
    }
    /// Whether a cell of `range` that has not expired by `oldest_unexpired` can be here.
    pub fn may_hold(&self, range: &TimeRange, oldest_unexpired: u64) -> bool {
        self.timestamps().is_some_and(|(min, max)| range.overlaps_inclusive(min, max) && max >= oldest_unexpired)
    }
    /// A cursor over the cells, on none of them yet.
    pub fn scanner(&self) -> SegmentScanner {
        SegmentScanner { cursor: Cursor::new(self.list.clone()), order: self.list.order(), in_row: false }
    }

    /// Whether a cell of the row is here, or may be: one is enough, whoever can see it.
    pub fn holds_row(&self, row: &[u8]) -> bool {
        !self.is_empty() && self.list.holds_row(row)
    }

    /// A cursor at the first cell of a row, whose first seek is for a key in that row; none if the row is not here.
    pub fn row_scanner(&self, row: &[u8]) -> Option<SegmentScanner> {
        let mut scanner = SegmentScanner { in_row: true, ..self.scanner() };
        scanner.cursor.seek_to_row(row).then_some(scanner)
    }
}

fn lower(bound: &AtomicU64, to: u64) {
    if bound.load(Mem::Relaxed) > to {
        bound.fetch_min(to, Mem::Relaxed);
    }
}

fn raise(bound: &AtomicU64, to: u64) {
    if bound.load(Mem::Relaxed) < to {
        bound.fetch_max(to, Mem::Relaxed);
    }
}

/// What a cell adds to the data size.
pub fn data_bytes(cell: &CellRef<'_>) -> u64 {
    (cell.key_value_len() + cell.tags.len()) as u64
}

/// A cursor over one segment; cells added meanwhile may or may not be seen.
pub struct SegmentScanner {
    cursor: Cursor,
    order: Order,
    /// It stands at the start of the row that it will be sent to.
    in_row: bool,
}

impl SegmentScanner {
    #[inline]
    pub fn peek(&self) -> Option<CellRef<'_>> {
        self.cursor.peek()
    }
    #[inline]
    pub fn next(&mut self) {
        self.cursor.next();
    }
    /// Shows the current cell and those after it to `visit`, until that takes none or the last.
    #[inline]
    pub(crate) fn run<'s>(&'s mut self, visit: impl FnMut(FlatCell<'s>) -> Visit) {
        self.cursor.run(visit);
    }
    pub fn seek_to_first(&mut self) {
        self.cursor.seek_to_first();
    }
    pub fn seek_to_last(&mut self) {
        self.cursor.seek_to_last();
    }
    /// To the first cell not before `key`.
    pub fn seek(&mut self, key: &[u8]) {
        if std::mem::take(&mut self.in_row) { self.reseek(key) } else { self.cursor.seek(key) }
    }
    /// As `seek`, unless the cursor is at that cell or past it. A search from the top of the list, however near that is: runs
    /// and the merge have stepped a few cells already. Whether links from the current cell are better is not measured.
    pub fn reseek(&mut self, key: &[u8]) {
        if self.cursor.peek().is_some_and(|cell| self.order.keys(cell.key, key).is_lt()) {
            self.cursor.seek(key);
        }
    }
    /// To the last cell before `key`; false when there is none.
    pub fn seek_before(&mut self, key: &[u8]) -> bool {
        self.cursor.seek_before(key)
    }
}
