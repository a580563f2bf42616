//! `FlushRegion`: a region's memstores become files.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;
use std::sync::atomic::Ordering;

impl RegionServer {
    pub(crate) fn flush_one(&self, q: &pb::FlushRegionRequest) -> Result<pb::FlushRegionResponse, Fault> {
        let region = self.region(&q.region)?;
        let last_flush = || region.counters.last_flush_ms.load(Ordering::Acquire);
        if q.if_older_than_ts.is_some_and(|limit| last_flush() >= limit) {
            return Ok(pb::FlushRegionResponse {
                last_flush_time: last_flush(),
                flushed: Some(false),
                wrote_flush_wal_marker: None,
            });
        }
        let family = q.family.clone().map(|f| vec![f]);
        let outcome = self.flush_region(&region, family.as_deref())?;
        Ok(pb::FlushRegionResponse {
            last_flush_time: last_flush(),
            flushed: Some(outcome.flushed),
            wrote_flush_wal_marker: q.write_flush_wal_marker.map(|_| false),
        })
    }
}
