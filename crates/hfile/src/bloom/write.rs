//! [`BloomWriter`]: fills chunks while a file is written.
//!
//! A chunk has a fixed size and takes as many keys as the error rate allows. The last one usually stays emptier: it is
//! folded, its halves or-ed together, as long as that leaves the error rate alone.

use super::{HashType, every_bit};
use crate::{
    format::{BLOOM_VERSION, ROW_COL_COMPARATOR},
    index::Place,
    index_writer::Chunk,
    input::put_sized,
};
use std::{collections::VecDeque, f64::consts::LN_2};

/// A chunk that is ready to be written as a block.
struct Ready {
    first_key: Vec<u8>,
    bits: Vec<u8>,
}

pub(crate) struct BloomWriter {
    flat_keys: bool,
    hash: HashType,
    hash_count: u32,
    chunk_bytes: usize,
    max_keys: u64,
    first_key: Vec<u8>,
    last_key: Vec<u8>,
    bits: Vec<u8>,
    keys_in_chunk: u64,
    ready: VecDeque<Ready>,
    index: Chunk,
    keys: u64,
    total_bytes: u64,
    total_max_keys: u64,
}

impl BloomWriter {
    /// `flat_keys` for ROWCOL. `error_rate` is between 0 and 1.
    pub(crate) fn new(flat_keys: bool, block_bytes: usize, error_rate: f64, max_fold: u32) -> BloomWriter {
        // HBase keeps the rate as a float; the same number of keys per chunk needs the same rounding.
        let mut error_rate = error_rate as f32;
        if flat_keys {
            // A ROWCOL lookup asks twice, for the column and for its row.
            error_rate = (1.0 - f64::from(1.0 - error_rate).sqrt()) as f32;
        }
        let error_rate = f64::from(error_rate);
        let error_rate = if error_rate > 0.0 && error_rate < 1.0 { error_rate } else { 0.01 };
        let chunk_bytes = block_bytes.max(1).next_multiple_of(1 << max_fold.min(16));
        let bits = chunk_bytes as f64 * 8.0;
        let ideal_keys = (bits * (LN_2 * LN_2 / -error_rate.ln())).floor().max(1.0);
        let hash_count = ((bits / ideal_keys).floor() * LN_2).ceil().clamp(1.0, 255.0);
        // The rounded hash count moves the best number of keys a little.
        let max_keys = -bits / hash_count * (1.0 - (error_rate.ln() / hash_count).exp()).ln();
        BloomWriter {
            flat_keys,
            hash: HashType::Murmur,
            hash_count: hash_count as u32,
            chunk_bytes,
            max_keys: (max_keys as u64).max(1),
            first_key: Vec::new(),
            last_key: Vec::new(),
            bits: Vec::new(),
            keys_in_chunk: 0,
            ready: VecDeque::new(),
            index: Chunk::default(),
            keys: 0,
            total_bytes: 0,
            total_max_keys: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys == 0
    }

    pub(crate) fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// Adds a key that is not less than the one before; the same one again changes nothing.
    pub(crate) fn add(&mut self, key: &[u8]) {
        if self.keys > 0 && self.last_key == key {
            return;
        }
        if self.keys_in_chunk >= self.max_keys {
            self.close_chunk();
        }
        if self.bits.is_empty() {
            self.bits.resize(self.chunk_bytes, 0);
            self.first_key.clear();
            self.first_key.extend_from_slice(key);
        }
        let bits = &mut self.bits;
        every_bit(self.hash, self.hash_count, bits.len(), key, |byte, bit| {
            bits[byte] |= bit;
            true
        });
        self.keys += 1;
        self.keys_in_chunk += 1;
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
    }

    /// The next chunk to write as a block, if one is full (or, when `closing`, begun). Call [`Self::written`] then.
    pub(crate) fn ready_chunk(&mut self, closing: bool) -> Option<&[u8]> {
        if self.keys_in_chunk >= self.max_keys || closing && self.keys_in_chunk > 0 {
            self.close_chunk();
        }
        self.ready.front().map(|ready| ready.bits.as_slice())
    }

    pub(crate) fn written(&mut self, place: Place) {
        if let Some(ready) = self.ready.pop_front() {
            self.index.add(&ready.first_key, place);
        }
    }

    fn close_chunk(&mut self) {
        let mut bits = std::mem::take(&mut self.bits);
        let mut max_keys = self.max_keys;
        while bits.len().is_multiple_of(2) && max_keys > self.keys_in_chunk * 2 {
            let half = bits.len() / 2;
            let (front, back) = bits.split_at_mut(half);
            front.iter_mut().zip(back).for_each(|(f, b)| *f |= *b);
            bits.truncate(half);
            max_keys /= 2;
        }
        self.keys_in_chunk = 0;
        self.total_bytes += bits.len() as u64;
        self.total_max_keys += max_keys;
        self.ready.push_back(Ready { first_key: std::mem::take(&mut self.first_key), bits });
    }

    /// Payload of the meta block.
    pub(crate) fn meta(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&BLOOM_VERSION.to_be_bytes());
        out.extend_from_slice(&self.total_bytes.to_be_bytes());
        out.extend_from_slice(&self.hash_count.to_be_bytes());
        out.extend_from_slice(&(self.hash as u32).to_be_bytes());
        out.extend_from_slice(&self.keys.to_be_bytes());
        out.extend_from_slice(&self.total_max_keys.to_be_bytes());
        out.extend_from_slice(&(self.index.len() as u32).to_be_bytes());
        put_sized(&mut out, if self.flat_keys { ROW_COL_COMPARATOR.as_bytes() } else { b"" });
        self.index.put_root(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bloom::Bloom;

    /// Writes `keys` (sorted) and gives the filter with its chunks.
    fn filter(keys: &[Vec<u8>], block_bytes: usize, error_rate: f64) -> (Bloom, Vec<Vec<u8>>) {
        let mut writer = BloomWriter::new(false, block_bytes, error_rate, 7);
        let mut chunks: Vec<Vec<u8>> = Vec::new();
        for (i, key) in keys.iter().enumerate() {
            writer.add(key);
            while let Some(chunk) = writer.ready_chunk(i + 1 == keys.len()) {
                chunks.push(chunk.to_vec());
                // The offset tells which chunk it is.
                writer.written(Place { offset: chunks.len() as u64 - 1, size: 33 });
            }
        }
        let bloom = Bloom::parse(&writer.meta(), 1 << 40).unwrap();
        assert_eq!(bloom.size_bytes as usize, chunks.iter().map(Vec::len).sum::<usize>());
        assert_eq!(bloom.keys as usize, keys.len());
        (bloom, chunks)
    }

    fn contains((bloom, chunks): &(Bloom, Vec<Vec<u8>>), key: &[u8]) -> bool {
        bloom.chunk(key).is_some_and(|place| bloom.contains(&chunks[place.offset as usize], key))
    }

    #[test]
    fn no_key_is_missed_and_few_others_are_found() {
        let key = |i: u32| format!("row-{:08}", i * 2).into_bytes();
        for (count, block_bytes, error_rate) in [(1, 131_072, 0.01), (20_000, 4096, 0.01), (20_000, 1 << 20, 0.001)] {
            let keys: Vec<_> = (0..count).map(key).collect();
            let filter = filter(&keys, block_bytes, error_rate);
            assert!(keys.iter().all(|k| contains(&filter, k)));
            let others = 100_000;
            let found = (0..others)
                .filter(|i| contains(&filter, format!("row-{:08}x", i % (count * 2) * 1000 / (i + 1)).as_bytes()))
                .count();
            let rate = found as f64 / others as f64;
            assert!(rate < error_rate * 2.0, "{count} keys, {block_bytes} bytes: {rate}");
        }
    }

    #[test]
    fn the_last_chunk_is_folded_to_what_its_keys_need() {
        let keys: Vec<_> = (0..100u32).map(|i| i.to_be_bytes().to_vec()).collect();
        let (_, chunks) = filter(&keys, 131_072, 0.01);
        // 100 keys at 1 % need 120 bytes.
        assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), [128]);
    }

    #[test]
    fn parameters_are_hbases_at_the_defaults() {
        let writer = BloomWriter::new(false, 131_072, 0.01, 7);
        assert_eq!((writer.hash_count, writer.max_keys, writer.chunk_bytes), (7, 109_306, 131_072));
    }
}
