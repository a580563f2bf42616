//! Whether a call goes on now: asked by its method once it is decoded.

use super::waiting::{Later, Waits};
use super::{Paid, Toll, Who, refuse};
use crate::RegionServer;
use crate::error::Fault;
use martite_catalog::TableName;
use martite_quota::{Answer, Cost, Operation, Priority};
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

/// What was found out for calls of one read of a connection, for those behind them.
#[derive(Default)]
pub(crate) struct Known(Option<(TableName, Standing)>);

impl RegionServer {
    /// Whether a call on a region goes on now.
    #[inline]
    pub(crate) fn turn(&self, call: &Call, toll: &mut Toll, region: &Region, what: (Operation, Cost)) -> Turn<'_> {
        self.turn_of(&self.standing(call, toll, region.info().table()), call, toll, what)
    }

    /// The same for one of several calls of a connection.
    #[inline]
    pub(crate) fn turn_like(
        &self,
        known: &mut Known,
        call: &Call,
        toll: &mut Toll,
        region: &Region,
        what: (Operation, Cost),
    ) -> Turn<'_> {
        if speaks(call) || toll.priority.is_some() {
            return self.turn(call, toll, region, what);
        }
        let table = region.info().table();
        let standing = match &known.0 {
            Some((of, standing)) if of == table => standing,
            _ => &known.0.insert((table.clone(), self.standing(call, toll, table))).1,
        };
        self.turn_of(standing, call, toll, what)
    }

    #[inline]
    fn turn_of(&self, standing: &Standing, call: &Call, toll: &mut Toll, what: (Operation, Cost)) -> Turn<'_> {
        if toll.priority.is_none() {
            toll.priority = standing.priority;
            let is_batch = standing.priority == Some(Priority::Batch);
            call.conn.saw_priority(is_batch);
            if is_batch {
                return Turn::Later(Later::Behind);
            }
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
        let deadline_ns = call.deadline().map(|at| throttles.ns(at));
        let mut state = throttles.state.lock();
        let now = Instant::now();
        let (since_ns, queue) = (throttles.ns(now), now.saturating_duration_since(call.received));
        let waits = Waits { who: who.clone(), operation, cost, deadline_ns, since_ns, queue };
        match state.gate.ask(&waits.request(call.size_bytes as usize), since_ns) {
            Answer::Free => Turn::Now,
            Answer::Passes(ticket) => {
                drop(state);
                toll.add(Paid::new(waits, throttles.clone(), ticket, now));
                Turn::Now
            }
            Answer::Refused(refusal) => {
                drop(state);
                Turn::Refused(refuse(&who.usage, &refusal))
            }
            Answer::Waits(place) => Turn::Later(Later::Limited { throttles, place, waits }),
        }
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
