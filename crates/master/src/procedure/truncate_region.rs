//! TruncateRegion: one region loses its rows, under the same name.

use super::{Flow, Lock, Procedure, region_locks};
use crate::MasterError;
use crate::services::Services;
use martite_catalog::{RegionInfo, files};
use martite_proto as pb;
use prost::Message;

const CLOSE: u32 = 0;
const ARCHIVE: u32 = 1;
const OPEN: u32 = 2;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TruncateRegion {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    region: pb::RegionInfo,
}

impl TruncateRegion {
    pub fn new(region: &RegionInfo) -> TruncateRegion {
        TruncateRegion { step: CLOSE, region: region.to_proto() }
    }

    pub fn check(services: &Services, region: &RegionInfo) -> Result<(), MasterError> {
        if region.is_meta() {
            return Err(MasterError::io("Can't truncate region in catalog tables"));
        }
        let known = services.catalog.region(region.encoded_name()).filter(|r| r.is_live());
        known.map(|_| ()).ok_or_else(|| MasterError::unknown_region(region.name()))
    }
}

impl Procedure for TruncateRegion {
    fn class(&self) -> &'static str {
        "TruncateRegionProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        region_locks(std::slice::from_ref(&self.region))
    }
    fn can_roll_back(&self) -> bool {
        self.step == CLOSE
    }

    fn roll_back(&mut self, services: &Services) -> Result<(), MasterError> {
        let region = RegionInfo::from_proto(&self.region)?;
        match services.catalog.region(region.encoded_name()) {
            Some(entry) if entry.is_live() => services.open_regions(&[region]),
            _ => Ok(()),
        }
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let region = RegionInfo::from_proto(&self.region)?;
        match self.step {
            CLOSE => {
                TruncateRegion::check(services, &region)?;
                services.close_regions(std::slice::from_ref(&region))?;
            }
            ARCHIVE => {
                services.archive_region(&region)?;
                files::create_region_dir(&*services.fs, &services.layout.region_dir(&region), &region)?;
            }
            OPEN => {
                services.open_regions(std::slice::from_ref(&region))?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
