//! Calls that wait: with what their methods have decoded, in the gate, and back on the threads that they came from.

use super::{Paid, Throttles, Toll};
use crate::RegionServer;
use crate::error::Fault;
use crate::usage::Who;
use martite_env::prefetch::prefetch_at;
use martite_quota::Place;
use martite_rpc::{Call, Class, Connection, GATHERED, Piece, Pool};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A call whose turn has come, or is to be asked for.
pub(crate) struct Ready<W> {
    pub call: Call,
    pub toll: Toll,
    pub work: W,
}

/// What a method has decoded of a call, and how it goes on with it.
pub(crate) trait Work: Send + Sized + 'static {
    /// Calls of one connection whose turns have come together go on together, [`GATHERED`] at most.
    const GATHERS: bool = false;

    /// Whether what it does on a network thread is short, and the rest goes to the pool.
    fn is_short(&self) -> bool {
        true
    }

    /// It is about to wait: what lies in the large buffer that brought the call is copied.
    fn keep(&mut self, server: &Arc<RegionServer>, call: &mut Call);

    /// From the question for its turn on.
    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll);

    /// Its turn has come, or would come too late after all.
    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>);

    /// The turns of all have come. None is missing: who takes them out one by one need not move the others.
    fn go_on_together(server: &Arc<RegionServer>, ready: Vec<Option<Ready<Self>>>) {
        ready.into_iter().flatten().for_each(|Ready { call, toll, work }| work.go_on(server, call, toll, Ok(())));
    }
}

/// A call with its work.
struct Waiting<W> {
    server: Arc<RegionServer>,
    ready: Ready<W>,
    /// Its turn would come too late after all.
    refused: Option<Fault>,
    /// Those that go on together with it.
    more: Vec<Box<Waiting<W>>>,
}

impl<W: Work> Waiting<W> {
    fn run_alone(self: Box<Self>) {
        if self.ready.call.expired() {
            return self.discard();
        }
        let Waiting { server, ready: Ready { call, toll, work }, refused, .. } = *self;
        work.go_on(&server, call, toll, refused.map_or(Ok(()), Err));
    }

    fn run_together(mut self: Box<Self>) {
        let (server, more, now) = (self.server.clone(), std::mem::take(&mut self.more), Instant::now());
        let mut together = Vec::with_capacity(1 + more.len());
        for waiting in std::iter::once(self).chain(more) {
            if waiting.refused.is_some() || waiting.ready.call.expired_at(now) {
                waiting.run_alone();
            } else {
                together.push(Some(waiting.ready));
            }
        }
        W::go_on_together(&server, together);
    }
}

/// Whatever waits; run when its turn has come.
pub(crate) trait Resume: Piece + Any {
    /// Whether it may take others along. Asked by those who leave its memory alone.
    fn gathers(&self) -> bool {
        false
    }

    /// Takes `next`, which comes after it, along if both are better done together.
    fn take_along(&mut self, next: Box<dyn Resume>) -> Result<(), Box<dyn Resume>> {
        Err(next)
    }

    fn pay(&mut self, paid: Paid);
    fn refuse(&mut self, fault: Fault);
    /// On a thread that stands back behind all others.
    fn run_behind(self: Box<Self>);
    /// Without an answer: nobody waits for it.
    fn discard(self: Box<Self>);
    fn fail(self: Box<Self>, fault: Fault);
}

impl<W: Work> Piece for Waiting<W> {
    fn run(self: Box<Self>) {
        if self.more.is_empty() { self.run_alone() } else { self.run_together() }
    }
}

impl<W: Work> Resume for Waiting<W> {
    fn gathers(&self) -> bool {
        W::GATHERS
    }

    fn take_along(&mut self, next: Box<dyn Resume>) -> Result<(), Box<dyn Resume>> {
        if !W::GATHERS || self.more.len() + 1 >= GATHERED || !(&*next as &dyn Any).is::<Self>() {
            return Err(next);
        }
        self.more.extend((next as Box<dyn Any>).downcast());
        Ok(())
    }

    fn pay(&mut self, paid: Paid) {
        self.ready.toll.add(paid);
    }

    fn refuse(&mut self, fault: Fault) {
        self.refused = Some(fault);
    }

    fn run_behind(self: Box<Self>) {
        let Waiting { server, ready: Ready { call, toll, work }, refused, .. } = *self;
        let (pool, is_short) = (server.pool.clone(), work.is_short());
        behind(&pool, is_short, call, move |call| work.go_on(&server, call, toll, refused.map_or(Ok(()), Err)));
    }

    fn discard(self: Box<Self>) {
        self.ready.call.responder.discard();
    }

    fn fail(self: Box<Self>, fault: Fault) {
        self.ready.call.responder.fail(fault.into_exception());
    }
}

/// What is of low priority: a network thread may begin it while it has nothing else to do, if that is short.
fn behind(pool: &Pool, is_short: bool, call: Call, f: impl FnOnce(Call) + Send + 'static) {
    if is_short { pool.spawn_aside(call, f) } else { pool.spawn_call(Class::Batch, call, f) }
}

/// A call that does not go on now.
#[allow(clippy::large_enum_variant, reason = "one for each call, handed on at once")]
pub(crate) enum Later<'a> {
    /// It is of low priority: what it does, it does on threads that stand back behind all others, from the question for
    /// its turn on.
    Behind,
    /// A place in the gate.
    Limited { throttles: &'a Arc<Throttles>, place: Place, asked: Asked },
}

impl<W: Work> Ready<W> {
    /// It is about to wait.
    pub(super) fn keep(mut self, server: &Arc<RegionServer>, place: Place, asked: Asked) -> (Place, Parked) {
        let Ready { call, work, toll } = &mut self;
        work.keep(server, call);
        let (place, conn, is_batch) = (place.holding(call.size_bytes as usize), call.conn.clone(), toll.is_batch());
        let resume = Box::new(Waiting { server: server.clone(), ready: self, refused: None, more: Vec::new() });
        (place, Parked { asked, back: Back { conn, is_batch, resume } })
    }
}

impl Later<'_> {
    pub fn park<W: Work>(self, server: &Arc<RegionServer>, call: Call, toll: Toll, work: W) {
        match self {
            Later::Behind => {
                let (server, is_short) = (server.clone(), work.is_short());
                let pool = server.pool.clone();
                behind(&pool, is_short, call, move |call| work.begin(&server, call, toll));
            }
            Later::Limited { throttles, place, asked } => {
                throttles.park([Ready { call, toll, work }.keep(server, place, asked)]);
            }
        }
    }

    /// The same for what is there already.
    pub fn park_whole(self, conn: &Arc<Connection>, size_bytes: usize, is_batch: bool, resume: Box<dyn Resume>) {
        match self {
            Later::Behind => resume.run(),
            Later::Limited { throttles, place, asked } => {
                let back = Back { conn: conn.clone(), is_batch, resume };
                throttles.park([(place.holding(size_bytes), Parked { asked, back })]);
            }
        }
    }
}

/// What is known of a call whose turn was asked for, beside what the gate knows.
pub(crate) struct Asked {
    pub who: Arc<Who>,
    /// From the read that brought the call until it was looked at.
    pub queue: Duration,
}

/// A call that waits.
pub(super) struct Parked {
    pub asked: Asked,
    pub back: Back,
}

/// A call on its way back to where it came from. Whoever gives it out does so without looking at what it was decoded to, which
/// nobody has touched for some time: that is for the thread that goes on with it.
pub(super) struct Back {
    conn: Arc<Connection>,
    is_batch: bool,
    pub resume: Box<dyn Resume>,
}

impl Back {
    pub fn is_gone(&self) -> bool {
        self.conn.is_closed()
    }
}

/// With what a call goes on.
pub(super) enum Outcome {
    Free,
    Paid(Paid),
    Refused(Fault),
}

impl Outcome {
    fn give_to(self, resume: &mut dyn Resume) {
        match self {
            Outcome::Free => {}
            Outcome::Paid(paid) => resume.pay(paid),
            Outcome::Refused(fault) => resume.refuse(fault),
        }
    }
}

/// Memory of a call that goes on is asked for while so many are before it.
const AHEAD: usize = 1;

/// Calls of one connection that go on; more than one are such as may gather.
struct GoingOn(Vec<(Box<dyn Resume>, Outcome)>);

impl Piece for GoingOn {
    fn run(self: Box<Self>) {
        let mut calls = self.0.into_iter();
        let mut first: Option<Box<dyn Resume>> = None;
        while let Some((mut next, outcome)) = calls.next() {
            if let Some((behind, _)) = calls.as_slice().get(AHEAD) {
                prefetch_at(std::ptr::from_ref(&**behind).cast(), size_of_val(&**behind));
            }
            outcome.give_to(&mut *next);
            first = Some(match first {
                None => next,
                Some(mut first) => match first.take_along(next) {
                    Ok(()) => first,
                    Err(next) => {
                        first.run();
                        next
                    }
                },
            });
        }
        if let Some(first) = first {
            first.run();
        }
    }
}

/// Back to the threads that they came from.
pub(super) fn go_on(calls: impl Iterator<Item = (Back, Outcome)>) {
    let mut calls: Vec<Option<(Back, Outcome)>> = calls.map(Some).collect();
    // Those of a connection stay in their order.
    let conn = |(place, call): (usize, &Option<(Back, Outcome)>)| {
        (call.as_ref().map_or(0, |(back, _)| Arc::as_ptr(&back.conn) as usize), place)
    };
    let mut order: Vec<(usize, usize)> = calls.iter().enumerate().map(conn).collect();
    order.sort_unstable();
    for of_conn in order.chunk_by(|a, b| a.0 == b.0) {
        let (mut work, mut together) = (Vec::<Box<dyn Piece>>::new(), Vec::new());
        let mut conn = None;
        for (back, outcome) in of_conn.iter().filter_map(|(_, place)| calls[*place].take()) {
            let Back { conn: to, is_batch, mut resume } = back;
            if is_batch {
                outcome.give_to(&mut *resume);
                resume.run_behind();
                continue;
            }
            conn.get_or_insert(to);
            let gathers = resume.gathers();
            if !gathers || together.len() == GATHERED {
                work.extend(piece(&mut together));
            }
            together.push((resume, outcome));
            if !gathers {
                work.extend(piece(&mut together));
            }
        }
        work.extend(piece(&mut together));
        if let Some(conn) = conn {
            conn.run_soon(work);
        }
    }
}

fn piece(calls: &mut Vec<(Box<dyn Resume>, Outcome)>) -> Option<Box<dyn Piece>> {
    (!calls.is_empty()).then(|| Box::new(GoingOn(std::mem::take(calls))) as Box<dyn Piece>)
}
