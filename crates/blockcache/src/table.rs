//! [`Table`]: the blocks of one file by their offset, read without a lock.
//!
//! A slot belongs to one offset for good, whether the block is there or not: a file has so many blocks and no more. So
//! nothing is ever deleted, and a reader that still goes through a table which has just been replaced by a larger one
//! finds nothing wrong: blocks do not change. Whoever changes something holds the lock of the cache.
//!
//! Model checkers (loom, shuttle) only see the atomics of their own, and a slot's protocol is mostly that of `arc-swap`,
//! which has none of these: what would be checked is a copy without it. So threads do it, in `tests.rs`, with blocks that
//! say where they belong.

use crate::{Kind, Usage, Used};
use arc_swap::{ArcSwap, ArcSwapOption, Guard};
use martite_env::prefetch::prefetch_at;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};

/// More reads than that make no difference.
const MOST_HEAT: u8 = 3;
const FIRST_SLOTS: usize = 8;
const COUNTS_BYTES: usize = 2 * size_of::<usize>();

type Slots<V> = Box<[Slot<V>]>;

pub(crate) struct Table<V> {
    /// Identity of the open file.
    pub(crate) file: u64,
    slots: ArcSwap<Slots<V>>,
    taken: AtomicU32,
    /// Blocks that are here and their bytes, by [`Kind`].
    usage: [[AtomicU64; 2]; 4],
}

pub(crate) struct Slot<V> {
    /// The offset and one; 0: free.
    owner: AtomicU64,
    value: ArcSwapOption<V>,
    /// Where the block lies, or lay: to ask for its memory, no more.
    address: AtomicPtr<V>,
    /// How often it was read since it came or was last passed over.
    heat: AtomicU8,
    /// Which queue it is in.
    place: AtomicU8,
    /// What it holds.
    kind: AtomicU8,
    /// How often a block was put here: tells the items in the queues that are about it from those that are stale.
    stamp: AtomicU32,
    weight: AtomicU32,
    /// Number of the eviction that ended its last stay; 0: none that counts.
    evicted: AtomicU32,
}

impl<V> Default for Slot<V> {
    fn default() -> Slot<V> {
        Slot {
            owner: AtomicU64::new(0),
            value: ArcSwapOption::empty(),
            address: AtomicPtr::default(),
            heat: AtomicU8::new(0),
            place: AtomicU8::new(0),
            kind: AtomicU8::new(0),
            stamp: AtomicU32::new(0),
            weight: AtomicU32::new(0),
            evicted: AtomicU32::new(0),
        }
    }
}

impl<V> Slot<V> {
    /// The same slot in a larger table.
    fn moved(&self) -> Slot<V> {
        Slot {
            owner: AtomicU64::new(self.owner.load(Relaxed)),
            value: ArcSwapOption::new(self.value.load_full()),
            address: AtomicPtr::new(self.address.load(Relaxed)),
            heat: AtomicU8::new(self.heat.load(Relaxed)),
            place: AtomicU8::new(self.place.load(Relaxed)),
            kind: AtomicU8::new(self.kind.load(Relaxed)),
            stamp: AtomicU32::new(self.stamp.load(Relaxed)),
            weight: AtomicU32::new(self.weight.load(Relaxed)),
            evicted: AtomicU32::new(self.evicted.load(Relaxed)),
        }
    }

    /// It was read. Two readers at once may count as one.
    #[inline]
    fn warm(&self) {
        let heat = self.heat();
        if heat < MOST_HEAT {
            self.set_heat(heat + 1);
        }
    }

    pub(crate) fn heat(&self) -> u8 {
        self.heat.load(Relaxed)
    }
    pub(crate) fn set_heat(&self, heat: u8) {
        self.heat.store(heat, Relaxed);
    }
    pub(crate) fn place(&self) -> u8 {
        self.place.load(Relaxed)
    }
    pub(crate) fn set_place(&self, place: u8) {
        self.place.store(place, Relaxed);
    }
    pub(crate) fn is_of(&self, kind: Kind) -> bool {
        self.kind.load(Relaxed) == kind as u8
    }
    pub(crate) fn weight(&self) -> u64 {
        u64::from(self.weight.load(Relaxed))
    }
    pub(crate) fn evicted(&self) -> u32 {
        self.evicted.load(Relaxed)
    }
    pub(crate) fn set_evicted(&self, number: u32) {
        self.evicted.store(number, Relaxed);
    }

    /// Whether the block that was put here at this stamp is still here.
    pub(crate) fn is_at(&self, stamp: u32) -> bool {
        self.stamp.load(Relaxed) == stamp && self.value.load().is_some()
    }
}

/// A slot, as long as its table may not be replaced.
pub(crate) struct SlotRef<V> {
    slots: Guard<Arc<Slots<V>>>,
    at: usize,
}

impl<V> std::ops::Deref for SlotRef<V> {
    type Target = Slot<V>;

    fn deref(&self) -> &Slot<V> {
        &self.slots[self.at]
    }
}

fn free_slots<V>(count: usize) -> Slots<V> {
    std::iter::repeat_with(Slot::default).take(count).collect()
}

/// Where the slot of an offset is, or where it would be. There is always a free one.
#[inline]
fn find<V>(slots: &[Slot<V>], offset: u64) -> (usize, bool) {
    let (owner, mask) = (offset.wrapping_add(1), slots.len() - 1);
    let mut at = (owner.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
    loop {
        match slots[at].owner.load(Acquire) {
            0 => return (at, false),
            found if found == owner => return (at, true),
            _ => at = (at + 1) & mask,
        }
    }
}

impl<V> Table<V> {
    pub(crate) fn new(file: u64) -> Table<V> {
        Table {
            file,
            slots: ArcSwap::from_pointee(free_slots(FIRST_SLOTS)),
            taken: AtomicU32::new(0),
            usage: Default::default(),
        }
    }

    /// The block; it becomes more likely to stay.
    #[inline]
    pub(crate) fn get(&self, offset: u64) -> Option<Arc<V>> {
        let slot = self.slot(offset)?;
        let value = slot.value.load_full()?;
        slot.warm();
        Some(value)
    }

    /// Whether the block is here; `look` gets it.
    #[inline]
    pub(crate) fn look_at(&self, offset: u64, look: impl FnOnce(&V)) -> bool {
        let Some(slot) = self.slot(offset) else { return false };
        let value = slot.value.load();
        let Some(value) = value.as_deref() else { return false };
        slot.warm();
        look(value);
        true
    }

    /// The block will be asked for: its memory is asked for.
    #[inline]
    pub(crate) fn announce(&self, offset: u64) {
        let Some(slot) = self.slot(offset) else { return };
        // With its reference counts, which lie before it.
        let start = slot.address.load(Relaxed).cast::<u8>().wrapping_sub(COUNTS_BYTES);
        prefetch_at(start, COUNTS_BYTES + size_of::<V>());
    }

    pub(crate) fn peek(&self, offset: u64) -> Option<Arc<V>> {
        self.slot(offset)?.value.load_full()
    }

    /// The slot that belongs to the offset, if one does.
    #[inline]
    pub(crate) fn slot(&self, offset: u64) -> Option<SlotRef<V>> {
        let slots = self.slots.load();
        let (at, found) = find(&slots, offset);
        found.then_some(SlotRef { slots, at })
    }

    /// Offsets of the blocks that are here, ascending, each with something of its slot.
    pub(crate) fn blocks<T>(&self, of_slot: impl Fn(&Slot<V>) -> T) -> Vec<(u64, T)> {
        let slots = self.slots.load();
        let here = slots.iter().filter(|slot| slot.value.load().is_some());
        let mut blocks: Vec<_> = here.map(|slot| (slot.owner.load(Acquire).wrapping_sub(1), of_slot(slot))).collect();
        blocks.sort_unstable_by_key(|(offset, _)| *offset);
        blocks
    }

    /// By [`Kind`].
    pub(crate) fn usage(&self) -> Usage {
        let of = |[blocks, bytes]: &[AtomicU64; 2]| Used { blocks: blocks.load(Relaxed), bytes: bytes.load(Relaxed) };
        self.usage.each_ref().map(of)
    }

    /// Puts a block in its slot, which must be empty; returns the stamp.
    pub(crate) fn put(&self, offset: u64, value: Arc<V>, weight: u32, (place, kind): (u8, Kind)) -> u32 {
        let slot = self.own_slot(offset);
        let stamp = slot.stamp.load(Relaxed).wrapping_add(1);
        slot.stamp.store(stamp, Relaxed);
        slot.weight.store(weight, Relaxed);
        slot.set_place(place);
        slot.kind.store(kind as u8, Relaxed);
        slot.set_heat(0);
        slot.address.store(Arc::as_ptr(&value).cast_mut(), Relaxed);
        slot.value.store(Some(value));
        let [blocks, bytes] = &self.usage[kind as usize];
        blocks.fetch_add(1, Relaxed);
        bytes.fetch_add(u64::from(weight), Relaxed);
        stamp
    }

    /// Takes the block out; with its weight.
    pub(crate) fn take(&self, slot: &Slot<V>) -> Option<(Arc<V>, u64)> {
        let value = slot.value.swap(None)?;
        let weight = slot.weight();
        let [blocks, bytes] = &self.usage[slot.kind.load(Relaxed) as usize % Kind::ALL.len()];
        blocks.fetch_sub(1, Relaxed);
        bytes.fetch_sub(weight, Relaxed);
        Some((value, weight))
    }

    /// The slots of all blocks that are here.
    pub(crate) fn slots(&self) -> Vec<SlotRef<V>> {
        let all = self.slots.load_full();
        let here = (0..all.len()).filter(|at| all[*at].value.load().is_some());
        here.map(|at| SlotRef { slots: self.slots.load(), at }).collect()
    }

    /// The slot of an offset, which gets one if it has none.
    fn own_slot(&self, offset: u64) -> SlotRef<V> {
        if let Some(slot) = self.slot(offset) {
            return slot;
        }
        let taken = self.taken.load(Relaxed) as usize + 1;
        if taken * 4 > self.slots.load().len() * 3 {
            self.grow();
        }
        self.taken.store(taken as u32, Relaxed);
        let slots = self.slots.load();
        let (at, _) = find(&slots, offset);
        slots[at].owner.store(offset.wrapping_add(1), Release);
        SlotRef { slots, at }
    }

    fn grow(&self) {
        let old = self.slots.load_full();
        let mut new = free_slots(old.len() * 2);
        for slot in old.iter() {
            if let Some(offset) = slot.owner.load(Relaxed).checked_sub(1) {
                let (at, _) = find(&new, offset);
                new[at] = slot.moved();
            }
        }
        self.slots.store(Arc::new(new));
    }
}
