//! [`Scanner`]: a position in a file; a state machine over decoded blocks.

use crate::{BlockSource, HFileError, Reader, Step};
use martite_cell::CellRef;
use std::sync::Arc;

pub struct Scanner {
    reader: Arc<Reader>,
}

impl Scanner {
    /// Starts before the first cell. `cache_blocks` travels in the requests for data blocks.
    pub fn new(reader: Arc<Reader>, _cache_blocks: bool) -> Scanner {
        Scanner { reader }
    }
    pub fn reader(&self) -> &Arc<Reader> {
        &self.reader
    }
    /// To the first cell whose key is not less than the flat key `key`.
    pub fn seek(&mut self, _key: &[u8], _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        todo!()
    }
    /// As `seek`, forward only: stays where it is if the current cell is already `key` or past it.
    pub fn reseek(&mut self, _key: &[u8], _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        todo!()
    }
    /// To the last cell whose key is less than `key`. False, and no current cell, if there is none.
    pub fn seek_before(&mut self, _key: &[u8], _src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        todo!()
    }
    pub fn seek_to_first(&mut self, _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        todo!()
    }
    /// To the next cell; past the last one there is no current cell.
    pub fn next(&mut self, _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        todo!()
    }
    /// The current cell. `None` before a seek, before the first cell, and at the end.
    pub fn peek(&self) -> Option<CellRef<'_>> {
        todo!()
    }
    /// First key of the next data block or one between the blocks: a key not past it costs no new block to reach.
    /// `None` in the last block or without a position.
    pub fn next_index_key(&self) -> Option<&[u8]> {
        todo!()
    }
}
