//! One row of a file, read where it lies, without a [`crate::Scanner`]: nobody goes on from there.
//!
//! ```text
//! row_place(key)          index: the block in which the row must begin, and whether it ends there      no block is read
//! row_block(place)        that block                                                               Need(block), or Ready
//! prefetch_row(block)     the memory of the row's cells
//! take_row(block, rules)  its cells, as far as they are plain
//! ```
//! The steps are apart, so that he who reads many rows can take one with each of them in turn while memory comes.

use crate::{
    Block, BlockKindHint, BlockSource, BlockType, HFileError, PlainEnd, PlainRules, Reader, Step,
    index::{Level, Place},
    plain::take_lying,
    source::ready,
};
use martite_cell::{CellBuf, key};
use std::sync::Arc;

/// The data block in which a row begins, if the file has it.
#[derive(Debug, Clone, Copy)]
pub struct RowPlace {
    place: Place,
    /// The next block begins behind the row.
    ends_here: bool,
}

impl RowPlace {
    pub fn is_same_block(&self, other: &RowPlace) -> bool {
        self.place.offset == other.place.offset
    }
}

/// What was taken of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowTaken {
    /// All that is wanted of it.
    All,
    /// As much as may be.
    Enough,
    /// There may be more, which only a scanner can tell.
    Unknown,
}

impl Reader {
    /// Where the first cell lies that is not before `key`, if that is of the key's row. None: only a scanner can tell.
    pub fn row_place(&self, key: &[u8], src: &dyn BlockSource) -> Result<Step<Option<RowPlace>>, HFileError> {
        let order = self.order();
        let is_behind = |next: &[u8]| order.rows(key::row(next), key::row(key)).is_gt();
        let Some(root) = self.index().find(key, order, false) else { return Ok(Step::Ready(None)) };
        let mut place = self.index().place(root);
        let depth = self.index_levels();
        if depth == 1 {
            let ends_here = root + 1 == self.index().len() || is_behind(self.index().key(root + 1));
            return Ok(Step::Ready(Some(RowPlace { place, ends_here })));
        }
        let mut ends_here = false;
        for level in 2..=depth {
            let kind = if level == depth { BlockType::LeafIndex } else { BlockType::IntermediateIndex };
            let look = |block: &Block| {
                let level = Level::new(block);
                let entry = level.find(key, order, false)?;
                // Behind the last entry another index block would tell.
                Some((level.place(entry), entry + 1 < level.len() && is_behind(level.key(entry + 1))))
            };
            let Some(found) = ready!(self.look_at(place, kind, BlockKindHint::Index, src, look)?) else {
                return Ok(Step::Ready(None));
            };
            (place, ends_here) = found;
        }
        Ok(Step::Ready(Some(RowPlace { place, ends_here })))
    }

    /// The block; the memory in which a search begins is asked for.
    pub fn row_block(
        &self,
        place: &RowPlace,
        cache: bool,
        src: &dyn BlockSource,
    ) -> Result<Step<Arc<Block>>, HFileError> {
        let block = ready!(self.fetch_data(place.place, cache, src)?);
        block.marks().prefetch();
        Ok(Step::Ready(block))
    }

    /// Asks for the memory of the cell that `key` leads to.
    pub fn prefetch_row(&self, key: &[u8], block: &Block) {
        block.marks().prefetch_cell(self.order(), key, block.payload());
    }

    /// Takes the cells from `key` on to the end of the row to `out`. What is taken before an [`RowTaken::Unknown`] stays there.
    pub fn take_row(
        &self,
        (place, block): (&RowPlace, &Block),
        key: &[u8],
        rules: &PlainRules<'_>,
        out: &mut CellBuf,
    ) -> RowTaken {
        let end = match self.cells(block).seek(key, 0) {
            Some(first) => {
                let (mut at, mut asked) = (first.start as usize, 0);
                take_lying(block.payload(), self.layout(), (&mut at, &mut asked), rules, out).end
            }
            None => PlainEnd::Block,
        };
        match end {
            PlainEnd::Row | PlainEnd::Columns => RowTaken::All,
            PlainEnd::Block if place.ends_here => RowTaken::All,
            PlainEnd::Limit => RowTaken::Enough,
            PlainEnd::Block | PlainEnd::Bound | PlainEnd::Other => RowTaken::Unknown,
        }
    }
}
