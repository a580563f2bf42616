//! [`Gate`]: which calls pass now, which wait, and which would wait too long.
//!
//! Calls of one user on one table stand in *lanes*, one for reads, one for writes and one for those that do both, so that
//! a user who may not write now can still read. Each lane has the limiters that count for it, shared with other lanes.
//!
//! ```text
//!  lane u1/t reads   ▪▪▪▪ ─┬─▶ limiters of USER => u1
//!  lane u2/t reads   ▪▪ ───┼─▶ limiters of TABLE => t      a lane is due when all of its limiters are
//!  lane u2/t writes  ▪ ────┘
//! ```
//! The lane that is due first is served first; among lanes that wait for the same limiter, the one that was served longest
//! ago. What a call costs is charged when it passes, as far as it is known or can be expected from those before it; what
//! it was in truth is settled afterwards.

mod lane;

use lane::{Bucket, Class, Counted, Expected, Held, Lane, Parked, are_due, holding};

use crate::cost::{Amounts, CapacityUnits, Cost};
use crate::limiter::Limiter;
use crate::plan::{Key, Limit, Owner, Plan, Share};
use crate::refusal::Refusal;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::Arc;

type HashMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// Lanes that nobody has used for so long, with no call under way, are forgotten.
const FORGET_NS: u64 = 60_000_000_000;
/// A refund that brings a limiter forward by less does not wake those who wait for it.
const NOTABLE_NS: u64 = 500_000;

/// What may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub calls_per_user: usize,
    pub bytes_per_user: usize,
}

/// What the calls of a lane are alike in: what they cost is expected from those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    Get = 0,
    Scan = 1,
    Mutate = 2,
    Multi = 3,
}

/// What is kept of calls that wait: of one, or of several that came together.
pub trait Several: Sized {
    /// The first so many of them, which are fewer than all, and the others.
    fn split(self, calls: usize) -> (Self, Option<Self>);
}

impl<T> Several for Vec<T> {
    fn split(mut self, calls: usize) -> (Self, Option<Self>) {
        let others = self.split_off(calls.min(self.len()));
        (self, Some(others))
    }
}

/// A call that arrives, or several that are alike.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub key: &'a Key,
    pub operation: Operation,
    /// Of each, as far as it is known: what is read, and handler time, is not.
    pub cost: Cost,
    pub calls: usize,
    /// What all of them hold of memory while they wait.
    pub size_bytes: usize,
    /// When nobody waits for their answers any more.
    pub deadline_ns: Option<u64>,
}

/// What becomes of a call that arrives.
#[derive(Debug)]
pub enum Answer {
    /// Nothing limits it: there is nothing to settle.
    Free,
    Passes(Ticket),
    /// With its place, to be given to [`Gate::park`].
    Waits(Place),
    Refused(Box<Refusal>),
}

/// What becomes of calls that arrive together and that something limits: some pass, those behind them wait, and the last are refused.
#[derive(Debug, Default)]
pub struct Answers {
    /// How many pass; each is to be settled by the ticket.
    pub passes: Option<(usize, Ticket)>,
    /// How many wait, and where.
    pub waits: Option<(usize, Place)>,
    pub refused: Option<(usize, Refusal)>,
}

/// Where calls are to wait, what each is expected to cost, and what they said of themselves.
#[derive(Debug)]
pub struct Place {
    lane: u32,
    expected: Expected,
    operation: Operation,
    cost: Cost,
    held: Held,
    deadline_ns: Option<u64>,
}

impl Place {
    /// What the calls hold of memory, if that is not what they had said.
    pub fn holding(mut self, size_bytes: usize) -> Place {
        self.held.bytes = size_bytes;
        self
    }
}

/// What [`Gate::wake`] gives out.
#[derive(Debug)]
pub struct Woken<T> {
    pub pass: Vec<Passed<T>>,
    /// Nobody waits for these any more.
    pub gone: Vec<T>,
}

/// Calls whose turn has come.
#[derive(Debug)]
pub struct Passed<T> {
    pub item: T,
    pub calls: usize,
    /// By which each of them is to be settled.
    pub ticket: Ticket,
    /// What each said of its cost.
    pub cost: Cost,
}

/// Calls that are to arrive anew, with what they said of themselves.
#[derive(Debug)]
pub struct Returned<T> {
    pub item: T,
    pub operation: Operation,
    pub cost: Cost,
    pub calls: usize,
    pub size_bytes: usize,
    pub deadline_ns: Option<u64>,
}

impl<T> Default for Woken<T> {
    fn default() -> Woken<T> {
        Woken { pass: Vec::new(), gone: Vec::new() }
    }
}

/// A call that has passed and is to be settled, whatever becomes of it.
#[derive(Debug, Clone)]
pub struct Ticket {
    lane: u32,
    generation: u64,
    pub operation: Operation,
    charged: Cost,
    /// How long it has waited.
    pub parked_ns: u64,
}

/// The calls that wait, and the limiters they wait for. `T` = what is kept of a call.
#[derive(Debug)]
pub struct Gate<T> {
    plan: Plan,
    units: CapacityUnits,
    bounds: Bounds,
    buckets: Vec<Option<Bucket>>,
    owners: HashMap<Owner, usize>,
    lanes: HashMap<u32, Lane<T>>,
    /// By class.
    ids: HashMap<Key, [Option<u32>; 3]>,
    next_id: u32,
    /// Lanes with parked calls, by the time that they are due and by turn.
    due: BinaryHeap<Reverse<(u64, u64, u32)>>,
    turns: u64,
    held: HashMap<Arc<str>, Held>,
    serial: u64,
    generation: u64,
}

impl<T: Several> Gate<T> {
    pub fn new(plan: Plan, units: CapacityUnits, bounds: Bounds) -> Gate<T> {
        Gate {
            plan,
            units,
            bounds,
            buckets: Vec::new(),
            owners: HashMap::default(),
            lanes: HashMap::default(),
            ids: HashMap::default(),
            next_id: 0,
            due: BinaryHeap::new(),
            turns: 0,
            held: HashMap::default(),
            serial: 0,
            generation: 0,
        }
    }

    /// A call comes.
    pub fn ask(&mut self, request: &Request<'_>, now_ns: u64) -> Answer {
        let Some(Answers { passes, waits, refused }) = self.ask_together(request, now_ns) else { return Answer::Free };
        match (passes, waits, refused) {
            (Some((_, ticket)), ..) => Answer::Passes(ticket),
            (_, Some((_, place)), _) => Answer::Waits(place),
            (.., Some((_, refusal))) => Answer::Refused(Box::new(refusal)),
            _ => Answer::Free,
        }
    }

    /// Calls come together, in an order. None: nothing limits them.
    pub fn ask_together(&mut self, request: &Request<'_>, now_ns: u64) -> Option<Answers> {
        let (id, expected) = self.enter(request, now_ns)?;
        let Request { operation, cost, calls, size_bytes, deadline_ns, .. } = *request;
        let charged = expected.cost(operation, cost);
        let amounts = charged.amounts(self.units);
        let mut passing = 0;
        while passing < calls && self.passes(id, &amounts, now_ns) {
            self.charge(id, &amounts, now_ns);
            passing += 1;
        }
        // Each that waits makes the others wait for longer: those behind one that is refused are refused as it is.
        let left = calls - passing;
        let refusal = |before: usize| self.refusal(id, request, (&amounts, before), now_ns);
        let are_refused = left > 0 && refusal(left - 1).is_some();
        let first_refused =
            are_refused.then(|| (0..left).find_map(|before| Some((before, refusal(before)?)))).flatten();
        let waiting = first_refused.as_ref().map_or(left, |(waiting, _)| *waiting);
        let ticket = || Ticket { lane: id, generation: self.generation, operation, charged, parked_ns: 0 };
        let held = Held { calls: waiting, bytes: size_bytes / calls.max(1) * waiting };
        let place = || Place { lane: id, expected, operation, cost, held, deadline_ns };
        Some(Answers {
            passes: (passing > 0).then(|| (passing, ticket())),
            waits: (waiting > 0).then(|| (waiting, place())),
            refused: first_refused.map(|(waiting, refusal)| (left - waiting, refusal)),
        })
    }

    /// The lane of a call that something limits, and what those before it took.
    fn enter(&mut self, request: &Request<'_>, now_ns: u64) -> Option<(u32, Expected)> {
        if self.plan.is_empty() {
            return None;
        }
        let id = self.lane(request.key, Class::of(&request.cost), now_ns);
        let lane = self.lanes.get_mut(&id)?;
        lane.used_ns = now_ns;
        (!lane.path.is_empty()).then(|| (id, lane.expected[request.operation as usize]))
    }

    fn passes(&self, id: u32, amounts: &Amounts, now_ns: u64) -> bool {
        let is_empty = self.lanes.get(&id).is_some_and(|lane| lane.parked.is_empty());
        is_empty && self.is_due(id, amounts, now_ns) && !self.is_behind(id, now_ns)
    }

    /// Calls that were just told to wait; [`Gate::wake`] gives `item` back when their turn has come.
    pub fn park(&mut self, place: Place, item: T, now_ns: u64) {
        let Place { lane: id, expected, operation, cost, held, deadline_ns } = place;
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        self.serial += 1;
        let (since_ns, serial) = (now_ns, self.serial);
        lane.push(Parked { item, held, operation, expected, since_ns, serial, deadline_ns, cost }, self.units);
        match self.held.get_mut(&lane.key.user) {
            Some(of_user) => of_user.add(held),
            None => drop(self.held.insert(lane.key.user.clone(), held)),
        }
        if lane.parked.len() == 1 {
            self.schedule(id, now_ns);
        }
    }

    /// Gives out those whose turn has come, `at_most` so many and those who came together with the last; who is `gone`, or whose time
    /// is over, comes out without a charge. True: there may be more.
    pub fn wake(&mut self, now_ns: u64, gone: impl Fn(&T) -> bool, woken: &mut Woken<T>, mut at_most: usize) -> bool {
        while let Some(Reverse((due_ns, turn, id))) = self.due.peek().copied() {
            let valid = self.lanes.get(&id).is_some_and(|lane| lane.scheduled == Some((due_ns, turn)));
            if valid && due_ns > now_ns {
                return false;
            }
            if at_most == 0 {
                return true;
            }
            self.due.pop();
            if valid {
                at_most = at_most.saturating_sub(self.serve(id, now_ns, &gone, woken, at_most));
            }
        }
        false
    }

    /// When the next call is due, if any waits.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((due_ns, ..))| *due_ns)
    }

    /// What calls that have passed by one ticket took in truth, each of them.
    pub fn settle(&mut self, ticket: &Ticket, costs: impl IntoIterator<Item = Cost>, now_ns: u64) {
        let Some(lane) = self.lanes.get_mut(&ticket.lane) else { return };
        let (mut calls, mut all_took) = (0, Amounts::default());
        for cost in costs {
            calls += 1;
            lane.learn(ticket.operation, &cost);
            all_took.add(&cost.amounts(self.units));
        }
        lane.under_way = lane.under_way.saturating_sub(calls);
        let all_charged = ticket.charged.amounts(self.units).times(u64::from(calls));
        let mut sooner = false;
        for (bucket, holds) in &lane.path {
            let Some(bucket) = self.buckets[*bucket].as_mut() else { continue };
            for Counted { limit, limiter, .. } in bucket.limits.iter_mut().filter(|c| c.since <= ticket.generation) {
                let (charged, took) = (all_charged.get(limit.kind), all_took.get(limit.kind));
                if took > charged {
                    limiter.charge(took - charged, now_ns);
                } else if took < charged {
                    limiter.refund(charged - took);
                    let shift = u128::from(charged - took) * u128::from(limit.rate.per_ns());
                    sooner |= shift > u128::from(NOTABLE_NS) * u128::from(limit.rate.amount());
                }
                if !holds {
                    limiter.forgive(now_ns);
                }
            }
        }
        if sooner {
            self.reschedule_beside(ticket.lane, now_ns);
        }
    }

    /// Other settings. All parked calls come back, oldest first, to arrive anew; what limiters are owed stays, and calls that
    /// have passed are settled with the limiters that they were charged to.
    pub fn change(&mut self, plan: Plan, now_ns: u64) -> Vec<Returned<T>> {
        self.plan = plan;
        self.generation += 1;
        self.due.clear();
        self.held.clear();
        self.buckets.iter_mut().flatten().for_each(|bucket| bucket.waiting.clear());
        let mut parked = Vec::new();
        let mut lanes = std::mem::take(&mut self.lanes);
        for lane in lanes.values_mut() {
            parked.extend(lane.parked.drain(..));
            (lane.calls, lane.queued, lane.scheduled) = (0, Amounts::default(), None);
            lane.path = self.path(&lane.key, now_ns);
        }
        self.lanes = lanes;
        self.forget_buckets(now_ns);
        parked.sort_by_key(|p| p.serial);
        let returned = |p: Parked<T>| {
            let Parked { item, held, operation, cost, deadline_ns, .. } = p;
            Returned { item, operation, cost, calls: held.calls, size_bytes: held.bytes, deadline_ns }
        };
        parked.into_iter().map(returned).collect()
    }

    /// Takes out those that are `gone` or whose time is over, and forgets what nobody has used for a minute.
    pub fn sweep(&mut self, now_ns: u64, gone: impl Fn(&T) -> bool) -> Vec<T> {
        let mut out = Vec::new();
        let leaves = |p: &Parked<T>| gone(&p.item) || p.deadline_ns.is_some_and(|at| at <= now_ns);
        // Mostly nobody has gone.
        let concerned = self.lanes.iter().filter(|(_, lane)| lane.parked.iter().any(leaves));
        let concerned: Vec<u32> = concerned.map(|(id, _)| *id).collect();
        for id in concerned {
            let Some(lane) = self.lanes.get_mut(&id) else { continue };
            let all = std::mem::take(&mut lane.parked);
            let (leaving, staying): (VecDeque<_>, VecDeque<_>) = all.into_iter().partition(leaves);
            lane.parked = staying;
            let mut left = Held::default();
            for parked in leaving {
                lane.leaves(&parked, self.units);
                left.add(parked.held);
                out.push(parked.item);
            }
            release(&mut self.held, &lane.key.user, left);
            self.schedule(id, now_ns);
        }
        let unused = |lane: &Lane<T>| {
            lane.parked.is_empty() && lane.under_way == 0 && lane.used_ns.saturating_add(FORGET_NS) < now_ns
        };
        self.lanes.retain(|_, lane| !unused(lane));
        self.ids.retain(|_, ids| {
            ids.iter_mut().for_each(|id| *id = id.filter(|id| self.lanes.contains_key(id)));
            ids.iter().any(Option::is_some)
        });
        self.forget_buckets(now_ns);
        out
    }

    /// Nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty() && self.buckets.is_empty()
    }

    /// Calls that wait, of all users.
    pub fn parked(&self) -> usize {
        self.held.values().map(|held| held.calls).sum()
    }

    /// Of each limit that counted lately: what has passed beyond it and is waited for now.
    pub fn owed(&self, now_ns: u64) -> Vec<(Owner, Limit, u64)> {
        let buckets = self.buckets.iter().flatten();
        let owed = |bucket: &Bucket| {
            let limits =
                bucket.limits.iter().map(|counted| (bucket.owner.clone(), counted.limit, counted.limiter.owed(now_ns)));
            limits.collect::<Vec<_>>()
        };
        buckets.flat_map(owed).collect()
    }

    /// The lane of a call, made if it is new.
    fn lane(&mut self, key: &Key, class: Class, now_ns: u64) -> u32 {
        if let Some(id) = self.ids.get(key).and_then(|ids| ids[class as usize]) {
            return id;
        }
        let path = self.path(key, now_ns);
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1);
        let lane = Lane {
            key: key.clone(),
            path,
            parked: VecDeque::new(),
            calls: 0,
            queued: Amounts::default(),
            expected: [Expected::default(); 4],
            scheduled: None,
            turn: self.turns,
            under_way: 0,
            used_ns: now_ns,
        };
        self.lanes.insert(id, lane);
        self.ids.entry(key.clone()).or_default()[class as usize] = Some(id);
        id
    }

    /// What counts for a call.
    fn path(&mut self, key: &Key, now_ns: u64) -> Vec<(usize, bool)> {
        let shares = self.plan.shares(key);
        shares.into_iter().map(|share| (self.bucket(&share, now_ns), share.holds)).collect()
    }

    /// The bucket of an owner, with the limits that it has now.
    fn bucket(&mut self, share: &Share, now_ns: u64) -> usize {
        let index = match self.owners.get(&share.owner) {
            Some(index) => *index,
            None => {
                let free = self.buckets.iter().position(Option::is_none);
                let index = free.unwrap_or_else(|| {
                    self.buckets.push(None);
                    self.buckets.len() - 1
                });
                self.owners.insert(share.owner.clone(), index);
                index
            }
        };
        let old = self.buckets[index].take();
        let (old, waiting) = old.map_or((Vec::new(), BTreeSet::new()), |bucket| (bucket.limits, bucket.waiting));
        let limiter = |limit: &Limit| {
            let known = old.iter().find(|known| known.limit.kind == limit.kind);
            let fresh = || Counted { limit: *limit, limiter: Limiter::new(limit.rate, now_ns), since: self.generation };
            let mut counted = known.copied().unwrap_or_else(fresh);
            counted.limit = *limit;
            counted.limiter.set_rate(limit.rate, now_ns);
            counted
        };
        let limits = share.limits.iter().map(limiter).collect();
        self.buckets[index] = Some(Bucket { owner: share.owner.clone(), limits, waiting });
        index
    }

    /// The limiters that hold back such a call of a lane.
    fn holding(&self, id: u32, amounts: &Amounts) -> impl Iterator<Item = (&Bucket, &Counted)> {
        let path = self.lanes.get(&id).map_or(&[][..], |lane| &lane.path);
        holding(path, &self.buckets, amounts)
    }

    /// When a call of a lane may pass, once `ahead` has passed before it, and which limit says so.
    fn due_ns(
        &self,
        id: u32,
        amounts: &Amounts,
        ahead: impl Fn(&Bucket, Limit) -> u64,
        now_ns: u64,
    ) -> (u64, Option<(&Owner, Limit)>) {
        let (mut due_ns, mut cause) = (0, None);
        for (bucket, Counted { limit, limiter, .. }) in self.holding(id, amounts) {
            let due = limiter.due_ns(ahead(bucket, *limit), now_ns);
            if due > due_ns {
                (due_ns, cause) = (due, Some((&bucket.owner, *limit)));
            }
        }
        (due_ns, cause)
    }

    fn is_due(&self, id: u32, amounts: &Amounts, now_ns: u64) -> bool {
        let path = self.lanes.get(&id).map_or(&[][..], |lane| &lane.path);
        are_due(path, &self.buckets, amounts, now_ns)
    }

    /// Whether a lane that shares a bucket is due and has not been served yet.
    fn is_behind(&self, id: u32, now_ns: u64) -> bool {
        let path = self.lanes.get(&id).map_or(&[][..], |lane| &lane.path);
        let mut others = path.iter().filter_map(|(b, _)| self.buckets[*b].as_ref()).flat_map(|b| &b.waiting);
        others.any(|other| self.lanes.get(other).and_then(|lane| lane.scheduled).is_some_and(|(due, _)| due <= now_ns))
    }

    fn charge(&mut self, id: u32, amounts: &Amounts, now_ns: u64) {
        self.turns += 1;
        if let Some(lane) = self.lanes.get_mut(&id) {
            lane.charge(self.turns, &mut self.buckets, amounts, now_ns);
        }
    }

    /// Whether one of the calls that come together is not to be parked: too many are, or its turn would come after its time.
    /// `before`: so many others of them wait before it.
    fn refusal(
        &self,
        id: u32,
        request: &Request<'_>,
        (amounts, before): (&Amounts, usize),
        now_ns: u64,
    ) -> Option<Refusal> {
        let lane = self.lanes.get(&id)?;
        let size_bytes = request.size_bytes.div_ceil(request.calls.max(1));
        let mut held = self.held.get(&lane.key.user).copied().unwrap_or_default();
        held.add(Held { calls: before, bytes: before * size_bytes });
        let full = held.calls >= self.bounds.calls_per_user
            || (held.calls > 0 && held.bytes + size_bytes > self.bounds.bytes_per_user);
        let ahead = |bucket: &Bucket, limit| self.ahead((id, lane), (amounts, before), bucket, limit);
        // It has to be done in time, too.
        let is_in_time = |deadline_ns: u64| {
            let last_ns = now_ns.saturating_add(deadline_ns.saturating_sub(now_ns) / 16 * 15);
            self.holding(id, amounts).all(|(bucket, c)| c.limiter.is_due_by(ahead(bucket, c.limit), now_ns, last_ns))
        };
        if !full && request.deadline_ns.is_none_or(is_in_time) {
            return None;
        }
        let (due_ns, cause) = self.due_ns(id, amounts, ahead, now_ns);
        let wait_ns = due_ns.saturating_sub(now_ns);
        let (owner, limit) = cause?;
        Some(Refusal { owner: owner.clone(), limit, wait_ns: wait_ns.max(1), parked: held.calls })
    }

    /// What passes before a call of a lane: what waits there, so many more like it, and of other lanes its share.
    fn ahead(
        &self,
        (id, lane): (u32, &Lane<T>),
        (amounts, more): (&Amounts, usize),
        bucket: &Bucket,
        limit: Limit,
    ) -> u64 {
        // Lanes are served in turn: of another one only so many come first as there are in this one.
        let places = (lane.calls + more) as u128 + 1;
        let others = bucket.waiting.iter().filter(|other| **other != id).filter_map(|other| self.lanes.get(other));
        let others = others.map(|other| {
            let (queued, count) = (u128::from(other.queued.get(limit.kind)), other.calls.max(1) as u128);
            queued * places.min(count) / count
        });
        let own = u128::from(lane.queued.get(limit.kind)) + more as u128 * u128::from(amounts.get(limit.kind));
        u64::try_from(own + others.sum::<u128>()).unwrap_or(u64::MAX)
    }

    /// Puts a lane into the order of those that wait, or takes it out.
    fn schedule(&mut self, id: u32, now_ns: u64) {
        let head = self.lanes.get(&id).and_then(|lane| lane.parked.front()).map(|p| p.of_each().amounts(self.units));
        let due_ns = head.map(|amounts| self.due_ns(id, &amounts, |_, _| 0, now_ns).0);
        let Some(lane) = self.lanes.get_mut(&id) else { return };
        lane.scheduled = due_ns.map(|due_ns| (due_ns, lane.turn));
        for (bucket, _) in &lane.path {
            let Some(bucket) = self.buckets[*bucket].as_mut() else { continue };
            if due_ns.is_some() {
                bucket.waiting.insert(id)
            } else {
                bucket.waiting.remove(&id)
            };
        }
        if let Some(due_ns) = due_ns {
            self.due.push(Reverse((due_ns, lane.turn, id)));
        }
        if self.due.len() > 64 + 2 * self.lanes.len() {
            // Most of it was superseded.
            let scheduled = |(id, lane): (&u32, &Lane<T>)| lane.scheduled.map(|(due, turn)| Reverse((due, turn, *id)));
            self.due = self.lanes.iter().filter_map(scheduled).collect();
        }
    }

    /// A limiter of this lane is due sooner than those who wait for it believe.
    fn reschedule_beside(&mut self, id: u32, now_ns: u64) {
        let path = self.lanes.get(&id).map_or(&[][..], |lane| &lane.path);
        let beside = path.iter().filter_map(|(b, _)| self.buckets[*b].as_ref()).flat_map(|b| &b.waiting);
        let beside: BTreeSet<u32> = beside.copied().collect();
        for lane in beside {
            self.schedule(lane, now_ns);
        }
    }

    /// A lane is due, or was believed to be: its first call passes, and those behind it whose turn has come, too, if nobody
    /// else waits for the same limiters, `at_most` in all and those who came together with the last. How many they were.
    fn serve(
        &mut self,
        id: u32,
        now_ns: u64,
        gone: &impl Fn(&T) -> bool,
        woken: &mut Woken<T>,
        at_most: usize,
    ) -> usize {
        let Some(lane) = self.lanes.get_mut(&id) else { return 0 };
        (lane.scheduled, lane.used_ns) = (None, now_ns);
        let user = lane.key.user.clone();
        let mut waiting = lane.path.iter().filter_map(|(b, _)| self.buckets[*b].as_ref()).map(|b| &b.waiting);
        let alone = waiting.all(|waiting| waiting.len() <= 1);
        let at_once = if alone { usize::MAX } else { 1 };
        let mut left = Held::default();
        while left.calls < at_most && self.serve_first(id, now_ns, gone, woken, (at_once, &mut left)) && alone {}
        release(&mut self.held, &user, left);
        self.schedule(id, now_ns);
        left.calls
    }

    /// True: of the first calls of a lane, which came together, some have `left` it, `at_once` so many at most, or all because nobody
    /// waits for them any more.
    fn serve_first(
        &mut self,
        id: u32,
        now_ns: u64,
        gone: &impl Fn(&T) -> bool,
        woken: &mut Woken<T>,
        (at_once, left): (usize, &mut Held),
    ) -> bool {
        let Some(lane) = self.lanes.get_mut(&id) else { return false };
        let Some(first) = lane.parked.front() else { return false };
        let (operation, cost, all) = (first.operation, first.cost, first.held.calls);
        let parked_ns = now_ns.saturating_sub(first.since_ns);
        if gone(&first.item) || first.deadline_ns.is_some_and(|at| at <= now_ns) {
            let Some((item, held)) = lane.pop(all, self.units) else { return false };
            left.add(held);
            woken.gone.push(item);
            return true;
        }
        // What they take may be better known than when they came.
        let charged = lane.expected(operation, cost);
        let (amounts, mut calls) = (charged.amounts(self.units), 0);
        while calls < at_once.min(all) && are_due(&lane.path, &self.buckets, &amounts, now_ns) {
            calls += 1;
            self.turns += 1;
            lane.charge(self.turns, &mut self.buckets, &amounts, now_ns);
        }
        if calls == 0 {
            lane.correct_first(self.units);
            return false;
        }
        let Some((item, held)) = lane.pop(calls, self.units) else { return false };
        left.add(held);
        let ticket = Ticket { lane: id, generation: self.generation, operation, charged, parked_ns };
        woken.pass.push(Passed { item, calls, ticket, cost });
        true
    }

    /// Buckets that no lane uses and that are as good as new.
    fn forget_buckets(&mut self, now_ns: u64) {
        let used: BTreeSet<usize> = self.lanes.values().flat_map(|lane| lane.path.iter().map(|(b, _)| *b)).collect();
        for (index, slot) in self.buckets.iter_mut().enumerate() {
            let idle = |bucket: &Bucket| bucket.limits.iter().all(|counted| counted.limiter.is_idle(now_ns));
            if !used.contains(&index) && slot.as_ref().is_some_and(idle) {
                *slot = None;
            }
        }
        while self.buckets.pop_if(|last| last.is_none()).is_some() {}
        self.owners.retain(|_, index| self.buckets.get(*index).is_some_and(Option::is_some));
    }
}

fn release(held: &mut HashMap<Arc<str>, Held>, user: &Arc<str>, left: Held) {
    if let Some(of_user) = held.get_mut(user).filter(|_| left.calls > 0) {
        of_user.calls = of_user.calls.saturating_sub(left.calls);
        of_user.bytes = of_user.bytes.saturating_sub(left.bytes);
        if of_user.calls == 0 {
            held.remove(user);
        }
    }
}

#[cfg(test)]
mod tests;
