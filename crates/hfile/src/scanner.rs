//! [`Scanner`]: a position in a file; a state machine over decoded blocks.
//!
//! ```text
//! seek("m")  ->  index: the block that could hold "m"  ->  Need(block)      caller fetches, calls again
//! seek("m")  ->  index: the same block, there now      ->  Ready, peek() = first cell >= "m"
//! next()     ->  next cell of the block; after its last one the path in the index moves on: Need(next block)
//! ```
//! A step that needs a block leaves the scanner where it was.

use crate::{
    Block, BlockKindHint, BlockSource, HFileError, Reader, Step, cells::CellAt, index_path::IndexPath,
    marks::KEY_REACH, plain::Ahead, rows_before::BlockRows, source::ready,
};
use martite_cell::{CellRef, key};
use martite_env::prefetch::prefetch;
use std::{cmp::Ordering, sync::Arc};

pub struct Scanner {
    reader: Arc<Reader>,
    cache_blocks: bool,
    /// Leads to `block`.
    path: IndexPath,
    block: Option<Arc<Block>>,
    /// The block behind `block`, while blocks are read one after the other.
    ahead: Option<Arc<Block>>,
    /// The current cell of `block`.
    cell: Option<CellAt>,
    at_end: bool,
    /// Marks of `block` whose keys have been asked for, while it is read from its beginning.
    asked: usize,
    /// Bytes of `block`, and then of `ahead`, that have been asked for, while cells are looked at as a whole.
    asked_bytes: usize,
    /// Of cells that are shown, the last one was taken.
    takes: bool,
    /// Backwards: where the rows of a block begin.
    rows: BlockRows,
    /// The only row that is wanted, if one is: no block is read for others alone.
    only_row: Option<Vec<u8>>,
    /// Paths being looked for, kept for their allocations.
    candidate: IndexPath,
    neighbour: IndexPath,
    /// Where the next seek is known to lead, and its key.
    aimed: Option<Arc<Block>>,
    aimed_key: Vec<u8>,
}

/// Where a scanner goes on that has passed over what it can of its block.
pub(crate) enum GoOn {
    Here,
    /// In the block behind, which is at hand.
    Ahead,
    /// There, and the last row ends before this cell.
    AheadAt(CellAt),
}

/// Where a scanner stands.
pub(crate) struct Current<'a> {
    pub block: &'a Arc<Block>,
    pub cell: &'a mut CellAt,
    /// So many of the block's marks have been asked for; all of them, if it is not read from its beginning.
    pub keys_asked: &'a mut usize,
    pub ahead: Ahead<'a>,
    pub takes: &'a mut bool,
}

impl Scanner {
    /// Starts before the first cell. `cache_blocks` travels in the requests for data blocks.
    pub fn new(reader: Arc<Reader>, cache_blocks: bool) -> Scanner {
        Scanner {
            reader,
            cache_blocks,
            path: IndexPath::default(),
            block: None,
            ahead: None,
            cell: None,
            at_end: false,
            asked: 0,
            asked_bytes: 0,
            takes: false,
            rows: BlockRows::default(),
            only_row: None,
            candidate: IndexPath::default(),
            neighbour: IndexPath::default(),
            aimed: None,
            aimed_key: Vec::new(),
        }
    }

    pub fn reader(&self) -> &Arc<Reader> {
        &self.reader
    }

    /// The current cell. `None` before a seek, before the first cell, and at the end.
    #[inline]
    pub fn peek(&self) -> Option<CellRef<'_>> {
        match (&self.block, &self.cell) {
            (Some(block), Some(cell)) => Some(cell.cell(block.payload())),
            _ => None,
        }
    }

    /// The block, the place in it, and what has been asked for.
    pub(crate) fn current(&mut self) -> Option<Current<'_>> {
        let behind = self.ahead.as_deref().map_or(&[][..], Block::payload);
        Some(Current {
            block: self.block.as_ref()?,
            cell: self.cell.as_mut()?,
            keys_asked: &mut self.asked,
            ahead: Ahead { asked: &mut self.asked_bytes, behind },
            takes: &mut self.takes,
        })
    }

    #[inline]
    pub(crate) fn block(&self) -> Option<&Block> {
        self.block.as_deref()
    }

    /// The one behind it, if that is at hand.
    pub(crate) fn block_ahead(&self) -> Option<&Block> {
        self.ahead.as_deref()
    }

    /// The current cell's key.
    #[inline]
    pub fn peek_key(&self) -> Option<&[u8]> {
        match (&self.block, &self.cell) {
            (Some(block), Some(cell)) => Some(cell.key(block.payload())),
            _ => None,
        }
    }

    /// To the next cell; past the last one there is no current cell.
    #[inline]
    pub fn next(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        if let (Some(block), Some(cell)) = (&self.block, &self.cell)
            && let Some(next) = CellAt::parse(block.payload(), cell.end, self.reader.layout())
        {
            self.asked = block.marks().prefetch_keys(self.asked, next.start, block.payload());
            next.prefetch_next(block.payload());
            self.cell = Some(next);
            return Ok(Step::Ready(()));
        }
        self.next_block(src)
    }

    fn next_block(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        if self.cell.is_none() {
            return Ok(Step::Ready(()));
        }
        if self.only_row.is_none()
            && let Some(place) = self.path.next_place(&self.reader)
        {
            let block = ready!(self.reader.fetch_data(place, self.cache_blocks, src)?);
            self.path.advance();
            return Ok(self.settle_at_first(block, src));
        }
        self.candidate.clone_from(&self.path);
        self.step_past_candidate(src)
    }

    /// Whether it stays in a row that a Get reads.
    pub(crate) fn is_for_one_row(&self) -> bool {
        self.only_row.is_some()
    }

    /// False: it stays.
    pub(crate) fn go_on(&mut self, at: GoOn, src: &dyn BlockSource) -> bool {
        let cell = match at {
            GoOn::Here => return false,
            GoOn::Ahead => None,
            GoOn::AheadAt(cell) => Some(cell),
        };
        self.step_ahead(src);
        self.cell = cell.or(self.cell);
        true
    }

    /// To the first cell of the block behind this one, which is at hand.
    fn step_ahead(&mut self, src: &dyn BlockSource) {
        let (Some(ahead), Some(place)) = (self.ahead.clone(), self.path.next_place(&self.reader)) else { return };
        // Whoever counts blocks, or keeps those that are used, is to know of it.
        let block = match self.reader.fetch_data(place, self.cache_blocks, src) {
            Ok(Step::Ready(block)) => block,
            _ => ahead,
        };
        self.path.advance();
        // It has a first cell, so there is nothing to wait for.
        let _ = self.settle_at_first(block, src);
    }

    /// In `block`, to which the path leads.
    fn settle_at_first(&mut self, block: Arc<Block>, src: &dyn BlockSource) -> Step<()> {
        self.asked_bytes = match (self.ahead.take(), &self.block) {
            (Some(ahead), Some(last)) if Arc::ptr_eq(&ahead, &block) => {
                self.asked_bytes.saturating_sub(last.payload().len())
            }
            _ => 0,
        };
        // Where rows lie side by side, most scans do without the cells' own, but for that of the cell where they leave the block.
        self.asked = match block.marks().rows() {
            Some(_) => {
                block.marks().prefetch_last(block.payload());
                0
            }
            None => block.marks().prefetch_keys(0, 0, block.payload()),
        };
        self.look_ahead(src);
        let Some(first) = self.reader.cells(&block).first() else { return self.settle_at_end() };
        (self.block, self.cell, self.at_end) = (Some(block), Some(first), false);
        Step::Ready(())
    }

    /// Asks for the memory that is looked at first in the block behind this one, and for what leads to the one behind that.
    fn look_ahead(&mut self, src: &dyn BlockSource) {
        let request = |blocks| {
            let place = self.path.place_ahead(blocks, &self.reader)?;
            Some(self.reader.request(place, BlockKindHint::Data, self.cache_blocks))
        };
        self.ahead = request(1).and_then(|next| src.at_hand(&next));
        let Some(ahead) = &self.ahead else { return };
        ahead.marks().prefetch_rows();
        let payload = ahead.payload();
        prefetch(&payload[..payload.len().min(8 + KEY_REACH)]);
        // Where the last cell ends.
        prefetch(&payload[payload.len().saturating_sub(1)..]);
        if let Some(second) = request(2) {
            src.announce(&second);
        }
    }

    /// To the first cell whose key is not less than the flat key `key`.
    pub fn seek(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        // Ahead in the same block. Backwards, the block's first cell would tell, at the price of fetching that from memory.
        if let (Some(block), Some(cell)) = (&self.block, &self.cell)
            && self.reader.order().keys(cell.key(block.payload()), key) != Ordering::Greater
            && self.key_is_before_next_block(key)
            && let Some(cell) = self.reader.cells(block).seek(key, cell.start)
        {
            self.cell = Some(cell);
            return Ok(Step::Ready(()));
        }
        let block = match self.take_aimed(key) {
            Some(block) => block,
            None => {
                if !ready!(self.candidate.seek(&self.reader, key, false, src)?) {
                    return self.seek_to_first(src);
                }
                ready!(self.load(&self.candidate, src)?)
            }
        };
        match self.reader.cells(&block).seek(key, 0) {
            Some(cell) => self.settle(block, cell),
            None => self.step_past_candidate(src),
        }
    }

    /// Finds the block that a coming seek to `key` leads to, and asks for the memory in which that will search. What is
    /// not at hand is left to the seek.
    pub fn aim(&mut self, key: &[u8], src: &dyn BlockSource) {
        if self.aimed.is_some() && self.aimed_key == key {
            return;
        }
        self.aimed = None;
        let Ok(Step::Ready(true)) = self.candidate.seek(&self.reader, key, false, src) else { return };
        let Ok(Step::Ready(block)) = self.load(&self.candidate, src) else { return };
        block.marks().prefetch();
        self.aimed_key.clear();
        self.aimed_key.extend_from_slice(key);
        self.aimed = Some(block);
    }

    /// Some time after `aim`: asks for the memory of the cell itself.
    pub fn aim_at_cell(&self) {
        if let Some(block) = &self.aimed {
            block.marks().prefetch_cell(self.reader.order(), &self.aimed_key, block.payload());
        }
    }

    /// The block of `aim`, to which `candidate` leads, if it was aimed at this key and nothing came between.
    fn take_aimed(&mut self, key: &[u8]) -> Option<Arc<Block>> {
        let block = self.aimed.take()?;
        (self.aimed_key == key && self.candidate.place(&self.reader).offset == block.offset).then_some(block)
    }

    /// Gives up the position, and keeps the block in case the next seek leads there.
    pub fn forget(&mut self) {
        (self.cell, self.at_end) = (None, false);
    }

    /// From now on only the cells of `row` are wanted; past them there may or may not be others.
    pub fn keep_to_row(&mut self, row: &[u8]) {
        let only_row = self.only_row.get_or_insert_default();
        only_row.clear();
        only_row.extend_from_slice(row);
    }

    /// Whether the next cell is in another block.
    #[inline]
    pub fn is_last_in_block(&self) -> bool {
        matches!((&self.block, &self.cell), (Some(block), Some(cell)) if cell.end as usize >= block.payload().len())
    }

    /// As `seek`, forward only: stays where it is if the current cell is already `key` or past it, or at the end.
    pub fn reseek(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        if let (Some(block), Some(cell)) = (&self.block, &self.cell) {
            if self.reader.order().keys(cell.key(block.payload()), key) != Ordering::Less {
                return Ok(Step::Ready(()));
            }
            if self.key_is_before_next_block(key) {
                return match self.reader.cells(block).seek(key, cell.end) {
                    Some(cell) => {
                        self.cell = Some(cell);
                        Ok(Step::Ready(()))
                    }
                    None => self.next_block(src),
                };
            }
        } else if self.at_end {
            return Ok(Step::Ready(()));
        }
        self.seek(key, src)
    }

    /// To the last cell whose key is less than `key`. False, and no current cell, if there is none.
    pub fn seek_before(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        if let Some(block) = &self.block
            && self.key_is_before_next_block(key)
            && let Some(cell) = self.reader.cells(block).seek_before(key)
        {
            self.cell = Some(cell);
            self.at_end = false;
            return Ok(Step::Ready(true));
        }
        if !ready!(self.candidate.seek(&self.reader, key, true, src)?) {
            return Ok(self.settle_before_start());
        }
        let block = ready!(self.load(&self.candidate, src)?);
        if let Some(cell) = self.reader.cells(&block).seek_before(key) {
            return Ok(self.settle(block, cell)?.map(|()| true));
        }
        // The index key was a short one between the blocks.
        if !ready!(self.neighbour.before(&self.candidate, &self.reader, src)?) {
            return Ok(self.settle_before_start());
        }
        let block = ready!(self.load(&self.neighbour, src)?);
        std::mem::swap(&mut self.candidate, &mut self.neighbour);
        match self.reader.cells(&block).last() {
            Some(cell) => Ok(self.settle(block, cell)?.map(|()| true)),
            None => Ok(self.settle_before_start()),
        }
    }

    /// From a row at or behind `row`: to the first cell of the last row before `row`, if that begins in this block, behind its first cell.
    /// False: it stays where it is.
    pub fn to_row_before(&mut self, row: &[u8]) -> bool {
        let (Some(block), Some(cell)) = (&self.block, &self.cell) else { return false };
        let found = self.rows.before(self.reader.cells(block), block.offset, cell.start, row);
        let found = found.and_then(|start| CellAt::parse(block.payload(), start, self.reader.layout()));
        if let Some(found) = found {
            self.cell = Some(found);
        }
        found.is_some()
    }

    pub fn seek_to_first(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        if !ready!(self.candidate.first(&self.reader, src)?) {
            return Ok(self.settle_at_end());
        }
        let block = ready!(self.load(&self.candidate, src)?);
        match self.reader.cells(&block).first() {
            Some(cell) => self.settle(block, cell),
            None => Ok(self.settle_at_end()),
        }
    }

    /// First key of the next data block or one between the blocks: a key not past it costs no new block to reach.
    /// `None` in the last block or without a position.
    pub fn next_index_key(&self) -> Option<&[u8]> {
        self.block.as_ref()?;
        self.path.next_key(&self.reader)
    }

    /// Where the current block begins in the file.
    pub fn block_offset(&self) -> Option<u64> {
        self.block.as_ref().map(|block| block.offset)
    }

    /// Whether all rows of the current block are known to be before `row`.
    pub fn block_is_before(&self, row: &[u8]) -> bool {
        self.next_index_key().is_some_and(|next| self.reader.order().rows(key::row(next), row).is_lt())
    }

    /// Whether `key` does not reach into the next block. Only with a block.
    fn key_is_before_next_block(&self, key: &[u8]) -> bool {
        self.path.next_key(&self.reader).is_none_or(|next| self.reader.order().keys(key, next) == Ordering::Less)
    }

    fn load(&self, path: &IndexPath, src: &dyn BlockSource) -> Result<Step<Arc<Block>>, HFileError> {
        let place = path.place(&self.reader);
        match &self.block {
            Some(block) if block.offset == place.offset => Ok(Step::Ready(block.clone())),
            _ => self.reader.fetch_data(place, self.cache_blocks, src),
        }
    }

    /// Whether the block after that of `candidate` begins behind the row that is wanted.
    fn ends_row(&self) -> bool {
        let next_key = || self.candidate.next_key(&self.reader);
        self.only_row
            .as_ref()
            .is_some_and(|row| next_key().is_some_and(|next| self.reader.order().rows(key::row(next), row).is_gt()))
    }

    /// To the first cell of the block after that of `candidate`.
    fn step_past_candidate(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        if self.ends_row() {
            // The block stays: the next row may be there.
            (self.cell, self.at_end) = (None, true);
            return Ok(Step::Ready(()));
        }
        if !ready!(self.neighbour.after(&self.candidate, &self.reader, src)?) {
            return Ok(self.settle_at_end());
        }
        let block = ready!(self.load(&self.neighbour, src)?);
        std::mem::swap(&mut self.path, &mut self.neighbour);
        Ok(self.settle_at_first(block, src))
    }

    /// `candidate` leads to `block`: that is the position now.
    fn settle(&mut self, block: Arc<Block>, cell: CellAt) -> Result<Step<()>, HFileError> {
        std::mem::swap(&mut self.path, &mut self.candidate);
        (self.block, self.ahead) = (Some(block), None);
        self.cell = Some(cell);
        self.at_end = false;
        (self.asked, self.asked_bytes) = (usize::MAX, 0);
        Ok(Step::Ready(()))
    }

    fn settle_at_end(&mut self) -> Step<()> {
        (self.cell, self.block, self.ahead, self.at_end) = (None, None, None, true);
        Step::Ready(())
    }

    fn settle_before_start(&mut self) -> Step<bool> {
        (self.cell, self.block, self.ahead, self.at_end) = (None, None, None, false);
        Step::Ready(false)
    }
}
