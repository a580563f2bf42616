//! The memstore's sorted list: an insert-only skip list in an [`Arena`], and an index of its rows. Beside the arena the only unsafe
//! code of the crate.
//!
//! ```text
//! node   | u64 seq id | u32 key len | u32 value len | u32 tags len | u32 height | passed | next[height] | key | value | tags |
//! order  flat key ascending, sequence id descending; of equal cells the one added last comes first and hides the others
//! ```
//!
//! Nodes live in an arena that is freed only with the whole list, so a reader may keep a pointer to a node for as long as
//! it keeps the list. Writers link a node bottom-up with compare-and-swap; a node's content is written before its first
//! link is published (release) and never afterwards, so readers (acquire) need no lock.
//!
//! `passed` leads to a later version of the same column, mostly to the oldest: rows that are updated again and again have
//! thousands of versions of a column, and who wants the newest only need not search for the next column.
#![allow(unsafe_code)]

use super::arena::{ALIGN, Arena};
use super::row_index::{Nodes, RowIndex};
use martite_cell::{CellRef, CellType, FlatCell, Order, key};
use martite_env::prefetch::{LINE_BYTES, prefetch_at};
use std::cmp::Ordering;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering as Mem};

/// Four children per level on average: 4^12 nodes before the top level grows long.
const MAX_HEIGHT: usize = 12;
/// So far from the first cell of its row the place of a cell is looked for, before it is searched from the top. A step leads
/// to the next cell, or to the next column.
const NEAR: usize = 12;
/// So many versions of a column are stepped over before the next column is searched from the top.
const NEAR_VERSIONS: usize = 32;
/// After so many, the next one who comes is spared them.
const MANY_VERSIONS: usize = 4;

/// Lines of memory in which most nodes have their key, and those in which they have a value of a hundred bytes, too.
const KEY_LINES: usize = 2;
const CELL_LINES: usize = 4;

/// What is done with a cell that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// It is not taken: the cursor stays there.
    Leave,
    /// It is taken: on to the next.
    Take,
    /// It is taken, and further cells of its column are not wanted: on to the next, or to one behind them.
    TakeColumn,
    /// It is taken, and the cursor stays there.
    TakeLast,
}

/// The fixed part of a node; the tower of `height` links and the cell's bytes follow it in memory.
#[repr(C)]
struct Node {
    seq_id: u64,
    key_len: u32,
    value_len: u32,
    tags_len: u32,
    height: u32,
    /// A node of the same column further on; null if none is known.
    passed: Link,
}

type Link = AtomicPtr<Node>;

const _: () = assert!(align_of::<Node>() <= ALIGN && align_of::<Link>() <= align_of::<Node>());

/// Bytes that a node takes in the arena.
fn node_size(cell: &CellRef<'_>, height: usize) -> usize {
    let bytes = cell.key.len() + cell.value.len() + cell.tags.len();
    (size_of::<Node>() + height * size_of::<Link>() + bytes).next_multiple_of(ALIGN)
}

/// Cells in order. Any thread may add; readers never wait.
pub(crate) struct SkipList {
    order: Order,
    head: [Link; MAX_HEIGHT],
    /// Levels in use, at least 1.
    height: AtomicUsize,
    len: AtomicUsize,
    /// Bytes of all nodes.
    used: AtomicU64,
    arena: Arena,
    /// Of [`Order::Default`] only: rows of hbase:meta can be equal without being the same bytes.
    rows: RowIndex<Node>,
}

impl SkipList {
    pub(crate) fn new(order: Order) -> SkipList {
        SkipList {
            order,
            head: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            height: AtomicUsize::new(1),
            len: AtomicUsize::new(0),
            used: AtomicU64::new(0),
            arena: Arena::new(),
            rows: RowIndex::new(),
        }
    }

    pub(crate) fn order(&self) -> Order {
        self.order
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Mem::Relaxed)
    }

    /// Bytes of memory that the cells and the index of their rows take.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used.load(Mem::Relaxed) + self.rows.allocated_bytes()
    }

    /// Bytes of memory that were allocated: the cells, what chunks have left, and the index.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.arena.allocated_bytes() + self.rows.allocated_bytes()
    }

    /// Copies `cell` into the list.
    #[cfg(test)]
    pub(crate) fn insert(&self, cell: &CellRef<'_>) {
        Inserter::new(self).insert(cell);
    }

    fn make_node(&self, cell: &CellRef<'_>, height: usize) -> *mut Node {
        let size = node_size(cell, height);
        self.used.fetch_add(size as u64, Mem::Relaxed);
        let node = self.arena.allocate(size).cast::<Node>().as_ptr();
        // SAFETY: the piece is `size` bytes, aligned, and nobody else knows it yet. Links are atomics over a pointer,
        // for which null is a valid value.
        unsafe {
            node.write(Node {
                seq_id: cell.seq_id,
                key_len: cell.key.len() as u32,
                value_len: cell.value.len() as u32,
                tags_len: cell.tags.len() as u32,
                height: height as u32,
                passed: AtomicPtr::new(ptr::null_mut()),
            });
            for level in 0..height {
                tower(node).add(level).write(AtomicPtr::new(ptr::null_mut()));
            }
            let mut at = tower(node).add(height).cast::<u8>();
            for part in [cell.key, cell.value, cell.tags] {
                ptr::copy_nonoverlapping(part.as_ptr(), at, part.len());
                at = at.add(part.len());
            }
        }
        node
    }

    /// The link of `node` (null: the head) at `level`. The node, if any, is one found at `level` or above.
    fn link_after(&self, node: *mut Node, level: usize) -> &Link {
        if node.is_null() {
            &self.head[level]
        } else {
            // SAFETY: nodes live as long as the list; a node reached at `level` has more than `level` links.
            unsafe { link(node, level) }
        }
    }

    /// From `start` (null: the head), the last node of `level` before `(key, seq_id)` and the one after it.
    fn last_before(&self, start: *mut Node, level: usize, key: &[u8], seq_id: u64) -> (*mut Node, *mut Node) {
        let mut before = start;
        loop {
            let next = self.link_after(before, level).load(Mem::Acquire);
            if level > 0 {
                // Where the search goes on if `next` is too far: most of what it costs is waiting for nodes.
                prefetch::<KEY_LINES>(self.link_after(before, level - 1).load(Mem::Relaxed));
            }
            if next.is_null() || self.compare(next, key, seq_id) != Ordering::Less {
                return (before, next);
            }
            before = next;
        }
    }

    fn compare(&self, node: *mut Node, key: &[u8], seq_id: u64) -> Ordering {
        // SAFETY: the node came from a link of this list.
        let (node_key, node_seq) = unsafe { (key_of(node), (*node).seq_id) };
        self.order.keys(node_key, key).then_with(|| seq_id.cmp(&node_seq))
    }

    /// The first node behind `node` that is of another column; null at the end.
    ///
    /// # Safety
    /// `node` is a finished node of this list.
    #[inline]
    unsafe fn behind_column(&self, node: *mut Node) -> *mut Node {
        // SAFETY: `node` is one of ours, and so is every node that it leads to.
        unsafe {
            let column = column_of(node);
            let far = (*node).passed.load(Mem::Acquire);
            let mut at = if far.is_null() { node } else { far };
            let mut steps = 0;
            loop {
                let next = link(at, 0).load(Mem::Acquire);
                if next.is_null() || !key::is_same(column_of(next), column) {
                    if steps > MANY_VERSIONS {
                        (*node).passed.store(at, Mem::Release);
                    }
                    if !next.is_null() {
                        // Where its column will be left by.
                        let far = (*next).passed.load(Mem::Relaxed);
                        prefetch::<CELL_LINES>(if far.is_null() { link(next, 0).load(Mem::Relaxed) } else { far });
                    }
                    return next;
                }
                steps += 1;
                if steps > NEAR_VERSIONS {
                    return self.search_behind_column(node);
                }
                at = next;
            }
        }
    }

    /// As [`Self::behind_column`], from the top of the list; the way is kept for the next one who comes.
    ///
    /// # Safety
    /// As there.
    #[cold]
    unsafe fn search_behind_column(&self, node: *mut Node) -> *mut Node {
        // SAFETY: by contract; what is found before the end of the column and behind `node` is a version of the column.
        unsafe {
            let mut end = column_of(node).to_vec();
            end.extend_from_slice(&(i64::MIN as u64).to_be_bytes());
            end.push(CellType::Minimum as u8);
            let (last, next) = self.search(&end, u64::MAX);
            (*node).passed.store(last, Mem::Release);
            next
        }
    }

    /// Whether a cell of the row is here; only for rows in byte order.
    pub(crate) fn holds_row(&self, row: &[u8]) -> bool {
        !self.first_of(row).is_null()
    }

    /// The first node of the row; null if there is none, or no index.
    fn first_of(&self, row: &[u8]) -> *mut Node {
        self.rows.get(row, self)
    }

    /// The last node before `(key, seq_id)` and the first one not before it.
    fn search(&self, key: &[u8], seq_id: u64) -> (*mut Node, *mut Node) {
        let mut found = (ptr::null_mut(), ptr::null_mut());
        for level in (0..self.height.load(Mem::Relaxed)).rev() {
            found = self.last_before(found.0, level, key, seq_id);
        }
        found
    }

    fn last(&self) -> *mut Node {
        let mut at = ptr::null_mut();
        for level in (0..self.height.load(Mem::Relaxed)).rev() {
            loop {
                let next = self.link_after(at, level).load(Mem::Acquire);
                if next.is_null() {
                    break;
                }
                at = next;
            }
        }
        at
    }
}

impl Nodes<Node> for SkipList {
    fn row(&self, node: *mut Node) -> &[u8] {
        // SAFETY: the index has nodes of this list only.
        key::row(unsafe { key_of(node) })
    }

    /// Of equal cells the one that was added last comes first.
    fn is_before(&self, a: *mut Node, b: *mut Node) -> bool {
        // SAFETY: as above.
        let (key, seq_id) = unsafe { (key_of(b), (*b).seq_id) };
        self.compare(a, key, seq_id) != Ordering::Greater
    }
}

/// Adds cells one after the other. It remembers around which nodes it was last: the next cell is often near.
pub(crate) struct Inserter<'l> {
    list: &'l SkipList,
    /// At each level the nodes before (null: the head) and after (null: the end) the last place.
    before: [*mut Node; MAX_HEIGHT],
    after: [*mut Node; MAX_HEIGHT],
    /// Of how many levels they are known.
    known: usize,
    /// The node that was added last.
    last: *mut Node,
}

impl<'l> Inserter<'l> {
    pub(crate) fn new(list: &'l SkipList) -> Inserter<'l> {
        let none = [ptr::null_mut(); MAX_HEIGHT];
        Inserter { list, before: none, after: none, known: 0, last: ptr::null_mut() }
    }

    /// Copies `cell` into the list.
    pub(crate) fn insert(&mut self, cell: &CellRef<'_>) {
        let list = self.list;
        let height = height_of(list.len.fetch_add(1, Mem::Relaxed) as u64);
        list.height.fetch_max(height, Mem::Relaxed);
        let node = list.make_node(cell, height);
        self.find(cell, height);
        for level in 0..height {
            loop {
                let after = self.after[level];
                // SAFETY: `node` is ours and has `height` links.
                unsafe { link(node, level) }.store(after, Mem::Relaxed);
                if level == 0 {
                    // SAFETY: `after` was found in the list, or is null.
                    unsafe { point_to_oldest(node, after) };
                }
                let link = list.link_after(self.before[level], level);
                if link.compare_exchange(after, node, Mem::Release, Mem::Relaxed).is_ok() {
                    break;
                }
                (self.before[level], self.after[level]) =
                    list.last_before(self.before[level], level, cell.key, cell.seq_id);
            }
        }
        self.index(node, cell.row());
        self.before[..height].fill(node);
        self.last = node;
    }

    /// Finds the place of a cell, at `height` levels at least.
    fn find(&mut self, cell: &CellRef<'_>, height: usize) {
        let (list, key, seq_id) = (self.list, cell.key, cell.seq_id);
        let near = (height <= self.known).then(|| (0..self.known).find(|level| self.encloses(*level, key, seq_id)));
        let (mut at, levels) = match near.flatten() {
            Some(level) => (self.before[level], level),
            None if height == 1 && self.find_in_row(cell) => return,
            None => {
                self.known = list.height.load(Mem::Relaxed);
                (ptr::null_mut(), self.known)
            }
        };
        for level in (0..levels).rev() {
            (at, self.after[level]) = list.last_before(at, level, key, seq_id);
            self.before[level] = at;
        }
    }

    /// Whether a place is inside the known gap of a level.
    fn encloses(&self, level: usize, key: &[u8], seq_id: u64) -> bool {
        let (before, after) = (self.before[level], self.after[level]);
        (before.is_null() || self.list.compare(before, key, seq_id).is_lt())
            && (after.is_null() || self.list.compare(after, key, seq_id).is_ge())
    }

    /// Finds the place at the lowest level among the next cells of the row; false if it is not there.
    fn find_in_row(&mut self, cell: &CellRef<'_>) -> bool {
        let list = self.list;
        let mut before = list.first_of(cell.row());
        if before.is_null() || list.compare(before, cell.key, cell.seq_id).is_ge() {
            return false;
        }
        for _ in 0..NEAR {
            // SAFETY: `before` was found in the list.
            let far = unsafe { (*before).passed.load(Mem::Acquire) };
            if !far.is_null() && list.compare(far, cell.key, cell.seq_id).is_lt() {
                before = far;
            }
            let after = list.link_after(before, 0).load(Mem::Acquire);
            if after.is_null() || list.compare(after, cell.key, cell.seq_id).is_ge() {
                (self.before[0], self.after[0], self.known) = (before, after, 1);
                return true;
            }
            before = after;
        }
        false
    }

    /// Sees to it that the row of `node` is in the index, no later than at `node`.
    fn index(&self, node: *mut Node, row: &[u8]) {
        let list = self.list;
        // Behind a node of this row that we have put into the index there is nothing to do. That others have put theirs
        // there cannot be known: they may be about to.
        let behind_ours = !self.last.is_null() && self.before[0] == self.last && list.row(self.last) == row;
        if list.order == Order::Default && !behind_ours {
            list.rows.lower(row, node, list);
        }
    }
}

/// Height of the n-th node: level k + 1 with probability 4^-k, from a hash of n (splitmix64).
fn height_of(n: u64) -> usize {
    let mut z = n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (1 + z.trailing_zeros() as usize / 2).min(MAX_HEIGHT)
}

/// Where the links of a node begin.
///
/// # Safety
/// `node` points into an arena piece that holds a node.
unsafe fn tower(node: *mut Node) -> *mut Link {
    // SAFETY: the tower follows the header in the same allocation; its size is a multiple of the links' alignment.
    unsafe { node.add(1).cast() }
}

/// # Safety
/// `node` is a finished node with more than `level` links, and its list outlives `'a`.
unsafe fn link<'a>(node: *mut Node, level: usize) -> &'a Link {
    // SAFETY: by contract.
    unsafe { &*tower(node).add(level) }
}

/// # Safety
/// `node` is a finished node, and its list outlives `'a`.
unsafe fn key_of<'a>(node: *mut Node) -> &'a [u8] {
    // SAFETY: the key follows the tower; header fields never change once the node is linked.
    unsafe {
        let at = tower(node).add((*node).height as usize).cast::<u8>();
        std::slice::from_raw_parts(at, (*node).key_len as usize)
    }
}

/// # Safety
/// `node` is a finished node, and its list outlives `'a`.
#[inline]
unsafe fn cell_of<'a>(node: *mut Node) -> CellRef<'a> {
    // SAFETY: by contract.
    unsafe { flat_cell_of(node).as_cell() }
}

/// # Safety
/// `node` is a finished node, and its list outlives `'a`.
#[inline]
unsafe fn flat_cell_of<'a>(node: *mut Node) -> FlatCell<'a> {
    // SAFETY: the node's bytes follow its tower, lengths as in its header.
    unsafe {
        let header = &*node;
        let at = tower(node).add(header.height as usize).cast::<u8>().cast_const();
        let (key_len, value_len) = (header.key_len as usize, header.value_len as usize);
        let tags = std::slice::from_raw_parts(at.add(key_len + value_len), header.tags_len as usize);
        FlatCell::new(std::slice::from_raw_parts(at, key_len + value_len), key_len, tags, header.seq_id)
    }
}

/// Row, family and qualifier of a node, as its key has them.
///
/// # Safety
/// `node` is a finished node, and its list outlives `'a`.
#[inline]
unsafe fn column_of<'a>(node: *mut Node) -> &'a [u8] {
    // SAFETY: by contract.
    let key = unsafe { key_of(node) };
    &key[..key.len() - key::TS_TYPE_SIZE]
}

/// `node`, which nobody else knows yet, will lie before `after`: if that is a version of the same column, it leads to what
/// that one leads to.
///
/// # Safety
/// `node` is a finished node, `after` null or one in the list that it will be in.
unsafe fn point_to_oldest(node: *mut Node, after: *mut Node) {
    // SAFETY: by contract.
    unsafe {
        let oldest = if after.is_null() || !key::is_same(column_of(after), column_of(node)) {
            ptr::null_mut()
        } else {
            let further = (*after).passed.load(Mem::Acquire);
            if further.is_null() { after } else { further }
        };
        (*node).passed.store(oldest, Mem::Relaxed);
    }
}

/// The next node that is not the same cell again; null at the end. Asks for the memory of the one after it.
///
/// # Safety
/// `node` is a finished node, and its list lives.
#[inline]
unsafe fn next_cell(node: *mut Node) -> *mut Node {
    let mut at = node;
    loop {
        // SAFETY: every node has a link at level 0, and it leads to finished nodes.
        unsafe {
            at = link(at, 0).load(Mem::Acquire);
            if at.is_null() {
                return at;
            }
            prefetch::<CELL_LINES>(link(at, 0).load(Mem::Relaxed));
            if !is_same_cell(node, at) {
                return at;
            }
        }
    }
}

/// Asks for the first `LINES` lines of a node.
#[inline]
fn prefetch<const LINES: usize>(node: *mut Node) {
    prefetch_at(node.cast(), LINES * LINE_BYTES);
}

/// # Safety
/// Both are finished nodes, and their list lives.
#[inline]
unsafe fn is_same_cell(a: *mut Node, b: *mut Node) -> bool {
    // SAFETY: by contract.
    unsafe { (*a).seq_id == (*b).seq_id && key_of(a) == key_of(b) }
}

/// A place in a list: before the first cell, on a cell, or behind the last one.
pub(crate) struct Cursor {
    list: Arc<SkipList>,
    node: *mut Node,
}

// SAFETY: the node pointer is only read, through atomics where it can change, and `list` keeps it alive.
unsafe impl Send for Cursor {}
// SAFETY: as above.
unsafe impl Sync for Cursor {}

impl Cursor {
    /// On no cell.
    pub(crate) fn new(list: Arc<SkipList>) -> Cursor {
        Cursor { list, node: ptr::null_mut() }
    }

    /// The cell under the cursor.
    #[inline]
    pub(crate) fn peek(&self) -> Option<CellRef<'_>> {
        // SAFETY: the node belongs to `list`, which we hold.
        (!self.node.is_null()).then(|| unsafe { cell_of(self.node) })
    }

    /// To the next cell; stays behind the last one. A cell that was added again, with the same key and sequence id, is
    /// passed over: the last one, which comes first, stands for all of them.
    #[inline]
    pub(crate) fn next(&mut self) {
        if !self.node.is_null() {
            // SAFETY: `self.node` is a node of `list`, which we hold.
            self.node = unsafe { next_cell(self.node) };
        }
    }

    /// Shows the current cell and those after it to `visit`, until that takes none or the last.
    #[inline]
    pub(crate) fn run<'s>(&'s mut self, mut visit: impl FnMut(FlatCell<'s>) -> Visit) {
        while !self.node.is_null() {
            // SAFETY: the node belongs to `list`, which is held as long as `self`.
            match visit(unsafe { flat_cell_of(self.node) }) {
                Visit::Leave | Visit::TakeLast => return,
                // SAFETY: as above.
                Visit::Take => self.node = unsafe { next_cell(self.node) },
                // SAFETY: as above.
                Visit::TakeColumn => self.node = unsafe { self.list.behind_column(self.node) },
            }
        }
    }

    /// To the first cell of a row, by the index; false if the row is not there.
    pub(crate) fn seek_to_row(&mut self, row: &[u8]) -> bool {
        if self.list.order != Order::Default {
            self.seek(&key::first_on_row(row));
            return true;
        }
        self.node = self.list.first_of(row);
        !self.node.is_null()
    }

    pub(crate) fn seek_to_first(&mut self) {
        self.node = self.list.head[0].load(Mem::Acquire);
    }

    pub(crate) fn seek_to_last(&mut self) {
        self.node = self.list.last();
    }

    /// To the first cell whose key is not before `key`.
    pub(crate) fn seek(&mut self, key: &[u8]) {
        self.node = self.list.search(key, u64::MAX).1;
    }

    /// To the last cell whose key is before `key`; false, and on no cell, when there is none.
    pub(crate) fn seek_before(&mut self, key: &[u8]) -> bool {
        self.node = self.list.search(key, u64::MAX).0;
        !self.node.is_null()
    }
}

#[cfg(test)]
mod tests;
