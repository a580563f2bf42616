//! [`Reactor`]: a network thread and its connections.
//!
//! ```text
//!         ┌─ who is to run: sockets with news, tasks that were woken, tasks with more to do
//! a turn: │ some of them ─▶ read, together ─▶ a step of each ─▶ write, together ─▶ rest, or again
//!         └─ nobody ─▶ a step of a guest, a piece of work of low priority (`aside`), or wait for sockets
//! ```
//! Where the system lets us, what several connections read costs one system call, and so does what they write
//! (`martite_env::ring`): that is what a short call costs most. A step that takes long does not keep the answers of those
//! before it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use martite_env::Ring;
use mio::{Events, Poll, Token};
use parking_lot::Mutex;

use crate::aside::{Aside, Idle};
use crate::hop::Hop;
use crate::link::Link;
use crate::others;
use crate::pool::stand_aside;
use crate::seat::{Seat, Spent};
use crate::task::{Next, Task};

/// Connections of a turn: the answers of the first wait for the last's.
const AT_ONCE: usize = 16;
/// Answers wait no longer than about this for those of the same turn.
const PROMPT: Duration = Duration::from_micros(100);
/// While there is work, no more time goes by without a look at the sockets than this and what a turn takes.
const BLIND: Duration = Duration::from_micros(100);
/// A guest's steps are to be shorter.
const LONG_STEP: Duration = Duration::from_micros(100);
/// What is read along with others for one connection; one with more reads the rest by itself.
const ALONG_BYTES: usize = 4 << 10;
/// News of one look at the sockets.
const EVENTS: usize = 1024;
/// The token of `Shared::waker`.
const MAIL: Token = Token(usize::MAX);

/// What others tell the thread.
enum Mail {
    Adopt(Box<Task>),
    Wake(usize),
    Stop,
}

/// A network thread, to others.
#[derive(Clone)]
pub(crate) struct Remote(Arc<Shared>);

struct Shared {
    post: Mutex<Post>,
    /// The thread waits, or is about to: mail alone does not reach it.
    asleep: AtomicBool,
    waker: mio::Waker,
    /// The thread takes guests.
    hosts: AtomicBool,
    has_connections: AtomicBool,
}

#[derive(Default)]
struct Post {
    mail: Vec<Mail>,
    closed: bool,
}

impl Remote {
    /// Gives it a connection.
    pub fn adopt(&self, task: Task) {
        self.0.post(Mail::Adopt(Box::new(task)));
    }

    /// There is work for it.
    pub fn rouse(&self) {
        self.0.rouse();
    }

    /// Whether it takes connections of low priority.
    pub fn hosts(&self) -> bool {
        self.0.hosts.load(Relaxed)
    }

    pub fn has_connections(&self) -> bool {
        self.0.has_connections.load(Relaxed)
    }

    #[cfg(test)]
    pub fn set_asleep(&self, asleep: bool) {
        self.0.asleep.store(asleep, SeqCst);
    }

    #[cfg(test)]
    pub fn is_asleep(&self) -> bool {
        self.0.asleep.load(SeqCst)
    }

    /// Its connections are closed, and the thread ends.
    pub fn stop(&self) {
        self.0.post(Mail::Stop);
    }
}

impl PartialEq for Remote {
    fn eq(&self, other: &Remote) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Remote").finish()
    }
}

impl Shared {
    fn has_mail(&self) -> bool {
        !self.post.lock().mail.is_empty()
    }

    fn post(&self, mail: Mail) {
        let mut post = self.post.lock();
        if post.closed {
            drop(post);
            // A connection comes back here when it is closed.
            return drop(mail);
        }
        post.mail.push(mail);
        drop(post);
        self.rouse();
    }

    fn rouse(&self) {
        if self.asleep.swap(false, SeqCst)
            && let Err(e) = self.waker.wake()
        {
            tracing::error!("a network thread was not woken: {e}");
        }
    }
}

/// Wakes one task.
struct Bell {
    shared: Arc<Shared>,
    token: usize,
}

impl Wake for Bell {
    fn wake(self: Arc<Bell>) {
        self.wake_by_ref();
    }
    fn wake_by_ref(self: &Arc<Bell>) {
        // By the time it arrives another connection may have the token: that one looks for work and finds none.
        self.shared.post(Mail::Wake(self.token));
    }
}

struct Slot {
    task: Box<Task>,
    waker: Waker,
    /// It is in `Reactor::ready`, or in `Reactor::guests` if it is one.
    is_ready: bool,
    is_guest: bool,
    spent: Spent,
}

pub(crate) struct Reactor {
    poll: Poll,
    events: Events,
    shared: Arc<Shared>,
    slots: Vec<Option<Slot>>,
    free: Vec<usize>,
    ready: VecDeque<usize>,
    /// The same of connections of low priority, for which there is time while nobody else is ready.
    guests: VecDeque<usize>,
    /// Deadlines; one that its task no longer has is void.
    deadlines: BinaryHeap<Reverse<(Instant, usize)>>,
    mail: Vec<Mail>,
    /// None during one.
    turn: Option<Box<Turn>>,
    /// The last look at the sockets.
    looked: Instant,
    /// The next one is due, whatever is ready: a part of something long was done, a piece of an answer or a slice of a scan.
    owes_look: bool,
    /// `None`: the thread stands back, and connections without work of low priority belong to others.
    seat: Option<Seat>,
    /// None: it has no time for others' work.
    aside: Option<Aside>,
    /// The same.
    hop: Option<Hop>,
}

/// Where a connection is to have its next step.
enum Belongs {
    Here,
    /// Here, as a guest.
    Guest,
    /// On the thread that stands back, or on its own.
    Behind,
    Home,
}

/// What a turn needs, kept for the next.
struct Turn {
    /// `None`: a system call for each.
    ring: Option<Ring>,
    tokens: Vec<usize>,
    /// By place in the turn: whether something was read along for it, and what.
    along: Vec<Option<io::Result<usize>>>,
    outcomes: Vec<io::Result<usize>>,
    /// `ALONG_BYTES` for each place.
    room: Vec<u8>,
}

impl Reactor {
    pub fn new(seat: Option<Seat>) -> io::Result<(Reactor, Remote)> {
        let poll = Poll::new()?;
        let waker = mio::Waker::new(poll.registry(), MAIL)?;
        let shared = Arc::new(Shared {
            post: Mutex::default(),
            asleep: AtomicBool::new(false),
            waker,
            hosts: AtomicBool::new(false),
            has_connections: AtomicBool::new(false),
        });
        let reactor = Reactor {
            poll,
            events: Events::with_capacity(EVENTS),
            shared: shared.clone(),
            slots: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            guests: VecDeque::new(),
            deadlines: BinaryHeap::new(),
            mail: Vec::new(),
            turn: None,
            looked: Instant::now(),
            owes_look: false,
            seat,
            aside: None,
            hop: None,
        };
        Ok((reactor, Remote(shared)))
    }

    /// The thread's life.
    pub fn run(mut self) {
        let shared = self.shared.clone();
        self.aside = self.seat.is_some().then(|| Aside::new(Remote(shared.clone())));
        self.hop = self.seat.is_some().then(|| Hop::new(self.looked));
        others::begin(self.poll.registry(), move || shared.has_mail());
        while self.take_mail() {
            if let Err(e) = self.look() {
                tracing::error!("a network thread ends: {e}");
                break;
            }
            self.end_overdue();
            self.review();
            self.take_turn();
            if self.shared.hosts.load(Relaxed) {
                self.work_between();
            }
        }
        // Others are to do the work that it would have done.
        self.aside = None;
        self.shared.hosts.store(false, Relaxed);
        let mut post = self.shared.post.lock();
        post.closed = true;
        let rest = std::mem::take(&mut post.mail);
        drop(post);
        drop(rest);
    }

    /// The same without connections, where it is known from the start whose work there may be.
    #[cfg(test)]
    pub fn run_for(mut self, pool: &Arc<crate::Pool>) {
        let remote = Remote(self.shared.clone());
        let mut aside = Aside::new(remote.clone());
        aside.know(Some(pool), &remote);
        self.aside = Some(aside);
        while self.take_mail() {
            self.look().unwrap();
        }
    }

    /// False if it is to stop.
    fn take_mail(&mut self) -> bool {
        let mut post = self.shared.post.lock();
        std::mem::swap(&mut post.mail, &mut self.mail);
        self.shared.asleep.store(self.mail.is_empty() && self.ready.is_empty(), SeqCst);
        drop(post);
        let mut mail = std::mem::take(&mut self.mail);
        let mut goes_on = true;
        for mail in mail.drain(..) {
            match mail {
                Mail::Adopt(task) => self.adopt(task),
                Mail::Wake(token) => self.make_ready(token),
                Mail::Stop => goes_on = false,
            }
        }
        self.mail = mail;
        goes_on
    }

    fn adopt(&mut self, mut task: Box<Task>) {
        let token = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        if let Err(e) = task.socket.register(self.poll.registry(), Token(token)) {
            self.free.push(token);
            return task.close(Some(e));
        }
        if let Some(deadline) = task.deadline() {
            self.deadlines.push(Reverse((deadline, token)));
        }
        let waker = Waker::from(Arc::new(Bell { shared: self.shared.clone(), token }));
        self.slots[token] = Some(Slot { task, waker, is_ready: false, is_guest: false, spent: Spent::default() });
        self.shared.has_connections.store(true, Relaxed);
        self.make_ready(token);
    }

    fn make_ready(&mut self, token: usize) {
        if let Some(Some(slot)) = self.slots.get_mut(token)
            && !slot.is_ready
        {
            slot.is_ready = true;
            let ready = if slot.is_guest { &mut self.guests } else { &mut self.ready };
            ready.push_back(token);
        }
    }

    /// Looks at the sockets; waits for them if there is nothing else to do.
    fn look(&mut self) -> io::Result<()> {
        let (mut has_aside, owes_look) = (false, std::mem::take(&mut self.owes_look));
        let wait = if !self.shared.asleep.load(SeqCst) {
            if !self.ready.is_empty() && !owes_look && self.looked.elapsed() < BLIND {
                return Ok(());
            }
            Some(Duration::ZERO)
        } else {
            let now = Instant::now();
            let deadline = self.next_deadline().map(|(at, _)| at.saturating_duration_since(now));
            match self.idle(now) {
                Idle::Work => {
                    has_aside = true;
                    Some(Duration::ZERO)
                }
                Idle::Sleep(most) => deadline.into_iter().chain(most).min(),
            }
        };
        self.hear(wait)?;
        if has_aside && self.ready.is_empty() {
            self.work_aside();
        }
        Ok(())
    }

    /// What to do while there is nothing to do.
    fn idle(&mut self, now: Instant) -> Idle {
        self.host(now);
        let guests = !self.guests.is_empty();
        self.aside.as_mut().map_or(Idle::Sleep(None), |aside| aside.idle(now, guests))
    }

    /// Begins to be a host, or ends it, if that is due: guests go to the thread that stands back.
    fn host(&mut self, now: Instant) {
        let (Some(aside), Some(seat)) = (&mut self.aside, &self.seat) else { return };
        let hosts = aside.host(now, seat.spare());
        if self.shared.hosts.swap(hosts, Relaxed) && !hosts {
            (0..self.slots.len()).for_each(|token| self.take_leave(token));
        }
    }

    fn take_leave(&mut self, token: usize) {
        if let Some(slot) = self.slots[token].as_ref().filter(|slot| slot.is_guest) {
            if slot.task.may_move() {
                self.hand_over(token, |link| link.thread(true));
            } else {
                self.welcome(token, false);
            }
        }
    }

    /// A connection becomes a guest, or one like all others.
    fn welcome(&mut self, token: usize, as_guest: bool) {
        let Some(slot) = &mut self.slots[token] else { return };
        if std::mem::replace(&mut slot.is_guest, as_guest) != as_guest && std::mem::take(&mut slot.is_ready) {
            self.guests.retain(|guest| *guest != token);
        }
        self.make_ready(token);
    }

    /// Works for a moment on what is of low priority.
    fn work_aside(&mut self) {
        if self.shared.has_mail() {
            return;
        }
        let began = self.looked;
        let took = match self.guests.pop_front() {
            Some(guest) => self.serve_guest(guest, began),
            None => self.aside.as_mut().map_or(Duration::ZERO, |aside| aside.work(began)),
        };
        if let Some(seat) = &mut self.seat {
            seat.set_aside(took);
        }
    }

    /// A host between two turns, which may leave it no time but for this.
    fn work_between(&mut self) {
        let (Some(aside), guests) = (&mut self.aside, !self.guests.is_empty()) else { return };
        others::note_connections(!self.ready.is_empty());
        let took = aside.work_between(self.looked, guests);
        self.owes_look |= !took.is_zero();
        let is_short = aside.is_short_of_time(self.looked, guests);
        if let Some(seat) = &mut self.seat {
            seat.set_aside(took);
        }
        if is_short {
            self.host(self.looked);
        }
    }

    fn serve_guest(&mut self, token: usize, began: Instant) -> Duration {
        let Some(slot) = &mut self.slots[token] else { return Duration::ZERO };
        slot.is_ready = false;
        if !matches!(self.belongs(token), Belongs::Guest) {
            self.welcome(token, false);
            return Duration::ZERO;
        }
        if let Some(aside) = &mut self.aside {
            aside.begin_turn();
        }
        let mut turn = self.turn.take().unwrap_or_else(|| Box::new(Turn::new()));
        turn.tokens.push(token);
        self.run_turn(turn);
        let took = began.elapsed();
        if let Some(slot) = &mut self.slots[token]
            && slot.task.was_guest(took > LONG_STEP, began)
        {
            self.welcome(token, false);
        }
        took
    }

    fn belongs(&self, token: usize) -> Belongs {
        let Some(slot) = &self.slots[token] else { return Belongs::Here };
        let (task, is_behind) = (&slot.task, self.seat.is_none());
        if is_behind != task.is_low() {
            return match task.may_move() {
                false => Belongs::Here,
                true if is_behind => Belongs::Home,
                true if self.shared.hosts.load(Relaxed) && task.is_guest(self.looked) => Belongs::Guest,
                true => Belongs::Behind,
            };
        }
        if is_behind && task.link().thread(false).hosts() && task.is_guest(self.looked) {
            return Belongs::Home;
        }
        Belongs::Here
    }

    fn hear(&mut self, wait: Option<Duration>) -> io::Result<()> {
        let outcome = self.poll.poll(&mut self.events, wait);
        self.shared.asleep.store(false, SeqCst);
        self.looked = Instant::now();
        match outcome {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        }
        for event in &self.events {
            if let Some(Some(slot)) = self.slots.get_mut(event.token().0) {
                slot.task.socket.heard(event);
                if !slot.is_ready {
                    slot.is_ready = true;
                    let ready = if slot.is_guest { &mut self.guests } else { &mut self.ready };
                    ready.push_back(event.token().0);
                }
            }
        }
        Ok(())
    }

    /// The first deadline that its task still has. A void one must not be waited for: each sleep would set a timer and take it back.
    fn next_deadline(&mut self) -> Option<(Instant, usize)> {
        while let Some(Reverse((at, token))) = self.deadlines.peek().copied() {
            let deadline = self.slots[token].as_ref().and_then(|slot| slot.task.deadline());
            if deadline == Some(at) {
                return Some((at, token));
            }
            self.deadlines.pop();
        }
        None
    }

    fn end_overdue(&mut self) {
        while let Some((at, token)) = self.next_deadline()
            && at <= Instant::now()
        {
            self.deadlines.pop();
            self.close(token, None);
        }
    }

    fn close(&mut self, token: usize, lost: Option<io::Error>) {
        if let Some(task) = self.release(token) {
            task.close(lost);
        }
    }

    fn release(&mut self, token: usize) -> Option<Box<Task>> {
        let mut slot = self.slots[token].take()?;
        self.free.push(token);
        if slot.is_ready {
            let ready = if slot.is_guest { &mut self.guests } else { &mut self.ready };
            ready.retain(|ready| *ready != token);
        }
        self.shared.has_connections.store(self.free.len() < self.slots.len(), Relaxed);
        if let Err(e) = slot.task.socket.deregister(self.poll.registry()) {
            tracing::debug!(peer = %slot.task.link().peer, "socket not deregistered: {e}");
        }
        Some(slot.task)
    }

    fn take_turn(&mut self) {
        let mut turn = self.turn.take().unwrap_or_else(|| Box::new(Turn::new()));
        while turn.tokens.len() < AT_ONCE
            && let Some(token) = self.ready.pop_front()
        {
            let Some(slot) = &mut self.slots[token] else { continue };
            slot.is_ready = false;
            match self.belongs(token) {
                Belongs::Here => turn.tokens.push(token),
                Belongs::Guest => self.welcome(token, true),
                Belongs::Behind => self.hand_over(token, |link| link.thread(true)),
                Belongs::Home => self.hand_over(token, |link| link.thread(false)),
            }
        }
        // Others come before those who are about to write another piece of what was begun.
        turn.tokens.sort_by_key(|token| self.has_rest(*token));
        // The first ones' answers leave with the last's.
        others::note_connections(turn.tokens.len() > 1 || !self.ready.is_empty());
        self.run_turn(turn);
    }

    fn run_turn(&mut self, mut turn: Box<Turn>) {
        turn.read_along(&self.slots);
        let (mut began, mut unsent) = (Instant::now(), 0);
        let mut before = began;
        for place in 0..turn.tokens.len() {
            if place > unsent && self.has_rest(turn.tokens[place]) {
                self.write(&mut turn, unsent..place);
                (began, unsent) = (Instant::now(), place);
                before = began;
            }
            self.step(&mut turn, place);
            let now = Instant::now();
            if let (Some(seat), Some(slot)) = (&self.seat, &mut self.slots[turn.tokens[place]])
                && !slot.is_guest
            {
                seat.charge(&mut slot.spent, now - before);
            }
            before = now;
            if now - began > PROMPT {
                self.write(&mut turn, unsent..place + 1);
                (began, unsent) = (now, place + 1);
            }
        }
        let end = turn.tokens.len();
        self.write(&mut turn, unsent..end);
        if self.seat.is_none() {
            stand_aside();
        } else if let Some(Some(slot)) = turn.tokens.first().map(|token| &self.slots[*token]) {
            // What panics there has nothing to do with this connection.
            let _ = guarded(|| {
                let handler = &slot.task.link().server.handler;
                handler.between_reads(before);
                if let Some(aside) = &mut self.aside {
                    aside.know(handler.pool(), &slot.task.link().server.behind);
                }
                Ok(())
            });
        }
        turn.tokens.clear();
        self.turn = Some(turn);
    }

    fn has_rest(&self, token: usize) -> bool {
        self.slots[token].as_ref().is_some_and(|slot| slot.task.has_rest())
    }

    fn step(&mut self, turn: &mut Turn, place: usize) {
        let token = turn.tokens[place];
        let Some(slot) = &mut self.slots[token] else { return };
        let received = turn.take_received(place, slot);
        let before = slot.task.deadline();
        let outcome = guarded(|| slot.task.step(&slot.waker, received));
        let deadline = slot.task.deadline();
        match outcome {
            Ok(()) if deadline != before => self.deadlines.extend(deadline.map(|at| Reverse((at, token)))),
            Ok(()) => {}
            Err(e) => self.close(token, Some(e)),
        }
    }

    /// Writes what the steps of some places brought, and lets their tasks rest.
    fn write(&mut self, turn: &mut Turn, places: std::ops::Range<usize>) {
        turn.write(&self.slots, places.clone());
        let mut outcomes = std::mem::take(&mut turn.outcomes);
        let mut written = outcomes.drain(..);
        for place in places {
            let token = turn.tokens[place];
            let Some(slot) = &mut self.slots[token] else { continue };
            let task = &mut slot.task;
            let next = guarded(|| {
                if task.small_output().is_some() {
                    // Those that were not written together have written nothing yet.
                    task.sent(written.next().unwrap_or(Ok(0)))?;
                }
                Ok(task.finish())
            });
            match next {
                Ok(Next::Rest) => {}
                Ok(Next::Again) => {
                    self.owes_look |= self.has_rest(token);
                    self.make_ready(token);
                }
                Ok(Next::Closed) => self.close(token, None),
                Err(e) => self.close(token, Some(e)),
            }
        }
        drop(written);
        turn.outcomes = outcomes;
    }

    /// The other thread looks at the socket and at the outbox at once: what comes meanwhile is not missed, be it that nobody
    /// is woken for it.
    fn hand_over(&mut self, token: usize, to: impl FnOnce(&Link) -> &Remote) {
        if let Some(task) = self.release(token) {
            let remote = to(task.link()).clone();
            remote.0.post(Mail::Adopt(task));
        }
    }

    /// Some connections may have to go to a thread that has less to do.
    fn review(&mut self) {
        if let Some(hop) = &mut self.hop {
            hop.review(self.looked, || self.aside.as_ref()?.pool());
        }
        let Some(seat) = &mut self.seat else { return };
        let slots = self.slots.iter().enumerate().filter_map(|(token, slot)| Some((token, slot.as_ref()?)));
        let movable = slots.filter(|(_, slot)| slot.task.may_move());
        let gift = seat.review(self.looked, movable.map(|(token, slot)| (token, slot.spent)));
        if let Some(used) = seat.take_used()
            && let Some(pool) = self.aside.as_ref().and_then(Aside::pool)
        {
            pool.note_calls(used);
        }
        let Some((picked, to)) = gift else { return };
        for token in picked {
            self.hand_over(token, |link| link.move_to(to));
        }
    }
}

/// A panic costs the connection, not the thread.
fn guarded<T>(run: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        tracing::error!("a connection's task panicked");
        Err(io::Error::other("its task panicked"))
    })
}

impl Turn {
    fn new() -> Turn {
        let ring = Ring::new().inspect_err(|e| tracing::debug!("no io_uring, a system call for each socket: {e}")).ok();
        Turn { ring, tokens: Vec::new(), along: Vec::new(), outcomes: Vec::new(), room: Vec::new() }
    }

    /// Reads for all of the turn that want little. One alone reads by itself.
    fn read_along(&mut self, slots: &[Option<Slot>]) {
        self.along.clear();
        self.along.resize_with(self.tokens.len(), || None);
        let Some(ring) = self.ring.as_mut().filter(|_| self.tokens.len() > 1) else { return };
        for (token, along) in self.tokens.iter().zip(&mut self.along) {
            // Asked once: the answer changes when the server is told to stop.
            *along = slots[*token].as_ref().filter(|slot| slot.task.is_read_along()).map(|_| Ok(0));
        }
        self.room.resize(AT_ONCE * ALONG_BYTES, 0);
        let rooms = self.room.chunks_exact_mut(ALONG_BYTES);
        let wanted = self.tokens.iter().zip(&self.along).zip(rooms).filter(|((_, along), _)| along.is_some());
        let sockets = wanted.filter_map(|((token, _), room)| Some((slots[*token].as_ref()?.task.socket.as_fd(), room)));
        ring.receive(sockets, &mut self.outcomes);
        for (along, outcome) in self.along.iter_mut().flatten().zip(self.outcomes.drain(..)) {
            *along = outcome;
        }
    }

    /// What was read along for a place.
    fn take_received<'a>(&'a mut self, place: usize, slot: &mut Slot) -> Option<io::Result<&'a [u8]>> {
        let outcome = self.along[place].take()?;
        match slot.task.socket.received(ALONG_BYTES, outcome) {
            Ok(Some(n)) => Some(Ok(&self.room[place * ALONG_BYTES..][..n])),
            // There is nothing to read, which the socket knows now.
            Ok(None) => None,
            Err(e) => Some(Err(e)),
        }
    }

    /// Writes what is small, together.
    fn write(&mut self, slots: &[Option<Slot>], places: std::ops::Range<usize>) {
        let tokens = &self.tokens[places];
        let outputs = || tokens.iter().filter_map(|token| slots[*token].as_ref()?.task.small_output());
        let Some(ring) = self.ring.as_mut().filter(|_| outputs().nth(1).is_some()) else { return };
        ring.send(outputs(), &mut self.outcomes);
    }
}
