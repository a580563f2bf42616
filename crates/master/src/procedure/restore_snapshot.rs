//! RestoreSnapshot: a disabled table becomes again what a snapshot of it holds.
//!
//! Its regions are new ones, under names of their own, that begin with links to the snapshot's files; the old ones go to the archive
//! behind them. So an edit of an old region that is still in a log is never taken for one of the restored table.

use super::copies::Copies;
use super::modify_table::descriptor;
use super::{DeleteTable, Flow, Lock, Procedure, region_infos, table_locks};
use crate::services::{Services, removed_region_row};
use crate::snapshots;
use crate::{MasterError, checks};
use martite_catalog::{RegionInfo, TableDescriptor, TableState, files};
use martite_proto as pb;
use prost::Message;
use std::sync::Arc;

const PREPARE: u32 = 0;
const WRITE_REGIONS: u32 = 1;
const WRITE_DESCRIPTOR: u32 = 2;
const REPLACE_IN_META: u32 = 3;
const ARCHIVE: u32 = 4;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RestoreSnapshot {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    snapshot: pb::SnapshotDescription,
    /// The snapshot's.
    #[prost(message, optional, tag = "3")]
    table: Option<pb::TableSchema>,
    #[prost(message, optional, tag = "4")]
    copies: Option<Copies>,
    /// The regions that go.
    #[prost(message, repeated, tag = "5")]
    old: Vec<pb::RegionInfo>,
}

impl RestoreSnapshot {
    pub fn new(snapshot: pb::SnapshotDescription, table: &TableDescriptor) -> RestoreSnapshot {
        let table = Some(table.to_proto());
        RestoreSnapshot { step: PREPARE, snapshot, table, copies: None, old: Vec::new() }
    }

    fn prepare(&mut self, services: &Services, table: &TableDescriptor) -> Result<(), MasterError> {
        snapshots::check_expired(services, &self.snapshot)?;
        DeleteTable::check(services, table.name())?;
        let manifest = snapshots::manifest(services, &self.snapshot.name)?;
        let old = services.catalog.regions(table.name());
        let newest = old.iter().map(|r| r.info.region_id()).max().unwrap_or(0);
        let copies = Copies::plan(&manifest, table.name(), services.now_ms().max(newest + 1))?;
        let live = old.iter().filter(|r| r.is_live()).count();
        checks::namespace_regions(services, table.name(), copies.live()?.len().saturating_sub(live))?;
        self.copies = Some(copies);
        // With merged regions' parents, whose directories are there still.
        let gone = old.iter().flat_map(|r| std::iter::once(&r.info).chain(r.merged.iter().map(|(_, parent)| parent)));
        self.old = gone.map(RegionInfo::to_proto).collect();
        Ok(())
    }

    /// Old rows out and new rows in, in one write.
    fn replace(&self, services: &Services, table: &TableDescriptor, new: &Copies) -> Result<(), MasterError> {
        let now = services.now_ms();
        let old = region_infos(&self.old)?;
        new.add_to_meta(services, table, old.iter().map(|r| removed_region_row(r, now)).collect())?;
        old.iter().for_each(|region| services.catalog.remove_region(region.encoded_name()));
        Ok(())
    }
}

impl Procedure for RestoreSnapshot {
    fn class(&self) -> &'static str {
        "RestoreSnapshotProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.table.as_ref().and_then(|t| t.table_name.clone()).unwrap_or_default())
    }
    fn can_roll_back(&self) -> bool {
        self.step < WRITE_DESCRIPTOR
    }

    fn roll_back(&mut self, services: &Services) -> Result<(), MasterError> {
        self.copies.as_ref().map_or(Ok(()), |copies| copies.remove(services))
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let table = descriptor(&self.table)?;
        let copies = self.copies.clone().unwrap_or_default();
        match self.step {
            PREPARE => self.prepare(services, &table)?,
            WRITE_REGIONS => copies.write(services, &self.snapshot.name, &table)?,
            WRITE_DESCRIPTOR => {
                files::write_table_descriptor(&*services.fs, &services.layout.table_dir(table.name()), &table)?;
                services.catalog.put_table(Arc::new(table), TableState::Disabled);
            }
            REPLACE_IN_META => self.replace(services, &table, &copies)?,
            ARCHIVE => {
                region_infos(&self.old)?.iter().try_for_each(|region| services.archive_region(region))?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
