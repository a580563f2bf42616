//! `GetSpaceQuotaSnapshots`: what tables with a space quota hold, as this server knows it.

use crate::RegionServer;
use crate::error::Fault;
use martite_catalog::TableName;
use martite_proto as pb;
use pb::get_space_quota_snapshots_response::TableQuotaSnapshot;

impl RegionServer {
    pub(crate) fn space_quota_snapshots(
        &self,
        _: &pb::GetSpaceQuotaSnapshotsRequest,
    ) -> Result<pb::GetSpaceQuotaSnapshotsResponse, Fault> {
        let mut snapshots = Vec::new();
        for (table, usage) in self.space.in_force().iter() {
            let table = TableName::parse(table).map_err(|e| Fault::io(e.to_string()))?;
            let (table_name, snapshot) = (Some(table.to_proto()), Some(usage.to_proto()));
            snapshots.push(TableQuotaSnapshot { table_name, snapshot });
        }
        Ok(pb::GetSpaceQuotaSnapshotsResponse { snapshots })
    }
}
