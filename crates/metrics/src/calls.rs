//! [`CallTimes`]: how long calls took, and how much of it they waited for a thread.

use crate::{Histogram, Snapshot};
use std::time::Duration;

/// The times of one kind of call. Calls that never waited, nearly all, are recorded once.
#[derive(Debug, Default)]
pub struct CallTimes {
    at_once: Histogram,
    queued: Histogram,
    waited: Histogram,
    worked: Histogram,
}

/// Times of all calls: `total` of each is `queue` and `process` together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSnapshot {
    pub total: Snapshot,
    pub queue: Snapshot,
    pub process: Snapshot,
}

impl CallTimes {
    /// A call that took `total`, of which it waited `waited` in queues.
    #[inline]
    pub fn record(&self, total: Duration, waited: Duration) {
        if waited.is_zero() {
            return self.at_once.record(total);
        }
        self.queued.record(total);
        self.waited.record(waited);
        self.worked.record(total.saturating_sub(waited));
    }

    pub fn snapshot(&self) -> CallSnapshot {
        let at_once = self.at_once.snapshot();
        let mut all = CallSnapshot {
            total: self.queued.snapshot(),
            queue: self.waited.snapshot(),
            process: self.worked.snapshot(),
        };
        all.queue.add_zeros(at_once.count());
        all.total.merge(&at_once);
        all.process.merge(&at_once);
        all
    }
}

impl CallSnapshot {
    pub fn merge(&mut self, other: &CallSnapshot) {
        self.total.merge(&other.total);
        self.queue.merge(&other.queue);
        self.process.merge(&other.process);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_work_make_the_whole() {
        let ms = Duration::from_millis;
        let times = CallTimes::default();
        times.record(ms(1), Duration::ZERO);
        times.record(ms(10), ms(7));
        let all = times.snapshot();
        let sums = [&all.total, &all.queue, &all.process].map(|s| (s.count(), s.sum_ns() / 1_000_000, s.max_ns()));
        assert_eq!(sums, [(2, 11, 10_000_000), (2, 7, 7_000_000), (2, 4, 3_000_000)]);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!((twice.total.count(), twice.queue.min_ns()), (4, 0));
    }
}
