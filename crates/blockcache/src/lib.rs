//! Weighted cache of file blocks by `(file, offset)`; what a block is, is the caller's affair.
//!
//! Clock-PRO (quick_cache): a scan that touches every block once does not push out the blocks that are read again and
//! again. Values are shared by reference count, so an evicted block lives on with whoever holds it.
#![forbid(unsafe_code)]

mod files;
mod stats;

use files::Files;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter, sync::Cache};
use stats::Counters;
pub use stats::Stats;
use std::sync::Arc;

/// Identity of an open file and the block's offset in it.
pub type Key = (u64, u64);

/// Bytes that an entry costs besides its value: map slot, key, list of the file's blocks.
const ENTRY_BYTES: u64 = 128;
/// What a block usually weighs; shards and ghost entries are sized by it.
const USUAL_BLOCK_BYTES: u64 = 64 << 10;

/// A cache of shared values bounded by their bytes.
pub struct BlockCache<V> {
    blocks: Cache<Key, Arc<V>, Weigh<V>, foldhash::fast::RandomState, Evictions>,
    files: Arc<Files>,
    counters: Arc<Counters>,
}

impl<V: Send + Sync + 'static> BlockCache<V> {
    /// `weigh` gives the heap bytes of a value, e.g. `Block::heap_size`.
    pub fn new(capacity_bytes: u64, weigh: fn(&V) -> usize) -> BlockCache<V> {
        let items = (capacity_bytes / USUAL_BLOCK_BYTES).max(32) as usize;
        let mut options = OptionsBuilder::new();
        options.estimated_items_capacity(items).weight_capacity(capacity_bytes);
        let (files, counters) = (Arc::new(Files::default()), Arc::new(Counters::default()));
        let evictions = Evictions { files: files.clone(), counters: counters.clone() };
        let blocks = match options.build() {
            Ok(options) => Cache::with_options(options, Weigh(weigh), Default::default(), evictions),
            // Only a missing option can fail, and both are set.
            Err(_) => Cache::with(items, capacity_bytes, Weigh(weigh), Default::default(), evictions),
        };
        BlockCache { blocks, files, counters }
    }

    /// The value, if cached; counts a hit or a miss.
    #[inline]
    pub fn get(&self, key: &Key) -> Option<Arc<V>> {
        let found = self.blocks.get(key);
        self.counters.lookup(key, found.is_some());
        found
    }

    /// As `get`, without counting and without making the value more likely to stay.
    pub fn peek(&self, key: &Key) -> Option<Arc<V>> {
        self.blocks.peek(key)
    }

    /// A value that does not fit at all is dropped at once.
    pub fn insert(&self, key: Key, value: Arc<V>) {
        self.counters.insert();
        // Listed before it is cached, so that an eviction finds the entry that it has to unlist.
        self.files.add(key);
        self.blocks.insert(key, value);
    }

    /// The value; one caller loads it while others of the same key wait.
    pub fn get_or_load<E>(&self, key: &Key, load: impl FnOnce() -> Result<Arc<V>, E>) -> Result<Arc<V>, E> {
        let mut hit = true;
        let value = self.blocks.get_or_insert_with(key, || {
            hit = false;
            let value = load()?;
            self.counters.insert();
            self.files.add(*key);
            Ok(value)
        });
        self.counters.lookup(key, hit);
        value
    }

    pub fn remove(&self, key: &Key) {
        self.blocks.remove(key);
        self.files.remove(key);
    }

    /// Drops every block of a file.
    pub fn remove_file(&self, file: u64) {
        for offset in self.files.take(file) {
            self.blocks.remove(&(file, offset));
        }
    }

    /// Offsets of the cached blocks of a file, ascending.
    pub fn cached_offsets(&self, file: u64) -> Vec<u64> {
        self.files.offsets(file)
    }

    pub fn usage_bytes(&self) -> u64 {
        self.blocks.weight()
    }

    /// Number of cached blocks.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.blocks.capacity()
    }

    /// Evicts at once when smaller.
    pub fn set_capacity(&self, capacity_bytes: u64) {
        self.blocks.set_capacity(capacity_bytes);
    }

    pub fn stats(&self) -> Stats {
        self.counters.read()
    }
}

struct Weigh<V>(fn(&V) -> usize);

impl<V> Clone for Weigh<V> {
    fn clone(&self) -> Self {
        Weigh(self.0)
    }
}

impl<V> Weighter<Key, Arc<V>> for Weigh<V> {
    fn weight(&self, _key: &Key, value: &Arc<V>) -> u64 {
        (self.0)(value) as u64 + ENTRY_BYTES
    }
}

#[derive(Clone)]
struct Evictions {
    files: Arc<Files>,
    counters: Arc<Counters>,
}

impl<V> Lifecycle<Key, V> for Evictions {
    /// Victims, dropped after the shard's lock is released.
    type RequestState = Vec<V>;

    fn on_evict(&self, victims: &mut Vec<V>, key: Key, value: V) {
        self.files.remove(&key);
        self.counters.evict();
        victims.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(capacity_bytes: u64) -> BlockCache<Vec<u8>> {
        BlockCache::new(capacity_bytes, |v| v.len())
    }

    #[test]
    fn usage_is_weighed_and_bounded() {
        let cache = cache(10 << 20);
        for i in 0..1000 {
            cache.insert((1, i), Arc::new(vec![0; 64 << 10]));
            assert!(cache.usage_bytes() <= 10 << 20);
        }
        let stats = cache.stats();
        assert_eq!(stats.inserts, 1000);
        assert_eq!(stats.evictions as usize, 1000 - cache.len());
        assert_eq!(cache.usage_bytes(), cache.len() as u64 * ((64 << 10) + ENTRY_BYTES));
        assert_eq!(cache.cached_offsets(1).len(), cache.len());
        cache.set_capacity(1 << 20);
        assert!(cache.usage_bytes() <= 1 << 20, "{}", cache.usage_bytes());
        assert_eq!(cache.cached_offsets(1).len(), cache.len());
    }

    #[test]
    fn hits_and_misses_are_counted_peeks_are_not() {
        let cache = cache(1 << 20);
        cache.insert((1, 0), Arc::new(vec![7]));
        assert_eq!(cache.get(&(1, 0)), Some(Arc::new(vec![7])));
        assert_eq!(cache.get(&(2, 0)), None);
        assert_eq!(cache.peek(&(1, 0)), Some(Arc::new(vec![7])));
        assert_eq!(cache.peek(&(2, 0)), None);
        assert_eq!(cache.stats(), Stats { hits: 1, misses: 1, evictions: 0, inserts: 1 });
    }

    #[test]
    fn a_file_is_dropped_alone() {
        let cache = cache(1 << 20);
        for file in 1..=2 {
            for offset in [30, 10, 20] {
                cache.insert((file, offset), Arc::new(vec![file as u8]));
            }
        }
        cache.remove(&(1, 20));
        assert_eq!(cache.cached_offsets(1), vec![10, 30]);
        cache.remove_file(1);
        assert_eq!((cache.len(), cache.cached_offsets(1)), (3, vec![]));
        assert_eq!(cache.get(&(1, 10)), None);
        assert!(cache.get(&(2, 10)).is_some());
        assert_eq!(cache.stats().evictions, 0);
    }

    #[test]
    fn one_loader_per_block_and_a_failed_load_leaves_nothing() {
        let cache = Arc::new(cache(1 << 20));
        let failed: Result<_, &str> = cache.get_or_load(&(1, 1), || Err("disk"));
        assert_eq!(failed, Err("disk"));
        let loads = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    let got: Result<_, ()> = cache.get_or_load(&(1, 1), || {
                        loads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        Ok(Arc::new(vec![1]))
                    });
                    assert_eq!(got, Ok(Arc::new(vec![1])));
                });
            }
        });
        assert_eq!(loads.into_inner(), 1);
        let stats = cache.stats();
        assert_eq!((stats.hits, stats.misses, stats.inserts), (3, 2, 1));
    }

    #[test]
    fn a_scan_does_not_push_out_what_is_read_again() {
        let cache = cache(8 << 20);
        let block = || Arc::new(vec![0; 64 << 10]);
        for _ in 0..5 {
            for i in 0..16 {
                if cache.get(&(1, i)).is_none() {
                    cache.insert((1, i), block());
                }
            }
        }
        for i in 0..10_000 {
            cache.insert((2, i), block());
        }
        let kept = (0..16).filter(|i| cache.peek(&(1, *i)).is_some()).count();
        assert!(kept >= 14, "{kept} of 16 are left");
    }

    #[test]
    fn a_value_larger_than_the_cache_is_not_kept() {
        let cache = cache(1 << 20);
        cache.insert((1, 1), Arc::new(vec![0; 2 << 20]));
        assert_eq!((cache.len(), cache.usage_bytes(), cache.cached_offsets(1)), (0, 0, vec![]));
    }
}
