//! [`CellBuf`]: the cells of an answer, in the form of a cell block, growing towards the socket.
//!
//! A read appends cells as it finds them; a filter that drops the row afterwards truncates to a mark. For a client
//! with `KeyValueCodec` the buffer is the cell block as it stands.

use crate::{
    CellError,
    cell::{CellRef, FlatCell, OwnedCell},
    codec::{append_key_value, parse_key_value},
};

/// Cells in `u32 length | KeyValue` form, with the end of each one.
#[derive(Debug, Default, Clone)]
pub struct CellBuf {
    bytes: Vec<u8>,
    /// End offset of each cell in `bytes`.
    ends: Vec<usize>,
    with_tags: bool,
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
        self.bytes.reserve(bytes);
        self.ends.reserve(cells);
    }
    #[inline]
    pub fn push(&mut self, cell: &CellRef<'_>) {
        append_key_value(&mut self.bytes, cell, self.with_tags);
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
        self.bytes.reserve(head.len() + bytes.len());
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len());
    }
    /// Appends a cell without tags as it lies elsewhere: lengths, key and value.
    #[inline(always)]
    pub fn push_key_value(&mut self, key_value: &[u8]) {
        self.bytes.reserve(4 + key_value.len());
        self.bytes.extend_from_slice(&(key_value.len() as u32).to_be_bytes());
        self.bytes.extend_from_slice(key_value);
        self.ends.push(self.bytes.len());
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
        self.bytes.truncate(mark.bytes);
    }
    /// Drops the cells pushed since `mark` that `keep` does not want; the others stay in order.
    pub fn retain_since(&mut self, mark: Mark, mut keep: impl FnMut(&CellRef<'_>) -> bool) {
        let (mut kept, mut write, mut read) = (mark.cells, mark.bytes, mark.bytes);
        for index in mark.cells..self.ends.len() {
            let end = self.ends[index];
            if parse_key_value(&self.bytes[read + 4..end]).is_ok_and(|cell| keep(&cell)) {
                self.bytes.copy_within(read..end, write);
                write += end - read;
                self.ends[kept] = write;
                kept += 1;
            }
            read = end;
        }
        self.ends.truncate(kept);
        self.bytes.truncate(write);
    }
    pub fn clear(&mut self) {
        self.ends.clear();
        self.bytes.clear();
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
            self.bytes[at..at + 8].copy_from_slice(&timestamp.to_be_bytes());
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
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
    pub fn to_owned_cells(&self) -> Vec<OwnedCell> {
        self.iter().map(|c| c.to_owned_cell()).collect()
    }
    /// Takes a cell block in KeyValue form (one codec's bytes), checking every cell.
    pub fn from_block(bytes: Vec<u8>, with_tags: bool) -> Result<CellBuf, CellError> {
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
}
