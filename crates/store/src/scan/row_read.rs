//! What a scanner needs to read cells of a row: where they go, the filter, and when to stop.

use martite_cell::{CellBuf, CellRef};
use martite_filter::Filter;
use martite_hfile::BlockSource;
use std::cell::Cell;

/// How often the deadline is asked about, in cells (`hbase.cells.scanned.per.heartbeat.check`).
const CELLS_PER_TIME_CHECK: u64 = 10_000;

/// Why a store scanner returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreEnd {
    /// The row has no more cells; the scanner stands at the next row it has.
    Row,
    /// The store has no more cells for this scan.
    Exhausted,
    /// `cells_end` reached; the row may have more cells.
    Batch,
    /// `bytes_end` or `block_bytes_end` reached; the row may have more cells.
    Size,
    /// The deadline passed.
    Time,
    /// `pause_at` reached: call again.
    Paused,
    /// The row is larger than a read may be.
    TooBig,
}

/// Where reading stops inside a row. `MAX` of each type: no limit.
#[derive(Debug, Clone, Copy)]
pub struct RowLimits {
    /// Cells in the output.
    pub cells_end: usize,
    /// Bytes in the output.
    pub bytes_end: usize,
    /// Bytes of blocks read.
    pub block_bytes_end: u64,
    /// Bytes in the output at which the row is refused.
    pub too_big_at: usize,
    /// Cells scanned.
    pub pause_at: u64,
    /// Whether the deadline may end the read inside a row.
    pub timed: bool,
}

impl RowLimits {
    pub const NONE: RowLimits = RowLimits {
        cells_end: usize::MAX,
        bytes_end: usize::MAX,
        block_bytes_end: u64::MAX,
        too_big_at: usize::MAX,
        pause_at: u64::MAX,
        timed: false,
    };
}

/// One read; lent to store scanners one after the other.
pub struct RowRead<'a> {
    pub out: &'a mut CellBuf,
    pub filter: Option<&'a mut Filter>,
    pub src: &'a dyn BlockSource,
    pub expired: &'a mut dyn FnMut() -> bool,
    pub limits: RowLimits,
    /// Cells are shown to the filter, but not kept, and no limit holds but `pause_at`: the rest of a refused row.
    pub discard: bool,
    /// Cells looked at.
    pub cells_scanned: u64,
    /// Bytes of blocks read so far, counted by whoever gave `src`.
    pub block_bytes: &'a Cell<u64>,
    /// For transformed cells.
    pub scratch: &'a mut Vec<u8>,
}

impl RowRead<'_> {
    /// Before each cell.
    #[inline]
    pub(super) fn end_before_cell(&mut self) -> Option<StoreEnd> {
        if self.cells_scanned >= self.limits.pause_at {
            return Some(StoreEnd::Paused);
        }
        let time_to_ask = self.cells_scanned.is_multiple_of(CELLS_PER_TIME_CHECK) && self.cells_scanned > 0;
        if time_to_ask && self.limits.timed && !self.discard && (self.expired)() {
            return Some(StoreEnd::Time);
        }
        None
    }

    /// How many cells may be looked at before something has to be asked again; 1 at least, after `end_before_cell`.
    #[inline]
    pub(super) fn cells_to_next_check(&self) -> u64 {
        let to_time = CELLS_PER_TIME_CHECK - self.cells_scanned % CELLS_PER_TIME_CHECK;
        self.limits.pause_at.saturating_sub(self.cells_scanned).clamp(1, to_time)
    }

    /// So many cells, or bytes, in the output end a run.
    #[inline]
    pub(super) fn ends(&self) -> (usize, usize) {
        (self.limits.cells_end, self.limits.bytes_end.min(self.limits.too_big_at.saturating_add(1)))
    }

    /// Whether the row has become larger than a read may be.
    #[inline]
    pub(super) fn is_too_big(&self) -> bool {
        !self.discard && self.out.size_bytes() > self.limits.too_big_at
    }

    /// After a cell was kept or passed over.
    #[inline]
    pub(super) fn end_after_cell(&self, kept: bool) -> Option<StoreEnd> {
        if self.discard {
            return None;
        }
        if kept {
            if self.out.len() >= self.limits.cells_end {
                return Some(StoreEnd::Batch);
            }
            if self.out.size_bytes() >= self.limits.bytes_end {
                return Some(StoreEnd::Size);
            }
        }
        (self.block_bytes.get() >= self.limits.block_bytes_end).then_some(StoreEnd::Size)
    }

    /// The filter, if it wants to see cells. Of a refused row it is asked all the same: it says that the rest is not needed.
    #[inline]
    pub(super) fn cell_filter(&mut self) -> Option<&mut Filter> {
        let discard = self.discard;
        self.filter.as_deref_mut().filter(|filter| discard || filter.minds_cells())
    }

    /// Keeps a cell; false if the row has become too big.
    #[inline]
    pub(super) fn keep(&mut self, cell: &CellRef<'_>) -> bool {
        if self.discard {
            return true;
        }
        match &mut self.filter {
            Some(filter) if filter.minds_cells() => {
                let cell = filter.transform(*cell, self.scratch);
                self.out.push(&cell);
            }
            _ => self.out.push(cell),
        }
        !self.is_too_big()
    }
}
