//! [`LogAge`]: when a log file is old enough to be followed by a new one.

use martite_wal::WalStats;
use std::time::Duration;

/// What was seen of the log when the current file began.
#[derive(Debug, Default)]
pub(crate) struct LogAge {
    rolls: u64,
    appends: u64,
    since: Duration,
}

impl LogAge {
    /// Whether the current file is as old as `period` (zero: never) and has entries. Looked at now and then.
    pub fn is_due(&mut self, stats: &WalStats, now: Duration, period: Duration) -> bool {
        if stats.rolls != self.rolls || self.since.is_zero() {
            *self = LogAge { rolls: stats.rolls, appends: stats.appends, since: now };
        }
        !period.is_zero() && stats.appends > self.appends && now.saturating_sub(self.since) >= period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_entries_ends_after_its_period() {
        const HOUR: Duration = Duration::from_hours(1);
        let mut age = LogAge::default();
        let mut is_due = |rolls, appends, minutes: u64, period| {
            let stats = WalStats { rolls, appends, ..WalStats::default() };
            age.is_due(&stats, Duration::from_mins(1000 + minutes), period)
        };
        assert!(!is_due(0, 0, 0, HOUR));
        assert!(!is_due(0, 0, 70, HOUR), "nothing is in it");
        assert!(is_due(0, 5, 71, HOUR) && !is_due(0, 5, 71, Duration::ZERO));
        assert!(!is_due(1, 6, 72, HOUR), "it has been rolled");
        assert!(!is_due(1, 9, 131, HOUR));
        assert!(!is_due(2, 9, 132, HOUR), "rolled by its size");
        assert!(!is_due(2, 10, 191, HOUR) && is_due(2, 10, 192, HOUR));
    }
}
