//! [`Copies`]: new regions that begin with what a snapshot's regions had.
//!
//! A region that was split is copied, too, as one that was split, while a daughter has references to it: the janitor removes the copy
//! when it has them no more. HBase's cleaner goes by the links in its directory.

use crate::MasterError;
use crate::catalog::RegionEntry;
use crate::services::{Services, new_region_row};
use crate::snapshots::{self, manifest};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::{RegionInfo, RegionState, TableDescriptor, TableName};
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
    #[prost(message, repeated, tag = "3")]
    splits: Vec<Split>,
}

/// A copy of a region that was split, and those of its daughters that have references to it, by their places: twice the same if it is
/// only one.
#[derive(Clone, Copy, PartialEq, Message)]
struct Split {
    #[prost(uint32, tag = "1")]
    parent: u32,
    #[prost(uint32, tag = "2")]
    first: u32,
    #[prost(uint32, tag = "3")]
    second: u32,
}

impl Copies {
    /// Of all regions of a snapshot but those that were split and that nobody refers to. `first_id`: an id that no region of `table` has
    /// had; the copies' follow in the order of those that they are copies of.
    pub fn plan(manifest: &pb::SnapshotDataManifest, table: &TableName, first_id: u64) -> Result<Copies, MasterError> {
        let all = manifest.region_manifests.iter();
        let all =
            all.map(|files| Ok((RegionInfo::from_proto(&files.region_info)?, martite_region::referred_regions(files))));
        let mut all = all.collect::<Result<Vec<_>, MasterError>>()?;
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let referred: BTreeSet<&str> = all.iter().flat_map(|(_, refers_to)| refers_to.iter().copied()).collect();
        let is_copied = |region: &RegionInfo| !region.is_split_parent() || referred.contains(region.encoded_name());
        let copied: Vec<_> = all.iter().filter(|(region, _)| is_copied(region)).collect();
        let ids: BTreeSet<u64> = copied.iter().map(|(region, _)| region.region_id()).collect();
        let copy = |region: &RegionInfo| {
            let (start, end) = (region.start_key().clone(), region.end_key().clone());
            let id = first_id + ids.range(..region.region_id()).count() as u64;
            let copy = RegionInfo::new(table.clone(), start, end, id);
            copy.with_flags(region.is_offline(), region.is_split()).to_proto()
        };
        let daughters = |parent: &str| {
            let refer = copied.iter().enumerate().filter(|(_, (_, refers_to))| refers_to.contains(parent));
            refer.map(|(place, _)| place as u32).collect::<Vec<_>>()
        };
        let parents = copied.iter().enumerate().filter(|(_, (region, _))| region.is_split_parent());
        let splits = parents.filter_map(|(place, (region, _))| {
            let daughters = daughters(region.encoded_name());
            Some(Split { parent: place as u32, first: *daughters.first()?, second: *daughters.last()? })
        });
        Ok(Copies {
            splits: splits.collect(),
            regions: copied.iter().map(|(region, _)| copy(region)).collect(),
            sources: copied.iter().map(|(region, _)| region.encoded_name().to_owned()).collect(),
        })
    }

    fn all(&self) -> Result<Vec<RegionInfo>, MasterError> {
        super::region_infos(&self.regions)
    }

    /// Those that cover the table.
    pub fn live(&self) -> Result<Vec<RegionInfo>, MasterError> {
        Ok(self.all()?.into_iter().filter(|region| !region.is_split_parent()).collect())
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
        let copies: Vec<(RegionInfo, &String)> = self.all()?.into_iter().zip(&self.sources).collect();
        let parents = copies.iter().filter(|(region, _)| region.is_split_parent());
        let parents = parents.map(|(region, source)| (source.to_string(), region.encoded_name().to_owned())).collect();
        for (region, source) in &copies {
            // Deleted, and another one made under its name.
            let files = by_name.get(*source).ok_or_else(|| snapshots::does_not_exist(snapshot))?;
            martite_region::write_clone(stores, table, region, files, &parents)?;
        }
        Ok(())
    }

    /// Adds the regions to hbase:meta, in one write with `others`.
    pub fn add_to_meta(
        &self,
        services: &Services,
        table: &TableDescriptor,
        others: Vec<MetaEdit>,
    ) -> Result<(), MasterError> {
        let now = services.now_ms();
        let regions = self.all()?;
        let mut entries: Vec<RegionEntry> =
            regions.iter().map(|region| RegionEntry::new(region.clone(), RegionState::Closed, now)).collect();
        let missing = || MasterError::io("a saved copy of a split region has no daughters");
        for Split { parent, first, second } in &self.splits {
            let region = |place: u32| regions.get(place as usize).cloned().ok_or_else(missing);
            let entry = entries.get_mut(*parent as usize).ok_or_else(missing)?;
            (entry.state, entry.split) = (RegionState::Split, Some((region(*first)?, region(*second)?)));
        }
        let row = |entry: &RegionEntry| match &entry.split {
            None => new_region_row(&entry.info, table, now),
            Some((a, b)) => {
                let row = MetaEdit::region(&entry.info, now).region_info(&entry.info);
                row.state(RegionState::Split, 0).daughters(a, b)
            }
        };
        let edits: Vec<MetaEdit> = others.into_iter().chain(entries.iter().map(row)).collect();
        services.meta.apply(&edits)?;
        entries.into_iter().for_each(|entry| services.catalog.put_region(entry));
        Ok(())
    }

    pub fn remove(&self, services: &Services) -> Result<(), MasterError> {
        self.all()?.iter().try_for_each(|region| services.remove_dir(&services.layout.region_dir(region)))
    }
}
