//! CloneSnapshot: a new table that begins with links to a snapshot's files.

use super::copies::Copies;
use super::{Flow, Lock, Procedure, table_locks};
use crate::services::Services;
use crate::snapshots;
use crate::{MasterError, checks, file_tracker};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::{TableDescriptor, TableState, files};
use martite_proto as pb;
use prost::Message;
use std::sync::Arc;

const PREPARE: u32 = 0;
const CLEAR: u32 = 1;
const WRITE_LAYOUT: u32 = 2;
const ADD_TO_META: u32 = 3;
const OPEN_REGIONS: u32 = 4;
const ENABLE: u32 = 5;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CloneSnapshot {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    snapshot: pb::SnapshotDescription,
    #[prost(message, required, tag = "3")]
    table: pb::TableSchema,
    #[prost(message, required, tag = "4")]
    copies: Copies,
}

impl CloneSnapshot {
    /// `table`: the snapshot's, under its new name.
    pub fn new(snapshot: pb::SnapshotDescription, table: &TableDescriptor, copies: Copies) -> CloneSnapshot {
        CloneSnapshot { step: PREPARE, snapshot, table: table.to_proto(), copies }
    }

    fn prepare(&self, services: &Services, table: &TableDescriptor) -> Result<(), MasterError> {
        if services.catalog.table(table.name()).is_some() {
            return Err(MasterError::table_exists(table.name()));
        }
        snapshots::check_expired(services, &self.snapshot)?;
        file_tracker::check_known(table)?;
        services.namespaces.existing(table.name().namespace())?;
        checks::namespace_quota(services, table.name(), self.copies.live()?.len())
    }
}

impl Procedure for CloneSnapshot {
    fn class(&self) -> &'static str {
        "CloneSnapshotProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.table.table_name.clone().unwrap_or_default())
    }
    fn can_roll_back(&self) -> bool {
        self.step < ADD_TO_META
    }

    fn roll_back(&mut self, services: &Services) -> Result<(), MasterError> {
        if self.step < WRITE_LAYOUT {
            return Ok(());
        }
        let table = TableDescriptor::from_proto(&self.table)?;
        services.remove_dir(&services.layout.table_dir(table.name()))
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let table = TableDescriptor::from_proto(&self.table)?;
        match self.step {
            PREPARE => self.prepare(services, &table)?,
            // What an earlier table of that name may have left behind.
            CLEAR => services.archive_table(table.name())?,
            WRITE_LAYOUT => {
                self.copies.write(services, &self.snapshot.name, &table)?;
                files::write_table_descriptor(&*services.fs, &services.layout.table_dir(table.name()), &table)?;
            }
            ADD_TO_META => {
                let state = MetaEdit::table_state(table.name(), TableState::Enabling, services.now_ms());
                self.copies.add_to_meta(services, &table, vec![state])?;
                services.catalog.put_table(Arc::new(table), TableState::Enabling);
            }
            OPEN_REGIONS => services.open_regions(&self.copies.live()?)?,
            ENABLE => {
                services.set_table_state(table.name(), TableState::Enabled)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
