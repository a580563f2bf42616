//! Counters that many threads raise without sharing a cache line.

use crate::Kind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
    pub inserts: u64,
    /// Hits and misses by [`Kind`], in the order of [`Kind::ALL`].
    pub by_kind: [KindStats; 4],
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KindStats {
    pub hits: u64,
    pub misses: u64,
}

/// What is counted under the cache's lock.
pub(crate) struct Counters {
    pub inserts: u64,
    pub evictions: u64,
}

const STRIPES: usize = 64;

/// A thread's own, as long as there are not more threads than stripes.
#[derive(Default)]
#[repr(align(64))]
struct Stripe {
    hits: [AtomicU64; 4],
    misses: [AtomicU64; 4],
}

pub(crate) struct LookUps {
    stripes: [Stripe; STRIPES],
}

impl Default for LookUps {
    fn default() -> LookUps {
        LookUps { stripes: std::array::from_fn(|_| Stripe::default()) }
    }
}

thread_local! {
    static STRIPE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Relaxed) % STRIPES
    };
}

impl LookUps {
    #[inline]
    pub(crate) fn count(&self, kind: Kind, hit: bool) {
        // A thread that is ending has no stripe of its own any more.
        let stripe = &self.stripes[STRIPE.try_with(|stripe| *stripe).unwrap_or(0)];
        let counter = if hit { &stripe.hits[kind as usize] } else { &stripe.misses[kind as usize] };
        counter.fetch_add(1, Relaxed);
    }

    pub(crate) fn stats(&self, counters: Counters) -> Stats {
        let sum = |of: &dyn Fn(&Stripe) -> u64| self.stripes.iter().map(of).sum::<u64>();
        let by_kind = Kind::ALL.map(|kind| KindStats {
            hits: sum(&|stripe| stripe.hits[kind as usize].load(Relaxed)),
            misses: sum(&|stripe| stripe.misses[kind as usize].load(Relaxed)),
        });
        Stats {
            hits: by_kind.iter().map(|kind| kind.hits).sum(),
            misses: by_kind.iter().map(|kind| kind.misses).sum(),
            evictions: counters.evictions,
            inserts: counters.inserts,
            by_kind,
        }
    }
}
