//! [`Plan`]: one run: who does what, how often, and who is limited how.

use super::options::{BatchWork, Experiment, SCAN_ROWS, Throttling};
use crate::op::multi_get::ROWS;
use crate::timeline::Tally;
use martite_proto::ThrottleType;
use serde::Serialize;

/// The user with the limit, and the one beside it.
pub const LIMITED: &str = "limited";
pub const FREE: &str = "free";
/// The user whose calls are of low priority.
pub const BATCH: &str = "batch";

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    Requests,
    /// Gets of one call, each of which is a request.
    Actions,
    Rows,
    Bytes,
}

impl Unit {
    pub fn throttle_type(self) -> ThrottleType {
        match self {
            Unit::Requests | Unit::Actions => ThrottleType::RequestNumber,
            Unit::Rows => ThrottleType::ReadNumber,
            Unit::Bytes => ThrottleType::ReadSize,
        }
    }

    /// How many a client has seen: an operation is one request.
    pub fn of(self, tally: &Tally) -> u64 {
        match self {
            Unit::Requests => tally.operations,
            Unit::Rows | Unit::Actions => tally.rows,
            Unit::Bytes => tally.bytes,
        }
    }

    /// As a limit is written.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Requests | Unit::Actions => "req/s",
            Unit::Rows => "rows/s",
            Unit::Bytes => "B/s",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limit {
    pub unit: Unit,
    pub per_second: u64,
}

impl Limit {
    pub fn requests(per_second: u64) -> Limit {
        Limit { unit: Unit::Requests, per_second }
    }
}

/// What a user does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    Get,
    Scan,
    /// Gets of a hundred rows in one call.
    Multi,
    /// Scans of which nothing comes back.
    Sift,
}

impl Does {
    pub fn name(self) -> &'static str {
        match self {
            Does::Get => "get",
            Does::Scan => "scan",
            Does::Multi => "multi",
            Does::Sift => "sift",
        }
    }

    /// Beside a user that gets.
    pub fn beside(self) -> &'static str {
        match self {
            Does::Get => "get+get",
            Does::Scan => "scan+get",
            Does::Multi => "multi+get",
            Does::Sift => "sift+get",
        }
    }
}

/// How often a user does it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Demand {
    /// As often as so many threads can, each with one operation under way.
    Closed { threads: usize },
    /// So many operations a second, of which so many may be under way.
    Open { per_second: f64, outstanding: usize },
}

impl Demand {
    pub fn per_second(self) -> Option<f64> {
        match self {
            Demand::Closed { .. } => None,
            Demand::Open { per_second, .. } => Some(per_second),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    pub user: &'static str,
    pub does: Does,
    pub demand: Demand,
    pub connections: usize,
    /// Its calls ask for the priority `batch`.
    pub batch: bool,
}

/// One run. Without the limited user it is what the free one is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    pub experiment: Experiment,
    pub limited: Option<Part>,
    pub free: Part,
    pub limit: Option<Limit>,
    /// What it leaves to others is measured.
    pub rest: bool,
}

/// What `free` does in open loops.
fn free_gets(options: &Throttling) -> Part {
    let connections = match options.free_share {
        Some(_) => options.connections.max(TOTAL_CONNECTIONS),
        None => options.connections,
    };
    let demand = Demand::Open { per_second: options.free_rate, outstanding: options.outstanding.max(connections) };
    Part { user: FREE, does: Does::Get, demand, connections, batch: false }
}

/// Open loops: `limited` wants `times` its limit.
fn open(options: &Throttling, experiment: Experiment, does: Does, limit: Limit, an_operation: f64, times: f64) -> Plan {
    let per_second = limit.per_second as f64 / an_operation * times;
    // Who wants much more than it may have is to be seen by the server, not to be held back here.
    let second = if experiment == Experiment::Isolation { per_second as usize } else { 0 };
    let demand = Demand::Open { per_second, outstanding: options.outstanding.max(second) };
    Plan {
        experiment,
        limited: Some(Part { user: LIMITED, does, demand, connections: options.connections, batch: false }),
        free: free_gets(options),
        limit: Some(limit),
        rest: false,
    }
}

/// Closed loops of both users.
pub fn closed(options: &Throttling, does: Does, limit: Option<u64>) -> Plan {
    let demand = Demand::Closed { threads: options.threads };
    let part = |user, does| Part { user, does, demand, connections: options.connections, batch: false };
    Plan {
        experiment: Experiment::Study,
        limited: Some(part(LIMITED, does)),
        free: part(FREE, Does::Get),
        limit: limit.map(Limit::requests),
        rest: false,
    }
}

/// The study: without a limit first.
pub fn study(options: &Throttling) -> Vec<Plan> {
    let limits = || std::iter::once(None).chain(options.limits.iter().copied().map(Some));
    let of = |does| limits().map(move |limit| closed(options, does, limit));
    of(Does::Get).chain(of(Does::Scan)).collect()
}

/// Connections of each user who wants all that a server can do: of one, the server cannot use all its threads.
const TOTAL_CONNECTIONS: usize = 8;
/// Operations of such a user that are under way: more, and HBase refuses some because its queue is full.
const TOTAL_OUTSTANDING: usize = 256;

/// Each of two users alone wants twice as much as the server can do, which is known from closed loops: without a limit,
/// with one, and `free` without the other.
///
/// ```text
/// without   limited ▪▪▪▪ 256 at work   free ▪▪▪▪ 256 at work
/// with      limited ▫▫▫▫ 256 wait      free ▪▪▪▪▪▪▪▪ 512 at work      as much is due, and as much for the server to work on
/// alone                                free ▪▪▪▪▪▪▪▪ 512 at work
/// ```
/// Open loops with more demand than a server bears would have ever more operations under way: that they may not is this
/// program's doing, and must not be taken for the limit's. (With 256 instead of 512 at work, a server without any limit
/// does 15 % less.)
pub fn total(options: &Throttling, capacity: f64) -> [Plan; 3] {
    let connections = options.connections.max(TOTAL_CONNECTIONS);
    let part = |user, outstanding: usize| {
        let demand = Demand::Open { per_second: 2.0 * capacity.max(1.0), outstanding: outstanding.max(connections) };
        Part { user, does: Does::Get, demand, connections, batch: false }
    };
    let limited = Some(part(LIMITED, TOTAL_OUTSTANDING));
    let limit = Some(Limit::requests((capacity / 10.0).max(1.0) as u64));
    let free = part(FREE, TOTAL_OUTSTANDING);
    let more = part(FREE, 2 * TOTAL_OUTSTANDING);
    let plan = |limited, free, limit| Plan { experiment: Experiment::Total, limited, free, limit, rest: false };
    [plan(limited, free, None), plan(limited, more, limit), plan(None, more, None)]
}

/// As much as the server can do, without a limit.
pub fn busy(options: &Throttling) -> Plan {
    let connections = options.connections.max(TOTAL_CONNECTIONS);
    let demand = Demand::Closed { threads: TOTAL_OUTSTANDING.max(connections) };
    let free = Part { user: FREE, does: Does::Get, demand, connections, batch: false };
    Plan { experiment: Experiment::Switched, limited: None, free, limit: None, rest: false }
}

/// Runs of `free` alone, each of which tells what share of the processor its rate takes: after so many it is within a few hundredths
/// of what --free-share asks for.
pub const LOOKS_FOR_SHARE: usize = 5;

/// What `free` does alone.
pub fn alone(options: &Throttling) -> Plan {
    Plan { experiment: Experiment::Isolation, limited: None, free: free_gets(options), limit: None, rest: false }
}

/// `free` alone, again with what it leaves measured, `batch` alone, and both: `batch` wants as much as the server can do.
pub fn priority(options: &Throttling) -> [Plan; 4] {
    let demand = Demand::Closed { threads: TOTAL_CONNECTIONS * SCANS_EACH };
    let does = match options.batch_work {
        BatchWork::Sift => Does::Sift,
        BatchWork::Scan => Does::Scan,
    };
    let batch = Part { user: BATCH, does, demand, connections: TOTAL_CONNECTIONS, batch: true };
    let free = free_gets(options);
    let plan = |limited, free| Plan { experiment: Experiment::Priority, limited, free, limit: None, rest: false };
    [plan(None, free), Plan { rest: true, ..plan(None, free) }, plan(None, batch), plan(Some(batch), free)]
}
/// Scans under way on each connection of `batch`.
const SCANS_EACH: usize = 4;

/// Open loops with limits of all units; `row_bytes`: of a row in an answer.
pub fn limits(options: &Throttling, row_bytes: u64) -> Vec<Plan> {
    let scan_bytes = (SCAN_ROWS * row_bytes) as f64;
    let mut plans = Vec::new();
    let mut add = |experiment, does, limits: &[u64], unit, an_operation: f64| {
        if options.has(experiment) {
            let limits = limits.iter().map(|per_second| Limit { unit, per_second: *per_second });
            plans.extend(limits.map(|limit| open(options, experiment, does, limit, an_operation, options.demand)));
        }
    };
    add(Experiment::Accuracy, Does::Get, &options.open_limits, Unit::Requests, 1.0);
    add(Experiment::Rows, Does::Scan, &options.row_limits, Unit::Rows, SCAN_ROWS as f64);
    let of_multi = ROWS as f64;
    add(Experiment::Multi, Does::Multi, &options.multi_limits, Unit::Actions, of_multi);
    add(Experiment::Bytes, Does::Scan, &options.byte_limits, Unit::Bytes, scan_bytes);
    if options.has(Experiment::Isolation) {
        plans.push(isolation(options));
    }
    plans
}

/// `free` beside a user that wants ten times its limit, or what is asked for.
pub fn isolation(options: &Throttling) -> Plan {
    open(options, Experiment::Isolation, Does::Get, Limit::requests(1000), 1.0, options.isolation_demand)
}

/// `free` beside the same user when it is connected and wants nothing: the load generator looks at as many connections then, which
/// costs `free` more than the other's calls do where it polls.
pub fn beside_idle(options: &Throttling) -> Plan {
    let plan = isolation(options);
    let idle = |part: Part| match part.demand {
        Demand::Open { outstanding, .. } => {
            Part { demand: Demand::Open { per_second: NEXT_TO_NOTHING, outstanding }, ..part }
        }
        Demand::Closed { .. } => part,
    };
    Plan { limited: plan.limited.map(idle), limit: None, ..plan }
}
/// Operations a second of a user who does nothing.
const NEXT_TO_NOTHING: f64 = 0.001;

/// Limits that follow each other in one run.
pub const CHANGES: [u64; 3] = [1000, 500, 2000];

/// `limited` always wants more than the highest of them.
pub fn change(options: &Throttling) -> Plan {
    let most = CHANGES.into_iter().max().unwrap_or(0) as f64;
    let limit = Limit::requests(CHANGES[0]);
    open(options, Experiment::Change, Does::Get, limit, 1.0, options.demand * most / CHANGES[0] as f64)
}

/// How many runs there are, those of many users among them.
pub fn count(options: &Throttling) -> usize {
    let has = |experiment, runs: usize| if options.has(experiment) { runs } else { 0 };
    let limits = limits(options, 1000).len();
    let capacity = usize::from(!options.has(Experiment::Study));
    let rounds = if options.beside_rounds > 1 { options.beside_rounds as usize } else { 0 };
    has(Experiment::Study, study(options).len())
        + has(Experiment::Total, 3 * options.total_rounds as usize + capacity)
        + (1 + LOOKS_FOR_SHARE) * usize::from(options.wants_capacity())
        + if limits > 0 { 1 + limits } else { 0 }
        + has(Experiment::Isolation, 2 * rounds)
        + has(Experiment::Priority, 4 + 4 * rounds)
        + has(Experiment::Change, 1)
        + has(Experiment::Users, 1)
        + has(Experiment::Switched, 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throttling::options::tests::options;

    fn wanted(plan: &Plan) -> Demand {
        plan.limited.unwrap().demand
    }

    #[test]
    fn the_study_begins_without_a_limit() {
        let plans = study(&options(&["--limits", "7,8", "--threads", "3"]));
        let seen: Vec<_> = plans.iter().map(|p| (p.limited.unwrap().does, p.limit.map(|l| l.per_second))).collect();
        let of = |does| [(does, None), (does, Some(7)), (does, Some(8))];
        assert_eq!(seen, [of(Does::Get), of(Does::Scan)].concat());
        assert!(plans.iter().all(|p| wanted(p) == Demand::Closed { threads: 3 } && p.free.does == Does::Get));
    }

    #[test]
    fn an_open_loop_wants_more_than_its_limit_in_operations() {
        let options = options(&["--open-limits", "10", "--row-limits", "10000", "--byte-limits", "1000000"]);
        let plans = limits(&options, 1000);
        let rates: Vec<f64> = plans.iter().filter_map(|p| wanted(p).per_second()).collect();
        assert_eq!(rates, [12.0, 120.0, 120.0, 12.0, 10_000.0]);
        assert_eq!(wanted(&plans[0]), Demand::Open { per_second: 12.0, outstanding: 1000 });
        assert_eq!(wanted(&plans[4]), Demand::Open { per_second: 10_000.0, outstanding: 10_000 });
        assert!(plans.iter().all(|p| p.free == alone(&options).free));
        assert_eq!(wanted(&change(&options)).per_second(), Some(2400.0));
    }

    #[test]
    fn beside_an_idle_user_all_but_its_demand_is_the_same() {
        let (idle, beside) = (beside_idle(&options(&[])), isolation(&options(&[])));
        assert_eq!(wanted(&idle), Demand::Open { per_second: NEXT_TO_NOTHING, outstanding: 10_000 });
        assert_eq!(wanted(&beside), Demand::Open { per_second: 10_000.0, outstanding: 10_000 });
        assert_eq!((idle.free, idle.limit), (beside.free, None));
        assert_eq!(idle.limited.map(|part| part.connections), beside.limited.map(|part| part.connections));
    }

    #[test]
    fn a_limit_leaves_the_server_as_much_to_work_on() {
        let [without, with, alone] = total(&options(&[]), 20_000.0);
        let under_way = |part: Part| match part.demand {
            Demand::Open { per_second, outstanding } => (per_second, outstanding),
            Demand::Closed { .. } => panic!("{part:?}"),
        };
        assert_eq!((without.limit, with.limit, alone.limit), (None, Some(Limit::requests(2000)), None));
        assert_eq!(under_way(without.limited.unwrap()), (40_000.0, 256));
        assert_eq!(under_way(without.free), (40_000.0, 256));
        assert_eq!(under_way(with.limited.unwrap()), (40_000.0, 256));
        assert_eq!((under_way(with.free), with.free), ((40_000.0, 512), alone.free));
    }

    #[test]
    fn a_share_of_what_the_server_can_do_comes_by_several_connections() {
        let of = |words: &[&str]| alone(&options(words)).free.connections;
        assert_eq!((of(&[]), of(&["--free-share", "0.7"])), (1, 8));
    }

    #[test]
    fn runs_are_counted() {
        assert_eq!(count(&options(&["--experiments", "users"])), 1);
        assert_eq!(count(&options(&["--experiments", "total"])), 7);
        assert_eq!(count(&options(&["--experiments", "priority", "--free-share", "0.7"])), 10);
        assert_eq!(count(&options(&["--experiments", "rows", "--row-limits", "1,2,3"])), 4);
        assert_eq!(count(&options(&["--experiments", "isolation,priority", "--beside-rounds", "4"])), 2 + 8 + 4 + 16);
        assert_eq!(count(&options(&[])), 12 + 6 + 1 + 7 + 1 + 1 + 1 + 1 + 4 + 1 + 1 + 3);
    }
}
