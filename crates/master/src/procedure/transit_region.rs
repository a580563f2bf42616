//! TransitRegionState: opens, closes, or closes and opens one region on request of an administrator.

use super::{Flow, Lock, Procedure, region_locks};
use crate::MasterError;
use crate::services::Services;
use martite_catalog::RegionInfo;
use martite_proto as pb;
use prost::Message;

/// What becomes of the region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, prost::Enumeration)]
#[repr(i32)]
pub(crate) enum Transit {
    Assign = 0,
    Unassign = 1,
    Reopen = 2,
}

/// The saved state; there is one step.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TransitRegion {
    #[prost(message, required, tag = "1")]
    region: pb::RegionInfo,
    #[prost(enumeration = "Transit", tag = "2")]
    transit: i32,
}

impl TransitRegion {
    pub fn new(region: &RegionInfo, transit: Transit) -> TransitRegion {
        TransitRegion { region: region.to_proto(), transit: transit as i32 }
    }
}

impl Procedure for TransitRegion {
    fn class(&self) -> &'static str {
        "TransitRegionStateProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        region_locks(std::slice::from_ref(&self.region))
    }
    fn can_roll_back(&self) -> bool {
        true
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let region = [RegionInfo::from_proto(&self.region)?];
        match self.transit() {
            Transit::Assign => services.open_regions(&region)?,
            Transit::Unassign => services.close_regions(&region)?,
            Transit::Reopen => services.reopen_regions(&region)?,
        }
        Ok(Flow::done())
    }
}
