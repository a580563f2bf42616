//! Rows of a block's cells side by side, where every cell has a mark: large cells, one or a few a row.
//!
//! ```text
//! block   | row-000171 … | row-000172 … | row-000173 … |      all rows begin with "row-0001"
//! rows      71..2          72..2          73..2               what is behind that, zeros, and how much it is
//! ```
//! Whoever passes over rows by their keys reads these, and not the cells, each of which is a line or two of memory of its
//! own that nobody has touched lately.

use crate::marks::MOST_PREFIX;

/// A row takes as many words of four bytes or less.
pub(crate) const MOST_WORDS: usize = 4;
const MOST_BYTES: usize = 4 * MOST_WORDS;
/// Rows take at most this part of a block's memory.
const PART_OF_BLOCK: usize = 32;

/// The rows of one block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MarkedRows<'a> {
    /// Of each row what is behind the prefix, and behind all as many words as a row may take.
    pub words: &'a [u32],
    /// Words of a row.
    pub row_words: usize,
    /// What all rows begin with.
    pub prefix: &'a [u8],
}

/// A row without the prefix, as a number: its first byte is the lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortRow(u128);

/// How many words each of a block's rows takes, if they are to be kept: `lens` are those of the rows behind the prefix.
pub(crate) fn row_words(lens: impl ExactSizeIterator<Item = usize>, block_len: usize) -> Option<usize> {
    let count = lens.len();
    let words = (lens.max()? + 1).div_ceil(4);
    (words <= MOST_WORDS && 4 * words * count <= block_len / PART_OF_BLOCK).then_some(words)
}

/// The words of a row, of which there is this much behind the prefix.
pub(crate) fn pack(behind_prefix: &[u8], row_words: usize) -> impl Iterator<Item = u32> {
    let mut bytes = [0; MOST_BYTES];
    bytes[..behind_prefix.len()].copy_from_slice(behind_prefix);
    bytes[4 * row_words - 1] = behind_prefix.len() as u8;
    let words: [u32; MOST_WORDS] =
        std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|j| bytes[4 * i + j])));
    words.into_iter().take(row_words)
}

impl MarkedRows<'_> {
    /// The row of the cell with this mark.
    #[inline(always)]
    pub(crate) fn row(&self, mark: usize) -> ShortRow {
        let words = self.words.get(mark * self.row_words..).and_then(|words| words.first_chunk::<MOST_WORDS>());
        let row = words.map_or(0, |words| words.iter().rev().fold(0, |row, word| row << 32 | u128::from(*word)));
        ShortRow(row & u128::MAX >> (32 * (MOST_WORDS - self.row_words)))
    }

    pub(crate) fn whole(&self) -> WholeRow {
        let mut bytes = [0; MOST_PREFIX + MOST_BYTES];
        bytes[..self.prefix.len()].copy_from_slice(self.prefix);
        WholeRow { bytes, prefix_len: self.prefix.len(), row_words: self.row_words }
    }
}

/// Where rows are put together.
pub(crate) struct WholeRow {
    bytes: [u8; MOST_PREFIX + MOST_BYTES],
    prefix_len: usize,
    row_words: usize,
}

impl WholeRow {
    #[inline(always)]
    pub(crate) fn of(&mut self, row: ShortRow) -> &[u8] {
        if let Some(room) = self.bytes.get_mut(self.prefix_len..).and_then(|bytes| bytes.first_chunk_mut()) {
            *room = row.0.to_le_bytes();
        }
        let len = (row.0 >> (32 * self.row_words - 8)) as usize;
        self.bytes.get(..self.prefix_len + len).unwrap_or_default()
    }
}
