//! [`Aside`]: work of low priority, and scans, that a network thread does while it has nothing to do.
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
//! most: threads that stand back get next to nothing of its processor otherwise; whoever calls has it back at once.
//!
//! Where it is known how many processors there are, it is a host: it reads the connections of low priority, too, its guests, while it
//! has nothing else to do, and does their work, for which no more threads are woken than there are processors besides those that
//! network threads need. No other thread then wants its processor, and it need not sleep. It ends that when it retreats, and when
//! it has no time for such work.
//!
//! A host goes on with scans of ordinary priority, too, before all work of low priority: with those for which none of the pool's threads
//! is free, in their order. Beside it so many of these work as there are processors left, and if one of them does not get on, because
//! some other process has that processor, all scans are theirs for a while, on this one ([`Retreat`]). A scan of some hundred microseconds that
//! begins here and ends on another thread costs two turns of threads, and that thread takes turns with clients on the other processor.
//!
//! Scans get on beside calls that leave a host no time, too: between two turns of those it does a piece of one, the shortest there is,
//! for a small part of its time ([`SHARE`]). A thread for scans would have as much of the processor, but longer at a time.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use martite_env::thread::RunDelay;

use crate::others;
use crate::pool::{self, Class, Job, Pool, Waits};
use crate::reactor::Remote;

/// After so long a thread sleeps until the next call, and looks whether others wanted its processor.
const STRETCH: Duration = Duration::from_millis(1);
/// A host concludes from so much of its time whether they did.
const LOOK: Duration = Duration::from_millis(10);
/// They do if it has waited for one part in so many of the time.
const WAITED: u32 = 10;
/// How long it then does nothing of the kind: the first time, and at most. Also how long it sleeps at most while there is work.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// After so long without such a wait, the next one is the first again.
const CALM: Duration = Duration::from_millis(200);

/// Scans that wait for a host have one part in so many of its time if it is busy; a thread with a small weight would have that
/// beside it (`scarcity`).
const SHARE: u32 = 15;
/// When it looks again for one that was not for it.
const NOT_YET: Duration = Duration::from_micros(100);

/// What a thread does that has nothing to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// A piece of work, if nothing comes.
    Work,
    /// To wait for a call, for so long at most if that is said: there is work, which others may be about to do.
    Sleep(Option<Duration>),
}

pub(crate) struct Aside {
    thread: Remote,
    /// Of the server whose call came last.
    pool: Weak<Pool>,
    /// Its jobs that wait for a network thread.
    jobs: Arc<Waits>,
    /// The thread that reads the connections of low priority which nobody else does.
    behind: Option<Remote>,
    /// None: not known on this system, and nothing is done.
    delay: Option<RunDelay>,
    /// The stretch under way: when it began, and how long the thread had waited until then. Those of a host before it of which
    /// nothing was concluded yet: how long they were, and of that the thread waited.
    stretch: Option<(Instant, Duration)>,
    stretches: (Duration, Duration),
    /// How long it sleeps after the last one.
    sleep: Option<Duration>,
    /// The next job is not for network threads: it is one's turn who may block, and has to have the processor.
    found_none: bool,
    /// If it is a host: how many processors are left beside. Since when there is work of which it did nothing.
    hosts: Option<usize>,
    waits_since: Option<Instant>,
    /// When a busy one owes scans a piece again.
    owes_at: Option<Instant>,
    retreat: Retreat,
}

impl Aside {
    /// For the calling thread, which others know as `thread`.
    pub fn new(thread: Remote) -> Aside {
        let delay =
            RunDelay::open().inspect_err(|e| tracing::debug!("work of low priority has threads of its own only: {e}"));
        Aside {
            thread,
            pool: Weak::new(),
            jobs: Arc::default(),
            behind: None,
            delay: delay.ok(),
            stretch: None,
            stretches: Default::default(),
            sleep: None,
            found_none: false,
            hosts: None,
            waits_since: None,
            owes_at: None,
            retreat: Retreat::default(),
        }
    }

    /// Where there may be work, and who else there is for it.
    pub fn know(&mut self, pool: Option<&Arc<Pool>>, behind: &Remote) {
        if let Some(pool) = pool
            && !std::ptr::eq(Arc::as_ptr(pool), self.pool.as_ptr())
        {
            // It may become one again when it has nothing to do.
            self.become_host(None);
            (self.pool, self.jobs, self.behind) = (Arc::downgrade(pool), pool.aside(), Some(behind.clone()));
        }
    }

    /// As known.
    pub fn pool(&self) -> Option<Arc<Pool>> {
        self.pool.upgrade()
    }

    /// Whether the thread is a host from now on, one beside whom so many processors are left. Threads of low priority look after the
    /// work that waits if there are more of those, or if it is none.
    pub fn host(&mut self, now: Instant, spare: Option<usize>) -> bool {
        let spare = spare.filter(|_| self.delay.is_some() && self.retreat.rest(now).is_none());
        self.become_host(spare);
        spare.is_some()
    }

    fn become_host(&mut self, spare: Option<usize>) {
        if std::mem::replace(&mut self.hosts, spare) != spare {
            self.waits_since = None;
            others::note_host(spare.is_some());
            match (self.pool.upgrade(), spare) {
                (Some(pool), Some(spare)) => pool.begin_hosting(self.thread.clone(), spare),
                (Some(pool), None) => pool.end_hosting(&self.thread),
                (None, _) => {}
            }
        }
    }

    /// Whether there is work; of a host that had no time for it for long others take it over. `guests`: some of them wait.
    pub fn is_short_of_time(&mut self, now: Instant, guests: bool) -> bool {
        if !self.has_work(guests) {
            self.waits_since = None;
            return false;
        }
        let since = *self.waits_since.get_or_insert(now);
        let waited = now.saturating_duration_since(since);
        let is_short = waited >= PAUSE;
        if is_short {
            self.retreat.look(now, waited, waited);
        }
        is_short
    }

    fn has_work(&self, guests: bool) -> bool {
        guests || self.jobs.any()
    }

    /// For the thread when it has nothing to do but for its `guests`.
    pub fn idle(&mut self, now: Instant, guests: bool) -> Idle {
        let found_none = std::mem::take(&mut self.found_none);
        if self.delay.is_none() || !self.has_work(guests) {
            self.stretch = None;
            // After a retreat it may be a host again, to whom guests come.
            return Idle::Sleep(self.retreat.rest(now));
        }
        if !found_none && self.is_alone(now) {
            return Idle::Work;
        }
        (self.stretch, self.waits_since) = (None, None);
        // The threads that stand back may be held up, by a disk for instance.
        let most = self.sleep.take().unwrap_or(PAUSE);
        Idle::Sleep(Some(self.retreat.rest(now).unwrap_or(most)))
    }

    /// A guest has its turn.
    pub fn begin_turn(&mut self) {
        self.waits_since = None;
        others::note_connections(false);
    }

    /// Does a piece of work; for how long.
    pub fn work(&mut self, now: Instant) -> Duration {
        let Some((class, job)) = self.pool.upgrade().and_then(|pool| pool.take_aside()) else {
            self.found_none = true;
            return Duration::ZERO;
        };
        self.begin_turn();
        self.run(now, class, job)
    }

    fn run(&mut self, now: Instant, class: Class, job: Job) -> Duration {
        let began = Instant::now();
        pool::run(class, job);
        let took = began.elapsed();
        if class != Class::Batch {
            self.owes_at = Some(now + took * SHARE);
        }
        took
    }

    /// A busy host between two turns: does a piece of a scan if it is time for one; for how long. `guests`: some of them wait.
    pub fn work_between(&mut self, now: Instant, guests: bool) -> Duration {
        if self.hosts.is_none() || !self.jobs.scans() || self.owes_at.is_some_and(|at| now < at) {
            return Duration::ZERO;
        }
        self.owes_at = Some(now + NOT_YET);
        let pool = self.pool.upgrade().filter(|pool| pool.has_scans_for_hosts());
        let Some((class, job)) = pool.and_then(|pool| pool.take_aside()) else { return Duration::ZERO };
        // Nothing is done of batch work and for guests.
        if !guests && !self.jobs.batch() {
            self.waits_since = None;
        }
        self.run(now, class, job)
    }

    /// For how long it sleeps at most after a stretch. One who is no host always does, and one beside whom there are scans for which
    /// there is no other processor, which come before batch work; for threads of that it is short: they have little to do beside a host.
    fn makes_way(&self) -> Option<Duration> {
        let (Some(spare), Some(pool)) = (self.hosts, self.pool.upgrade()) else { return Some(PAUSE) };
        if pool.has_scans_for_hosts() {
            return None;
        }
        let (scans, batch) = pool.behind_busy();
        if scans > 0 && scans + batch > spare {
            return Some(PAUSE);
        }
        let reads = self.behind.as_ref().is_some_and(Remote::has_connections);
        (batch + usize::from(reads) > spare).then_some(STRETCH)
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
                    self.stretches.0 += now - began;
                    self.stretches.1 += waited.saturating_sub(known);
                    if self.hosts.is_none() || self.stretches.0 >= LOOK {
                        let (of, waited) = std::mem::take(&mut self.stretches);
                        self.retreat.look(now, of, waited);
                    }
                    self.sleep = self.makes_way();
                    if self.sleep.is_some() || self.retreat.rest(now).is_some() {
                        return false;
                    }
                }
                self.stretch = Some((now, waited));
                true
            }
        }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.become_host(None);
    }
}

/// When to leave the processor to others.
#[derive(Debug, Default)]
pub(crate) struct Retreat {
    /// How long the last pause was, and when it was over.
    last: Option<(Duration, Instant)>,
}

impl Retreat {
    /// What is left of the pause.
    pub fn rest(&self, now: Instant) -> Option<Duration> {
        self.last.map(|(_, until)| until.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
    }

    /// Of the time `of` up to now the thread has waited for so long.
    fn look(&mut self, now: Instant, of: Duration, waited: Duration) {
        if waited * WAITED > of {
            self.begin(now);
        }
    }

    pub fn begin(&mut self, now: Instant) {
        let again = self.last.filter(|(_, until)| now.saturating_duration_since(*until) < CALM);
        let pause = again.map_or(PAUSE, |(pause, _)| (pause * 2).min(LONGEST_PAUSE));
        self.last = Some((pause, now + pause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reactor::Reactor;
    use std::sync::atomic::Ordering::SeqCst;

    fn aside() -> Aside {
        Aside::new(Reactor::new(None).unwrap().1)
    }

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
    fn a_host_that_is_short_of_time_is_none_for_a_while() {
        let (mut aside, now) = (aside(), Instant::now());
        assert!(aside.host(now, Some(0)) && !aside.host(now, None) && aside.host(now, Some(0)));
        assert!(!aside.is_short_of_time(now, false));
        // Since here a guest waits.
        assert!(!aside.is_short_of_time(now, true) && !aside.is_short_of_time(now + PAUSE / 2, true));
        aside.begin_turn();
        assert!(!aside.is_short_of_time(now + PAUSE, true));
        assert!(aside.is_short_of_time(now + 2 * PAUSE, true));
        assert!(!aside.host(now + 2 * PAUSE, Some(0)));
        assert!(aside.host(now + 3 * PAUSE, Some(0)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn while_there_is_work_nobody_sleeps_for_good() {
        let (mut aside, now) = (aside(), Instant::now());
        assert_eq!(aside.idle(now, false), Idle::Sleep(None));
        aside.jobs.of(Class::Batch).store(1, SeqCst);
        assert_eq!(aside.idle(now, false), Idle::Work);
        // The next job is for others.
        assert_eq!(aside.work(now), Duration::ZERO);
        assert_eq!(aside.idle(now, false), Idle::Sleep(Some(PAUSE)));
        assert_eq!(aside.idle(now, false), Idle::Work);
        // It has worked for long enough; whether it waited meanwhile, and retreats now, is the machine's.
        assert!(matches!(aside.idle(now + STRETCH, false), Idle::Sleep(Some(_))));
        aside.retreat.last = Some((PAUSE, now + PAUSE / 2));
        assert_eq!(aside.idle(now, false), Idle::Sleep(Some(PAUSE / 2)));
        assert_eq!(aside.idle(now + PAUSE, false), Idle::Work);
        aside.jobs.of(Class::Batch).store(0, SeqCst);
        assert_eq!(aside.idle(now, false), Idle::Sleep(Some(PAUSE / 2)));
        assert_eq!(aside.idle(now + PAUSE, false), Idle::Sleep(None));
    }
}
