//! A block source that counts what goes through it, for limits, quotas and metrics.

use martite_hfile::{Block, BlockKindHint, BlockRequest, BlockSource, HFileError, Reader};
use std::cell::Cell;
use std::sync::Arc;

pub(crate) struct Counted<'a> {
    inner: &'a dyn BlockSource,
    /// Bytes of decoded data blocks.
    pub bytes: &'a Cell<u64>,
    pub blocks: Cell<u64>,
}

impl<'a> Counted<'a> {
    pub(crate) fn new(inner: &'a dyn BlockSource, bytes: &'a Cell<u64>) -> Counted<'a> {
        Counted { inner, bytes, blocks: Cell::new(0) }
    }

    fn count(&self, request: &BlockRequest, block: &Block) {
        if request.kind == BlockKindHint::Data {
            self.bytes.set(self.bytes.get() + block.payload().len() as u64);
            self.blocks.set(self.blocks.get() + 1);
        }
    }
}

impl BlockSource for Counted<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        let block = self.inner.get(reader, request)?;
        if let Some(block) = &block {
            self.count(request, block);
        }
        Ok(block)
    }
    fn look_at(&self, reader: &Reader, request: &BlockRequest, look: &mut dyn FnMut(&Block)) -> Result<(), HFileError> {
        self.inner.look_at(reader, request, &mut |block| {
            self.count(request, block);
            look(block);
        })
    }
    fn announce(&self, request: &BlockRequest) {
        self.inner.announce(request);
    }
    fn at_hand(&self, request: &BlockRequest) -> Option<Arc<Block>> {
        self.inner.at_hand(request)
    }
    fn may_block(&self) -> bool {
        self.inner.may_block()
    }
}
