//! Plain options of the region server; who builds them knows the configuration's keys.

use crate::CompactionBounds;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Options {
    /// Largest answer of a Scan or Multi (`hbase.server.scanner.max.result.size`).
    pub max_result_bytes: usize,
    /// Lease of scanners (`hbase.client.scanner.timeout.period`).
    pub scanner_lease: Duration,
    /// Shortest time after which a scan may answer with a heartbeat
    /// (`hbase.region.server.rpc.minimum.scan.time.limit.delta`).
    pub min_scan_time_limit_ms: u64,
    /// Actions of one Multi that are remarkable (`hbase.rpc.rows.warning.threshold`) …
    pub batch_rows_threshold: usize,
    /// … and whether more are refused (`hbase.rpc.rows.size.threshold.reject`).
    pub reject_large_batches: bool,
    /// Heap of all memstores at which writes wait for flushes.
    pub memstore_limit_bytes: u64,
    /// Heap of all memstores at which the largest are flushed.
    pub memstore_low_bytes: u64,
    /// Threads for small and for large compactions (`hbase.regionserver.thread.compaction.small`, `.large`).
    pub small_compaction_threads: usize,
    pub large_compaction_threads: usize,
    /// How fast they may go.
    pub compaction_bounds: CompactionBounds,
    /// Whether there are any (`hbase.regionserver.compaction.enabled`), until a user switches them.
    pub compactions_enabled: bool,
    /// Longest that a flush waits for a compaction when a store has too many files (`hbase.hstore.blockingWaitTime`).
    pub blocking_wait: Duration,
    /// Age at which a log file is followed by a new one (`hbase.regionserver.logroll.period`); zero: any.
    pub log_roll_period: Duration,
    /// How often the server looks for overdue flushes and compactions (`hbase.server.thread.wakefrequency`).
    pub chore_period: Duration,
    /// Every so many of these looks, compactions are started that no flush asked for
    /// (`hbase.server.compactchecker.interval.multiplier`).
    pub compaction_check_multiplier: u64,
    /// Regions beyond which nothing is split (`hbase.regionserver.regionSplitLimit`).
    pub region_split_limit: usize,
    pub info_port: u32,
    pub quotas: QuotaOptions,
}

/// What of the quotas is not in hbase:quota.
#[derive(Debug, Clone)]
pub struct QuotaOptions {
    /// Bytes of capacity units (`hbase.quota.read.capacity.unit`, `.write.`).
    pub units: martite_quota::CapacityUnits,
    /// What may wait for its turn (`martite.quota.parked.calls`, `martite.quota.parked.bytes`).
    pub bounds: martite_quota::Bounds,
    /// Of users for whom nothing is set (`hbase.quota.default.user.machine.*`).
    pub default_user: martite_proto::Throttle,
    /// The request attribute that names the user whose limits count (`hbase.quota.user.override.key`).
    pub user_override_key: Option<String>,
    /// Reads count with the size of their answers, whatever was filtered (`hbase.quota.use.result.size.bytes`).
    pub use_result_size: bool,
    /// Users who may ask for compactions whatever a space quota says (`hbase.superuser`).
    pub superusers: Vec<String>,
}

impl QuotaOptions {
    pub(crate) fn is_superuser(&self, user: &str) -> bool {
        self.superusers.iter().any(|name| name == crate::throttle::short_name(user))
    }
}

impl Default for QuotaOptions {
    fn default() -> Self {
        QuotaOptions {
            units: martite_quota::CapacityUnits::default(),
            bounds: martite_quota::Bounds { calls_per_user: 5000, bytes_per_user: 64 << 20 },
            default_user: martite_proto::Throttle::default(),
            user_override_key: None,
            use_result_size: false,
            superusers: Vec::new(),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            max_result_bytes: 100 << 20,
            scanner_lease: Duration::from_secs(60),
            min_scan_time_limit_ms: 10,
            batch_rows_threshold: 5000,
            reject_large_batches: false,
            memstore_limit_bytes: 1 << 30,
            memstore_low_bytes: (1 << 30) / 100 * 95,
            small_compaction_threads: 1,
            large_compaction_threads: 1,
            compaction_bounds: CompactionBounds { lower: 50 << 20, higher: 100 << 20, off_peak: u64::MAX },
            compactions_enabled: true,
            blocking_wait: Duration::from_secs(90),
            log_roll_period: Duration::from_hours(1),
            chore_period: Duration::from_secs(10),
            compaction_check_multiplier: 1_000,
            region_split_limit: 1000,
            info_port: 0,
            quotas: QuotaOptions::default(),
        }
    }
}
