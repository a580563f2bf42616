//! The memstore: writes that are not in a file yet (placeholder; the types others build against).
#![allow(clippy::todo)]

use martite_cell::{CellRef, Order};
use std::sync::Arc;

/// Sorted cells in memory: one active segment, and a frozen one while it is being flushed.
pub struct MemStore {}

/// One sorted run of a memstore.
pub struct Segment {}

impl MemStore {
    pub fn new(_order: Order) -> MemStore {
        todo!()
    }
    /// Adds a cell; any thread, concurrently.
    pub fn add(&self, _cell: &CellRef<'_>) {
        todo!()
    }
    pub fn data_size(&self) -> u64 {
        todo!()
    }
    pub fn heap_size(&self) -> u64 {
        todo!()
    }
    pub fn cell_count(&self) -> u64 {
        todo!()
    }
    /// Freezes the active segment; it stays readable until [`MemStore::drop_snapshot`].
    pub fn snapshot(&self) -> Arc<Segment> {
        todo!()
    }
    pub fn drop_snapshot(&self) {
        todo!()
    }
    pub fn segments(&self) -> Vec<Arc<Segment>> {
        todo!()
    }
    pub fn oldest_edit_ms(&self) -> Option<u64> {
        todo!()
    }
}
