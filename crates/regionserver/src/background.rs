//! Flushes, compactions and splits: work that regions ask for and threads of low priority do.
//!
//! One thread flushes, a few compact, one fills the cache; a thread of its own looks every few seconds for what is overdue (old edits,
//! periodic major compactions, expired scanner leases). Each asked-for piece of work is queued once.

use crate::course::Course;
use crate::delays::{Delays, Verdict};
use crate::{RegionServer, pace};
use martite_region::{Region, RegionError, RegionEvents};
use martite_store::Throttle;
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A queue of encoded region names, each in it at most once.
#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    waiting: VecDeque<Job>,
    known: BTreeSet<Job>,
    /// Since when they are.
    running: Vec<(Job, Instant)>,
    stopped: bool,
}

/// What is to be done to a region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Job {
    pub region: String,
    pub family: Option<Vec<u8>>,
    pub major: bool,
}

impl Job {
    pub(crate) fn new(region: &str) -> Job {
        Job { region: region.to_owned(), family: None, major: false }
    }
}

enum Popped {
    Job(Job),
    /// The time is over.
    Nothing,
    Stopped,
}

impl Queue {
    fn push(&self, job: Job) -> bool {
        let mut state = self.state.lock();
        if state.stopped || !state.known.insert(job.clone()) {
            return false;
        }
        state.waiting.push_back(job);
        self.changed.notify_one();
        true
    }
    /// None: stopped.
    fn pop(&self) -> Option<Job> {
        match self.pop_within(None) {
            Popped::Job(job) => Some(job),
            Popped::Nothing | Popped::Stopped => None,
        }
    }
    /// Waits for a job, `longest` at most.
    fn pop_within(&self, longest: Option<Duration>) -> Popped {
        let mut state = self.state.lock();
        loop {
            if state.stopped {
                return Popped::Stopped;
            }
            if let Some(job) = state.waiting.pop_front() {
                state.known.remove(&job);
                state.running.push((job.clone(), Instant::now()));
                return Popped::Job(job);
            }
            match longest {
                None => self.changed.wait(&mut state),
                Some(longest) if self.changed.wait_for(&mut state, longest).timed_out() => return Popped::Nothing,
                Some(_) => {}
            }
        }
    }
    fn done(&self, job: &Job) {
        let mut state = self.state.lock();
        if let Some(at) = state.running.iter().position(|(running, _)| running == job) {
            state.running.swap_remove(at);
        }
    }
    fn stop(&self) {
        self.state.lock().stopped = true;
        self.changed.notify_all();
    }
    fn len(&self) -> usize {
        let state = self.state.lock();
        state.waiting.len() + state.running.len()
    }
    /// Whether anything that `is` holds for waits or runs.
    fn any(&self, is: impl Fn(&Job) -> bool) -> bool {
        let state = self.state.lock();
        state.waiting.iter().chain(state.running.iter().map(|(job, _)| job)).any(is)
    }
    fn running(&self) -> Vec<(Job, Instant)> {
        self.state.lock().running.clone()
    }
    fn clear(&self) {
        let mut state = self.state.lock();
        state.waiting.clear();
        state.known.clear();
    }
}

/// The queues, and the threads that work on them.
#[derive(Default)]
pub struct Background {
    flushes: Queue,
    delays: Delays,
    compactions: Queue,
    prefetches: Queue,
    stopped: AtomicBool,
    compactions_on: AtomicBool,
    chores: (Mutex<()>, Condvar),
    /// Woken after each flush: writers may be waiting for room.
    room: (Mutex<()>, Condvar),
    threads: Mutex<Vec<JoinHandle<()>>>,
    server: Mutex<Weak<RegionServer>>,
}

impl Background {
    pub(crate) fn start(self: &Arc<Self>, server: &Arc<RegionServer>) -> std::io::Result<()> {
        *self.server.lock() = Arc::downgrade(server);
        self.compactions_on.store(server.options.compactions_enabled, Ordering::Release);
        let spawn = |name: &str, run: fn(&Background)| -> std::io::Result<()> {
            let this = self.clone();
            let handle = std::thread::Builder::new().name(name.to_owned()).spawn(move || run(&this))?;
            self.threads.lock().push(handle);
            Ok(())
        };
        spawn("flush", Background::run_flushes)?;
        for _ in 0..server.options.small_compaction_threads + server.options.large_compaction_threads {
            spawn("compact", Background::run_compactions)?;
        }
        spawn("prefetch", Background::run_prefetches)?;
        spawn("throttle", Background::run_throttles)?;
        spawn("chores", Background::run_chores)
    }

    /// Stops after the piece of work at hand; compactions are cancelled.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.flushes.stop();
        self.compactions.stop();
        self.prefetches.stop();
        self.chores.1.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
                tracing::error!("a background thread panicked");
            }
        }
    }

    fn server(&self) -> Option<Arc<RegionServer>> {
        self.server.lock().upgrade()
    }

    pub(crate) fn want_flush(&self, region: &str) {
        // Each write to a region whose flush waits asks for it.
        if !self.delays.waits(region) {
            self.flushes.push(Job::new(region));
        }
    }

    /// The server needs the memory.
    pub(crate) fn want_flush_now(&self, region: &str) {
        self.delays.overrule(region);
        self.flushes.push(Job::new(region));
    }

    /// Flushes that wait for a compaction.
    pub fn flushes_delayed(&self) -> usize {
        self.delays.count()
    }

    pub(crate) fn want_compaction(&self, job: Job) {
        self.compactions.push(job);
    }

    pub(crate) fn want_prefetch(&self, region: &str) {
        self.prefetches.push(Job::new(region));
    }

    /// Those that wait or run end where they are if it is switched off.
    pub(crate) fn switch_compactions(&self, on: bool) -> bool {
        let before = self.compactions_on.swap(on, Ordering::AcqRel);
        if !on {
            self.clear_compactions();
            // There is nothing to wait for any more.
            for (region, _) in self.delays.waiting() {
                self.flushes.push(Job::new(&region));
            }
        }
        before
    }

    /// Whether a compaction is to be finished.
    fn may_go_on(&self) -> Result<(), String> {
        self.pause(0)?;
        if self.compactions_on.load(Ordering::Acquire) {
            Ok(())
        } else {
            Err("compactions are switched off".to_owned())
        }
    }

    pub(crate) fn clear_compactions(&self) {
        self.compactions.clear();
    }

    /// Flushes, compactions and reads into the cache that are under way, and since when.
    pub(crate) fn under_way(&self) -> [Vec<(Job, Instant)>; 3] {
        [self.flushes.running(), self.compactions.running(), self.prefetches.running()]
    }

    /// With the one that is under way.
    pub fn flushes_waiting(&self) -> usize {
        self.flushes.len()
    }

    pub fn compactions_waiting(&self) -> usize {
        self.compactions.len()
    }

    /// Whether a minor and whether a major compaction of the region waits or runs.
    pub fn compactions_of(&self, region: &str) -> (bool, bool) {
        let any = |major: bool| self.compactions.any(|j| j.region == region && j.major == major);
        (any(false), any(true))
    }

    /// Waits until a flush has ended or the time is over.
    pub(crate) fn wait_for_room(&self, timeout: Duration) {
        let mut guard = self.room.0.lock();
        self.room.1.wait_for(&mut guard, timeout);
    }

    fn run_flushes(&self) {
        loop {
            let Some((now, longest)) = self.server().map(|server| server.flush_times()) else { return };
            match self.flushes.pop_within(self.delays.next(now, longest)) {
                Popped::Job(job) => {
                    let Some(server) = self.server() else { return };
                    self.flush(&server, &job);
                    self.flushes.done(&job);
                    let _writers = self.room.0.lock();
                    self.room.1.notify_all();
                }
                Popped::Nothing => {
                    let Some((now, longest)) = self.server().map(|server| server.flush_times()) else { return };
                    for region in self.delays.over(now, longest) {
                        self.flushes.push(Job::new(&region));
                    }
                }
                Popped::Stopped => return,
            }
        }
    }

    /// Whether a region's flush goes on: more files would cost its reads more than its writers are spared.
    fn may_flush(&self, server: &RegionServer, region: &Region, job: &Job) -> bool {
        let compacts = self.compactions_on.load(Ordering::Acquire) && !region.info().is_meta();
        let (now, longest) = server.flush_times();
        let too_many = compacts && region.has_too_many_files();
        let (name, verdict) = (region.info().name_string(), self.delays.judge(&job.region, too_many, now, longest));
        match verdict {
            Verdict::Goes => {}
            Verdict::GoesAnyway => tracing::info!(region = %name, "flushed although there are too many store files"),
            Verdict::Begins => {
                tracing::warn!(region = %name, longest = ?longest, "too many store files: the flush waits for a compaction");
                self.want_compaction(Job::new(&job.region));
            }
            Verdict::Waits => {}
        }
        matches!(verdict, Verdict::Goes | Verdict::GoesAnyway)
    }

    fn flush(&self, server: &Arc<RegionServer>, job: &Job) {
        let Some(region) = server.online.by_encoded(&job.region) else { return self.delays.forget(&job.region) };
        if !self.may_flush(server, &region, job) {
            return;
        }
        match region.flush(None, "memstore size") {
            Ok(outcome) => {
                if outcome.compaction_needed {
                    self.want_compaction(job.clone());
                }
                server.split_if_wanted(&region);
            }
            Err(e) => {
                tracing::error!(region = %region.info().name_string(), error = %e, "flush failed");
                server.abort_if_it_must(&e);
            }
        }
    }

    fn run_compactions(&self) {
        while let Some(job) = self.compactions.pop() {
            let Some(server) = self.server() else { return };
            let again = self.compact(&server, &job);
            self.compactions.done(&job);
            if self.delays.waits(&job.region) {
                self.flushes.push(Job::new(&job.region));
            }
            if again {
                self.want_compaction(job);
            }
        }
    }

    /// True: the region has enough files for another round.
    fn compact(&self, server: &Arc<RegionServer>, job: &Job) -> bool {
        let Some(region) = server.online.by_encoded(&job.region) else { return false };
        // Whoever asked for it, as in HBase.
        if !(self.compactions_on.load(Ordering::Acquire) && region.table().is_compaction_enabled()) {
            tracing::debug!(region = %region.info().name_string(), "no compaction: they are switched off");
            return false;
        }
        match region.compact(job.family.as_deref(), job.major, &Paced::of(self, server)) {
            Ok(done) => {
                server.split_if_wanted(&region);
                !done.is_empty() && !job.major && region.needs_compaction()
            }
            Err(e @ RegionError::NotServing(_)) => {
                tracing::info!(region = %region.info().name_string(), error = %e, "compaction given up");
                false
            }
            Err(e) => {
                tracing::error!(region = %region.info().name_string(), error = %e, "compaction failed");
                server.abort_if_it_must(&e);
                false
            }
        }
    }

    fn run_prefetches(&self) {
        while let Some(job) = self.prefetches.pop() {
            let Some(server) = self.server() else { return };
            if let Some(region) = server.online.by_encoded(&job.region) {
                self.prefetch(&region);
            }
            self.prefetches.done(&job);
        }
    }

    fn prefetch(&self, region: &Region) {
        for (_, store) in region.stores().iter().filter(|(_, store)| store.wants_prefetch()) {
            if let Err(error) = store.prefetch(self) {
                // Reads bring what they need.
                tracing::debug!(region = %region.info().name_string(), %error, "not all blocks were prefetched");
            }
        }
    }

    /// Calls that wait for a limit.
    fn run_throttles(&self) {
        let throttles = self.server().map(|server| server.throttles.clone());
        if let Some(throttles) = throttles {
            throttles.run();
        }
    }

    fn run_chores(&self) {
        while !self.stopped.load(Ordering::Acquire) {
            let Some(server) = self.server() else { return };
            server.run_chores();
            let period = server.options.chore_period;
            drop(server);
            let mut guard = self.chores.0.lock();
            if !self.stopped.load(Ordering::Acquire) {
                self.chores.1.wait_for(&mut guard, period);
            }
        }
    }
}

/// A compaction, which rests as the server's pace wants it to, and stands back behind others.
struct Paced<'a> {
    background: &'a Background,
    server: &'a RegionServer,
    course: Course,
}

impl<'a> Paced<'a> {
    fn of(background: &'a Background, server: &'a RegionServer) -> Paced<'a> {
        Paced { background, server, course: Course::default() }
    }
}

impl Throttle for Paced<'_> {
    fn pause(&self, bytes: u64) -> Result<(), String> {
        let (pace, server) = (&self.server.pace, self.server);
        let rest = pace.rest(bytes, server.ctx.clock.monotonic(), || pace::load(server));
        if !rest.is_zero() {
            std::thread::sleep(rest);
        }
        self.background.may_go_on()
    }
    fn run(&self, piece: &mut (dyn FnMut() + Send)) {
        self.course.run(self.server.pace.pressure(), Instant::now(), piece);
    }
    fn ends_piece(&self) -> bool {
        self.course.is_elsewhere(self.server.pace.pressure(), Instant::now())
    }
}

/// Compactions and prefetches stop when the server does.
impl Throttle for Background {
    fn pause(&self, _bytes: u64) -> Result<(), String> {
        if self.stopped.load(Ordering::Acquire) { Err("the server is stopping".to_owned()) } else { Ok(()) }
    }
}

/// What regions tell their server; they hold locks while they do.
pub struct Events(pub Arc<Background>);

impl RegionEvents for Events {
    fn flush_wanted(&self, region: &Region) {
        self.0.want_flush(region.info().encoded_name());
    }
    fn flushed(&self, _region: &Region) {}
    fn must_stop(&self, error: &RegionError) {
        tracing::error!(%error, "the server must stop");
        if let Some(server) = self.0.server() {
            server.abort(&error.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_under_way_is_told_until_it_is_done() {
        let queue = Queue::default();
        assert!(queue.push(Job::new("r")) && !queue.push(Job::new("r")), "once");
        assert!(queue.running().is_empty());
        let Some(job) = queue.pop() else { panic!("it was not stopped") };
        let running = queue.running();
        assert_eq!(running.iter().map(|(job, _)| job.region.as_str()).collect::<Vec<_>>(), ["r"]);
        assert_eq!((queue.len(), queue.any(|job| job.region == "r")), (1, true));
        queue.done(&job);
        assert!(queue.running().is_empty() && queue.len() == 0);
    }
}
