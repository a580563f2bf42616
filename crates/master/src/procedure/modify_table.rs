//! ModifyTable: a new descriptor; regions are opened again with it, and families that are gone lose their files.

use super::{Flow, Lock, Procedure, table_locks};
use crate::services::Services;
use crate::{MasterError, class, file_tracker};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::{RegionInfo, TableDescriptor, TableState, files};
use martite_proto as pb;
use prost::Message;
use std::sync::Arc;

const PREPARE: u32 = 0;
const WRITE_DESCRIPTOR: u32 = 1;
const REOPEN: u32 = 2;
const ARCHIVE_FAMILIES: u32 = 3;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ModifyTable {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, optional, tag = "2")]
    new: Option<pb::TableSchema>,
    /// What it replaces, known once prepared.
    #[prost(message, optional, tag = "3")]
    old: Option<pb::TableSchema>,
    /// False: the regions see the change when they are opened next.
    #[prost(bool, tag = "4")]
    reopen: bool,
    /// Regions that were opened again already.
    #[prost(uint32, tag = "5")]
    reopened: u32,
}

/// A saved descriptor.
pub(super) fn descriptor(schema: &Option<pb::TableSchema>) -> Result<TableDescriptor, MasterError> {
    let schema = schema.as_ref().ok_or_else(|| MasterError::io("a saved procedure has no table descriptor"))?;
    Ok(TableDescriptor::from_proto(schema)?)
}

fn without_replication(table: &TableDescriptor) -> TableDescriptor {
    let mut table = table.clone();
    table.attributes.remove("REGION_REPLICATION");
    table
}

fn publish_meta(services: &Services, table: &TableDescriptor) {
    let replicas = table.region_replication();
    let meta = RegionInfo::meta();
    let open_seq_num = services.catalog.region(meta.encoded_name()).map_or(0, |r| r.open_seq_num.max(0) as u64);
    services.host.set_replicas(meta.encoded_name(), replicas);
    services.registry.publish_meta(&services.host.server_name(), open_seq_num, replicas);
}

impl ModifyTable {
    pub fn new(table: &TableDescriptor, reopen: bool) -> ModifyTable {
        ModifyTable { step: PREPARE, new: Some(table.to_proto()), old: None, reopen, reopened: 0 }
    }

    /// TableNotFoundException, and what may change without opening regions again.
    pub fn check(services: &Services, new: &TableDescriptor, reopen: bool) -> Result<(), MasterError> {
        let old = services.catalog.existing(new.name())?.descriptor;
        if new.family_count() == 0 {
            let text = format!("Table {} should have at least one column family.", new.name());
            return Err(MasterError::do_not_retry(text));
        }
        if new.is_meta() && without_replication(&old) != without_replication(new) {
            let text = "Changing more of hbase:meta than REGION_REPLICATION is not supported by this server";
            return Err(MasterError::do_not_retry(text));
        }
        let enabled = services.catalog.existing(new.name())?.state == TableState::Enabled;
        file_tracker::check_modify(&old, new, enabled)?;
        let refuse = |text: &str| Err(MasterError::new(class::HBASE_IO, text));
        if reopen {
            return Ok(());
        }
        if file_tracker::differ(&old, new)? {
            return refuse("Can not modify the store file tracker of a table when modification won't reopen regions");
        }
        if old.family_count() != new.family_count() {
            return refuse("Cannot add or remove column families when this modification won't reopen regions.");
        }
        if old.coprocessors() != new.coprocessors() {
            return refuse("Can not modify Coprocessor when table modification won't reopen regions");
        }
        for key in ["REGION_REPLICATION", "REGION_MEMSTORE_REPLICATION", "hbase.rsgroup.name"] {
            if old.attributes.get(key) != new.attributes.get(key) {
                return refuse(&format!("Can not modify {key} of a table when modification won't reopen regions"));
            }
        }
        Ok(())
    }

    /// The end of a migration between store file trackers relies on what regions did while they were open in MIGRATION.
    /// Asked before the change is submitted: while it runs after a restart, regions wait for it to be opened.
    pub fn check_migrated(services: &Services, new: &TableDescriptor) -> Result<(), MasterError> {
        let old = services.catalog.existing(new.name())?.descriptor;
        if !file_tracker::differ(&old, new)? {
            return Ok(());
        }
        for info in services.catalog.live_regions(new.name()) {
            let region = services.host.region(info.encoded_name());
            let is_as_described = |open: &TableDescriptor| file_tracker::differ(open, &old).map(|differ| !differ);
            match region {
                Some(region) if is_as_described(region.table())? => {}
                _ if services.catalog.existing(new.name())?.state != TableState::Enabled => {}
                _ => {
                    return Err(MasterError::do_not_retry(format!(
                        "{} is not open with the store file tracker that is to be changed",
                        info.name_string()
                    )));
                }
            }
        }
        Ok(())
    }

    /// One region per step, so that a crash repeats little.
    fn reopen_one(&mut self, services: &Services, table: &TableDescriptor) -> Result<bool, MasterError> {
        if table.is_meta() {
            // It stays open: everything else needs it.
            publish_meta(services, table);
            return Ok(true);
        }
        let enabled = services.catalog.existing(table.name())?.state == TableState::Enabled;
        let regions = services.catalog.live_regions(table.name());
        match regions.get(self.reopened as usize) {
            Some(region) if enabled && self.reopen => {
                services.reopen_regions(std::slice::from_ref(region))?;
                self.reopened += 1;
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    /// Says in hbase:meta that replicas above the new number are gone.
    fn drop_replicas(&self, services: &Services, new: &TableDescriptor) -> Result<(), MasterError> {
        let gone = new.region_replication().max(1)..descriptor(&self.old)?.region_replication();
        if gone.is_empty() || new.is_meta() {
            return Ok(());
        }
        let now = services.now_ms();
        let row = |info: &RegionInfo| gone.clone().fold(MetaEdit::region(info, now), MetaEdit::without_replica);
        let rows: Vec<MetaEdit> = services.catalog.regions(new.name()).iter().map(|region| row(&region.info)).collect();
        services.meta.apply(&rows)
    }

    fn archive_families(&self, services: &Services, new: &TableDescriptor) -> Result<(), MasterError> {
        let old = descriptor(&self.old)?;
        for family in old.families().filter(|f| new.family(f.name()).is_none()) {
            for region in services.catalog.regions(new.name()) {
                let dir = services.layout.family_dir(&region.info, &family.name_string());
                services.archive_family_dir(&dir)?;
                services.remove_dir(&dir)?;
            }
        }
        Ok(())
    }
}

impl Procedure for ModifyTable {
    fn class(&self) -> &'static str {
        "ModifyTableProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.new.as_ref().and_then(|t| t.table_name.clone()).unwrap_or_default())
    }
    fn can_roll_back(&self) -> bool {
        self.step == PREPARE
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let new = descriptor(&self.new)?;
        match self.step {
            PREPARE => {
                ModifyTable::check(services, &new, self.reopen)?;
                self.old = Some(services.catalog.existing(new.name())?.descriptor.to_proto());
            }
            WRITE_DESCRIPTOR => {
                files::write_table_descriptor(&*services.fs, &services.layout.table_dir(new.name()), &new)?;
                let state = services.catalog.existing(new.name())?.state;
                services.catalog.put_table(Arc::new(new), state);
            }
            REOPEN => {
                if !self.reopen_one(services, &new)? {
                    return Ok(Flow::More);
                }
            }
            ARCHIVE_FAMILIES => {
                self.drop_replicas(services, &new)?;
                self.archive_families(services, &new)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
