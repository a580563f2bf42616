//! MergeTableRegions: neighbours become one region.
//!
//! The steps are those of a split: parents closed, files written, hbase:meta changed in one write, merged region opened.

use super::split_region::close_flushed;
use super::{Flow, Lock, Procedure, region_infos, region_locks};
use crate::catalog::RegionEntry;
use crate::services::{Services, new_region_row, removed_region_row};
use crate::switches::Switch;
use crate::{MasterError, class};
use bytes::Bytes;
use martite_catalog::meta_row::SEQNUM;
use martite_catalog::{RegionInfo, RegionState, system};
use martite_proto as pb;
use prost::Message;

const PREPARE: u32 = 0;
const CLOSE_PARENTS: u32 = 1;
const WRITE_FILES: u32 = 2;
const UPDATE_META: u32 = 3;
const OPEN_MERGED: u32 = 4;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MergeRegions {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, repeated, tag = "2")]
    parents: Vec<pb::RegionInfo>,
    #[prost(message, optional, tag = "3")]
    merged: Option<pb::RegionInfo>,
    /// Merge regions that do not touch, too.
    #[prost(bool, tag = "4")]
    force: bool,
}

/// A merge of regions; refused at once if they cannot be merged.
pub(crate) fn merge_regions(
    services: &Services,
    mut parents: Vec<RegionInfo>,
    force: bool,
) -> Result<Box<dyn Procedure>, MasterError> {
    parents.sort();
    let mut merge = MergeRegions {
        step: PREPARE,
        parents: parents.iter().map(RegionInfo::to_proto).collect(),
        merged: None,
        force,
    };
    merge.prepare(services, &parents)?;
    Ok(Box::new(merge))
}

fn refuse<T>(text: String) -> Result<T, MasterError> {
    Err(MasterError::new(class::MERGE_REGION, text))
}

impl MergeRegions {
    fn prepare(&mut self, services: &Services, parents: &[RegionInfo]) -> Result<(), MasterError> {
        let names = short_names(parents);
        let [first, .., last] = parents else {
            return refuse("Need two Regions at least to run a Merge".into());
        };
        if !services.is_on(Switch::Merge) {
            return Err(MasterError::do_not_retry(format!("Merge of {names} failed because merge switch is off")));
        }
        if !services.catalog.existing(first.table())?.descriptor.is_merge_enabled() {
            let text = format!("Merge of {names} failed as region merge is disabled for the table");
            return Err(MasterError::do_not_retry(text));
        }
        self.check_neighbours(parents)?;
        for parent in parents {
            check_open(services, parent, &names)?;
        }
        let id = parents.iter().map(RegionInfo::region_id).max().unwrap_or(0) + 1;
        let end = if parents.iter().any(|p| p.end_key().is_empty()) {
            Bytes::new()
        } else {
            parents.iter().map(|p| p.end_key().clone()).max().unwrap_or_else(|| last.end_key().clone())
        };
        let merged = RegionInfo::new(first.table().clone(), first.start_key().clone(), end, id);
        self.merged = Some(merged.to_proto());
        Ok(())
    }

    fn check_neighbours(&self, parents: &[RegionInfo]) -> Result<(), MasterError> {
        let unique: std::collections::BTreeSet<&RegionInfo> = parents.iter().collect();
        if unique.len() != parents.len() {
            return refuse(format!(
                "Duplicate regions specified; cannot merge a region to itself. Passed in {} but only {} unique.",
                parents.len(),
                unique.len()
            ));
        }
        for pair in parents.windows(2) {
            if pair[0].table() != pair[1].table() {
                return refuse(format!("Can't merge regions from different tables: {:?}, {:?}", pair[0], pair[1]));
            }
            if !self.force && !pair[1].is_adjacent(&pair[0]) && !pair[1].overlaps(&pair[0]) {
                return refuse(format!(
                    "Unable to merge non-adjacent or non-overlapping regions '{}', '{}' when force=false",
                    pair[0].encoded_name(),
                    pair[1].encoded_name()
                ));
            }
        }
        match parents.iter().find(|p| p.replica_id() != 0) {
            Some(replica) => refuse(format!("Can't merge non-default replicas; {replica:?}")),
            None => Ok(()),
        }
    }

    fn merged(&self) -> Result<RegionInfo, MasterError> {
        let merged = self.merged.as_ref().ok_or_else(|| MasterError::io("a saved merge has no merged region"))?;
        Ok(RegionInfo::from_proto(merged)?)
    }

    /// In one write: the parents out, and the merged region in, with its parents' names.
    fn update_meta(&self, services: &Services, parents: &[RegionInfo]) -> Result<(), MasterError> {
        let merged = self.merged()?;
        let table = services.catalog.existing(merged.table())?.descriptor;
        let now = services.now_ms();
        let mut edits: Vec<_> = parents.iter().map(|p| removed_region_row(p, now)).collect();
        edits.push(
            new_region_row(&merged, &table, now)
                .cell(system::CATALOG_FAMILY, SEQNUM.as_bytes(), &1_u64.to_be_bytes())
                .merge_parents(parents),
        );
        services.meta.apply(&edits)?;
        for parent in parents {
            services.catalog.remove_region(parent.encoded_name());
        }
        let named = |(i, p): (usize, &RegionInfo)| (Bytes::from(format!("merge{i:04}")), p.clone());
        let mut entry = RegionEntry::new(merged, RegionState::Closed, now);
        entry.merged = parents.iter().enumerate().map(named).collect();
        services.catalog.put_region(entry);
        Ok(())
    }
}

fn check_open(services: &Services, parent: &RegionInfo, names: &str) -> Result<(), MasterError> {
    let Some(entry) = services.catalog.region(parent.encoded_name()).filter(RegionEntry::is_live) else {
        let text = format!("{} UNKNOWN (Has it been garbage collected?)", parent.encoded_name());
        return Err(MasterError::new(class::UNKNOWN_REGION, text));
    };
    let region = services.host.region(parent.encoded_name()).filter(|_| entry.state == RegionState::Open);
    let Some(region) = region else {
        return refuse(format!("Unable to merge regions that are NOT online: {parent:?}"));
    };
    // What still leans on files of its own parents must be compacted first.
    let leans = !entry.merged.is_empty() || region.has_references();
    if leans {
        return refuse(format!("Skip merging {names}, because a parent, {}, is not mergeable", parent.encoded_name()));
    }
    Ok(())
}

fn short_names(regions: &[RegionInfo]) -> String {
    let names: Vec<&str> = regions.iter().map(RegionInfo::encoded_name).collect();
    format!("[{}]", names.join(", "))
}

impl Procedure for MergeRegions {
    fn class(&self) -> &'static str {
        "MergeTableRegionsProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        region_locks(&self.parents)
    }
    fn can_roll_back(&self) -> bool {
        self.step < UPDATE_META
    }

    fn roll_back(&mut self, services: &Services) -> Result<(), MasterError> {
        services.remove_dir(&services.layout.region_dir(&self.merged()?))?;
        let parents = region_infos(&self.parents)?;
        let is_live = |p: &RegionInfo| services.catalog.region(p.encoded_name()).is_some_and(|e| e.is_live());
        services.open_regions(&parents.into_iter().filter(is_live).collect::<Vec<_>>())
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let parents = region_infos(&self.parents)?;
        match self.step {
            // Once more, now that the locks are held.
            PREPARE => self.prepare(services, &parents)?,
            CLOSE_PARENTS => close_flushed(services, &parents)?,
            WRITE_FILES => {
                let merged = self.merged()?;
                let ctx = services.region_context()?;
                let table = services.catalog.existing(merged.table())?.descriptor;
                let now = services.now_ms();
                martite_region::write_merge(&ctx.stores, &table, &parents, &merged, now)?;
            }
            UPDATE_META => self.update_meta(services, &parents)?,
            OPEN_MERGED => {
                services.open_regions(&[self.merged()?])?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
