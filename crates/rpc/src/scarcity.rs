//! [`Scarcity`]: whether threads that take what all others leave are left enough.
//!
//! Scans run on such threads: the system takes a processor that has nothing else to do for an idle one, and whoever wakes up runs
//! there at once; it has others, of however little weight, run a moment longer, and puts who wakes up beside a network thread. But a
//! machine that is full leaves them next to nothing. So scans go on by threads with a small weight for a while once that is so.
//!
//! ```text
//! a thread for scans has next to nothing (`Share`)                  ──▶ scarcity, for LASTS
//! batch work is done, which takes what is left, too                ──▶ scarcity, for LASTS
//! ```

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use martite_env::share::{NEXT_TO_NOTHING, Share};
use martite_env::thread::RunDelay;

const LASTS: Duration = Duration::from_secs(1);

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
        Some(share) => share.look(now).is_some_and(|spent| spent.is_too_little(NEXT_TO_NOTHING)),
        None => {
            *share = Share::open(now).ok();
            false
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
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
