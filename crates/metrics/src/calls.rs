//! [`CallTimes`]: how long calls took, and how much of it they waited for a thread and for the disk.

use crate::{Histogram, Snapshot};
use std::time::Duration;

/// The times of one kind of call. Calls that never waited, nearly all, are recorded once.
#[derive(Debug, Default)]
pub struct CallTimes {
    at_once: Histogram,
    others: Histogram,
    queue: Histogram,
    disk: Histogram,
    worked: Histogram,
}

/// Parts of a call's time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waits {
    /// In queues, for a thread.
    pub queue: Duration,
    /// For reads from the disk.
    pub disk: Duration,
}

/// Times of all calls: `total` of each is `queue` and `process` together, and `disk` is a part of `process`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSnapshot {
    pub total: Snapshot,
    pub queue: Snapshot,
    pub process: Snapshot,
    pub disk: Snapshot,
}

impl CallTimes {
    /// A call that took `total`, with its waits.
    #[inline]
    pub fn record(&self, total: Duration, waits: Waits) {
        if waits == Waits::default() {
            return self.at_once.record(total);
        }
        self.others.record(total);
        self.queue.record(waits.queue);
        self.disk.record(waits.disk);
        self.worked.record(total.saturating_sub(waits.queue));
    }

    pub fn snapshot(&self) -> CallSnapshot {
        let at_once = self.at_once.snapshot();
        let mut all = CallSnapshot {
            total: self.others.snapshot(),
            queue: self.queue.snapshot(),
            process: self.worked.snapshot(),
            disk: self.disk.snapshot(),
        };
        all.queue.add_zeros(at_once.count());
        all.disk.add_zeros(at_once.count());
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
        self.disk.merge(&other.disk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_work_make_the_whole() {
        let ms = Duration::from_millis;
        let times = CallTimes::default();
        times.record(ms(1), Waits::default());
        times.record(ms(10), Waits { queue: ms(7), disk: ms(2) });
        times.record(ms(4), Waits { disk: ms(3), ..Waits::default() });
        let all = times.snapshot();
        let parts = [&all.total, &all.queue, &all.process, &all.disk];
        let sums = parts.map(|s| (s.count(), s.sum_ns() / 1_000_000, s.max_ns() / 1_000_000));
        assert_eq!(sums, [(3, 15, 10), (3, 7, 7), (3, 8, 4), (3, 5, 3)]);
        let mut twice = all.clone();
        twice.merge(&all);
        assert_eq!((twice.total.count(), twice.queue.min_ns()), (6, 0));
    }
}
