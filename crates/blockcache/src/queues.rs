//! [`Queues`]: which blocks stay. Everything here happens under the cache's lock, once for each block that comes or goes.

use crate::stats::Counters;
use crate::table::{Slot, Table};
use crate::{FileBlocks, Heat, Key, Kind};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// New data blocks have this part of the cache, at least.
const SMALL_PART: u64 = 10;
/// Indexes and bloom filters have this part of the cache, at most.
const META_PART: u64 = 2;
/// Data of families that are to be in memory has this part, before others.
const IN_MEMORY_PART: u64 = 4;
/// Read so often in the small queue, a block is worth keeping.
const WORTH_KEEPING: u8 = 2;
/// So many stale items are left where they are.
const STALE_ITEMS: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Small,
    Main,
    Meta,
    InMemory,
}

impl Place {
    fn of(number: u8) -> Place {
        [Place::Small, Place::Main, Place::Meta, Place::InMemory][number as usize % 4]
    }
}

/// How much a block is wanted: one that has proved worth keeping has the same from the start in whatever takes its place.
pub(crate) fn heat_of<V>(slot: &Slot<V>) -> Heat {
    let proved = if Place::of(slot.place()) == Place::Main { WORTH_KEEPING } else { 0 };
    Heat(slot.heat().max(proved))
}

/// A block's turn. Stale when the slot has another stamp.
struct Item<V> {
    table: Arc<Table<V>>,
    offset: u64,
    stamp: u32,
}

struct Queue<V> {
    items: VecDeque<Item<V>>,
    bytes: u64,
}

pub(crate) struct Queues<V> {
    /// By [`Place`].
    queues: [Queue<V>; 4],
    capacity_bytes: u64,
    /// Blocks that are here.
    live: usize,
    inserts: u64,
    evictions: u64,
    /// Evictions from the small queue; also the number of the last one.
    passed: u32,
}

/// A block that is out of the cache, to be dropped behind the lock, or wanted below as well.
pub(crate) struct Out<V> {
    pub(crate) value: Arc<V>,
    /// Data that the tier below should have: it had to make room for others, or is worth keeping, and would be missed after a
    /// crash.
    pub(crate) below: Option<Key>,
}

type Evicted<V> = Vec<Out<V>>;

fn replaced<V>(value: Arc<V>) -> Out<V> {
    Out { value, below: None }
}

impl<V> Queues<V> {
    pub(crate) fn new(capacity_bytes: u64) -> Queues<V> {
        let queue = || Queue { items: VecDeque::new(), bytes: 0 };
        let queues = [queue(), queue(), queue(), queue()];
        Queues { queues, capacity_bytes, live: 0, inserts: 0, evictions: 0, passed: 0 }
    }

    pub(crate) fn usage_bytes(&self) -> u64 {
        self.queues.iter().map(|queue| queue.bytes).sum()
    }
    pub(crate) fn len(&self) -> usize {
        self.live
    }
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }
    pub(crate) fn counters(&self) -> Counters {
        Counters { inserts: self.inserts, evictions: self.evictions }
    }

    pub(crate) fn set_capacity(&mut self, capacity_bytes: u64) -> Evicted<V> {
        self.capacity_bytes = capacity_bytes;
        let mut evicted = Vec::new();
        self.evict(&mut evicted);
        evicted
    }

    pub(crate) fn insert(
        &mut self,
        file: &FileBlocks<V>,
        offset: u64,
        kind: Kind,
        value: Arc<V>,
        weight: u64,
    ) -> Evicted<V> {
        self.inserts += 1;
        let mut evicted: Evicted<V> = self.remove(file, offset).map(replaced).into_iter().collect();
        let place = match kind {
            Kind::Data if file.in_memory.load(Relaxed) => Place::InMemory,
            Kind::Data if self.left_lately(&file.table, offset) => Place::Main,
            Kind::Data => Place::Small,
            Kind::Index | Kind::Bloom | Kind::Meta => Place::Meta,
        };
        let (Ok(small_enough), true) = (u32::try_from(weight), self.has_room_for(place, weight)) else {
            evicted.push(replaced(value));
            return evicted;
        };
        if place == Place::InMemory {
            evicted.push(Out { value: value.clone(), below: Some((file.id, offset)) });
        }
        let stamp = file.table.put(offset, value, small_enough, (place as u8, kind));
        let queue = &mut self.queues[place as usize];
        queue.items.push_back(Item { table: file.table.clone(), offset, stamp });
        queue.bytes += weight;
        self.live += 1;
        self.evict(&mut evicted);
        evicted
    }

    pub(crate) fn remove(&mut self, file: &FileBlocks<V>, offset: u64) -> Option<Arc<V>> {
        let slot = file.table.slot(offset)?;
        let (value, weight) = file.table.take(&slot)?;
        self.account_removed(Place::of(slot.place()), weight);
        self.drop_stale_items();
        Some(value)
    }

    pub(crate) fn remove_all(&mut self, file: &FileBlocks<V>) -> Evicted<V> {
        let mut removed = Vec::new();
        for slot in file.table.slots() {
            if let Some((value, weight)) = file.table.take(&slot) {
                self.account_removed(Place::of(slot.place()), weight);
                removed.push(replaced(value));
            }
        }
        self.drop_stale_items();
        removed
    }

    fn account_removed(&mut self, place: Place, weight: u64) {
        self.queues[place as usize].bytes -= weight;
        self.live -= 1;
    }

    /// Not for what would displace all others of its queue, and then have to go itself.
    fn has_room_for(&self, place: Place, weight: u64) -> bool {
        let part = match place {
            Place::Meta => META_PART,
            Place::InMemory => IN_MEMORY_PART,
            Place::Small | Place::Main => 1,
        };
        weight <= self.capacity_bytes / part || self.usage_bytes() + weight <= self.capacity_bytes
    }

    /// Whether the block was put out of the small queue not longer ago than a cache's worth of blocks.
    fn left_lately(&self, table: &Table<V>, offset: u64) -> bool {
        let evicted = table.slot(offset).map_or(0, |slot| slot.evicted());
        evicted != 0 && self.passed.wrapping_sub(evicted) as usize <= self.live
    }

    fn evict(&mut self, evicted: &mut Evicted<V>) {
        while self.usage_bytes() > self.capacity_bytes
            && let Some(place) = self.place_to_evict_from()
        {
            evicted.extend(self.evict_from(place));
        }
    }

    fn place_to_evict_from(&self) -> Option<Place> {
        let bytes = |place: Place| self.queues[place as usize].bytes;
        let (small, main, meta) = (bytes(Place::Small), bytes(Place::Main), bytes(Place::Meta));
        let in_memory = bytes(Place::InMemory);
        if meta > self.capacity_bytes / META_PART {
            return Some(Place::Meta);
        }
        if in_memory > self.capacity_bytes / IN_MEMORY_PART {
            return Some(Place::InMemory);
        }
        if small > 0 && (small > self.capacity_bytes / SMALL_PART || main == 0) {
            return Some(Place::Small);
        }
        let others = [(main, Place::Main), (in_memory, Place::InMemory), (meta, Place::Meta)];
        others.into_iter().find(|(bytes, _)| *bytes > 0).map(|(_, place)| place)
    }

    /// One turn of a queue: its first block goes, or stays and goes to the end of a queue.
    fn evict_from(&mut self, place: Place) -> Option<Out<V>> {
        let item = self.queues[place as usize].items.pop_front()?;
        let slot = item.table.slot(item.offset).filter(|slot| slot.is_at(item.stamp))?;
        let heat = slot.heat();
        let stays_in = match place {
            Place::Small => (heat >= WORTH_KEEPING).then_some((Place::Main, 0)),
            Place::Main | Place::Meta | Place::InMemory => heat.checked_sub(1).map(|less| (place, less)),
        };
        if let Some((to, heat)) = stays_in {
            slot.set_heat(heat);
            slot.set_place(to as u8);
            let weight = slot.weight();
            self.queues[place as usize].bytes -= weight;
            self.queues[to as usize].bytes += weight;
            let proved = place == Place::Small;
            let value = proved.then(|| item.table.peek(item.offset)).flatten();
            let below = Some((item.table.file, item.offset));
            drop(slot);
            self.queues[to as usize].items.push_back(item);
            return value.map(|value| Out { value, below });
        }
        if place == Place::Small {
            // 0 says "never".
            self.passed = self.passed.wrapping_add(1).max(1);
            slot.set_evicted(self.passed);
        }
        let (value, weight) = item.table.take(&slot)?;
        self.account_removed(place, weight);
        self.evictions += 1;
        Some(Out { value, below: (place != Place::Meta).then_some((item.table.file, item.offset)) })
    }

    fn drop_stale_items(&mut self) {
        let items: usize = self.queues.iter().map(|queue| queue.items.len()).sum();
        if items > 2 * self.live + STALE_ITEMS {
            for queue in &mut self.queues {
                queue.items.retain(|item| item.table.slot(item.offset).is_some_and(|slot| slot.is_at(item.stamp)));
                queue.items.shrink_to_fit();
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn items(&self) -> usize {
        self.queues.iter().map(|queue| queue.items.len()).sum()
    }

    /// By [`Place`]: the bytes of each queue, and its blocks in the order of their turns, with their heat.
    #[cfg(test)]
    pub(crate) fn listed(&self) -> [(u64, Vec<(Key, u8)>); 4] {
        self.queues.each_ref().map(|queue| {
            let here = queue.items.iter().filter_map(|item| {
                let slot = item.table.slot(item.offset).filter(|slot| slot.is_at(item.stamp))?;
                Some(((item.table.file, item.offset), slot.heat()))
            });
            (queue.bytes, here.collect())
        })
    }
}
