//! ROW_INDEX_V1: plain cells, and behind them where each row begins.
//!
//! ```text
//! | cells in layout NONE | u32 rows | rows x u32 offset of the row's first cell | u32 size of the cells |
//! ```

use crate::{error::Parsed, input::Input};

/// Length of the cell section of a payload (encoding id removed). The row index itself is only checked for its size:
/// blocks in memory have marks instead.
pub(super) fn cells(payload: &[u8]) -> Parsed<usize> {
    let mut end = payload.len().checked_sub(4).ok_or("too short for a row index")?;
    let size = Input::new(&payload[end..]).u32()? as usize;
    let mut input = Input::new(payload.get(size..end).ok_or_else(|| format!("cells of {size} bytes"))?);
    let rows = input.u32()? as usize;
    end -= size + 4;
    if rows.checked_mul(4) != Some(end) {
        return Err(format!("{rows} rows in a row index of {end} bytes"));
    }
    Ok(size)
}

/// Collects the rows of a block that is being written.
#[derive(Debug, Default)]
pub(super) struct Rows {
    offsets: Vec<u8>,
    last: Vec<u8>,
}

impl Rows {
    pub(super) fn add(&mut self, row: &[u8], offset: usize) {
        if self.offsets.is_empty() || self.last != row {
            self.offsets.extend_from_slice(&(offset as u32).to_be_bytes());
            self.last.clear();
            self.last.extend_from_slice(row);
        }
    }

    pub(super) fn size(&self) -> usize {
        self.offsets.len()
    }

    /// Appends the index to the block, which begins with its 2 byte encoding id.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        let size = out.len() - 2;
        out.extend_from_slice(&(self.offsets.len() as u32 / 4).to_be_bytes());
        out.append(&mut self.offsets);
        out.extend_from_slice(&(size as u32).to_be_bytes());
    }
}
