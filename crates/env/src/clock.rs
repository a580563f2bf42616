//! [`Clock`]: wall time for timestamps, monotonic time for durations.

use parking_lot::Mutex;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where time comes from.
pub trait Clock: Send + Sync + 'static {
    /// Wall clock, milliseconds since 1970. May jump, backwards too.
    fn now_ms(&self) -> u64;
    /// Time since an arbitrary moment of this process. Never goes backwards.
    fn monotonic(&self) -> Duration;
    /// Hour of the day, 0 to 23, where this machine is.
    fn local_hour(&self) -> u8;
}

/// The machine's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        // A machine set before 1970 reads as 1970: better than stopping.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
    }
    fn monotonic(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
    fn local_hour(&self) -> u8 {
        jiff::Zoned::now().hour() as u8
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct ManualClock(Mutex<Hands>);

#[derive(Debug, Default)]
struct Hands {
    wall_ms: u64,
    monotonic: Duration,
}

impl ManualClock {
    /// A clock whose wall time is `now_ms` and whose monotonic time is zero.
    pub fn new(now_ms: u64) -> ManualClock {
        ManualClock(Mutex::new(Hands { wall_ms: now_ms, monotonic: Duration::ZERO }))
    }
    /// Sets the wall clock, in any direction; monotonic time stays.
    pub fn set(&self, now_ms: u64) {
        self.0.lock().wall_ms = now_ms;
    }
    /// Lets time pass on both clocks.
    pub fn advance(&self, by: Duration) {
        let mut hands = self.0.lock();
        hands.wall_ms += by.as_millis() as u64;
        hands.monotonic += by;
    }
    /// Lets milliseconds pass on both clocks.
    pub fn advance_ms(&self, ms: u64) {
        self.advance(Duration::from_millis(ms));
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.0.lock().wall_ms
    }
    fn monotonic(&self) -> Duration {
        self.0.lock().monotonic
    }
    /// Of UTC.
    fn local_hour(&self) -> u8 {
        (self.now_ms() / 3_600_000 % 24) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::new(1000);
        assert_eq!((clock.now_ms(), clock.monotonic()), (1000, Duration::ZERO));
        clock.advance_ms(250);
        assert_eq!((clock.now_ms(), clock.monotonic()), (1250, Duration::from_millis(250)));
        clock.set(7);
        assert_eq!((clock.now_ms(), clock.monotonic()), (7, Duration::from_millis(250)));
    }

    #[test]
    fn the_system_clock_is_after_2020_and_monotonic() {
        assert!(SystemClock.now_ms() > 1_577_836_800_000);
        let first = SystemClock.monotonic();
        assert!(SystemClock.monotonic() >= first);
    }
}
