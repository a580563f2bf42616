//! [`Histogram`]: times, counted by many threads of which each has its own cache lines.

use crate::Snapshot;
use crate::buckets::{BUCKETS, bucket};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const STRIPES: usize = 8;

/// Times since the start. Recording is two additions on lines of the thread; a stripe (7.5 KB) is made when its first
/// thread comes.
#[derive(Default)]
pub struct Histogram {
    stripes: [OnceLock<Box<Stripe>>; STRIPES],
}

#[repr(align(128))]
struct Stripe {
    sum_ns: AtomicU64,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

thread_local! {
    static STRIPE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Relaxed) % STRIPES
    };
}

impl Histogram {
    #[inline]
    pub fn record(&self, time: Duration) {
        self.record_ns(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    #[inline]
    pub fn record_ns(&self, ns: u64) {
        self.add(ns, 1);
    }

    /// As if so many had taken this time.
    #[inline]
    pub fn record_many(&self, time: Duration, count: u64) {
        if count > 0 {
            self.add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), count);
        }
    }

    #[inline]
    fn add(&self, ns: u64, count: u64) {
        // A thread that is ending has no stripe of its own any more.
        let stripe = self.stripes[STRIPE.try_with(|stripe| *stripe).unwrap_or(0)].get_or_init(Stripe::empty);
        stripe.buckets[bucket(ns)].fetch_add(count, Relaxed);
        stripe.sum_ns.fetch_add(ns.wrapping_mul(count), Relaxed);
        if ns > stripe.max_ns.load(Relaxed) {
            stripe.max_ns.fetch_max(ns, Relaxed);
        }
        if ns < stripe.min_ns.load(Relaxed) {
            stripe.min_ns.fetch_min(ns, Relaxed);
        }
    }

    /// What was recorded; while others record, each time is in or not.
    pub fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot::default();
        for stripe in self.stripes.iter().filter_map(OnceLock::get) {
            let buckets = stripe.buckets.iter().map(|n| n.load(Relaxed));
            let (min_ns, max_ns) = (stripe.min_ns.load(Relaxed), stripe.max_ns.load(Relaxed));
            all.merge(&Snapshot::new(buckets.collect(), stripe.sum_ns.load(Relaxed), min_ns, max_ns));
        }
        all
    }
}

impl Stripe {
    fn empty() -> Box<Stripe> {
        Box::new(Stripe {
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
        })
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram").field("count", &self.snapshot().count()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_time_may_be_recorded_many_times_at_once() {
        let (at_once, one_by_one) = (Histogram::default(), Histogram::default());
        for (ns, times) in [(5_000, 3), (70_000, 1), (5_000, 0), (1_000, 200)] {
            at_once.record_many(Duration::from_nanos(ns), times);
            (0..times).for_each(|_| one_by_one.record_ns(ns));
        }
        let told = |all: Snapshot| (all.count(), all.sum_ns(), all.min_ns(), all.max_ns(), all.percentile_ns(50.0));
        assert_eq!(told(at_once.snapshot()), told(one_by_one.snapshot()));
        assert_eq!(at_once.snapshot().count(), 204);
    }

    #[test]
    fn threads_count_together() {
        let histogram = Histogram::default();
        std::thread::scope(|threads| {
            for thread in 0..12_u64 {
                let histogram = &histogram;
                threads.spawn(move || (1..=1000).for_each(|n| histogram.record_ns(n * 1000 + thread)));
            }
        });
        let all = histogram.snapshot();
        assert_eq!((all.count(), all.min_ns(), all.max_ns()), (12_000, 1000, 1_000_011));
        assert_eq!(all.sum_ns(), (1..=1000).sum::<u64>() * 12_000 + 66_000);
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_a_sorted_list(mut times in prop::collection::vec(0_u64..5_000_000_000, 1..400)) {
            let histogram = Histogram::default();
            times.iter().for_each(|ns| histogram.record(Duration::from_nanos(*ns)));
            times.sort_unstable();
            let all = histogram.snapshot();
            prop_assert_eq!((all.min_ns(), all.max_ns()), (times[0], times[times.len() - 1]));
            for percent in [0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0] {
                let rank = ((times.len() as f64 * percent / 100.0).ceil() as usize).clamp(1, times.len());
                let (exact, said) = (times[rank - 1], all.percentile_ns(percent));
                prop_assert!(said.abs_diff(exact) <= (exact / 60).max(64), "{percent}: {said} for {exact}");
            }
        }
    }
}
