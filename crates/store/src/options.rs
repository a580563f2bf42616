//! Options of one family, and of every store of a region server, as plain values.
//!
//! Defaults are HBase 2.6's. Who builds these (crate `region`, from the table descriptor and the configuration) knows
//! the string keys; nobody below does.

use crate::FileTracker;
use bytes::Bytes;
use martite_cell::Order;
use martite_hfile::{BloomType, Compression, Encoding};

const DAY_MS: u64 = 24 * 3600 * 1000;

/// What happens to cells that a delete marker covers (`KEEP_DELETED_CELLS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeepDeleted {
    #[default]
    False,
    True,
    /// Kept until the marker itself is older than the time to live.
    Ttl,
}

/// The attributes of a column family that the store acts on.
#[derive(Debug, Clone)]
pub struct FamilyOptions {
    pub name: Bytes,
    pub max_versions: u32,
    pub min_versions: u32,
    /// None: cells do not expire (`FOREVER`).
    pub ttl_ms: Option<u64>,
    pub keep_deleted: KeepDeleted,
    /// Deletes apply only to cells with a smaller sequence id.
    pub new_version_behavior: bool,
    pub order: Order,
    pub bloom: BloomType,
    pub block_size: usize,
    pub compression: Compression,
    /// `COMPRESSION_COMPACT_MAJOR`, else `COMPRESSION_COMPACT`, else `COMPRESSION`.
    pub compression_major: Compression,
    pub compression_minor: Compression,
    pub encoding: Encoding,
    pub compress_tags: bool,
    /// `BLOCKCACHE`: data blocks of reads enter the cache.
    pub cache_data: bool,
    /// `IN_MEMORY`: data blocks leave the cache after those of other families.
    pub in_memory: bool,
    /// `CACHE_DATA_ON_WRITE`: a flush leaves the new file's blocks in the cache.
    pub cache_data_on_write: bool,
    /// `PREFETCH_BLOCKS_ON_OPEN`.
    pub prefetch_on_open: bool,
    /// `hbase.hstore.time.to.purge.deletes`: major compactions keep delete markers younger than this.
    pub time_to_purge_deletes_ms: u64,
    /// `hbase.store.delete.expired.storefile`: a file whose newest cell has expired is dropped unread.
    pub delete_expired_files: bool,
    /// `hbase.store.file-tracker.impl`.
    pub tracker: FileTracker,
    /// What the table or the family says differently from the server.
    pub overrides: StoreOverrides,
}

/// Options of [`StoreConfig`] that a table or a family sets for itself; the keys are the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoreOverrides {
    /// The table's `MEMSTORE_FLUSHSIZE`.
    pub flush_size_bytes: Option<u64>,
    pub blocking_files: Option<usize>,
    pub min_files: Option<usize>,
    pub max_files: Option<usize>,
    pub min_size_bytes: Option<u64>,
    pub max_size_bytes: Option<u64>,
    pub ratio: Option<f64>,
    pub max_size_off_peak_bytes: Option<u64>,
    pub ratio_off_peak: Option<f64>,
    pub major_period_ms: Option<u64>,
    pub major_jitter: Option<f64>,
    pub index_block_bytes: Option<usize>,
    pub bloom_block_bytes: Option<usize>,
}

impl FamilyOptions {
    /// A family with HBase's defaults.
    pub fn new(name: impl Into<Bytes>) -> FamilyOptions {
        FamilyOptions {
            name: name.into(),
            max_versions: 1,
            min_versions: 0,
            ttl_ms: None,
            keep_deleted: KeepDeleted::False,
            new_version_behavior: false,
            order: Order::Default,
            bloom: BloomType::Row,
            block_size: 64 * 1024,
            compression: Compression::None,
            compression_major: Compression::None,
            compression_minor: Compression::None,
            encoding: Encoding::None,
            compress_tags: true,
            cache_data: true,
            in_memory: false,
            cache_data_on_write: false,
            prefetch_on_open: false,
            time_to_purge_deletes_ms: 0,
            delete_expired_files: true,
            tracker: FileTracker::Directory,
            overrides: StoreOverrides::default(),
        }
    }

    /// Age at which a cell is gone whatever else holds; None with MIN_VERSIONS, which keep expired cells.
    pub fn file_ttl_ms(&self) -> Option<u64> {
        self.ttl_ms.filter(|_| self.min_versions == 0)
    }
}

/// How files are chosen for compaction (`hbase.hstore.compaction.*`).
#[derive(Debug, Clone, PartialEq)]
pub struct CompactionOptions {
    /// `hbase.hstore.compaction.min`, never below 2.
    pub min_files: usize,
    /// `hbase.hstore.compaction.max`.
    pub max_files: usize,
    /// Selections smaller than this need not satisfy the ratio. Default: the flush size.
    pub min_size_bytes: u64,
    pub max_size_bytes: u64,
    pub max_size_off_peak_bytes: u64,
    pub ratio: f64,
    pub ratio_off_peak: f64,
    /// `hbase.hregion.majorcompaction`: 0 turns periodic major compactions off.
    pub major_period_ms: u64,
    /// Fraction of the period by which it varies from store to store.
    pub major_jitter: f64,
    /// Compactions of more bytes than this go to the large pool (`hbase.regionserver.thread.compaction.throttle`).
    pub large_above_bytes: u64,
}

/// Options that all stores of a region server share; a table or a family may override them.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreConfig {
    /// `hbase.hregion.memstore.flush.size`.
    pub flush_size_bytes: u64,
    /// `hbase.hstore.blockingStoreFiles`: with more files, flushes wait for compaction.
    pub blocking_files: usize,
    pub compaction: CompactionOptions,
    /// `hbase.hstore.compaction.keep.seqId.period`: compactions of all files forget the sequence ids of files older than
    /// this, once no scanner needs them.
    pub keep_seq_id_ms: u64,
    /// How many bytes a compaction reads or writes between two calls of its throttle.
    pub throttle_every_bytes: u64,
    /// New files are synced in pieces of this size, so that no sync of theirs holds up the log's for long.
    pub sync_every_bytes: u64,
    /// `hfile.index.block.max.size`.
    pub index_block_bytes: usize,
    /// `io.storefile.bloom.block.size`.
    pub bloom_block_bytes: usize,
    /// `hbase.rs.cacheblocksonwrite`: of all families.
    pub cache_data_on_write: bool,
    /// `martite.cache.flushed`: blocks of a flush stay in the cache, if the store is read and the cache has room.
    pub keep_flushed: bool,
    /// `hbase.rs.prefetchblocksonopen`: of all families.
    pub prefetch_on_open: bool,
}

impl StoreConfig {
    /// HBase's defaults for a flush size.
    pub fn with_flush_size(flush_size_bytes: u64) -> StoreConfig {
        let max_files = 10;
        StoreConfig {
            flush_size_bytes,
            blocking_files: 16,
            compaction: CompactionOptions {
                min_files: 3,
                max_files,
                min_size_bytes: flush_size_bytes,
                max_size_bytes: i64::MAX as u64,
                max_size_off_peak_bytes: i64::MAX as u64,
                ratio: 1.2,
                ratio_off_peak: 5.0,
                major_period_ms: 7 * DAY_MS,
                major_jitter: 0.5,
                large_above_bytes: 2 * max_files as u64 * flush_size_bytes,
            },
            keep_seq_id_ms: 5 * DAY_MS,
            throttle_every_bytes: 64 << 10,
            sync_every_bytes: 8 << 20,
            index_block_bytes: 128 << 10,
            bloom_block_bytes: 128 << 10,
            cache_data_on_write: false,
            keep_flushed: false,
            prefetch_on_open: false,
        }
    }
}

impl StoreConfig {
    /// The options of a store whose table or family sets some of them itself.
    pub fn overridden(&self, by: &StoreOverrides) -> StoreConfig {
        let mut config = self.clone();
        let c = &mut config.compaction;
        if let Some(size) = by.flush_size_bytes {
            // Small files are those of a flush, unless the configuration says otherwise.
            if c.min_size_bytes == self.flush_size_bytes {
                c.min_size_bytes = size;
            }
            config.flush_size_bytes = size;
        }
        c.min_files = by.min_files.unwrap_or(c.min_files).max(2);
        c.max_files = by.max_files.unwrap_or(c.max_files);
        c.min_size_bytes = by.min_size_bytes.unwrap_or(c.min_size_bytes);
        c.max_size_bytes = by.max_size_bytes.unwrap_or(c.max_size_bytes);
        // A larger or smaller one holds at all times unless both are given.
        let max_off_peak = by.max_size_off_peak_bytes.or(by.max_size_bytes);
        c.max_size_off_peak_bytes = max_off_peak.unwrap_or(c.max_size_off_peak_bytes);
        c.ratio = by.ratio.unwrap_or(c.ratio);
        c.ratio_off_peak = by.ratio_off_peak.unwrap_or(c.ratio_off_peak);
        c.major_period_ms = by.major_period_ms.unwrap_or(c.major_period_ms);
        c.major_jitter = by.major_jitter.unwrap_or(c.major_jitter);
        config.blocking_files = by.blocking_files.unwrap_or(config.blocking_files);
        config.index_block_bytes = by.index_block_bytes.unwrap_or(config.index_block_bytes);
        config.bloom_block_bytes = by.bloom_block_bytes.unwrap_or(config.bloom_block_bytes);
        config
    }
}

impl Default for StoreConfig {
    fn default() -> StoreConfig {
        StoreConfig::with_flush_size(128 << 20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_s_own_options_take_the_place_of_the_server_s() {
        let server = StoreConfig::with_flush_size(64 << 20);
        assert_eq!(server.overridden(&StoreOverrides::default()), server);
        let own = server.overridden(&StoreOverrides {
            flush_size_bytes: Some(1 << 20),
            min_files: Some(1),
            blocking_files: Some(9),
            major_period_ms: Some(0),
            ..StoreOverrides::default()
        });
        let c = &own.compaction;
        assert_eq!((own.flush_size_bytes, c.min_size_bytes, c.min_files), (1 << 20, 1 << 20, 2));
        assert_eq!((own.blocking_files, c.major_period_ms, c.max_files), (9, 0, server.compaction.max_files));
        let set = StoreOverrides { flush_size_bytes: Some(1), min_size_bytes: Some(7), ..StoreOverrides::default() };
        assert_eq!(server.overridden(&set).compaction.min_size_bytes, 7);
    }
}
