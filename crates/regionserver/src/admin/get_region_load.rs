//! `GetRegionLoad`: sizes and counters of regions.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;

impl RegionServer {
    pub(crate) fn get_region_load(&self, q: &pb::GetRegionLoadRequest) -> Result<pb::GetRegionLoadResponse, Fault> {
        let table = q
            .table_name
            .as_ref()
            .map(martite_catalog::TableName::from_proto)
            .transpose()
            .map_err(|e| Fault::do_not_retry(e.to_string()))?;
        let region_loads = self
            .online
            .all()
            .iter()
            .filter(|r| table.as_ref().is_none_or(|t| r.info().table() == t))
            .map(|r| r.load().to_proto(r.info().name()))
            .collect();
        Ok(pb::GetRegionLoadResponse { region_loads })
    }
}
