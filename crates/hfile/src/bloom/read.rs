//! [`Bloom`]: an open filter: its parameters and the index of its chunks.
//!
//! ```text
//! | u32 version 3 | u64 bytes of all chunks | u32 hash count | u32 hash type | u64 keys | u64 room for keys |
//! | u32 chunks | vlong length, comparator class ("" for rows) | chunks x root index entry |
//! ```

use super::{HashType, every_bit};
use crate::{
    error::Parsed,
    format::BLOOM_VERSION,
    index::{Keys, Place, RootIndex},
    input::Input,
};
use martite_cell::Order;

/// More hash functions than this make no sense; error rates down to 1e-30 need 100.
const MAX_HASH_COUNT: u32 = 255;

#[derive(Debug)]
pub(crate) struct Bloom {
    hash: HashType,
    hash_count: u32,
    pub size_bytes: u64,
    /// Number of keys in all chunks.
    pub keys: u64,
    /// Chunks by first key.
    chunks: RootIndex,
    flat_keys: bool,
}

impl Bloom {
    pub(crate) fn parse(payload: &[u8], data_end: u64) -> Parsed<Bloom> {
        let mut input = Input::new(payload);
        let version = input.u32()?;
        if version != BLOOM_VERSION {
            return Err(format!("bloom filter version {version}"));
        }
        let size_bytes = input.u64()?;
        let hash_count = input.u32()?;
        let hash = input.u32()?;
        let hash = HashType::from_code(hash).ok_or_else(|| format!("hash type {hash}"))?;
        let (keys, _room) = (input.u64()?, input.u64()?);
        let count = input.u32()? as usize;
        let len = input.vlong_len()?;
        let flat_keys = !input.take(len)?.is_empty();
        if !(1..=MAX_HASH_COUNT).contains(&hash_count) {
            return Err(format!("{hash_count} hash functions"));
        }
        let keys_of = if flat_keys { Keys::Flat } else { Keys::Raw };
        let chunks = RootIndex::parse(input.take(input.len())?, count, keys_of, data_end)?;
        Ok(Bloom { hash, hash_count, size_bytes, keys, chunks, flat_keys })
    }

    /// Whether keys are those of a ROWCOL filter.
    pub(crate) fn flat_keys(&self) -> bool {
        self.flat_keys
    }

    /// The chunk that could hold a key; without one the key is not in the file.
    pub(crate) fn chunk(&self, key: &[u8]) -> Option<Place> {
        let entry =
            if self.flat_keys { self.chunks.find(key, Order::Default, false) } else { self.chunks.find_raw(key) };
        entry.map(|e| self.chunks.place(e))
    }

    /// Looks a key up in its chunk, which is not empty.
    pub(crate) fn contains(&self, chunk: &[u8], key: &[u8]) -> bool {
        every_bit(self.hash, self.hash_count, chunk.len(), key, |byte, bit| chunk[byte] & bit != 0)
    }

    pub(crate) fn heap_size(&self) -> usize {
        size_of::<Bloom>() + self.chunks.heap_size()
    }
}
