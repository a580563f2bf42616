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
