//! The cell model: what a cell is, how cells are ordered, and the byte forms in which they travel.
//!
//! A cell in motion is a [`CellRef`]: three slices (flat key, value, tags) of a block, of a memstore chunk or of a
//! request, plus the sequence id. Nothing is copied until a cell is appended to a [`CellBuf`], and large ones need not be then.
//!
//! ```text
//! flat key   | u16 row length | row | u8 family length | family | qualifier | i64 timestamp | u8 type |
//! KeyValue   | u32 key length | u32 value length | flat key | value | [u16 tags length | tags] |
//! ```
#![forbid(unsafe_code)]

pub mod block;
pub mod buf;
pub mod cell;
pub mod codec;
pub mod key;
pub mod order;
pub mod short_rows;
pub mod tags;
pub mod time;

pub use block::{CellBlock, Lend};
pub use buf::CellBuf;
pub use cell::{CellRef, FlatCell, OwnedCell};
pub use codec::Codec;
pub use key::{CellType, LATEST_TIMESTAMP};
pub use order::Order;
pub use short_rows::ShortRows;
pub use time::TimeRange;

/// What can be wrong with the bytes of a cell.
#[derive(Debug, thiserror::Error, PartialEq, Eq, Clone)]
pub enum CellError {
    /// The bytes end before the cell does.
    #[error("truncated cell: {what} needs {needed} bytes, {available} are left")]
    Truncated { what: &'static str, needed: usize, available: usize },
    /// A length inside the cell contradicts another one.
    #[error("malformed cell: {0}")]
    Malformed(String),
}
