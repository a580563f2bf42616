//! [`Pace`]: how fast all compactions of the server together go, in small steps with rests between them.
//!
//! HBase's `PressureAwareCompactionThroughputController`: a store under pressure has more files than a compaction takes, and at
//! `hbase.hstore.blockingStoreFiles` its flushes have to wait.
//!
//! | files of the fullest store | bytes a second |
//! |---|---|
//! | up to `hbase.hstore.compaction.min` | the lower bound |
//! | between | in proportion, up to the higher bound |
//! | the blocking number and more | no limit |
//!
//! In off-peak hours a bound of their own takes the place of the first two. HBase lifts the limit with one file more, after a flush
//! has waited in vain.
//!
//! HBase sleeps when it has written as much as a second allows; here a compaction rests after some 64 KiB, so that it has the processor
//! and the disk for a fraction of a millisecond at a time. What is read and what is written count half each: a compaction
//! that drops everything is limited, too.

use crate::RegionServer;
use parking_lot::Mutex;
use std::time::Duration;

/// How often the stores are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time lost by sleeping too long, or in a sync, that may be made up for...
const SLACK: Duration = Duration::from_millis(20);
/// ...by resting less after each step, not by going on without a rest: this part of the time that the step stands for, at least.
const LEAST_REST_PART: u32 = 4;
/// Longest rest at once: a server that stops, or a region that closes, waits for it.
const LONGEST_REST: Duration = Duration::from_millis(500);

/// Bounds of compaction, in bytes a second (`hbase.hstore.compaction.throughput.lower.bound`, `.higher.bound`, `.offpeak`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionBounds {
    pub lower: u64,
    pub higher: u64,
    /// [`u64::MAX`]: none.
    pub off_peak: u64,
}

/// What decides how fast compactions go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Of the server's stores, the greatest.
    pub pressure: f64,
    pub is_off_peak: bool,
}

impl CompactionBounds {
    /// `hbase.regionserver.throughput.controller` = NoLimitThroughputController.
    pub const NONE: CompactionBounds = CompactionBounds { lower: u64::MAX, higher: u64::MAX, off_peak: u64::MAX };

    /// None: no limit.
    fn rate(self, Load { pressure, is_off_peak }: Load) -> Option<f64> {
        if pressure >= 1.0 || self == CompactionBounds::NONE || (is_off_peak && self.off_peak == u64::MAX) {
            return None;
        }
        let (lower, higher) = (self.lower as f64, self.higher as f64);
        let rate = if is_off_peak { self.off_peak as f64 } else { lower + (higher - lower) * pressure };
        Some(rate.max(1.0))
    }
}

#[derive(Debug)]
pub(crate) struct Pace {
    bounds: CompactionBounds,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// None: no limit.
    bytes_per_s: Option<f64>,
    pressure: f64,
    next_look: Duration,
    /// When what was read and written so far is due.
    due: Duration,
}

impl Pace {
    pub fn new(bounds: CompactionBounds) -> Pace {
        Pace { bounds, state: Mutex::default() }
    }

    /// How long a compaction rests that has read and written so many bytes since it was last here.
    pub fn rest(&self, bytes: u64, now: Duration, load: impl FnOnce() -> Load) -> Duration {
        let mut state = self.state.lock();
        if now >= state.next_look {
            state.next_look = now + LOOK_EVERY;
            let load = load();
            (state.bytes_per_s, state.pressure) = (self.bounds.rate(load), load.pressure);
        }
        let Some(bytes_per_s) = state.bytes_per_s else { return Duration::ZERO };
        let takes = Duration::try_from_secs_f64(bytes as f64 / 2.0 / bytes_per_s).unwrap_or(LONGEST_REST);
        state.due = state.due.max(now.saturating_sub(SLACK)).saturating_add(takes).min(now + LONGEST_REST);
        state.due.saturating_sub(now).max(takes / LEAST_REST_PART).min(LONGEST_REST)
    }

    /// As it was last looked for.
    pub fn pressure(&self) -> f64 {
        self.state.lock().pressure
    }
}

pub(crate) fn load(server: &RegionServer) -> Load {
    let pressure = server.online.all().iter().map(|region| region.compaction_pressure()).fold(0.0, f64::max);
    Load { pressure, is_off_peak: server.ctx.config.off_peak.includes(server.ctx.clock.local_hour()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const CALM: Load = Load { pressure: 0.0, is_off_peak: false };
    const BOUNDS: CompactionBounds = CompactionBounds { lower: 50 * MIB, higher: 100 * MIB, off_peak: 150 * MIB };

    /// MiB that are written (and as many read) in two seconds, in steps that take `work` each.
    fn written(pace: &Pace, (pressure, is_off_peak): (f64, bool), work: Duration) -> f64 {
        let (mut now, mut steps) = (Duration::from_secs(5), 0);
        while now < Duration::from_secs(7) {
            steps += 1;
            now += work;
            now += pace.rest(64 << 10, now, || Load { pressure, is_off_peak });
        }
        f64::from(steps) * 32.0 / 1024.0
    }

    #[test]
    fn the_rate_follows_the_pressure() {
        let work = Duration::from_micros(150);
        for (pressure, mib) in [(0.0, 100.0), (0.5, 150.0), (0.9, 190.0)] {
            let found = written(&Pace::new(BOUNDS), (pressure, false), work);
            assert!((mib - 0.1..=mib + 2.1).contains(&found), "pressure {pressure}: {found} MiB");
        }
        let pace = Pace::new(BOUNDS);
        for (at_ms, pressure) in [(1000, 0.5), (1999, 0.5), (2000, 0.4)] {
            pace.rest(1, Duration::from_millis(at_ms), || Load { pressure, ..CALM });
            assert_eq!(pace.pressure(), pressure, "at {at_ms} ms");
        }
        let full_speed = 2e6 / 150.0 * 32.0 / 1024.0;
        assert!(written(&Pace::new(BOUNDS), (1.0, false), work) > full_speed - 1.0);
        assert!(written(&Pace::new(CompactionBounds::NONE), (0.0, false), work) > full_speed - 1.0);
        for pressure in [0.0, 0.9] {
            let found = written(&Pace::new(BOUNDS), (pressure, true), work);
            assert!((299.9..=303.1).contains(&found), "off-peak, pressure {pressure}: {found} MiB");
        }
        assert!(written(&Pace::new(BOUNDS), (1.0, true), work) > full_speed - 1.0);
        let bounds = CompactionBounds { off_peak: u64::MAX, ..BOUNDS };
        assert!(written(&Pace::new(bounds), (0.0, true), work) > full_speed - 1.0);
    }

    #[test]
    fn two_compactions_share_the_rate() {
        let pace = Pace::new(BOUNDS);
        let rests = [(); 3].map(|()| pace.rest(4 * MIB, Duration::from_secs(9), || CALM).as_millis());
        assert_eq!(rests, [20, 60, 100], "each follows the one before");
    }

    #[test]
    fn a_step_that_took_longer_than_its_share_is_followed_by_the_shortest_rest() {
        // A quarter of the 0.625 ms that 64 KiB stand for.
        let shortest = Duration::from_nanos(156_250);
        assert_eq!(Pace::new(BOUNDS).rest(64 << 10, Duration::from_secs(9), || CALM), shortest, "slack");
        let found = written(&Pace::new(BOUNDS), (0.0, false), Duration::from_millis(2));
        assert_eq!(found, (2000.0 / 2.15625_f64).ceil() * 32.0 / 1024.0, "always the shortest rest");
    }

    #[test]
    fn a_rest_ends() {
        let pace = Pace::new(CompactionBounds { lower: 0, higher: 0, off_peak: 0 });
        for _ in 0..10 {
            assert_eq!(pace.rest(u64::MAX, Duration::from_secs(9), || CALM), LONGEST_REST);
        }
        assert_eq!(
            pace.rest(2, Duration::from_secs(10), || Load { pressure: 2.0, ..CALM }),
            Duration::ZERO,
            "the pressure has risen"
        );
    }
}
