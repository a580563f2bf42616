//! Procedures: changes of several steps that survive a crash between any two of them.
//!
//! A procedure is a small state machine. Its executor saves the machine's state after each step; a step that a crash cut
//! short is run again from the state saved before it, so each step must come to the same end when it is repeated.
//! A failure before the point of no return is undone; after it the step is tried again.

mod clone_snapshot;
mod copies;
mod create_namespace;
mod create_table;
mod delete_namespace;
mod delete_table;
mod disable_table;
mod enable_table;
mod executor;
mod flush_table;
mod locks;
mod merge_regions;
mod modify_file_tracker;
mod modify_namespace;
mod modify_table;
mod restore_snapshot;
mod snapshot_table;
mod split_region;
mod transit_region;
mod truncate_region;
mod truncate_table;

pub(crate) use clone_snapshot::CloneSnapshot;
pub(crate) use copies::Copies;
pub(crate) use create_namespace::CreateNamespace;
pub(crate) use create_table::{CreateTable, check_split_keys, regions_of};
pub(crate) use delete_namespace::DeleteNamespace;
pub(crate) use delete_table::DeleteTable;
pub(crate) use disable_table::DisableTable;
pub(crate) use enable_table::EnableTable;
pub(crate) use executor::Executor;
pub(crate) use flush_table::FlushTable;
pub(crate) use locks::{Lock, Resource};
pub(crate) use merge_regions::{MergeRegions, merge_regions};
pub(crate) use modify_file_tracker::ModifyFileTracker;
pub(crate) use modify_namespace::ModifyNamespace;
pub(crate) use modify_table::ModifyTable;
pub(crate) use restore_snapshot::RestoreSnapshot;
pub(crate) use snapshot_table::SnapshotTable;
pub(crate) use split_region::{SplitRegion, split_region};
pub(crate) use transit_region::{Transit, TransitRegion};
pub(crate) use truncate_region::TruncateRegion;
pub(crate) use truncate_table::TruncateTable;

use crate::MasterError;
use crate::services::Services;
use bytes::Bytes;
use martite_catalog::{RegionInfo, TableName};
use martite_proto as pb;
use prost::Message;

/// What a step leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The state changed; save it and go on.
    More,
    /// The end, with the result that clients read.
    Done(Bytes),
}

impl Flow {
    /// The end of a procedure without a result.
    pub fn done() -> Flow {
        Flow::Done(Bytes::new())
    }
}

/// One procedure.
pub(crate) trait Procedure: Send {
    /// HBase's simple class name, under which the procedure is saved and listed.
    fn class(&self) -> &'static str;
    /// The state, as it is saved.
    fn encode(&self) -> Vec<u8>;
    /// What must be held while it runs.
    fn locks(&self) -> Vec<Lock>;
    /// Runs the next step.
    fn step(&mut self, services: &Services) -> Result<Flow, MasterError>;
    /// Whether a failure of the next step ends the procedure, undone, instead of being tried again.
    fn can_roll_back(&self) -> bool;
    /// Undoes what was done; may be repeated.
    fn roll_back(&mut self, services: &Services) -> Result<(), MasterError> {
        let _ = services;
        Ok(())
    }
}

/// The package of HBase's procedures.
const PACKAGE: &str = "org.apache.hadoop.hbase.master.procedure.";

/// Full class name of a procedure.
pub(crate) fn full_class(simple: &str) -> String {
    format!("{PACKAGE}{simple}")
}

/// A saved procedure, ready to go on.
pub(crate) fn decode(class: &str, state: &[u8]) -> Result<Box<dyn Procedure>, MasterError> {
    let simple = class.strip_prefix(PACKAGE).unwrap_or(class);
    let bad = |why: &dyn std::fmt::Display| MasterError::io(format!("saved procedure {class}: {why}"));
    macro_rules! known {
        ($($name:literal => $type:ty,)*) => {
            match simple {
                $($name => Box::new(<$type>::decode(state).map_err(|e| bad(&e))?),)*
                _ => return Err(bad(&"unknown class")),
            }
        };
    }
    Ok(known! {
        "CreateTableProcedure" => CreateTable,
        "DeleteTableProcedure" => DeleteTable,
        "EnableTableProcedure" => EnableTable,
        "DisableTableProcedure" => DisableTable,
        "TruncateTableProcedure" => TruncateTable,
        "ModifyTableProcedure" => ModifyTable,
        "CreateNamespaceProcedure" => CreateNamespace,
        "ModifyNamespaceProcedure" => ModifyNamespace,
        "DeleteNamespaceProcedure" => DeleteNamespace,
        "SplitTableRegionProcedure" => SplitRegion,
        "MergeTableRegionsProcedure" => MergeRegions,
        "TransitRegionStateProcedure" => TransitRegion,
        "TruncateRegionProcedure" => TruncateRegion,
        "FlushTableProcedure" => FlushTable,
        "SnapshotProcedure" => SnapshotTable,
        "CloneSnapshotProcedure" => CloneSnapshot,
        "RestoreSnapshotProcedure" => RestoreSnapshot,
        "ModifyTableStoreFileTrackerProcedure" => ModifyFileTracker,
        "ModifyColumnFamilyStoreFileTrackerProcedure" => ModifyFileTracker,
    })
}

/// The saved form of a table's name is valid: it was checked when the procedure was made.
pub(crate) fn table_name(name: &pb::TableName) -> Result<TableName, MasterError> {
    Ok(TableName::from_proto(name)?)
}

pub(crate) fn region_infos(regions: &[pb::RegionInfo]) -> Result<Vec<RegionInfo>, MasterError> {
    Ok(regions.iter().map(RegionInfo::from_proto).collect::<Result<_, _>>()?)
}

/// The locks of a change to a whole table.
pub(crate) fn table_locks(name: &pb::TableName) -> Vec<Lock> {
    match TableName::from_proto(name) {
        Ok(table) => {
            vec![Lock::shared(Resource::namespace(table.namespace())), Lock::exclusive(Resource::Table(table))]
        }
        Err(_) => Vec::new(),
    }
}

/// The locks of a change to regions of a table.
pub(crate) fn region_locks(regions: &[pb::RegionInfo]) -> Vec<Lock> {
    let regions = region_infos(regions).unwrap_or_default();
    let mut locks = Vec::new();
    if let Some(first) = regions.first() {
        locks.push(Lock::shared(Resource::namespace(first.table().namespace())));
        locks.push(Lock::shared(Resource::Table(first.table().clone())));
    }
    locks.extend(regions.iter().map(|r| Lock::exclusive(Resource::Region(r.encoded_name_arc().clone()))));
    locks
}
