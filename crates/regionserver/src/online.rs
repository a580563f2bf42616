//! The regions that this server serves, found by name without a lock.

use crate::error::Fault;
use arc_swap::ArcSwap;
use martite_catalog::{RegionInfo, ServerName};
use martite_proto as pb;
use martite_region::Region;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

type Map<K> = HashMap<K, Arc<Region>, foldhash::fast::RandomState>;

#[derive(Default, Clone)]
struct Snapshot {
    by_name: Map<bytes::Bytes>,
    by_encoded: Map<String>,
}

/// Readers load a snapshot; opening and closing regions replaces it.
#[derive(Default)]
pub struct Online {
    snapshot: ArcSwap<Snapshot>,
    writing: Mutex<()>,
}

impl Online {
    pub fn insert(&self, region: Arc<Region>) {
        self.change(|map| {
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
            }
        });
        removed
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

    /// The region that a request names.
    pub fn find(&self, specifier: &pb::RegionSpecifier, server: &ServerName) -> Result<Arc<Region>, Fault> {
        use pb::region_specifier::RegionSpecifierType as Type;
        let map = self.snapshot.load();
        let found = match Type::try_from(specifier.r#type) {
            Ok(Type::RegionName) => map.by_name.get(&specifier.value),
            Ok(Type::EncodedRegionName) => {
                std::str::from_utf8(&specifier.value).ok().and_then(|encoded| map.by_encoded.get(encoded))
            }
            Err(e) => return Err(Fault::do_not_retry(format!("Unsupported region specifier type: {}", e.0))),
        };
        found.cloned().ok_or_else(|| {
            Fault::not_serving(format!(
                "{} is not online on {server}",
                martite_catalog::to_string_binary(&specifier.value)
            ))
        })
    }

    /// Whether `region` is the one that is online under its name.
    pub fn is_current(&self, region: &Arc<Region>) -> bool {
        self.snapshot.load().by_name.get(region.info().name()).is_some_and(|r| Arc::ptr_eq(r, region))
    }

    pub fn infos(&self) -> Vec<RegionInfo> {
        self.all().iter().map(|r| r.info().clone()).collect()
    }
}
