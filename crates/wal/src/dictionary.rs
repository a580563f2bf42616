//! The dictionaries of a compressed WAL: what was written in full once is a 2-byte index afterwards.
//!
//! ```text
//! new:    ff | varint length | bytes      enters the dictionary, unless empty
//! known:  i16 index                       becomes the most recently used
//! ```
//!
//! A full dictionary gives the index of its least recently used entry to the next new one; reader and writer make the
//! same moves and so agree. Source: HBase 2.6 `LRUDictionary`, `CompressionContext`, `TagCompressionContext`.

use std::sync::Arc;

const NONE: usize = usize::MAX;

/// Entries by index, in order of use.
pub(crate) struct Dictionary {
    nodes: Vec<DictionaryNode>,
    capacity: usize,
    newest: usize,
    oldest: usize,
}

struct DictionaryNode {
    bytes: Arc<[u8]>,
    newer: usize,
    older: usize,
}

impl Dictionary {
    pub fn new(capacity: usize) -> Dictionary {
        Dictionary { nodes: Vec::new(), capacity, newest: NONE, oldest: NONE }
    }

    pub fn get(&mut self, index: u16) -> Option<Arc<[u8]>> {
        let index = index as usize;
        let bytes = Arc::clone(&self.nodes.get(index)?.bytes);
        self.unlink(index);
        self.link_newest(index);
        Some(bytes)
    }

    pub fn add(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let index = if self.nodes.len() < self.capacity {
            self.nodes.push(DictionaryNode { bytes: bytes.into(), newer: NONE, older: NONE });
            self.nodes.len() - 1
        } else {
            let index = self.oldest;
            self.unlink(index);
            self.nodes[index].bytes = bytes.into();
            index
        };
        self.link_newest(index);
    }

    fn unlink(&mut self, index: usize) {
        let (newer, older) = (self.nodes[index].newer, self.nodes[index].older);
        match newer {
            NONE => self.newest = older,
            n => self.nodes[n].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            n => self.nodes[n].newer = newer,
        }
    }

    fn link_newest(&mut self, index: usize) {
        let before = std::mem::replace(&mut self.newest, index);
        self.nodes[index].newer = NONE;
        self.nodes[index].older = before;
        match before {
            NONE => self.oldest = index,
            n => self.nodes[n].newer = index,
        }
    }
}
