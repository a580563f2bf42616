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
        Ok(pb::GetRegionLoadResponse { region_loads: self.online.loads(table.as_ref()) })
    }
}
