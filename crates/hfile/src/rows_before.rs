//! [`BlockRows`]: where the rows of a block begin, for scans that go backwards: cells lead forward only.

use crate::cells::Cells;
use martite_cell::key;

/// So many rows are looked at before a search is better.
const NEAR_ROWS: usize = 4;

/// That many rows of a block are sought: most scans that go backwards want a row or two.
const SOUGHT: u32 = 2;

/// Collected once for a block of which several rows are asked for.
#[derive(Debug, Default)]
pub(crate) struct BlockRows {
    /// Of which block.
    offset: Option<u64>,
    sought: u32,
    /// Ascending; the row of the first one may begin in the block before.
    starts: Vec<u32>,
}

impl BlockRows {
    /// Where the last row before `row` begins, if that is near before the cell `from`, whose row is `row` or one behind it. None:
    /// it is to be sought.
    pub(crate) fn before(&mut self, cells: Cells<'_>, offset: u64, from: u32, row: &[u8]) -> Option<u32> {
        if self.offset != Some(offset) {
            (self.offset, self.sought) = (Some(offset), 0);
            self.starts.clear();
        }
        if self.sought < SOUGHT {
            self.sought += 1;
            return None;
        }
        if self.starts.is_empty() {
            self.collect(cells);
        }
        let is_before = |start: u32| cells.order.rows(key::row(cells.key_at(start)), row).is_lt();
        let here = self.starts.partition_point(|start| *start <= from);
        let mut behind = self.starts[..here].iter().rev().take(NEAR_ROWS);
        if is_before(*behind.next()?) {
            return None;
        }
        behind.copied().find(|start| is_before(*start)).filter(|start| *start > 0)
    }

    fn collect(&mut self, cells: Cells<'_>) {
        self.starts.extend(cells.marks.all_row_starts());
        if !self.starts.is_empty() {
            return;
        }
        let mut next = cells.first();
        let mut row: Option<&[u8]> = None;
        while let Some(cell) = next {
            let key = cell.key(cells.payload);
            if row != Some(key::row(key)) {
                row = Some(key::row(key));
                self.starts.push(cell.start);
            }
            next = cells.at(cell.end);
        }
    }
}
