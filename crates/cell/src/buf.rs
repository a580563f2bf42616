//! [`CellBuf`]: the cells of an answer, in the form of a cell block, growing towards the socket.
//!
//! A read appends cells as it finds them; a filter that drops the row afterwards truncates to a mark. For a client
//! with `KeyValueCodec` the buffer is the cell block as it stands. Large cells may be lent to it: they stay where they lie.

use crate::{
    CellError,
    block::{CellBlock, Lend, Lent},
    cell::{CellRef, FlatCell, OwnedCell},
    codec::{append_key_value, parse_key_value},
};
use bytes::{Bytes, BytesMut};
use std::{ops::Deref, sync::Arc};

/// Cells from this size on are lent rather than copied: with cells of 5 KB a scan takes about as long either way, with smaller ones longer
/// if they are lent.
const LEAST_LENT: usize = 8 << 10;
/// Memory that lenders keep for what they have lent, so many times as much at most.
const MOST_HELD: usize = 4;

/// A buffer that holds so much is moved once more at most, if it is known how large it may get.
const LARGE: usize = 64 << 10;

/// Cells in `u32 length | KeyValue` form, with the end of each one.
#[derive(Debug, Default, Clone)]
pub struct CellBuf {
    bytes: Room,
    /// End offset of each cell in `bytes`; of a lent one only the length is there.
    ends: Vec<usize>,
    with_tags: bool,
    /// Large cells may be lent to it; beyond [`MOST_HELD`] so much may be held for them.
    advance: Option<usize>,
    /// What is lent to it.
    debt: Option<Box<Debt>>,
    lent_bytes: usize,
    /// How large it may get; zero: that is not known.
    most: usize,
}

/// What a buffer borrows.
#[derive(Debug, Default, Clone)]
struct Debt {
    /// The cells, in their order: which, and where its KeyValue lies.
    cells: Vec<(usize, Bytes)>,
    /// Who lent the last one.
    lender: Bytes,
    /// Memory of all who lent any.
    held_bytes: usize,
}

impl Debt {
    /// A part of the lender's memory, unless more than `most_held` would be held.
    fn borrow(&mut self, part: &[u8], lender: &Arc<impl Lend>, most_held: usize) -> Option<Bytes> {
        let whole = lender.bytes();
        let from = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
        let to = from.checked_add(part.len()).filter(|to| *to <= whole.len())?;
        let is_another = self.lender.as_ptr() != whole.as_ptr();
        let held = self.held_bytes + if is_another { whole.len() } else { 0 };
        if held > most_held {
            return None;
        }
        if is_another {
            (self.lender, self.held_bytes) = (lender.share(), held);
        }
        Some(self.lender.slice(from..to))
    }

    /// Takes back the cells from the one with this number on.
    fn split_off(&mut self, cell: usize) -> Vec<(usize, Bytes)> {
        self.cells.split_off(self.cells.partition_point(|(lent, _)| *lent < cell))
    }
}

/// Where the bytes are.
#[derive(Debug, Clone)]
enum Room {
    Own(Vec<u8>),
    /// A part of the buffer in which the cells came. Nothing is appended there.
    Part(BytesMut),
}

impl Default for Room {
    fn default() -> Room {
        Room::Own(Vec::new())
    }
}

impl Deref for Room {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Room::Own(bytes) => bytes,
            Room::Part(bytes) => bytes,
        }
    }
}

impl Room {
    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Room::Own(bytes) => bytes,
            Room::Part(bytes) => bytes,
        }
    }

    /// To append so many bytes, where there may be `most`.
    #[inline(always)]
    fn with_room(&mut self, more: usize, most: usize) -> &mut Vec<u8> {
        let bytes = self.own();
        if bytes.capacity() - bytes.len() < more {
            grow(bytes, more, most);
        }
        bytes
    }

    /// To append to, or to cut.
    #[inline(always)]
    fn own(&mut self) -> &mut Vec<u8> {
        if let Room::Part(bytes) = self {
            *self = Room::Own(bytes.to_vec());
        }
        match self {
            Room::Own(bytes) => bytes,
            Room::Part(_) => unreachable!("it was copied"),
        }
    }
}

/// Room for so many bytes more, where there may be `most`: each time that a buffer of a megabyte doubles, all of it is copied.
#[cold]
fn grow(bytes: &mut Vec<u8>, more: usize, most: usize) {
    let is_enough = bytes.len().saturating_add(more) <= most;
    if bytes.len() >= LARGE && is_enough {
        bytes.reserve_exact(most - bytes.len());
    } else {
        bytes.reserve(more);
    }
}

/// A place in a [`CellBuf`] to truncate to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    cells: usize,
    bytes: usize,
}

impl CellBuf {
    /// Tags are kept only when `with_tags`.
    pub fn new(with_tags: bool) -> CellBuf {
        CellBuf { with_tags, ..CellBuf::default() }
    }
    /// Large cells may be lent to it, as long as no more than [`MOST_HELD`] times as much memory is held for them, and `advance` bytes.
    pub fn borrowing(self, advance: usize) -> CellBuf {
        CellBuf { advance: Some(advance), ..self }
    }
    /// Empty, with the memory that it has; tags are kept from now on, or not.
    pub fn emptied(mut self, with_tags: bool) -> CellBuf {
        self.clear();
        CellBuf { with_tags, advance: None, most: 0, ..self }
    }
    /// It may get so large: once it is found to be large, there is room for that.
    pub fn growing_to(self, most: usize) -> CellBuf {
        CellBuf { most, ..self }
    }
    /// Room for more cells.
    pub fn reserve(&mut self, bytes: usize, cells: usize) {
        self.bytes.own().reserve(bytes);
        self.ends.reserve(cells);
    }
    #[inline]
    pub fn push(&mut self, cell: &CellRef<'_>) {
        let tags_len = if self.with_tags { 2 + cell.tags.len() } else { 0 };
        let more = 4 + cell.key_value_len() + if cell.tags.is_empty() { 0 } else { tags_len };
        append_key_value(self.bytes.with_room(more, self.most), cell, self.with_tags);
        self.ends.push(self.bytes.len());
    }
    /// Appends a cell whose tags, if any, are not kept.
    #[inline(always)]
    pub fn push_flat(&mut self, cell: &FlatCell<'_>) {
        let (key_len, bytes) = (cell.key().len(), cell.bytes());
        let mut head = [0; 12];
        head[..4].copy_from_slice(&(8 + bytes.len() as u32).to_be_bytes());
        head[4..8].copy_from_slice(&(key_len as u32).to_be_bytes());
        head[8..].copy_from_slice(&((bytes.len() - key_len) as u32).to_be_bytes());
        let out = self.bytes.with_room(head.len() + bytes.len(), self.most);
        out.extend_from_slice(&head);
        out.extend_from_slice(bytes);
        self.ends.push(out.len());
    }
    /// Appends a cell without tags as it lies elsewhere: lengths, key and value.
    #[inline(always)]
    pub fn push_key_value(&mut self, key_value: &[u8]) {
        let out = self.bytes.with_room(4 + key_value.len(), self.most);
        out.extend_from_slice(&(key_value.len() as u32).to_be_bytes());
        out.extend_from_slice(key_value);
        self.ends.push(out.len());
    }
    /// As [`Self::push_key_value`]; a large one stays where it lies, with `lender`.
    #[inline(always)]
    pub fn push_or_borrow(&mut self, key_value: &[u8], lender: &Arc<impl Lend>) {
        if key_value.len() < LEAST_LENT || !self.borrow(key_value, lender) {
            self.push_key_value(key_value);
        }
    }
    #[cold]
    fn borrow(&mut self, key_value: &[u8], lender: &Arc<impl Lend>) -> bool {
        let Some(advance) = self.advance else { return false };
        let most_held = advance + MOST_HELD * (self.lent_bytes + key_value.len());
        let debt = self.debt.get_or_insert_default();
        let Some(lent) = debt.borrow(key_value, lender, most_held) else { return false };
        debt.cells.push((self.ends.len(), lent));
        self.lent_bytes += key_value.len();
        self.bytes.own().extend_from_slice(&(key_value.len() as u32).to_be_bytes());
        self.ends.push(self.bytes.len());
        true
    }
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// Size of the cell block, in bytes.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.bytes.len() + self.lent_bytes
    }
    /// Memory that it has for bytes and cells of its own.
    pub fn capacity(&self) -> (usize, usize) {
        let bytes = match &self.bytes {
            Room::Own(bytes) => bytes.capacity(),
            Room::Part(_) => 0,
        };
        (bytes, self.ends.capacity())
    }
    /// Of these, what is not lent.
    pub fn own_bytes(&self) -> usize {
        self.bytes.len()
    }
    pub fn mark(&self) -> Mark {
        Mark { cells: self.ends.len(), bytes: self.bytes.len() }
    }
    /// Number of cells pushed since `mark`.
    pub fn len_since(&self, mark: Mark) -> usize {
        self.ends.len() - mark.cells
    }
    /// Forgets every cell pushed since `mark`.
    pub fn truncate(&mut self, mark: Mark) {
        self.ends.truncate(mark.cells);
        self.bytes.own().truncate(mark.bytes);
        if let Some(debt) = &mut self.debt {
            self.lent_bytes -= debt.split_off(mark.cells).iter().map(|(_, key_value)| key_value.len()).sum::<usize>();
        }
    }
    /// Drops the cells pushed since `mark` that `keep` does not want; the others stay in order.
    pub fn retain_since(&mut self, mark: Mark, mut keep: impl FnMut(&CellRef<'_>) -> bool) {
        let (mut kept, mut write, mut read) = (mark.cells, mark.bytes, mark.bytes);
        let bytes = self.bytes.own();
        let lent = self.debt.as_mut().map(|debt| debt.split_off(mark.cells));
        let mut lent = lent.into_iter().flatten().peekable();
        for index in mark.cells..self.ends.len() {
            let end = self.ends[index];
            let lent = lent.next_if(|(cell, _)| *cell == index);
            let key_value = lent.as_ref().map_or(&bytes[read + 4..end], |(_, key_value)| key_value);
            if parse_key_value(key_value).is_ok_and(|cell| keep(&cell)) {
                bytes.copy_within(read..end, write);
                write += end - read;
                self.ends[kept] = write;
                if let Some(debt) = &mut self.debt {
                    debt.cells.extend(lent.map(|(_, key_value)| (kept, key_value)));
                }
                kept += 1;
            } else if let Some((_, key_value)) = lent {
                self.lent_bytes -= key_value.len();
            }
            read = end;
        }
        self.ends.truncate(kept);
        bytes.truncate(write);
    }
    pub fn clear(&mut self) {
        self.ends.clear();
        self.bytes.own().clear();
        (self.debt, self.lent_bytes) = (None, 0);
    }
    /// The cell at `index`; its bytes were checked when they were pushed.
    pub fn get(&self, index: usize) -> Option<CellRef<'_>> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        let own = &self.bytes[start + 4..end];
        parse_key_value(if own.is_empty() { self.lent(index)? } else { own }).ok()
    }
    #[cold]
    fn lent(&self, index: usize) -> Option<&[u8]> {
        let cells = &self.debt.as_ref()?.cells;
        let at = cells.binary_search_by_key(&index, |(cell, _)| *cell).ok()?;
        Some(&cells[at].1)
    }
    /// Gives the cell at `index`, which is not lent, another timestamp, in place.
    pub fn set_timestamp(&mut self, index: usize, timestamp: u64) {
        if let Some(at) = self.timestamp_at(index) {
            self.bytes.bytes_mut()[at..at + 8].copy_from_slice(&timestamp.to_be_bytes());
        }
    }
    /// Gives every cell whose timestamp is `LATEST_TIMESTAMP` the timestamp `now`, in place.
    pub fn set_latest_timestamps(&mut self, now: u64) {
        for index in 0..self.len() {
            if self.get(index).is_some_and(|cell| cell.timestamp() == crate::LATEST_TIMESTAMP) {
                self.set_timestamp(index, now);
            }
        }
    }
    /// Where the timestamp of a cell lies: before the type, the last byte of the key.
    fn timestamp_at(&self, index: usize) -> Option<usize> {
        debug_assert!(self.lent_bytes == 0, "what is written is not lent");
        let cell = self.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(start + 4 + 8 + cell.key.len() - crate::key::TS_TYPE_SIZE)
    }
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = CellRef<'_>> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }
    /// The cell block, if it borrows nothing.
    pub fn bytes(&self) -> &[u8] {
        debug_assert!(self.lent_bytes == 0, "what is lent is not here");
        &self.bytes
    }
    /// The cell block in one piece.
    pub fn into_bytes(self) -> Vec<u8> {
        self.into_block().into_bytes()
    }
    /// The cell block as it lies.
    pub fn into_block(mut self) -> CellBlock {
        let cells = self.debt.map(|debt| debt.cells).unwrap_or_default();
        let lent = cells.into_iter().map(|(cell, bytes)| Lent { at: self.ends[cell], bytes });
        CellBlock::new(std::mem::take(self.bytes.own()), lent.collect())
    }
    /// Lets go of the buffer in which the cells came, if it holds a part of one.
    pub fn let_go(&mut self) {
        self.bytes.own();
    }
    pub fn to_owned_cells(&self) -> Vec<OwnedCell> {
        self.iter().map(|c| c.to_owned_cell()).collect()
    }
    /// Takes a cell block in KeyValue form (one codec's bytes), checking every cell.
    pub fn from_block(bytes: Vec<u8>, with_tags: bool) -> Result<CellBuf, CellError> {
        CellBuf::checked(Room::Own(bytes), with_tags)
    }
    /// As [`CellBuf::from_block`], for a part of the buffer that brought it, which is changed in place, but not copied.
    pub fn from_part(bytes: BytesMut, with_tags: bool) -> Result<CellBuf, CellError> {
        CellBuf::checked(Room::Part(bytes), with_tags)
    }
    fn checked(bytes: Room, with_tags: bool) -> Result<CellBuf, CellError> {
        let mut ends = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let Some(len) = bytes.get(at..at + 4) else {
                return Err(CellError::Truncated { what: "cell", needed: 4, available: bytes.len() - at });
            };
            let len = u32::from_be_bytes([len[0], len[1], len[2], len[3]]) as usize;
            let kv = bytes.get(at + 4..(at + 4).saturating_add(len)).ok_or(CellError::Truncated {
                what: "cell",
                needed: len,
                available: bytes.len() - at - 4,
            })?;
            parse_key_value(kv)?;
            at += 4 + len;
            ends.push(at);
        }
        Ok(CellBuf { bytes, ends, with_tags, ..CellBuf::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_change_in_place() {
        let mut buf = CellBuf::new(true);
        for ts in [crate::LATEST_TIMESTAMP, 5, crate::LATEST_TIMESTAMP] {
            buf.push(&OwnedCell::put(b"row", b"f", b"qual", ts, b"value").as_ref());
        }
        let size = buf.size_bytes();
        buf.set_latest_timestamps(77);
        buf.set_timestamp(2, 78);
        buf.set_timestamp(9, 1);
        let cells: Vec<_> = buf.iter().map(|c| (c.row(), c.timestamp(), c.type_code(), c.value)).collect();
        let cell = |ts| (&b"row"[..], ts, 4, &b"value"[..]);
        assert_eq!((cells, buf.size_bytes()), (vec![cell(77), cell(5), cell(78)], size));
    }

    #[test]
    fn flat_cells_are_pushed_as_others_are() {
        let [mut flat, mut lying, mut other] = [CellBuf::new(false), CellBuf::new(false), CellBuf::new(false)];
        for value in [&b""[..], b"v", &[7; 300]] {
            let owned = OwnedCell::put(b"row", b"f", b"qual", 9, value);
            let cell = owned.as_ref();
            let bytes = [cell.key, cell.value].concat();
            flat.push_flat(&FlatCell::new(&bytes, cell.key.len(), &[], 3));
            other.push(&cell);
            lying.push_key_value(&other.bytes()[other.bytes().len() - cell.key_value_len()..]);
        }
        assert_eq!((flat.bytes(), &flat.ends), (other.bytes(), &other.ends));
        assert_eq!((lying.bytes(), &lying.ends), (other.bytes(), &other.ends));
    }

    #[test]
    fn a_large_buffer_is_moved_once() {
        let mut one = CellBuf::new(false);
        one.push(&OwnedCell::put(b"row", b"f", b"qual", 9, &[7; 1000]).as_ref());
        let (key_value, most) = (&one.bytes()[4..], 2 << 20);
        let moves = |most: usize| {
            let mut buf = CellBuf::new(false).growing_to(most);
            let mut rooms = Vec::new();
            while buf.size_bytes() < 2_000_000 {
                buf.push_key_value(key_value);
                rooms.push(buf.bytes.own().capacity());
            }
            rooms.dedup();
            rooms
        };
        let (doubled, known) = (moves(0), moves(most));
        assert_eq!(known.last(), Some(&most), "{known:?}");
        let large = |rooms: &[usize]| rooms.iter().filter(|room| **room > 2 * LARGE).count();
        assert_eq!((large(&known), large(&doubled) > 3), (1, true), "{known:?} {doubled:?}");
        // It may get larger than was said.
        assert!(*moves(LARGE).last().unwrap() >= 2_000_000);
    }

    #[test]
    fn retain_since_leaves_what_came_before_the_mark() {
        let mut buf = CellBuf::new(false);
        let put =
            |buf: &mut CellBuf, q: &str| buf.push(&OwnedCell::put(b"r", b"f", q.as_bytes(), 1, q.as_bytes()).as_ref());
        put(&mut buf, "drop");
        let mark = buf.mark();
        for q in ["a", "drop", "longer", "drop", "b"] {
            put(&mut buf, q);
        }
        buf.retain_since(mark, |c| c.qualifier() != b"drop");
        let left: Vec<_> = buf.iter().map(|c| c.value.to_vec()).collect();
        assert_eq!(left, [&b"drop"[..], b"a", b"longer", b"b"]);
        put(&mut buf, "c");
        assert_eq!(CellBuf::from_block(buf.bytes().to_vec(), false).unwrap().len(), 5);
    }

    /// What is to be done next, as random numbers say.
    fn roll(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % below
    }

    #[test]
    fn lent_cells_are_as_copied_ones() {
        let cell = |ts, len| OwnedCell::put(b"row", b"f", b"qual", ts, &vec![ts as u8; len]);
        let mut state = 1;
        let (mut most_lent, mut owners) = (0, Vec::new());
        for _ in 0..40 {
            let (mut lent, mut copied) = (CellBuf::new(false).borrowing(0), CellBuf::new(false));
            let mut marks = vec![(lent.mark(), copied.mark())];
            for ts in 0..60 {
                match roll(&mut state, 20) {
                    0 => {
                        let (of_lent, of_copied) = marks[roll(&mut state, marks.len() as u64) as usize];
                        marks.retain(|mark| mark.0.cells <= of_lent.cells);
                        lent.truncate(of_lent);
                        copied.truncate(of_copied);
                    }
                    1 => {
                        let (of_lent, of_copied) = marks[marks.len() - 1];
                        let odd = roll(&mut state, 2);
                        lent.retain_since(of_lent, |cell| cell.timestamp() % 2 == odd);
                        copied.retain_since(of_copied, |cell| cell.timestamp() % 2 == odd);
                    }
                    2 if roll(&mut state, 10) == 0 => {
                        lent.clear();
                        copied.clear();
                        marks.truncate(1);
                    }
                    3..6 => marks.push((lent.mark(), copied.mark())),
                    6..10 => [&mut lent, &mut copied].into_iter().for_each(|buf| buf.push(&cell(ts, 30).as_ref())),
                    _ => {
                        let len = LEAST_LENT - 40 + roll(&mut state, 50) as usize;
                        let mut own = CellBuf::new(false);
                        own.push(&cell(ts, len).as_ref());
                        let owner = Arc::new(Bytes::from(own.into_bytes()));
                        lent.push_or_borrow(&owner[4..], &owner);
                        copied.push_key_value(&owner[4..]);
                        owners.push(owner);
                    }
                }
                let told = |buf: &CellBuf| (buf.len(), buf.size_bytes());
                assert_eq!(told(&lent), told(&copied));
            }
            assert!(lent.iter().eq(copied.iter()) && lent.iter().rev().eq(copied.iter().rev()));
            assert_eq!(lent.get(lent.len()), None);
            let lent_cells = lent.debt.as_ref().map_or(0, |debt| debt.cells.len());
            most_lent = most_lent.max(lent_cells);
            let block = lent.clone().into_block();
            assert_eq!((block.len(), block.is_empty()), (copied.size_bytes(), copied.is_empty()));
            let pieces: Vec<Bytes> = block.clone().into_pieces().collect();
            assert!(pieces.iter().all(|piece| !piece.is_empty()) && pieces.concat() == copied.bytes());
            assert_eq!(block.into_own().is_ok(), lent_cells == 0);
            assert!(lent.into_bytes() == copied.into_bytes());
        }
        assert!(most_lent > 8, "{most_lent}");
        assert!(owners.into_iter().all(|bytes| bytes.is_unique()));
    }

    /// A lender's memory: a KeyValue of this length, and so many bytes more that nobody wants.
    fn lender(key_value_len: usize, more: usize) -> (Arc<Bytes>, usize) {
        let mut own = CellBuf::new(false);
        own.push(&OwnedCell::put(b"row", b"f", b"q", 1, &vec![1; key_value_len - 8 - 17]).as_ref());
        assert_eq!(own.size_bytes(), 4 + key_value_len);
        let mut memory = own.into_bytes().split_off(4);
        memory.resize(key_value_len + more, 0);
        (Arc::new(memory.into()), key_value_len)
    }

    #[test]
    fn only_large_cells_are_lent_and_to_those_who_borrow() {
        let lent = |mut buf: CellBuf, (memory, len): (Arc<Bytes>, usize)| {
            buf.push_or_borrow(&memory[..len], &memory);
            assert_eq!(buf.size_bytes(), 4 + len);
            let own = buf.own_bytes();
            let is_lent = buf.into_block().into_pieces().nth(1).is_some_and(|piece| piece.as_ptr() == memory.as_ptr());
            assert_eq!(own, if is_lent { 4 } else { 4 + len });
            is_lent
        };
        let borrowing = |advance| CellBuf::new(false).borrowing(advance);
        assert!(lent(borrowing(0), lender(LEAST_LENT, 0)));
        assert!(!lent(CellBuf::new(false), lender(LEAST_LENT, 0)));
        assert!(!lent(borrowing(0), lender(LEAST_LENT - 1, 0)));
        assert!(lent(borrowing(0), lender(LEAST_LENT, 3 * LEAST_LENT)));
        assert!(!lent(borrowing(0), lender(LEAST_LENT, 3 * LEAST_LENT + 1)));
        assert!(lent(borrowing(1), lender(LEAST_LENT, 3 * LEAST_LENT + 1)));
        // It is not the lender's.
        let mut buf = borrowing(0);
        let ((memory, len), (other, _)) = (lender(LEAST_LENT, 0), lender(LEAST_LENT, 0));
        buf.push_or_borrow(&memory[..len], &other);
        assert_eq!(buf.bytes()[4..], **memory);
    }

    #[test]
    fn not_much_more_is_held_than_what_is_lent() {
        let lenders: Vec<_> = (0..100).map(|_| lender(LEAST_LENT, 15 * LEAST_LENT)).collect();
        // One cell of each, and all of each.
        for (cells, all_are_lent) in [(1, false), (16, true)] {
            let mut buf = CellBuf::new(false).borrowing(64 * LEAST_LENT);
            for (memory, len) in &lenders {
                (0..cells).for_each(|_| buf.push_or_borrow(&memory[..*len], memory));
            }
            let held = lenders.iter().filter(|(memory, _)| !memory.is_unique()).count() * 16 * LEAST_LENT;
            let lent = buf.size_bytes() - buf.own_bytes();
            assert!(held > 0 && held <= 64 * LEAST_LENT + MOST_HELD * lent, "{held} held, {lent} lent");
            assert_eq!(lent == 100 * cells * LEAST_LENT, all_are_lent, "{lent}");
            drop(buf);
            assert!(lenders.iter().all(|(memory, _)| memory.is_unique()));
        }
    }

    #[test]
    fn cells_stay_in_the_buffer_that_brought_them_until_one_is_appended() {
        let (put, other) =
            (OwnedCell::put(b"row", b"f", b"q", crate::LATEST_TIMESTAMP, b"v"), OwnedCell::put(b"s", b"", b"", 1, b""));
        let mut block = CellBuf::new(true);
        (0..3).for_each(|_| block.push(&put.as_ref()));
        let mut came = BytesMut::from(&[b"head", block.bytes()].concat()[..]);
        let mut part = came.split_off(4);
        let (second, place) = (part.split_off(block.size_bytes() / 3), part.as_ptr());
        let mut first = CellBuf::from_part(part, true).unwrap();
        let second = CellBuf::from_part(second, true).unwrap();
        first.set_latest_timestamps(7);
        assert_eq!((first.len(), second.len(), first.bytes().as_ptr()), (1, 2, place));
        let stamps = |buf: &CellBuf| buf.iter().map(|cell| cell.timestamp()).collect::<Vec<_>>();
        assert_eq!((stamps(&first), stamps(&second)), (vec![7], vec![crate::LATEST_TIMESTAMP; 2]));
        let before = first.bytes().to_vec();
        first.let_go();
        assert_ne!(first.bytes().as_ptr(), place);
        first.push(&other.as_ref());
        assert_eq!((first.len(), &first.bytes()[..before.len()]), (2, &before[..]));
        assert_eq!(second.into_bytes(), block.bytes()[before.len()..]);
        assert!(CellBuf::from_part(BytesMut::from(&[0, 0, 0, 9, 1][..]), true).is_err());
    }
}
