//! TruncateTable: the table's files go to the archive, and new regions take the old ones' place.

use super::modify_table::descriptor;
use super::{DeleteTable, Flow, Lock, Procedure, region_infos, regions_of, table_locks, table_name};
use crate::MasterError;
use crate::services::{Services, new_region_row, removed_region_row};
use bytes::Bytes;
use martite_catalog::{RegionInfo, RegionState, TableName, TableState};
use martite_proto as pb;
use prost::Message;
use std::sync::Arc;

const PREPARE: u32 = 0;
const ARCHIVE: u32 = 1;
const REPLACE_IN_META: u32 = 2;
const WRITE_LAYOUT: u32 = 3;
const OPEN_REGIONS: u32 = 4;
const ENABLE: u32 = 5;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TruncateTable {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    table: pb::TableName,
    #[prost(bool, tag = "3")]
    preserve_splits: bool,
    /// The descriptor, whose file goes with the table's directory.
    #[prost(message, optional, tag = "4")]
    schema: Option<pb::TableSchema>,
    /// The new regions.
    #[prost(message, repeated, tag = "5")]
    regions: Vec<pb::RegionInfo>,
}

impl TruncateTable {
    pub fn new(table: &TableName, preserve_splits: bool) -> TruncateTable {
        TruncateTable { step: PREPARE, table: table.to_proto(), preserve_splits, schema: None, regions: Vec::new() }
    }

    fn prepare(&mut self, services: &Services, table: &TableName) -> Result<(), MasterError> {
        DeleteTable::check(services, table)?;
        let old = services.catalog.live_regions(table);
        let keys: Vec<Bytes> = if self.preserve_splits {
            old.iter().map(|r| r.start_key().clone()).filter(|k| !k.is_empty()).collect()
        } else {
            Vec::new()
        };
        // New ids, so that the new regions' names differ from the old ones'.
        let newest = services.catalog.regions(table).iter().map(|r| r.info.region_id()).max().unwrap_or(0);
        let id = services.now_ms().max(newest + 1);
        self.regions = regions_of(table, &keys, id).iter().map(RegionInfo::to_proto).collect();
        self.schema = Some(services.catalog.existing(table)?.descriptor.to_proto());
        Ok(())
    }

    /// Old rows out and new rows in, in one write.
    fn replace(&self, services: &Services, table: &TableName) -> Result<(), MasterError> {
        let descriptor = services.catalog.existing(table)?.descriptor;
        let new = region_infos(&self.regions)?;
        let now = services.now_ms();
        let old: Vec<RegionInfo> = services.catalog.regions(table).into_iter().map(|r| r.info).collect();
        let old: Vec<RegionInfo> = old.into_iter().filter(|r| !new.contains(r)).collect();
        let mut edits: Vec<_> = old.iter().map(|r| removed_region_row(r, now)).collect();
        edits.extend(new.iter().map(|r| new_region_row(r, &descriptor, now)));
        services.meta.apply(&edits)?;
        for region in old {
            services.catalog.remove_region(region.encoded_name());
        }
        for region in new {
            services.catalog.put_region(crate::catalog::RegionEntry::new(region, RegionState::Closed, now));
        }
        Ok(())
    }
}

impl Procedure for TruncateTable {
    fn class(&self) -> &'static str {
        "TruncateTableProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.table)
    }
    fn can_roll_back(&self) -> bool {
        self.step == PREPARE
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let table = table_name(&self.table)?;
        if self.step > PREPARE && services.catalog.table(&table).is_none() {
            // A crash came when the descriptor's file was archived already.
            services.catalog.put_table(Arc::new(descriptor(&self.schema)?), TableState::Disabled);
        }
        match self.step {
            PREPARE => self.prepare(services, &table)?,
            ARCHIVE => services.archive_table(&table)?,
            REPLACE_IN_META => self.replace(services, &table)?,
            WRITE_LAYOUT => {
                services.write_layout(&descriptor(&self.schema)?, &region_infos(&self.regions)?)?;
                services.set_table_state(&table, TableState::Enabling)?;
            }
            OPEN_REGIONS => services.open_regions(&services.catalog.live_regions(&table))?,
            ENABLE => {
                services.set_table_state(&table, TableState::Enabled)?;
                return Ok(Flow::done());
            }
            other => return Err(MasterError::io(format!("no step {other}"))),
        }
        self.step += 1;
        Ok(Flow::More)
    }
}
