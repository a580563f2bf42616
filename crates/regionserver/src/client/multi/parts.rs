//! A multi over several tables of which some are to wait: each table that waits is a part of its own, the rest is one more.
//!
//! ```text
//!            ┌ t1, t4   run at once ─────────────────────────┐
//! multi ─────┼ t2       gate ── its time ── runs ────────────┼─▶ the last one puts the answers together: one answer
//!            └ t3       gate ── its time ── too late: fails ─┘
//! ```
//! The answer waits for the last part, since a multi has one; the work of the others does not.

use super::answer::{merge, response};
use super::{Multi, settle};
use crate::error::Fault;
use crate::gather::when_all_done;
use crate::throttle::{Later, PaidTogether, Resume, Toll};
use crate::{RegionServer, result, times};
use martite_rpc::{Call, Class, Connection, Exception, Job, Piece};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Instant;

/// What the parts of a multi have in common.
pub(super) struct Parts {
    conn: Arc<Connection>,
    deadline: Option<Instant>,
    size_bytes: usize,
    state: Mutex<State>,
}

struct State {
    /// Comes with the part that does not wait.
    call: Option<Call>,
    /// Parts that have not ended.
    open: usize,
    ended: Vec<Multi>,
    /// Bytes of their answers.
    answered_bytes: usize,
    end: End,
}

/// How the call ends.
enum End {
    Answered,
    Failed(Exception),
    /// Nobody waits for it.
    Discarded,
}

/// One part's share in the answer: the call ends with the last of them, and fails if one has not told how it ended.
struct Share {
    parts: Arc<Parts>,
    told: bool,
}

impl Parts {
    pub(super) fn new(call: &Call, multi: &Multi) -> Arc<Parts> {
        let (ended, size_bytes) = (Vec::new(), multi.held_bytes(call));
        // One is open for the part with the call.
        let state = State { call: None, open: 1, ended, answered_bytes: 0, end: End::Answered };
        Arc::new(Parts { conn: call.conn.clone(), deadline: call.deadline(), size_bytes, state: Mutex::new(state) })
    }

    fn share(self: &Arc<Parts>) -> Share {
        self.state.lock().open += 1;
        Share { parts: self.clone(), told: false }
    }

    fn is_expired(&self) -> bool {
        self.conn.is_closed() || self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }
}

impl Share {
    fn add(mut self, multi: Multi) {
        self.told = true;
        let mut state = self.parts.state.lock();
        state.answered_bytes += multi.cells.size_bytes() + multi.inline_bytes;
        state.ended.push(multi);
    }

    /// It was not a part's.
    fn leave(mut self) {
        self.told = true;
    }

    /// The first reason counts.
    fn fail(mut self, end: End) {
        self.told = true;
        let mut state = self.parts.state.lock();
        if let End::Answered = state.end {
            state.end = end;
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut state = self.parts.state.lock();
        if let (End::Answered, false) = (&state.end, self.told) {
            state.end = End::Failed(Exception::io("Internal error: a part of the call ended without an answer"));
        }
        state.open -= 1;
        if state.open > 0 {
            return;
        }
        let (call, ended) = (state.call.take(), std::mem::take(&mut state.ended));
        let end = std::mem::replace(&mut state.end, End::Discarded);
        drop(state);
        let Some(call) = call else { return };
        match end {
            End::Answered => answer(call, ended),
            End::Failed(exception) => call.responder.fail(exception),
            End::Discarded => call.responder.discard(),
        }
    }
}

fn answer(call: Call, ended: Vec<Multi>) {
    let tables = times::tables(ended.iter().flat_map(|multi| &multi.tasks).map(|task| &*task.region));
    let mut multi = merge(ended);
    let response = response(&mut multi);
    let block = multi.codec.map(|codec| result::block(multi.cells, codec)).unwrap_or_default();
    let mut responder = call.responder;
    tables.iter().for_each(|table| table.multi.record(responder.took()));
    responder.ok_encoded(response, block);
}

/// Some of a multi's tasks, with their places in its answer.
pub(super) struct Part {
    server: Arc<RegionServer>,
    share: Share,
    toll: Toll,
    multi: Multi,
}

impl Part {
    /// One that is to wait.
    pub(super) fn park(server: &Arc<RegionServer>, parts: &Arc<Parts>, toll: Toll, mut multi: Multi, later: Later<'_>) {
        multi.let_go();
        let is_batch = toll.is_batch();
        let part = Box::new(Part { server: server.clone(), share: parts.share(), toll, multi });
        later.park_whole(&parts.conn, parts.size_bytes, is_batch, part);
    }

    /// The one that does not wait, with the call: it runs at once.
    pub(super) fn last(server: &Arc<RegionServer>, parts: &Arc<Parts>, call: Call, toll: Toll, multi: Multi) {
        server.stats.multi.hit();
        let share = Share { parts: parts.clone(), told: false };
        parts.state.lock().call = Some(call);
        Part { server: server.clone(), share, toll, multi }.begin();
    }

    fn begin(mut self) {
        if self.share.parts.is_expired() {
            return self.share.fail(End::Discarded);
        }
        let answered = self.share.parts.state.lock().answered_bytes;
        self.multi.max_result_bytes = self.multi.max_result_bytes.saturating_sub(answered);
        let files = self.server.ctx.stores.files.clone();
        let may_run = self.multi.is_short() && !self.toll.is_batch();
        if may_run && self.server.clone().run_multi(&mut self.multi, &files.cache_only()) {
            return self.finish();
        }
        self.spawn(Class::Write);
    }

    /// Goes on on the pool.
    fn spawn(mut self, class: Class) {
        let (pool, class, parts) = (self.server.pool.clone(), self.toll.class(class), self.share.parts.share());
        let mut job: Option<Job> = Some(Box::new(move || {
            let files = self.server.ctx.stores.files.clone();
            while !self.server.run_multi(&mut self.multi, &files.blocking()) {}
            self.finish();
        }));
        match pool.spawn(class, &mut job) {
            Ok(()) => parts.leave(),
            // Before the job that is not to be goes, and its share with it.
            Err(exception) => parts.fail(End::Failed(exception)),
        }
    }

    /// All of it has been done, but for the log.
    fn finish(self) {
        let Part { share, mut toll, mut multi, .. } = self;
        if !toll.is_empty() {
            settle(&mut toll, &multi);
        }
        let pending = std::mem::take(&mut multi.pending);
        when_all_done(pending, move |durable| {
            drop(toll);
            match durable {
                Ok(()) => share.add(multi),
                Err(e) => share.fail(End::Failed(Fault::from(e).into_exception())),
            }
        });
    }
}

impl Piece for Part {
    fn run(self: Box<Self>) {
        self.begin();
    }
}

impl Resume for Part {
    fn split(self: Box<Self>, _: usize) -> (Box<dyn Resume>, Option<Box<dyn Resume>>) {
        (self, None)
    }

    fn pay(&mut self, mut paid: PaidTogether) {
        paid.one().into_iter().for_each(|paid| self.toll.add(paid));
    }

    fn refuse(&mut self, fault: Fault) {
        self.multi.refuse_all(&fault);
    }

    fn run_behind(self: Box<Self>) {
        self.begin();
    }

    fn discard(self: Box<Self>) {
        self.share.fail(End::Discarded);
    }

    fn fail(self: Box<Self>, fault: Fault) {
        self.share.fail(End::Failed(fault.into_exception()));
    }
}
