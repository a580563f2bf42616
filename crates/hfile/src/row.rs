//! One row of a file, read where it lies, without a [`crate::Scanner`]: nobody goes on from there.
//!
//! ```text
//! row_place(key)       index: the block in which the row must begin, and whether it ends there
//! row_block(place)     that block, if it is there
//! row_cell(block)      where in it
//! take_row(rules)      its cells, as far as they are plain
//! ```
//! Between two of them the memory can be asked for that the next one looks at. They are apart, so that he who reads many
//! rows can take each step with all of them: the processor then waits for many lines of memory at once.

use crate::{
    Block, BlockKindHint, BlockSource, BlockType, FileId, HFileError, PlainEnd, PlainRules, Reader, Step,
    index::{Level, Place},
    marks::Among,
    plain::{Ahead, take_lying},
    source::ready,
};
use martite_cell::{CellBuf, key};
use martite_env::prefetch::prefetch;
use std::{hint::black_box, ops::Range, sync::Arc};

/// The data block in which a row begins, if the file has it.
#[derive(Debug, Clone, Copy)]
pub struct RowPlace {
    place: Place,
    /// The next block begins behind the row.
    ends_here: bool,
}

/// Where in its block a row begins, about.
#[derive(Debug, Clone)]
pub struct RowCell {
    among: Among,
    /// Where its first cells lie.
    bytes: Range<usize>,
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

/// So many leaf blocks are kept.
const LEAVES: usize = 32;

/// Leaf blocks of the index, which the next row may need, too.
#[derive(Default)]
pub struct Leaves {
    /// By their offsets; none as long as none is to be kept.
    kept: Vec<Option<(FileId, Arc<Block>)>>,
}

impl Leaves {
    /// For many rows.
    pub fn keeping() -> Leaves {
        Leaves { kept: vec![None; LEAVES] }
    }

    fn slot(&mut self, offset: u64) -> Option<&mut Option<(FileId, Arc<Block>)>> {
        self.kept.get_mut((offset.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 59) as usize)
    }
}

impl RowPlace {
    pub fn is_same_block(&self, other: &RowPlace) -> bool {
        self.place.offset == other.place.offset
    }
}

impl Block {
    /// Before [`Reader::row_cell`].
    pub fn prefetch_marks(&self) {
        self.marks().prefetch();
    }

    /// Before [`Block::prefetch_row`]: what is loaded comes for certain, and the last byte is looked at first.
    #[inline]
    pub fn touch_row(&self, cell: &RowCell) {
        black_box(self.row_bytes(cell).last().copied());
    }

    /// Before [`Reader::take_row`].
    pub fn prefetch_row(&self, cell: &RowCell) {
        prefetch(self.row_bytes(cell));
    }

    #[inline]
    fn row_bytes(&self, cell: &RowCell) -> &[u8] {
        self.payload().get(cell.bytes.clone()).unwrap_or_default()
    }
}

impl Reader {
    /// Where the first cell lies that is not before `key`, if that is of the key's row. None: only a scanner can tell.
    pub fn row_place(
        &self,
        key: &[u8],
        leaves: &mut Leaves,
        src: &dyn BlockSource,
    ) -> Result<Step<Option<RowPlace>>, HFileError> {
        let (order, row) = (self.order(), key::row(key));
        let Some(root) = self.index().find(key, order, false) else { return Ok(Step::Ready(None)) };
        let mut place = self.index().place(root);
        let depth = self.index_levels();
        if depth == 1 {
            let is_last = root + 1 == self.index().len();
            let ends_here = is_last || order.rows(key::row(self.index().key(root + 1)), row).is_gt();
            return Ok(Step::Ready(Some(RowPlace { place, ends_here })));
        }
        let mut ends_here = false;
        for level in 2..=depth {
            let kind = if level == depth { BlockType::LeafIndex } else { BlockType::IntermediateIndex };
            let look = |block: &Block| {
                let level = Level::new(block);
                let entry = level.find(key, order, false)?;
                // Behind the last entry another index block would tell.
                Some((level.place(entry), level.ends_row(entry, row, order)))
            };
            let found = match leaves.slot(place.offset) {
                None => ready!(self.look_at(place, kind, BlockKindHint::Index, src, look)?),
                Some(Some((file, block))) if *file == self.id() && block.offset == place.offset => look(block),
                Some(slot) => {
                    let block = ready!(self.fetch(place, kind, BlockKindHint::Index, true, src)?);
                    look(&slot.insert((self.id(), block)).1)
                }
            };
            let Some(found) = found else { return Ok(Step::Ready(None)) };
            (place, ends_here) = found;
        }
        Ok(Step::Ready(Some(RowPlace { place, ends_here })))
    }

    /// The block.
    pub fn row_block(
        &self,
        place: &RowPlace,
        cache: bool,
        src: &dyn BlockSource,
    ) -> Result<Step<Arc<Block>>, HFileError> {
        self.fetch_data(place.place, cache, src)
    }

    /// Before [`Self::row_block`].
    pub fn announce_row_block(&self, place: &RowPlace, src: &dyn BlockSource) {
        src.announce(&self.request(place.place, BlockKindHint::Data, true));
    }

    /// Where the cell is that `key` leads to.
    pub fn row_cell(&self, key: &[u8], block: &Block) -> RowCell {
        let among = block.marks().among(self.order(), key::row(key));
        RowCell { among, bytes: block.marks().cell_among(among, block.payload().len()) }
    }

    /// Takes the cells from `key` on to the end of the row to `out`. What is taken before an [`RowTaken::Unknown`] stays there.
    pub fn take_row(
        &self,
        (place, block, cell): (&RowPlace, &Arc<Block>, Option<&RowCell>),
        key: &[u8],
        rules: &PlainRules<'_>,
        out: &mut CellBuf,
    ) -> RowTaken {
        let cells = self.cells(block);
        let first = match cell {
            // From the row's first cell on.
            Some(cell) if rules.columns.is_none() => cells.seek_row(key::row(key), cell.among),
            Some(cell) => cells.seek_key(key, cell.among),
            None => cells.seek(key, 0).map(|cell| cell.start),
        };
        let end = match first {
            Some(first) => {
                let mut at = first as usize;
                let ahead = Ahead { asked: &mut 0, behind: &[] };
                take_lying(block, self.layout(), &mut at, ahead, rules, out).end
            }
            None => PlainEnd::Block,
        };
        match end {
            PlainEnd::Row | PlainEnd::Columns => RowTaken::All,
            PlainEnd::Block if place.ends_here => RowTaken::All,
            PlainEnd::Limit => RowTaken::Enough,
            PlainEnd::Block | PlainEnd::Bound | PlainEnd::Far | PlainEnd::Other | PlainEnd::Shown => RowTaken::Unknown,
        }
    }
}
