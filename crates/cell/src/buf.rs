//! [`CellBuf`]: the cells of an answer, in the form of a cell block, growing towards the socket.
//!
//! A read appends cells as it finds them; a filter that drops the row afterwards truncates to a mark. For a client
//! with `KeyValueCodec` the buffer is the cell block as it stands.

use crate::{
    CellError,
    cell::{CellRef, FlatCell, OwnedCell},
    codec::{append_key_value, parse_key_value},
};
use bytes::BytesMut;
use std::ops::Deref;

/// Cells in `u32 length | KeyValue` form, with the end of each one.
#[derive(Debug, Default, Clone)]
pub struct CellBuf {
    bytes: Room,
    /// End offset of each cell in `bytes`.
    ends: Vec<usize>,
    with_tags: bool,
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
    /// Room for more cells.
    pub fn reserve(&mut self, bytes: usize, cells: usize) {
        self.bytes.own().reserve(bytes);
        self.ends.reserve(cells);
    }
    #[inline]
    pub fn push(&mut self, cell: &CellRef<'_>) {
        append_key_value(self.bytes.own(), cell, self.with_tags);
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
        let out = self.bytes.own();
        out.reserve(head.len() + bytes.len());
        out.extend_from_slice(&head);
        out.extend_from_slice(bytes);
        self.ends.push(out.len());
    }
    /// Appends a cell without tags as it lies elsewhere: lengths, key and value.
    #[inline(always)]
    pub fn push_key_value(&mut self, key_value: &[u8]) {
        let out = self.bytes.own();
        out.reserve(4 + key_value.len());
        out.extend_from_slice(&(key_value.len() as u32).to_be_bytes());
        out.extend_from_slice(key_value);
        self.ends.push(out.len());
    }
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
    /// Size of the cell block, in bytes.
    pub fn size_bytes(&self) -> usize {
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
    }
    /// Drops the cells pushed since `mark` that `keep` does not want; the others stay in order.
    pub fn retain_since(&mut self, mark: Mark, mut keep: impl FnMut(&CellRef<'_>) -> bool) {
        let (mut kept, mut write, mut read) = (mark.cells, mark.bytes, mark.bytes);
        let bytes = self.bytes.own();
        for index in mark.cells..self.ends.len() {
            let end = self.ends[index];
            if parse_key_value(&bytes[read + 4..end]).is_ok_and(|cell| keep(&cell)) {
                bytes.copy_within(read..end, write);
                write += end - read;
                self.ends[kept] = write;
                kept += 1;
            }
            read = end;
        }
        self.ends.truncate(kept);
        bytes.truncate(write);
    }
    pub fn clear(&mut self) {
        self.ends.clear();
        self.bytes.own().clear();
    }
    /// The cell at `index`; its bytes were checked when they were pushed.
    pub fn get(&self, index: usize) -> Option<CellRef<'_>> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        parse_key_value(&self.bytes[start + 4..end]).ok()
    }
    /// Gives the cell at `index` another timestamp, in place.
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
        let cell = self.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(start + 4 + 8 + cell.key.len() - crate::key::TS_TYPE_SIZE)
    }
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = CellRef<'_>> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    pub fn into_bytes(mut self) -> Vec<u8> {
        std::mem::take(self.bytes.own())
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
        Ok(CellBuf { bytes, ends, with_tags })
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
