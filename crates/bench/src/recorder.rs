//! [`Recorder`]: what was done in the time that counts: operations, rows, latencies, and how long nothing was done.

use crate::Error;
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Latencies are kept from a microsecond to ten minutes, in ns, to three digits.
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
    latencies_ns: Histogram<u64>,
    rows: u64,
    /// When the last operation ended.
    last: Instant,
    longest_gap: Duration,
}

/// What a recorder has seen.
#[derive(Debug)]
pub struct Recorded {
    pub latencies_ns: Histogram<u64>,
    pub rows: u64,
    /// The longest time in which no operation ended.
    pub longest_gap: Duration,
}

pub type SharedRecorder = Arc<Mutex<Recorder>>;

impl Recorder {
    pub fn new(window: Window) -> Result<Recorder, Error> {
        let latencies_ns =
            Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, 3).map_err(|e| Error::Setup(e.to_string()))?;
        Ok(Recorder { window, latencies_ns, rows: 0, last: window.begin, longest_gap: Duration::ZERO })
    }

    /// An operation ended now.
    pub fn done(&mut self, started: Instant, now: Instant, rows: u64) {
        if now < self.window.begin || self.window.is_over(now) {
            return;
        }
        self.latencies_ns.saturating_record(now.duration_since(started).as_nanos() as u64);
        self.rows += rows;
        self.note_gap(now);
    }

    fn note_gap(&mut self, now: Instant) {
        self.longest_gap = self.longest_gap.max(now.saturating_duration_since(self.last));
        self.last = now;
    }

    /// The end: silence up to it counts, too.
    pub fn finish(&mut self) -> Recorded {
        if let Some(end) = self.window.end {
            self.note_gap(end);
        }
        Recorded { latencies_ns: self.latencies_ns.clone(), rows: self.rows, longest_gap: self.longest_gap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_in_the_window_counts() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut recorder = Recorder::new(Window { begin: at(100), end: Some(at(1100)) }).unwrap();
        recorder.done(at(0), at(99), 1);
        recorder.done(at(0), at(110), 10);
        recorder.done(at(110), at(400), 10);
        recorder.done(at(400), at(1100), 1);
        let seen = recorder.finish();
        assert_eq!((seen.rows, seen.latencies_ns.len()), (20, 2));
        assert_eq!(seen.longest_gap, Duration::from_millis(700), "from the last to the end");
        let max_ms = seen.latencies_ns.max() as f64 / 1e6;
        assert!((289.0..=291.0).contains(&max_ms), "{max_ms}");
    }
}
