//! [`Region`]: what a region is made of, and the questions that need no work.

use crate::durability::Durability;
use crate::mvcc::Mvcc;
use crate::row_locks::RowLocks;
use crate::{RegionContext, RegionError, TableTimes};
use bytes::Bytes;
use martite_catalog::{RegionInfo, TableDescriptor};
use martite_store::Store;
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A region that is open, or has been.
///
/// Locks, in the order in which they are taken: `life` (shared by every operation, exclusive for close), row locks,
/// `updates` (shared by writes, exclusive while a flush freezes the memstores), `append`.
pub struct Region {
    pub(crate) ctx: Arc<RegionContext>,
    pub(crate) info: RegionInfo,
    pub(crate) table: Arc<TableDescriptor>,
    pub(crate) dir: PathBuf,
    /// Encoded name and table name as the log wants them.
    pub(crate) wal_name: Bytes,
    pub(crate) wal_table: Bytes,
    pub(crate) wal_scopes: Vec<(Bytes, martite_wal::Scope)>,
    /// The families' names, in the order of `stores`.
    pub(crate) wal_families: Vec<Bytes>,
    /// Sorted by family name.
    pub(crate) stores: Vec<(Bytes, Arc<Store>)>,
    pub(crate) mvcc: Arc<Mvcc>,
    pub(crate) locks: RowLocks,
    pub(crate) life: RwLock<()>,
    pub(crate) closing: AtomicBool,
    pub(crate) closed: AtomicBool,
    pub(crate) updates: RwLock<()>,
    /// Held while a write gets its number and its place in the log.
    pub(crate) append: Mutex<()>,
    /// One flush at a time.
    pub(crate) flushing: Mutex<()>,
    /// Of each store: the number of a flush that failed and left its memstore frozen.
    pub(crate) left_frozen: Mutex<Vec<Option<u64>>>,
    pub(crate) flush_wanted: AtomicBool,
    pub(crate) settings: Settings,
    pub(crate) open_seq: u64,
    pub counters: Counters,
    /// Set by the server that serves the region.
    pub times: OnceLock<Arc<TableTimes>>,
}

/// The table's settings, with the server's where it has none.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub read_only: bool,
    pub durability: Durability,
    pub flush_size_bytes: u64,
    pub blocking_size_bytes: u64,
    pub max_file_size_bytes: u64,
    /// 0: no limit.
    pub max_cell_size_bytes: u64,
    /// Without its package.
    pub split_policy: String,
}

/// What the region has done and holds.
#[derive(Debug, Default)]
pub struct Counters {
    pub read_requests: AtomicU64,
    /// Those of `read_requests` before the last flush.
    pub reads_at_flush: AtomicU64,
    pub filtered_read_requests: AtomicU64,
    pub write_requests: AtomicU64,
    pub blocked_requests: AtomicU64,
    pub check_and_mutate_passed: AtomicU64,
    pub check_and_mutate_failed: AtomicU64,
    /// Data bytes written without the log since the last flush.
    pub data_without_wal_bytes: AtomicU64,
    /// Memstore heap size as the server's total knows it.
    pub(crate) accounted_heap_bytes: AtomicU64,
    pub last_flush_ms: AtomicU64,
    pub last_major_compaction_ms: AtomicU64,
    /// Highest sequence id that is in files for all families.
    pub flushed_seq: AtomicU64,
    pub compactions_running: AtomicU64,
    pub major_compactions_running: AtomicU64,
}

/// An operation that is running; a close waits for it.
pub struct Operation<'a> {
    _life: RwLockReadGuard<'a, ()>,
}

impl Region {
    pub fn info(&self) -> &RegionInfo {
        &self.info
    }
    pub fn table(&self) -> &Arc<TableDescriptor> {
        &self.table
    }
    pub fn context(&self) -> &Arc<RegionContext> {
        &self.ctx
    }
    /// The number that this opening has in hbase:meta.
    pub fn open_seq_num(&self) -> u64 {
        self.open_seq
    }
    pub fn read_point(&self) -> u64 {
        self.mvcc.read_point()
    }
    pub fn mvcc(&self) -> &Arc<Mvcc> {
        &self.mvcc
    }
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
    pub fn is_read_only(&self) -> bool {
        self.settings.read_only
    }
    /// The stores with their family names, sorted by these.
    pub fn stores(&self) -> &[(Bytes, Arc<Store>)] {
        &self.stores
    }
    pub fn store(&self, family: &[u8]) -> Option<&Arc<Store>> {
        self.store_index(family).map(|at| &self.stores[at].1)
    }
    pub(crate) fn store_index(&self, family: &[u8]) -> Option<usize> {
        // Tables have few families: walking beats searching.
        self.stores.iter().position(|(name, _)| name == family)
    }

    /// To be held while an operation runs. NotServing once the region is closing: a close holds the lock, or waits for
    /// it, only from then on.
    pub fn start_operation(&self) -> Result<Operation<'_>, RegionError> {
        if self.closing.load(Ordering::Acquire) {
            return Err(self.not_serving());
        }
        match self.life.try_read() {
            Some(life) if !self.closing.load(Ordering::Acquire) => Ok(Operation { _life: life }),
            _ => Err(self.not_serving()),
        }
    }

    pub(crate) fn not_serving(&self) -> RegionError {
        let state = if self.is_closed() { "closed" } else { "closing" };
        RegionError::NotServing(format!("{} is {state}", self.info.name_string()))
    }

    /// Heap size of all memstores.
    pub fn memstore_heap_bytes(&self) -> u64 {
        self.stores.iter().map(|(_, store)| store.memstore().heap_size()).sum()
    }
    /// Size of the cells in all memstores.
    pub fn memstore_data_bytes(&self) -> u64 {
        self.stores.iter().map(|(_, store)| store.memstore().data_size()).sum()
    }

    /// Brings the server's total up to date with this region's memstores, and returns their size.
    pub(crate) fn account_memstore(&self) -> u64 {
        let heap = self.memstore_heap_bytes();
        // The swaps telescope: whatever order they come in, the total moves to the size that was swapped in last.
        let before = self.counters.accounted_heap_bytes.swap(heap, Ordering::AcqRel);
        self.ctx.memstore_size.fetch_add(heap.wrapping_sub(before), Ordering::AcqRel);
        heap
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.info.name_string())
    }
}
