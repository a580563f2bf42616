//! Counters that many threads raise without sharing a cache line.

use crate::Key;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    pub hits: u64,
    pub misses: u64,
    pub evictions: u64,
    pub inserts: u64,
}

const STRIPES: usize = 32;

#[derive(Default)]
#[repr(align(64))]
struct Stripe {
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Default)]
pub(crate) struct Counters {
    stripes: [Stripe; STRIPES],
    evictions: AtomicU64,
    inserts: AtomicU64,
}

impl Counters {
    #[inline]
    pub(crate) fn lookup(&self, key: &Key, hit: bool) {
        let stripe = &self.stripes[(key.0 ^ (key.1 >> 14)) as usize % STRIPES];
        if hit { &stripe.hits } else { &stripe.misses }.fetch_add(1, Relaxed);
    }
    pub(crate) fn evict(&self) {
        self.evictions.fetch_add(1, Relaxed);
    }
    pub(crate) fn insert(&self) {
        self.inserts.fetch_add(1, Relaxed);
    }
    pub(crate) fn read(&self) -> Stats {
        let sum = |of: fn(&Stripe) -> &AtomicU64| self.stripes.iter().map(|s| of(s).load(Relaxed)).sum();
        Stats {
            hits: sum(|s| &s.hits),
            misses: sum(|s| &s.misses),
            evictions: self.evictions.load(Relaxed),
            inserts: self.inserts.load(Relaxed),
        }
    }
}
