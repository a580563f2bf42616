//! Index blocks as they are written: entries collect in [`Chunk`]s, [`IndexWriter`] stacks them into levels.
//!
//! Leaf blocks are written between the data blocks as soon as they are full; the levels above when the file is
//! finished. A file with a single leaf's worth of blocks has only the root.

use crate::{
    format::{MAX_INDEX_LEVELS, MID_KEY_BYTES},
    index::Place,
    input::{put_sized, vlong_size},
};

/// Entries of one index block to be.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    places: Vec<Place>,
    /// End of each key in `keys`.
    ends: Vec<usize>,
    keys: Vec<u8>,
    /// Size in the format of the root, by which HBase too decides on another level.
    root_size: usize,
    /// Data blocks under each entry and those before it; for the mid key.
    blocks_up_to: Vec<u64>,
}

impl Chunk {
    pub(crate) fn add(&mut self, key: &[u8], place: Place) {
        self.places.push(place);
        self.root_size += 12 + vlong_size(key.len()) + key.len();
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn key(&self, entry: usize) -> &[u8] {
        let start = if entry == 0 { 0 } else { self.ends[entry - 1] };
        &self.keys[start..self.ends[entry]]
    }

    /// Size in the format of leaf and intermediate blocks.
    fn level_size(&self) -> usize {
        4 + 4 * (self.len() + 1) + 12 * self.len() + self.keys.len()
    }

    pub(crate) fn put_root(&self, out: &mut Vec<u8>) {
        for (i, place) in self.places.iter().enumerate() {
            put_place(out, *place);
            put_sized(out, self.key(i));
        }
    }

    fn put_level(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.len() as u32).to_be_bytes());
        for i in 0..=self.len() {
            let keys = if i == 0 { 0 } else { self.ends[i - 1] };
            out.extend_from_slice(&((12 * i + keys) as u32).to_be_bytes());
        }
        for (i, place) in self.places.iter().enumerate() {
            put_place(out, *place);
            out.extend_from_slice(self.key(i));
        }
    }

    fn clear(&mut self) {
        self.places.clear();
        self.ends.clear();
        self.keys.clear();
        self.root_size = 0;
        self.blocks_up_to.clear();
    }

    /// Where the entry of the middle data block is: in which leaf, and which entry there.
    fn mid_key(&self) -> Option<[u8; MID_KEY_BYTES]> {
        let middle = self.blocks_up_to.last()?.checked_sub(1)? / 2;
        let leaf = self.blocks_up_to.partition_point(|n| *n <= middle);
        let before = if leaf == 0 { 0 } else { self.blocks_up_to[leaf - 1] };
        let place = self.places.get(leaf)?;
        let mut out = [0; MID_KEY_BYTES];
        out[..8].copy_from_slice(&place.offset.to_be_bytes());
        out[8..12].copy_from_slice(&place.size.to_be_bytes());
        out[12..].copy_from_slice(&((middle - before) as u32).to_be_bytes());
        Some(out)
    }
}

fn put_place(out: &mut Vec<u8>, place: Place) {
    out.extend_from_slice(&place.offset.to_be_bytes());
    out.extend_from_slice(&place.size.to_be_bytes());
}

/// The data block index of a file that is being written.
#[derive(Debug)]
pub(crate) struct IndexWriter {
    max_size: usize,
    min_entries: usize,
    leaf: Chunk,
    root: Chunk,
    levels: u32,
    blocks: u64,
    /// Bytes of all index blocks before compression.
    pub uncompressed_size: u64,
}

impl IndexWriter {
    pub(crate) fn new(max_size: usize, min_entries: usize) -> IndexWriter {
        IndexWriter {
            max_size: max_size.max(1),
            min_entries: min_entries.max(2),
            leaf: Chunk::default(),
            root: Chunk::default(),
            levels: 1,
            blocks: 0,
            uncompressed_size: 0,
        }
    }

    /// A data block was written.
    pub(crate) fn add(&mut self, key: &[u8], place: Place) {
        self.leaf.add(key, place);
        self.blocks += 1;
    }

    /// Puts the payload of a leaf block to write now into `out`; call [`Self::leaf_written`] then.
    pub(crate) fn ready_leaf(&mut self, closing: bool, out: &mut Vec<u8>) -> bool {
        if self.leaf.len() == 0 {
            return false;
        }
        if closing && self.root.len() == 0 {
            // One leaf would be all: its entries are the root.
            std::mem::swap(&mut self.leaf, &mut self.root);
            return false;
        }
        if !closing && self.leaf.level_size() < self.max_size {
            return false;
        }
        self.leaf.put_level(out);
        true
    }

    pub(crate) fn leaf_written(&mut self, place: Place, payload_size: usize) {
        self.uncompressed_size += payload_size as u64;
        self.levels = 2;
        self.root.add(self.leaf.key(0), place);
        self.root.blocks_up_to.push(self.blocks);
        self.leaf.clear();
    }

    /// Writes intermediate levels through `write`, which gives a block's place, until the rest fits into the root.
    /// Gives the payload of the root block, its number of entries and the number of levels.
    pub(crate) fn finish<E>(
        &mut self,
        mut write: impl FnMut(&[u8]) -> Result<Place, E>,
    ) -> Result<(Vec<u8>, u32, u32), E> {
        let mid_key = if self.levels > 1 { self.root.mid_key() } else { None };
        while self.root.root_size > self.max_size
            && self.root.len() > self.min_entries
            && self.levels < MAX_INDEX_LEVELS
        {
            self.root = self.level_above(&mut write)?;
            self.levels += 1;
        }
        let mut payload = Vec::new();
        self.root.put_root(&mut payload);
        if let Some(mid_key) = mid_key {
            payload.extend_from_slice(&mid_key);
        }
        self.uncompressed_size += payload.len() as u64;
        Ok((payload, self.root.len() as u32, self.levels))
    }

    fn level_above<E>(&mut self, write: &mut impl FnMut(&[u8]) -> Result<Place, E>) -> Result<Chunk, E> {
        let (mut above, mut chunk, mut payload) = (Chunk::default(), Chunk::default(), Vec::new());
        for i in 0..self.root.len() {
            chunk.add(self.root.key(i), self.root.places[i]);
            let full = i >= self.min_entries && chunk.root_size >= self.max_size;
            if full || i + 1 == self.root.len() {
                payload.clear();
                chunk.put_level(&mut payload);
                above.add(chunk.key(0), write(&payload)?);
                self.uncompressed_size += payload.len() as u64;
                chunk.clear();
            }
        }
        Ok(above)
    }
}
