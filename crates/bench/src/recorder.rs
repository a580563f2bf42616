//! [`Recorder`]: what was done in the time that counts: operations, rows, latencies, what failed, and how long nothing was done.

use crate::Error;
use crate::tenths::Tenths;
use crate::timeline::{Tally, Timeline};
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Latencies are kept from a microsecond to ten minutes, in ns.
const LOWEST_NS: u64 = 1_000;
const HIGHEST_NS: u64 = 600_000_000_000;

/// The time that counts.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub begin: Instant,
    /// None: until all is done.
    pub end: Option<Instant>,
}

impl Window {
    pub fn is_over(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }
}

/// Shared by the client threads of one load.
#[derive(Debug)]
pub struct Recorder {
    window: Window,
    recorded: Recorded,
    /// When the last operation ended.
    last: Instant,
}

/// What a recorder has seen.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub latencies_ns: Histogram<u64>,
    pub total: Tally,
    pub timeline: Timeline,
    pub tenths: Tenths,
    /// The longest time in which no operation ended.
    pub longest_gap: Duration,
    /// Operations that were given up.
    pub failed: u64,
    /// Operations that ended by an exception that was not about throttling, also among those that failed.
    pub other_errors: u64,
    /// Operations of an open loop that were due while as many were under way as may be.
    pub not_begun: u64,
    /// Operations under way when the window was over.
    pub left: u64,
}

pub type SharedRecorder = Arc<Mutex<Recorder>>;

impl Recorder {
    /// Latencies are told to so many digits: of thousands of recorders, three each would be much memory.
    pub fn new(window: Window, digits: u8) -> Result<Recorder, Error> {
        let latencies_ns =
            Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, digits).map_err(|e| Error::Setup(e.to_string()))?;
        let recorded = Recorded {
            latencies_ns,
            total: Tally::default(),
            timeline: Timeline::default(),
            tenths: Tenths::default(),
            longest_gap: Duration::ZERO,
            failed: 0,
            other_errors: 0,
            not_begun: 0,
            left: 0,
        };
        Ok(Recorder { window, recorded, last: window.begin })
    }

    fn counts(&self, now: Instant) -> bool {
        now >= self.window.begin && !self.window.is_over(now)
    }

    fn add(&mut self, now: Instant, what: Tally) {
        self.recorded.total.add(what);
        self.recorded.timeline.add(now - self.window.begin, what);
    }

    /// An operation ended now; bytes of its cells.
    pub fn done(&mut self, started: Instant, now: Instant, rows: u64, bytes: u64) {
        if self.counts(now) {
            let latency = now.duration_since(started);
            self.recorded.latencies_ns.saturating_record(latency.as_nanos() as u64);
            self.recorded.tenths.add(now - self.window.begin, latency);
            self.add(now, Tally { operations: 1, rows, bytes, throttled: 0 });
            self.note_gap(now);
        }
    }

    /// An operation goes on that has come so far since this was told last.
    pub fn part(&mut self, now: Instant, rows: u64) {
        if self.counts(now) {
            self.add(now, Tally { rows, ..Tally::default() });
        }
    }

    /// The server answered that a limit is exceeded.
    pub fn throttled(&mut self, now: Instant) {
        if self.counts(now) {
            self.add(now, Tally { throttled: 1, ..Tally::default() });
        }
    }

    /// An operation was given up.
    pub fn failed(&mut self, now: Instant, throttled: bool) {
        if throttled {
            self.throttled(now);
        }
        if self.counts(now) {
            self.recorded.failed += 1;
            self.recorded.other_errors += u64::from(!throttled);
        }
    }

    /// So many operations were due and could not begin.
    pub fn not_begun(&mut self, now: Instant, operations: u64) {
        if self.counts(now) {
            self.recorded.not_begun += operations;
        }
    }

    /// A connection has ended with so many operations under way.
    pub fn left(&mut self, operations: usize) {
        self.recorded.left += operations as u64;
    }

    fn note_gap(&mut self, now: Instant) {
        let gap = now.saturating_duration_since(self.last);
        self.recorded.longest_gap = self.recorded.longest_gap.max(gap);
        self.last = now;
    }

    /// The end: silence up to it counts, too.
    pub fn finish(&mut self) -> Recorded {
        let mut recorded = self.recorded.clone();
        if let Some(end) = self.window.end {
            self.note_gap(end);
            recorded.longest_gap = self.recorded.longest_gap;
            recorded.timeline = recorded.timeline.of_length(end - self.window.begin);
        }
        recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_in_the_window_counts() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut recorder = Recorder::new(Window { begin: at(100), end: Some(at(1100)) }, 3).unwrap();
        recorder.done(at(0), at(99), 1, 7);
        recorder.done(at(0), at(110), 10, 7);
        recorder.done(at(110), at(400), 10, 7);
        recorder.done(at(400), at(1100), 1, 7);
        for ms in [99, 500, 1100] {
            recorder.throttled(at(ms));
            recorder.failed(at(ms), true);
            recorder.failed(at(ms), false);
            recorder.not_begun(at(ms), 5);
        }
        recorder.left(3);
        let seen = recorder.finish();
        assert_eq!(seen.total, Tally { operations: 2, rows: 20, bytes: 14, throttled: 2 });
        assert_eq!(seen.latencies_ns.len(), 2);
        assert_eq!((seen.failed, seen.other_errors, seen.not_begun, seen.left), (2, 1, 5, 3));
        assert_eq!(
            seen.timeline.bins().iter().map(|bin| bin.throttled).collect::<Vec<_>>(),
            [0, 0, 0, 0, 2, 0, 0, 0, 0, 0]
        );
        assert_eq!(seen.longest_gap, Duration::from_millis(700), "from the last to the end");
        let max_ms = seen.latencies_ns.max() as f64 / 1e6;
        assert!((289.0..=291.0).contains(&max_ms), "{max_ms}");
    }
}
