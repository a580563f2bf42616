//! [`Snapshot`]: what a histogram held at one moment: counts, mean, percentiles.

use crate::buckets::{BUCKETS, middle_ns};

/// Times in nanoseconds; without any, all figures are 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Empty, or one count a bucket.
    buckets: Vec<u64>,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Snapshot {
    pub(crate) fn new(buckets: Vec<u64>, sum_ns: u64, min_ns: u64, max_ns: u64) -> Snapshot {
        Snapshot { count: buckets.iter().sum(), buckets, sum_ns, min_ns, max_ns }
    }

    pub fn count(&self) -> u64 {
        self.count
    }
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }
    pub fn min_ns(&self) -> u64 {
        self.min_ns
    }
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }

    /// The time that `percent` of all do not exceed, within 1.6 %.
    pub fn percentile_ns(&self, percent: f64) -> u64 {
        let rank = ((self.count as f64 * percent / 100.0).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return middle_ns(bucket).clamp(self.min_ns.min(self.max_ns), self.max_ns);
            }
        }
        self.max_ns
    }

    pub fn merge(&mut self, other: &Snapshot) {
        if other.count == 0 {
            return;
        }
        self.min_ns = if self.count == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns += other.sum_ns;
        self.count += other.count;
        self.buckets.resize(BUCKETS, 0);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// What came since an earlier snapshot of the same histogram, of which least and most are not known apart.
    pub fn since(&self, earlier: &Snapshot) -> Snapshot {
        let before = |bucket: usize| earlier.buckets.get(bucket).copied().unwrap_or(0);
        let buckets = self.buckets.iter().enumerate().map(|(i, count)| count.saturating_sub(before(i)));
        let sum_ns = self.sum_ns.saturating_sub(earlier.sum_ns);
        Snapshot::new(buckets.collect(), sum_ns, self.min_ns, self.max_ns)
    }

    /// Counts `count` times that took nothing.
    pub(crate) fn add_zeros(&mut self, count: u64) {
        let mut buckets = vec![0; BUCKETS];
        buckets[0] = count;
        self.merge(&Snapshot { buckets, count, ..Snapshot::default() });
    }
}

#[cfg(test)]
mod tests {
    use crate::Histogram;

    #[test]
    fn of_nothing_all_is_zero_and_zeros_count() {
        let mut none = Histogram::default().snapshot();
        assert_eq!((none.count(), none.min_ns(), none.max_ns(), none.percentile_ns(99.9)), (0, 0, 0, 0));
        assert_eq!(none.mean_ns(), 0.0);
        none.add_zeros(3);
        assert_eq!((none.count(), none.percentile_ns(50.0), none.max_ns()), (3, 0, 0));
        let one = Histogram::default();
        one.record_ns(4_000_000);
        none.merge(&one.snapshot());
        assert_eq!((none.min_ns(), none.percentile_ns(75.0), none.percentile_ns(99.0)), (0, 0, 4_000_000));
        assert_eq!(none.mean_ns(), 1_000_000.0);
    }

    #[test]
    fn of_the_last_while_only_what_came_then_counts() {
        let times = Histogram::default();
        times.record_ns(4_000_000);
        let before = times.snapshot();
        assert_eq!(times.snapshot().since(&before).count(), 0);
        times.record_ns(1_000);
        times.record_ns(1_000);
        let last = times.snapshot().since(&before);
        assert_eq!((last.count(), last.sum_ns()), (2, 2_000));
        assert!((980..=1_020).contains(&last.percentile_ns(99.0)), "{}", last.percentile_ns(99.0));
        assert_eq!(before.since(&Default::default()), before, "since the beginning it is everything");
    }
}
