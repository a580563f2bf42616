//! Throttling: calls of clients pass, wait their turn, or learn that it would come too late.
//!
//! ```text
//!   method ── turn(call, cost) ─┬─ now ──▶ it goes on; Toll ── settled with what was read when the call ends
//!                               ├─ parked ─▶ Gate ─ its time ─▶ network thread of its connection ─▶ the method again
//!                               └─ refused: RpcThrottlingException
//! ```
//! A parked call is kept as it came and decoded anew when its turn comes. One thread sleeps until the next call is due. The
//! arithmetic is in crate `quota`.

use crate::RegionServer;
use crate::error::Fault;
use crate::options::QuotaOptions;
use crate::scanners::{Hold, OpenScanner};
use crate::usage::{OfUser, Usage};
use arc_swap::ArcSwap;
use bytes::Bytes;
use martite_catalog::TableName;
use martite_proto as pb;
use martite_quota::{Answer, Cost, Gate, Key, Operation, Plan, Priority, Refusal, Request, Settings, Ticket, Woken};
use martite_region::Region;
use martite_rpc::{Call, Class};
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
    refused: Vec<(TableName, Fault)>,
    /// None: not asked yet, or nobody has set any.
    priority: Option<Priority>,
}

struct Paid {
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
pub(crate) enum Turn {
    Now(Call, Toll),
    /// Of this table nothing is to be done.
    Refused(Call, Toll, Fault),
    /// The method is called again.
    Parked,
}

/// How a method is called, again if need be.
pub(crate) type Again = fn(&Arc<RegionServer>, Call, Toll);

/// A call that waits, as it came.
struct Parked {
    server: Arc<RegionServer>,
    call: Call,
    toll: Toll,
    again: Again,
    key: Key,
    usage: Arc<OfUser>,
    charge: Charge,
    deadline_ns: Option<u64>,
    queue: Duration,
    hold: Option<Hold>,
}

impl Parked {
    fn is_gone(&self) -> bool {
        self.call.conn.is_closed()
    }

    /// Its turn has come.
    fn pay(&mut self, throttles: &Arc<Throttles>, ticket: Ticket) {
        let (throttles, charge, usage) = (throttles.clone(), self.charge.clone(), self.usage.clone());
        self.toll.paid.push(Paid { throttles, charge, ticket, usage, queue: self.queue, began: Instant::now() });
    }

    /// Goes on with the method, on the calling thread.
    fn go_on(self: Box<Self>) {
        let Parked { server, call, toll, again, hold, .. } = *self;
        // The method takes it again.
        drop(hold);
        if call.expired() {
            return call.responder.discard();
        }
        again(&server, call, toll);
    }
}

/// Back to the threads that they came from.
fn go_on(parked: impl Iterator<Item = Box<Parked>>) {
    let mut parked: Vec<_> = parked.collect();
    for batch in parked.extract_if(.., |parked| parked.toll.priority == Some(Priority::Batch)) {
        let Parked { server, call, toll, again, hold, .. } = *batch;
        server.go_on_behind(call, toll, again, hold);
    }
    // Those of a connection stay in their order.
    parked.sort_by_key(|parked| Arc::as_ptr(&parked.call.conn) as usize);
    let mut parked = parked.into_iter().peekable();
    while let Some(first) = parked.next() {
        let conn = first.call.conn.clone();
        let mut work: Vec<Box<dyn FnOnce() + Send>> = vec![Box::new(move || first.go_on())];
        while let Some(next) = parked.next_if(|next| Arc::ptr_eq(&next.call.conn, &conn)) {
            work.push(Box::new(move || next.go_on()));
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
    gate: Gate<Box<Parked>>,
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
        let ready: Vec<Box<Parked>> =
            waiting.into_iter().filter_map(|parked| self.arrive_again(&mut state.gate, parked, now_ns)).collect();
        drop(state);
        go_on(ready.into_iter());
        self.wake.notify_all();
    }

    /// A parked call, if it waits no longer.
    fn arrive_again(
        self: &Arc<Self>,
        gate: &mut Gate<Box<Parked>>,
        mut parked: Box<Parked>,
        now_ns: u64,
    ) -> Option<Box<Parked>> {
        let key = parked.key.clone();
        let request = self.request(&key, &parked.charge, &parked.call, parked.deadline_ns);
        match gate.ask(&request, now_ns) {
            Answer::Free => {}
            Answer::Passes(ticket) => parked.pay(self, ticket),
            Answer::Waits => {
                gate.park(&request, parked, now_ns);
                return None;
            }
            Answer::Refused(refusal) => {
                let fault = refuse(&parked.usage, &refusal);
                parked.toll.refused.push((parked.charge.table.clone(), fault));
            }
        }
        Some(parked)
    }

    fn request<'a>(&self, key: &'a Key, charge: &Charge, call: &Call, deadline_ns: Option<u64>) -> Request<'a> {
        let (operation, cost, size_bytes) = (charge.operation, charge.cost, call.size_bytes as usize);
        Request { key, operation, cost, size_bytes, deadline_ns }
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

    fn deliver(self: &Arc<Self>, woken: Woken<Box<Parked>>) {
        woken.gone.into_iter().for_each(|parked| parked.call.responder.discard());
        let paid = woken.pass.into_iter().map(|(mut parked, ticket)| {
            parked.pay(self, ticket);
            parked
        });
        go_on(paid);
    }

    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        let now_ns = self.now_ns();
        let waiting = state.gate.change(Plan::off(), now_ns);
        drop(state);
        self.wake.notify_all();
        for parked in waiting {
            parked.call.responder.fail(Fault::server_stopped("the server is stopping").into_exception());
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
    /// Whether a call on a region goes on now; `again` is called when a parked one does.
    #[inline]
    pub(crate) fn turn(
        self: &Arc<Self>,
        call: Call,
        toll: Toll,
        region: &Region,
        what: (Operation, Cost),
        again: Again,
    ) -> Turn {
        if self.is_free(&call, &toll) || region.info().table().is_system() {
            return ordinary(call, toll);
        }
        let charge = Charge { table: region.info().table().clone(), operation: what.0, cost: what.1 };
        self.turn_under_limits(call, toll, charge, again, None)
    }

    /// The same for a call that has taken a scanner, whose lease does not run while it waits.
    #[inline]
    pub(crate) fn turn_with(
        self: &Arc<Self>,
        call: Call,
        toll: Toll,
        scanner: &Arc<OpenScanner>,
        what: (Operation, Cost),
        again: Again,
    ) -> Turn {
        let table = scanner.region.info().table();
        if self.is_free(&call, &toll) || table.is_system() {
            return ordinary(call, toll);
        }
        let charge = Charge { table: table.clone(), operation: what.0, cost: what.1 };
        self.turn_under_limits(call, toll, charge, again, Some(scanner))
    }

    /// Nobody has limits or priorities, and the call asks for none.
    #[inline]
    fn is_free(&self, call: &Call, toll: &Toll) -> bool {
        let rules = self.throttles.rules.load();
        let settled = toll.priority.is_some()
            || (rules.settings.priorities.is_empty() && call.attributes.is_empty() && asked(call).is_none());
        settled && rules.plan.is_empty() && toll.refused.is_empty()
    }

    /// What a call of low priority does, it does on threads that stand back behind all others.
    fn go_on_behind(self: &Arc<Self>, call: Call, toll: Toll, again: Again, hold: Option<Hold>) {
        let server = self.clone();
        self.pool.spawn_call(Class::Batch, call, move |call| {
            drop(hold);
            again(&server, call, toll);
        });
    }

    fn turn_under_limits(
        self: &Arc<Self>,
        mut call: Call,
        mut toll: Toll,
        charge: Charge,
        again: Again,
        scanner: Option<&Arc<OpenScanner>>,
    ) -> Turn {
        if toll.paid.iter().any(|paid| paid.charge.table == charge.table) {
            return Turn::Now(call, toll);
        }
        if let Some((_, fault)) = toll.refused.iter().find(|(table, _)| *table == charge.table) {
            let fault = fault.clone();
            return Turn::Refused(call, toll, fault);
        }
        let throttles = &self.throttles;
        let user = throttles.user(&call);
        let rules = throttles.rules.load();
        if toll.priority.is_none() {
            let set = || rules.settings.priorities.of(user, charge.table.as_str());
            let priority = asked(&call).unwrap_or_else(set);
            toll.priority = Some(priority);
            call.conn.saw_priority(priority == Priority::Batch);
            if priority == Priority::Batch {
                let hold = scanner.map(|scanner| Hold { server: self.clone(), scanner: scanner.clone() });
                self.go_on_behind(call, toll, again, hold);
                return Turn::Parked;
            }
        }
        if !rules.plan.concerns(user, charge.table.as_str()) {
            return Turn::Now(call, toll);
        }
        let (key, usage) = throttles.usage.of(user, charge.table.as_str());
        let deadline_ns = call.deadline().map(|at| throttles.ns(at));
        let request = throttles.request(&key, &charge, &call, deadline_ns);
        let mut state = throttles.state.lock();
        let now_ns = throttles.now_ns();
        match state.gate.ask(&request, now_ns) {
            Answer::Free => Turn::Now(call, toll),
            Answer::Passes(ticket) => {
                drop(state);
                let throttles = throttles.clone();
                let (queue, began) = (call.received.elapsed(), Instant::now());
                toll.paid.push(Paid { throttles, charge, ticket, usage, queue, began });
                Turn::Now(call, toll)
            }
            Answer::Refused(refusal) => {
                drop(state);
                Turn::Refused(call, toll, refuse(&usage, &refusal))
            }
            Answer::Waits => {
                // They are slices of a large read buffer.
                call.param = Bytes::copy_from_slice(&call.param);
                call.cells = Bytes::copy_from_slice(&call.cells);
                let (server, key) = (self.clone(), key.clone());
                let hold = scanner.map(|scanner| Hold { server: self.clone(), scanner: scanner.clone() });
                let queue = call.received.elapsed();
                let parked =
                    Box::new(Parked { server, call, toll, again, key, usage, charge, deadline_ns, queue, hold });
                state.gate.park(&request, parked, now_ns);
                let sooner = state.is_sooner();
                drop(state);
                if sooner {
                    throttles.wake.notify_all();
                }
                Turn::Parked
            }
        }
    }
}

/// The turn of a call that nothing holds back.
#[inline]
fn ordinary(call: Call, toll: Toll) -> Turn {
    if toll.priority.is_none() {
        call.conn.saw_priority(false);
    }
    Turn::Now(call, toll)
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
        let took = self.began.elapsed();
        let handler_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let cost = Cost { handler_ns, ..self.charge.cost };
        let parked = Duration::from_nanos(self.ticket.parked_ns);
        self.usage.record(self.charge.operation, self.queue, parked, took);
        let mut state = self.throttles.state.lock();
        state.gate.settle(&self.ticket, cost, self.throttles.now_ns());
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
