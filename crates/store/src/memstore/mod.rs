//! The memstore: what was written and not yet flushed.
//!
//! ```text
//! add ──► active segment ──snapshot()──► frozen segment ──flush──► HFile ──drop_snapshot()──► gone
//!              ▲ read                        ▲ read                    ▲ read
//! ```
//!
//! A reader takes the segments as they are and keeps them alive; what is written later has a newer sequence id than the
//! reader's read point, so it does not matter whether the reader meets it.

mod arena;
mod row_index;
mod segment;
mod skiplist;

pub use segment::{Segment, SegmentScanner, data_bytes};
pub(crate) use skiplist::Visit;

use martite_cell::{CellRef, Order};
use parking_lot::RwLock;
use smallvec::SmallVec;
use std::sync::Arc;

struct Segments {
    active: Arc<Segment>,
    snapshot: Option<Arc<Segment>>,
}

impl Segments {
    fn iter(&self) -> impl Iterator<Item = &Arc<Segment>> {
        std::iter::once(&self.active).chain(&self.snapshot)
    }
}

/// One family's cells in memory.
pub struct MemStore {
    order: Order,
    /// Writers hold the read lock while they insert: a frozen segment has no writers.
    segments: RwLock<Segments>,
}

impl MemStore {
    pub fn new(order: Order) -> MemStore {
        let segments = Segments { active: Arc::new(Segment::new(order)), snapshot: None };
        MemStore { order, segments: RwLock::new(segments) }
    }

    /// Copies a cell in, from any thread.
    pub fn add(&self, cell: &CellRef<'_>) {
        self.segments.read().active.add(cell);
    }

    /// Copies cells in and returns the bytes that the data size grew by. `now_ms` is when the edit came in.
    pub fn add_all<'a>(&self, cells: impl IntoIterator<Item = CellRef<'a>>, now_ms: u64) -> u64 {
        let segments = self.segments.read();
        let added = segments.active.add_all(cells);
        if added > 0 {
            segments.active.mark_edit(now_ms);
        }
        added
    }

    /// Notes when an edit came in, for the periodic flush.
    pub fn mark_edit(&self, now_ms: u64) {
        self.segments.read().active.mark_edit(now_ms);
    }

    /// Freezes the active segment and starts a new one; the frozen one stays readable until [`Self::drop_snapshot`].
    /// While a snapshot is there (its flush failed), it is returned again and the active segment stays.
    pub fn snapshot(&self) -> Arc<Segment> {
        let mut segments = self.segments.write();
        if let Some(snapshot) = &segments.snapshot {
            return snapshot.clone();
        }
        let frozen = std::mem::replace(&mut segments.active, Arc::new(Segment::new(self.order)));
        segments.snapshot = Some(frozen.clone());
        frozen
    }

    /// Forgets the snapshot, once its file is readable.
    pub fn drop_snapshot(&self) {
        self.segments.write().snapshot = None;
    }

    /// The segments that have cells, newest first.
    pub fn segments(&self) -> SmallVec<[Arc<Segment>; 2]> {
        self.segments.read().iter().filter(|s| !s.is_empty()).cloned().collect()
    }

    pub fn is_empty(&self) -> bool {
        self.segments.read().iter().all(|s| s.is_empty())
    }
    /// Cells of all segments.
    pub fn cell_count(&self) -> u64 {
        self.segments.read().iter().map(|s| s.cell_count()).sum()
    }
    /// Bytes of keys, values and tags in all segments.
    pub fn data_size(&self) -> u64 {
        self.segments.read().iter().map(|s| s.data_size()).sum()
    }
    /// Bytes of memory that the cells of all segments take.
    pub fn heap_size(&self) -> u64 {
        self.segments.read().iter().map(|s| s.heap_size()).sum()
    }
    /// Bytes of memory allocated by all segments.
    pub fn allocated_bytes(&self) -> u64 {
        self.segments.read().iter().map(|s| s.allocated_bytes()).sum()
    }
    /// As [`Self::data_size`], of the active segment: what a flush started now would write.
    pub fn active_data_size(&self) -> u64 {
        self.segments.read().active.data_size()
    }
    /// As [`Self::data_size`], of the snapshot.
    pub fn snapshot_data_size(&self) -> u64 {
        self.segments.read().snapshot.as_ref().map_or(0, |s| s.data_size())
    }
    /// When the oldest edit of the active segment came in.
    pub fn oldest_edit_ms(&self) -> Option<u64> {
        self.segments.read().active.oldest_edit_ms()
    }
    /// Smallest and largest timestamp of all segments, both inclusive.
    pub fn time_range(&self) -> Option<(u64, u64)> {
        let segments = self.segments.read();
        segments.iter().filter_map(|s| s.timestamps()).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
    /// Smallest sequence id of all segments.
    pub fn min_seq_id(&self) -> Option<u64> {
        self.segments.read().iter().filter_map(|s| s.seq_ids()).map(|(min, _)| min).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_cell::{CellType, OwnedCell, TimeRange, key};

    fn put(row: &[u8], ts: u64) -> OwnedCell {
        OwnedCell::put(row, b"f", b"q", ts, b"value")
    }

    #[test]
    fn a_snapshot_stays_readable_until_it_is_dropped() {
        let memstore = MemStore::new(Order::Default);
        assert!(memstore.segments().is_empty());
        memstore.add(&put(b"a", 10).as_ref());
        let frozen = memstore.snapshot();
        memstore.add(&put(b"b", 20).as_ref());
        assert_eq!(memstore.segments().len(), 2);
        assert_eq!(memstore.cell_count(), 2);
        assert!(Arc::ptr_eq(&frozen, &memstore.snapshot()), "a second snapshot waits for the first");
        assert_eq!(memstore.active_data_size(), data_bytes(&put(b"b", 20).as_ref()));
        memstore.drop_snapshot();
        assert_eq!((memstore.cell_count(), frozen.cell_count()), (1, 1));
        assert_eq!(memstore.time_range(), Some((20, 20)));
    }

    #[test]
    fn sizes_are_those_of_the_cells() {
        let memstore = MemStore::new(Order::Default);
        let cells: Vec<_> = (0..10).map(|i| put(b"row", i)).collect();
        let added = memstore.add_all(cells.iter().map(|c| c.as_ref()), 777);
        let expected: u64 = cells.iter().map(|c| 8 + c.len_bytes() as u64).sum();
        assert_eq!((added, memstore.data_size()), (expected, expected));
        assert_eq!(memstore.oldest_edit_ms(), Some(777));
        memstore.mark_edit(900);
        assert_eq!(memstore.oldest_edit_ms(), Some(777));
        assert!(memstore.heap_size() >= expected);
    }

    #[test]
    fn a_marker_over_older_versions_widens_the_time_range_to_zero() {
        let segment = Segment::new(Order::Default);
        segment.add(&put(b"a", 50).as_ref());
        assert!(!segment.may_hold(&TimeRange::new(0, 40), 0));
        let marker = key::flat_key(b"a", b"f", b"q", 45, CellType::DeleteColumn as u8);
        segment.add(&OwnedCell::new(&marker, &[], &[], 1).as_ref());
        assert_eq!(segment.timestamps(), Some((0, 50)));
        assert!(segment.may_hold(&TimeRange::new(0, 40), 0));
        assert!(!segment.may_hold(&TimeRange::ALL, 51));
    }
}
