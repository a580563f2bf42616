//! CreateTable: directories, rows of hbase:meta, regions opened, table enabled.

use super::{Flow, Lock, Procedure, region_infos, table_locks};
use crate::services::Services;
use crate::{MasterError, checks};
use bytes::Bytes;
use martite_catalog::table::FILE_TRACKER;
use martite_catalog::{RegionInfo, TableDescriptor, TableName, TableState, to_string_binary};
use martite_config::keys;
use martite_proto as pb;
use prost::Message;
use std::sync::Arc;

const PREPARE: u32 = 0;
const WRITE_LAYOUT: u32 = 1;
const ADD_TO_META: u32 = 2;
const OPEN_REGIONS: u32 = 3;
const ENABLE: u32 = 4;

/// The saved state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct CreateTable {
    #[prost(uint32, tag = "1")]
    step: u32,
    #[prost(message, required, tag = "2")]
    table: pb::TableSchema,
    #[prost(message, repeated, tag = "3")]
    regions: Vec<pb::RegionInfo>,
}

impl CreateTable {
    pub fn new(table: &TableDescriptor, regions: &[RegionInfo]) -> CreateTable {
        CreateTable {
            step: PREPARE,
            table: table.to_proto(),
            regions: regions.iter().map(RegionInfo::to_proto).collect(),
        }
    }

    fn name(&self) -> pb::TableName {
        self.table.table_name.clone().unwrap_or_default()
    }

    fn prepare(&mut self, services: &Services, table: &mut TableDescriptor) -> Result<(), MasterError> {
        if services.catalog.table(table.name()).is_some() {
            return Err(MasterError::table_exists(table.name()));
        }
        if !table.name().is_system() {
            services.namespaces.existing(table.name().namespace())?;
            checks::namespace_quota(services, table.name(), self.regions.len())?;
        }
        if table.attributes.text(FILE_TRACKER).is_none_or(str::is_empty) {
            table.attributes.set(FILE_TRACKER, services.config.get(keys::FILE_TRACKER).into_bytes());
        }
        self.table = table.to_proto();
        Ok(())
    }
}

impl Procedure for CreateTable {
    fn class(&self) -> &'static str {
        "CreateTableProcedure"
    }
    fn encode(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
    fn locks(&self) -> Vec<Lock> {
        table_locks(&self.name())
    }
    fn can_roll_back(&self) -> bool {
        self.step == PREPARE
    }

    fn step(&mut self, services: &Services) -> Result<Flow, MasterError> {
        let mut table = TableDescriptor::from_proto(&self.table)?;
        let regions = region_infos(&self.regions)?;
        match self.step {
            PREPARE => self.prepare(services, &mut table)?,
            WRITE_LAYOUT => {
                // What an earlier table of that name may have left behind.
                services.archive_table(table.name())?;
                services.write_layout(&table, &regions)?;
            }
            ADD_TO_META => services.add_table_to_meta(Arc::new(table), &regions, TableState::Enabling)?,
            OPEN_REGIONS => services.open_regions(&regions)?,
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

/// The regions of a new table, cut at `split_keys` (sorted).
pub(crate) fn regions_of(table: &TableName, split_keys: &[Bytes], now_ms: u64) -> Vec<RegionInfo> {
    let starts = std::iter::once(Bytes::new()).chain(split_keys.iter().cloned());
    let ends = split_keys.iter().cloned().chain(std::iter::once(Bytes::new()));
    starts.zip(ends).map(|(start, end)| RegionInfo::new(table.clone(), start, end, now_ms)).collect()
}

/// Sorts the split keys of a request; refuses empty and repeated ones.
pub(crate) fn check_split_keys(keys: &[Bytes]) -> Result<Vec<Bytes>, MasterError> {
    let illegal = |text: String| Err(MasterError::do_not_retry(format!("java.lang.IllegalArgumentException: {text}")));
    let mut sorted = keys.to_vec();
    sorted.sort();
    if sorted.iter().any(|k| k.is_empty()) {
        return illegal("Empty split key must not be passed in the split keys.".into());
    }
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return illegal(format!(
            "All split keys must be unique, found duplicate: {}, {}",
            to_string_binary(&pair[0]),
            to_string_binary(&pair[1])
        ));
    }
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_keys_cut_the_table() {
        let table = TableName::parse("t").unwrap();
        let keys = check_split_keys(&["m".into(), "b".into()]).unwrap();
        let ends: Vec<_> =
            regions_of(&table, &keys, 1).iter().map(|r| (r.start_key().clone(), r.end_key().clone())).collect();
        assert_eq!(ends, [("".into(), "b".into()), ("b".into(), "m".into()), ("m".into(), "".into())]);
        assert!(check_split_keys(&["".into()]).is_err());
        assert!(check_split_keys(&["a".into(), "a".into()]).unwrap_err().message.contains("found duplicate: a, a"));
    }
}
