//! [`Share`]: whether a thread that takes what others leave ([`crate::thread::stand_back`]) is left enough.

use std::io;
use std::ops::AddAssign;
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
    pub had: Duration,
    /// For a processor.
    pub waited: Duration,
    pub all: Duration,
}

impl Share {
    /// Of the calling thread.
    pub fn open(now: Instant) -> io::Result<Share> {
        let delay = RunDelay::open()?;
        let began = Spent { had: cpu_time(), waited: delay.read()?, all: Duration::ZERO };
        Ok(Share { delay, opened: now, looked: now, began })
    }

    /// By the thread that opened it: how it spent the time since this was last told, as it is once it wanted a processor for long enough.
    pub fn look(&mut self, now: Instant) -> Option<Spent> {
        self.told(now, LOOK).filter(Spent::is_enough).inspect(|spent| self.began += *spent)
    }

    /// The same, as it is whenever that was so long ago.
    pub fn look_often(&mut self, now: Instant, every: Duration) -> Option<Spent> {
        self.told(now, every).inspect(|spent| self.began += *spent)
    }

    /// Since it was last told; none if it was looked less than `every` ago.
    fn told(&mut self, now: Instant, every: Duration) -> Option<Spent> {
        if now.saturating_duration_since(self.looked) < every {
            return None;
        }
        self.looked = now;
        let (had, waited, all) = (cpu_time(), self.delay.read().ok()?, now.saturating_duration_since(self.opened));
        Some(Spent {
            had: had.saturating_sub(self.began.had),
            waited: waited.saturating_sub(self.began.waited),
            all: all.saturating_sub(self.began.all),
        })
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Spent) {
        self.had += more.had;
        self.waited += more.waited;
        self.all += more.all;
    }
}

impl Spent {
    /// Whether it wanted a processor for long enough to tell.
    pub fn is_enough(&self) -> bool {
        self.had + self.waited >= LOOK
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
        let is_little = |had: u64, waited: u64, all: u64| {
            let spent = Spent { had: ms(had), waited: ms(waited), all: ms(all) };
            spent.is_enough() && spent.is_too_little(NEXT_TO_NOTHING) && spent.is_busy()
        };
        assert!(!is_little(0, 99, 99), "not long enough");
        assert!(is_little(6, 94, 100));
        assert!(!is_little(10, 150, 160));
        assert!(!is_little(1, 96, 97), "not long enough");
        assert!(is_little(1, 100, 101));
        assert!(!is_little(1, 100, 204), "it wanted nothing for most of that");
        assert!(is_little(1, 100, 202));
    }

    #[test]
    fn what_is_told_once_is_not_told_again() {
        let now = Instant::now();
        let Ok(mut share) = Share::open(now) else { return };
        while cpu_time() < share.began.had + ms(2) {}
        let every = ms(10);
        assert!(share.look_often(now + ms(9), every).is_none() && share.look(now + ms(99)).is_none());
        let first = share.look_often(now + ms(10), every).unwrap();
        assert!(first.had >= ms(2) && first.all == ms(10));
        assert_eq!(share.look_often(now + ms(30), every).unwrap().all, ms(20));
        while cpu_time() < share.began.had + LOOK {}
        assert!(share.look(now + ms(129)).is_none(), "it was looked not long ago");
        assert!(share.look(now + ms(130)).unwrap().had >= LOOK);
        assert!(share.look(now + ms(230)).is_none_or(|spent| spent.waited >= ms(90)), "told");
    }
}
