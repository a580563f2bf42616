//! [`Budget`]: the whole process stays within its memory; what is free goes back to the system in time, and if that is not
//! enough, the cache gives way.
//!
//! ```text
//! resident   0 ────────────────────────── calm (27/32) ─ high (9/10) ─ the budget
//!            the cache grows again, up to its share │       │ the allocator gives back what is free;
//!                                                           │ still here: the cache shrinks, down to a quarter of its share
//! ```
//! An allocator keeps what was freed for the next one who asks, and by thread: what flushes and compactions leave does not
//! serve the network threads that fill the cache. Far below the budget that is welcome, since a page from the system costs clearing
//! it. The next look comes the sooner the less is left, so that nobody can fill the rest between two looks.

use crate::BlockCache;
use std::time::Duration;

/// What the budget has to know of the process, and to ask of its allocator.
pub trait Memory {
    /// Bytes of the machine's memory that the process has; None: the system does not tell.
    fn resident_bytes(&self) -> Option<u64>;
    /// Gives back to the system what was freed.
    fn release_free(&self);
}

/// The cache keeps this part of its share, at least.
const LEAST_PART: u64 = 4;
/// One look makes the cache smaller by this part of the budget, at most: evicted blocks stay until they are written to the tier.
const SHRINK_PART: u64 = 32;
/// One look makes the cache larger by this part of the budget.
const GROW_PART: u64 = 64;
/// What was freed is not asked for again before so much more is resident, as a part of the budget...
const MORE_PART: u64 = 128;
/// ...or so many looks are over.
const LOOKS_BETWEEN: u32 = 20;

const SOONEST: Duration = Duration::from_millis(5);
const LATEST: Duration = Duration::from_secs(1);

/// Of one process and its one cache.
#[derive(Debug)]
pub struct Budget {
    budget_bytes: u64,
    /// The cache's share.
    cache_bytes: u64,
    /// What the process can come to have in a millisecond, at most.
    growth_bytes_per_ms: u64,
    /// What was resident after free memory was given back last, and the looks since.
    released: (u64, u32),
}

impl Budget {
    /// `cache_bytes` of `budget_bytes` are the cache's share; `growth_bytes_per_ms` is what all threads together can come to
    /// have in a millisecond.
    pub fn new(budget_bytes: u64, cache_bytes: u64, growth_bytes_per_ms: u64) -> Budget {
        Budget { budget_bytes, cache_bytes, growth_bytes_per_ms: growth_bytes_per_ms.max(1), released: (0, 0) }
    }

    /// Looks at the memory and does what must be done; the time until the next look. None: nobody can say.
    pub fn look<V: Send + Sync + 'static>(&mut self, memory: &impl Memory, cache: &BlockCache<V>) -> Option<Duration> {
        let mut resident = memory.resident_bytes()?;
        if resident < self.calm() {
            self.grow(cache);
        }
        if resident >= self.high() && self.is_worth_releasing(resident) {
            resident = self.release(memory)?;
        }
        if resident >= self.high() && self.shrink(cache, resident) {
            resident = self.release(memory)?;
        }
        let left = self.high().saturating_sub(resident);
        Some(Duration::from_millis(left / self.growth_bytes_per_ms).clamp(SOONEST, LATEST))
    }

    fn high(&self) -> u64 {
        self.budget_bytes / 10 * 9
    }

    fn calm(&self) -> u64 {
        self.budget_bytes / 32 * 27
    }

    fn is_worth_releasing(&mut self, resident: u64) -> bool {
        let (left, looks) = &mut self.released;
        *looks += 1;
        *looks >= LOOKS_BETWEEN || resident >= *left + self.budget_bytes / MORE_PART
    }

    fn release(&mut self, memory: &impl Memory) -> Option<u64> {
        memory.release_free();
        let resident = memory.resident_bytes()?;
        self.released = (resident, 0);
        Some(resident)
    }

    /// False: the cache is as small as it may be.
    fn shrink<V: Send + Sync + 'static>(&self, cache: &BlockCache<V>, resident: u64) -> bool {
        let before = cache.capacity_bytes();
        // What is not in use does not help.
        let used = cache.usage_bytes().min(before);
        let over = (resident - self.calm()).min(self.budget_bytes / SHRINK_PART);
        let after = used.saturating_sub(over).max(self.cache_bytes / LEAST_PART).min(before);
        if before == self.cache_bytes && after < before {
            tracing::info!(resident, budget = self.budget_bytes, "memory is short: the block cache gives way");
        }
        cache.set_capacity(after);
        after < before
    }

    fn grow<V: Send + Sync + 'static>(&self, cache: &BlockCache<V>) {
        let before = cache.capacity_bytes();
        if before < self.cache_bytes {
            let after = (before + self.budget_bytes / GROW_PART).min(self.cache_bytes);
            cache.set_capacity(after);
            if after == self.cache_bytes {
                tracing::info!("the block cache has its share again");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use std::cell::Cell;
    use std::sync::Arc;

    const MIB: u64 = 1 << 20;

    /// A process: what is in use beside the cache, and what its allocator keeps.
    struct Process<'a> {
        cache: &'a BlockCache<u64>,
        other: Cell<u64>,
        free: Cell<u64>,
        releases: Cell<u32>,
    }

    impl Memory for Process<'_> {
        fn resident_bytes(&self) -> Option<u64> {
            Some((self.other.get() + self.free.get()) * MIB + self.cache.usage_bytes())
        }
        fn release_free(&self) {
            self.free.set(0);
            self.releases.set(self.releases.get() + 1);
        }
    }

    fn cache(mib: u64) -> BlockCache<u64> {
        BlockCache::new(mib * MIB, |bytes| *bytes as usize)
    }

    fn process(cache: &BlockCache<u64>, other: u64, free: u64) -> Process<'_> {
        Process { cache, other: Cell::new(other), free: Cell::new(free), releases: Cell::new(0) }
    }

    /// So many blocks of a MiB.
    fn fill(cache: &BlockCache<u64>, blocks: u64) {
        for offset in 0..blocks {
            cache.insert((1, offset), Kind::Data, Arc::new(MIB - crate::ENTRY_BYTES));
        }
    }

    #[test]
    fn what_is_free_is_given_back_before_the_cache_gives_way() {
        let cache = cache(400);
        fill(&cache, 400);
        let process = process(&cache, 100, 300);
        let mut budget = Budget::new(1000 * MIB, 400 * MIB, MIB);
        assert_eq!(budget.look(&process, &cache), Some(Duration::from_millis(100)), "800 of 900");
        assert_eq!(process.releases.get(), 0, "far enough from the budget");
        process.free.set(400);
        assert_eq!(budget.look(&process, &cache), Some(Duration::from_millis(400)));
        assert_eq!((process.releases.get(), cache.capacity_bytes()), (1, 400 * MIB));
    }

    #[test]
    fn the_cache_gives_way_and_comes_back() {
        let cache = cache(400);
        fill(&cache, 400);
        let process = process(&cache, 600, 0);
        let mut budget = Budget::new(1000 * MIB, 400 * MIB, MIB);
        let mut looks = 0;
        while process.resident_bytes().unwrap() >= budget.high() {
            budget.look(&process, &cache);
            looks += 1;
        }
        assert!((3..10).contains(&looks), "{looks}");
        let small = cache.capacity_bytes();
        assert!((230 * MIB..300 * MIB).contains(&small), "{small}");
        process.other.set(300);
        for _ in 0..20 {
            budget.look(&process, &cache);
        }
        assert_eq!(cache.capacity_bytes(), 400 * MIB);
    }

    #[test]
    fn the_cache_keeps_a_quarter_and_nobody_works_in_vain() {
        let cache = cache(400);
        fill(&cache, 400);
        let process = process(&cache, 2000, 0);
        let mut budget = Budget::new(1000 * MIB, 400 * MIB, MIB);
        for _ in 0..2000 {
            assert_eq!(budget.look(&process, &cache), Some(SOONEST));
        }
        assert_eq!(cache.capacity_bytes(), 100 * MIB);
        let releases = process.releases.get();
        assert!(releases < 150, "{releases}");
        process.free.set(20);
        budget.look(&process, &cache);
        assert_eq!(process.free.get(), 0, "there is more than before");
    }

    #[test]
    fn the_less_is_left_the_sooner_is_the_next_look() {
        let cache = cache(400);
        let process = process(&cache, 0, 0);
        let mut budget = Budget::new(10_000 * MIB, 400 * MIB, 2 * MIB);
        let mut after = |other: u64| {
            process.other.set(other);
            budget.look(&process, &cache).unwrap().as_millis()
        };
        assert_eq!((after(10), after(8000), after(8990), after(9500)), (1000, 500, 5, 5));
    }

    #[test]
    fn a_system_that_tells_nothing_is_left_alone() {
        struct Silent;
        impl Memory for Silent {
            fn resident_bytes(&self) -> Option<u64> {
                None
            }
            fn release_free(&self) {
                panic!("nothing is known");
            }
        }
        assert_eq!(Budget::new(1, 1, 1).look(&Silent, &cache(1)), None);
    }
}
