//! [`Copies`]: new regions that begin with what a snapshot's regions had.

use crate::services::Services;
use crate::snapshots::{self, manifest};
use crate::{MasterError, class};
use martite_catalog::{RegionInfo, TableDescriptor, TableName};
use martite_proto as pb;
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};

/// Regions to be made, and of which region of the snapshot each is a copy. A part of saved states.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Copies {
    #[prost(message, repeated, tag = "1")]
    regions: Vec<pb::RegionInfo>,
    /// Encoded names, in the same order.
    #[prost(string, repeated, tag = "2")]
    sources: Vec<String>,
}

impl Copies {
    /// Of all regions of a snapshot but those that were split: their daughters lead to their files. `first_id`: an id that no region
    /// of `table` has had; the copies' follow in the order of those that they are copies of.
    pub fn plan(manifest: &pb::SnapshotDataManifest, table: &TableName, first_id: u64) -> Result<Copies, MasterError> {
        let sources = manifest.region_manifests.iter().map(|region| RegionInfo::from_proto(&region.region_info));
        let sources: Vec<RegionInfo> = sources.collect::<Result<_, _>>()?;
        let sources: Vec<RegionInfo> = sources.into_iter().filter(|r| !r.is_split_parent()).collect();
        let ids: BTreeSet<u64> = sources.iter().map(RegionInfo::region_id).collect();
        let new_id = |id: u64| first_id + ids.range(..id).count() as u64;
        let copy = |r: &RegionInfo| {
            let (start, end) = (r.start_key().clone(), r.end_key().clone());
            RegionInfo::new(table.clone(), start, end, new_id(r.region_id())).to_proto()
        };
        Ok(Copies {
            regions: sources.iter().map(copy).collect(),
            sources: sources.iter().map(|r| r.encoded_name().to_owned()).collect(),
        })
    }

    pub fn len(&self) -> usize {
        self.regions.len()
    }

    pub fn regions(&self) -> Result<Vec<RegionInfo>, MasterError> {
        super::region_infos(&self.regions)
    }

    /// CorruptedSnapshotException, if a file is missing.
    pub fn check(services: &Services, manifest: &pb::SnapshotDataManifest) -> Result<(), MasterError> {
        let stores = &services.region_context()?.stores;
        for region in &manifest.region_manifests {
            if let Some(file) = martite_region::missing_file(stores, region)? {
                let text = format!("Missing parent hfile for: {file}");
                return Err(MasterError::new(class::CORRUPTED_SNAPSHOT, text));
            }
        }
        Ok(())
    }

    /// Makes the regions' directories.
    pub fn write(&self, services: &Services, snapshot: &str, table: &TableDescriptor) -> Result<(), MasterError> {
        let _kept = services.snapshots.keep_files();
        snapshots::existing(services, snapshot)?;
        let manifest = manifest(services, snapshot)?;
        let mut by_name = BTreeMap::new();
        for region in &manifest.region_manifests {
            by_name.insert(RegionInfo::from_proto(&region.region_info)?.encoded_name().to_owned(), region);
        }
        let stores = &services.region_context()?.stores;
        for (region, source) in self.regions()?.iter().zip(&self.sources) {
            // Deleted, and another one made under its name.
            let files = by_name.get(source).ok_or_else(|| snapshots::does_not_exist(snapshot))?;
            martite_region::write_clone(stores, table, region, files)?;
        }
        Ok(())
    }

    pub fn remove(&self, services: &Services) -> Result<(), MasterError> {
        self.regions()?.iter().try_for_each(|region| services.remove_dir(&services.layout.region_dir(region)))
    }
}
