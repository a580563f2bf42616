//! `GetRegionInfo`: what a region is, whether it compacts, and where it would be split.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;
use pb::get_region_info_response::CompactionState;

impl RegionServer {
    pub(crate) fn get_region_info(&self, q: &pb::GetRegionInfoRequest) -> Result<pb::GetRegionInfoResponse, Fault> {
        let named = self.online.find(&q.region, &self.name)?;
        let region = named.region;
        let splittable = region.is_splittable();
        let mergeable = !region.has_references() && !region.info().is_meta();
        let best_split_row = if q.best_split_row == Some(true) && splittable { region.split_point()? } else { None };
        let state = match self.background.compactions_of(region.info().encoded_name()) {
            (false, false) => CompactionState::None,
            (true, false) => CompactionState::Minor,
            (false, true) => CompactionState::Major,
            (true, true) => CompactionState::MajorAndMinor,
        };
        Ok(pb::GetRegionInfoResponse {
            region_info: region.info().with_replica_id(named.replica_id).to_proto(),
            compaction_state: (q.compaction_state == Some(true)).then_some(state as i32),
            splittable: Some(splittable),
            mergeable: Some(mergeable),
            best_split_row,
        })
    }
}
