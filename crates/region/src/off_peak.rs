//! [`OffPeak`]: the hours in which a compaction may do more than at other times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const HOURS_OF_A_DAY: std::ops::Range<i64> = 0..24;

/// Hours of the day (`hbase.offpeak.start.hour`, `hbase.offpeak.end.hour`), in local time. All regions of a server share one: of
/// their compactions one at a time takes advantage of them.
#[derive(Debug, Default)]
pub struct OffPeak {
    /// From the first one until before the second one, be it beyond midnight.
    hours: Option<(u8, u8)>,
    taken: Arc<AtomicBool>,
}

/// The one compaction that takes advantage; dropped when it has ended.
#[derive(Debug)]
pub struct OffPeakTurn(Arc<AtomicBool>);

impl OffPeak {
    /// None: these are no hours of a day. Equal ones, and -1 twice, are no time at all.
    pub fn new(start: i64, end: i64) -> Option<OffPeak> {
        if (start, end) == (-1, -1) {
            return Some(OffPeak::default());
        }
        let valid = HOURS_OF_A_DAY.contains(&start) && HOURS_OF_A_DAY.contains(&end);
        let hours = (start != end).then_some((start as u8, end as u8));
        valid.then(|| OffPeak { hours, ..OffPeak::default() })
    }

    pub fn includes(&self, hour: u8) -> bool {
        match self.hours {
            None => false,
            Some((start, end)) if start < end => (start..end).contains(&hour),
            Some((start, end)) => hour >= start || hour < end,
        }
    }

    /// None: it is another hour, or a compaction has the turn already.
    pub fn turn(&self, hour: u8) -> Option<OffPeakTurn> {
        let takes = self.includes(hour) && !self.taken.swap(true, Ordering::AcqRel);
        takes.then(|| OffPeakTurn(self.taken.clone()))
    }
}

impl Drop for OffPeakTurn {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(start: i64, end: i64) -> Vec<u8> {
        let off_peak = OffPeak::new(start, end).unwrap();
        (0..24).filter(|hour| off_peak.includes(*hour)).collect()
    }

    #[test]
    fn hours_may_go_beyond_midnight() {
        assert_eq!(hours(2, 5), [2, 3, 4]);
        assert_eq!(hours(22, 2), [0, 1, 22, 23]);
        assert_eq!(hours(23, 0), [23]);
        assert_eq!((hours(7, 7), hours(-1, -1)), (vec![], vec![]));
        for (start, end) in [(-1, 3), (3, -1), (0, 24), (25, 3)] {
            assert!(OffPeak::new(start, end).is_none(), "{start} to {end}");
        }
    }

    #[test]
    fn one_at_a_time_takes_advantage() {
        let off_peak = OffPeak::new(1, 3).unwrap();
        assert!(off_peak.turn(3).is_none());
        let turn = off_peak.turn(1);
        assert!(turn.is_some() && off_peak.turn(2).is_none());
        drop(turn);
        assert!(off_peak.turn(2).is_some());
    }
}
