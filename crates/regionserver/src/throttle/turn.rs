//! Whether a call goes on now: asked by its method once it is decoded.

use super::toll::Paid;
use super::waiting::{Asked, Later, Ready, Work, park_together};
use super::{PaidTogether, Toll, refuse};
use crate::RegionServer;
use crate::error::Fault;
use crate::usage::Who;
use martite_catalog::TableName;
use martite_quota::{Answer, Answers, Cost, Operation, Priority, Request};
use martite_region::Region;
use martite_rpc::Call;
use std::sync::Arc;
use std::time::Instant;

/// A Get.
pub(crate) const ONE_READ: Cost =
    Cost { reads: 1, writes: 0, rows: 1, read_bytes: 0, write_bytes: 0, handler_ns: 0, is_atomic: false };

/// What becomes of a call.
#[allow(clippy::large_enum_variant, reason = "one for each call, handed on at once")]
pub(crate) enum Turn<'a> {
    Now,
    /// Of this table nothing is to be done.
    Refused(Fault),
    /// To be given the call.
    Later(Later<'a>),
}

/// What is the same for all calls of a user on a table that say nothing about themselves.
struct Standing {
    /// None: nobody has set any.
    priority: Option<Priority>,
    /// None: nothing limits them.
    who: Option<Arc<Who>>,
}

/// What was found out for the first of the calls of one read of a connection, for those behind it.
#[derive(Default)]
pub(crate) struct Known(Option<(TableName, Standing)>);

/// What becomes of one of several calls of a connection.
pub(crate) enum TurnOfMany<'a> {
    /// Its own turn was asked for.
    Is(Turn<'a>),
    /// Its user's limits are to be asked for all such calls together ([`RegionServer::ask_together`]).
    IsToBeAsked,
}

impl RegionServer {
    /// Whether a call on a region goes on now.
    #[inline]
    pub(crate) fn turn(&self, call: &Call, toll: &mut Toll, region: &Region, what: (Operation, Cost)) -> Turn<'_> {
        self.turn_of(&self.standing(call, toll, region.info().table()), call, toll, what)
    }

    /// The same for one of several calls of a connection.
    #[inline]
    pub(crate) fn turn_of_many(
        &self,
        known: &mut Known,
        call: &Call,
        toll: &mut Toll,
        region: &Region,
        what: (Operation, Cost),
    ) -> TurnOfMany<'_> {
        if speaks(call) {
            return TurnOfMany::Is(self.turn(call, toll, region, what));
        }
        let table = region.info().table();
        let (of, standing) = &*known.0.get_or_insert_with(|| (table.clone(), self.standing(call, toll, table)));
        if of != table {
            return TurnOfMany::Is(self.turn(call, toll, region, what));
        }
        if standing.stands_back(call, toll) {
            return TurnOfMany::Is(Turn::Later(Later::Behind));
        }
        if standing.who.is_some() { TurnOfMany::IsToBeAsked } else { TurnOfMany::Is(Turn::Now) }
    }

    #[inline]
    fn turn_of(&self, standing: &Standing, call: &Call, toll: &mut Toll, what: (Operation, Cost)) -> Turn<'_> {
        if standing.stands_back(call, toll) {
            return Turn::Later(Later::Behind);
        }
        match &standing.who {
            None => Turn::Now,
            Some(who) => self.ask_gate(who, call, toll, what),
        }
    }

    #[inline]
    fn standing(&self, call: &Call, toll: &Toll, table: &TableName) -> Standing {
        let throttles = &self.throttles;
        let rules = throttles.rules.load();
        let free = Standing { priority: toll.priority, who: None };
        let is_settled = toll.priority.is_some() || (rules.settings.priorities.is_empty() && !speaks(call));
        if (is_settled && rules.plan.is_empty()) || table.is_system() {
            return free;
        }
        let user = throttles.user(call);
        let set = || rules.settings.priorities.of(user, table.as_str());
        let priority = toll.priority.unwrap_or_else(|| asked(call).unwrap_or_else(set));
        let is_limited = rules.plan.concerns(user, table.as_str());
        Standing { priority: Some(priority), who: is_limited.then(|| throttles.usage.of(user, table)) }
    }

    fn ask_gate(&self, who: &Arc<Who>, call: &Call, toll: &mut Toll, (operation, cost): (Operation, Cost)) -> Turn<'_> {
        let throttles = &self.throttles;
        let (size_bytes, deadline_ns) = (call.size_bytes as usize, call.deadline().map(|at| throttles.ns(at)));
        let request = Request { key: &who.key, operation, cost, calls: 1, size_bytes, deadline_ns };
        let mut state = throttles.state.lock();
        let now = Instant::now();
        let answer = state.gate.ask(&request, throttles.ns(now));
        drop(state);
        let asked = || Asked { who: who.clone(), queue: now.saturating_duration_since(call.received) };
        match answer {
            Answer::Free => Turn::Now,
            Answer::Passes(ticket) => {
                toll.add(Paid::new(asked(), throttles.clone(), (ticket, cost), now));
                Turn::Now
            }
            Answer::Refused(refusal) => Turn::Refused(refuse(&who.usage, &refusal, 1)),
            Answer::Waits(place) => Turn::Later(Later::Limited { throttles, place, asked: asked() }),
        }
    }

    /// Asks for the turns of calls that are alike, those of `ready` in `places`. Who waits or is refused is taken out; what those have
    /// paid that pass.
    pub(crate) fn ask_together<W: Work>(
        self: &Arc<Self>,
        known: &Known,
        ready: &mut Vec<Option<Ready<W>>>,
        places: &[usize],
        what: (Operation, Cost),
    ) -> Vec<PaidTogether> {
        let mut paid = Vec::new();
        let Some(who) = known.0.as_ref().and_then(|(_, standing)| standing.who.as_ref()) else { return paid };
        let deadline = |ready: &[Option<Ready<W>>], place: usize| ready[place].as_ref()?.call.deadline();
        let mut left = places;
        while let Some(first) = left.first() {
            let until = deadline(ready, *first);
            let count = left.iter().take_while(|place| deadline(ready, **place) == until).count();
            let (alike, others) = left.split_at(count);
            if let Some(passed) = self.ask_alike(who, (ready, alike), what, until) {
                for place in alike {
                    ready[*place].iter_mut().for_each(|one| one.toll.is_paid_by(paid.len()));
                }
                paid.push(passed);
            }
            left = others;
        }
        paid
    }

    /// The same for those that nobody waits for after the same time, with one look at the gate.
    fn ask_alike<W: Work>(
        self: &Arc<Self>,
        who: &Arc<Who>,
        (ready, alike): (&mut Vec<Option<Ready<W>>>, &[usize]),
        (operation, cost): (Operation, Cost),
        until: Option<Instant>,
    ) -> Option<PaidTogether> {
        let throttles = &self.throttles;
        let received = ready[*alike.first()?].as_ref()?.call.received;
        let sizes = alike.iter().filter_map(|place| ready[*place].as_ref()).map(|one| one.call.size_bytes as usize);
        let (size_bytes, deadline_ns) = (sizes.sum(), until.map(|at| throttles.ns(at)));
        let request = Request { key: &who.key, operation, cost, calls: alike.len(), size_bytes, deadline_ns };
        let mut state = throttles.state.lock();
        let now = Instant::now();
        let answers = state.gate.ask_together(&request, throttles.ns(now));
        drop(state);
        let Answers { passes, waits, refused } = answers?;
        let asked = Asked { who: who.clone(), queue: now.saturating_duration_since(received) };
        let behind = &alike[passes.as_ref().map_or(0, |(calls, _)| *calls)..];
        let (wait, refuse_these) = behind.split_at(waits.as_ref().map_or(0, |(calls, _)| *calls));
        if let Some((calls, refusal)) = refused {
            let exception = refuse(&who.usage, &refusal, calls).into_exception();
            let refused = refuse_these.iter().filter_map(|place| ready[*place].take());
            refused.for_each(|one| one.call.responder.fail(exception.clone()));
        }
        if let Some((_, place)) = waits {
            // Mostly all that were read: they stay where they are.
            let all = if wait.len() == ready.len() {
                std::mem::take(ready)
            } else {
                wait.iter().map(|place| ready[*place].take()).collect()
            };
            park_together(self, all, place, asked.clone());
        }
        passes.map(|(calls, ticket)| PaidTogether::new(asked, throttles.clone(), (ticket, cost, calls), now))
    }
}

impl Standing {
    /// A call's priority is known now: whether it stands back behind all others, which is told once.
    #[inline]
    fn stands_back(&self, call: &Call, toll: &mut Toll) -> bool {
        if toll.priority.is_some() {
            return false;
        }
        toll.priority = self.priority;
        let is_batch = self.priority == Some(Priority::Batch);
        call.conn.saw_priority(is_batch);
        is_batch
    }
}

/// Whether a call says anything about itself that may count for it alone.
#[inline]
fn speaks(call: &Call) -> bool {
    !call.attributes.is_empty() || asked(call).is_some()
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
