//! [`Timeline`]: what was done in each tenth of a second, and from it the worst second.

use std::time::Duration;

/// Length of a bin.
pub const BIN: Duration = Duration::from_millis(100);
/// Bins of a second.
const SECOND: usize = 10;

/// Counts of one bin, or of a whole run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub operations: u64,
    pub rows: u64,
    /// Of cells in answers.
    pub bytes: u64,
    /// Answers that were RpcThrottlingException.
    pub throttled: u64,
}

impl Tally {
    pub fn add(&mut self, more: Tally) {
        self.operations += more.operations;
        self.rows += more.rows;
        self.bytes += more.bytes;
        self.throttled += more.throttled;
    }
}

/// Bins from the begin of the time that counts.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    bins: Vec<Tally>,
}

impl Timeline {
    /// Something happened so long after the begin.
    pub fn add(&mut self, at: Duration, what: Tally) {
        let bin = (at.as_nanos() / BIN.as_nanos()) as usize;
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, Tally::default());
        }
        self.bins[bin].add(what);
    }

    /// Exactly the bins that lie wholly in a time of this length.
    pub fn of_length(&self, length: Duration) -> Timeline {
        let mut bins = self.bins.clone();
        bins.resize((length.as_nanos() / BIN.as_nanos()) as usize, Tally::default());
        Timeline { bins }
    }

    #[cfg(test)]
    pub fn bins(&self) -> &[Tally] {
        &self.bins
    }

    /// The least and the most of any second, which may begin with any bin; none in less than a second.
    pub fn least_and_most(&self, count: impl Fn(&Tally) -> u64) -> Option<(u64, u64)> {
        let sums = self.bins.windows(SECOND).map(|second| second.iter().map(&count).sum::<u64>());
        sums.fold(None, |found, sum| match found {
            None => Some((sum, sum)),
            Some((least, most)) => Some((least.min(sum), most.max(sum))),
        })
    }

    /// Second by second; what is left of the last is not there.
    pub fn per_second(&self, count: impl Fn(&Tally) -> u64) -> Vec<u64> {
        self.bins.chunks_exact(SECOND).map(|second| second.iter().map(&count).sum()).collect()
    }

    /// The first bin at or after `from` with which a second begins that holds at most `off` more or less than `wanted`.
    pub fn settled(&self, from: usize, wanted: f64, off: f64, count: impl Fn(&Tally) -> u64) -> Option<usize> {
        let near = |second: &[Tally]| (second.iter().map(&count).sum::<u64>() as f64 - wanted).abs() <= off;
        self.bins.windows(SECOND).enumerate().skip(from).find(|(_, second)| near(second)).map(|(bin, _)| bin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(bins: &[u64]) -> Timeline {
        let mut timeline = Timeline::default();
        for (bin, operations) in bins.iter().enumerate() {
            let tally = Tally { operations: *operations, rows: operations * 100, ..Tally::default() };
            timeline.add(BIN * bin as u32 + BIN / 2, tally);
        }
        timeline
    }

    #[test]
    fn the_worst_second_may_begin_anywhere() {
        let mut bins = [5; 30];
        // Nothing in one second that lies across two, then all at once.
        bins[5..15].fill(0);
        bins[15] = 55;
        let timeline = timeline(&bins);
        assert_eq!(timeline.least_and_most(|t| t.operations), Some((0, 100)));
        assert_eq!(timeline.least_and_most(|t| t.rows), Some((0, 10_000)));
        assert_eq!(timeline.per_second(|t| t.operations), [25, 75, 50]);
    }

    #[test]
    fn silence_counts_and_halves_do_not() {
        let timeline = timeline(&[7; 12]);
        let whole = timeline.of_length(Duration::from_millis(2550));
        assert_eq!((whole.bins().len(), whole.bins()[11].operations, whole.bins()[24].operations), (25, 7, 0));
        assert_eq!(whole.least_and_most(|t| t.operations), Some((0, 70)));
        assert_eq!(whole.per_second(|t| t.operations), [70, 14]);
        let short = timeline.of_length(Duration::from_millis(999));
        assert_eq!((short.least_and_most(|t| t.operations), short.per_second(|t| t.operations).len()), (None, 0));
    }

    #[test]
    fn a_new_rate_is_settled_when_a_second_has_it() {
        let mut bins = [100; 40];
        bins[13..].fill(50);
        let timeline = timeline(&bins);
        assert_eq!(timeline.settled(10, 500.0, 0.0, |t| t.operations), Some(13));
        assert_eq!(timeline.settled(10, 500.0, 50.0, |t| t.operations), Some(12));
        assert_eq!(timeline.settled(20, 500.0, 50.0, |t| t.operations), Some(20));
        assert_eq!(timeline.settled(10, 900.0, 10.0, |t| t.operations), None);
    }
}
