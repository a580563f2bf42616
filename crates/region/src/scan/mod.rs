//! Scan: rows of a region, in order, as Results that fit the caller's limits.

mod counted;
mod judge;
mod limits;
mod region_scanner;
mod rows;
mod taker;

pub use limits::{ResultMark, ScanCounters, ScanEnd, ScanLimits, ScanOutput, ScanState};
pub use region_scanner::RegionScanner;

pub(crate) use counted::Counted;
pub(crate) use rows::{FamilyScanner, Piece, RowBounds, Rows};
pub(crate) use taker::TakeRoom;

use crate::FamilyColumns;
use bytes::Bytes;
use martite_cell::TimeRange;
use martite_proto as pb;

/// A scan of one region.
#[derive(Debug, Clone)]
pub struct ScanSpec {
    /// Empty: all families.
    pub families: Vec<FamilyColumns>,
    /// Empty: the region's first row (reversed: its last).
    pub start_row: Bytes,
    pub include_start: bool,
    /// Empty: to the region's end.
    pub stop_row: Bytes,
    pub include_stop: bool,
    pub reversed: bool,
    pub max_versions: u32,
    pub time_range: TimeRange,
    pub filter: Option<pb::Filter>,
    pub raw: bool,
    /// Cells per family and row; -1: all.
    pub store_limit: i32,
    pub store_offset: u32,
    pub cache_blocks: bool,
    /// Families that the filter does not need are read only for rows that it accepts.
    pub load_on_demand: bool,
    /// Read point to go on with; `u64::MAX`: everything (READ_UNCOMMITTED). None: what the region has committed.
    pub read_point: Option<u64>,
}

impl Default for ScanSpec {
    fn default() -> ScanSpec {
        ScanSpec {
            families: Vec::new(),
            start_row: Bytes::new(),
            include_start: true,
            stop_row: Bytes::new(),
            include_stop: false,
            reversed: false,
            max_versions: 1,
            time_range: TimeRange::ALL,
            filter: None,
            raw: false,
            store_limit: -1,
            store_offset: 0,
            cache_blocks: true,
            load_on_demand: true,
            read_point: None,
        }
    }
}

impl ScanSpec {
    /// A scan of one row is a Get.
    pub(crate) fn is_get(&self) -> bool {
        self.include_start && self.include_stop && !self.start_row.is_empty() && self.start_row == self.stop_row
    }
}
