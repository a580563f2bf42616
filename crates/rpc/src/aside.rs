//! [`Aside`]: work of low priority that a network thread does while it has nothing to do.
//!
//! ```text
//! nothing to read ──▶ a job for network threads waits? ──▶ a piece of it, until something comes ──▶ look at the sockets
//!                     nobody else wants the processor?
//! ```
//! To be woken for a call, with the caches full of what a thread of the lowest priority did meanwhile, costs several times what the
//! call itself does: where such work waits, less is left for it the more often that happens. A thread that does pieces of it by
//! itself is awake when a call comes.
//!
//! It has ordinary priority, which the work has not: it looks how long it had to wait for the processor, and lets the threads
//! that stand back do the work if that was long ([`Retreat`]). And once in a while it sleeps until the next call, for [`PAUSE`] at
//! most: threads that stand back, which read such calls and send their answers, get next to nothing of its processor otherwise;
//! whoever calls has it back at once. (That Linux gives them their little share in pieces of milliseconds, for which calls would
//! wait, is a guess: what the sleep does to the 99th percentile of Gets could not be told from noise.)

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use martite_env::thread::RunDelay;

use crate::others;
use crate::pool::{self, Class, Pool};

/// After so long a thread sleeps until the next call, and looks whether others wanted its processor.
const STRETCH: Duration = Duration::from_millis(1);
/// They do if it has waited for one part in so many of the time.
const WAITED: u32 = 10;
/// How long it then does nothing of the kind: the first time, and at most. Also how long it sleeps at most while there is work.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// After so long without such a wait, the next one is the first again.
const CALM: Duration = Duration::from_millis(200);

/// What a thread does that has nothing to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// A piece of work, if nothing comes.
    Work,
    /// To wait for a call, for so long at most if that is said: there is work, which others may be about to do.
    Sleep(Option<Duration>),
}

pub(crate) struct Aside {
    /// Of the server whose call came last.
    pool: Weak<Pool>,
    /// Its jobs that wait for a network thread.
    jobs: Arc<AtomicUsize>,
    /// None: not known on this system, and nothing is done.
    delay: Option<RunDelay>,
    /// The stretch under way: when it began, and how long the thread had waited until then.
    stretch: Option<(Instant, Duration)>,
    /// The next job is not for network threads: it is one's turn who may block, and has to have the processor.
    found_none: bool,
    retreat: Retreat,
}

impl Aside {
    /// For the calling thread.
    pub fn new() -> Aside {
        let delay =
            RunDelay::open().inspect_err(|e| tracing::debug!("work of low priority has threads of its own only: {e}"));
        Aside {
            pool: Weak::new(),
            jobs: Arc::default(),
            delay: delay.ok(),
            stretch: None,
            found_none: false,
            retreat: Retreat::default(),
        }
    }

    /// Where there may be work.
    pub fn know(&mut self, pool: Option<&Arc<Pool>>) {
        if let Some(pool) = pool
            && !std::ptr::eq(Arc::as_ptr(pool), self.pool.as_ptr())
        {
            (self.pool, self.jobs) = (Arc::downgrade(pool), pool.aside());
        }
    }

    /// For the thread when it has nothing to do.
    pub fn idle(&mut self, now: Instant) -> Idle {
        let found_none = std::mem::take(&mut self.found_none);
        if self.delay.is_none() || self.jobs.load(Relaxed) == 0 {
            self.stretch = None;
            return Idle::Sleep(None);
        }
        if !found_none && self.is_alone(now) {
            return Idle::Work;
        }
        self.stretch = None;
        // The threads that stand back may be held up, by a disk for instance.
        Idle::Sleep(Some(self.retreat.rest(now).unwrap_or(PAUSE)))
    }

    /// Does a piece of work; for how long.
    pub fn work(&mut self, now: Instant) -> Duration {
        let Some(job) = self.pool.upgrade().and_then(|pool| pool.take_aside()) else {
            self.found_none = true;
            return Duration::ZERO;
        };
        others::note_connections(false);
        pool::run(Class::Batch, job);
        now.elapsed()
    }

    /// Whether nobody else wants the processor, as far as is known.
    fn is_alone(&mut self, now: Instant) -> bool {
        if self.retreat.rest(now).is_some() {
            return false;
        }
        let Some(delay) = &self.delay else { return false };
        match self.stretch {
            Some((began, _)) if now.saturating_duration_since(began) < STRETCH => true,
            before => {
                let Ok(waited) = delay.read() else { return false };
                if let Some((began, known)) = before {
                    self.retreat.look(now, now - began, waited.saturating_sub(known));
                    return false;
                }
                self.stretch = Some((now, waited));
                true
            }
        }
    }
}

/// When to leave the processor to others.
#[derive(Debug, Default)]
struct Retreat {
    /// How long the last pause was, and when it was over.
    last: Option<(Duration, Instant)>,
}

impl Retreat {
    /// What is left of the pause.
    fn rest(&self, now: Instant) -> Option<Duration> {
        self.last.map(|(_, until)| until.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
    }

    /// Of the time `of` up to now the thread has waited for so long.
    fn look(&mut self, now: Instant, of: Duration, waited: Duration) {
        if waited * WAITED <= of {
            return;
        }
        let again = self.last.filter(|(_, until)| now.saturating_duration_since(*until) < CALM);
        let pause = again.map_or(PAUSE, |(pause, _)| (pause * 2).min(LONGEST_PAUSE));
        self.last = Some((pause, now + pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_in_the_way_retreats_for_longer_and_longer() {
        let (mut retreat, mut now) = (Retreat::default(), Instant::now());
        let ms = Duration::from_millis;
        retreat.look(now, ms(10), ms(1));
        assert_eq!(retreat.rest(now), None);
        for pause in [10, 20, 40, 80, 160, 320, 640, 1000, 1000] {
            retreat.look(now, ms(10), ms(2));
            assert_eq!(retreat.rest(now + ms(pause) - ms(1)), Some(ms(1)));
            now += ms(pause);
            assert_eq!(retreat.rest(now), None);
        }
        now += CALM;
        retreat.look(now, ms(1), ms(1));
        assert_eq!((retreat.rest(now), retreat.rest(now + PAUSE)), (Some(PAUSE), None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn while_there_is_work_nobody_sleeps_for_good() {
        let (mut aside, now) = (Aside::new(), Instant::now());
        assert_eq!(aside.idle(now), Idle::Sleep(None));
        aside.jobs.store(1, Relaxed);
        assert_eq!(aside.idle(now), Idle::Work);
        // The next job is for others.
        assert_eq!(aside.work(now), Duration::ZERO);
        assert_eq!(aside.idle(now), Idle::Sleep(Some(PAUSE)));
        assert_eq!(aside.idle(now), Idle::Work);
        // It has worked for long enough; whether it waited meanwhile, and retreats now, is the machine's.
        assert!(matches!(aside.idle(now + STRETCH), Idle::Sleep(Some(_))));
        aside.retreat.last = Some((PAUSE, now + PAUSE / 2));
        assert_eq!(aside.idle(now), Idle::Sleep(Some(PAUSE / 2)));
        assert_eq!(aside.idle(now + PAUSE), Idle::Work);
        aside.jobs.store(0, Relaxed);
        assert_eq!(aside.idle(now), Idle::Sleep(None));
    }
}
