//! Where each row of a skip list begins: a hash table from rows to their first nodes.
//!
//! A search from the top of a large list waits for memory at each of some twenty nodes that nobody has touched lately;
//! a look-up here waits twice, at the slot and at the node.
//!
//! ```text
//! hash of the row ──► shard (4 bits) ──► current table ──► slots from (low bits) on ──► node of the row, or empty
//! slot                | 16 bits of the hash | 48 bits: address of the node |
//! ```
//!
//! Rows are only ever added, and a row's node only ever gives way to one before it. So readers need no lock: a reader
//! that looks into a table which has just been outgrown misses nothing but cells that are newer than it may see.

use foldhash::fast::RandomState;
use parking_lot::RwLock;
use std::hash::BuildHasher;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering as Mem};

const SHARDS: usize = 16;
/// Slots of a shard's first table: one line of the processor's caches.
const FIRST_SLOTS: usize = 8;
/// Each table has four times the slots of the one before.
const GROWTH_BITS: u32 = 2;
/// Enough for any memory: the last one has 2^29 slots.
const TABLES: usize = 14;
/// Addresses of user space have no more bits, unless a program asks for them.
const ADDRESS_BITS: u32 = 48;

type Table<T> = Box<[AtomicPtr<T>]>;

struct Shard<T> {
    /// Adding holds it for reading, growing for writing.
    growing: RwLock<()>,
    /// Slots in use in the current table.
    used: AtomicUsize,
    /// Which table is the current one. Those before it stay for readers that came before it.
    current: AtomicUsize,
    tables: [OnceLock<Table<T>>; TABLES],
}

/// What the index has to know about the nodes that it points to. A node's row never changes.
pub(super) trait Nodes<T> {
    fn row(&self, node: *mut T) -> &[u8];
    /// Whether `a` comes before `b`, which is of the same row.
    fn is_before(&self, a: *mut T, b: *mut T) -> bool;
}

pub(super) struct RowIndex<T> {
    hasher: RandomState,
    shards: OnceLock<Box<[Shard<T>; SHARDS]>>,
    /// Bytes of all tables.
    allocated: AtomicU64,
}

impl<T> Shard<T> {
    fn new() -> Shard<T> {
        Shard {
            growing: RwLock::new(()),
            used: AtomicUsize::new(0),
            current: AtomicUsize::new(0),
            tables: std::array::from_fn(|_| OnceLock::new()),
        }
    }
}

impl<T> RowIndex<T> {
    pub(super) fn new() -> RowIndex<T> {
        RowIndex { hasher: RandomState::default(), shards: OnceLock::new(), allocated: AtomicU64::new(0) }
    }

    pub(super) fn allocated_bytes(&self) -> u64 {
        self.allocated.load(Mem::Relaxed)
    }

    /// The first node of `row`; null if there is none.
    pub(super) fn get(&self, row: &[u8], nodes: &impl Nodes<T>) -> *mut T {
        let Some(shards) = self.shards.get() else { return ptr::null_mut() };
        let hash = self.hasher.hash_one(row);
        let shard = &shards[shard_of(hash)];
        let Some(table) = shard.tables[shard.current.load(Mem::Acquire)].get() else { return ptr::null_mut() };
        for slot in slots_from(table, hash) {
            let at = slot.load(Mem::Acquire);
            if at.is_null() {
                break;
            }
            if tag_of(at) == tag(hash) && nodes.row(node_of(at)) == row {
                return node_of(at);
            }
        }
        ptr::null_mut()
    }

    /// Notes that `node`, which is in the list already, is of `row`: it becomes the row's first one unless that is before
    /// it.
    pub(super) fn lower(&self, row: &[u8], node: *mut T, nodes: &impl Nodes<T>) {
        let hash = self.hasher.hash_one(row);
        let shards = self.shards.get_or_init(|| {
            self.allocated.fetch_add(size_of::<[Shard<T>; SHARDS]>() as u64, Mem::Relaxed);
            Box::new(std::array::from_fn(|_| Shard::new()))
        });
        let shard = &shards[shard_of(hash)];
        let full = {
            let _growing = shard.growing.read();
            let at = shard.current.load(Mem::Acquire);
            let table = shard.tables[at].get_or_init(|| self.new_table(at));
            put(table, hash, row, node, nodes) && shard.used.fetch_add(1, Mem::Relaxed) + 1 > table.len() / 2
        };
        if full {
            self.grow(shard, nodes);
        }
    }

    fn new_table(&self, at: usize) -> Table<T> {
        let slots = FIRST_SLOTS << (GROWTH_BITS * at as u32);
        self.allocated.fetch_add((slots * size_of::<AtomicPtr<T>>()) as u64, Mem::Relaxed);
        std::iter::repeat_with(|| AtomicPtr::new(ptr::null_mut())).take(slots).collect()
    }

    fn grow(&self, shard: &Shard<T>, nodes: &impl Nodes<T>) {
        let _growing = shard.growing.write();
        let at = shard.current.load(Mem::Acquire);
        let Some(old) = shard.tables[at].get() else { return };
        if shard.used.load(Mem::Relaxed) <= old.len() / 2 || at + 1 == TABLES {
            return;
        }
        let new = shard.tables[at + 1].get_or_init(|| self.new_table(at + 1));
        for slot in old {
            let node = node_of(slot.load(Mem::Acquire));
            if !node.is_null() {
                let row = nodes.row(node);
                put(new, self.hasher.hash_one(row), row, node, nodes);
            }
        }
        shard.current.store(at + 1, Mem::Release);
    }
}

/// Puts `node` where its row is or belongs; true if the row is new.
fn put<T>(table: &[AtomicPtr<T>], hash: u64, row: &[u8], node: *mut T, nodes: &impl Nodes<T>) -> bool {
    let tagged = node.map_addr(|address| {
        assert_eq!(address >> ADDRESS_BITS, 0, "an address has more than 48 bits");
        address | (tag(hash) << ADDRESS_BITS)
    });
    for slot in slots_from(table, hash) {
        let mut at = slot.load(Mem::Acquire);
        if at.is_null() {
            match slot.compare_exchange(at, tagged, Mem::AcqRel, Mem::Acquire) {
                Ok(_) => return true,
                Err(other) => at = other,
            }
        }
        if tag_of(at) != tag(hash) || nodes.row(node_of(at)) != row {
            continue;
        }
        while nodes.is_before(node, node_of(at)) {
            match slot.compare_exchange(at, tagged, Mem::AcqRel, Mem::Acquire) {
                Ok(_) => break,
                Err(other) => at = other,
            }
        }
        return false;
    }
    unreachable!("tables are at most half full, and the last one has more slots than memory has nodes")
}

fn slots_from<T>(table: &[AtomicPtr<T>], hash: u64) -> impl Iterator<Item = &AtomicPtr<T>> {
    let first = hash as usize & (table.len() - 1);
    table[first..].iter().chain(&table[..first])
}

/// The top bits of the hash.
fn tag(hash: u64) -> usize {
    (hash >> ADDRESS_BITS) as usize
}

/// Four bits that neither the tag nor any slot's number has.
fn shard_of(hash: u64) -> usize {
    (hash >> (ADDRESS_BITS - 4)) as usize % SHARDS
}

fn tag_of<T>(slot: *mut T) -> usize {
    slot.addr() >> ADDRESS_BITS
}

fn node_of<T>(slot: *mut T) -> *mut T {
    slot.map_addr(|address| address & ((1 << ADDRESS_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A node is a row and its place in it; it is known by where it lies.
    struct Node(Vec<u8>, u32);
    struct All(Vec<Node>);

    impl All {
        /// `per_row` nodes of each row, not in the order of their places.
        fn new(rows: u32, per_row: u32) -> All {
            let place = |i: u32| i / rows * 7919 % per_row;
            All((0..rows * per_row).map(|i| Node(format!("row{}", i % rows).into_bytes(), place(i))).collect())
        }
        fn pointers(&self) -> impl Iterator<Item = *mut Node> {
            self.0.iter().map(|node| ptr::from_ref(node).cast_mut())
        }
        fn get(&self, node: *mut Node) -> &Node {
            &self.0[(node.addr() - self.0.as_ptr().addr()) / size_of::<Node>()]
        }
    }

    impl Nodes<Node> for All {
        fn row(&self, node: *mut Node) -> &[u8] {
            &self.get(node).0
        }
        fn is_before(&self, a: *mut Node, b: *mut Node) -> bool {
            self.get(a).1 < self.get(b).1
        }
    }

    fn assert_firsts_are_found(index: &RowIndex<Node>, all: &All, rows: u32) {
        for row in 0..rows {
            let row = format!("row{row}").into_bytes();
            let found = index.get(&row, all);
            assert!(!found.is_null(), "{row:?} is not there");
            assert_eq!((&all.get(found).0, all.get(found).1), (&row, 0));
        }
    }

    #[test]
    fn every_row_leads_to_its_first_node_through_all_growth() {
        let rows = if cfg!(miri) { 300 } else { 30_000 };
        let (index, all) = (RowIndex::new(), All::new(rows, 5));
        assert!(index.get(b"row1", &all).is_null());
        for node in all.pointers() {
            index.lower(all.row(node), node, &all);
        }
        assert_firsts_are_found(&index, &all, rows);
        assert!(index.get(b"row", &all).is_null());
        assert!(index.allocated_bytes() > u64::from(rows) * 8);
    }

    #[test]
    fn threads_add_nodes_of_the_same_rows() {
        let rows = if cfg!(miri) { 40 } else { 2_000 };
        let (index, all) = (RowIndex::new(), All::new(rows, 8));
        std::thread::scope(|scope| {
            for t in 0..4 {
                let (index, all) = (&index, &all);
                scope.spawn(move || {
                    for node in all.pointers().skip(t).step_by(3) {
                        index.lower(all.row(node), node, all);
                        let found = index.get(all.row(node), all);
                        assert!(!found.is_null() && !all.is_before(node, found));
                    }
                });
            }
        });
        assert_firsts_are_found(&index, &all, rows);
    }
}
