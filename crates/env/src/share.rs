//! [`Share`]: whether a thread that takes what others leave ([`crate::thread::stand_back`]) is left enough.

use std::io;
use std::time::{Duration, Instant};

use crate::thread::{RunDelay, cpu_time};

/// It is left next to nothing if it waited so many times as long for a processor as it had one: a thread with a small weight (`nice` 12)
/// would have as much beside an ordinary one.
pub const NEXT_TO_NOTHING: u32 = 15;
/// Over how much of a thread's time, had or waited for, it is told.
const LOOK: Duration = Duration::from_millis(100);

/// What a thread has had of processors, how long it waited for one, and how much time went by.
#[derive(Debug)]
pub struct Share {
    delay: RunDelay,
    opened: Instant,
    looked: Instant,
    began: Spent,
}

/// How a thread spent a while.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    had: Duration,
    waited: Duration,
    all: Duration,
}

impl Share {
    /// Of the calling thread.
    pub fn open(now: Instant) -> io::Result<Share> {
        let delay = RunDelay::open()?;
        let began = Spent { had: cpu_time(), waited: delay.read()?, all: Duration::ZERO };
        Ok(Share { delay, opened: now, looked: now, began })
    }

    /// By the thread that opened it: how it spent the time since this was last told, as it is now and then.
    pub fn look(&mut self, now: Instant) -> Option<Spent> {
        if now.saturating_duration_since(self.looked) < LOOK {
            return None;
        }
        self.looked = now;
        let (had, waited, all) = (cpu_time(), self.delay.read().ok()?, now.saturating_duration_since(self.opened));
        self.began.until(Spent { had, waited, all })
    }
}

impl Spent {
    /// Since then, if it wanted a processor for long enough; the next time begins now.
    fn until(&mut self, now: Spent) -> Option<Spent> {
        let (had, waited) = (now.had.saturating_sub(self.had), now.waited.saturating_sub(self.waited));
        if had + waited < LOOK {
            return None;
        }
        let all = now.all.saturating_sub(self.all);
        *self = now;
        Some(Spent { had, waited, all })
    }

    /// Whether it waited more than so many times as long for a processor as it had one.
    pub fn is_too_little(&self, times: u32) -> bool {
        self.had * times < self.waited
    }

    /// Whether it wanted one for half of the time at least.
    pub fn is_busy(&self) -> bool {
        (self.had + self.waited) * 2 >= self.all
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
        let mut is_little = |had: u64, waited: u64, all: u64| {
            let spent = spent.until(Spent { had: ms(had), waited: ms(waited), all: ms(all) });
            spent.is_some_and(|spent| spent.is_too_little(NEXT_TO_NOTHING) && spent.is_busy())
        };
        assert!(!is_little(0, 99, 99), "not long enough");
        assert!(is_little(6, 94, 100));
        assert!(!is_little(16, 244, 260), "10 and 150");
        assert!(!is_little(17, 340, 357), "1 and 96 are not long enough");
        assert!(is_little(17, 344, 361), "1 and 100");
        assert!(!is_little(18, 444, 565), "1 and 100 of 204: it wanted nothing for most of that");
        assert!(is_little(19, 544, 767), "1 and 100 of 202");
    }
}
