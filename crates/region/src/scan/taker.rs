//! [`Taker`]: rows of one cell each that become Results as they lie.

use super::limits::ResultMark;
use martite_cell::codec::parse_key_value;
use martite_cell::{CellBuf, ShortRows};
use martite_filter::Filter;
use martite_hfile::{Block, TakeRows};
use std::cell::Cell;
use std::sync::Arc;

/// How far rows may be taken: none of them reaches a limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakeRoom {
    pub results: usize,
    /// In the output there are always fewer.
    pub bytes_end: usize,
}

impl TakeRoom {
    pub(crate) const NONE: TakeRoom = TakeRoom { results: 0, bytes_end: 0 };
}

/// Takes the rows that the filter lets pass by their keys.
pub(super) struct Taker<'a> {
    pub filter: Option<&'a Filter>,
    pub out: &'a mut CellBuf,
    pub results: &'a mut Vec<ResultMark>,
    pub room: TakeRoom,
    pub scratch: &'a mut Vec<u8>,
    pub max_row_bytes: usize,
    /// Bytes of blocks read so far, and how many end the call.
    pub block_bytes: (&'a Cell<u64>, u64),
    /// Where the last row is left.
    pub row: &'a mut Vec<u8>,
    pub taken: usize,
}

impl TakeRows for Taker<'_> {
    #[inline]
    fn before_first_wanted(&mut self, rows: ShortRows<'_>) -> usize {
        self.filter.and_then(|filter| filter.first_passing(rows)).unwrap_or(0)
    }

    fn only_first_cells(&self) -> bool {
        self.filter.is_some_and(Filter::takes_first_cells)
    }

    #[inline]
    fn take(&mut self, key_value: &[u8], block: &Arc<Block>) -> bool {
        let before = self.out.size_bytes();
        let room = self.max_row_bytes.min(self.room.bytes_end.saturating_sub(before));
        // A cell of the output has its length before it.
        if self.room.results == 0 || key_value.len() + 4 >= room {
            return false;
        }
        match self.filter.filter(|filter| filter.changes_values()) {
            Some(filter) => {
                let Ok(cell) = parse_key_value(key_value) else { return false };
                self.out.push(&filter.transform(cell, self.scratch));
            }
            None => self.out.push_or_borrow(key_value, block),
        }
        self.room.results -= 1;
        self.taken += 1;
        self.results.push(ResultMark { cells: 1, partial: false });
        true
    }

    #[inline]
    fn passed(&mut self, last: &[u8]) {
        self.row.clear();
        self.row.extend_from_slice(last);
    }

    #[inline]
    fn goes_on(&mut self) -> bool {
        let (read, end) = self.block_bytes;
        read.get() < end
    }
}
