//! Cache of decoded file blocks, bounded by their bytes; what a block is, is the caller's affair.
//!
//! ```text
//! get   file's table ── offset ──▶ slot: block, heat           no lock, nothing that other readers write
//! keep  one lock: slot, queues, usage                          once for each block that came from disk
//!
//!           new ──▶ | small, a tenth of the cache | ──▶ | main | ──▶ out     data blocks
//!                     read twice there: to main           read since: round again
//!                     else out, and remembered: when it comes back, it goes to main
//!           new ──▶ | meta, up to half of the cache | ──▶ out               indexes, bloom filters
//!           new ──▶ | in memory, up to a quarter | ──▶ out                  data of IN_MEMORY families
//! ```
//! The parts are those of a full cache; while there is room, every block stays. The policy is S3-FIFO: a scan that reads each block once passes through the small queue, and what is read again and
//! again stays. Blocks are shared by reference count: an evicted one lives on with whoever holds it. Data blocks that go
//! out, or to main, are offered to the [`tier`] below, if there is one, and before a stop those that are here.
#![forbid(unsafe_code)]

pub mod budget;
mod flight;
#[cfg(test)]
mod policy_scripts;
mod queues;
mod stats;
mod table;
#[cfg(test)]
mod tests;
pub mod tier;

use flight::Flights;
use parking_lot::{Mutex, RwLock};
use queues::{Out, Queues};
use stats::{Counters, LookUps};
pub use stats::{KindStats, Stats};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use table::Table;
use tier::Tier;

/// Identity of an open file and the block's offset in it.
pub type Key = (u64, u64);

/// What an entry costs besides its value: slot, queue item, reference counts.
pub const ENTRY_BYTES: u64 = 96;

/// How much a block is wanted, by what was read so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Heat(u8);

/// What a block holds; as HBase counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Data,
    Index,
    Bloom,
    Meta,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Data, Kind::Index, Kind::Bloom, Kind::Meta];
}

/// Blocks of one kind that are in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    pub blocks: u64,
    /// With what the cache itself needs for them.
    pub bytes: u64,
}

/// By [`Kind`], in the order of [`Kind::ALL`].
pub type Usage = [Used; 4];

/// A cache of shared values bounded by their bytes.
pub struct BlockCache<V> {
    files: RwLock<HashMap<u64, Arc<FileBlocks<V>>, foldhash::fast::RandomState>>,
    shared: Arc<Shared<V>>,
}

/// The cached blocks of one file.
pub struct FileBlocks<V> {
    id: u64,
    table: Arc<Table<V>>,
    flights: Flights,
    in_memory: AtomicBool,
    shared: Arc<Shared<V>>,
}

struct Shared<V> {
    queues: Mutex<Queues<V>>,
    look_ups: LookUps,
    /// Heap bytes of a value.
    weigh: fn(&V) -> usize,
    tier: Option<Arc<Tier<V>>>,
}

impl<V: Send + Sync + 'static> Shared<V> {
    /// Behind the lock.
    fn let_go(&self, out: Vec<Out<V>>) {
        let Some(tier) = &self.tier else { return };
        for Out { value, below } in out {
            if let Some((file, offset)) = below {
                tier.offer(file, offset, &value);
            }
        }
    }
}

impl<V: Send + Sync + 'static> BlockCache<V> {
    /// `weigh` gives the heap bytes of a value, e.g. `Block::heap_size`.
    pub fn new(capacity_bytes: u64, weigh: fn(&V) -> usize) -> BlockCache<V> {
        BlockCache::above(None, capacity_bytes, weigh)
    }

    /// As `new`; data blocks that leave are offered to `tier`.
    pub fn above(tier: Option<Arc<Tier<V>>>, capacity_bytes: u64, weigh: fn(&V) -> usize) -> BlockCache<V> {
        let queues = Mutex::new(Queues::new(capacity_bytes));
        let shared = Arc::new(Shared { queues, look_ups: LookUps::default(), weigh, tier });
        BlockCache { files: RwLock::default(), shared }
    }

    pub fn tier(&self) -> Option<&Arc<Tier<V>>> {
        self.shared.tier.as_ref()
    }

    /// Copies the data blocks that are in memory into the tier, the most wanted first, and waits for it: before a stop.
    pub fn hand_down(&self) {
        let Some(tier) = self.tier() else { return };
        let files: Vec<_> = self.files.read().values().cloned().collect();
        let mut blocks = Vec::new();
        for file in &files {
            let of_file = file.table.blocks(|slot| slot.is_of(Kind::Data).then(|| queues::heat_of(slot)));
            blocks.extend(of_file.into_iter().filter_map(|(offset, heat)| Some((heat?, file, offset))));
        }
        blocks.sort_by_key(|(heat, ..)| std::cmp::Reverse(*heat));
        tier.take_all(blocks.into_iter().filter_map(|(_, file, offset)| Some((file.id, offset, file.peek(offset)?))));
    }

    /// The blocks of a file: for those who look up many of them.
    pub fn file(&self, id: u64) -> Arc<FileBlocks<V>> {
        if let Some(file) = self.files.read().get(&id) {
            return file.clone();
        }
        let new = || {
            let (flights, in_memory) = (Flights::default(), AtomicBool::new(false));
            let table = Arc::new(Table::new(id));
            Arc::new(FileBlocks { id, table, flights, in_memory, shared: self.shared.clone() })
        };
        self.files.write().entry(id).or_insert_with(new).clone()
    }

    fn known_file(&self, id: u64) -> Option<Arc<FileBlocks<V>>> {
        self.files.read().get(&id).cloned()
    }

    /// See [`FileBlocks::get`].
    pub fn get(&self, key: &Key, kind: Kind) -> Option<Arc<V>> {
        self.file(key.0).get(key.1, kind)
    }

    /// See [`FileBlocks::peek`].
    pub fn peek(&self, key: &Key) -> Option<Arc<V>> {
        self.known_file(key.0)?.peek(key.1)
    }

    /// See [`FileBlocks::insert`].
    pub fn insert(&self, key: Key, kind: Kind, value: Arc<V>) {
        self.file(key.0).insert(key.1, kind, value);
    }

    pub fn remove(&self, key: &Key) {
        let Some(file) = self.known_file(key.0) else { return };
        let _removed = self.shared.queues.lock().remove(&file, key.1);
    }

    /// Drops every block of a file.
    pub fn remove_file(&self, id: u64) {
        let Some(file) = self.known_file(id) else { return };
        let _removed = self.shared.queues.lock().remove_all(&file);
    }

    /// Drops every block of a file, and the place where more would be kept: nobody will read it again.
    pub fn close_file(&self, id: u64) {
        let Some(file) = self.files.write().remove(&id) else { return };
        let _removed = self.shared.queues.lock().remove_all(&file);
    }

    /// Offsets of the cached blocks of a file, ascending.
    pub fn cached_offsets(&self, id: u64) -> Vec<u64> {
        self.cached_blocks(id).into_iter().map(|(offset, _)| offset).collect()
    }

    /// The cached blocks of a file, ascending, and how much each of them is wanted: for blocks that are to take their place.
    pub fn cached_blocks(&self, id: u64) -> Vec<(u64, Heat)> {
        self.known_file(id).map(|file| file.table.blocks(queues::heat_of)).unwrap_or_default()
    }

    /// Bytes of all cached blocks.
    pub fn usage_bytes(&self) -> u64 {
        self.shared.queues.lock().usage_bytes()
    }

    /// The cached blocks of each file that has some.
    pub fn usage_by_file(&self) -> Vec<(u64, Usage)> {
        let files: Vec<_> = self.files.read().values().cloned().collect();
        let usage = files.iter().map(|file| (file.id, file.table.usage()));
        usage.filter(|(_, usage)| usage.iter().any(|of_kind| of_kind.blocks > 0)).collect()
    }

    /// Number of cached blocks.
    pub fn len(&self) -> usize {
        self.shared.queues.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.shared.queues.lock().capacity_bytes()
    }

    /// Evicts at once when smaller.
    pub fn set_capacity(&self, capacity_bytes: u64) {
        let evicted = self.shared.queues.lock().set_capacity(capacity_bytes);
        self.shared.let_go(evicted);
    }

    pub fn stats(&self) -> Stats {
        let counters: Counters = self.shared.queues.lock().counters();
        self.shared.look_ups.stats(counters)
    }
}

impl<V: Send + Sync + 'static> FileBlocks<V> {
    /// The block at `offset`, if cached; counts a hit or a miss.
    #[inline]
    pub fn get(&self, offset: u64, kind: Kind) -> Option<Arc<V>> {
        let found = self.table.get(offset);
        self.shared.look_ups.count(kind, found.is_some());
        found
    }

    /// The block at `offset` will be asked for: asks for the memory in which it lies.
    #[inline]
    pub fn announce(&self, offset: u64) {
        self.table.announce(offset);
    }

    /// As `get`, for a block that is only looked at: those that all readers need are not counted in and out by each.
    #[inline]
    pub fn look_at(&self, offset: u64, kind: Kind, look: impl FnOnce(&V)) {
        let found = self.table.look_at(offset, look);
        self.shared.look_ups.count(kind, found);
    }

    /// As `get`, without counting and without making the block more likely to stay.
    pub fn peek(&self, offset: u64) -> Option<Arc<V>> {
        self.table.peek(offset)
    }

    /// Data blocks that come from now on stay longer than those of other files (HBase: IN_MEMORY).
    pub fn set_in_memory(&self, in_memory: bool) {
        self.in_memory.store(in_memory, Ordering::Relaxed);
    }

    /// The block at `offset` has taken the place of one that was wanted so much, and is wanted at least as much.
    pub fn inherit(&self, offset: u64, Heat(heat): Heat) {
        if let Some(slot) = self.table.slot(offset).filter(|slot| slot.heat() < heat) {
            slot.set_heat(heat);
        }
    }

    /// A value that does not fit at all is dropped at once.
    pub fn insert(self: &Arc<Self>, offset: u64, kind: Kind, value: Arc<V>) {
        let weight = (self.shared.weigh)(&value) as u64 + ENTRY_BYTES;
        let evicted = self.shared.queues.lock().insert(self, offset, kind, value, weight);
        self.shared.let_go(evicted);
    }

    /// The block; one caller loads it while others of the same block wait.
    pub fn get_or_load<E>(
        self: &Arc<Self>,
        offset: u64,
        kind: Kind,
        load: impl FnOnce() -> Result<Arc<V>, E>,
    ) -> Result<Arc<V>, E> {
        if let Some(value) = self.table.get(offset) {
            self.shared.look_ups.count(kind, true);
            return Ok(value);
        }
        let _landing = self.flights.take_off(offset);
        // Somebody else may have brought it meanwhile.
        if let Some(value) = self.table.get(offset) {
            self.shared.look_ups.count(kind, true);
            return Ok(value);
        }
        self.shared.look_ups.count(kind, false);
        let value = load()?;
        self.insert(offset, kind, value.clone());
        Ok(value)
    }
}
