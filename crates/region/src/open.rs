//! Create and open a region.

use crate::{Region, RegionContext, RegionError};
use martite_catalog::{RegionInfo, TableDescriptor};
use std::sync::Arc;

impl Region {
    /// Makes the directory and .regioninfo of a new region. Doing it twice is doing it once.
    pub fn create(ctx: &RegionContext, info: &RegionInfo, table: &TableDescriptor) -> Result<(), RegionError> {
        let _ = (ctx, info, table);
        todo!()
    }
    /// Opens a region: stores, recovered edits, sequence ids, the open marker in the log. Blocking.
    pub fn open(
        ctx: Arc<RegionContext>,
        info: RegionInfo,
        table: Arc<TableDescriptor>,
    ) -> Result<Arc<Region>, RegionError> {
        let _ = (ctx, info, table);
        todo!()
    }
}
