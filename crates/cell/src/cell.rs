//! [`CellRef`], a cell that borrows its bytes, and [`OwnedCell`], one that holds them.

use crate::key;
use bytes::Bytes;

/// A cell whose bytes lie elsewhere. `key` is a flat key that passed [`key::check`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CellRef<'a> {
    pub key: &'a [u8],
    pub value: &'a [u8],
    /// Tags section without its length; empty when the cell has none.
    pub tags: &'a [u8],
    /// MVCC write number; 0 once no reader can be older than the cell.
    pub seq_id: u64,
}

impl<'a> CellRef<'a> {
    /// A key to seek with: no value, newest possible sequence id.
    pub fn seek_key(key: &'a [u8]) -> CellRef<'a> {
        CellRef { key, value: &[], tags: &[], seq_id: u64::MAX }
    }
    #[inline]
    pub fn row(&self) -> &'a [u8] {
        key::row(self.key)
    }
    #[inline]
    pub fn family(&self) -> &'a [u8] {
        key::family(self.key)
    }
    #[inline]
    pub fn qualifier(&self) -> &'a [u8] {
        key::qualifier(self.key)
    }
    #[inline]
    pub fn timestamp(&self) -> u64 {
        key::timestamp(self.key)
    }
    #[inline]
    pub fn type_code(&self) -> u8 {
        key::type_code(self.key)
    }
    #[inline]
    pub fn is_delete(&self) -> bool {
        key::is_delete_code(self.type_code())
    }
    /// Bytes of the KeyValue form without tags: 8 bytes of lengths, key, value.
    #[inline]
    pub fn key_value_len(&self) -> usize {
        8 + self.key.len() + self.value.len()
    }
    pub fn to_owned_cell(&self) -> OwnedCell {
        OwnedCell::new(self.key, self.value, self.tags, self.seq_id)
    }
}

/// A cell whose key and value lie one behind the other, as they do in blocks and in memstores.
#[derive(Clone, Copy)]
pub struct FlatCell<'a> {
    /// Key and value.
    bytes: &'a [u8],
    key_len: usize,
    /// Tags section without its length; empty when the cell has none.
    pub tags: &'a [u8],
    pub seq_id: u64,
}

impl<'a> FlatCell<'a> {
    /// `bytes`: the key, so many bytes of them, and the value.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], key_len: usize, tags: &'a [u8], seq_id: u64) -> FlatCell<'a> {
        FlatCell { bytes, key_len, tags, seq_id }
    }
    #[inline(always)]
    pub fn key(&self) -> &'a [u8] {
        &self.bytes[..self.key_len]
    }
    /// Key and value.
    #[inline(always)]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
    #[inline(always)]
    pub fn as_cell(&self) -> CellRef<'a> {
        let (key, value) = self.bytes.split_at(self.key_len);
        CellRef { key, value, tags: self.tags, seq_id: self.seq_id }
    }
}

impl std::fmt::Debug for CellRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}/{}:{}/{}/{}/vlen={}/seqid={}",
            self.row().escape_ascii(),
            self.family().escape_ascii(),
            self.qualifier().escape_ascii(),
            self.timestamp() as i64,
            match key::CellType::from_code(self.type_code()) {
                Some(t) => format!("{t:?}"),
                None => self.type_code().to_string(),
            },
            self.value.len(),
            self.seq_id
        )
    }
}

/// A cell that holds its bytes: `key | value | tags` in one allocation.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnedCell {
    bytes: Bytes,
    key_len: u32,
    value_len: u32,
    pub seq_id: u64,
}

impl OwnedCell {
    pub fn new(key: &[u8], value: &[u8], tags: &[u8], seq_id: u64) -> OwnedCell {
        let mut bytes = Vec::with_capacity(key.len() + value.len() + tags.len());
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(value);
        bytes.extend_from_slice(tags);
        OwnedCell { bytes: bytes.into(), key_len: key.len() as u32, value_len: value.len() as u32, seq_id }
    }

    /// A Put cell; the everyday constructor of tests and catalog writers.
    pub fn put(row: &[u8], family: &[u8], qualifier: &[u8], timestamp: u64, value: &[u8]) -> OwnedCell {
        let key = key::flat_key(row, family, qualifier, timestamp, key::CellType::Put as u8);
        OwnedCell::new(&key, value, &[], 0)
    }

    #[inline]
    pub fn as_ref(&self) -> CellRef<'_> {
        let (key, rest) = self.bytes.split_at(self.key_len as usize);
        let (value, tags) = rest.split_at(self.value_len as usize);
        CellRef { key, value, tags, seq_id: self.seq_id }
    }

    /// Bytes held: key, value and tags.
    pub fn len_bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl std::fmt::Debug for OwnedCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_ref().fmt(f)
    }
}
