//! Bloom filters over rows, columns, row prefixes, and rows with family-wide deletes.
//!
//! A filter is a row of chunks, each a block among the data blocks; an index of the chunks by their first key is read
//! when the file is opened. A key is looked up in the one chunk that could hold it:
//!
//! ```text
//! h1 = hash(key, 0)   h2 = hash(key, h1)
//! bit i = |(h1 + i * h2) mod bits|     for i in 0..hash count; 32-bit signed arithmetic that wraps, as in Java
//! bit n is bit n % 8 (lowest first) of byte n / 8
//! ```
//!
//! | filter | key |
//! |---|---|
//! | ROW, deletes | row |
//! | ROWPREFIX_FIXED_LENGTH | first bytes of the row, or all of a shorter row |
//! | ROWCOL | flat key: row, family of length 0, qualifier, newest timestamp, type Maximum |

mod hash;
mod read;
mod write;

pub(crate) use hash::HashType;
pub(crate) use read::Bloom;
pub(crate) use write::BloomWriter;

use martite_cell::{LATEST_TIMESTAMP, key};

/// What a file's bloom filter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BloomType {
    #[default]
    None,
    Row,
    RowCol,
    /// The first bytes of the row, or all of a shorter row.
    RowPrefix(usize),
}

impl BloomType {
    /// HBase's name, without the prefix length.
    pub fn name(self) -> &'static str {
        match self {
            BloomType::None => "NONE",
            BloomType::Row => "ROW",
            BloomType::RowCol => "ROWCOL",
            BloomType::RowPrefix(_) => "ROWPREFIX_FIXED_LENGTH",
        }
    }
}

/// The key of a column in a ROWCOL filter.
pub(crate) fn row_col_key(row: &[u8], qualifier: &[u8]) -> Vec<u8> {
    key::flat_key(row, &[], qualifier, LATEST_TIMESTAMP, key::CellType::Maximum as u8)
}

/// Calls `each` with the bits of a key until it says no; whether it never did.
fn every_bit(
    hash: HashType,
    hash_count: u32,
    chunk_bytes: usize,
    key: &[u8],
    mut each: impl FnMut(usize, u8) -> bool,
) -> bool {
    let bits = (chunk_bytes as i64) * 8;
    let first = hash.of(key, 0);
    let step = hash.of(key, first);
    let mut at = first;
    for _ in 0..hash_count {
        let bit = (at as i64 % bits).unsigned_abs() as usize;
        if !each(bit >> 3, 1 << (bit & 7)) {
            return false;
        }
        at = at.wrapping_add(step);
    }
    true
}
