//! Weighted cache of file blocks by `(file, offset)`; what a block is, is the caller's affair.
#![forbid(unsafe_code)]

use std::sync::Arc;

/// Identity of an open file and the block's offset in it.
pub type Key = (u64, u64);

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
    pub inserts: u64,
}

/// A cache of shared values bounded by their bytes.
pub struct BlockCache<V> {
    _v: std::marker::PhantomData<fn() -> V>,
}

impl<V: Send + Sync + 'static> BlockCache<V> {
    /// `weigh` gives the heap bytes of a value, e.g. `Block::heap_size`.
    pub fn new(_capacity_bytes: u64, _weigh: fn(&V) -> usize) -> BlockCache<V> {
        todo!()
    }
    /// The value, if cached; counts a hit or a miss.
    pub fn get(&self, _key: &Key) -> Option<Arc<V>> {
        todo!()
    }
    /// As `get`, without counting and without making the value more likely to stay.
    pub fn peek(&self, _key: &Key) -> Option<Arc<V>> {
        todo!()
    }
    pub fn insert(&self, _key: Key, _value: Arc<V>) {
        todo!()
    }
    /// The value; one caller loads it while others of the same key wait.
    pub fn get_or_load<E>(&self, _key: &Key, _load: impl FnOnce() -> Result<Arc<V>, E>) -> Result<Arc<V>, E> {
        todo!()
    }
    pub fn remove(&self, _key: &Key) {
        todo!()
    }
    /// Drops every block of a file.
    pub fn remove_file(&self, _file: u64) {
        todo!()
    }
    /// Offsets of the cached blocks of a file, ascending.
    pub fn cached_offsets(&self, _file: u64) -> Vec<u64> {
        todo!()
    }
    pub fn usage_bytes(&self) -> u64 {
        todo!()
    }
    /// Number of cached blocks.
    pub fn len(&self) -> usize {
        todo!()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn capacity_bytes(&self) -> u64 {
        todo!()
    }
    /// Evicts at once when smaller.
    pub fn set_capacity(&self, _capacity_bytes: u64) {
        todo!()
    }
    pub fn stats(&self) -> Stats {
        todo!()
    }
}
