//! [`Scarcity`]: whether threads that take what all others leave are left enough.
//!
//! Scans run on such threads: the system takes a processor that has nothing else to do for an idle one, and whoever wakes up runs
//! there at once; it has others, of however little weight, run a moment longer, and puts who wakes up beside a network thread. But a
//! machine that is full leaves them next to nothing. So scans go on by threads with a small weight for a while once that is so.
//!
//! ```text
//! a thread waited for a processor WEIGHT times as long as it had one ──▶ scarcity, for LASTS
//! batch work is done, which takes what is left, too                  ──▶ scarcity, for LASTS
//! ```

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use martite_env::thread::{RunDelay, cpu_time};

/// What a thread with a small weight gets beside an ordinary one: a fifteenth of its time (`SCAN_NICE`).
const WEIGHT: u32 = 15;
const LASTS: Duration = Duration::from_secs(1);
/// Over how much of a thread's time, had or waited for, it is told.
const LOOK: Duration = Duration::from_millis(100);

/// Of a pool.
#[derive(Debug)]
pub(crate) struct Scarcity {
    origin: Instant,
    /// In milliseconds.
    until: AtomicU64,
}

impl Scarcity {
    pub fn new() -> Scarcity {
        Scarcity { origin: Instant::now(), until: AtomicU64::new(0) }
    }

    /// It never ends where the system does not tell for how long threads wait.
    pub fn unless_told() -> Scarcity {
        let scarcity = Scarcity::new();
        if let Err(e) = RunDelay::open() {
            tracing::debug!("for how long threads wait for processors is not known: {e}");
            scarcity.until.store(u64::MAX, Relaxed);
        }
        scarcity
    }

    pub fn is_now(&self, now: Instant) -> bool {
        self.millis(now) < self.until.load(Relaxed)
    }

    /// Or goes on.
    pub fn begin(&self, now: Instant) {
        self.until.fetch_max(self.millis(now + LASTS), Relaxed);
    }

    fn millis(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.origin).as_millis() as u64
    }
}

thread_local! {
    static SHARE: RefCell<Option<Share>> = const { RefCell::new(None) };
}

/// Whether the calling thread, one that takes what others leave, has had too little since it was last asked; now and then it is seen.
pub(crate) fn has_too_little(now: Instant) -> bool {
    SHARE.with_borrow_mut(|share| match share {
        Some(share) => share.is_too_little(now),
        None => {
            *share = Share::open(now).ok();
            false
        }
    })
}

/// What a thread has had of processors, and how long it waited for one.
#[derive(Debug)]
struct Share {
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
    fn open(now: Instant) -> std::io::Result<Share> {
        let delay = RunDelay::open()?;
        let began = Spent { had: cpu_time(), waited: delay.read()? };
        Ok(Share { delay, looked: now, began })
    }

    fn is_too_little(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.looked) < LOOK {
            return false;
        }
        self.looked = now;
        let Ok(waited) = self.delay.read() else { return false };
        self.began.is_little_since(Spent { had: cpu_time(), waited })
    }
}

impl Spent {
    /// Since then, if that is long enough; the next time begins now.
    fn is_little_since(&mut self, now: Spent) -> bool {
        let (had, waited) = (now.had.saturating_sub(self.had), now.waited.saturating_sub(self.waited));
        if had + waited < LOOK {
            return false;
        }
        *self = now;
        had * WEIGHT < waited
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
        let mut is_little = |had: u64, waited: u64| spent.is_little_since(Spent { had: ms(had), waited: ms(waited) });
        assert!(!is_little(0, 99), "not long enough");
        assert!(is_little(6, 94));
        assert!(!is_little(16, 244), "10 and 150");
        assert!(!is_little(17, 340), "1 and 96 are not long enough");
        assert!(is_little(17, 344), "1 and 100");
    }

    #[test]
    fn scarcity_ends_by_itself_and_goes_on_if_it_begins_again() {
        let (scarcity, now) = (Scarcity::new(), Instant::now());
        assert!(!scarcity.is_now(now));
        scarcity.begin(now);
        assert!(scarcity.is_now(now) && scarcity.is_now(now + LASTS - ms(2)));
        assert!(!scarcity.is_now(now + LASTS));
        scarcity.begin(now + LASTS / 2);
        scarcity.begin(now);
        assert!(scarcity.is_now(now + LASTS));
    }
}
