//! Split and merge: where a region would be cut, and the files of the regions that follow it.
//!
//! Daughters and merged regions begin with references to their parents' files: nothing is copied. The parents are closed
//! (and flushed) when the references are written; opening a region and compacting it does away with them.

use crate::{Region, RegionConfig, RegionError};
use bytes::Bytes;
use martite_catalog::{RegionInfo, TableDescriptor};
use martite_store::StoreContext;
use std::sync::Arc;

impl Region {
    /// The row at which the region would be cut; None if it cannot be now: references, no data, one row.
    pub fn split_point(&self) -> Result<Option<Bytes>, RegionError> {
        todo!()
    }
    /// Whether the region is larger than a region may be (`regions_of_table` on this server decides for small tables).
    pub fn needs_split(&self, regions_of_table: usize) -> bool {
        let _ = regions_of_table;
        todo!()
    }
    /// Checks a split at `row` (or at the split point), and names the daughters.
    pub fn prepare_split(&self, row: Option<Bytes>, now_ms: u64) -> Result<(RegionInfo, RegionInfo), RegionError> {
        let _ = (row, now_ms);
        todo!()
    }
}

/// Makes the daughters' directories: .regioninfo and references to the files of the closed parent. Doing it twice is
/// doing it once.
pub fn write_split(
    stores: &Arc<StoreContext>,
    config: &RegionConfig,
    table: &TableDescriptor,
    parent: &RegionInfo,
    daughters: [&RegionInfo; 2],
    now_ms: u64,
) -> Result<(), RegionError> {
    let _ = (stores, config, table, parent, daughters, now_ms);
    todo!()
}

/// Makes the merged region's directory: .regioninfo and references to the files of all its closed parents.
pub fn write_merge(
    stores: &Arc<StoreContext>,
    config: &RegionConfig,
    table: &TableDescriptor,
    parents: &[RegionInfo],
    merged: &RegionInfo,
    now_ms: u64,
) -> Result<(), RegionError> {
    let _ = (stores, config, table, parents, merged, now_ms);
    todo!()
}
