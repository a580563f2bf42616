//! Regions and tables: what they hold, what they were asked, how long that took.

use martite_metrics::Histogram;
use martite_region::{Load, Region, TableTimes};
use martite_regionserver::RegionServer;
use martite_web::{Kind, Record};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

/// Figures of one region, of a table or of all regions.
#[derive(Default)]
struct Sum {
    stores: u64,
    files: u64,
    memstore_bytes: u64,
    file_bytes: u64,
    reads: u64,
    filtered_reads: u64,
    writes: u64,
}

impl Sum {
    fn add(&mut self, load: &Load) {
        self.stores += load.stores;
        self.files += load.files;
        self.memstore_bytes += load.memstore_data_bytes;
        self.file_bytes += load.file_size_bytes;
        self.reads += load.read_requests;
        self.filtered_reads += load.filtered_read_requests;
        self.writes += load.write_requests;
    }

    fn figures(&self) -> [(Kind, &'static str, u64); 7] {
        [
            (Kind::Gauge, "storeCount", self.stores),
            (Kind::Gauge, "storeFileCount", self.files),
            (Kind::Gauge, "memStoreSize", self.memstore_bytes),
            (Kind::Gauge, "storeFileSize", self.file_bytes),
            (Kind::Counter, "readRequestCount", self.reads),
            (Kind::Counter, "filteredReadRequestCount", self.filtered_reads),
            (Kind::Counter, "writeRequestCount", self.writes),
        ]
    }
}

pub fn server(server: &mut Record, regions: &RegionServer) {
    let all = regions.online.all();
    let (mut sum, mut root_index, mut index, mut bloom, mut heap) = (Sum::default(), 0, 0, 0, 0);
    let (mut passed, mut failed, mut blocked, mut flushed, mut compacted) = (0, 0, 0, 0, 0);
    for region in &all {
        let load = region.load();
        sum.add(&load);
        root_index += load.root_index_bytes;
        index += load.total_index_bytes;
        bloom += load.bloom_bytes;
        heap += load.memstore_heap_bytes;
        passed += region.counters.check_and_mutate_passed.load(Relaxed);
        failed += region.counters.check_and_mutate_failed.load(Relaxed);
        blocked += region.counters.blocked_requests.load(Relaxed);
        for (_, store) in region.stores() {
            let counters = store.counters();
            flushed += counters.flushed_bytes;
            compacted += counters.compacted_bytes;
        }
    }
    server.gauge("regionCount", all.len() as u64);
    server.gauge("averageRegionSize", sum.file_bytes.checked_div(all.len() as u64).unwrap_or(0));
    sum.figures().into_iter().for_each(|(kind, name, value)| server.push(kind, name, "", &[], value as f64));
    server.gauge("memStoreHeapSize", heap);
    server.gauge("storeFileIndexSize", root_index);
    server.gauge("staticIndexSize", index);
    server.gauge("staticBloomSize", bloom);
    server.counter("checkMutatePassedCount", passed);
    server.counter("checkMutateFailedCount", failed);
    server.counter("blockedRequestCount", blocked);
    server.counter("flushedOutputBytes", flushed);
    server.counter("compactedOutputBytes", compacted);
    server.gauge("flushQueueLength", regions.background.flushes_waiting() as u64);
    server.gauge("compactionQueueLength", regions.background.compactions_waiting() as u64);
    server.gauge("regionServerStartTime", regions.name.start_code.unsigned_abs());
    // All files are on this machine.
    server.gauge("percentFilesLocal", 100);
    let stats = &regions.stats;
    server.counter("totalRequestCount", stats.requests());
    server.counter("rpcGetRequestCount", stats.get.get());
    server.counter("rpcScanRequestCount", stats.scan.get());
    server.counter("rpcMultiRequestCount", stats.multi.get());
    server.counter("rpcMutateRequestCount", stats.mutate.get());
}

/// The log.
pub fn log(server: &mut Record, wal: &mut Record, regions: &RegionServer) {
    let stats = regions.ctx.wal.stats();
    server.gauge("hlogFileCount", stats.files as u64);
    server.gauge("hlogFileSize", stats.size_bytes);
    wal.counter("appendCount", stats.appends);
    wal.counter("writtenBytes", stats.appended_bytes);
    wal.counter("rollRequest", stats.rolls);
    wal.counter("syncCount", stats.syncs);
}

pub fn tables(tables: &mut Record, regions: &RegionServer) {
    let mut sums: BTreeMap<_, Sum> = BTreeMap::new();
    for region in regions.online.all() {
        sums.entry(region.info().table().clone()).or_default().add(&region.load());
    }
    tables.gauge("numTables", sums.len() as u64);
    for (name, sum) in sums {
        let (namespace, table) = (name.namespace(), name.qualifier());
        let labels = [("namespace", namespace), ("table", table)];
        for (kind, metric, value) in sum.figures() {
            let attribute = format!("Namespace_{namespace}_table_{table}_metric_{metric}");
            tables.push(kind, &attribute, &series("tables", metric), &labels, value as f64);
        }
    }
}

pub fn regions(record: &mut Record, regions: &RegionServer) {
    for region in regions.online.all() {
        put_region(record, &region);
    }
}

fn put_region(record: &mut Record, region: &Region) {
    let mut sum = Sum::default();
    sum.add(&region.load());
    let info = region.info();
    let (namespace, table, encoded) = (info.table().namespace(), info.table().qualifier(), info.encoded_name());
    let labels = [("namespace", namespace), ("table", table), ("region", encoded)];
    for (kind, metric, value) in sum.figures() {
        let attribute = format!("Namespace_{namespace}_table_{table}_region_{encoded}_metric_{metric}");
        record.push(kind, &attribute, &series("regions", metric), &labels, value as f64);
    }
}

/// The times of a table's calls by method.
pub fn by_method(times: &TableTimes) -> [(&'static str, &Histogram); 4] {
    [("Get", &times.get), ("Multi", &times.multi), ("Scan", &times.scan), ("Mutate", &times.mutate)]
}

pub fn latencies(record: &mut Record, regions: &RegionServer) {
    for (name, times) in regions.online.tables.all() {
        let (namespace, table) = name.split_once(':').unwrap_or(("default", &name));
        for (method, times) in by_method(&times) {
            let method = &*method.to_lowercase();
            let base = format!("Namespace_{namespace}_table_{table}_metric_{method}Time");
            let labels = [("namespace", namespace), ("table", table), ("method", method)];
            record.labelled_times(&base, "table_call_time", &labels, &times.snapshot());
        }
    }
}

/// `storeFileSize` of `tables`: `tables_store_file_size`.
fn series(record: &str, metric: &str) -> String {
    let mut out = format!("{record}_");
    for c in metric.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
