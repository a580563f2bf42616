//! Configuration → the plain options of the parts below.

use crate::{Failure, args, exit, info, machine, refusals, ssd_tier};
use martite_config::{Config, Loader, keys};
use martite_proto as pb;
use martite_quota::{Bounds, CapacityUnits};
use martite_region::{Durability, OffPeak, RegionConfig};
use martite_regionserver::{CompactionBounds, Options, QuotaOptions};
use martite_rpc::{PoolOptions, ServerOptions};
use martite_store::StoreConfig;
use martite_wal::WalOptions;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Reads `DIR/hbase-site.xml` and puts the flags on top of it.
pub fn load(args: &args::Start) -> Result<Config, Failure> {
    let wrong = |e: martite_config::ConfigError| Failure::new(exit::USAGE, e.to_string());
    let mut loader = Loader::new();
    if let Some(dir) = &args.conf {
        let path = dir.join("hbase-site.xml");
        let text = std::fs::read_to_string(&path)
            .map_err(|e| Failure::new(exit::USAGE, format!("{}: {e}", path.display())))?;
        loader = loader.file(&path.display().to_string(), &text).map_err(wrong)?;
    }
    let flags = [
        (keys::ZOOKEEPER_CLIENT_PORT.name(), args.zookeeper_port.map(|p| p.to_string())),
        (keys::MASTER_PORT.name(), args.master_port.map(|p| p.to_string())),
        (keys::REGIONSERVER_PORT.name(), args.regionserver_port.map(|p| p.to_string())),
        (keys::MASTER_INFO_PORT.name(), args.master_info_port.map(|p| p.to_string())),
        (keys::REGIONSERVER_INFO_PORT.name(), args.regionserver_info_port.map(|p| p.to_string())),
        (keys::REGIONSERVER_HOSTNAME.name(), args.hostname.clone()),
        (keys::MASTER_HOSTNAME.name(), args.hostname.clone()),
        (keys::MEMORY.name(), args.memory.clone()),
    ];
    for (key, value) in flags {
        if let Some(value) = value {
            loader = loader.set(key, &value, "command line");
        }
    }
    for define in &args.define {
        let (key, value) = define
            .split_once('=')
            .ok_or_else(|| Failure::new(exit::USAGE, format!("-D {define}: expected KEY=VALUE")))?;
        loader = loader.set(key, value, "command line");
    }
    let config = loader.load().map_err(wrong)?;
    refusals::check(&config)?;
    Ok(config)
}

/// The data folder: `--data`, else hbase.rootdir where it is set, else `./data`.
pub fn root(args: &args::Start, config: &Config) -> Result<PathBuf, Failure> {
    if let Some(data) = &args.data {
        return Ok(data.clone());
    }
    if !config.is_set(keys::ROOTDIR) {
        return Ok(PathBuf::from("./data"));
    }
    let text = config.get(keys::ROOTDIR);
    let path = text.strip_prefix("file://").or_else(|| text.strip_prefix("file:")).unwrap_or(&text);
    if path.contains("://") {
        return Err(Failure::new(
            exit::USAGE,
            format!("hbase.rootdir {text}: standalone mode keeps its data on the local file system (file:///…)"),
        ));
    }
    Ok(PathBuf::from(path))
}

/// How the memory budget is shared, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Of the whole process.
    pub budget: u64,
    pub memstore_limit: u64,
    pub memstore_low: u64,
    pub block_cache: u64,
}

pub fn memory(config: &Config) -> Memory {
    let budget = match config.get(keys::MEMORY) {
        0 => machine::memory_bytes() / 2,
        set => set,
    };
    let share = |part: f64| (budget as f64 * part.clamp(0.0, 0.8)) as u64;
    let memstore_limit = share(config.get(keys::GLOBAL_MEMSTORE_SIZE));
    // HBase: below 1 a share of the memory, else MiB. In files it takes no memory; `refusals` has checked these.
    let in_files = ssd_tier::files(config).is_ok_and(|files| !files.is_empty());
    let bucket = match config.get(keys::BUCKETCACHE_SIZE) {
        _ if in_files => 0,
        part if part < 1.0 => share(part),
        mib => (mib * f64::from(1 << 20)) as u64,
    };
    let block_cache = share(config.get(keys::BLOCK_CACHE_SIZE)) + bucket;
    Memory {
        // A cache whose size is given in MiB comes on top: a fifth is left for all else, as with HBase's shares.
        budget: budget.max(memstore_limit + block_cache + budget / 5),
        memstore_limit,
        memstore_low: (memstore_limit as f64 * config.get(keys::GLOBAL_MEMSTORE_LOWER_LIMIT).clamp(0.1, 1.0)) as u64,
        block_cache,
    }
}

pub fn wal(config: &Config) -> WalOptions {
    let mut options = WalOptions::default();
    let block = config.get(keys::LOG_BLOCK_SIZE);
    if block > 0 {
        options.roll_size_bytes = (block as f64 * config.get(keys::LOG_ROLL_MULTIPLIER)).max(65536.0) as u64;
    }
    match config.get(keys::MAX_LOGS) {
        0 => {}
        n => options.max_files = n as usize,
    }
    // Without replicas there is no one else to have the data: a sync reaches the disk unless it was said otherwise.
    options.hsync = !config.is_set(keys::WAL_HSYNC) || config.get(keys::WAL_HSYNC);
    options
}

pub fn store(config: &Config) -> StoreConfig {
    let mut store = StoreConfig::with_flush_size(config.get(keys::MEMSTORE_FLUSH_SIZE));
    store.blocking_files = config.get(keys::BLOCKING_STORE_FILES) as usize;
    let c = &mut store.compaction;
    c.min_files = (config.get(keys::COMPACTION_MIN) as usize).max(2);
    c.max_files = config.get(keys::COMPACTION_MAX) as usize;
    match config.get(keys::COMPACTION_MIN_SIZE) {
        0 => {}
        size => c.min_size_bytes = size,
    }
    c.max_size_bytes = config.get(keys::COMPACTION_MAX_SIZE);
    c.max_size_off_peak_bytes = match config.get(keys::COMPACTION_MAX_SIZE_OFFPEAK) {
        0 => c.max_size_bytes,
        size => size,
    };
    c.ratio = config.get(keys::COMPACTION_RATIO);
    c.ratio_off_peak = config.get(keys::COMPACTION_RATIO_OFFPEAK);
    c.major_period_ms = config.get(keys::MAJOR_COMPACTION_PERIOD);
    c.major_jitter = config.get(keys::MAJOR_COMPACTION_JITTER);
    store.index_block_bytes = (config.get(keys::INDEX_BLOCK_SIZE) as usize).max(1);
    store.bloom_block_bytes = (config.get(keys::BLOOM_BLOCK_SIZE) as usize).max(1);
    store.cache_data_on_write = config.get(keys::CACHE_BLOCKS_ON_WRITE);
    store.keep_flushed = config.get(keys::CACHE_FLUSHED);
    store.prefetch_on_open = config.get(keys::PREFETCH_ON_OPEN);
    store
}

pub fn region(config: &Config) -> RegionConfig {
    RegionConfig {
        flush_size_bytes: config.get(keys::MEMSTORE_FLUSH_SIZE),
        block_multiplier: config.get(keys::MEMSTORE_BLOCK_MULTIPLIER),
        max_cell_size_bytes: config.get(keys::MAX_CELL_SIZE),
        max_row_size_bytes: config.get(keys::MAX_ROW_SIZE),
        durability: Durability::SyncWal,
        max_file_size_bytes: config.get(keys::MAX_FILE_SIZE),
        split_policy: config.get(keys::SPLIT_POLICY),
        family_flush_min_bytes: config.get(keys::FLUSH_LOWER_BOUND_MIN),
        periodic_flush_ms: config.get(keys::FLUSH_INTERVAL),
        off_peak: Arc::new(off_peak(config)),
        ..RegionConfig::default()
    }
}

fn off_peak(config: &Config) -> OffPeak {
    let (start, end) = (config.get(keys::OFFPEAK_START), config.get(keys::OFFPEAK_END));
    OffPeak::new(start, end).unwrap_or_else(|| {
        tracing::warn!(start, end, "hbase.offpeak.start.hour and .end.hour are ignored: hours are 0 to 23");
        OffPeak::default()
    })
}

pub fn region_server(config: &Config, memory: &Memory, info_port: u16) -> Options {
    Options {
        max_result_bytes: config.get(keys::SCANNER_MAX_RESULT_SIZE) as usize,
        scanner_lease: Duration::from_millis(config.get(keys::SCANNER_TIMEOUT)),
        min_scan_time_limit_ms: 10,
        batch_rows_threshold: config.get(keys::ROWS_WARNING_THRESHOLD) as usize,
        reject_large_batches: config.get(keys::ROWS_REJECT),
        memstore_limit_bytes: memory.memstore_limit,
        memstore_low_bytes: memory.memstore_low,
        small_compaction_threads: config.get(keys::COMPACTION_THREADS_SMALL).max(1) as usize,
        large_compaction_threads: config.get(keys::COMPACTION_THREADS_LARGE).max(1) as usize,
        compaction_bounds: compaction_bounds(config),
        compactions_enabled: config.get(keys::COMPACTION_ENABLED),
        log_roll_period: Duration::from_millis(config.get(keys::LOG_ROLL_PERIOD)),
        blocking_wait: Duration::from_millis(config.get(keys::BLOCKING_WAIT_TIME)),
        chore_period: Duration::from_millis(config.get(keys::COMPACTION_CHECK_PERIOD).max(100)),
        compaction_check_multiplier: config.get(keys::COMPACTION_CHECK_MULTIPLIER).max(1),
        region_split_limit: config.get(keys::REGION_SPLIT_LIMIT) as usize,
        info_port: info_port.into(),
        quotas: quotas(config),
    }
}

fn compaction_bounds(config: &Config) -> CompactionBounds {
    if config.get(keys::THROUGHPUT_CONTROLLER).ends_with("NoLimitThroughputController") {
        return CompactionBounds::NONE;
    }
    let lower = config.get(keys::THROUGHPUT_LOWER);
    let off_peak = match config.get(keys::THROUGHPUT_OFFPEAK) {
        // Java's Long.MAX_VALUE.
        none if none >= i64::MAX as u64 => u64::MAX,
        bound => bound,
    };
    CompactionBounds { lower, higher: config.get(keys::THROUGHPUT_HIGHER).max(lower), off_peak }
}

fn quotas(config: &Config) -> QuotaOptions {
    let limit = |amount: u64| {
        let time_unit = pb::TimeUnit::Seconds as i32;
        (amount > 0).then_some(pb::TimedQuota { time_unit, soft_limit: Some(amount), share: None, scope: None })
    };
    let user_override_key = config.get(keys::QUOTA_USER_OVERRIDE_KEY);
    QuotaOptions {
        units: CapacityUnits {
            read_bytes: config.get(keys::QUOTA_READ_UNIT),
            write_bytes: config.get(keys::QUOTA_WRITE_UNIT),
        },
        bounds: Bounds {
            calls_per_user: config.get(keys::QUOTA_PARKED_CALLS) as usize,
            bytes_per_user: config.get(keys::QUOTA_PARKED_BYTES) as usize,
        },
        default_user: pb::Throttle {
            read_num: limit(config.get(keys::QUOTA_DEFAULT_READ_NUM)),
            read_size: limit(config.get(keys::QUOTA_DEFAULT_READ_SIZE)),
            req_num: limit(config.get(keys::QUOTA_DEFAULT_REQUEST_NUM)),
            req_size: limit(config.get(keys::QUOTA_DEFAULT_REQUEST_SIZE)),
            write_num: limit(config.get(keys::QUOTA_DEFAULT_WRITE_NUM)),
            write_size: limit(config.get(keys::QUOTA_DEFAULT_WRITE_SIZE)),
            atomic_req_num: limit(config.get(keys::QUOTA_DEFAULT_ATOMIC_REQUEST_NUM)),
            atomic_read_size: limit(config.get(keys::QUOTA_DEFAULT_ATOMIC_READ_SIZE)),
            atomic_write_size: limit(config.get(keys::QUOTA_DEFAULT_ATOMIC_WRITE_SIZE)),
            req_handler_usage_ms: limit(config.get(keys::QUOTA_DEFAULT_HANDLER_MS)),
            ..pb::Throttle::default()
        },
        user_override_key: (!user_override_key.is_empty()).then_some(user_override_key),
        use_result_size: config.get(keys::QUOTA_USE_RESULT_SIZE),
        superusers: config.get(keys::SUPERUSER),
    }
}

pub fn rpc(config: &Config) -> ServerOptions {
    ServerOptions {
        max_request_bytes: config.get(keys::MAX_REQUEST_SIZE) as usize,
        max_queued_bytes: config.get(keys::CALLQUEUE_MAX_SIZE) as usize,
        min_call_timeout_ms: config.get(keys::MIN_REQUEST_TIMEOUT) as u32,
        timed_methods: info::TIMED_METHODS,
        ..ServerOptions::default()
    }
}

/// Threads for calls that wait: HBase's handlers, all classes together.
pub fn pool(config: &Config) -> PoolOptions {
    let handlers = config.get(keys::HANDLER_COUNT).clamp(4, 1000) as usize;
    let mut options = PoolOptions::new(handlers);
    // Batch work is mostly the processor's; more threads that wait for it only get in each other's way.
    options.batch_threads = options.batch_threads.min(2 * machine::cores());
    let queue = match config.get(keys::CALLQUEUE_MAX_LENGTH) {
        0 => (handlers * 10).max(250),
        n => n as usize,
    };
    for class in &mut options.classes {
        class.max_queued = queue;
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compactions_are_bounded_as_hbases_are_unless_that_is_switched_off() {
        let bounds = |settings: &[(&str, &str)]| compaction_bounds(&Config::of(settings).unwrap());
        let (lower, higher) =
            ("hbase.hstore.compaction.throughput.lower.bound", "hbase.hstore.compaction.throughput.higher.bound");
        let default = CompactionBounds { lower: 50 << 20, higher: 100 << 20, off_peak: u64::MAX };
        assert_eq!(bounds(&[]), default);
        assert_eq!(bounds(&[(lower, "1000")]), CompactionBounds { lower: 1000, ..default });
        assert_eq!(
            bounds(&[(lower, "2000"), (higher, "1000")]),
            CompactionBounds { lower: 2000, higher: 2000, ..default }
        );
        let off_peak = "hbase.hstore.compaction.throughput.offpeak";
        assert_eq!(bounds(&[(off_peak, "7000")]), CompactionBounds { off_peak: 7000, ..default });
        let controller = "org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController";
        let off = [(lower, "1000"), ("hbase.regionserver.throughput.controller", controller)];
        assert_eq!(bounds(&off), CompactionBounds::NONE);
    }
}
