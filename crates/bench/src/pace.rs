//! [`Pace`]: when an operation begins: as soon as another ends, or when it is due.
//!
//! ```text
//! closed   a thread waits for its answer; a slow server is asked less
//! open     i-th operation due at phase + i / rate, whatever the server does; latency counts from there
//! ```
//! Whole numbers of nanoseconds, so that a schedule does not drift and "how many are due by now" is exactly the other way round.

use std::time::Duration;

/// Nanoseconds in the thousand seconds that a [`Rate`] counts in.
const KILOSECOND_NS: u128 = 1_000_000_000_000;

/// Operations in a thousand seconds: a rate to three digits behind the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(u64);

impl Rate {
    /// At least one in a thousand seconds.
    pub fn per_second(rate: f64) -> Rate {
        Rate(((rate * 1000.0).round() as u64).max(1))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    Closed,
    Open(Rate),
}

/// What one of several connections does of an open loop's operations: each `stride`-th from `first` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    rate: Rate,
    first: u64,
    stride: u64,
    /// The first operation of all is due so long after the beginning.
    phase_ns: u64,
}

impl Schedule {
    /// For connection `first` of `stride`. `part` of `parts` loads: their beginnings are spread over one interval, so that loads
    /// of the same rate do not strike at the same moments.
    pub fn new(rate: Rate, first: usize, stride: usize, part: usize, parts: usize) -> Schedule {
        let interval_ns = KILOSECOND_NS / u128::from(rate.0);
        let phase_ns = (interval_ns * part as u128 / parts.max(1) as u128) as u64;
        Schedule { rate, first: first as u64, stride: stride.max(1) as u64, phase_ns }
    }

    /// When the connection's operation at `index` is due, from the beginning.
    pub fn due(&self, index: u64) -> Duration {
        let of_all = u128::from(index) * u128::from(self.stride) + u128::from(self.first);
        let ns = of_all * KILOSECOND_NS / u128::from(self.rate.0);
        Duration::from_nanos(self.phase_ns.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX)))
    }

    /// How many of the connection's operations are due so long after the beginning.
    pub fn due_by(&self, elapsed: Duration) -> u64 {
        let Some(ns) = elapsed.as_nanos().checked_sub(u128::from(self.phase_ns)) else { return 0 };
        let of_all = ((ns + 1) * u128::from(self.rate.0)).div_ceil(KILOSECOND_NS);
        let mine = of_all.saturating_sub(u128::from(self.first)).div_ceil(u128::from(self.stride));
        u64::try_from(mine).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_due_at_even_intervals_and_do_not_drift() {
        let schedule = Schedule::new(Rate::per_second(1500.0), 0, 1, 0, 1);
        assert_eq!([0, 1, 3, 1500].map(|i| schedule.due(i).as_nanos()), [0, 666_666, 2_000_000, 1_000_000_000]);
        assert_eq!(schedule.due(1500 * 86_400 * 365).as_secs(), 86_400 * 365);
        assert_eq!(Schedule::new(Rate::per_second(1198.8), 0, 1, 0, 1).due(11_988), Duration::from_secs(10));
        assert_eq!(Schedule::new(Rate::per_second(0.0), 0, 1, 0, 1).due(1), Duration::from_secs(1000));
    }

    #[test]
    fn how_many_are_due_is_when_they_are_due_the_other_way_round() {
        for rate in [0.5, 10.0, 999.0, 1198.8, 3e6, 7e9] {
            for (first, stride, part) in [(0, 1, 0), (0, 3, 1), (2, 3, 6)] {
                let schedule = Schedule::new(Rate::per_second(rate), first, stride, part, 7);
                for index in [0, 1, 2, 17, 1000, 123_456] {
                    let due = schedule.due(index);
                    assert!(schedule.due_by(due) > index, "{rate} {first} {stride} {index}");
                    if let Some(before) = due.checked_sub(Duration::from_nanos(1)) {
                        assert!(schedule.due_by(before) <= index, "{rate} {first} {stride} {index}");
                    }
                }
            }
        }
    }

    #[test]
    fn connections_share_the_operations_and_loads_begin_apart() {
        let rate = Rate::per_second(100.0);
        let all = Schedule::new(rate, 0, 1, 0, 1);
        let second = Duration::from_secs(1);
        let parts: u64 = (0..3).map(|i| Schedule::new(rate, i, 3, 0, 1).due_by(second)).sum();
        assert_eq!((all.due_by(second), parts), (101, 101));
        assert_eq!(Schedule::new(rate, 1, 3, 0, 1).due(2), all.due(7));
        assert_eq!(Schedule::new(rate, 0, 1, 1, 4).due(0), Duration::from_micros(2500));
        assert_eq!(Schedule::new(rate, 0, 1, 1, 4).due_by(Duration::from_micros(2499)), 0);
    }
}
