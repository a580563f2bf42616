//! SplitTableRegion: a region is cut in two.
//!
//! ```text
//! prepare ─ close parent ─ write daughters' files ─┬─ hbase:meta: parent offline, daughters in ─ open daughters
//!     a failure up to here opens the parent again ─┘  from here on there is no way back
//! ```

use super::{Flow, Lock, Procedure, region_locks};
use crate::catalog::RegionEntry;
use crate::services::{Services, new_region_row};
use crate::switches::Switch;
use crate::{MasterError, checks};
use bytes::Bytes;
use martite_catalog::meta_row::{MetaEdit, SEQNUM};
use martite_catalog::{RegionInfo, RegionState, system, to_string_binary};
use martite_proto as pb;
use martite_region::Region;
use prost::Message;

const PREPARE: u32 = 0;
const CLOSE_PARENT: u32 = 1;
const WRITE_FILES: u32 = 2;
const UPDATE_META: u32 = 3;
const OPEN_DAUGHTERS: u32 = 4;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SplitRegion {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    parent: pb::RegionInfo,
    #[prost(bytes = "bytes", optional, tag = "3")]
    split_row: Option<Bytes>,
    /// Two, once prepared.
    #[prost(message, repeated, tag = "4")]
    daughters: Vec<pb::RegionInfo>,
}

/// A split of a region at a row, or at the middle; refused at once if the region cannot be split.
pub(crate) fn split_region(
    services: &Services,
    encoded: &str,
    split_row: Option<Bytes>,
) -> Result<Box<dyn Procedure>, MasterError> {
    let parent = services.region(encoded)?.info;
    let mut split = SplitRegion { step: PREPARE, parent: parent.to_proto(), split_row, daughters: Vec::new() };
    split.prepare(services, &parent)?;
    Ok(Box::new(split))
}

/// The row in the middle of a region's files. If all is in memory, it is flushed first.
fn middle(services: &Services, region: &Region) -> Result<Bytes, MasterError> {
    if let Some(row) = region.split_point()? {
        return Ok(row);
    }
    services.host.flush_region(region.info().encoded_name(), &[]).map_err(MasterError::io)?;
    region.split_point()?.ok_or_else(|| {
        MasterError::do_not_retry(
            "Region not splittable because bestSplitPoint = null, maybe table is too small for auto split. For force \
             split, try specifying split row",
        )
    })
}

impl SplitRegion {
    fn prepare(&mut self, services: &Services, parent: &RegionInfo) -> Result<(), MasterError> {
        let refuse = |text: String| Err(MasterError::do_not_retry(text));
        let name = parent.name_string();
        if !services.is_on(Switch::Split) {
            return refuse(format!("Split region {name} failed due to split switch off"));
        }
        if !services.catalog.existing(parent.table())?.descriptor.is_split_enabled() {
            return refuse(format!("Split region {name} failed as region split is disabled for the table"));
        }
        let not_splittable = || MasterError::do_not_retry(format!("{} NOT splittable", parent.encoded_name()));
        checks::namespace_split(services, parent)?;
        let entry = services.catalog.region(parent.encoded_name()).filter(RegionEntry::is_live);
        let state = entry.ok_or_else(|| MasterError::unknown_region(parent.name()))?.state;
        if state != RegionState::Open {
            return refuse(format!("Split {name} FAILED because state={}; expected [OPEN]", state.name()));
        }
        let region = services.host.region(parent.encoded_name()).ok_or_else(not_splittable)?;
        if !region.is_splittable() {
            return Err(not_splittable());
        }
        let row = match self.split_row.clone().filter(|row| !row.is_empty()) {
            Some(row) => row,
            None => middle(services, &region)?,
        };
        if row == *parent.start_key() {
            return refuse(format!("Split row is equal to startkey: {}", to_string_binary(&row)));
        }
        if !parent.contains_row(&row) {
            return refuse(format!(
                "Split row is not inside region key range splitKey:{} region: {parent:?}",
                to_string_binary(&row)
            ));
        }
        let id = services.now_ms().max(parent.region_id() + 1);
        let table = parent.table();
        let first = RegionInfo::new(table.clone(), parent.start_key().clone(), row.clone(), id);
        let second = RegionInfo::new(table.clone(), row, parent.end_key().clone(), id);
        self.daughters = vec![first.to_proto(), second.to_proto()];
        Ok(())
    }

    fn daughters(&self) -> Result<[RegionInfo; 2], MasterError> {
        match self.daughters.as_slice() {
            [a, b] => Ok([RegionInfo::from_proto(a)?, RegionInfo::from_proto(b)?]),
            other => Err(MasterError::io(format!("a saved split has {} daughters", other.len()))),
        }
    }

    /// In one write: the parent offline with its daughters' names, and the daughters.
    fn update_meta(&self, services: &Services, parent: &RegionInfo) -> Result<(), MasterError> {
        let [a, b] = self.daughters()?;
        let table = services.catalog.existing(parent.table())?.descriptor;
        let now = services.now_ms();
        let gone = parent.with_flags(true, true);
        // New regions: any number that no edit of theirs can have will do.
        let daughter = |region: &RegionInfo| {
            new_region_row(region, &table, now).cell(system::CATALOG_FAMILY, SEQNUM.as_bytes(), &1_u64.to_be_bytes())
        };
        let parent_row =
            MetaEdit::region(parent, now).region_info(&gone).state(RegionState::Split, 0).daughters(&a, &b);
        services.meta.apply(&[parent_row, daughter(&a), daughter(&b)])?;
        services.catalog.update_region(parent.encoded_name(), |r| {
            r.info = gone;
            r.state = RegionState::Split;
            r.split = Some((a.clone(), b.clone()));
            r.since_ms = now;
        });
        for region in [a, b] {
            // A step that is repeated must not forget that a daughter is open.
            if services.catalog.region(region.encoded_name()).is_none() {
                services.catalog.put_region(RegionEntry::new(region, RegionState::Closed, now));
            }
        }
        Ok(())
    }
}

/// Closes regions so that all their edits are in files. One that is not open (a crash came between) is opened first: its
/// edits may be in recovered logs only.
pub(super) fn close_flushed(services: &Services, regions: &[RegionInfo]) -> Result<(), MasterError> {
    let closed: Vec<RegionInfo> =
        regions.iter().filter(|r| services.host.region(r.encoded_name()).is_none()).cloned().collect();
    services.open_regions(&closed)?;
    services.close_regions(regions)
}

impl Procedure for SplitRegion {
    fn class(&self) -> &'static str {
        "SplitTableRegionProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        region_locks(std::slice::from_ref(&self.parent))
    }
    fn can_roll_back(&self) -> bool {
        self.step < UPDATE_META
    }

    fn roll_back(&mut self, services: &Services) -> Result<(), MasterError> {
        let parent = RegionInfo::from_proto(&self.parent)?;
        for daughter in self.daughters()? {
            services.remove_dir(&services.layout.region_dir(&daughter))?;
        }
        match services.catalog.region(parent.encoded_name()) {
            Some(entry) if entry.is_live() => services.open_regions(&[parent]),
            _ => Ok(()),
        }
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let parent = RegionInfo::from_proto(&self.parent)?;
        match self.step {
            // Once more, now that the locks are held.
            PREPARE => self.prepare(services, &parent)?,
            CLOSE_PARENT => close_flushed(services, &[parent])?,
            WRITE_FILES => {
                let [a, b] = self.daughters()?;
                let ctx = services.region_context()?;
                let table = services.catalog.existing(parent.table())?.descriptor;
                let now = services.now_ms();
                martite_region::write_split(&ctx.stores, &table, &parent, [&a, &b], now)?;
            }
            UPDATE_META => self.update_meta(services, &parent)?,
            OPEN_DAUGHTERS => {
                services.open_regions(&self.daughters()?)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
