//! [`Pool`]: threads for work that may block; classes share them by weight.
//!
//! Each class has a bounded queue and a clock that advances by the thread time its jobs took, divided by its weight.
//! A free thread takes the job whose class has the earliest clock. A class that was idle starts at the present, so
//! nobody saves up time.
//!
//! ```text
//! Read  weight 4  clock  25  ▪▪▪▪▪▪     ◀ next
//! Write weight 2  clock  40  ▪▪
//! Admin weight 1  clock 100  ▪          at most half of the threads
//!
//! Scan  threads of its own, which take what all others leave, or have a small weight where calls leave nothing, or an ordinary one
//!       where it is not calls that do (`scarcity`), and make way after each slice; as many at once as there are processors, but for
//!       those that read from a disk; network threads take scans, too (`aside`), and then fewer of these threads do
//! Batch threads that take what all others leave; what was spawned `aside` network threads may take, too
//! ```
//! Scans have their own threads, because what delays short calls beside a scan is not a queue of ours but the system's:
//! with as many busy threads as cores, a network thread that wakes up waits for the slice of a scan to end, milliseconds. More of them
//! than processors would be done no sooner, and take more of the processor for what they return (docs/benchmarks-log.md).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::time::{Duration, Instant};

use martite_env::disk_time;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::aside::Retreat;
use crate::hop::Behind;
use crate::reactor::Remote;
use crate::scarcity::Scarcity;
use crate::{Call, Exception, others};

mod class;
mod options;

pub use class::Class;
pub(crate) use class::SCANS;
use class::{CLASSES, Group};
use options::processors;
pub use options::{ClassOptions, PoolOptions};

/// The system charges a thread that makes way for others ([`stand_aside`]) for the whole slice that it asked for, by its weight: for
/// this one three milliseconds of an ordinary thread's time. It is longer than a network thread's, who wakes up before its end.
const SCAN_SLICE: Duration = Duration::from_micros(200);

/// A thread that was not seen to go on with its scan for so long is kept from the processor, by hosts that go on with others perhaps.
const KEPT_WAITING: Duration = Duration::from_millis(2);

/// A piece of work.
pub type Job = Box<dyn FnOnce() + Send>;

/// The worker threads. Dropping the pool finishes running jobs and drops waiting ones.
pub struct Pool {
    inner: Arc<Inner>,
    /// That the process may use.
    processors: usize,
    threads: Vec<std::thread::JoinHandle<()>>,
}

struct Inner {
    state: Mutex<State>,
    aside: Arc<Waits>,
    /// What the threads of each group wait for.
    work: [Condvar; 5],
    /// That run.
    scans: AtomicUsize,
    scarcity: Scarcity,
    behind: Behind,
    origin: Instant,
}

/// How many jobs wait that network threads may take: looked at without the lock.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    scans: AtomicUsize,
    batch: AtomicUsize,
}

impl Waits {
    pub fn any(&self) -> bool {
        self.scans() || self.batch()
    }

    pub fn batch(&self) -> bool {
        self.batch.load(SeqCst) > 0
    }

    pub fn scans(&self) -> bool {
        self.scans.load(SeqCst) > 0
    }

    pub(crate) fn of(&self, class: Class) -> &AtomicUsize {
        if class == Class::Batch { &self.batch } else { &self.scans }
    }
}

#[derive(Default)]
struct State {
    queues: [Queue; CLASSES],
    /// Clock of the class served last: the present.
    present: u64,
    stopped: bool,
    /// Network threads that do what is spawned aside.
    hosts: Vec<Remote>,
    /// So many threads may do that beside them.
    spare: usize,
    /// Of each thread for scans since when it has one, or when it was last seen to go on with it, in microseconds; 0 for none, and
    /// for one that reads from a disk.
    seen: Vec<Arc<AtomicU64>>,
    /// Hosts leave scans to those threads.
    apart: Retreat,
}

/// A job that waits.
struct Waiting {
    job: Job,
    /// Network threads may take it.
    is_aside: bool,
}

/// What is known of a job, and where it queues.
#[derive(Clone, Copy)]
struct Kind {
    class: Class,
    is_aside: bool,
    position: Position,
}

/// Where a job queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Behind all others, if the queue is not full.
    New,
    /// The rest of one that has begun: before all others, however many there are.
    First,
    /// The same, behind them.
    Last,
}

impl From<Class> for Kind {
    fn from(class: Class) -> Kind {
        Kind { class, is_aside: false, position: Position::New }
    }
}

/// Where the rest of a call goes on that network threads may have to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    Anywhere,
    /// It may block.
    OnPool,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Waiting>,
    running: usize,
    /// Of them, those that read from a disk and leave room for others.
    reading: usize,
    max_running: usize,
    max_queued: usize,
    weight: u64,
    clock: u64,
    /// Nanoseconds that a job is expected to take; charged when it starts, corrected when it ends.
    expected_ns: u64,
}

impl Pool {
    /// Starts the threads.
    pub fn new(options: PoolOptions) -> std::io::Result<Arc<Pool>> {
        let mut state = State::default();
        for (queue, class) in state.queues.iter_mut().zip(options.classes) {
            queue.max_running = class.max_running.max(1);
            queue.max_queued = class.max_queued;
            queue.weight = u64::from(class.weight.max(1));
        }
        let processors = processors();
        let inner = Arc::new(Inner {
            state: Mutex::new(state),
            aside: Arc::default(),
            work: Default::default(),
            scans: AtomicUsize::new(0),
            scarcity: Scarcity::unless_told(processors),
            behind: Behind::new(),
            origin: Instant::now(),
        });
        let mut pool = Pool { inner, processors, threads: Vec::new() };
        for i in 0..options.threads.max(1) {
            pool.start(format!("pool-{i}"), |inner| inner.run(Group::All))?;
        }
        let nice = options.scan_nice;
        let behind = move || {
            rustix::process::setpriority_process(None, nice)?;
            martite_env::thread::ask_for_slices(SCAN_SLICE)
        };
        let stand_back = martite_env::thread::stand_back;
        pool.start_behind("scan", options.scan_threads, stand_back, Group::Scan)?;
        pool.start_behind("scan-weighted", options.scan_threads, behind, Group::WeightedScan)?;
        let prompt = martite_env::thread::be_prompt;
        pool.start_behind("scan-ordinary", options.scan_threads, prompt, Group::OrdinaryScan)?;
        pool.start_behind("batch", options.batch_threads, stand_back, Group::Batch)?;
        Ok(Arc::new(pool))
    }

    /// Threads that stand behind others, or run as `behind` says.
    fn start_behind(
        &mut self,
        name: &str,
        threads: usize,
        behind: impl Fn() -> std::io::Result<()> + Copy + Send + 'static,
        group: Group,
    ) -> std::io::Result<()> {
        for i in 0..threads.max(1) {
            self.start(format!("{name}-{i}"), move |inner| {
                if let Err(e) = behind() {
                    tracing::warn!("a thread stands back less than it should: {e}");
                }
                inner.run(group);
            })?;
        }
        Ok(())
    }

    fn start(&mut self, name: String, run: impl FnOnce(Arc<Inner>) + Send + 'static) -> std::io::Result<()> {
        let inner = self.inner.clone();
        self.threads.push(std::thread::Builder::new().name(name).spawn(move || run(inner))?);
        Ok(())
    }

    /// How many scans run for each processor; at least one.
    pub fn crowd_of_scans(&self) -> usize {
        self.inner.scans.load(Relaxed).div_ceil(self.processors).max(1)
    }

    /// Takes the job and queues it. A full queue leaves it there, and gives the exception to answer.
    pub fn spawn(&self, class: Class, job: &mut Option<Job>) -> Result<(), Exception> {
        if self.inner.push(class.into(), || job.take()) { Ok(()) } else { Err(overloaded(class)) }
    }

    /// Queues the rest of a call. Answers CallQueueTooBig when the queue is full; drops the call without an answer if
    /// its client no longer waits when its turn comes; holds it back while the client does not take its answers;
    /// answers an internal error if `f` panics.
    pub fn spawn_call(&self, class: Class, call: Call, f: impl FnOnce(Call) + Send + 'static) {
        let class = if class == Class::Scan { self.inner.class_of_scan(Instant::now()) } else { class };
        self.inner.clone().spawn_call(class.into(), call, Box::new(f));
    }

    /// The same for work of low priority that network threads may do, too, while they have nothing else to do. It must not block
    /// there ([`crate::on_network_thread`]), and must be over, or leave a rest, as soon as others wait ([`crate::others_wait`]).
    pub fn spawn_aside(&self, call: Call, f: impl FnOnce(Call) + Send + 'static) {
        let kind = Kind { class: Class::Batch, is_aside: true, position: Position::New };
        self.inner.clone().spawn_call(kind, call, Box::new(f));
    }

    /// Queues a call of low priority or a scan, or what is left of one. Anywhere: network threads may go on with it, as above; with
    /// scans for which none of the pool's threads is free.
    pub fn spawn_rest(
        &self,
        class: Class,
        position: Position,
        rest: Rest,
        call: Call,
        f: impl FnOnce(Call) + Send + 'static,
    ) {
        let class = if class == Class::Scan { self.inner.class_of_scan(Instant::now()) } else { class };
        let is_aside = rest == Rest::Anywhere && class.group() != Group::All;
        self.inner.clone().spawn_call(Kind { class, is_aside, position }, call, Box::new(f));
    }

    /// Whether scans wait that network threads may go on with.
    pub fn scans_wait(&self) -> bool {
        self.inner.aside.scans()
    }

    /// Whether the scan that the calling thread of the pool does is one for threads with another weight.
    pub fn is_out_of_place(&self) -> bool {
        let now = Instant::now();
        let Some(here) = GROUP.get() else { return false };
        if here != Group::OrdinaryScan {
            self.inner.behind.review(now);
        }
        if !READS.get() {
            self.inner.note_seen(Some(now));
        }
        if let Some(class) = here.scans() {
            self.inner.scarcity.review(class, now);
        }
        self.inner.class_of_scan(now).group() != here
    }

    /// A network thread had a processor for so long for what it has to do.
    pub(crate) fn note_calls(&self, had: Duration) {
        self.inner.scarcity.note_calls(had);
    }

    /// So much of that was a piece of a scan, before the pool had to do with it.
    pub fn note_scan_inline(&self, took: Duration) {
        self.inner.scarcity.note_scans_of_calls(took);
    }

    /// Whether scans wait that the calling thread of the pool could do.
    pub fn keeps_scans_waiting(&self) -> bool {
        let class = GROUP.get().and_then(Group::scans);
        class.is_some_and(|class| !self.inner.state.lock().queues[class as usize].jobs.is_empty())
    }

    pub(crate) fn behind(&self) -> &Behind {
        &self.inner.behind
    }

    /// How many jobs there are for [`Pool::take_aside`], as soon as it is their turn.
    pub(crate) fn aside(&self) -> Arc<Waits> {
        self.inner.aside.clone()
    }

    /// The next job that a network thread may do: a scan that no other thread is about to do, or one of low priority. It counts as
    /// running for nobody.
    pub(crate) fn take_aside(&self) -> Option<(Class, Job)> {
        let now = Instant::now();
        let mut state = self.inner.state.lock();
        let comes_first = state.hosts_do_scans(now) && state.queued(Class::Scan).0 > 0;
        if comes_first && state.keeps_waiting(self.inner.micros(now)) {
            state.apart.begin(now);
            drop(state);
            self.inner.wake_for_scans();
            return None;
        }
        let (class, next) = if comes_first { state.take_scan()? } else { state.take_batch()? };
        self.inner.aside.of(class).fetch_sub(1, Relaxed);
        drop(state);
        if class == Class::Batch {
            self.inner.scarcity.begin(now);
        }
        Some((class, next.job))
    }

    /// A network thread is a host from now on (`aside`): it does what is spawned aside, and beside it so many threads.
    pub(crate) fn begin_hosting(&self, host: Remote, spare: usize) {
        let mut state = self.inner.state.lock();
        if !state.hosts.contains(&host) {
            state.hosts.push(host);
        }
        let has_grown = spare > std::mem::replace(&mut state.spare, spare);
        let are_wanted = has_grown && state.queued(Class::Scan).0 > 0;
        drop(state);
        // The host leaves as many of the scans that wait to them, and nobody has told them of those yet.
        if are_wanted {
            self.inner.wake_for_scans();
        }
    }

    pub(crate) fn end_hosting(&self, host: &Remote) {
        let mut state = self.inner.state.lock();
        state.hosts.retain(|other| other != host);
        let next = state.hosts.first().cloned();
        drop(state);
        match next {
            Some(next) => next.rouse(),
            None => {
                self.inner.of(Class::Batch).notify_all();
                self.inner.wake_for_scans();
            }
        }
    }

    /// Whether what is spawned aside is better left to network threads than done by the calling thread, one for batch work: it takes
    /// their processors from others. To be asked between pieces of it, which also shows that there is such work.
    pub fn is_in_the_way(&self) -> bool {
        let now = Instant::now();
        self.inner.behind.review(now);
        self.inner.scarcity.begin(now);
        let state = self.inner.state.lock();
        !state.hosts.is_empty() && state.queues[Class::Batch as usize].running > state.spare
    }

    /// Whether scans wait that hosts may go on with, before all batch work.
    pub(crate) fn has_scans_for_hosts(&self) -> bool {
        self.scans_wait() && self.inner.state.lock().hosts_do_scans(Instant::now())
    }

    /// How many threads that stand back have something to do that is not for a host: those for scans, and those for batch work.
    pub(crate) fn behind_busy(&self) -> (usize, usize) {
        let state = self.inner.state.lock();
        let batch = &state.queues[Class::Batch as usize];
        let for_threads = batch.jobs.iter().filter(|waiting| !waiting.is_aside).count();
        let (waiting, running) = state.queued(Class::Scan);
        (waiting + running, batch.running + for_threads)
    }

    /// Jobs of a class that wait, and that run. Scans are all scans.
    pub fn queued(&self, class: Class) -> (usize, usize) {
        self.inner.state.lock().queued(class)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.inner.state.lock();
        state.stopped = true;
        let waiting: Vec<Waiting> = state.queues.iter_mut().flat_map(|q| q.jobs.drain(..)).collect();
        drop(state);
        drop(waiting);
        for work in &self.inner.work {
            work.notify_all();
        }
        let here = std::thread::current().id();
        for thread in self.threads.drain(..).filter(|t| t.thread().id() != here) {
            let _ = thread.join();
        }
    }
}

fn overloaded(class: Class) -> Exception {
    Exception::call_queue_too_big(format!("The {class:?} queue is full, too many items queued ?"))
}

thread_local! {
    /// Of a thread of the pool.
    static GROUP: Cell<Option<Group>> = const { Cell::new(None) };
    /// The job that it does leaves room for another.
    static READS: Cell<bool> = const { Cell::new(false) };
    /// Of a thread for scans: see `State::seen`.
    static SEEN: RefCell<Option<Arc<AtomicU64>>> = const { RefCell::new(None) };
}

impl Inner {
    /// Without a lock: a thread that takes what others leave may be made to wait whenever it is.
    fn class_of_scan(&self, now: Instant) -> Class {
        self.scarcity.class(now)
    }

    fn spawn_call(self: Arc<Inner>, kind: Kind, mut call: Call, f: Box<dyn FnOnce(Call) + Send>) {
        call.responder.keep_disk_time();
        let mut refused = Some((call, f));
        let queued = Instant::now();
        let make = || {
            let ((mut call, f), inner) = (refused.take()?, self.clone());
            Some(Box::new(move || {
                call.responder.waited += queued.elapsed();
                inner.run_call(kind, call, f);
            }) as Job)
        };
        self.push(kind, make);
        if let Some((call, _)) = refused {
            call.responder.fail(overloaded(kind.class));
        }
    }

    fn run_call(self: Arc<Inner>, kind: Kind, call: Call, f: Box<dyn FnOnce(Call) + Send>) {
        if call.expired() {
            call.responder.discard();
        } else if call.conn.is_clogged() {
            let conn = call.conn.clone();
            conn.when_drained(move || self.spawn_call(kind, call, f));
        } else {
            f(call);
        }
    }

    /// Makes and queues a job if there is room.
    fn push(&self, kind: Kind, make: impl FnOnce() -> Option<Job>) -> bool {
        let Kind { class, is_aside, position } = kind;
        let mut state = self.state.lock();
        let (present, stopped) = (state.present, state.stopped);
        let is_hosted = is_aside && (class == Class::Batch || state.hosts_do_scans(Instant::now()));
        let host = state.hosts.first().filter(|_| is_hosted).cloned();
        let wakes = host.is_none() || state.queues[class as usize].busy() < state.spare;
        let queue = &mut state.queues[class as usize];
        // Who ends makes room, and takes it.
        let wakes = wakes && queue.has_room();
        if stopped || (position == Position::New && queue.jobs.len() >= queue.max_queued) {
            return false;
        }
        let Some(job) = make() else { return false };
        queue.enter(present);
        let waiting = Waiting { job, is_aside };
        if position == Position::First {
            queue.jobs.push_front(waiting)
        } else {
            queue.jobs.push_back(waiting)
        }
        self.aside.of(class).fetch_add(usize::from(is_aside), SeqCst);
        drop(state);
        // A host that calls does it as soon as it has nothing else to do.
        if let Some(host) = host.filter(|_| !others::is_host()) {
            host.rouse();
        }
        if wakes {
            self.of(class).notify_one();
        }
        true
    }

    fn micros(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.origin).as_micros() as u64 + 1
    }

    /// The calling thread, one for scans, goes on with one, or has none.
    fn note_seen(&self, at: Option<Instant>) {
        SEEN.with_borrow(|seen| {
            if let Some(seen) = seen {
                seen.store(at.map_or(0, |at| self.micros(at)), Relaxed);
            }
        });
    }

    fn wake_for_scans(&self) {
        for class in SCANS {
            self.of(class).notify_all();
        }
    }

    /// What threads that take jobs of this class wait for.
    fn of(&self, class: Class) -> &Condvar {
        &self.work[class.group() as usize]
    }

    /// The job of the class that the calling thread does reads from a disk, and leaves room for another until it ends. That it does
    /// so between two reads, too, spares waking a thread for each of them that finds no room any more.
    fn leaves_room(&self, class: Class) {
        if READS.replace(true) {
            return;
        }
        self.note_seen(None);
        let mut state = self.state.lock();
        let queue = &mut state.queues[class as usize];
        queue.reading += 1;
        let is_wanted = !queue.jobs.is_empty();
        drop(state);
        if is_wanted {
            self.of(class).notify_one();
        }
    }

    /// Waits for a job; None: there will be none any more.
    fn next(&self, state: &mut MutexGuard<'_, State>, group: Group) -> Option<(usize, Waiting)> {
        let mut is_told = false;
        loop {
            let next = state.next(group);
            if next.is_some() || state.stopped {
                return next;
            }
            // The thread may have been woken for a scan while hosts left those to it, and nobody has told them since.
            match state.who_has_scans_of(group).filter(|_| !is_told) {
                Some(host) => {
                    MutexGuard::unlocked(state, || host.rouse());
                    is_told = true;
                }
                None => {
                    self.work[group as usize].wait(state);
                    is_told = false;
                }
            }
        }
    }

    /// A thread's life.
    fn run(self: Arc<Inner>, group: Group) {
        GROUP.set(Some(group));
        if let Some(class) = group.scans() {
            let inner = self.clone();
            disk_time::tell(move || inner.leaves_room(class));
            let seen = Arc::new(AtomicU64::new(0));
            self.state.lock().seen.push(seen.clone());
            SEEN.set(Some(seen));
        }
        let mut had = Duration::ZERO;
        let mut state = self.state.lock();
        loop {
            let Some((class, Waiting { job, is_aside })) = self.next(&mut state, group) else { return };
            let expected = state.start(class);
            self.aside.of(Class::ALL[class]).fetch_sub(usize::from(is_aside), Relaxed);
            drop(state);
            let started = Instant::now();
            let is_scan = group.scans().is_some();
            self.scans.fetch_add(usize::from(is_scan), Relaxed);
            if group == Group::Batch {
                self.scarcity.begin(started);
            }
            self.note_seen(Some(started));
            run(Class::ALL[class], job);
            self.note_seen(None);
            self.scans.fetch_sub(usize::from(is_scan), Relaxed);
            let took = started.elapsed();
            match group {
                Group::Batch => stand_aside(),
                Group::All => {
                    let cpu = martite_env::thread::cpu_time();
                    self.scarcity.note_calls(cpu.saturating_sub(std::mem::replace(&mut had, cpu)));
                }
                _ => self.scarcity.review(Class::ALL[class], started + took),
            }
            state = self.state.lock();
            if READS.take() {
                state.queues[class].reading -= 1;
            }
            if state.end(class, expected, took) {
                // This class held back jobs that another thread may take now.
                self.of(Class::ALL[class]).notify_one();
            }
        }
    }
}

/// Runs a job on the calling thread, which outlives it.
pub(crate) fn run(class: Class, job: Job) {
    // The job before may have left some.
    disk_time::take();
    if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
        let what = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let what = what.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        tracing::error!(?class, "a job of the pool panicked: {what}");
    }
}

/// Lets others of the machine run who wait for the processor. A thread of little weight, even of the lowest priority, is not always
/// interrupted for them: in traces of the scheduler, others waited for up to three milliseconds, till the system's next tick. To be
/// called between short pieces of such work.
pub fn stand_aside() {
    std::thread::yield_now();
}

impl Queue {
    /// Called before a job is queued: who was idle does not catch up.
    fn enter(&mut self, present: u64) {
        if self.jobs.is_empty() && self.running == 0 {
            self.clock = self.clock.max(present);
        }
    }

    /// Whether another job may start.
    fn has_room(&self) -> bool {
        self.busy() < self.max_running
    }

    /// Those that run and leave no room.
    fn busy(&self) -> usize {
        self.running - self.reading
    }
}

impl State {
    /// The job whose class has the earliest clock, of the classes of a group.
    fn next(&mut self, group: Group) -> Option<(usize, Waiting)> {
        let hosted = group.class().filter(|class| match class {
            Class::Batch => !self.hosts.is_empty(),
            _ => self.hosts_do_scans(Instant::now()),
        });
        if let Some(class) = hosted.map(|class| class as usize) {
            let queue = &mut self.queues[class];
            if queue.busy() >= self.spare && queue.has_room() {
                return Some((class, take_first(&mut queue.jobs, false)?));
            }
        }
        let runnable = |q: &Queue| !q.jobs.is_empty() && q.has_room();
        let mine = |class: usize| Class::ALL[class].group() == group;
        let candidates = self.queues.iter().enumerate().filter(|(class, q)| mine(*class) && runnable(q));
        let (class, _) = candidates.min_by_key(|(_, q)| q.clock)?;
        let job = self.queues[class].jobs.pop_front()?;
        Some((class, job))
    }

    /// The host that the scans are left to which wait for threads of a group.
    fn who_has_scans_of(&self, group: Group) -> Option<Remote> {
        let waiting = group.scans().is_some_and(|class| !self.queues[class as usize].jobs.is_empty());
        self.hosts.first().filter(|_| waiting && self.hosts_do_scans(Instant::now())).cloned()
    }

    fn hosts_do_scans(&self, now: Instant) -> bool {
        !self.hosts.is_empty() && self.apart.rest(now).is_none()
    }

    /// Whether a thread that has a scan does not get on with it.
    fn keeps_waiting(&self, now: u64) -> bool {
        let most = KEPT_WAITING.as_micros() as u64;
        self.seen.iter().map(|seen| seen.load(Relaxed)).any(|seen| seen > 0 && now.saturating_sub(seen) > most)
    }

    /// The next scan for a host, if there are more than threads about to take them. If it is not for one it comes first all the same.
    fn take_scan(&mut self) -> Option<(Class, Waiting)> {
        SCANS.into_iter().find_map(|class| {
            let queue = &mut self.queues[class as usize];
            let is_left = queue.jobs.len() > self.spare.saturating_sub(queue.busy());
            let next = is_left.then(|| queue.jobs.pop_front_if(|next| next.is_aside))?;
            Some((class, next?))
        })
    }

    /// A job of low priority for a network thread; one that is no host takes it in its turn only.
    fn take_batch(&mut self) -> Option<(Class, Waiting)> {
        let is_hosted = !self.hosts.is_empty();
        let jobs = &mut self.queues[Class::Batch as usize].jobs;
        let next = if is_hosted { take_first(jobs, true)? } else { jobs.pop_front_if(|next| next.is_aside)? };
        Some((Class::Batch, next))
    }

    fn queued(&self, class: Class) -> (usize, usize) {
        let classes = if class == Class::Scan { &SCANS[..] } else { &[class] };
        let queues = || classes.iter().map(|class| &self.queues[*class as usize]);
        (queues().map(|queue| queue.jobs.len()).sum(), queues().map(|queue| queue.running).sum())
    }

    fn start(&mut self, class: usize) -> u64 {
        let queue = &mut self.queues[class];
        self.present = self.present.max(queue.clock);
        queue.running += 1;
        queue.clock += queue.expected_ns / queue.weight;
        queue.expected_ns
    }

    /// True if jobs of this class waited for a thread of it to end.
    fn end(&mut self, class: usize, expected_ns: u64, took: Duration) -> bool {
        let queue = &mut self.queues[class];
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX / 2);
        queue.clock = (queue.clock + took / queue.weight).saturating_sub(expected_ns / queue.weight);
        queue.expected_ns = (queue.expected_ns * 7 + took) / 8;
        let was_full = !queue.has_room();
        queue.running -= 1;
        was_full && !queue.jobs.is_empty()
    }
}

/// The first job that is for network threads, or that is not.
fn take_first(jobs: &mut VecDeque<Waiting>, is_aside: bool) -> Option<Waiting> {
    let at = jobs.iter().position(|waiting| waiting.is_aside == is_aside)?;
    jobs.remove(at)
}

#[cfg(test)]
mod tests;
