//! What a page about the cluster shows of what the master knows.

use crate::catalog::{RegionEntry, TableEntry};
use crate::procedure::Resource;
use crate::services::Services;
use crate::switches::Switch;
use crate::{Master, MasterError, snapshots};
use martite_catalog::{
    NamespaceDescriptor, RegionInfo, RegionState, ServerName, TableDescriptor, TableName, TableState,
};
use martite_metrics::Snapshot;
use martite_proto as pb;
use std::sync::Arc;

/// A table and what became of its regions.
#[derive(Debug, Clone)]
pub struct TableOverview {
    pub descriptor: Arc<TableDescriptor>,
    pub state: TableState,
    /// By their start keys.
    pub regions: Vec<RegionOverview>,
}

#[derive(Debug, Clone)]
pub struct RegionOverview {
    pub info: RegionInfo,
    pub state: RegionState,
    /// When that began.
    pub since_ms: u64,
    /// Whether it serves rows, or should: it was neither split nor merged.
    pub is_live: bool,
}

/// What is locked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockOverview {
    pub resource: String,
    pub is_exclusive: bool,
    /// Ids of procedures.
    pub held_by: Vec<u64>,
    pub waiting: Vec<u64>,
}

/// A snapshot's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SnapshotFiles {
    pub regions: usize,
    pub files: usize,
    pub size_bytes: u64,
}

impl Master {
    pub fn server_name(&self) -> &ServerName {
        &self.services().server_name
    }

    /// All tables, by their names.
    pub fn tables(&self) -> Vec<TableOverview> {
        let services = self.services();
        services.catalog.tables().into_iter().map(|table| overview(services, table)).collect()
    }

    pub fn table(&self, name: &TableName) -> Option<TableOverview> {
        let services = self.services();
        services.catalog.table(name).map(|table| overview(services, table))
    }

    pub fn namespaces(&self) -> Vec<NamespaceDescriptor> {
        self.services().namespaces.list()
    }

    /// The switches that an administrator turns.
    pub fn switches(&self) -> Vec<(&'static str, bool)> {
        Switch::ALL.into_iter().map(|switch| (switch.title(), self.services().is_on(switch))).collect()
    }

    /// The procedures that are not forgotten, the last one first.
    pub fn procedures_known(&self) -> Vec<pb::Procedure> {
        let mut all = self.procedures().list();
        all.sort_by_key(|procedure| std::cmp::Reverse(procedure.proc_id));
        all
    }

    /// How long those took that have succeeded since the start, by class.
    pub fn procedure_times(&self) -> Vec<(&'static str, Snapshot)> {
        self.procedures().times()
    }

    pub fn locks(&self) -> Vec<LockOverview> {
        let ids = |procedures: Vec<pb::Procedure>| procedures.into_iter().map(|p| p.proc_id).collect();
        let lock = |(resource, is_exclusive, held, waiting): (Resource, _, _, _)| LockOverview {
            resource: resource.to_string(),
            is_exclusive,
            held_by: ids(held),
            waiting: ids(waiting),
        };
        self.procedures().list_locks().into_iter().map(lock).collect()
    }

    /// The snapshots that are complete, by their names.
    pub fn snapshots(&self) -> Result<Vec<pb::SnapshotDescription>, MasterError> {
        let mut all = snapshots::all(self.services())?;
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// Reads a snapshot's manifest.
    pub fn snapshot_files(&self, name: &str) -> Result<SnapshotFiles, MasterError> {
        let manifest = snapshots::manifest(self.services(), name)?;
        let mut files = SnapshotFiles { regions: manifest.region_manifests.len(), ..SnapshotFiles::default() };
        for (_, size_bytes) in snapshots::files_of(&manifest) {
            files.files += 1;
            files.size_bytes += size_bytes;
        }
        Ok(files)
    }
}

fn overview(services: &Services, table: TableEntry) -> TableOverview {
    let region = |entry: RegionEntry| RegionOverview {
        state: entry.state,
        since_ms: entry.since_ms,
        is_live: entry.is_live(),
        info: entry.info,
    };
    let regions = services.catalog.regions(table.name()).into_iter().map(region).collect();
    TableOverview { descriptor: table.descriptor, state: table.state, regions }
}
