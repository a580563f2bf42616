//! [`Index`]: which blocks are in the slab, and where.

use super::segments::Place;
use super::{FileName, Key};
use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;

type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;

/// Where a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub place: Place,
    /// Bytes of the record.
    pub len: u32,
    /// Read since it was written, or moved.
    pub is_read: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By file, to drop one at once.
    files: Map<FileName, Map<u64, Entry>>,
    blocks: usize,
}

impl Index {
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Entry> {
        self.files.get(&key.file)?.get(&key.offset)
    }

    pub(crate) fn get_mut(&mut self, key: &Key) -> Option<&mut Entry> {
        self.files.get_mut(&key.file)?.get_mut(&key.offset)
    }

    /// The entry that was there before, if one was.
    pub(crate) fn insert(&mut self, key: Key, entry: Entry) -> Option<Entry> {
        let before = self.files.entry(key.file).or_default().insert(key.offset, entry);
        self.blocks += usize::from(before.is_none());
        before
    }

    pub(crate) fn remove(&mut self, key: &Key) -> Option<Entry> {
        let MapEntry::Occupied(mut blocks) = self.files.entry(key.file) else { return None };
        let removed = blocks.get_mut().remove(&key.offset)?;
        if blocks.get().is_empty() {
            blocks.remove();
        }
        self.blocks -= 1;
        Some(removed)
    }

    /// All blocks of a file.
    pub(crate) fn remove_file(&mut self, file: &FileName) -> Vec<Entry> {
        let removed: Vec<Entry> = self.files.remove(file).map(|m| m.into_values().collect()).unwrap_or_default();
        self.blocks -= removed.len();
        removed
    }

    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &Entry)> {
        let of_file = |(file, blocks): (&FileName, _)| (*file, blocks);
        self.files.iter().map(of_file).flat_map(|(file, blocks): (FileName, &Map<u64, Entry>)| {
            blocks.iter().map(move |(offset, entry)| (Key { file, offset: *offset }, entry))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_and_go_alone_and_with_their_file() {
        let entry = |at| Entry { place: Place { segment: 1, at }, len: 5, is_read: false };
        let key = |file, offset| Key { file: FileName([file; 16]), offset };
        let mut index = Index::default();
        for (file, offset) in [(1, 10), (1, 20), (2, 10)] {
            assert_eq!(index.insert(key(file, offset), entry(offset as u32)), None);
        }
        assert_eq!(index.insert(key(1, 10), entry(7)), Some(entry(10)));
        index.get_mut(&key(2, 10)).unwrap().is_read = true;
        assert_eq!((index.blocks(), index.get(&key(1, 10)), index.get(&key(3, 10))), (3, Some(&entry(7)), None));
        let mut all: Vec<_> = index.iter().map(|(key, entry)| (key.file.0[0], key.offset, entry.is_read)).collect();
        all.sort_unstable();
        assert_eq!(all, [(1, 10, false), (1, 20, false), (2, 10, true)]);
        assert_eq!(
            (index.remove(&key(1, 11)), index.remove(&key(3, 1)), index.remove(&key(1, 10))),
            (None, None, Some(entry(7)))
        );
        assert_eq!(index.remove_file(&FileName([1; 16])), [entry(20)]);
        assert_eq!((index.remove_file(&FileName([1; 16])), index.blocks()), (vec![], 1));
    }
}
