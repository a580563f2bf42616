//! [`Place`]: how a connection is read: like all others, or after them, by its shard's thread while that has nothing else to do
//! (`aside`) or by the one that stands back behind all others.
//!
//! ```text
//! like others ── LONG calls of low priority in a row ──▶ after them
//!             ◀── a call of another priority ───────────
//! ```
//! Reading and decoding what is of low priority is then paid for by a thread of low priority, too. A call of another
//! priority that comes over such a connection is served there and brings the connection back; the row starts anew.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Calls of low priority in a row, after which a connection is expected to have nothing else.
const LONG: u32 = 64;

/// What the calls of a connection say about its place. Written by whoever looks at a call's priority, read by the task.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// Calls of low priority since the last other one.
    row: AtomicU32,
}

impl Place {
    /// A call is looked at. A hint: two threads that look at once may count one for two.
    #[inline]
    pub fn saw(&self, low: bool) {
        let row = self.row.load(Relaxed);
        if low && row < LONG {
            self.row.store(row + 1, Relaxed);
        } else if !low && row > 0 {
            self.row.store(0, Relaxed);
        }
    }

    /// Whether the connection comes after all others.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.row.load(Relaxed) >= LONG
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_row_leads_back_and_one_other_call_leads_forth() {
        let place = Place::default();
        for _ in 0..LONG - 1 {
            place.saw(true);
        }
        assert!(!place.is_behind());
        place.saw(false);
        place.saw(true);
        assert!(!place.is_behind());
        for _ in 0..10 * LONG {
            place.saw(true);
        }
        assert!(place.is_behind());
        place.saw(false);
        assert!(!place.is_behind());
    }
}
