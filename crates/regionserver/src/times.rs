//! What a call took, for its table.

use martite_metrics::Histogram;
use martite_region::{Region, TableTimes};
use martite_rpc::Responder;
use std::sync::Arc;

/// Counts a call whose answer is ready for the table of the region that it asked.
#[inline]
pub(crate) fn record(region: &Region, responder: &mut Responder, method: fn(&TableTimes) -> &Histogram) {
    if let Some(times) = region.times.get() {
        method(times).record(responder.took());
    }
}

/// The regions of a call that asks several: a table is counted once, if its regions stand together.
pub(crate) fn tables<'a>(regions: impl Iterator<Item = &'a Region>) -> Vec<Arc<TableTimes>> {
    let mut tables: Vec<Arc<TableTimes>> = Vec::new();
    for times in regions.filter_map(|region| region.times.get()) {
        if !tables.last().is_some_and(|last| Arc::ptr_eq(last, times)) {
            tables.push(times.clone());
        }
    }
    tables
}
