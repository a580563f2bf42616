//! What a run found, as report.json has it.

use super::in_turns::InTurns;
use super::options::{Experiment, Throttling};
use super::plan::{Limit, Part, Plan, Unit};
use super::switched::Switched;
use crate::drive::Outcome;
use crate::machine::Machine;
use crate::recorder::Recorded;
use crate::results::Numbers;
use crate::rounds::Rounds;
use crate::timeline::Tally;
use hdrhistogram::Histogram;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// When the run began, in UTC.
    pub date: String,
    pub version: &'static str,
    pub machine: Machine,
    pub options: Throttling,
    pub servers: Vec<ServerResults>,
}

#[derive(Debug, Clone, Serialize)]
pub struct ServerResults {
    pub name: String,
    pub title: String,
    pub started_in_ms: Option<f64>,
    pub at_share: Option<AtShare>,
    pub runs: Vec<Run>,
    pub kept: Option<Kept>,
    pub left: Option<Left>,
    /// Of `isolation` and `priority`, measured by turns.
    pub in_turns: Vec<InTurns>,
    pub changes: Vec<Change>,
    pub crowd: Option<Crowd>,
    pub switched: Option<Switched>,
}

/// Where --free-share led.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct AtShare {
    /// Gets a second of `free`.
    pub per_s: f64,
    /// Share of the server's cores that they take alone.
    pub taken: f64,
}

/// One run of one or two users.
#[derive(Debug, Clone, Serialize)]
pub struct Run {
    pub experiment: Experiment,
    /// `get+get`, `scan+get`, `multi+get`, or `get` of the free user alone.
    pub workload: &'static str,
    /// Operations were due at a fixed rate.
    pub open: bool,
    pub limit: Option<Limit>,
    pub seconds: f64,
    pub limited: Option<User>,
    pub free: User,
    pub operations_per_s: f64,
    pub server_cpu_us_per_operation: Option<f64>,
    pub server_cores: Option<f64>,
    pub client_cores: f64,
    /// Cores that neither server nor client had.
    pub other_cores: Option<f64>,
    /// Share of the server's cores that was left to threads of the lowest priority, if that was measured.
    pub rest: Option<f64>,
    /// How `free` did beside `limited`, if it was measured alone at the same load.
    pub beside: Option<Beside>,
}

/// What one user got.
#[derive(Debug, Clone, Serialize)]
pub struct User {
    pub user: &'static str,
    pub does: super::plan::Does,
    /// Operations a second that were due, in an open loop.
    pub demand_per_s: Option<f64>,
    pub operations: u64,
    pub operations_per_s: f64,
    pub rows_per_s: f64,
    pub bytes_per_s: f64,
    pub latency: Latency,
    /// What it is of, in ns.
    #[serde(skip)]
    pub latencies: Histogram<u64>,
    /// The p99 of each tenth of a second, in ns.
    #[serde(skip)]
    pub p99_of_tenths: Vec<u32>,
    /// Answers that were RpcThrottlingException.
    pub throttled: u64,
    /// Operations that were given up: throttled too often, or another error.
    pub failed: u64,
    pub other_errors: u64,
    /// Operations that were due while as many were under way as may be.
    pub not_begun: u64,
    pub left_at_the_end: u64,
    /// Operations that ended in each second.
    pub per_second: Vec<u64>,
    /// Of the limit, if the user has one.
    pub accuracy: Option<Accuracy>,
}

/// Of operations that succeeded, their waits and repetitions included.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Latency {
    pub mean_us: f64,
    pub p50_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}

/// What was observed of a limit, in shares of it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Accuracy {
    pub observed_per_s: f64,
    pub of_limit: f64,
    /// The least and the most of any second, looked at every 100 ms; absent in runs of less than a second.
    pub least_second: Option<f64>,
    pub most_second: Option<f64>,
    /// Within 1 % (rows and bytes 2 %) on the whole and 5 % in any second, or one operation where that is more.
    pub holds: bool,
}

/// Latency of `free` beside `limited`, compared with its own alone.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Beside {
    pub p50_of_alone: f64,
    pub p99_of_alone: f64,
    /// By how much p99 grew.
    pub p99_more_us: f64,
}

/// Total with one of two users limited, each of whom wants more than the server can do.
#[derive(Debug, Clone, Serialize)]
pub struct Kept {
    /// In shares of their total without the limit.
    pub of_both: Rounds,
    /// In shares of what the other one gets alone.
    pub of_alone: Rounds,
}

/// A user of low priority beside one that leaves something.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Left {
    /// Of `free` beside it.
    pub beside: Beside,
    /// Operations a second of `batch` alone, and beside `free`.
    pub alone_per_s: f64,
    pub per_s: f64,
    /// Share of the server's cores that `free` alone leaves.
    pub rest: f64,
    /// What `batch` got of that: its rate ÷ that part of its rate alone.
    pub of_left: f64,
}

/// A limit that was changed.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Change {
    pub from: u64,
    pub to: u64,
    /// Seconds from the begin until the server had said that it is done.
    pub at_s: f64,
    /// How long it took to say so.
    pub set_in_ms: f64,
    /// From then to the begin of the first second with the new rate, 5 % off at most; to 100 ms. None: there was none.
    pub followed_after_ms: Option<f64>,
}

/// Many users with a limit each.
#[derive(Debug, Clone, Serialize)]
pub struct Crowd {
    pub users: usize,
    pub limit: u64,
    pub seconds: f64,
    pub operations_per_s: f64,
    /// Observed / limit of each user, from the least.
    pub of_limit: Vec<f64>,
    /// Users whose limit held on the whole: 1 % or one request.
    pub held: usize,
    pub throttled: u64,
    pub failed: u64,
    pub not_begun: u64,
    pub server_cpu_us_per_operation: Option<f64>,
    /// To give each user its limit.
    pub set_in_ms: f64,
}

/// Shares that a limit may be off, on the whole and in a second.
fn tolerances(unit: Unit) -> (f64, f64) {
    match unit {
        Unit::Requests | Unit::Actions => (0.01, 0.05),
        Unit::Rows | Unit::Bytes => (0.02, 0.05),
    }
}

impl Accuracy {
    fn of(limit: Limit, recorded: &Recorded, seconds: f64) -> Accuracy {
        let (unit, per_second) = (limit.unit, limit.per_second as f64);
        let observed = unit.of(&recorded.total) as f64;
        let an_operation = observed / recorded.total.operations.max(1) as f64;
        let (whole, second) = tolerances(unit);
        let near = |got: f64, wanted: f64, share: f64| (got - wanted).abs() <= (wanted * share).max(an_operation);
        let ends = recorded.timeline.least_and_most(|tally| unit.of(tally));
        let ends = ends.map(|(least, most)| (least as f64, most as f64));
        Accuracy {
            observed_per_s: observed / seconds,
            of_limit: observed / seconds / per_second,
            least_second: ends.map(|(least, _)| least / per_second),
            most_second: ends.map(|(_, most)| most / per_second),
            holds: near(observed, per_second * seconds, whole)
                && ends.is_none_or(|(least, most)| near(least, per_second, second) && near(most, per_second, second)),
        }
    }
}

impl Latency {
    fn of(recorded: &Recorded) -> Latency {
        let latencies = &recorded.latencies_ns;
        let quantile = |q: f64| latencies.value_at_quantile(q) as f64 / 1e3;
        Latency {
            mean_us: latencies.mean() / 1e3,
            p50_us: quantile(0.5),
            p95_us: quantile(0.95),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: latencies.max() as f64 / 1e3,
        }
    }
}

impl User {
    pub fn of(part: &Part, limit: Option<Limit>, recorded: &Recorded, seconds: f64) -> User {
        let Tally { operations, rows, bytes, throttled } = recorded.total;
        User {
            user: part.user,
            does: part.does,
            demand_per_s: part.demand.per_second(),
            operations,
            operations_per_s: operations as f64 / seconds,
            rows_per_s: rows as f64 / seconds,
            bytes_per_s: bytes as f64 / seconds,
            latency: Latency::of(recorded),
            latencies: recorded.latencies_ns.clone(),
            p99_of_tenths: recorded.tenths.quantiles(0.99),
            throttled,
            failed: recorded.failed,
            other_errors: recorded.other_errors,
            not_begun: recorded.not_begun,
            left_at_the_end: recorded.left,
            per_second: recorded.timeline.per_second(|tally| tally.operations),
            accuracy: limit.map(|limit| Accuracy::of(limit, recorded, seconds)),
        }
    }
}

impl User {
    /// How much of a unit one operation was, on average; none if there was none.
    pub fn of_an_operation(&self, unit: Unit) -> Option<f64> {
        let per_second = match unit {
            Unit::Requests => return Some(1.0),
            Unit::Rows | Unit::Actions => self.rows_per_s,
            Unit::Bytes => self.bytes_per_s,
        };
        (per_second > 0.0).then(|| per_second / self.operations_per_s)
    }
}

/// Server CPU for each operation of all loads.
fn cpu_per_operation(outcome: &Outcome) -> Option<f64> {
    let operations: u64 = outcome.loads.iter().map(|load| load.total.operations).sum();
    let cpu_us = outcome.server_cpu?.as_secs_f64() * 1e6;
    (operations > 0).then(|| cpu_us / operations as f64)
}

impl Run {
    /// The loads of the outcome are the limited user's, if there is one, and the free one's.
    pub fn of(plan: &Plan, outcome: &Outcome) -> Run {
        let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
        // What is observed of several limits one after the other is not compared with one.
        let limit = plan.limit.filter(|_| plan.experiment != Experiment::Change);
        let (limited, rest) = match &plan.limited {
            Some(part) => (Some(User::of(part, limit, &outcome.loads[0], seconds)), &outcome.loads[1..]),
            None => (None, &outcome.loads[..]),
        };
        let free = User::of(&plan.free, None, &rest[0], seconds);
        let machine = Numbers::of(outcome, 0);
        Run {
            experiment: plan.experiment,
            workload: match plan.limited.map(|part| part.does) {
                None => plan.free.does.name(),
                Some(does) => does.beside(),
            },
            open: plan.free.demand.per_second().is_some(),
            limit: plan.limit,
            seconds,
            operations_per_s: limited.as_ref().map_or(0.0, |user| user.operations_per_s) + free.operations_per_s,
            limited,
            free,
            server_cpu_us_per_operation: cpu_per_operation(outcome),
            server_cores: machine.server_cores,
            client_cores: machine.client_cores,
            other_cores: machine.other_cores,
            rest: outcome.rest,
            beside: None,
        }
    }

    /// Whether the limited user's and the free one's loads are those of the study.
    pub fn is_of(&self, experiment: Experiment, workload: &str) -> bool {
        self.experiment == experiment && self.workload == workload
    }

    /// The limit in operations a second: exactly, or by what an operation was on average.
    pub fn limit_in_operations(&self) -> Option<f64> {
        let (limit, user) = (self.limit?, self.limited.as_ref()?);
        let per_operation = user.of_an_operation(limit.unit)?;
        Some(limit.per_second as f64 / per_operation)
    }

    pub fn users(&self) -> impl Iterator<Item = &User> {
        self.limited.iter().chain(std::iter::once(&self.free))
    }
}

impl Beside {
    pub fn of(free: &User, alone: &User) -> Option<Beside> {
        let (now, before) = (&free.latency, &alone.latency);
        let known = free.operations > 0 && alone.operations > 0 && free.demand_per_s == alone.demand_per_s;
        known.then(|| Beside {
            p50_of_alone: now.p50_us / before.p50_us,
            p99_of_alone: now.p99_us / before.p99_us,
            p99_more_us: now.p99_us - before.p99_us,
        })
    }
}

impl Left {
    /// None where what is left is not known.
    pub fn of(runs: &[Run; 4]) -> Option<Left> {
        let [_, left, batch, both] = runs;
        let (alone_per_s, per_s) = (batch.operations_per_s, both.limited.as_ref()?.operations_per_s);
        let rest = left.rest?;
        Some(Left { beside: both.beside?, alone_per_s, per_s, rest, of_left: per_s / (alone_per_s * rest) })
    }
}

impl Crowd {
    /// A load for each user.
    pub fn of(limit: u64, outcome: &Outcome, set_in_ms: f64) -> Crowd {
        let seconds = outcome.elapsed.as_secs_f64().max(1e-9);
        let accuracies = outcome.loads.iter().map(|load| {
            // A second of few requests says nothing of one user in many: the whole time counts.
            let whole = Recorded { timeline: Default::default(), ..load.clone() };
            Accuracy::of(Limit::requests(limit), &whole, seconds)
        });
        let accuracies: Vec<Accuracy> = accuracies.collect();
        let mut of_limit: Vec<f64> = accuracies.iter().map(|accuracy| accuracy.of_limit).collect();
        of_limit.sort_by(f64::total_cmp);
        let sum = |count: fn(&Recorded) -> u64| outcome.loads.iter().map(count).sum::<u64>();
        Crowd {
            users: outcome.loads.len(),
            limit,
            seconds,
            operations_per_s: sum(|load| load.total.operations) as f64 / seconds,
            of_limit,
            held: accuracies.iter().filter(|accuracy| accuracy.holds).count(),
            throttled: sum(|load| load.total.throttled),
            failed: sum(|load| load.failed),
            not_begun: sum(|load| load.not_begun),
            server_cpu_us_per_operation: cpu_per_operation(outcome),
            set_in_ms,
        }
    }

    /// Of observed / limit; 0 of nobody.
    pub fn quantile(&self, q: f64) -> f64 {
        let last = self.of_limit.len().saturating_sub(1);
        self.of_limit.get((last as f64 * q).round() as usize).copied().unwrap_or(0.0)
    }
}

impl Report {
    /// The most cores that other work had during a run.
    pub fn most_other_cores(&self) -> f64 {
        let runs = self.servers.iter().flat_map(|server| &server.runs);
        runs.filter_map(|run| run.other_cores).fold(0.0, f64::max)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::recorder::{Recorder, Window};
    use crate::throttling::options::tests::options;
    use crate::throttling::plan;
    use std::time::{Duration, Instant};

    /// So many operations a second for three seconds, evenly, of a millisecond each.
    fn recorded(per_second: u32, rows: u64, bytes: u64) -> Recorded {
        lasting(Duration::from_millis(1), per_second, rows, bytes)
    }

    fn lasting(latency: Duration, per_second: u32, rows: u64, bytes: u64) -> Recorded {
        let begin = Instant::now();
        let end = begin + Duration::from_secs(3);
        let mut recorder = Recorder::new(Window { begin, end: Some(end) }, 3).unwrap();
        for nth in 0..3 * per_second {
            let at = begin + Duration::from_secs(1) * nth / per_second;
            recorder.done(at - latency, at, rows, bytes);
        }
        recorder.finish()
    }

    fn outcome(loads: Vec<Recorded>) -> Outcome {
        Outcome {
            loads,
            began: Instant::now(),
            elapsed: Duration::from_secs(3),
            server_cpu: Some(Duration::from_millis(900)),
            client_cpu: Duration::from_millis(600),
            machine_cpu: Duration::from_secs(2),
            rest: Some(0.8),
        }
    }

    /// What a plan found where operations take so long, two thousand of `free` a second.
    pub fn run_of(plan: &Plan, latency: Duration, limited_per_s: u32) -> Run {
        let limited = plan.limited.map(|_| lasting(latency, limited_per_s, 5, 7));
        Run::of(plan, &outcome(limited.into_iter().chain([lasting(latency, 2000, 1, 1)]).collect()))
    }

    /// Two servers: one that keeps the limit of 1,000 requests, and one that gives 900.
    pub fn report() -> Report {
        let options =
            options(&["--limits", "1000", "--open-limits", "1000", "--row-limits", "5000", "--byte-limits", "9"]);
        let server = |name: &str, got: u32| {
            let mut plans = plan::study(&options);
            plans.extend(plan::total(&options, 1000.0));
            plans.push(plan::alone(&options));
            plans.extend(plan::limits(&options, 1056));
            plans.push(plan::change(&options));
            let run = |plan: &Plan| {
                let mut run = run_of(plan, Duration::from_millis(1), got);
                run.beside = Beside::of(&run.free, &run.free);
                run
            };
            ServerResults {
                name: name.to_owned(),
                title: format!("{name} <1>"),
                started_in_ms: Some(31.4),
                at_share: Some(AtShare { per_s: 98_765.0, taken: 0.705 }),
                runs: plans.iter().map(run).collect(),
                kept: Some(Kept {
                    of_both: Rounds::of([(0.99, 1.0), (1.0, 1.0)]).unwrap(),
                    of_alone: Rounds::of([(0.98, 1.0), (0.99, 1.0)]).unwrap(),
                }),
                left: Left::of(&plan::priority(&options).map(|plan| run(&plan))),
                in_turns: {
                    let round = plan::priority(&options).map(|plan| run(&plan)).to_vec();
                    InTurns::of(Experiment::Priority, &[round.clone(), round]).into_iter().collect()
                },
                changes: vec![Change {
                    from: 1000,
                    to: 500,
                    at_s: 1.0,
                    set_in_ms: 3.0,
                    followed_after_ms: Some(100.0),
                }],
                crowd: Some(Crowd::of(1000, &outcome(vec![recorded(1000, 1, 1), recorded(got, 1, 1)]), 12.0)),
                switched: Switched::of(&[(10.0, 10.0), (10.2, 10.0)]),
            }
        };
        Report {
            date: "2026-01-02 03:04 UTC".to_owned(),
            version: "0.1.0",
            machine: Machine { cores: 2, cpu: "A CPU".to_owned(), memory_gib: 24, kernel: "Linux 6".to_owned() },
            servers: vec![server("martite", 1000), server("hbase", 900)],
            options,
        }
    }

    fn holds(limit: Limit, recorded: &Recorded) -> bool {
        Accuracy::of(limit, recorded, 3.0).holds
    }

    #[test]
    fn a_limit_holds_within_a_hundredth_or_one_operation() {
        let requests = |n| Limit::requests(n);
        let seen = recorded(1000, 5, 70);
        let accuracy = Accuracy::of(requests(1000), &seen, 3.0);
        assert_eq!((accuracy.of_limit, accuracy.least_second, accuracy.most_second), (1.0, Some(1.0), Some(1.0)));
        assert!(accuracy.holds && holds(requests(991), &seen) && holds(requests(1009), &seen));
        assert!(!holds(requests(989), &seen) && !holds(requests(1012), &seen));
        assert!(holds(Limit { unit: Unit::Rows, per_second: 5090 }, &seen));
        assert!(!holds(Limit { unit: Unit::Rows, per_second: 5110 }, &seen));
        assert!(holds(Limit { unit: Unit::Bytes, per_second: 70_000 }, &seen));
        // 30 requests in three seconds: one is 3 %.
        assert!(holds(requests(10), &recorded(10, 1, 1)));
        assert!(!holds(requests(10), &recorded(12, 1, 1)));
        assert!(!holds(requests(10), &recorded(0, 1, 1)));
    }

    #[test]
    fn one_bad_second_is_enough() {
        let mut seen = recorded(1000, 1, 1);
        let moved = seen.timeline.bins()[3].operations;
        seen.timeline.add(Duration::from_millis(2050), Tally { operations: moved, ..Tally::default() });
        let accuracy = Accuracy::of(Limit::requests(1000), &seen, 3.0);
        assert_eq!((accuracy.of_limit, accuracy.most_second, accuracy.holds), (1.0, Some(1.1), false));
    }

    #[test]
    fn a_run_has_both_users_and_the_limit_in_operations() {
        let report = report();
        let run = report.servers[1].runs.iter().find(|run| run.is_of(Experiment::Rows, "scan+get")).unwrap();
        assert!(run.open);
        let limited = run.limited.as_ref().unwrap();
        assert_eq!((limited.operations, limited.per_second.as_slice()), (2700, &[900, 900, 900][..]));
        assert_eq!((run.limit_in_operations(), run.operations_per_s), (Some(1000.0), 2900.0));
        assert_eq!(run.server_cpu_us_per_operation.map(f64::round), Some(103.0));
        assert_eq!(run.users().count(), 2);
        let study = report.servers[0].runs.iter().filter(|run| run.is_of(Experiment::Study, "get+get"));
        assert_eq!(study.map(|run| run.limit_in_operations()).collect::<Vec<_>>(), [None, Some(1000.0)]);
    }

    #[test]
    fn a_crowd_is_looked_at_user_by_user() {
        let crowd = report().servers[1].crowd.clone().unwrap();
        assert_eq!((crowd.users, crowd.held, crowd.of_limit.as_slice()), (2, 1, &[0.9, 1.0][..]));
        assert_eq!([0.0, 1.0].map(|q| crowd.quantile(q)), [0.9, 1.0]);
    }
}
