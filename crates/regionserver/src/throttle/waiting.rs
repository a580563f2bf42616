//! Calls that wait: with what their methods have decoded, in the gate, and back on the threads that they came from.

use super::{Paid, Throttles, Toll, Who};
use crate::RegionServer;
use crate::error::Fault;
use martite_quota::{Cost, Operation, Place, Request};
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

    /// The turns of all have come.
    fn go_on_together(server: &Arc<RegionServer>, ready: Vec<Ready<Self>>) {
        ready.into_iter().for_each(|Ready { call, toll, work }| work.go_on(server, call, toll, Ok(())));
    }
}

/// A call with its work.
struct Waiting<W> {
    server: Arc<RegionServer>,
    ready: Ready<W>,
    /// Becomes part of its toll on the thread that goes on with it.
    paid: Option<Paid>,
    /// Its turn would come too late after all.
    refused: Option<Fault>,
    /// Those that go on together with it.
    more: Vec<Box<Waiting<W>>>,
}

impl<W: Work> Waiting<W> {
    #[allow(clippy::boxed_local, reason = "only what goes on is moved out of it")]
    fn into_ready(self: Box<Self>) -> Ready<W> {
        let Waiting { mut ready, paid, .. } = *self;
        if let Some(paid) = paid {
            ready.toll.add(paid);
        }
        ready
    }

    fn run_alone(mut self: Box<Self>) {
        if self.ready.call.expired() {
            return self.discard();
        }
        let (server, turn) = (self.server.clone(), self.refused.take().map_or(Ok(()), Err));
        let Ready { call, toll, work } = self.into_ready();
        work.go_on(&server, call, toll, turn);
    }

    fn run_together(mut self: Box<Self>) {
        let (server, more, now) = (self.server.clone(), std::mem::take(&mut self.more), Instant::now());
        let mut together = Vec::with_capacity(1 + more.len());
        for waiting in std::iter::once(self).chain(more) {
            if waiting.refused.is_some() || waiting.ready.call.expired_at(now) {
                waiting.run_alone();
            } else {
                together.push(waiting.into_ready());
            }
        }
        W::go_on_together(&server, together);
    }
}

/// Whatever waits; run when its turn has come.
pub(crate) trait Resume: Piece + Any {
    /// Takes `next`, which comes after it, along if both are better done together.
    fn take_along(&mut self, next: Box<dyn Resume>) -> Result<(), Box<dyn Resume>> {
        Err(next)
    }

    fn conn(&self) -> &Arc<Connection>;
    /// What it holds of memory.
    fn size_bytes(&self) -> usize;
    fn is_batch(&self) -> bool;
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
    fn take_along(&mut self, next: Box<dyn Resume>) -> Result<(), Box<dyn Resume>> {
        if !W::GATHERS || self.more.len() + 1 >= GATHERED || !(&*next as &dyn Any).is::<Self>() {
            return Err(next);
        }
        self.more.extend((next as Box<dyn Any>).downcast());
        Ok(())
    }

    fn conn(&self) -> &Arc<Connection> {
        &self.ready.call.conn
    }

    fn size_bytes(&self) -> usize {
        self.ready.call.size_bytes as usize
    }

    fn is_batch(&self) -> bool {
        self.ready.toll.is_batch()
    }

    fn pay(&mut self, paid: Paid) {
        self.paid = Some(paid);
    }

    fn refuse(&mut self, fault: Fault) {
        self.refused = Some(fault);
    }

    fn run_behind(mut self: Box<Self>) {
        let (server, pool) = (self.server.clone(), self.server.pool.clone());
        let turn = self.refused.take().map_or(Ok(()), Err);
        let Ready { call, toll, work } = self.into_ready();
        let is_short = work.is_short();
        behind(&pool, is_short, call, move |call| work.go_on(&server, call, toll, turn));
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
    Limited { throttles: &'a Arc<Throttles>, place: Place, waits: Waits },
}

impl Later<'_> {
    pub fn park<W: Work>(self, server: &Arc<RegionServer>, mut call: Call, toll: Toll, mut work: W) {
        let server = server.clone();
        if let Later::Behind = self {
            let pool = server.pool.clone();
            let is_short = work.is_short();
            let begin = move |call| work.begin(&server, call, toll);
            return behind(&pool, is_short, call, begin);
        }
        work.keep(&server, &mut call);
        let ready = Ready { call, toll, work };
        self.park_whole(Box::new(Waiting { server, ready, paid: None, refused: None, more: Vec::new() }));
    }

    /// The same for what is there already.
    pub fn park_whole(self, resume: Box<dyn Resume>) {
        match self {
            Later::Behind => resume.run(),
            Later::Limited { throttles, place, waits } => throttles.park(place, Parked { waits, resume }),
        }
    }
}

/// What is known of a call under a limit.
pub(crate) struct Waits {
    pub who: Arc<Who>,
    pub operation: Operation,
    pub cost: Cost,
    pub deadline_ns: Option<u64>,
    pub since_ns: u64,
    /// From the read that brought the call until it was looked at.
    pub queue: Duration,
}

impl Waits {
    pub fn request(&self, size_bytes: usize) -> Request<'_> {
        let Waits { who, operation, cost, deadline_ns, .. } = self;
        Request { key: &who.key, operation: *operation, cost: *cost, size_bytes, deadline_ns: *deadline_ns }
    }
}

/// A call that waits.
pub(super) struct Parked {
    pub waits: Waits,
    pub resume: Box<dyn Resume>,
}

impl Parked {
    pub fn is_gone(&self) -> bool {
        self.resume.conn().is_closed()
    }
}

/// Back to the threads that they came from.
pub(super) fn go_on(mut ready: Vec<Box<dyn Resume>>) {
    for batch in ready.extract_if(.., |ready| ready.is_batch()) {
        batch.run_behind();
    }
    // Those of a connection stay in their order.
    ready.sort_by_key(|ready| Arc::as_ptr(ready.conn()) as usize);
    let mut ready = ready.into_iter().peekable();
    while let Some(mut last) = ready.next() {
        let conn = last.conn().clone();
        let mut work: Vec<Box<dyn Piece>> = Vec::new();
        while let Some(next) = ready.next_if(|next| Arc::ptr_eq(next.conn(), &conn)) {
            if let Err(next) = last.take_along(next) {
                let whole: Box<dyn Resume> = std::mem::replace(&mut last, next);
                work.push(whole);
            }
        }
        work.push(last);
        conn.run_soon(work);
    }
}
