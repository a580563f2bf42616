//! The option table. HBase's keys keep their meaning; Martite's own begin with `martite.`.
//!
//! A row: `NAME: Kind = "key", ["alias"…], "default", reload|start|later, "doc"`. `start`: read once, at start. `later`:
//! known and checked, but nothing reads it yet; a test holds that against the other crates.

use crate::kind::*;
use crate::{Effect, Key, Opt};

macro_rules! effect {
    (start) => {
        Effect::Start
    };
    (reload) => {
        Effect::Reload
    };
    (later) => {
        Effect::Later
    };
}

macro_rules! options {
    ($($section:literal { $($name:ident: $kind:ident = $key:literal, [$($alias:literal),*], $default:literal, $when:ident, $doc:literal;)* })*) => {
        $($(
            #[doc = $doc]
            pub const $name: Key<$kind> = Key::new(&Opt {
                section: $section,
                key: $key,
                aliases: &[$($alias),*],
                kind: <$kind as Kind>::NAME,
                default: $default,
                effect: effect!($when),
                doc: $doc,
                check: |text| <$kind as Kind>::parse(text).map(|_| ()),
            });
        )*)*
        /// Every option, in the order of the page.
        pub const ALL: &[&Opt] = &[$($($name.option,)*)*];
    };
}

options! {
"Places" {
    TMP_DIR: Text = "hbase.tmp.dir", [], "${java.io.tmpdir}/hbase-${user.name}", start, "Serves as ${hbase.tmp.dir} in other values; without hbase.rootdir and --data, data goes to ./data.";
    ROOTDIR: Text = "hbase.rootdir", [], "${hbase.tmp.dir}/hbase", start, "The root directory, as a path or a file: URI; an HBase root directory can be opened.";
    WAL_DIR: Text = "hbase.wal.dir", [], "", start, "Root of the write-ahead logs; empty: the root directory. Any other is refused at start, for its logs would not be replayed.";
    CLUSTER_DISTRIBUTED: Bool = "hbase.cluster.distributed", [], "false", start, "Must be false: master, region server and ZooKeeper endpoint are one process.";
    BULKLOAD_STAGING_DIR: Text = "hbase.bulkload.staging.dir", [], "", later, "Where bulk-loaded files wait; empty: staging below the root directory.";
}
"Names and ports" {
    MASTER_PORT: Port = "hbase.master.port", [], "16000", start, "The master's RPC port; 0 chooses one.";
    MASTER_HOSTNAME: Text = "hbase.master.hostname", [], "", start, "The name that the master gives to clients; empty: the machine's.";
    MASTER_BIND_ADDRESS: Text = "hbase.master.ipc.address", [], "0.0.0.0", start, "Address that the master listens on.";
    MASTER_INFO_PORT: Signed = "hbase.master.info.port", [], "16010", start, "The master's HTTP port; 0 chooses one, -1: none.";
    MASTER_INFO_BIND_ADDRESS: Text = "hbase.master.info.bindAddress", [], "0.0.0.0", start, "Address of the master's HTTP server.";
    REGIONSERVER_PORT: Port = "hbase.regionserver.port", [], "16020", start, "The region server's RPC port; 0 chooses one.";
    REGIONSERVER_HOSTNAME: Text = "hbase.regionserver.hostname", ["hbase.unsafe.regionserver.hostname"], "", start, "The name that the region server gives to clients; empty: the machine's.";
    REGIONSERVER_BIND_ADDRESS: Text = "hbase.regionserver.ipc.address", [], "0.0.0.0", start, "Address that the region server listens on.";
    REGIONSERVER_INFO_PORT: Signed = "hbase.regionserver.info.port", [], "16030", start, "The region server's HTTP port; 0 chooses one, -1: none.";
    REGIONSERVER_INFO_BIND_ADDRESS: Text = "hbase.regionserver.info.bindAddress", [], "0.0.0.0", start, "Address of the region server's HTTP server.";
    REGIONSERVER_INFO_PORT_AUTO: Bool = "hbase.regionserver.info.port.auto", [], "false", later, "Choose another HTTP port if the configured one is taken.";
    USE_IP: Bool = "hbase.server.useip.enabled", [], "false", later, "Give clients an IP address instead of a name.";
    ZOOKEEPER_QUORUM: List = "hbase.zookeeper.quorum", [], "127.0.0.1", later, "Hosts of the ZooKeeper ensemble; standalone serves its own endpoint.";
    ZOOKEEPER_CLIENT_PORT: Port = "hbase.zookeeper.property.clientPort", [], "2181", start, "ZooKeeper's port; 0 chooses one for the embedded endpoint.";
    ZOOKEEPER_CLIENT_ADDRESS: Text = "hbase.zookeeper.property.clientPortAddress", [], "0.0.0.0", start, "Address that the embedded ZooKeeper endpoint listens on.";
    ZNODE_PARENT: Text = "zookeeper.znode.parent", [], "/hbase", start, "The znode below which HBase's znodes are.";
    ZOOKEEPER_SESSION_TIMEOUT: Millis = "zookeeper.session.timeout", [], "90000", later, "Longest session that the ZooKeeper endpoint grants.";
}
"RPC" {
    HANDLER_COUNT: Count = "hbase.regionserver.handler.count", [], "30", start, "Threads for requests that wait, such as for a disk.";
    METAHANDLER_COUNT: Count = "hbase.regionserver.metahandler.count", [], "20", later, "Threads for requests of high priority.";
    REPLICATION_HANDLER_COUNT: Count = "hbase.regionserver.replication.handler.count", [], "3", later, "Threads for replication requests.";
    BULKLOAD_HANDLER_COUNT: Count = "hbase.regionserver.bulkload.handler.count", [], "0", later, "Threads for bulk loads; 0: they share the general ones.";
    CALLQUEUE_HANDLER_FACTOR: Decimal = "hbase.ipc.server.callqueue.handler.factor", [], "0.1", later, "Queues per handler.";
    CALLQUEUE_READ_RATIO: Decimal = "hbase.ipc.server.callqueue.read.ratio", [], "0", later, "Share of the queues for reads; 0: shared.";
    CALLQUEUE_SCAN_RATIO: Decimal = "hbase.ipc.server.callqueue.scan.ratio", [], "0", later, "Share of the read queues for scans; 0: shared.";
    CALLQUEUE_MAX_LENGTH: Count = "hbase.ipc.server.max.callqueue.length", [], "0", reload, "Calls that may wait before CallQueueTooBigException; 0: ten per handler.";
    CALLQUEUE_MAX_SIZE: Size = "hbase.ipc.server.max.callqueue.size", [], "1073741824", reload, "Bytes of calls that may wait before CallQueueTooBigException.";
    MAX_REQUEST_SIZE: Size = "hbase.ipc.max.request.size", [], "268435456", start, "Largest request; larger ones get RequestTooBigException.";
    MIN_REQUEST_TIMEOUT: Millis = "hbase.ipc.min.client.request.timeout", [], "20", start, "Shortest timeout of a client that is honoured.";
    RPC_TIMEOUT: Millis = "hbase.rpc.timeout", [], "60000", later, "Timeout of a call that does not say its own.";
    WARN_RESPONSE_TIME: Signed = "hbase.ipc.warn.response.time", [], "10000", later, "Milliseconds after which a call is logged as slow; -1: never.";
    WARN_RESPONSE_SIZE: Signed = "hbase.ipc.warn.response.size", [], "104857600", later, "Bytes from which a response is logged as large; -1: never.";
    ROWS_WARNING_THRESHOLD: Count = "hbase.rpc.rows.warning.threshold", [], "5000", reload, "Rows in one multi request from which it is logged.";
    ROWS_REJECT: Bool = "hbase.rpc.rows.size.threshold.reject", [], "false", reload, "Refuse multi requests with more rows than that.";
    SLOWLOG_ENABLED: Bool = "hbase.regionserver.slowlog.buffer.enabled", [], "false", later, "Keep slow and large calls for get_slowlog_responses.";
    SLOWLOG_SIZE: Count = "hbase.regionserver.slowlog.ringbuffer.size", [], "256", later, "Slow calls that are kept.";
    RPC_THREADS: Count = "martite.rpc.threads", [], "0", start, "Network threads; 0: one per core.";
    MAX_CONNECTIONS: Count = "martite.rpc.max.connections", [], "20000", later, "Client connections that may be open at once.";
}
"Requests and scanners" {
    SCANNER_TIMEOUT: Millis = "hbase.client.scanner.timeout.period", ["hbase.regionserver.lease.period"], "60000", start, "Lease of an idle scanner, and the time limit of one scan call.";
    SCANNER_MAX_RESULT_SIZE: Size = "hbase.server.scanner.max.result.size", [], "104857600", reload, "Largest answer to one scan call or get, whatever the client asks for.";
    CELLS_PER_HEARTBEAT: Count = "hbase.cells.scanned.per.heartbeat.check", [], "10000", later, "Cells between two looks at a scan's clock.";
    MAX_SCANNERS: Count = "martite.scanners.max", [], "100000", later, "Open scanners per server.";
    MAX_CELL_SIZE: Size = "hbase.server.keyvalue.maxsize", [], "10485760", reload, "Largest cell that is accepted; 0: no limit.";
    MAX_ROW_SIZE: Size = "hbase.table.max.rowsize", [], "1073741824", start, "Largest row that a get or a scan reads before RowTooBigException.";
    ROWLOCK_WAIT: Millis = "hbase.rowlock.wait.duration", [], "30000", later, "Longest wait for a row lock.";
    NONCES_ENABLED: Bool = "hbase.regionserver.nonces.enabled", [], "true", later, "Recognise repeated increments and appends by their nonces.";
    NONCE_GRACE: Millis = "hbase.server.hashNonce.gracePeriod", [], "1800000", start, "How long nonces are remembered.";
    DEFAULT_VERSIONS: Count = "hbase.column.max.version", [], "1", later, "VERSIONS of a family that does not say.";
}
"Memory" {
    MEMORY: Size = "martite.memory", [], "0", start, "Memory for memstores, caches and buffers; 0: half of the machine's.";
    GLOBAL_MEMSTORE_SIZE: Decimal = "hbase.regionserver.global.memstore.size", ["hbase.regionserver.global.memstore.upperLimit"], "0.4", start, "Share of the memory that all memstores may take before writes wait.";
    GLOBAL_MEMSTORE_LOWER_LIMIT: Decimal = "hbase.regionserver.global.memstore.size.lower.limit", [], "0.95", start, "Share of that from which memstores are flushed.";
    BLOCK_CACHE_SIZE: Decimal = "hfile.block.cache.size", [], "0.4", start, "Share of the memory for cached blocks.";
    BUCKETCACHE_IOENGINE: Text = "hbase.bucketcache.ioengine", [], "", start, "Second tier of the cache: offheap (in memory), file:path, files:path,path… or mmap:path (as file:).";
    BUCKETCACHE_PERSISTENT_PATH: Text = "hbase.bucketcache.persistent.path", [], "", start, "File for the index of a second tier in files, by which the next start finds its blocks again, after a crash, too; empty: the tier is empty after a start.";
    BUCKETCACHE_ERRORS_TOLERATED: Millis = "hbase.bucketcache.ioengine.errors.tolerated.duration", [], "60000", start, "Time of nothing but I/O errors after which a second tier in files is switched off.";
    BUCKETCACHE_SIZE: Decimal = "hbase.bucketcache.size", [], "0", start, "Size of the second tier in MiB; in memory, below 1: share of the memory.";
}
"Memstore and flush" {
    MEMSTORE_FLUSH_SIZE: Size = "hbase.hregion.memstore.flush.size", [], "134217728", reload, "Memstore size at which a region is flushed.";
    MEMSTORE_BLOCK_MULTIPLIER: Count = "hbase.hregion.memstore.block.multiplier", [], "4", reload, "Times the flush size at which a region refuses writes (RegionTooBusyException).";
    FLUSH_INTERVAL: Millis = "hbase.regionserver.optionalcacheflushinterval", [], "3600000", reload, "Age of an edit at which its region is flushed; 0: never.";
    FLUSH_PER_CHANGES: Count = "hbase.regionserver.flush.per.changes", [], "30000000", later, "Changes after which a region is flushed.";
    PRECLOSE_FLUSH_SIZE: Size = "hbase.hregion.preclose.flush.size", [], "5242880", later, "Memstore size from which a region is flushed before it closes.";
    FLUSH_LOWER_BOUND_MIN: Size = "hbase.hregion.percolumnfamilyflush.size.lower.bound.min", [], "16777216", reload, "Families smaller than this may stay in memory when others are flushed.";
    FLUSHER_COUNT: Count = "hbase.hstore.flusher.count", [], "2", later, "Threads that flush.";
    BLOCKING_STORE_FILES: Count = "hbase.hstore.blockingStoreFiles", [], "16", reload, "Files of a store from which its flushes wait for compaction.";
    BLOCKING_WAIT_TIME: Millis = "hbase.hstore.blockingWaitTime", [], "90000", start, "Longest such wait. When the memory of all memstores is short, flushes do not wait.";
    COMPACTING_MEMSTORE: Text = "hbase.hregion.compacting.memstore.type", [], "NONE", later, "Accepted for compatibility; memstores do not compact in memory.";
}
"Compaction" {
    COMPACTION_ENABLED: Bool = "hbase.regionserver.compaction.enabled", [], "true", start, "Whether files are compacted at all; compaction_switch changes it.";
    MAJOR_COMPACTION_PERIOD: Millis = "hbase.hregion.majorcompaction", [], "604800000", reload, "Time between major compactions of a region; 0: only on request.";
    MAJOR_COMPACTION_JITTER: Decimal = "hbase.hregion.majorcompaction.jitter", [], "0.50", reload, "Share of that by which regions differ.";
    COMPACTION_MIN: Count = "hbase.hstore.compaction.min", ["hbase.hstore.compactionThreshold"], "3", reload, "Files from which a minor compaction starts.";
    COMPACTION_MAX: Count = "hbase.hstore.compaction.max", [], "10", reload, "Most files of one minor compaction.";
    COMPACTION_MIN_SIZE: Size = "hbase.hstore.compaction.min.size", [], "134217728", reload, "Files smaller than this are always eligible.";
    COMPACTION_MAX_SIZE: Size = "hbase.hstore.compaction.max.size", [], "9223372036854775807", reload, "Files larger than this are left out of minor compactions.";
    COMPACTION_MAX_SIZE_OFFPEAK: Size = "hbase.hstore.compaction.max.size.offpeak", [], "0", start, "The same during off-peak hours; 0: as at other times.";
    COMPACTION_RATIO: Decimal = "hbase.hstore.compaction.ratio", [], "1.2", reload, "A file is eligible up to this multiple of the others' sum.";
    COMPACTION_RATIO_OFFPEAK: Decimal = "hbase.hstore.compaction.ratio.offpeak", [], "5.0", reload, "The same during off-peak hours.";
    OFFPEAK_START: Signed = "hbase.offpeak.start.hour", [], "-1", start, "First off-peak hour, 0 to 23, in local time; -1: none. One compaction at a time takes advantage.";
    OFFPEAK_END: Signed = "hbase.offpeak.end.hour", [], "-1", start, "Hour at which off-peak ends, be it on the next day; -1: none.";
    COMPACTION_POLICY: Text = "hbase.hstore.defaultengine.compactionpolicy.class", [], "org.apache.hadoop.hbase.regionserver.compactions.ExploringCompactionPolicy", start, "How files are chosen: ExploringCompactionPolicy, RatioBasedCompactionPolicy or FIFOCompactionPolicy.";
    STORE_ENGINE: Text = "hbase.hstore.engine.class", [], "org.apache.hadoop.hbase.regionserver.DefaultStoreEngine", later, "How a store arranges its files.";
    THROUGHPUT_LOWER: Size = "hbase.hstore.compaction.throughput.lower.bound", [], "52428800", start, "Bytes per second that compactions write while no store has too many files.";
    THROUGHPUT_HIGHER: Size = "hbase.hstore.compaction.throughput.higher.bound", [], "104857600", start, "Bytes per second that they write when a store is near the number of files at which its flushes wait; there, there is no limit.";
    THROUGHPUT_OFFPEAK: Size = "hbase.hstore.compaction.throughput.offpeak", [], "9223372036854775807", start, "Bytes per second that they write during off-peak hours, however many files there are; the default is no limit.";
    THROUGHPUT_CONTROLLER: Text = "hbase.regionserver.throughput.controller", [], "org.apache.hadoop.hbase.regionserver.throttle.PressureAwareCompactionThroughputController", start, "Whether these bounds hold; NoLimitThroughputController: compactions run at full speed.";
    COMPACTION_THREADS_LARGE: Count = "hbase.regionserver.thread.compaction.large", [], "1", reload, "Threads for large compactions.";
    COMPACTION_THREADS_SMALL: Count = "hbase.regionserver.thread.compaction.small", [], "1", reload, "Threads for small compactions.";
    COMPACTION_THROTTLE: Size = "hbase.regionserver.thread.compaction.throttle", [], "2684354560", later, "Bytes from which a compaction counts as large.";
    PURGE_DELETES_DELAY: Millis = "hbase.hstore.time.to.purge.deletes", [], "0", later, "Age that delete markers must have before a major compaction drops them.";
    COMPACTION_CHECK_PERIOD: Millis = "hbase.server.thread.wakefrequency", [], "10000", start, "Time between looks at what needs a flush or a compaction.";
    COMPACTION_CHECK_MULTIPLIER: Count = "hbase.server.compactchecker.interval.multiplier", [], "1000", start, "Every so many looks, stores are compacted that no flush has caused to be: many files, or a major compaction that is due.";
}
"Store files" {
    FILE_FORMAT_VERSION: Count = "hfile.format.version", [], "3", later, "Only 3 is written.";
    INDEX_BLOCK_SIZE: Size = "hfile.index.block.max.size", [], "131072", start, "Largest index block.";
    BLOOM_BLOCK_SIZE: Size = "io.storefile.bloom.block.size", [], "131072", start, "Size of a block of a bloom filter.";
    BLOOM_ERROR_RATE: Decimal = "io.storefile.bloom.error.rate", [], "0.01", later, "Share of wrong positives of a bloom filter.";
    BLOOM_ENABLED: Bool = "io.storefile.bloom.enabled", [], "true", later, "Whether bloom filters are written and used.";
    CACHE_BLOCKS_ON_WRITE: Bool = "hbase.rs.cacheblocksonwrite", [], "false", start, "Cache data blocks as they are written.";
    CACHE_FLUSHED: Bool = "martite.cache.flushed", [], "true", start, "Put the blocks of a flush into the block cache if the region is read, too, up to half of what is free there. The page cache does not have them: store files are written past it.";
    CACHE_INDEX_ON_WRITE: Bool = "hfile.block.index.cacheonwrite", [], "false", later, "Cache index blocks as they are written.";
    CACHE_BLOOM_ON_WRITE: Bool = "hfile.block.bloom.cacheonwrite", [], "false", later, "Cache bloom blocks as they are written.";
    PREFETCH_ON_OPEN: Bool = "hbase.rs.prefetchblocksonopen", [], "false", start, "Read every block of a file into the cache when it is opened.";
    CHECKSUM_ALGORITHM: Text = "hbase.hstore.checksum.algorithm", [], "CRC32C", later, "Checksum of blocks: CRC32C, CRC32 or NULL.";
    BYTES_PER_CHECKSUM: Size = "hbase.hstore.bytes.per.checksum", [], "16384", later, "Bytes that one checksum covers.";
    CHECKSUM_VERIFY: Bool = "hbase.regionserver.checksum.verify", [], "true", later, "Verify blocks when they are read.";
    FILE_TRACKER: Text = "hbase.store.file-tracker.impl", [], "DEFAULT", start, "How a store knows its files; new tables get it as an attribute.";
}
"Write-ahead log" {
    WAL_HSYNC: Bool = "hbase.wal.hsync", [], "true", start, "Force each acknowledged write to the disk. HBase's default is false, because its replicas hold a copy; standalone has none.";
    LOG_ROLL_PERIOD: Millis = "hbase.regionserver.logroll.period", [], "3600000", start, "Age at which a log file with entries is followed by a new one; 0: any.";
    LOG_ROLL_MULTIPLIER: Decimal = "hbase.regionserver.logroll.multiplier", [], "0.5", start, "Share of the block size at which a log file is closed.";
    LOG_BLOCK_SIZE: Size = "hbase.regionserver.hlog.blocksize", [], "268435456", start, "Block size of log files.";
    MAX_LOGS: Count = "hbase.regionserver.maxlogs", [], "0", start, "Log files from which regions are flushed to free them; 0: by memstore size, at least 32.";
    WAL_COMPRESSION: Bool = "hbase.regionserver.wal.enablecompression", [], "false", later, "Accepted for compatibility; logs are written uncompressed.";
    WAL_PROVIDER: Text = "hbase.wal.provider", [], "asyncfs", later, "Accepted for compatibility; there is one log per server.";
}
"Splits" {
    MAX_FILE_SIZE: Size = "hbase.hregion.max.filesize", [], "10737418240", reload, "Store size at which a region splits.";
    SPLIT_OVERALL_FILES: Bool = "hbase.hregion.split.overallfiles", [], "false", later, "Count all stores of a region together for that.";
    SPLIT_POLICY: Text = "hbase.regionserver.region.split.policy", [], "org.apache.hadoop.hbase.regionserver.SteppingSplitPolicy", start, "When a region splits, unless its table says.";
    REGION_SPLIT_LIMIT: Count = "hbase.regionserver.regionSplitLimit", [], "1000", reload, "Regions of a server from which none is split by itself.";
    INCREASING_INITIAL_SIZE: Size = "hbase.increasing.policy.initial.size", [], "0", later, "First split size of IncreasingToUpperBoundRegionSplitPolicy; 0: twice the flush size.";
}
"Master" {
    SANITY_CHECKS: Bool = "hbase.table.sanity.checks", [], "true", reload, "Refuse descriptors that make no sense.";
    CHECK_COMPRESSION: Bool = "hbase.master.check.compression", [], "true", start, "Refuse families with a compression that is not built in.";
    CHECK_ENCRYPTION: Bool = "hbase.master.check.encryption", [], "true", start, "Refuse families with encryption, which is not supported.";
    MIN_MAX_FILE_SIZE: Size = "hbase.hregion.max.filesize.limit", [], "2097152", start, "Smallest MAX_FILESIZE that a table may have.";
    MIN_FLUSH_SIZE: Size = "hbase.hregion.memstore.flush.size.limit", [], "1048576", start, "Smallest MEMSTORE_FLUSHSIZE that a table may have.";
    MSG_INTERVAL: Millis = "hbase.regionserver.msginterval", [], "3000", later, "Time between a region server's reports.";
    BALANCER_PERIOD: Millis = "hbase.balancer.period", [], "300000", later, "Time between runs of the balancer.";
    NORMALIZER_PERIOD: Millis = "hbase.normalizer.period", [], "300000", start, "Time between runs of the normalizer.";
    NORMALIZATION_ENABLED: Bool = "hbase.table.normalization.enabled", [], "false", start, "Whether tables that do not say are normalized.";
    NORMALIZER_SPLIT: Bool = "hbase.normalizer.split.enabled", [], "true", reload, "Whether the normalizer splits regions of more than twice the average size.";
    NORMALIZER_MERGE: Bool = "hbase.normalizer.merge.enabled", [], "true", reload, "Whether the normalizer merges small neighbours.";
    NORMALIZER_MIN_COUNT: Count = "hbase.normalizer.merge.min.region.count", ["hbase.normalizer.min.region.count"], "3", reload, "Regions that a table must have for the normalizer to merge any.";
    NORMALIZER_MIN_AGE_DAYS: Count = "hbase.normalizer.merge.min_region_age.days", [], "3", reload, "Age that a region must have for the normalizer to merge it.";
    NORMALIZER_MIN_SIZE_MB: Count = "hbase.normalizer.merge.min_region_size.mb", [], "1", reload, "Size that a region must have for the normalizer to merge it.";
    NORMALIZER_MERGE_MAX: Count = "hbase.normalizer.merge.merge_request_max_number_of_regions", [], "100", reload, "Regions that the normalizer merges into one at most.";
    CATALOG_JANITOR_PERIOD: Millis = "hbase.catalogjanitor.interval", [], "300000", start, "Time between looks for regions whose daughters need them no more.";
    CLEANER_PERIOD: Millis = "hbase.master.cleaner.interval", [], "600000", reload, "Time between looks at archived logs and files.";
    LOG_TTL: Millis = "hbase.master.logcleaner.ttl", [], "600000", reload, "How long archived logs are kept.";
    HFILE_TTL: Millis = "hbase.master.hfilecleaner.ttl", [], "300000", reload, "How long archived store files are kept.";
    PROCEDURE_KEEP: Millis = "hbase.procedure.cleaner.evict.ttl", [], "900000", reload, "How long the result of a finished procedure is kept for a client that does not ask.";
    PROCEDURE_KEEP_ACKED: Millis = "hbase.procedure.cleaner.acked.evict.ttl", [], "300000", reload, "The same once a client asked.";
    PROCEDURE_THREADS: Count = "hbase.master.procedure.threads", [], "4", start, "Procedures that run at once.";
    SNAPSHOT_ENABLED: Bool = "hbase.snapshot.enabled", [], "true", start, "Whether snapshots may be taken.";
    SNAPSHOT_TTL: Count = "hbase.master.snapshot.ttl", [], "0", reload, "Seconds that a snapshot lives unless it says; 0: forever.";
    SNAPSHOT_TIMEOUT: Millis = "hbase.snapshot.master.timeout.millis", [], "300000", start, "How long clients are told to wait for a snapshot at most.";
    SNAPSHOT_CLEANER_PERIOD: Millis = "hbase.master.cleaner.snapshot.interval", [], "1800000", start, "Time between looks for expired snapshots.";
}
"Quotas" {
    QUOTA_ENABLED: Bool = "hbase.quota.enabled", [], "true", start, "Whether quotas can be set and are kept. HBase's default is false; here they cost nothing until one is set.";
    QUOTA_REFRESH_PERIOD: Millis = "hbase.quota.refresh.period", [], "43200000", start, "Time between reads of all quotas; changes are pushed at once.";
    QUOTA_RATE_LIMITER: Text = "hbase.quota.rate.limiter", [], "", later, "Accepted for compatibility; limits are exact and delay calls.";
    QUOTA_REMOVE_WITH_TABLE: Bool = "hbase.quota.remove.on.table.delete", [], "true", start, "Remove a table's quotas with the table.";
    QUOTA_READ_UNIT: Size = "hbase.quota.read.capacity.unit", [], "1024", start, "Bytes of one read capacity unit.";
    QUOTA_WRITE_UNIT: Size = "hbase.quota.write.capacity.unit", [], "1024", start, "Bytes of one write capacity unit.";
    QUOTA_USE_RESULT_SIZE: Bool = "hbase.quota.use.result.size.bytes", [], "false", start, "Reads count with the size of their answers even where a filter left rows out.";
    QUOTA_PARKED_CALLS: Count = "martite.quota.parked.calls", [], "5000", start, "Calls of a user that may wait for its limits; more are answered with RpcThrottlingException.";
    QUOTA_PARKED_BYTES: Size = "martite.quota.parked.bytes", [], "67108864", start, "Bytes of a user's calls that may wait for its limits.";
    QUOTA_DEFAULT_READ_NUM: Count = "hbase.quota.default.user.machine.read.num", [], "0", start, "Read requests per second of a user for whom nothing is set; 0: no limit.";
    QUOTA_DEFAULT_READ_SIZE: Size = "hbase.quota.default.user.machine.read.size", [], "0", start, "The same in bytes.";
    QUOTA_DEFAULT_REQUEST_NUM: Count = "hbase.quota.default.user.machine.request.num", [], "0", start, "Requests per second of a user for whom nothing is set; 0: no limit.";
    QUOTA_DEFAULT_REQUEST_SIZE: Size = "hbase.quota.default.user.machine.request.size", [], "0", start, "The same in bytes.";
    QUOTA_DEFAULT_WRITE_NUM: Count = "hbase.quota.default.user.machine.write.num", [], "0", start, "Write requests per second of a user for whom nothing is set; 0: no limit.";
    QUOTA_DEFAULT_WRITE_SIZE: Size = "hbase.quota.default.user.machine.write.size", [], "0", start, "The same in bytes.";
    QUOTA_DEFAULT_ATOMIC_REQUEST_NUM: Count = "hbase.quota.default.user.machine.atomic.request.num", [], "0", start, "Increments, Appends and conditional requests per second of such a user; 0: no limit.";
    QUOTA_DEFAULT_ATOMIC_READ_SIZE: Size = "hbase.quota.default.user.machine.atomic.read.size", [], "0", start, "Bytes per second that these read.";
    QUOTA_DEFAULT_ATOMIC_WRITE_SIZE: Size = "hbase.quota.default.user.machine.atomic.write.size", [], "0", start, "Bytes per second that these write.";
    QUOTA_DEFAULT_HANDLER_MS: Count = "hbase.quota.default.user.machine.request.handler.usage.ms", [], "0", start, "Milliseconds of handler time per second of such a user; 0: no limit.";
    SPACE_OBSERVER_PERIOD: Millis = "hbase.master.quotas.observer.chore.period", [], "60000", start, "Time between looks at what tables with a space quota hold.";
    SPACE_OBSERVER_DELAY: Millis = "hbase.master.quotas.observer.chore.delay", [], "15000", start, "Time from the start to the first such look.";
    SNAPSHOT_SIZES_PERIOD: Millis = "hbase.master.quotas.snapshot.chore.period", [], "300000", start, "Time between looks at what snapshots of tables with a space quota hold.";
    SPACE_REPORT_PERCENT: Decimal = "hbase.master.quotas.observer.report.percent", [], "0.95", later, "Accepted for compatibility; every region is measured each time.";
    SPACE_REPORT_RETENTION: Millis = "hbase.master.quotas.region.report.retention.millis", [], "600000", later, "Accepted for compatibility; every region is measured each time.";
    SPACE_UTILIZATION_PERIOD: Millis = "hbase.regionserver.quotas.fs.utilization.chore.period", [], "300000", later, "Accepted for compatibility; the master measures.";
    SPACE_REPORT_PERIOD: Millis = "hbase.regionserver.quotas.region.size.reporting.chore.period", [], "60000", later, "Accepted for compatibility; the master measures.";
    SPACE_REFRESH_PERIOD: Millis = "hbase.regionserver.quotas.policy.refresher.chore.period", [], "60000", later, "Accepted for compatibility; what the master finds is in force at once.";
    QUOTA_USER_OVERRIDE_KEY: Text = "hbase.quota.user.override.key", [], "", start, "Request attribute that names the user whose quota counts.";
}
"Security" {
    AUTHENTICATION: Text = "hbase.security.authentication", [], "simple", start, "Must be simple: nothing else is supported.";
    AUTHORIZATION: Bool = "hbase.security.authorization", [], "false", start, "Must be false: access control is not supported.";
    SUPERUSER: List = "hbase.superuser", [], "", start, "Users who may ask for compactions of tables under NO_WRITES_COMPACTIONS; nothing else is denied to anybody. Groups (`@name`) are not known.";
    RPC_PROTECTION: Text = "hbase.rpc.protection", [], "authentication", start, "Must be authentication: there is no SASL and thus no protection.";
}
"Coprocessors" {
    COPROCESSOR_ENABLED: Bool = "hbase.coprocessor.enabled", [], "true", later, "Whether coprocessors of the configuration are used.";
    COPROCESSOR_USER_ENABLED: Bool = "hbase.coprocessor.user.enabled", [], "true", later, "Whether coprocessors of tables are used.";
    COPROCESSOR_REGION: List = "hbase.coprocessor.region.classes", [], "", start, "Classes for every region; only those that are built in.";
    COPROCESSOR_USER_REGION: List = "hbase.coprocessor.user.region.classes", [], "", start, "Classes for regions of user tables; only those that are built in.";
    COPROCESSOR_MASTER: List = "hbase.coprocessor.master.classes", [], "", start, "Classes for the master; only those that are built in.";
    COPROCESSOR_REGIONSERVER: List = "hbase.coprocessor.regionserver.classes", [], "", start, "Classes for the region server; only those that are built in.";
}
}
