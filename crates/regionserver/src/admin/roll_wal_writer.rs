//! `RollWALWriter`: begins a new log file; answers the regions that keep old ones alive.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;

impl RegionServer {
    pub(crate) fn roll_wal_writer(&self, _: &pb::RollWalWriterRequest) -> Result<pb::RollWalWriterResponse, Fault> {
        self.ctx.wal.roll().map_err(|e| Fault::io(format!("rolling the log failed: {e}")))?;
        let region_to_flush = self.ctx.wal.flush_candidates().into_iter().map(|c| c.region).collect();
        Ok(pb::RollWalWriterResponse { region_to_flush })
    }
}
