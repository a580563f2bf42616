//! Time ranges of queries and files: `[min, max)` in ms, signed as in HBase.

/// A half-open range of timestamps. The default holds every timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    pub min: u64,
    pub max: u64,
}

impl TimeRange {
    pub const ALL: TimeRange = TimeRange { min: 0, max: i64::MAX as u64 };

    pub fn new(min: u64, max: u64) -> TimeRange {
        TimeRange { min, max }
    }
    /// `Long.MAX_VALUE` as upper bound means "no bound".
    #[inline]
    pub fn contains(&self, ts: u64) -> bool {
        self.is_all() || (ts >= self.min && (ts < self.max || self.max == i64::MAX as u64))
    }
    #[inline]
    pub fn is_all(&self) -> bool {
        *self == TimeRange::ALL
    }
    /// Less: `ts` is older than the range. Greater: newer. Equal: inside.
    #[inline]
    pub fn compare(&self, ts: u64) -> std::cmp::Ordering {
        if ts < self.min {
            std::cmp::Ordering::Less
        } else if ts >= self.max && self.max != i64::MAX as u64 {
            std::cmp::Ordering::Greater
        } else {
            std::cmp::Ordering::Equal
        }
    }
    /// The oldest and the newest timestamp inside; the oldest is newer if there is none.
    #[inline]
    pub fn bounds(&self) -> (u64, u64) {
        match self.max {
            0 => (1, 0),
            max if max == i64::MAX as u64 => (self.min, u64::MAX),
            max => (self.min, max - 1),
        }
    }
    /// Whether a file whose timestamps lie in `[min, max]` (inclusive) can hold a cell of this range.
    pub fn overlaps_inclusive(&self, min: u64, max: u64) -> bool {
        (min < self.max || self.max == i64::MAX as u64) && max >= self.min
    }
}

impl Default for TimeRange {
    fn default() -> Self {
        TimeRange::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::TimeRange;
    use std::cmp::Ordering;

    #[test]
    fn bounds_hold_what_compares_equal() {
        const MAX: u64 = i64::MAX as u64;
        let ranges = [(0, MAX), (0, 0), (5, 5), (5, 9), (7, MAX), (0, 1)];
        for (range, ts) in ranges.iter().flat_map(|range| [0, 1, 4, 5, 8, 9, MAX, u64::MAX].map(|ts| (range, ts))) {
            let range = TimeRange::new(range.0, range.1);
            let (oldest, newest) = range.bounds();
            assert_eq!((oldest..=newest).contains(&ts), range.compare(ts) == Ordering::Equal, "{range:?} {ts}");
        }
    }
}
