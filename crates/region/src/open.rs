//! Create and open a region.
//!
//! Open: `.regioninfo`, leftovers of a crash, stores, recovered edits; then the region takes a sequence id that is higher
//! than any it ever had (remembered in a `.seqid` file before anything is served), and marks the opening in the log.

use crate::durability::Durability;
use crate::markers::dir_name;
use crate::mvcc::Mvcc;
use crate::region::{Counters, Settings};
use crate::row_locks::RowLocks;
use crate::{Region, RegionContext, RegionError, family_options, seq_file};
use bytes::Bytes;
use martite_catalog::layout::{REGION_INFO_FILE, TEMP_DIR};
use martite_catalog::{CatalogError, Layout, RegionInfo, TableDescriptor, files};
use martite_env::FileSystem;
use martite_proto::region_event_descriptor::EventType;
use martite_store::Store;
use martite_wal::Scope;
use parking_lot::{Mutex, RwLock};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

impl Region {
    /// Makes the directory and .regioninfo of a new region. Doing it twice is doing it once.
    pub fn create(ctx: &RegionContext, info: &RegionInfo, table: &TableDescriptor) -> Result<(), RegionError> {
        check_table(table)?;
        write_region_info(&*ctx.fs, &Layout::new(&ctx.root).region_dir(info), info)
    }

    /// Opens a region. Blocking.
    pub fn open(
        ctx: Arc<RegionContext>,
        info: RegionInfo,
        table: Arc<TableDescriptor>,
    ) -> Result<Arc<Region>, RegionError> {
        check_table(&table)?;
        let dir = Layout::new(&ctx.root).region_dir(&info);
        write_region_info(&*ctx.fs, &dir, &info)?;
        remove_temp(&*ctx.fs, &dir)?;
        let stores = open_stores(&ctx, &dir, &table)?;
        let mut region = Region {
            wal_name: Bytes::copy_from_slice(info.encoded_name().as_bytes()),
            wal_table: Bytes::copy_from_slice(info.table().as_bytes()),
            wal_scopes: scopes(&table),
            wal_families: stores.iter().map(|(family, _)| family.clone()).collect(),
            settings: settings(&ctx, &table),
            mvcc: Mvcc::new(),
            locks: RowLocks::new(),
            life: RwLock::new(()),
            closing: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            updates: RwLock::new(()),
            append: Mutex::new(()),
            flushing: Mutex::new(()),
            left_frozen: Mutex::new(vec![None; stores.len()]),
            flush_wanted: AtomicBool::new(false),
            open_seq: 0,
            counters: Counters::default(),
            times: OnceLock::new(),
            ctx,
            info,
            table,
            dir,
            stores,
        };
        match region.take_up() {
            Ok(()) => Ok(Arc::new(region)),
            Err(error) => {
                region.forget_memstore();
                Err(error)
            }
        }
    }

    /// Recovers, and takes the number of this opening.
    fn take_up(&mut self) -> Result<(), RegionError> {
        let in_files = self.stores.iter().map(|(_, store)| store.max_seq_id().max(store.max_mvcc())).max().unwrap_or(0);
        let replayed = self.replay_recovered_edits()?;
        let remembered = seq_file::read(&*self.ctx.fs, &self.dir)?.unwrap_or(0);
        self.open_seq = in_files.max(replayed).max(remembered) + 1;
        // The number itself is remembered, not the one before it: a server that dies before it writes anything else
        // must not hand it out again.
        seq_file::write(&*self.ctx.fs, &self.dir, self.open_seq)?;
        self.mvcc.advance_to(self.open_seq);
        let now_ms = self.ctx.clock.now_ms();
        self.counters.last_flush_ms.store(now_ms, Ordering::Relaxed);
        self.counters.flushed_seq.store(self.open_seq - 1, Ordering::Relaxed);
        self.mark_event(EventType::RegionOpen, self.open_seq)?;
        tracing::info!(region = %self.info.encoded_name(), open_seq = self.open_seq, "opened");
        Ok(())
    }

    /// Takes this region's memory out of the server's total.
    pub(crate) fn forget_memstore(&self) {
        let before = self.counters.accounted_heap_bytes.swap(0, Ordering::AcqRel);
        self.ctx.memstore_size.fetch_sub(before, Ordering::AcqRel);
    }
}

fn check_table(table: &TableDescriptor) -> Result<(), RegionError> {
    if table.family_count() > 0 {
        return Ok(());
    }
    Err(RegionError::DoNotRetry(format!("Table {} should have at least one column family.", table.name())))
}

/// Makes the region's directory; `.regioninfo` is made anew if it says something else.
pub(crate) fn write_region_info(fs: &dyn FileSystem, dir: &Path, info: &RegionInfo) -> Result<(), RegionError> {
    files::create_region_dir(fs, dir, info)?;
    if info.replica_id() != 0 || files::read_region_info(fs, dir).is_ok_and(|read| read.as_ref() == Some(info)) {
        return Ok(());
    }
    let path = dir.join(REGION_INFO_FILE);
    fs.write_atomic(&path, &info.to_delimited_bytes()).map_err(|e| RegionError::io(path.display(), &e))
}

/// Removes what an interrupted flush or compaction left.
fn remove_temp(fs: &dyn FileSystem, dir: &Path) -> Result<(), RegionError> {
    let temp = dir.join(TEMP_DIR);
    if !fs.exists(&temp) {
        return Ok(());
    }
    fs.remove_dir_all(&temp).map_err(|e| RegionError::io(temp.display(), &e))
}

fn open_stores(
    ctx: &RegionContext,
    dir: &Path,
    table: &TableDescriptor,
) -> Result<Vec<(Bytes, Arc<Store>)>, RegionError> {
    let now_ms = ctx.clock.now_ms();
    let mut stores = Vec::with_capacity(table.family_count());
    for family in table.families() {
        let options = Arc::new(family_options(family, table)?);
        let store = Store::open(ctx.stores.clone(), dir.join(dir_name(family.name())), options, now_ms)?;
        stores.push((family.name().clone(), Arc::new(store)));
    }
    stores.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(stores)
}

/// The families whose edits are replicated, as the log carries them.
fn scopes(table: &TableDescriptor) -> Vec<(Bytes, Scope)> {
    let scope = |number| match number {
        0 => None,
        2 => Some(Scope::Serial),
        _ => Some(Scope::Global),
    };
    table.families().filter_map(|f| Some((f.name().clone(), scope(f.replication_scope())?))).collect()
}

fn settings(ctx: &RegionContext, table: &TableDescriptor) -> Settings {
    let config = &ctx.config;
    let flush_size_bytes = table.memstore_flush_size_bytes().filter(|&n| n > 0).unwrap_or(config.flush_size_bytes);
    let max_file_size_bytes = table.max_file_size_bytes().filter(|&n| n > 0).unwrap_or(config.max_file_size_bytes);
    let block_multiplier = number(table, "hbase.hregion.memstore.block.multiplier")
        .and_then(|n| u64::try_from(n).ok())
        .unwrap_or(config.block_multiplier);
    let policy = table.split_policy().unwrap_or(&config.split_policy);
    // Regions of one age must not all split at once: up to an eighth more or less.
    let jitter = (ctx.stores.random.u64() % 1000) as f64 / 1000.0 - 0.5;
    let jitter_bytes = (max_file_size_bytes as f64 * config.max_file_size_jitter * jitter) as i64;
    Settings {
        read_only: table.is_read_only(),
        durability: Durability::from_wire(table.durability() as i32).or(config.durability).or(Durability::SyncWal),
        flush_size_bytes,
        blocking_size_bytes: flush_size_bytes.saturating_mul(block_multiplier),
        max_file_size_bytes: max_file_size_bytes.saturating_add_signed(jitter_bytes),
        max_cell_size_bytes: match number(table, "hbase.server.keyvalue.maxsize") {
            Some(limit) => limit.max(0) as u64,
            None => config.max_cell_size_bytes,
        },
        split_policy: policy.rsplit('.').next().unwrap_or_default().to_owned(),
    }
}

/// A key of the configuration that the table sets for itself.
fn number(table: &TableDescriptor, key: &str) -> Option<i64> {
    table.setting(key)?.trim().parse().ok()
}

impl From<CatalogError> for RegionError {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Io { .. } => RegionError::Io(error.to_string()),
            _ => RegionError::Corrupt(error.to_string()),
        }
    }
}
