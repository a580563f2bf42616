//! A server with one region in memory, that can crash.
#![allow(dead_code, clippy::unwrap_used)] // Each test file uses its part.

pub mod script;

use bytes::Bytes;
use martite_blockcache::BlockCache;
use martite_catalog::{FamilyDescriptor, Layout, RegionInfo, ServerName, TableDescriptor, TableName};
use martite_cell::{CellBuf, LATEST_TIMESTAMP, OwnedCell};
use martite_env::{Clock, ManualClock, MemFs, SeededRandom};
use martite_hfile::{Block, Step};
use martite_region::{
    GRACE_MS, GetSpec, Mutation, MutationKind, Nonces, Region, RegionConfig, RegionContext, RegionError, RegionEvents,
    WriteRequest, Written,
};
use martite_store::{Files, StoreConfig, StoreContext};
use martite_wal::{Wal, WalContext, WalOptions, format::file_prefix, split_logs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const ROOT: &str = "/hbase";
/// More than any test or benchmark fills.
const CACHE_BYTES: u64 = 1 << 30;

pub struct Rig {
    pub fs: MemFs,
    pub clock: Arc<ManualClock>,
    pub config: RegionConfig,
    pub table: Arc<TableDescriptor>,
    pub info: RegionInfo,
    pub ctx: Arc<RegionContext>,
    pub region: Arc<Region>,
    start_code: i64,
}

pub fn table(families: &[&str]) -> TableDescriptor {
    let table = TableDescriptor::new(TableName::parse("t").unwrap());
    families.iter().fold(table, |t, f| t.with_family(FamilyDescriptor::new(f).with("VERSIONS", "3")))
}

/// The region of table `t` with rows from `b` to below `y`.
pub fn region_info() -> RegionInfo {
    RegionInfo::new(TableName::parse("t").unwrap(), "b", "y", 1)
}

impl Rig {
    /// Two families `f` and `g` with three versions; the clock stands at 1000.
    pub fn new() -> Rig {
        Rig::with(table(&["f", "g"]), RegionConfig::default())
    }

    pub fn with(table: TableDescriptor, config: RegionConfig) -> Rig {
        let clock = Arc::new(ManualClock::new(1000));
        let fs = MemFs::with_clock(clock.clone());
        Rig::start(fs, clock, table.into(), config, 1).unwrap()
    }

    /// A server on what is on the disk: logs of earlier servers are split, then the region opens.
    pub fn start(
        fs: MemFs,
        clock: Arc<ManualClock>,
        table: Arc<TableDescriptor>,
        config: RegionConfig,
        start_code: i64,
    ) -> Result<Rig, RegionError> {
        let ctx = context(&fs, &clock, &config, start_code)?;
        let info = region_info();
        Region::create(&ctx, &info, &table)?;
        let region = Region::open(ctx.clone(), info.clone(), table.clone())?;
        Ok(Rig { fs, clock, config, table, info, ctx, region, start_code })
    }

    /// The region anew, with somebody who hears what it says.
    pub fn listen(&mut self, events: Arc<dyn RegionEvents>) {
        self.region.close(false).unwrap();
        let old = &self.ctx;
        self.ctx = Arc::new(RegionContext {
            fs: old.fs.clone(),
            clock: old.clock.clone(),
            wal: old.wal.clone(),
            root: old.root.clone(),
            stores: old.stores.clone(),
            config: old.config.clone(),
            memstore_size: old.memstore_size.clone(),
            nonces: old.nonces.clone(),
            server: old.server.clone(),
            events: Some(events),
        });
        self.region = Region::open(self.ctx.clone(), self.info.clone(), self.table.clone()).unwrap();
    }

    /// The next server, after this one closed its region.
    pub fn reopen(&self) -> Rig {
        self.region.close(false).unwrap();
        self.ctx.wal.close().unwrap();
        self.restart(self.fs.clone())
    }

    /// The next server, after this one's machine lost power: only what was synced is there.
    pub fn crash(&self) -> Rig {
        self.restart(self.fs.crash())
    }

    pub fn restart(&self, fs: MemFs) -> Rig {
        let (table, config) = (self.table.clone(), self.config.clone());
        Rig::start(fs, self.clock.clone(), table, config, self.start_code + 1).unwrap()
    }

    /// Writes, with everything allowed to block, and waits until it is durable.
    pub fn write(&self, mut request: WriteRequest) -> Result<Written, RegionError> {
        let mut written = self.begin(&mut request)?;
        std::mem::replace(&mut written.pending, martite_region::Pending::done()).wait()?;
        Ok(written)
    }

    /// Writes, without waiting for the log.
    pub fn begin(&self, request: &mut WriteRequest) -> Result<Written, RegionError> {
        let files = self.ctx.stores.files.clone();
        match self.region.write(request, &files.blocking())? {
            Step::Ready(written) => Ok(written),
            Step::Need(block) => panic!("a blocking source was asked for {block:?}"),
        }
    }

    pub fn put(&self, row: &str, column: &str, value: &[u8]) -> Result<(), RegionError> {
        self.write(WriteRequest::batch(vec![put(row, column, value)]))?.ops.remove(0)
    }

    pub fn get(&self, spec: &GetSpec) -> Result<CellBuf, RegionError> {
        let files = self.ctx.stores.files.clone();
        let mut out = CellBuf::new(true);
        match self.region.get(spec, &files.blocking(), &mut out)? {
            Step::Ready(_) => Ok(out),
            Step::Need(block) => panic!("a blocking source was asked for {block:?}"),
        }
    }

    /// The newest values of a row: `f:q=value`, joined by spaces.
    pub fn row(&self, row: &str) -> String {
        let cells = self.get(&GetSpec::new(row.to_owned())).unwrap();
        cells.iter().map(|c| script::column_and_value(&c)).collect::<Vec<_>>().join(" ")
    }

    /// Another region of the table on the same server.
    pub fn beside(&self, info: &RegionInfo) -> Rig {
        let region = Region::open(self.ctx.clone(), info.clone(), self.table.clone()).unwrap();
        Rig {
            fs: self.fs.clone(),
            clock: self.clock.clone(),
            config: self.config.clone(),
            table: self.table.clone(),
            info: info.clone(),
            ctx: self.ctx.clone(),
            region,
            start_code: self.start_code,
        }
    }

    pub fn wal_dir(&self) -> PathBuf {
        Layout::new(ROOT).server_wals_dir(&self.ctx.server)
    }
    pub fn region_dir(&self) -> PathBuf {
        Layout::new(ROOT).region_dir(&self.info)
    }
}

fn context(
    fs: &MemFs,
    clock: &Arc<ManualClock>,
    config: &RegionConfig,
    start_code: i64,
) -> Result<Arc<RegionContext>, RegionError> {
    let fs: Arc<MemFs> = Arc::new(fs.clone());
    let (layout, root) = (Layout::new(ROOT), PathBuf::from(ROOT));
    let dead: Vec<PathBuf> = (1..start_code)
        .map(|code| layout.server_wals_dir(&ServerName::new("h", 1, code)))
        .filter(|dir| martite_env::FileSystem::exists(&*fs, dir))
        .collect();
    split_logs(&*fs, Path::new(ROOT), &dead, &|_| None)?;
    let server = ServerName::new("h", 1, start_code);
    let wal = Wal::create(WalContext {
        fs: fs.clone(),
        clock: clock.clone(),
        dir: layout.server_wals_dir(&server),
        archive_dir: layout.old_wals_dir(),
        prefix: file_prefix(&server.to_string()),
        suffix: String::new(),
        options: WalOptions::default(),
    })?;
    let cache = Arc::new(BlockCache::new(CACHE_BYTES, Block::heap_size));
    let stores = StoreContext {
        files: Files::new(fs.clone(), cache),
        fs: fs.clone(),
        random: Arc::new(SeededRandom::new(start_code as u64)),
        root: root.clone(),
        config: StoreConfig::default(),
    };
    let clock: Arc<dyn Clock> = clock.clone();
    Ok(Arc::new(RegionContext {
        fs,
        nonces: Nonces::new(clock.clone(), GRACE_MS),
        clock,
        wal,
        root,
        stores: Arc::new(stores),
        config: Arc::new(config.clone()),
        memstore_size: Arc::default(),
        server,
        events: None,
    }))
}

/// A mutation of one cell, `family:qualifier`, at the time of the write.
pub fn mutation(kind: MutationKind, row: &str, column: &str, value: &[u8]) -> Mutation {
    let (family, qualifier) = column.split_once(':').unwrap();
    let mut cells = CellBuf::new(true);
    let cell = OwnedCell::put(row.as_bytes(), family.as_bytes(), qualifier.as_bytes(), LATEST_TIMESTAMP, value);
    cells.push(&cell.as_ref());
    Mutation::new(kind, row.to_owned(), cells)
}

pub fn put(row: &str, column: &str, value: &[u8]) -> Mutation {
    mutation(MutationKind::Put, row, column, value)
}

pub fn increment(row: &str, column: &str, by: i64) -> Mutation {
    mutation(MutationKind::Increment, row, column, &by.to_be_bytes())
}

pub fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}
