//! The block cache: size, look-ups by kind of block, what tables and families have in it.

use martite_blockcache::{Kind as BlockKind, Usage};
use martite_catalog::TableName;
use martite_regionserver::RegionServer;
use martite_web::{Kind, Record};
use std::collections::{BTreeMap, HashMap};

/// A kind of block in HBase's attributes, and as a label. Index blocks of all levels are one kind here.
pub fn names(kind: BlockKind) -> (&'static str, &'static str) {
    match kind {
        BlockKind::Data => ("Data", "data"),
        BlockKind::Index => ("Index", "index"),
        BlockKind::Bloom => ("BloomChunk", "bloom"),
        BlockKind::Meta => ("Meta", "meta"),
    }
}

pub fn put(server: &mut Record, regions: &RegionServer) {
    let cache = regions.ctx.stores.files.cache();
    let (stats, used) = (cache.stats(), cache.usage_bytes());
    server.gauge("blockCacheFreeSize", cache.capacity_bytes().saturating_sub(used));
    server.gauge("blockCacheSize", used);
    server.gauge("blockCacheCount", cache.len() as u64);
    server.counter("blockCacheHitCount", stats.hits);
    server.counter("blockCacheMissCount", stats.misses);
    server.counter("blockCacheEvictionCount", stats.evictions);
    server.percent("blockCacheCountHitPercent", stats.hits, stats.hits + stats.misses);
    for (kind, of_kind) in BlockKind::ALL.into_iter().zip(stats.by_kind) {
        let (attribute, label) = names(kind);
        server.counter(&format!("blockCache{attribute}HitCount"), of_kind.hits);
        server.counter(&format!("blockCache{attribute}MissCount"), of_kind.misses);
        let labels = [("kind", label)];
        server.push(Kind::Counter, "", "block_cache_hits", &labels, of_kind.hits as f64);
        server.push(Kind::Counter, "", "block_cache_misses", &labels, of_kind.misses as f64);
    }
    if let Some(tier) = cache.tier() {
        let stats = tier.stats();
        server.counter("l2CacheHitCount", stats.hits);
        server.counter("l2CacheMissCount", stats.misses);
        server.counter("l2CacheEvictionCount", stats.evictions);
        server.gauge("l2CacheCount", stats.blocks);
        server.gauge("l2CacheSize", stats.used_bytes);
        server.gauge("l2CacheFreeSize", stats.capacity_bytes.saturating_sub(stats.used_bytes));
    }
}

/// What is in the cache by table and family. What two daughters share of their parent's files is counted once.
pub fn by_owner(regions: &RegionServer) -> BTreeMap<(TableName, String), Usage> {
    let mut owners = HashMap::new();
    for region in regions.online.all() {
        for (_, store) in region.stores() {
            for file in store.files().iter() {
                let owner = (region.info().table().clone(), store.family_name().to_owned());
                owners.insert(file.open_file().id(), owner);
            }
        }
    }
    let mut used = BTreeMap::<_, Usage>::new();
    for (file, of_file) in regions.ctx.stores.files.cache().usage_by_file() {
        if let Some(owner) = owners.get(&file) {
            add(used.entry(owner.clone()).or_default(), &of_file);
        }
    }
    used
}

/// What is in the cache, by kind.
pub fn by_kind(regions: &RegionServer) -> Usage {
    let mut all = Usage::default();
    regions.ctx.stores.files.cache().usage_by_file().iter().for_each(|(_, of_file)| add(&mut all, of_file));
    all
}

fn add(sum: &mut Usage, more: &Usage) {
    for (sum, more) in sum.iter_mut().zip(more) {
        sum.blocks += more.blocks;
        sum.bytes += more.bytes;
    }
}

/// The same as figures.
pub fn put_tables(tables: &mut Record, regions: &RegionServer) {
    for ((table, family), usage) in by_owner(regions) {
        let (namespace, table, family) = (table.namespace(), table.qualifier(), family.as_str());
        let attribute = format!("Namespace_{namespace}_table_{table}_family_{family}_metric_blockCacheSize");
        let labels = [("namespace", namespace), ("table", table), ("family", family)];
        let bytes: u64 = usage.iter().map(|used| used.bytes).sum();
        tables.push(Kind::Gauge, &attribute, "block_cache_usage_bytes", &labels, bytes as f64);
        for (kind, used) in BlockKind::ALL.into_iter().zip(usage) {
            let labels = [("namespace", namespace), ("table", table), ("family", family), ("kind", names(kind).1)];
            tables.push(Kind::Gauge, "", "block_cache_usage_bytes_by_kind", &labels, used.bytes as f64);
        }
    }
}
