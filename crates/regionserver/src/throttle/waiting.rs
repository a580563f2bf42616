//! Calls that wait: with what their methods have decoded, in the gate, and back on the threads that they came from.

use super::{PaidTogether, Throttles, Toll};
use crate::RegionServer;
use crate::error::Fault;
use crate::usage::Who;
use martite_quota::{Place, Several};
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

    /// The same for several that came together.
    fn keep_all(ready: &mut [Option<Ready<Self>>], server: &Arc<RegionServer>) {
        ready.iter_mut().flatten().for_each(|Ready { call, work, .. }| work.keep(server, call));
    }

    /// From the question for its turn on.
    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll);

    /// Its turn has come, or would come too late after all.
    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>);

    /// The turns of all have come; their tolls tell which of `paid` is for which. Who takes them out one by one need not move the others.
    fn go_on_together(server: &Arc<RegionServer>, ready: Vec<Option<Ready<Self>>>, mut paid: Vec<PaidTogether>) {
        for Ready { call, mut toll, work } in ready.into_iter().flatten() {
            toll.take_out(&mut paid);
            work.go_on(server, call, toll, Ok(()));
        }
    }
}

/// More calls that came together are not moved to others: to let them go on by themselves costs no more.
const MOST_MOVED: usize = 4;

/// Calls of one connection with their work.
struct Waiting<W> {
    server: Arc<RegionServer>,
    calls: Vec<Option<Ready<W>>>,
    paid: Vec<PaidTogether>,
    /// Their turns would come too late after all.
    refused: Option<Fault>,
}

impl<W: Work> Waiting<W> {
    fn new(server: &Arc<RegionServer>, calls: Vec<Option<Ready<W>>>) -> Box<Waiting<W>> {
        Box::new(Waiting { server: server.clone(), calls, paid: Vec::new(), refused: None })
    }
}

/// Whatever waits, one call or several; run when its turn has come.
pub(crate) trait Resume: Piece + Any {
    /// Whether it may take others along. Asked by those who leave its memory alone.
    fn gathers(&self) -> bool {
        false
    }

    /// Takes `next`, which comes after it, along if both are better done together.
    fn take_along(&mut self, next: Box<dyn Resume>) -> Result<(), Box<dyn Resume>> {
        Err(next)
    }

    /// The first so many calls, and the others if there are any.
    fn split(self: Box<Self>, calls: usize) -> (Box<dyn Resume>, Option<Box<dyn Resume>>);

    fn pay(&mut self, paid: PaidTogether);
    fn refuse(&mut self, fault: Fault);
    /// On a thread that stands back behind all others.
    fn run_behind(self: Box<Self>);
    /// Without an answer: nobody waits for it.
    fn discard(self: Box<Self>);
    fn fail(self: Box<Self>, fault: Fault);
}

impl<W: Work> Piece for Waiting<W> {
    fn run(self: Box<Self>) {
        let Waiting { server, mut calls, paid, refused } = *self;
        let now = Instant::now();
        for call in &mut calls {
            if let Some(expired) = call.take_if(|ready| ready.call.expired_at(now)) {
                expired.call.responder.discard();
            }
        }
        match refused {
            None => W::go_on_together(&server, calls, paid),
            Some(fault) => calls.into_iter().flatten().for_each(|Ready { call, toll, work }| {
                work.go_on(&server, call, toll, Err(fault.clone()));
            }),
        }
    }
}

impl<W: Work> Resume for Waiting<W> {
    fn gathers(&self) -> bool {
        W::GATHERS
    }

    fn take_along(&mut self, next: Box<dyn Resume>) -> Result<(), Box<dyn Resume>> {
        if !W::GATHERS || self.refused.is_some() {
            return Err(next);
        }
        let fits = |other: &Self| {
            let (mine, theirs) = (self.calls.len(), other.calls.len());
            other.refused.is_none() && theirs <= MOST_MOVED && mine + theirs <= GATHERED
        };
        if !(&*next as &dyn Any).downcast_ref().is_some_and(fits) {
            return Err(next);
        }
        if let Ok(other) = (next as Box<dyn Any>).downcast::<Self>() {
            let Waiting { calls, paid, .. } = *other;
            let before = self.paid.len();
            self.calls.extend(calls.into_iter().map(|mut call| {
                call.iter_mut().for_each(|ready| ready.toll.is_behind(before));
                call
            }));
            self.paid.extend(paid);
        }
        Ok(())
    }

    fn split(mut self: Box<Self>, calls: usize) -> (Box<dyn Resume>, Option<Box<dyn Resume>>) {
        if calls >= self.calls.len() {
            return (self, None);
        }
        let others = self.calls.split_off(calls);
        let others = Waiting::new(&self.server, others);
        (self, Some(others))
    }

    fn pay(&mut self, paid: PaidTogether) {
        let place = self.paid.len();
        self.calls.iter_mut().flatten().for_each(|ready| ready.toll.is_paid_by(place));
        self.paid.push(paid);
    }

    fn refuse(&mut self, fault: Fault) {
        self.refused = Some(fault);
    }

    fn run_behind(self: Box<Self>) {
        let Waiting { server, calls, mut paid, refused } = *self;
        for Ready { call, mut toll, work } in calls.into_iter().flatten() {
            toll.take_out(&mut paid);
            let (server, refused, is_short) = (server.clone(), refused.clone(), work.is_short());
            let pool = server.pool.clone();
            behind(&pool, is_short, call, move |call| {
                work.go_on(&server, call, toll, refused.map_or(Ok(()), Err));
            });
        }
    }

    fn discard(self: Box<Self>) {
        self.calls.into_iter().flatten().for_each(|ready| ready.call.responder.discard());
    }

    fn fail(self: Box<Self>, fault: Fault) {
        let exception = fault.into_exception();
        self.calls.into_iter().flatten().for_each(|ready| ready.call.responder.fail(exception.clone()));
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

/// Calls that came together wait from now on.
pub(super) fn park_together<W: Work>(
    server: &Arc<RegionServer>,
    mut ready: Vec<Option<Ready<W>>>,
    place: Place,
    asked: Asked,
) {
    W::keep_all(&mut ready, server);
    let size_bytes = ready.iter().flatten().map(|ready| ready.call.size_bytes as usize).sum();
    let Some(Ready { call, toll, .. }) = ready.iter().flatten().next() else { return };
    let (conn, is_batch) = (call.conn.clone(), toll.is_batch());
    let back = Back { conn, is_batch, resume: Waiting::new(server, ready) };
    server.throttles.park(place.holding(size_bytes), Parked { asked, back });
}

impl Later<'_> {
    pub fn park<W: Work>(self, server: &Arc<RegionServer>, call: Call, toll: Toll, work: W) {
        match self {
            Later::Behind => {
                let (server, is_short) = (server.clone(), work.is_short());
                let pool = server.pool.clone();
                behind(&pool, is_short, call, move |call| work.begin(&server, call, toll));
            }
            Later::Limited { place, asked, .. } => {
                park_together(server, vec![Some(Ready { call, toll, work })], place, asked);
            }
        }
    }

    /// The same for what is there already.
    pub fn park_whole(self, conn: &Arc<Connection>, size_bytes: usize, is_batch: bool, resume: Box<dyn Resume>) {
        match self {
            Later::Behind => resume.run(),
            Later::Limited { throttles, place, asked } => {
                let back = Back { conn: conn.clone(), is_batch, resume };
                throttles.park(place.holding(size_bytes), Parked { asked, back });
            }
        }
    }
}

/// What is known of calls whose turn was asked for, beside what the gate knows.
#[derive(Clone)]
pub(crate) struct Asked {
    pub who: Arc<Who>,
    /// From the read that brought them until they were looked at.
    pub queue: Duration,
}

/// Calls that wait.
pub(super) struct Parked {
    pub asked: Asked,
    pub back: Back,
}

impl Several for Parked {
    fn split(self, calls: usize) -> (Parked, Option<Parked>) {
        let Parked { asked, back: Back { conn, is_batch, resume } } = self;
        let (first, others) = resume.split(calls);
        let parked = |resume| Parked { asked: asked.clone(), back: Back { conn: conn.clone(), is_batch, resume } };
        (parked(first), others.map(parked))
    }
}

/// Calls on their way back to where they came from. Whoever gives them out does so without looking at what they were decoded to, which
/// nobody has touched for some time: that is for the thread that goes on with them.
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

/// With what calls go on.
pub(super) enum Outcome {
    Free,
    Paid(PaidTogether),
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

/// Calls that go on, which came together.
pub(super) struct GoesOn {
    pub back: Back,
    pub calls: usize,
    pub outcome: Outcome,
}

/// Calls of one connection that go on; if there are several, they are such as may gather.
struct GoingOn(Vec<(Box<dyn Resume>, Outcome)>);

impl Piece for GoingOn {
    fn run(self: Box<Self>) {
        let mut first: Option<Box<dyn Resume>> = None;
        for (mut next, outcome) in self.0 {
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
pub(super) fn go_on(calls: impl Iterator<Item = GoesOn>) {
    let mut calls: Vec<Option<GoesOn>> = calls.map(Some).collect();
    // Those of a connection stay in their order.
    let conn = |(place, call): (usize, &Option<GoesOn>)| {
        (call.as_ref().map_or(0, |call| Arc::as_ptr(&call.back.conn) as usize), place)
    };
    let mut order: Vec<(usize, usize)> = calls.iter().enumerate().map(conn).collect();
    order.sort_unstable();
    for of_conn in order.chunk_by(|a, b| a.0 == b.0) {
        let (mut work, mut together, mut count) = (Vec::<Box<dyn Piece>>::new(), Vec::new(), 0);
        let mut conn = None;
        for GoesOn { back, calls, outcome } in of_conn.iter().filter_map(|(_, place)| calls[*place].take()) {
            let Back { conn: to, is_batch, mut resume } = back;
            if is_batch {
                outcome.give_to(&mut *resume);
                resume.run_behind();
                continue;
            }
            conn.get_or_insert(to);
            let gathers = resume.gathers();
            if !gathers || count + calls > GATHERED {
                work.extend(piece(&mut together));
                count = 0;
            }
            together.push((resume, outcome));
            count += calls;
            if !gathers {
                work.extend(piece(&mut together));
                count = 0;
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
