//! SnapshotTable: the names of a table's files, written down.
//!
//! The table is locked as a whole: no region is split, merged or moved meanwhile. Compactions go on: what they archive is kept by the
//! working directory's being there.

use super::{Flow, Lock, Procedure, table_locks, table_name};
use crate::services::Services;
use crate::snapshots;
use crate::{MasterError, class};
use martite_catalog::{RegionInfo, TableDescriptor, TableName, TableState, snapshot};
use martite_proto as pb;
use pb::snapshot_description::Type;
use prost::Message;

const PREPARE: u32 = 0;
const LIST_FILES: u32 = 1;
const COMPLETE: u32 = 2;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotTable {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    table: pb::TableName,
    #[prost(message, required, tag = "3")]
    snapshot: pb::SnapshotDescription,
}

impl SnapshotTable {
    pub const CLASS: &str = "SnapshotProcedure";

    pub fn new(table: &TableName, snapshot: pb::SnapshotDescription) -> SnapshotTable {
        SnapshotTable { step: PREPARE, table: table.to_proto(), snapshot }
    }

    pub fn name(&self) -> &str {
        &self.snapshot.name
    }

    /// SnapshotExistsException, SnapshotCreationException.
    pub fn check(services: &Services, table: &TableName, name: &str) -> Result<(), MasterError> {
        if snapshots::exists(services, name) {
            let text = format!("Snapshot '{name}' already stored on the filesystem.");
            return Err(MasterError::new(class::SNAPSHOT_EXISTS, text));
        }
        let refuse = |text: String| Err(MasterError::new(class::SNAPSHOT_CREATION, text));
        match services.catalog.table(table).map(|entry| entry.state) {
            None => refuse(format!("Table '{table}' doesn't exist, can't take snapshot.")),
            Some(TableState::Enabled | TableState::Disabled) => Ok(()),
            Some(_) => refuse("Table is not entirely open or closed".into()),
        }
    }

    fn prepare(&mut self, services: &Services, table: &TableName) -> Result<(), MasterError> {
        SnapshotTable::check(services, table, self.name())?;
        if services.catalog.existing(table)?.state == TableState::Disabled {
            self.snapshot.r#type = Some(Type::Disabled as i32);
        }
        let _kept = services.snapshots.keep_files();
        let dir = services.layout.working_snapshot_dir(self.name());
        services.remove_dir(&dir)?;
        Ok(snapshot::write_description(&*services.fs, &dir, &self.snapshot)?)
    }

    fn list_files(&self, services: &Services, table: &TableName) -> Result<(), MasterError> {
        let entry = services.catalog.existing(table)?;
        if entry.state == TableState::Enabled {
            // One that is not open (a crash came between) has edits in recovered logs only.
            let live = services.catalog.live_regions(table);
            let closed = live.iter().filter(|r| services.host.region(r.encoded_name()).is_none());
            services.open_regions(&closed.cloned().collect::<Vec<_>>())?;
            for region in live.iter().filter(|_| self.snapshot.r#type() != Type::Skipflush) {
                services.host.flush_region(region.encoded_name(), &[]).map_err(MasterError::io)?;
            }
        }
        // No region's directory goes meanwhile.
        let _kept = services.snapshots.keep_files();
        let mut region_manifests = Vec::new();
        for region in services.catalog.regions(table).iter().filter(|r| r.info.replica_id() == 0) {
            region_manifests.push(region_manifest(services, &entry.descriptor, &region.info)?);
        }
        let table_schema = self.descriptor(&entry.descriptor).to_proto();
        let dir = services.layout.working_snapshot_dir(self.name());
        let manifest = pb::SnapshotDataManifest { table_schema, region_manifests };
        Ok(snapshot::write_manifest(&*services.fs, &dir, &manifest)?)
    }

    /// With the size of regions that the request asks for, if the table has none.
    fn descriptor(&self, table: &TableDescriptor) -> TableDescriptor {
        match self.snapshot.max_file_size {
            Some(bytes) if bytes > 0 && table.max_file_size_bytes().is_none() => {
                table.clone().with("MAX_FILESIZE", &bytes.to_string())
            }
            _ => table.clone(),
        }
    }

    fn complete(&self, services: &Services) -> Result<(), MasterError> {
        let _kept = services.snapshots.keep_files();
        let (from, to) = (services.layout.working_snapshot_dir(self.name()), services.layout.snapshot_dir(self.name()));
        services.move_dir(&from, &to)
    }
}

/// The files of a region, open or not.
fn region_manifest(
    services: &Services,
    table: &TableDescriptor,
    info: &RegionInfo,
) -> Result<pb::SnapshotRegionManifest, MasterError> {
    if let Some(region) = services.host.region(info.encoded_name()) {
        return Ok(region.manifest());
    }
    let stores = &services.region_context()?.stores;
    Ok(martite_region::manifest_of_closed(stores, table, info, services.clock.now_ms())?)
}

impl Procedure for SnapshotTable {
    fn class(&self) -> &'static str {
        SnapshotTable::CLASS
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.table)
    }
    fn can_roll_back(&self) -> bool {
        true
    }

    fn roll_back(&mut self, services: &Services) -> Result<(), MasterError> {
        services.remove_dir(&services.layout.working_snapshot_dir(self.name()))
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let table = table_name(&self.table)?;
        match self.step {
            PREPARE => self.prepare(services, &table)?,
            LIST_FILES => self.list_files(services, &table)?,
            COMPLETE => {
                self.complete(services)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
