//! Row locks: a fixed number of mutexes that the rows of a region share by hash.
//!
//! Several rows are always locked in the order of their stripes, each stripe once: no two callers can wait for each
//! other. Locks are held while old values are read and the write is put in order, never while the log is synced.

use parking_lot::{Mutex, MutexGuard};
use std::hash::BuildHasher;

/// Number of stripes; a power of two.
const STRIPES: usize = 1024;

/// The row locks of one region.
pub(crate) struct RowLocks {
    stripes: Box<[Mutex<()>]>,
}

/// Rows that are locked until this is dropped.
pub(crate) struct LockedRows<'a> {
    _guards: Vec<MutexGuard<'a, ()>>,
}

/// Stripes to lock, each once.
#[derive(Clone, Copy)]
pub(crate) struct StripeSet([u64; STRIPES / 64]);

impl StripeSet {
    pub(crate) fn new() -> StripeSet {
        StripeSet([0; STRIPES / 64])
    }
    pub(crate) fn insert(&mut self, row: &[u8]) {
        let stripe = foldhash::fast::FixedState::with_seed(0x6d61_7274).hash_one(row) as usize % STRIPES;
        self.0[stripe / 64] |= 1 << (stripe % 64);
    }
    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(at * 64 + bit)
            })
        })
    }
}

impl RowLocks {
    pub(crate) fn new() -> RowLocks {
        RowLocks { stripes: (0..STRIPES).map(|_| Mutex::new(())).collect() }
    }

    /// Locks the rows; None if one is taken and the caller may not wait.
    pub(crate) fn lock(&self, rows: &StripeSet, may_block: bool) -> Option<LockedRows<'_>> {
        let mut guards = Vec::with_capacity(rows.len());
        for stripe in rows.iter() {
            let lock = &self.stripes[stripe];
            guards.push(if may_block { lock.lock() } else { lock.try_lock()? });
        }
        Some(LockedRows { _guards: guards })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(rows: &[&[u8]]) -> StripeSet {
        let mut set = StripeSet::new();
        rows.iter().for_each(|row| set.insert(row));
        set
    }

    #[test]
    fn rows_lock_in_stripe_order_and_each_stripe_once() {
        let many: Vec<Vec<u8>> = (0..5000).map(|i| format!("row{i}").into_bytes()).collect();
        let refs: Vec<&[u8]> = many.iter().map(Vec::as_slice).collect();
        let stripes: Vec<usize> = set(&refs).iter().collect();
        assert!(stripes.is_sorted() && stripes.len() > 1000, "{} stripes", stripes.len());
        assert_eq!(set(&[b"a", b"a"]).len(), 1);
    }

    #[test]
    fn a_taken_row_is_none_for_a_caller_that_may_not_wait() {
        let locks = RowLocks::new();
        let held = locks.lock(&set(&[b"a"]), false).unwrap();
        assert!(locks.lock(&set(&[b"b", b"a"]), false).is_none());
        assert!(locks.lock(&set(&[b"b"]), false).is_some(), "the other row was let go");
        drop(held);
        assert!(locks.lock(&set(&[b"b", b"a"]), false).is_some());
    }

    #[test]
    fn locked_rows_are_exclusive_over_threads() {
        let locks = RowLocks::new();
        let total = Mutex::new(0u32);
        let in_section = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for t in 0..4 {
                let (locks, total, in_section) = (&locks, &total, &in_section);
                scope.spawn(move || {
                    for i in 0..200 {
                        let rows: [&[u8]; 2] = if (t + i) % 2 == 0 { [b"x", b"y"] } else { [b"y", b"x"] };
                        let _held = locks.lock(&set(&rows), true).unwrap();
                        assert_eq!(in_section.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        *total.lock() += 1;
                        in_section.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*total.lock(), 800);
    }
}
