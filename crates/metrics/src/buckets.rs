//! Which bucket a time falls into: linear below 2 µs, from there on 32 buckets for each doubling.
//!
//! ```text
//! unit: 64 ns     bucket   0 … 31   32 … 63   64 … 95   …            927
//!                 begins   0 … 31   32 … 63   64, 66 … 126   …       2^33 units and a half: nine minutes
//! ```
//! A bucket is a 32nd of its beginning wide, so that its middle is at most 1.6 % from what it counts.

const UNIT_BITS: u32 = 6;
const SUB_BITS: u32 = 5;
const SUBS: usize = 1 << SUB_BITS;
const DOUBLINGS: usize = 28;

pub(crate) const BUCKETS: usize = SUBS * (DOUBLINGS + 1);

/// The bucket of a time; what is longer than the last one is in the last one.
#[inline]
pub(crate) fn bucket(ns: u64) -> usize {
    let units = ns >> UNIT_BITS;
    if units < SUBS as u64 {
        return units as usize;
    }
    let doubling = units.ilog2() - SUB_BITS;
    let sub = (units >> doubling) as usize & (SUBS - 1);
    (SUBS * (doubling as usize + 1) + sub).min(BUCKETS - 1)
}

/// The time in the middle of a bucket; of the first one, where those are that took nothing, 0.
pub(crate) fn middle_ns(bucket: usize) -> u64 {
    let (row, sub) = (bucket / SUBS, (bucket % SUBS) as u64);
    if bucket == 0 {
        return 0;
    }
    if row == 0 {
        return (sub << UNIT_BITS) + (1 << (UNIT_BITS - 1));
    }
    let doubling = row as u32 - 1;
    let begin = (SUBS as u64 + sub) << doubling << UNIT_BITS;
    begin + (1 << doubling << UNIT_BITS >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_near_the_middle_of_its_bucket() {
        let mut last = 0;
        for step in 0..40_000 {
            let ns = 1.0007_f64.powi(step) as u64;
            let at = bucket(ns);
            assert!(at >= last, "{ns}");
            last = at;
            let far = middle_ns(at).abs_diff(ns);
            assert!(far <= (ns / 60).max(64) || at == BUCKETS - 1, "{ns}: {far}");
        }
        assert_eq!((bucket(0), bucket(u64::MAX), last), (0, BUCKETS - 1, BUCKETS - 1));
        assert!(middle_ns(BUCKETS - 1) > 9 * 60 * 1_000_000_000);
    }
}
