//! A master over real regions on a file system in memory that crashes.

mod calls;
mod crash;
mod overview;
mod quotas;
mod regions;
mod restart;
mod snapshots;
mod space;
mod threads;

use crate::{Caller, Master, MasterContext, MasterError, NoRegistry, RegionHost};
use bytes::Bytes;
use martite_blockcache::BlockCache;
use martite_catalog::{
    FamilyDescriptor, Layout, RegionInfo, ServerName, TableDescriptor, TableName, TableState, to_string_binary,
};
use martite_cell::{CellBuf, LATEST_TIMESTAMP, OwnedCell};
use martite_config::Config;
use martite_env::{Clock, FileSystem, ManualClock, MemFs, SeededRandom};
use martite_hfile::{Block, Step};
use martite_proto::{self as pb, Message};
use martite_quota::Settings;
use martite_quota::space::Usage;
use martite_region::{GetSpec, Mutation, MutationKind, Nonces, Region, RegionConfig, RegionContext, WriteRequest};
use martite_store::{Files, StoreConfig, StoreContext};
use martite_wal::{Wal, WalContext, WalOptions, format::file_prefix};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) const ROOT: &str = "/hbase";

/// A region server without a network.
pub(super) struct Host {
    ctx: Arc<RegionContext>,
    open: Mutex<BTreeMap<String, Arc<Region>>>,
    /// What it was told last, and how often.
    quotas: Mutex<(Arc<Settings>, bool, usize)>,
    space: Mutex<Arc<BTreeMap<String, Usage>>>,
}

impl RegionHost for Host {
    fn server_name(&self) -> ServerName {
        self.ctx.server.clone()
    }
    fn open_region(&self, info: &RegionInfo, table: &Arc<TableDescriptor>) -> Result<u64, String> {
        let mut open = self.open.lock();
        if let Some(region) = open.get(info.encoded_name()) {
            return Ok(region.open_seq_num());
        }
        let region = Region::open(self.ctx.clone(), info.clone(), table.clone()).map_err(|e| e.to_string())?;
        let seq = region.open_seq_num();
        open.insert(info.encoded_name().to_string(), region);
        Ok(seq)
    }
    fn close_region(&self, encoded: &str) -> Result<(), String> {
        let region = self.open.lock().get(encoded).cloned();
        let Some(region) = region else { return Ok(()) };
        region.close(false).map_err(|e| e.to_string())?;
        self.open.lock().remove(encoded);
        Ok(())
    }
    fn region(&self, encoded: &str) -> Option<Arc<Region>> {
        self.open.lock().get(encoded).cloned()
    }
    fn server_load(&self) -> pb::ServerLoad {
        let loads = self.open.lock().values().map(|r| r.load().to_proto(r.info().name())).collect();
        pb::ServerLoad { region_loads: loads, ..Default::default() }
    }
    fn apply_quotas(&self, settings: Arc<Settings>, throttling: bool) {
        let mut told = self.quotas.lock();
        *told = (settings, throttling, told.2 + 1);
    }
    fn apply_space(&self, in_force: Arc<BTreeMap<String, Usage>>) {
        *self.space.lock() = in_force;
    }
    fn online_regions(&self) -> Vec<RegionInfo> {
        self.open.lock().values().map(|r| r.info().clone()).collect()
    }
}

/// One run of a server.
pub(super) struct Rig {
    pub fs: MemFs,
    pub clock: Arc<ManualClock>,
    pub host: Arc<Host>,
    pub master: Arc<Master>,
    run: i64,
}

impl Rig {
    /// A new cluster.
    pub fn new() -> Rig {
        let clock = Arc::new(ManualClock::new(1_000_000));
        Rig::start(MemFs::with_clock(clock.clone()), clock, 1, &[]).unwrap()
    }

    pub fn start(fs: MemFs, clock: Arc<ManualClock>, run: i64, settings: &[(&str, &str)]) -> Result<Rig, MasterError> {
        Rig::with(fs, clock, run, settings, false)
    }

    pub fn with(
        fs: MemFs,
        clock: Arc<ManualClock>,
        run: i64,
        settings: &[(&str, &str)],
        threads: bool,
    ) -> Result<Rig, MasterError> {
        let server = ServerName::new("h", 1, run);
        let dyn_fs: Arc<dyn FileSystem> = Arc::new(fs.clone());
        crate::store::split_dead_logs(&fs, &Layout::new(ROOT), Some(&server))?;
        let ctx = region_context(dyn_fs.clone(), &clock, server.clone())?;
        let host = Arc::new(Host { ctx, open: Mutex::default(), quotas: Mutex::default(), space: Mutex::default() });
        let master = Master::start(MasterContext {
            fs: dyn_fs,
            layout: Layout::new(ROOT),
            clock: clock.clone(),
            random: Arc::new(SeededRandom::new(7)),
            config: Arc::new(Config::of(settings).unwrap()),
            host: host.clone(),
            registry: Arc::new(NoRegistry),
            server_name: server,
            info_port: 0,
            version: "2.6.4".into(),
            threads,
        })?;
        Ok(Rig { fs, clock, host, master, run })
    }

    /// An orderly stop, and what is then on the disk.
    pub fn stop(self) -> (MemFs, Arc<ManualClock>, i64) {
        self.master.stop();
        let regions: Vec<Arc<Region>> = self.host.open.lock().values().cloned().collect();
        let (meta, others): (Vec<_>, Vec<_>) = regions.into_iter().partition(|r| r.info().is_meta());
        for region in others.iter().chain(&meta) {
            region.close(false).unwrap();
        }
        self.host.ctx.wal.close().unwrap();
        (self.fs, self.clock, self.run)
    }

    /// The next run, after an orderly stop.
    pub fn restart(self) -> Rig {
        let (fs, clock, run) = self.stop();
        Rig::start(fs, clock, run + 1, &[]).unwrap()
    }

    /// The next run, after the power went: only what was synced is there.
    pub fn crash(&self) -> Rig {
        Rig::start(self.fs.crash(), self.clock.clone(), self.run + 1, &[]).unwrap()
    }

    /// Calls a method of MasterService.
    pub fn call<Q: Message, R: Message + Default>(&self, method: &str, request: &Q) -> Result<R, MasterError> {
        let caller = Caller { user: "alice".into(), client_version: Some((2, 6)) };
        let answer = self.master.call("MasterService", method, &request.encode_to_vec(), &caller)?;
        Ok(R::decode(&answer[..]).unwrap())
    }

    /// Waits for a procedure that a method answered.
    pub fn done(&self, proc_id: Option<u64>) -> Result<(), MasterError> {
        self.master.wait(proc_id.unwrap()).map(|_| ())
    }

    pub fn create(&self, table: &TableDescriptor, split_keys: &[&str]) -> Result<(), MasterError> {
        let request = pb::CreateTableRequest {
            table_schema: table.to_proto(),
            split_keys: split_keys.iter().map(|k| Bytes::copy_from_slice(k.as_bytes())).collect(),
            ..Default::default()
        };
        let response: pb::CreateTableResponse = self.call("CreateTable", &request)?;
        self.done(response.proc_id)
    }

    pub fn disable(&self, name: &str) -> Result<(), MasterError> {
        let request = pb::DisableTableRequest { table_name: table(name).to_proto(), ..Default::default() };
        let response: pb::DisableTableResponse = self.call("DisableTable", &request)?;
        self.done(response.proc_id)
    }

    pub fn enable(&self, name: &str) -> Result<(), MasterError> {
        let request = pb::EnableTableRequest { table_name: table(name).to_proto(), ..Default::default() };
        let response: pb::EnableTableResponse = self.call("EnableTable", &request)?;
        self.done(response.proc_id)
    }

    pub fn delete(&self, name: &str) -> Result<(), MasterError> {
        let request = pb::DeleteTableRequest { table_name: table(name).to_proto(), ..Default::default() };
        let response: pb::DeleteTableResponse = self.call("DeleteTable", &request)?;
        self.done(response.proc_id)
    }

    pub fn truncate(&self, name: &str, preserve: bool) -> Result<(), MasterError> {
        let request = pb::TruncateTableRequest {
            table_name: table(name).to_proto(),
            preserve_splits: Some(preserve),
            ..Default::default()
        };
        let response: pb::TruncateTableResponse = self.call("truncateTable", &request)?;
        self.done(response.proc_id)
    }

    pub fn modify(&self, table: &TableDescriptor) -> Result<(), MasterError> {
        let request = pb::ModifyTableRequest {
            table_name: table.name().to_proto(),
            table_schema: table.to_proto(),
            ..Default::default()
        };
        let response: pb::ModifyTableResponse = self.call("ModifyTable", &request)?;
        self.done(response.proc_id)
    }

    /// Changes the store file tracker of table "t", or of one of its families.
    pub fn modify_file_tracker(&self, to: &str, family: Option<&str>) -> Result<(), MasterError> {
        let (table_name, dst_sft) = (table("t").to_proto(), to.to_string());
        let proc_id = match family {
            None => {
                let request = pb::ModifyTableStoreFileTrackerRequest { table_name, dst_sft, ..Default::default() };
                let response: pb::ModifyTableStoreFileTrackerResponse =
                    self.call("ModifyTableStoreFileTracker", &request)?;
                response.proc_id
            }
            Some(family) => {
                let family = Bytes::copy_from_slice(family.as_bytes());
                let request =
                    pb::ModifyColumnStoreFileTrackerRequest { table_name, family, dst_sft, ..Default::default() };
                let response: pb::ModifyColumnStoreFileTrackerResponse =
                    self.call("ModifyColumnStoreFileTracker", &request)?;
                response.proc_id
            }
        };
        self.done(proc_id)
    }

    pub fn split(&self, region: &RegionInfo, row: &str) -> Result<(), MasterError> {
        let request = pb::SplitTableRegionRequest {
            region_info: region.to_proto(),
            split_row: Some(Bytes::copy_from_slice(row.as_bytes())),
            ..Default::default()
        };
        let response: pb::SplitTableRegionResponse = self.call("SplitRegion", &request)?;
        self.done(response.proc_id)
    }

    pub fn merge(&self, regions: &[RegionInfo], force: bool) -> Result<(), MasterError> {
        let region = regions.iter().map(specifier).collect();
        let request = pb::MergeTableRegionsRequest { region, forcible: Some(force), ..Default::default() };
        let response: pb::MergeTableRegionsResponse = self.call("MergeTableRegions", &request)?;
        self.done(response.proc_id)
    }

    pub fn create_namespace(&self, name: &str) -> Result<(), MasterError> {
        let namespace_descriptor = pb::NamespaceDescriptor { name: name.to_string().into(), ..Default::default() };
        let request = pb::CreateNamespaceRequest { namespace_descriptor, ..Default::default() };
        let response: pb::CreateNamespaceResponse = self.call("CreateNamespace", &request)?;
        self.done(response.proc_id)
    }

    pub fn delete_namespace(&self, name: &str) -> Result<(), MasterError> {
        let request = pb::DeleteNamespaceRequest { namespace_name: name.into(), ..Default::default() };
        let response: pb::DeleteNamespaceResponse = self.call("DeleteNamespace", &request)?;
        self.done(response.proc_id)
    }

    pub fn snapshot(&self, table: &str, name: &str) -> Result<(), MasterError> {
        self.take_snapshot(pb::SnapshotDescription {
            name: name.into(),
            table: Some(table.into()),
            ..Default::default()
        })
    }

    pub fn take_snapshot(&self, snapshot: pb::SnapshotDescription) -> Result<(), MasterError> {
        let request = pb::SnapshotRequest { snapshot, nonce_group: Some(0), nonce: Some(0) };
        let response: pb::SnapshotResponse = self.call("Snapshot", &request)?;
        self.done(response.proc_id.map(|id| id as u64))
    }

    /// Restores `table` if it is there, and makes it otherwise.
    pub fn restore(&self, name: &str, table: &str) -> Result<(), MasterError> {
        let snapshot = pb::SnapshotDescription { name: name.into(), table: Some(table.into()), ..Default::default() };
        let request = pb::RestoreSnapshotRequest { snapshot, ..Default::default() };
        let response: pb::RestoreSnapshotResponse = self.call("RestoreSnapshot", &request)?;
        self.done(Some(response.proc_id))
    }

    pub fn delete_snapshot(&self, name: &str) -> Result<(), MasterError> {
        let snapshot = pb::SnapshotDescription { name: name.into(), ..Default::default() };
        self.call("DeleteSnapshot", &pb::DeleteSnapshotRequest { snapshot }).map(|_: pb::DeleteSnapshotResponse| ())
    }

    /// The names of all snapshots.
    pub fn snapshots(&self) -> Vec<String> {
        let request = pb::GetCompletedSnapshotsRequest {};
        let response: pb::GetCompletedSnapshotsResponse = self.call("GetCompletedSnapshots", &request).unwrap();
        response.snapshots.into_iter().map(|s| s.name).collect()
    }

    /// Major compactions of a table, after which the janitor and the cleaner have everything.
    pub fn compact_and_clean(&self, name: &str) {
        for region in self.regions(name) {
            let region = self.host.region(region.encoded_name()).unwrap();
            region.compact(None, true, &martite_store::Unthrottled).unwrap();
        }
        self.clean();
    }

    /// All chores, an hour later: twice, for what only the second finds to be free.
    pub fn clean(&self) {
        for _ in 0..2 {
            self.clock.advance(std::time::Duration::from_secs(3600));
            self.master.run_chores();
        }
    }

    pub fn state(&self, name: &str) -> Option<TableState> {
        let request = pb::GetTableStateRequest { table_name: table(name).to_proto() };
        let response: pb::GetTableStateResponse = self.call("GetTableState", &request).ok()?;
        TableState::from_code(response.table_state.state)
    }

    pub fn descriptor(&self, name: &str) -> TableDescriptor {
        let request =
            pb::GetTableDescriptorsRequest { table_names: vec![table(name).to_proto()], ..Default::default() };
        let response: pb::GetTableDescriptorsResponse = self.call("GetTableDescriptors", &request).unwrap();
        TableDescriptor::from_proto(&response.table_schema[0]).unwrap()
    }

    /// The regions that cover a table, as hbase:meta has them.
    pub fn regions(&self, name: &str) -> Vec<RegionInfo> {
        self.services().catalog.live_regions(&table(name))
    }

    pub fn services(&self) -> &crate::services::Services {
        self.master.services()
    }

    fn region_of(&self, name: &str, row: &str) -> Option<Arc<Region>> {
        let region = self.regions(name).into_iter().find(|r| r.contains_row(row.as_bytes()))?;
        self.host.region(region.encoded_name())
    }

    /// Writes `f:q` of a row.
    pub fn put(&self, name: &str, row: &str, value: &str) {
        self.put_cell(name, row, (b"f", b"q"), value.as_bytes());
    }

    /// Writes a column of a row, as a client does.
    pub fn put_cell(&self, name: &str, row: &str, (family, qualifier): (&[u8], &[u8]), value: &[u8]) {
        let region = self.region_of(name, row).unwrap();
        let mut cells = CellBuf::new(false);
        let cell = OwnedCell::put(row.as_bytes(), family, qualifier, LATEST_TIMESTAMP, value);
        cells.push(&cell.as_ref());
        let mut request = WriteRequest::batch(vec![Mutation::new(MutationKind::Put, row.to_string(), cells)]);
        match region.write(&mut request, &self.host.ctx.stores.files.blocking()).unwrap() {
            Step::Ready(written) => written.pending.wait().unwrap(),
            Step::Need(block) => panic!("a blocking source was asked for {block:?}"),
        }
    }

    /// Reads `f:q` of a row; None also if its region is not open.
    pub fn get(&self, name: &str, row: &str) -> Option<String> {
        let region = self.region_of(name, row)?;
        let mut out = CellBuf::new(false);
        let files = self.host.ctx.stores.files.clone();
        region.get(&GetSpec::new(row.to_string()), &files.blocking(), &mut out).unwrap();
        out.get(0).map(|cell| to_string_binary(cell.value))
    }

    /// What must hold whenever the master serves.
    pub fn check(&self) {
        let services = self.services();
        for entry in services.catalog.tables() {
            let regions = services.catalog.live_regions(entry.name());
            let mut expected_start = Bytes::new();
            for (i, region) in regions.iter().enumerate() {
                assert_eq!(*region.start_key(), expected_start, "{}: hole or overlap at {region:?}", entry.name());
                assert_eq!(region.end_key().is_empty(), i + 1 == regions.len(), "{}", entry.name());
                expected_start = region.end_key().clone();
                let open = self.host.region(region.encoded_name()).is_some();
                assert_eq!(open, entry.state == TableState::Enabled, "{region:?} is open: {open}");
            }
            assert!(!regions.is_empty(), "{} has no regions", entry.name());
            let settled = matches!(entry.state, TableState::Enabled | TableState::Disabled);
            assert!(settled, "{} is {:?}", entry.name(), entry.state);
        }
        for region in services.catalog.all_regions() {
            assert!(services.catalog.table(region.info.table()).is_some(), "{:?} has no table", region.info);
        }
        for name in martite_catalog::files::list_tables(&self.fs, &services.layout).unwrap() {
            assert!(services.catalog.table(&name).is_some(), "a directory without a table: {name}");
        }
        for procedure in self.master.procedures().list() {
            assert!(self.master.procedures().get(procedure.proc_id, false).unwrap().finished, "{procedure:?}");
        }
    }
}

fn region_context(
    fs: Arc<dyn FileSystem>,
    clock: &Arc<ManualClock>,
    server: ServerName,
) -> Result<Arc<RegionContext>, MasterError> {
    let layout = Layout::new(ROOT);
    let wal = Wal::create(WalContext {
        fs: fs.clone(),
        clock: clock.clone(),
        dir: layout.server_wals_dir(&server),
        archive_dir: layout.old_wals_dir(),
        prefix: file_prefix(&server.to_string()),
        suffix: String::new(),
        options: WalOptions::default(),
    })?;
    let cache = Arc::new(BlockCache::new(16 << 20, Block::heap_size));
    let root = PathBuf::from(ROOT);
    let stores = StoreContext {
        files: Files::new(fs.clone(), cache),
        fs: fs.clone(),
        random: Arc::new(SeededRandom::new(server.start_code as u64)),
        root: root.clone(),
        config: StoreConfig::default(),
    };
    let clock: Arc<dyn Clock> = clock.clone();
    Ok(Arc::new(RegionContext {
        fs,
        nonces: Nonces::new(clock.clone(), 60_000),
        clock,
        wal,
        root,
        stores: Arc::new(stores),
        config: Arc::new(RegionConfig::default()),
        memstore_size: Arc::default(),
        server,
        events: None,
    }))
}

pub(super) fn table(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

/// A table of one family, `f`.
pub(super) fn plain(name: &str) -> TableDescriptor {
    TableDescriptor::new(table(name)).with_family(FamilyDescriptor::new("f"))
}

pub(super) fn specifier(region: &RegionInfo) -> pb::RegionSpecifier {
    pb::RegionSpecifier {
        r#type: pb::region_specifier::RegionSpecifierType::EncodedRegionName as i32,
        value: Bytes::copy_from_slice(region.encoded_name().as_bytes()),
    }
}

/// The simple class of a failure.
pub(super) fn class_of<T: std::fmt::Debug>(outcome: Result<T, MasterError>) -> String {
    outcome.unwrap_err().class.rsplit('.').next().unwrap().to_string()
}
