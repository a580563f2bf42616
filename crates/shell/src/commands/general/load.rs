//! Servers' and regions' figures as HBase prints them: `requestsPerSecond=0.0, numberOfOnlineRegions=3, …`.

use crate::language::Value;
use martite_proto as pb;

fn line(pairs: &[(&str, String)]) -> String {
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

fn decimal(number: f64) -> String {
    Value::Float(number).inspect()
}

fn progress(compacted: u64, compacting: u64) -> String {
    if compacting == 0 { "NaN".to_owned() } else { decimal(f64::from(compacted as f32 / compacting as f32)) }
}

fn ratio(pairs: &mut Vec<(&str, String)>, size: u64, plain: u64) {
    if plain != 0 {
        pairs.push(("compressionRatio", format!("{:.4}", size as f32 / plain as f32)));
    }
}

/// A server.
pub fn of_server(load: &pb::ServerLoad) -> String {
    let sum = |field: &dyn Fn(&pb::RegionLoad) -> u64| load.region_loads.iter().map(field).sum::<u64>();
    let plain_mb = sum(&|r| u64::from(r.store_uncompressed_size_mb()));
    let size_mb = sum(&|r| u64::from(r.storefile_size_mb()));
    let (compacting, compacted) = (sum(&|r| r.total_compacting_k_vs()), sum(&|r| r.current_compacted_k_vs()));
    let mut pairs = vec![
        ("requestsPerSecond", decimal(load.number_of_requests() as f64)),
        ("numberOfOnlineRegions", load.region_loads.len().to_string()),
        ("usedHeapMB", load.used_heap_mb().to_string()),
        ("maxHeapMB", load.max_heap_mb().to_string()),
        ("numberOfStores", sum(&|r| u64::from(r.stores())).to_string()),
        ("numberOfStorefiles", sum(&|r| u64::from(r.storefiles())).to_string()),
        ("storefileUncompressedSizeMB", plain_mb.to_string()),
        ("storefileSizeMB", size_mb.to_string()),
    ];
    ratio(&mut pairs, size_mb, plain_mb);
    pairs.extend([
        ("memstoreSizeMB", sum(&|r| u64::from(r.mem_store_size_mb())).to_string()),
        ("storefileIndexSizeKB", sum(&|r| r.storefile_index_size_kb()).to_string()),
        ("readRequestsCount", sum(&|r| r.read_requests_count()).to_string()),
        ("filteredReadRequestsCount", sum(&|r| r.filtered_read_requests_count()).to_string()),
        ("writeRequestsCount", sum(&|r| r.write_requests_count()).to_string()),
        ("rootIndexSizeKB", sum(&|r| u64::from(r.root_index_size_kb())).to_string()),
        ("totalStaticIndexSizeKB", sum(&|r| u64::from(r.total_static_index_size_kb())).to_string()),
        ("totalStaticBloomSizeKB", sum(&|r| u64::from(r.total_static_bloom_size_kb())).to_string()),
        ("totalCompactingKVs", compacting.to_string()),
        ("currentCompactedKVs", compacted.to_string()),
        ("compactionProgressPct", progress(compacted, compacting)),
    ]);
    let coprocessors: Vec<&str> = load.coprocessors.iter().map(|c| c.name.as_str()).collect();
    pairs.push(("coprocessors", format!("[{}]", coprocessors.join(", "))));
    line(&pairs)
}

/// A region.
pub fn of_region(load: &pb::RegionLoad) -> String {
    let (size_mb, plain_mb) = (u64::from(load.storefile_size_mb()), u64::from(load.store_uncompressed_size_mb()));
    let (compacting, compacted) = (load.total_compacting_k_vs(), load.current_compacted_k_vs());
    let mut pairs = vec![
        ("numberOfStores", load.stores().to_string()),
        ("numberOfStorefiles", load.storefiles().to_string()),
        ("storeRefCount", load.store_ref_count().to_string()),
        ("storefileUncompressedSizeMB", plain_mb.to_string()),
        ("lastMajorCompactionTimestamp", load.last_major_compaction_ts().to_string()),
        ("storefileSizeMB", size_mb.to_string()),
    ];
    ratio(&mut pairs, size_mb, plain_mb);
    pairs.extend([
        ("memstoreSizeMB", load.mem_store_size_mb().to_string()),
        ("readRequestsCount", load.read_requests_count().to_string()),
        ("writeRequestsCount", load.write_requests_count().to_string()),
        ("rootIndexSizeKB", load.root_index_size_kb().to_string()),
        ("totalStaticIndexSizeKB", load.total_static_index_size_kb().to_string()),
        ("totalStaticBloomSizeKB", load.total_static_bloom_size_kb().to_string()),
        ("totalCompactingKVs", compacting.to_string()),
        ("currentCompactedKVs", compacted.to_string()),
        ("compactionProgressPct", progress(compacted, compacting)),
        ("completeSequenceId", (load.complete_sequence_id() as i64).to_string()),
        ("dataLocality", decimal(f64::from(load.data_locality()))),
    ]);
    line(&pairs)
}
