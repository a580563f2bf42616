//! What a region is given by its server: [`RegionContext`], and its options: [`RegionConfig`].

use crate::{Durability, Nonces, OffPeak, Region, RegionError};
use martite_catalog::ServerName;
use martite_env::{Clock, FileSystem};
use martite_store::StoreContext;
use martite_wal::Wal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// What a region asks of its server; called with locks held: note it down, do it elsewhere.
pub trait RegionEvents: Send + Sync + 'static {
    /// The memstore is over its flush size.
    fn flush_wanted(&self, region: &Region);
    /// A flush made a file.
    fn flushed(&self, region: &Region);
    /// The server must stop: the log failed and no write will be acknowledged any more, or a store file is in doubt.
    fn must_stop(&self, error: &RegionError);
}

/// All regions of a server share one.
pub struct RegionContext {
    pub fs: Arc<dyn FileSystem>,
    pub clock: Arc<dyn Clock>,
    pub wal: Arc<Wal>,
    /// The HBase root directory.
    pub root: PathBuf,
    /// What the stores share: files, block cache, file names.
    pub stores: Arc<StoreContext>,
    pub config: Arc<RegionConfig>,
    /// Heap size of all memstores of the server, in bytes; kept by the regions.
    pub memstore_size: Arc<AtomicU64>,
    pub nonces: Arc<Nonces>,
    /// As markers in the log name it.
    pub server: ServerName,
    pub events: Option<Arc<dyn RegionEvents>>,
}

/// Plain options of regions; the table's own settings come before them.
#[derive(Debug, Clone)]
pub struct RegionConfig {
    /// Memstore size that asks for a flush (`hbase.hregion.memstore.flush.size`).
    pub flush_size_bytes: u64,
    /// Writes are refused over flush size × this (`hbase.hregion.memstore.block.multiplier`).
    pub block_multiplier: u64,
    /// Largest cell (`hbase.server.keyvalue.maxsize`); 0: no limit.
    pub max_cell_size_bytes: u64,
    /// Largest row a Get or Scan may read (`hbase.table.max.rowsize`).
    pub max_row_size_bytes: u64,
    /// How far timestamps may lie in the future (`hbase.hregion.keyvalue.timestamp.slop.millisecs`).
    pub timestamp_slop_ms: Option<u64>,
    /// Mutations that share one WAL edit, at most (`hbase.regionserver.minibatch.size`).
    pub mini_batch_ops: usize,
    /// Cell bytes that share one WAL edit, at most.
    pub mini_batch_bytes: usize,
    /// Durability of tables that do not say.
    pub durability: Durability,
    /// Damaged recovered.edits are set aside instead of failing the open (`hbase.hregion.edits.replay.skip.errors`).
    pub skip_bad_edits: bool,
    /// Region size that asks for a split (`hbase.hregion.max.filesize`).
    pub max_file_size_bytes: u64,
    /// Part of that size by which regions differ (`hbase.hregion.max.filesize.jitter`).
    pub max_file_size_jitter: f64,
    /// Java class of the policy of tables that have none (`hbase.regionserver.region.split.policy`).
    pub split_policy: String,
    /// Smallest column family that a partial flush picks (`hbase.hregion.percolumnfamilyflush.size.lower.bound.min`).
    pub family_flush_min_bytes: u64,
    /// Oldest edit that may stay in memory (`hbase.regionserver.optionalcacheflushinterval`); 0: any.
    pub periodic_flush_ms: u64,
    /// When compactions may take larger files along (`hbase.offpeak.*.hour`).
    pub off_peak: Arc<OffPeak>,
}

impl Default for RegionConfig {
    fn default() -> Self {
        RegionConfig {
            flush_size_bytes: 128 << 20,
            block_multiplier: 4,
            max_cell_size_bytes: 10 << 20,
            max_row_size_bytes: 1 << 30,
            timestamp_slop_ms: None,
            mini_batch_ops: 20_000,
            mini_batch_bytes: 4 << 20,
            durability: Durability::SyncWal,
            skip_bad_edits: false,
            max_file_size_bytes: 10 << 30,
            max_file_size_jitter: 0.25,
            split_policy: "org.apache.hadoop.hbase.regionserver.SteppingSplitPolicy".into(),
            family_flush_min_bytes: 16 << 20,
            periodic_flush_ms: 3_600_000,
            off_peak: Arc::default(),
        }
    }
}
