//! `ClearRegionBlockCache`: forgets the cached blocks of regions.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;

impl RegionServer {
    pub(crate) fn clear_region_block_cache(
        &self,
        q: &pb::ClearRegionBlockCacheRequest,
    ) -> Result<pb::ClearRegionBlockCacheResponse, Fault> {
        let cache = self.ctx.stores.files.cache();
        let mut stats = pb::CacheEvictionStats::default();
        let (blocks_before, bytes_before) = (cache.len() as i64, cache.usage_bytes() as i64);
        for specifier in &q.region {
            match self.region(specifier) {
                Ok(region) => {
                    for (_, store) in region.stores() {
                        store.files().iter().for_each(|f| cache.remove_file(f.reader.id()));
                    }
                }
                Err(fault) => stats
                    .exception
                    .push(pb::RegionExceptionMessage { region: specifier.clone(), exception: fault.to_pair() }),
            }
        }
        stats.evicted_blocks = Some(blocks_before - cache.len() as i64);
        stats.bytes_evicted = Some(bytes_before - cache.usage_bytes() as i64);
        stats.max_cache_size = Some(cache.capacity_bytes() as i64);
        Ok(pb::ClearRegionBlockCacheResponse { stats })
    }
}
