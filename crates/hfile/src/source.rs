//! The seam between scanners and whoever holds the blocks.

use crate::{Block, FileId, HFileError, Reader};
use martite_env::ReadAt;
use std::sync::Arc;

/// What a requested block is for; a cache may treat them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BlockKindHint {
    Data,
    Index,
    Bloom,
    Meta,
}

/// A block that somebody needs: `len` bytes at `offset` hold it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BlockRequest {
    pub file: FileId,
    pub offset: u64,
    pub len: u32,
    pub kind: BlockKindHint,
    /// Whether to keep it after this use.
    pub cache: bool,
}

/// The result of a step that may miss a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<T> {
    Ready(T),
    /// The block is not in memory. Nothing was changed: call again with the same arguments once it is, or with a
    /// source that may block.
    Need(BlockRequest),
}

impl<T> Step<T> {
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Step<U> {
        match self {
            Step::Ready(value) => Step::Ready(f(value)),
            Step::Need(request) => Step::Need(request),
        }
    }
    /// The value, if no block was missing.
    pub fn ready(self) -> Option<T> {
        match self {
            Step::Ready(value) => Some(value),
            Step::Need(_) => None,
        }
    }
}

/// The value of a [`Step`], or return early with what it needs.
macro_rules! ready {
    ($step:expr) => {
        match $step {
            $crate::Step::Ready(value) => value,
            $crate::Step::Need(request) => return Ok($crate::Step::Need(request)),
        }
    };
}
pub(crate) use ready;

/// Where decoded blocks come from.
pub trait BlockSource {
    /// The block, decoded by `reader.decode_block`. `None` only from a source that does not block.
    fn get(&self, reader: &Reader, req: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError>;

    /// As `get`, for a block that is only looked at: one that all readers need is not counted in and out by each of them.
    /// Does not call `look` when the source does not have the block.
    fn look_at(&self, reader: &Reader, request: &BlockRequest, look: &mut dyn FnMut(&Block)) -> Result<(), HFileError> {
        if let Some(block) = self.get(reader, request)? {
            look(&block);
        }
        Ok(())
    }
    /// The block will be asked for soon: whoever has it may ask for its memory.
    fn announce(&self, _request: &BlockRequest) {}
    /// The block, if whoever has it need not wait for it. It does not count as asked for.
    fn at_hand(&self, _request: &BlockRequest) -> Option<Arc<Block>> {
        None
    }
    fn may_block(&self) -> bool;
}

/// Reads every block from the file, without a cache: tools, tests, compactions.
pub struct FileSource<'a> {
    pub file: &'a dyn ReadAt,
}

impl BlockSource for FileSource<'_> {
    fn get(&self, reader: &Reader, req: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        // The reader checked against the file's size whatever its index names.
        let mut bytes = vec![0; req.len as usize];
        self.file.read_exact_at(&mut bytes, req.offset).map_err(|e| HFileError::io(reader.name(), req.offset, e))?;
        reader.decode_block_vec(req.offset, bytes).map(|block| Some(Arc::new(block)))
    }
    fn may_block(&self) -> bool {
        true
    }
}
