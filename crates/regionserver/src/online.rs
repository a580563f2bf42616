//! The regions that this server serves, found by name without a lock.

use crate::error::Fault;
use arc_swap::ArcSwap;
use martite_catalog::{RegionInfo, ServerName, TableName};
use martite_metrics::Named as NamedTimes;
use martite_proto as pb;
use martite_region::{Region, TableTimes};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

type Map<K, V = Arc<Region>> = HashMap<K, V, foldhash::fast::RandomState>;

#[derive(Default, Clone)]
struct Snapshot {
    by_name: Map<bytes::Bytes>,
    by_encoded: Map<String>,
    /// By name and by encoded name.
    replicas: Map<bytes::Bytes, Replica>,
}

/// Another name of a region, for reading. All replicas of a region would be in this process: they are the region itself.
#[derive(Clone)]
struct Replica {
    info: RegionInfo,
    region: Arc<Region>,
}

/// A region, as a request names it.
pub struct Named {
    pub region: Arc<Region>,
    /// 0: the region itself.
    pub replica_id: i32,
}

/// Readers load a snapshot; opening and closing regions replaces it.
#[derive(Default)]
pub struct Online {
    snapshot: ArcSwap<Snapshot>,
    writing: Mutex<()>,
    /// Times of the calls by table.
    pub tables: NamedTimes<TableTimes>,
}

impl Online {
    pub fn insert(&self, region: Arc<Region>) {
        region.times.get_or_init(|| self.tables.get(region.info().table().as_str()));
        self.change(|map| {
            map.set_replicas(&region, region.table().region_replication());
            map.by_name.insert(region.info().name().clone(), region.clone());
            map.by_encoded.insert(region.info().encoded_name().to_owned(), region);
        });
    }

    pub fn remove(&self, encoded: &str) -> Option<Arc<Region>> {
        let mut removed = None;
        self.change(|map| {
            removed = map.by_encoded.remove(encoded);
            if let Some(region) = &removed {
                map.by_name.remove(region.info().name());
                map.set_replicas(region, 1);
            }
        });
        removed
    }

    /// Serves a region under `count` names, its own included.
    pub fn set_replicas(&self, encoded: &str, count: i32) {
        self.change(|map| {
            if let Some(region) = map.by_encoded.get(encoded).cloned() {
                map.set_replicas(&region, count);
            }
        });
    }

    fn change(&self, edit: impl FnOnce(&mut Snapshot)) {
        let _one_at_a_time = self.writing.lock();
        let mut next = Snapshot::clone(&self.snapshot.load());
        edit(&mut next);
        self.snapshot.store(Arc::new(next));
    }

    pub fn by_encoded(&self, encoded: &str) -> Option<Arc<Region>> {
        self.snapshot.load().by_encoded.get(encoded).cloned()
    }

    pub fn by_name(&self, name: &[u8]) -> Option<Arc<Region>> {
        self.snapshot.load().by_name.get(name).cloned()
    }

    /// Every region, in the order of region names.
    pub fn all(&self) -> Vec<Arc<Region>> {
        let mut all: Vec<_> = self.snapshot.load().by_name.values().cloned().collect();
        all.sort_by(|a, b| a.info().name().cmp(b.info().name()));
        all
    }

    pub fn len(&self) -> usize {
        self.snapshot.load().by_name.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The region that a request names, itself or a replica.
    pub fn find(&self, specifier: &pb::RegionSpecifier, server: &ServerName) -> Result<Named, Fault> {
        self.find_named(specifier.r#type, &specifier.value, server)
    }

    /// The same for the parts of a specifier.
    pub fn find_named(&self, kind: i32, name: &[u8], server: &ServerName) -> Result<Named, Fault> {
        use pb::region_specifier::RegionSpecifierType as Type;
        let map = self.snapshot.load();
        let found = match Type::try_from(kind) {
            Ok(Type::RegionName) => map.by_name.get(name),
            Ok(Type::EncodedRegionName) => {
                std::str::from_utf8(name).ok().and_then(|encoded| map.by_encoded.get(encoded))
            }
            Err(e) => return Err(Fault::do_not_retry(format!("Unsupported region specifier type: {}", e.0))),
        };
        if let Some(region) = found {
            return Ok(Named { region: region.clone(), replica_id: 0 });
        }
        if let Some(replica) = map.replicas.get(name) {
            return Ok(Named { region: replica.region.clone(), replica_id: replica.info.replica_id() });
        }
        Err(Fault::not_serving(format!("{} is not online on {server}", martite_catalog::to_string_binary(name))))
    }

    /// Whether `region` is the one that is online under its name.
    pub fn is_current(&self, region: &Arc<Region>) -> bool {
        self.snapshot.load().by_name.get(region.info().name()).is_some_and(|r| Arc::ptr_eq(r, region))
    }

    /// The numbers of what is open here, or of one table of it; a replica's are its region's.
    pub fn loads(&self, table: Option<&TableName>) -> Vec<pb::RegionLoad> {
        let map = self.snapshot.load();
        let replicas = map.replicas.iter().filter(|(key, r)| *key == r.info.name());
        let replicas = replicas.map(|(_, r)| (&r.region, r.info.name()));
        let mut open: Vec<_> = map.by_name.values().map(|r| (r, r.info().name())).chain(replicas).collect();
        open.retain(|(region, _)| table.is_none_or(|table| region.info().table() == table));
        open.sort_by_key(|(_, name)| *name);
        open.into_iter().map(|(region, name)| region.load().to_proto(name)).collect()
    }

    /// What is open here, replicas too.
    pub fn infos(&self) -> Vec<RegionInfo> {
        let map = self.snapshot.load();
        let replicas = map.replicas.iter().filter(|(key, r)| *key == r.info.name()).map(|(_, r)| r.info.clone());
        let mut infos: Vec<RegionInfo> = map.by_name.values().map(|r| r.info().clone()).chain(replicas).collect();
        infos.sort_by(|a, b| a.name().cmp(b.name()));
        infos
    }
}

impl Snapshot {
    fn set_replicas(&mut self, region: &Arc<Region>, count: i32) {
        self.replicas.retain(|_, replica| replica.region.info() != region.info());
        for id in 1..count {
            let info = region.info().with_replica_id(id);
            let encoded = bytes::Bytes::copy_from_slice(info.encoded_name().as_bytes());
            let replica = Replica { info, region: region.clone() };
            self.replicas.insert(replica.info.name().clone(), replica.clone());
            self.replicas.insert(encoded, replica);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

    use super::*;
    use martite_blockcache::BlockCache;
    use martite_catalog::{FamilyDescriptor, TableDescriptor};
    use martite_env::{Clock, FileSystem, ManualClock, MemFs, SeededRandom};
    use martite_region::{Nonces, RegionConfig, RegionContext};
    use martite_store::{Files, StoreConfig, StoreContext};
    use martite_wal::{Wal, WalContext, WalOptions};

    fn region(replicas: &str) -> Arc<Region> {
        let fs: Arc<dyn FileSystem> = Arc::new(MemFs::new());
        let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(1_000_000));
        let wal = Wal::create(WalContext {
            fs: fs.clone(),
            clock: clock.clone(),
            dir: "/WALs".into(),
            archive_dir: "/oldWALs".into(),
            prefix: "w".into(),
            suffix: String::new(),
            options: WalOptions::default(),
        });
        let stores = StoreContext {
            fs: fs.clone(),
            files: Files::new(fs.clone(), Arc::new(BlockCache::new(1 << 20, martite_hfile::Block::heap_size))),
            random: Arc::new(SeededRandom::new(1)),
            root: "/".into(),
            config: StoreConfig::default(),
        };
        let ctx = RegionContext {
            fs,
            nonces: Nonces::new(clock.clone(), 1000),
            clock,
            wal: wal.unwrap(),
            root: "/".into(),
            stores: Arc::new(stores),
            config: Arc::new(RegionConfig::default()),
            memstore_size: Arc::default(),
            server: ServerName::new("h", 1, 2),
            events: None,
        };
        let table = TableDescriptor::new(TableName::parse("t").unwrap()).with_family(FamilyDescriptor::new("f"));
        let info = RegionInfo::new(table.name().clone(), "a", "m", 7);
        Region::open(Arc::new(ctx), info, Arc::new(table.with("REGION_REPLICATION", replicas))).unwrap()
    }

    fn find(online: &Online, info: &RegionInfo, by_name: bool) -> Option<i32> {
        use pb::region_specifier::RegionSpecifierType::{EncodedRegionName, RegionName};
        let (kind, value) = if by_name {
            (RegionName, info.name().clone())
        } else {
            (EncodedRegionName, bytes::Bytes::copy_from_slice(info.encoded_name().as_bytes()))
        };
        let specifier = pb::RegionSpecifier { r#type: kind as i32, value };
        online.find(&specifier, &ServerName::new("h", 1, 2)).ok().map(|named| named.replica_id)
    }

    #[test]
    fn a_region_has_the_names_of_its_replicas_as_long_as_it_is_open() {
        let (online, region) = (Online::default(), region("3"));
        let replica = |id| region.info().with_replica_id(id);
        let found =
            |online: &Online| -> Vec<Option<i32>> { (0..4).map(|id| find(online, &replica(id), true)).collect() };
        online.insert(region.clone());
        assert_eq!(found(&online), [Some(0), Some(1), Some(2), None]);
        assert_eq!((find(&online, &replica(0), false), find(&online, &replica(2), false)), (Some(0), Some(2)));
        let ids = |online: &Online| online.infos().iter().map(RegionInfo::replica_id).collect::<Vec<_>>();
        assert_eq!((ids(&online), online.len()), (vec![0, 1, 2], 1));
        let loaded: Vec<_> = online.loads(None).into_iter().map(|load| load.region_specifier.value).collect();
        assert_eq!(loaded, [0, 1, 2].map(|id| replica(id).name().clone()));
        assert_eq!(online.loads(Some(&TableName::meta())), []);
        online.set_replicas(region.info().encoded_name(), 2);
        assert_eq!((found(&online), ids(&online)), (vec![Some(0), Some(1), None, None], vec![0, 1]));
        online.remove(region.info().encoded_name());
        assert_eq!((found(&online), ids(&online)), (vec![None; 4], vec![]));
    }
}
