//! Throttling: calls of clients pass, wait their turn, or learn that it would come too late.
//!
//! ```text
//!   method ── turn(call, cost) ─┬─ now ──▶ it goes on; Toll ── settled with what was read when the call ends
//!                               ├─ later ─▶ Gate ─ its time ─▶ network thread of its connection ─▶ it goes on
//!                               └─ refused: RpcThrottlingException
//! ```
//! A call that waits is kept as its method has decoded it ([`Work`]). Network threads that are awake give out what is due
//! between two reads; one thread sleeps until the next call is due, for when they are not. The arithmetic is in crate `quota`.

mod toll;
mod turn;
mod waiting;

use waiting::{GoesOn, Outcome, Parked, go_on};

pub(crate) use toll::{PaidTogether, Toll};
pub(crate) use turn::{Known, ONE_READ, Turn, TurnOfMany};
pub(crate) use waiting::{Later, Ready, Resume, Work};

use crate::error::Fault;
use crate::options::QuotaOptions;
use crate::usage::{OfUser, Usage};
use arc_swap::ArcSwap;
use martite_proto as pb;
use martite_quota::{Answers, Gate, Key, Passed, Place, Plan, Refusal, Request, Returned, Settings, Several, Woken};
use martite_rpc::Call;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Calls are given out in rounds so far apart: many that go on together cost one wake-up, one read and one write of their
/// connection. Nothing of a limit is lost, because a limiter saves up what passes in 20 ms.
const ROUND: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_millis(8);
/// The next round, while network threads give out what is due ([`Throttles::look_by_the_way`]): less than those 20 ms, should they
/// go to sleep. The sooner a thread is to wake up, the dearer is each sleep of the others of its core: rounds of 8 ms in which nothing
/// was to be done cost 5 % of the p50 of 60,000 Gets a second, those of 18 ms 2 to 3 % (a virtual machine, Linux 6.18).
const ROUND_LOOKED_AFTER: Duration = Duration::from_millis(18);
/// A round is so much shorter than those who passed last had waited.
const OF_WAIT: u32 = 2;
/// So many are given out before others may use the gate.
const PORTION: usize = 16;
/// So many at once by a network thread between two reads, whose calls wait meanwhile; it goes on with the others that are due after
/// the shortest round by the way.
const BY_THE_WAY: usize = 128;
/// Rounds by the way.
const ROUND_BY_THE_WAY: RangeInclusive<Duration> = Duration::from_micros(200)..=Duration::from_millis(8);
/// They are shorter, down to `ROUND_OF_FEW`, where more calls than `FEW` would go on at once, for which others' calls wait. Not where
/// more than `MANY` are due in such a round: their answers would leave in as many more writes, which costs others more.
const FEW: u32 = 2;
const ROUND_OF_FEW: Duration = Duration::from_millis(1);
const MANY: u32 = 16;
/// How often is looked whether connections were closed, and for the parked calls of those.
const SWEEP: Duration = Duration::from_millis(100);
/// How often is looked in any case, for calls whose time is over: each costs a line or two of memory, and nobody else may use the gate.
const FULL_SWEEP: Duration = Duration::from_secs(1);
/// The same while none is parked.
const IDLE_SWEEP: Duration = Duration::from_secs(10);

const STOPPING: &str = "the server is stopping";

/// The limits of a server and those who wait for them.
pub struct Throttles {
    /// For those who look whether they are concerned at all.
    rules: ArcSwap<Rules>,
    state: Mutex<State>,
    wake: Condvar,
    /// When network threads may give out calls next, as far as is known without the lock.
    due_ns: AtomicU64,
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
    /// When network threads looked last for calls that are due.
    looked_ns: u64,
    /// Network threads give out none before.
    pauses_until_ns: u64,
    /// Network threads have looked since the thread last did, and given out so many.
    by_the_way: Option<usize>,
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
            state: Mutex::new(State {
                gate,
                sleeps_until_ns: 0,
                round_ends_ns: 0,
                looked_ns: 0,
                pauses_until_ns: 0,
                by_the_way: None,
                stopped: false,
            }),
            wake: Condvar::new(),
            due_ns: AtomicU64::new(u64::MAX),
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
        let mut ready = Vec::new();
        waiting.into_iter().for_each(|returned| self.arrive_again(&mut state.gate, returned, now_ns, &mut ready));
        self.publish_due(&state);
        drop(state);
        go_on(ready.into_iter());
        self.wake.notify_all();
    }

    /// Calls that were parked; `ready` is given those that wait no longer.
    fn arrive_again(
        self: &Arc<Self>,
        gate: &mut Gate<Parked>,
        returned: Returned<Parked>,
        now_ns: u64,
        ready: &mut Vec<GoesOn>,
    ) {
        let Returned { item, operation, cost, calls, size_bytes, deadline_ns } = returned;
        let who = item.asked.who.clone();
        let request = Request { key: &who.key, operation, cost, calls, size_bytes, deadline_ns };
        let Some(Answers { passes, waits, refused }) = gate.ask_together(&request, now_ns) else {
            return ready.push(GoesOn { back: item.back, calls, outcome: Outcome::Free });
        };
        let mut left = Some(item);
        let mut take = |calls: usize| {
            let (first, others) = left.take()?.split(calls);
            left = others;
            Some(first)
        };
        if let Some((calls, ticket)) = passes
            && let Some(Parked { asked, back }) = take(calls)
        {
            let paid = PaidTogether::new(asked, self.clone(), (ticket, cost, calls), Instant::now());
            ready.push(GoesOn { back, calls, outcome: Outcome::Paid(paid) });
        }
        if let Some((calls, place)) = waits
            && let Some(parked) = take(calls)
        {
            gate.park(place, parked, now_ns);
        }
        if let Some((calls, refusal)) = refused
            && let Some(Parked { back, .. }) = take(calls)
        {
            let outcome = Outcome::Refused(refuse(&who.usage, &refusal, calls));
            ready.push(GoesOn { back, calls, outcome });
        }
    }

    fn park(&self, place: Place, parked: Parked) {
        let mut state = self.state.lock();
        if state.stopped {
            drop(state);
            return parked.back.resume.fail(Fault::server_stopped(STOPPING));
        }
        let now_ns = self.now_ns();
        // If limits have changed since they asked, the gate gives them back at once, or later.
        state.gate.park(place, parked, now_ns);
        self.wake_if_sooner(state);
    }

    /// Calls are over.
    fn settle(&self, now: Instant, settle: impl FnOnce(&mut Gate<Parked>, u64)) {
        let mut state = self.state.lock();
        settle(&mut state.gate, self.ns(now));
        self.wake_if_sooner(state);
    }

    fn wake_if_sooner(&self, state: MutexGuard<'_, State>) {
        let sooner = state.is_sooner();
        self.publish_due(&state);
        drop(state);
        if sooner {
            self.wake.notify_all();
        }
    }

    fn publish_due(&self, state: &State) {
        let due_ns = state.gate.next_due_ns().unwrap_or(u64::MAX);
        self.due_ns.store(due_ns.max(state.pauses_until_ns), Relaxed);
    }

    /// Gives out calls that are due, if nobody else is at it: for threads that are awake and have a moment. Call by call costs those
    /// that do not wait less than a round of many, and no wake-up.
    #[inline]
    pub fn look_by_the_way(self: &Arc<Self>, now: Instant) {
        let due_ns = self.due_ns.load(Relaxed);
        if due_ns < u64::MAX && due_ns <= self.ns(now) {
            self.give_out(now);
        }
    }

    #[cold]
    fn give_out(self: &Arc<Self>, now: Instant) {
        let Some(mut state) = self.state.try_lock() else { return };
        let mut woken = Woken::default();
        let now_ns = self.ns(now);
        let are_more = state.gate.wake(now_ns, |parked| parked.back.is_gone(), &mut woken, BY_THE_WAY);
        let given = count(&woken);
        let since = Duration::from_nanos(now_ns.saturating_sub(std::mem::replace(&mut state.looked_ns, now_ns)));
        let round = match are_more {
            true => *ROUND_BY_THE_WAY.start(),
            false => round_after(&woken, ROUND_BY_THE_WAY).min(round_of_few(given, since)),
        };
        *state.by_the_way.get_or_insert(0) += given;
        state.pauses_until_ns = self.ns(now + round);
        self.publish_due(&state);
        drop(state);
        self.deliver(woken);
    }

    /// The settings in force, and whether limits hold.
    pub fn settings(&self) -> (Arc<Settings>, bool) {
        let rules = self.rules.load();
        (rules.settings.clone(), rules.throttling)
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
        let (mut swept, mut closings) = (Instant::now(), martite_rpc::closings());
        while !state.stopped {
            let (mut woken, now_ns) = (Woken::default(), self.now_ns());
            while state.gate.wake(now_ns, |parked| parked.back.is_gone(), &mut woken, PORTION) {
                // Network threads may wait for it.
                MutexGuard::bump(&mut state);
            }
            let since = swept.elapsed();
            if since >= FULL_SWEEP || since >= SWEEP && martite_rpc::closings() != closings {
                closings = martite_rpc::closings();
                woken.gone.extend(state.gate.sweep(self.now_ns(), |parked| parked.back.is_gone()));
                swept = Instant::now();
            }
            let round = if are_looked_after(state.by_the_way.take(), count(&woken)) {
                ROUND_LOOKED_AFTER
            } else {
                round_after(&woken, ROUND)
            };
            let round_ends = Instant::now() + round;
            self.publish_due(&state);
            MutexGuard::unlocked(&mut state, || self.deliver(woken));
            if state.stopped {
                return;
            }
            state.round_ends_ns = self.ns(round_ends);
            match state.gate.next_due_ns() {
                Some(due_ns) => {
                    let until_ns = due_ns.min(self.ns(Instant::now() + SWEEP)).max(state.round_ends_ns);
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
        woken.gone.into_iter().for_each(|parked| parked.back.resume.discard());
        let began = Instant::now();
        go_on(woken.pass.into_iter().map(|Passed { item: Parked { asked, back }, calls, ticket, cost }| {
            let outcome = Outcome::Paid(PaidTogether::new(asked, self.clone(), (ticket, cost, calls), began));
            GoesOn { back, calls, outcome }
        }));
    }

    pub fn stop(&self) {
        let mut state = self.state.lock();
        state.stopped = true;
        let now_ns = self.now_ns();
        let waiting = state.gate.change(Plan::off(), now_ns);
        drop(state);
        self.wake.notify_all();
        for returned in waiting {
            returned.item.back.resume.fail(Fault::server_stopped(STOPPING));
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

fn refuse(usage: &OfUser, refusal: &Refusal, calls: usize) -> Fault {
    usage.refuse(refusal.limit.kind, calls);
    Fault::throttled(refusal.to_string())
}

/// Whether network threads, which have looked meanwhile and given out so many, will do so: they gave out most, the thread `given`.
fn are_looked_after(by_the_way: Option<usize>, given: usize) -> bool {
    by_the_way.is_some_and(|count| count >= given)
}

/// How many calls go on.
fn count<T>(woken: &Woken<T>) -> usize {
    woken.pass.iter().map(|passed| passed.calls).sum()
}

/// How long until the next round: those who wait for long anyway do not notice.
fn round_after<T>(woken: &Woken<T>, range: RangeInclusive<Duration>) -> Duration {
    let waited = woken.pass.iter().map(|passed| Duration::from_nanos(passed.ticket.parked_ns)).min();
    (waited.unwrap_or_default() / OF_WAIT).clamp(*range.start(), *range.end())
}

/// How long a round is at most, if so many calls were due after so long.
fn round_of_few(given: usize, since: Duration) -> Duration {
    let given = u32::try_from(given).unwrap_or(u32::MAX).max(1);
    if since * MANY / given < ROUND_OF_FEW { Duration::MAX } else { (since * FEW / given).max(ROUND_OF_FEW) }
}

/// `user/host@REALM` → `user`.
pub(crate) fn short_name(user: &str) -> &str {
    user.split(['/', '@']).next().unwrap_or(user)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_leaves_to_network_threads_what_they_mostly_do() {
        assert!(are_looked_after(Some(20), 5));
        assert!(are_looked_after(Some(0), 0), "they have looked, and nothing was due");
        assert!(!are_looked_after(Some(5), 20), "they came too seldom");
        assert!(!are_looked_after(None, 0), "they have slept");
    }

    #[test]
    fn few_go_on_at_once_unless_very_many_are_due() {
        let ms = Duration::from_millis;
        assert_eq!([round_of_few(8, ms(8)), round_of_few(1, ms(8)), round_of_few(0, ms(8))], [ms(2), ms(16), ms(16)]);
        assert_eq!([round_of_few(64, ms(8)), round_of_few(16, ms(1))], [ROUND_OF_FEW; 2]);
        assert_eq!([round_of_few(17, ms(1)), round_of_few(usize::MAX, ms(4))], [Duration::MAX; 2]);
    }

    #[test]
    fn limits_are_of_short_names() {
        assert_eq!(short_name("u"), "u");
        assert_eq!(short_name("u/host@REALM"), "u");
        assert_eq!(short_name("u@REALM"), "u");
        assert_eq!(short_name(""), "");
    }
}
