//! [`IndexPath`]: the way from the root of the index down to one data block.
//!
//! ```text
//! root entry 3 -> intermediate block, entry 17 -> leaf block, entry 250 -> data block
//! ```
//! The nodes on the way are held by reference count, so going to the next data block usually touches nothing else.

use crate::{
    Block, BlockKindHint, BlockSource, BlockType, HFileError, Reader, Step,
    index::{Level, Place},
    source::ready,
};
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub(crate) struct IndexPath {
    root: usize,
    /// Blocks below the root, leaf last, each with the entry taken.
    nodes: Vec<(Arc<Block>, usize)>,
}

/// Which entry to take in each block on the way down.
#[derive(Clone, Copy)]
enum Take<'a> {
    First,
    Last,
    /// The last one not greater than the key (or less than it, if strictly).
    Key(&'a [u8], bool),
}

impl IndexPath {
    /// Leads to the block that could hold the first cell not less than `key` (strictly: the last cell less than it).
    /// False if `key` is before all blocks; the path is void then.
    pub(crate) fn seek(
        &mut self,
        reader: &Reader,
        key: &[u8],
        strictly: bool,
        src: &dyn BlockSource,
    ) -> Result<Step<bool>, HFileError> {
        self.nodes.clear();
        match reader.index().find(key, reader.order(), strictly) {
            Some(root) => self.root = root,
            None => return Ok(Step::Ready(false)),
        }
        Ok(self.descend(reader, Take::Key(key, strictly), src)?.map(|()| true))
    }

    /// Leads to the first data block. False in an empty file.
    pub(crate) fn first(&mut self, reader: &Reader, src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        self.nodes.clear();
        self.root = 0;
        if reader.index().len() == 0 {
            return Ok(Step::Ready(false));
        }
        Ok(self.descend(reader, Take::First, src)?.map(|()| true))
    }

    /// Makes this the path to the block after that of `from`. False if there is none.
    pub(crate) fn after(
        &mut self,
        from: &IndexPath,
        reader: &Reader,
        src: &dyn BlockSource,
    ) -> Result<Step<bool>, HFileError> {
        self.clone_from(from);
        while let Some((block, entry)) = self.nodes.pop() {
            if entry + 1 < Level::new(&block).len() {
                self.nodes.push((block, entry + 1));
                return Ok(self.descend(reader, Take::First, src)?.map(|()| true));
            }
        }
        if self.root + 1 >= reader.index().len() {
            return Ok(Step::Ready(false));
        }
        self.root += 1;
        Ok(self.descend(reader, Take::First, src)?.map(|()| true))
    }

    /// Makes this the path to the block before that of `from`. False if there is none.
    pub(crate) fn before(
        &mut self,
        from: &IndexPath,
        reader: &Reader,
        src: &dyn BlockSource,
    ) -> Result<Step<bool>, HFileError> {
        self.clone_from(from);
        while let Some((block, entry)) = self.nodes.pop() {
            if entry > 0 {
                self.nodes.push((block, entry - 1));
                return Ok(self.descend(reader, Take::Last, src)?.map(|()| true));
            }
        }
        if self.root == 0 {
            return Ok(Step::Ready(false));
        }
        self.root -= 1;
        Ok(self.descend(reader, Take::Last, src)?.map(|()| true))
    }

    /// Goes down to the leaf.
    fn descend(&mut self, reader: &Reader, take: Take<'_>, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        let depth = reader.index_levels() as usize - 1;
        while self.nodes.len() < depth {
            let leaf = self.nodes.len() + 1 == depth;
            let kind = if leaf { BlockType::LeafIndex } else { BlockType::IntermediateIndex };
            let block = ready!(reader.fetch(self.place(reader), kind, BlockKindHint::Index, true, src)?);
            let level = Level::new(&block);
            let entry = match take {
                Take::First => 0,
                Take::Last => level.len() - 1,
                Take::Key(key, strictly) => level.find(key, reader.order(), strictly).ok_or_else(|| {
                    HFileError::corrupt(reader.name(), block.offset, "index block begins after its parent's key")
                })?,
            };
            self.nodes.push((block, entry));
        }
        Ok(Step::Ready(()))
    }

    /// The block that the path leads to.
    pub(crate) fn place(&self, reader: &Reader) -> Place {
        match self.nodes.last() {
            Some((block, entry)) => Level::new(block).place(*entry),
            None => reader.index().place(self.root),
        }
    }

    /// The block behind the one that the path leads to, if the same index block names it.
    pub(crate) fn next_place(&self, reader: &Reader) -> Option<Place> {
        self.place_ahead(1, reader)
    }

    /// The same of one so many blocks behind.
    pub(crate) fn place_ahead(&self, blocks: usize, reader: &Reader) -> Option<Place> {
        match self.nodes.last() {
            Some((block, entry)) => {
                let level = Level::new(block);
                (entry + blocks < level.len()).then(|| level.place(entry + blocks))
            }
            None => {
                let root = reader.index();
                (self.root + blocks < root.len()).then(|| root.place(self.root + blocks))
            }
        }
    }

    /// To that block.
    pub(crate) fn advance(&mut self) {
        match self.nodes.last_mut() {
            Some((_, entry)) => *entry += 1,
            None => self.root += 1,
        }
    }

    /// The index key of the following data block, as far as the blocks on the path tell.
    pub(crate) fn next_key<'a>(&'a self, reader: &'a Reader) -> Option<&'a [u8]> {
        for (block, entry) in self.nodes.iter().rev() {
            let level = Level::new(block);
            if entry + 1 < level.len() {
                return Some(level.key(entry + 1));
            }
        }
        (self.root + 1 < reader.index().len()).then(|| reader.index().key(self.root + 1))
    }
}
