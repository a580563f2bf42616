//! [`Share`]: whether a thread that takes what others leave ([`crate::thread::stand_back`]) is left enough.

use std::io;
use std::time::{Duration, Instant};

use crate::thread::{RunDelay, cpu_time};

/// It is left next to nothing if it waited so many times as long for a processor as it had one: a thread with a small weight (`nice` 12)
/// would have as much beside an ordinary one.
pub const NEXT_TO_NOTHING: u32 = 15;
/// Over how much of a thread's time, had or waited for, it is told.
const LOOK: Duration = Duration::from_millis(100);

/// What a thread has had of processors, and how long it waited for one.
#[derive(Debug)]
pub struct Share {
    delay: RunDelay,
    looked: Instant,
    began: Spent,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    had: Duration,
    waited: Duration,
}

impl Share {
    /// Of the calling thread.
    pub fn open(now: Instant) -> io::Result<Share> {
        let delay = RunDelay::open()?;
        let began = Spent { had: cpu_time(), waited: delay.read()? };
        Ok(Share { delay, looked: now, began })
    }

    /// Whether the thread that opened it, which asks, waited more than so many times as long as it had a processor since that was last
    /// seen, as it is now and then.
    pub fn is_too_little(&mut self, now: Instant, times: u32) -> bool {
        if now.saturating_duration_since(self.looked) < LOOK {
            return false;
        }
        self.looked = now;
        let Ok(waited) = self.delay.read() else { return false };
        self.began.is_little_since(Spent { had: cpu_time(), waited }, times)
    }
}

impl Spent {
    /// Since then, if that is long enough; the next time begins now.
    fn is_little_since(&mut self, now: Spent, times: u32) -> bool {
        let (had, waited) = (now.had.saturating_sub(self.had), now.waited.saturating_sub(self.waited));
        if had + waited < LOOK {
            return false;
        }
        *self = now;
        had * times < waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_fifteenth_of_what_others_have_is_enough() {
        let mut spent = Spent::default();
        let mut is_little =
            |had: u64, waited: u64| spent.is_little_since(Spent { had: ms(had), waited: ms(waited) }, NEXT_TO_NOTHING);
        assert!(!is_little(0, 99), "not long enough");
        assert!(is_little(6, 94));
        assert!(!is_little(16, 244), "10 and 150");
        assert!(!is_little(17, 340), "1 and 96 are not long enough");
        assert!(is_little(17, 344), "1 and 100");
    }
}
