//! Throttling: calls of clients pass, wait their turn, or learn that it would come too late.
//!
//! ```text
//!   method ── turn(call, cost) ─┬─ now ──▶ it goes on; Toll ── settled with what was read when the call ends
//!                               ├─ later ─▶ Gate ─ its time ─▶ network thread of its connection ─▶ it goes on
//!                               └─ refused: RpcThrottlingException
//! ```
//! A call that waits is kept as its method has decoded it ([`Work`]). One thread sleeps until the next call is due. The
//! arithmetic is in crate `quota`.

use crate::RegionServer;
use crate::error::Fault;
use crate::options::QuotaOptions;
use crate::usage::{OfUser, Usage};
use arc_swap::ArcSwap;
use martite_catalog::TableName;
use martite_proto as pb;
use martite_quota::{
    Answer, Cost, Gate, Key, Operation, Place, Plan, Priority, Refusal, Request, Settings, Ticket, Woken,
};
use martite_region::Region;
use martite_rpc::{Call, Class, Connection, Piece};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Calls are given out in rounds so far apart: many that go on together cost one wake-up, one read and one write of their
/// connection. Nothing of a limit is lost, because a limiter saves up what passes in 20 ms.
const ROUND: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_millis(8);
/// A round is so much shorter than those who passed last had waited.
const OF_WAIT: u32 = 2;
/// How often is looked for parked calls whose clients are gone.
const SWEEP: Duration = Duration::from_millis(100);
/// The same while none is parked.
const IDLE_SWEEP: Duration = Duration::from_secs(10);

/// What counts for a call as it begins.
#[derive(Debug, Clone)]
struct Charge {
    table: TableName,
    operation: Operation,
    cost: Cost,
}

/// A Get.
pub(crate) const ONE_READ: Cost =
    Cost { reads: 1, writes: 0, rows: 1, read_bytes: 0, write_bytes: 0, handler_ns: 0, is_atomic: false };

/// What a call has been charged, table by table. Dropped unsettled, it leaves what was known when the call began.
#[derive(Default)]
pub(crate) struct Toll {
    paid: Vec<Paid>,
    /// None: not asked yet, or nobody has set any.
    priority: Option<Priority>,
}

pub(crate) struct Paid {
    throttles: Arc<Throttles>,
    /// Its cost becomes what the call took.
    charge: Charge,
    ticket: Ticket,
    usage: Arc<OfUser>,
    /// From the read that brought the call until it was looked at.
    queue: Duration,
    began: Instant,
}

/// What becomes of a call.
#[allow(clippy::large_enum_variant, reason = "one for each call, handed on at once")]
pub(crate) enum Turn<'a> {
    Now,
    /// Of this table nothing is to be done.
    Refused(Fault),
    /// To be given the call.
    Later(Later<'a>),
}

/// What a method has decoded of a call, and how it goes on with it.
pub(crate) trait Work: Send + Sized + 'static {
    /// It is about to wait: what lies in the large buffer that brought the call is copied.
    fn keep(&mut self, server: &Arc<RegionServer>, call: &mut Call);

    /// From the question for its turn on.
    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll);

    /// Its turn has come, or would come too late after all.
    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>);
}

/// A call with its work.
struct Waiting<W> {
    server: Arc<RegionServer>,
    call: Call,
    toll: Toll,
    work: W,
    /// Its turn would come too late after all.
    refused: Option<Fault>,
}

/// Whatever waits; run when its turn has come.
pub(crate) trait Resume: Piece + Send {
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
        let Waiting { server, call, toll, work, refused } = *self;
        if call.expired() {
            return call.responder.discard();
        }
        work.go_on(&server, call, toll, refused.map_or(Ok(()), Err));
    }
}

impl<W: Work> Resume for Waiting<W> {
    fn conn(&self) -> &Arc<Connection> {
        &self.call.conn
    }

    fn size_bytes(&self) -> usize {
        self.call.size_bytes as usize
    }

    fn is_batch(&self) -> bool {
        self.toll.is_batch()
    }

    fn pay(&mut self, paid: Paid) {
        self.toll.add(paid);
    }

    fn refuse(&mut self, fault: Fault) {
        self.refused = Some(fault);
    }

    fn run_behind(self: Box<Self>) {
        let Waiting { server, call, toll, work, refused } = *self;
        let pool = server.pool.clone();
        let turn = refused.map_or(Ok(()), Err);
        pool.spawn_call(Class::Batch, call, move |call| work.go_on(&server, call, toll, turn));
    }

    fn discard(self: Box<Self>) {
        self.call.responder.discard();
    }

    fn fail(self: Box<Self>, fault: Fault) {
        self.call.responder.fail(fault.into_exception());
    }
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
            return pool.spawn_call(Class::Batch, call, move |call| work.begin(&server, call, toll));
        }
        work.keep(&server, &mut call);
        self.park_whole(Box::new(Waiting { server, call, toll, work, refused: None }));
    }

    /// The same for what is there already.
    pub fn park_whole(self, resume: Box<dyn Resume>) {
        let Later::Limited { throttles, place, waits } = self else { return resume.run() };
        let (key, since_ns) = (waits.key.clone(), waits.since_ns);
        let request = Request { key: &key, ..waits.request(resume.size_bytes()) };
        let mut state = throttles.state.lock();
        if state.stopped {
            return resume.fail(Fault::server_stopped(STOPPING));
        }
        // If limits have changed since it asked, the gate gives it back at once, or later.
        state.gate.park(place, &request, Parked { waits, resume }, since_ns);
        let sooner = state.is_sooner();
        drop(state);
        if sooner {
            throttles.wake.notify_all();
        }
    }
}

const STOPPING: &str = "the server is stopping";

/// What is known of a call under a limit.
pub(crate) struct Waits {
    key: Key,
    usage: Arc<OfUser>,
    charge: Charge,
    deadline_ns: Option<u64>,
    since_ns: u64,
    queue: Duration,
}

impl Waits {
    fn request(&self, size_bytes: usize) -> Request<'_> {
        let Charge { operation, cost, .. } = self.charge;
        Request { key: &self.key, operation, cost, size_bytes, deadline_ns: self.deadline_ns }
    }

    /// Its turn has come.
    fn pay(self, throttles: &Arc<Throttles>, ticket: Ticket, began: Instant) -> Paid {
        let Waits { charge, usage, queue, .. } = self;
        Paid { throttles: throttles.clone(), charge, ticket, usage, queue, began }
    }
}

/// A call that waits.
struct Parked {
    waits: Waits,
    resume: Box<dyn Resume>,
}

impl Parked {
    fn is_gone(&self) -> bool {
        self.resume.conn().is_closed()
    }
}

/// Back to the threads that they came from.
fn go_on(mut ready: Vec<Box<dyn Resume>>) {
    for batch in ready.extract_if(.., |ready| ready.is_batch()) {
        batch.run_behind();
    }
    // Those of a connection stay in their order.
    ready.sort_by_key(|ready| Arc::as_ptr(ready.conn()) as usize);
    let mut ready = ready.into_iter().peekable();
    while let Some(first) = ready.next() {
        let conn = first.conn().clone();
        let mut work: Vec<Box<dyn Piece>> = vec![first];
        while let Some(next) = ready.next_if(|next| Arc::ptr_eq(next.conn(), &conn)) {
            work.push(next);
        }
        conn.run_soon(work);
    }
}

/// The limits of a server and those who wait for them.
pub struct Throttles {
    /// For those who look whether they are concerned at all.
    rules: ArcSwap<Rules>,
    state: Mutex<State>,
    wake: Condvar,
    options: QuotaOptions,
    epoch: Instant,
    pub usage: Usage,
}

struct Rules {
    plan: Plan,
    settings: Arc<Settings>,
    throttling: bool,
}

struct State {
    gate: Gate<Parked>,
    /// When the thread wakes up by itself, and before when nobody wakes it.
    sleeps_until_ns: u64,
    round_ends_ns: u64,
    stopped: bool,
}

impl State {
    /// Whether the next call is due before the thread looks.
    fn is_sooner(&self) -> bool {
        self.gate.next_due_ns().is_some_and(|due_ns| due_ns.max(self.round_ends_ns) < self.sleeps_until_ns)
    }
}

impl Throttles {
    pub fn new(options: QuotaOptions) -> Arc<Throttles> {
        let gate = Gate::new(Plan::off(), options.units, options.bounds);
        Arc::new(Throttles {
            rules: ArcSwap::from_pointee(Rules { plan: Plan::off(), settings: Arc::default(), throttling: false }),
            state: Mutex::new(State { gate, sleeps_until_ns: 0, round_ends_ns: 0, stopped: false }),
            wake: Condvar::new(),
            options,
            epoch: Instant::now(),
            usage: Usage::default(),
        })
    }

    fn ns(&self, at: Instant) -> u64 {
        // A day ahead, for limiters of days to have saved up.
        let since = at.saturating_duration_since(self.epoch) + Duration::from_hours(24);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    fn now_ns(&self) -> u64 {
        self.ns(Instant::now())
    }

    /// Other settings, from now on. Calls that wait for a limit that is no more go on.
    pub fn change(self: &Arc<Self>, settings: Arc<Settings>, throttling: bool) {
        let limits = || Plan::new(settings.clone(), self.options.default_user);
        let plan = if throttling { limits() } else { Plan::off() };
        let mut state = self.state.lock();
        let before = self.rules.load();
        if before.throttling == throttling && before.settings == settings {
            return;
        }
        self.rules.store(Arc::new(Rules { plan: plan.clone(), settings, throttling }));
        let now_ns = self.now_ns();
        let waiting = state.gate.change(plan, now_ns);
        let ready: Vec<Box<dyn Resume>> =
            waiting.into_iter().filter_map(|parked| self.arrive_again(&mut state.gate, parked, now_ns)).collect();
        drop(state);
        go_on(ready);
        self.wake.notify_all();
    }

    /// A parked call, if it waits no longer.
    fn arrive_again(self: &Arc<Self>, gate: &mut Gate<Parked>, parked: Parked, now_ns: u64) -> Option<Box<dyn Resume>> {
        let Parked { waits, mut resume } = parked;
        let key = waits.key.clone();
        let request = Request { key: &key, ..waits.request(resume.size_bytes()) };
        match gate.ask(&request, now_ns) {
            Answer::Free => {}
            Answer::Passes(ticket) => resume.pay(waits.pay(self, ticket, Instant::now())),
            Answer::Waits(place) => {
                gate.park(place, &request, Parked { waits, resume }, now_ns);
                return None;
            }
            Answer::Refused(refusal) => resume.refuse(refuse(&waits.usage, &refusal)),
        }
        Some(resume)
    }

    /// Calls that wait.
    pub fn parked(&self) -> usize {
        self.state.lock().gate.parked()
    }

    /// What users under limits did, those of one user or table or all.
    pub fn usage_of(&self, user: Option<&str>, table: Option<&str>) -> pb::GetThrottleUsageResponse {
        let wanted = |key: &Key| user.is_none_or(|user| user == &*key.user) && table.is_none_or(|t| t == &*key.table);
        let mut response = pb::GetThrottleUsageResponse {
            parked_calls: self.parked() as u64,
            ..pb::GetThrottleUsageResponse::default()
        };
        for (key, usage) in self.usage.all().into_iter().filter(|(key, _)| wanted(key)) {
            usage.report(&key, &mut response);
        }
        response
    }

    /// The life of the thread that wakes calls.
    pub fn run(self: &Arc<Self>) {
        let mut state = self.state.lock();
        let mut swept = Instant::now();
        while !state.stopped {
            let mut woken = Woken::default();
            state.gate.wake(self.now_ns(), |parked| parked.is_gone(), &mut woken);
            if swept.elapsed() >= SWEEP {
                woken.gone.extend(state.gate.sweep(self.now_ns(), |parked| parked.is_gone()));
                swept = Instant::now();
            }
            let round_ends = Instant::now() + round_after(&woken);
            MutexGuard::unlocked(&mut state, || self.deliver(woken));
            if state.stopped {
                return;
            }
            state.round_ends_ns = self.ns(round_ends);
            match state.gate.next_due_ns() {
                Some(due_ns) => {
                    let until_ns = due_ns.min(self.ns(swept + SWEEP)).max(state.round_ends_ns);
                    state.sleeps_until_ns = until_ns;
                    let left = Duration::from_nanos(until_ns.saturating_sub(self.now_ns()));
                    self.wake.wait_for(&mut state, left);
                }
                None => {
                    state.sleeps_until_ns = u64::MAX;
                    if state.gate.is_empty() {
                        self.wake.wait(&mut state);
                    } else {
                        // What nobody uses any more is forgotten in time.
                        self.wake.wait_for(&mut state, IDLE_SWEEP);
                    }
                }
            }
        }
    }

    fn deliver(self: &Arc<Self>, woken: Woken<Parked>) {
        woken.gone.into_iter().for_each(|parked| parked.resume.discard());
        let began = Instant::now();
        let paid = woken.pass.into_iter().map(|(Parked { waits, mut resume }, ticket)| {
            resume.pay(waits.pay(self, ticket, began));
            resume
        });
        go_on(paid.collect());
    }

    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        let now_ns = self.now_ns();
        let waiting = state.gate.change(Plan::off(), now_ns);
        drop(state);
        self.wake.notify_all();
        for parked in waiting {
            parked.resume.fail(Fault::server_stopped(STOPPING));
        }
    }

    /// The user whose limits count: of HBase's short names, or named by a request attribute.
    fn user<'a>(&self, call: &'a Call) -> &'a str {
        let named = self.options.user_override_key.as_ref().and_then(|key| {
            let value = call.attributes.iter().find(|(name, _)| name == key);
            value.and_then(|(_, value)| std::str::from_utf8(value).ok())
        });
        named.unwrap_or_else(|| short_name(&call.conn.user))
    }
}

fn refuse(usage: &OfUser, refusal: &Refusal) -> Fault {
    usage.refuse(refusal.limit.kind);
    Fault::throttled(refusal.to_string())
}

/// How long until the next round: those who wait for long anyway do not notice.
fn round_after<T>(woken: &Woken<T>) -> Duration {
    let waited = woken.pass.iter().map(|(_, ticket)| Duration::from_nanos(ticket.parked_ns)).min();
    (waited.unwrap_or_default() / OF_WAIT).clamp(*ROUND.start(), *ROUND.end())
}

/// `user/host@REALM` → `user`.
pub(crate) fn short_name(user: &str) -> &str {
    user.split(['/', '@']).next().unwrap_or(user)
}

impl RegionServer {
    /// Whether a call on a region goes on now.
    #[inline]
    pub(crate) fn turn(&self, call: &Call, toll: &mut Toll, region: &Region, what: (Operation, Cost)) -> Turn<'_> {
        let table = region.info().table();
        if self.is_free(call, toll) || table.is_system() {
            if toll.priority.is_none() {
                call.conn.saw_priority(false);
            }
            return Turn::Now;
        }
        let charge = Charge { table: table.clone(), operation: what.0, cost: what.1 };
        self.turn_under_limits(call, toll, charge)
    }

    /// Nobody has limits or priorities, and the call asks for none.
    #[inline]
    fn is_free(&self, call: &Call, toll: &Toll) -> bool {
        let rules = self.throttles.rules.load();
        let settled = toll.priority.is_some()
            || (rules.settings.priorities.is_empty() && call.attributes.is_empty() && asked(call).is_none());
        settled && rules.plan.is_empty()
    }

    fn turn_under_limits(&self, call: &Call, toll: &mut Toll, charge: Charge) -> Turn<'_> {
        let throttles = &self.throttles;
        let user = throttles.user(call);
        let rules = throttles.rules.load();
        if toll.priority.is_none() {
            let set = || rules.settings.priorities.of(user, charge.table.as_str());
            let priority = asked(call).unwrap_or_else(set);
            toll.priority = Some(priority);
            call.conn.saw_priority(priority == Priority::Batch);
            if priority == Priority::Batch {
                return Turn::Later(Later::Behind);
            }
        }
        if !rules.plan.concerns(user, charge.table.as_str()) {
            return Turn::Now;
        }
        let (key, usage) = throttles.usage.of(user, charge.table.as_str());
        let deadline_ns = call.deadline().map(|at| throttles.ns(at));
        let mut state = throttles.state.lock();
        let now = Instant::now();
        let (since_ns, queue) = (throttles.ns(now), now.saturating_duration_since(call.received));
        let waits = Waits { key, usage, charge, deadline_ns, since_ns, queue };
        match state.gate.ask(&waits.request(call.size_bytes as usize), since_ns) {
            Answer::Free => Turn::Now,
            Answer::Passes(ticket) => {
                drop(state);
                toll.add(waits.pay(throttles, ticket, now));
                Turn::Now
            }
            Answer::Refused(refusal) => {
                drop(state);
                Turn::Refused(refuse(&waits.usage, &refusal))
            }
            Answer::Waits(place) => Turn::Later(Later::Limited { throttles, place, waits }),
        }
    }
}

/// The priority that a call itself asks for: by the request attribute `martite.priority`, or by `setPriority`, whose
/// numbers below 10 mean nothing to HBase (0 is its default).
#[inline]
fn asked(call: &Call) -> Option<Priority> {
    if !call.attributes.is_empty()
        && let Some((_, value)) = call.attributes.iter().find(|(name, _)| name == PRIORITY_ATTRIBUTE)
    {
        return Priority::parse(value);
    }
    match call.priority {
        Some(1) => Some(Priority::Batch),
        Some(2) => Some(Priority::Online),
        _ => None,
    }
}

const PRIORITY_ATTRIBUTE: &str = "martite.priority";

impl Toll {
    /// The threads on which a call goes on that may block.
    pub fn class(&self, default: Class) -> Class {
        match self.priority {
            Some(Priority::Batch) => Class::Batch,
            Some(Priority::Online) => Class::Priority,
            _ => default,
        }
    }

    /// For a part of the same call.
    pub fn of_part(&self) -> Toll {
        Toll { priority: self.priority, paid: Vec::new() }
    }

    pub fn add(&mut self, paid: Paid) {
        // Mostly the only one.
        self.paid.reserve_exact(1);
        self.paid.push(paid);
    }

    /// It goes on only now, and has taken `before` already.
    pub fn begin_anew(&mut self, before: Duration) {
        let now = Instant::now();
        for paid in &mut self.paid {
            paid.began = now.checked_sub(before).unwrap_or(now);
        }
    }

    pub fn is_batch(&self) -> bool {
        self.priority == Some(Priority::Batch)
    }

    /// What the call read of a region's table.
    #[inline]
    pub fn settle(&mut self, region: &Region, read_bytes: usize) {
        if let Some(cost) = self.cost(region) {
            cost.read_bytes = read_bytes as u64;
        }
    }

    /// The same of a scan, which had not said how many rows it would look at.
    pub fn settle_scan(&mut self, region: &Region, rows: u64, read_bytes: u64) {
        if let Some(cost) = self.cost(region) {
            (cost.rows, cost.read_bytes) = (rows.max(1), read_bytes);
        }
    }

    #[inline]
    fn cost(&mut self, region: &Region) -> Option<&mut Cost> {
        let paid = self.paid.iter_mut().find(|paid| paid.charge.table == *region.info().table());
        paid.map(|paid| &mut paid.charge.cost)
    }

    /// Whether anything is to be settled.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.paid.is_empty()
    }
}

impl Drop for Paid {
    /// The call is over.
    fn drop(&mut self) {
        let now = Instant::now();
        let took = now.saturating_duration_since(self.began);
        let handler_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let cost = Cost { handler_ns, ..self.charge.cost };
        let parked = Duration::from_nanos(self.ticket.parked_ns);
        self.usage.record(self.charge.operation, self.queue, parked, took);
        let mut state = self.throttles.state.lock();
        state.gate.settle(&self.ticket, cost, self.throttles.ns(now));
        let sooner = state.is_sooner();
        drop(state);
        if sooner {
            self.throttles.wake.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_short_names() {
        assert_eq!(short_name("u"), "u");
        assert_eq!(short_name("u/host@REALM"), "u");
        assert_eq!(short_name("u@REALM"), "u");
        assert_eq!(short_name(""), "");
    }
}
