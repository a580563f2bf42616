//! [`Measure`]: one server's part: plan after plan, each with its limit set before and removed after it.

use super::in_turns::InTurns;
use super::options::{Experiment, SCAN_ROWS, SIFTED_ROWS, Throttling};
use super::plan::{self, Demand, Does, LIMITED, Limit, Part, Plan};
use super::quotas::Quotas;
use super::results::{AtShare, Beside, Change, Crowd, Kept, Left, Run, ServerResults};
use crate::Error;
use crate::drive::{Load, MakeOp, Outcome, Timing, drive};
use crate::op::get::Get;
use crate::op::multi_get::MultiGet;
use crate::op::scan::{Passing, Scan};
use crate::op::short_scan::ShortScan;
use crate::pace::{Pace, Rate};
use crate::progress::Progress;
use crate::rounds::Rounds;
use crate::run::FIRST;
use crate::server::Server;
use crate::target::Target;
use crate::throttled::Patient;
use crate::timeline::BIN;
use crate::zipfian::Keys;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A run that is one of many takes such a part of the time.
const ROUNDS_OF_A_RUN: f64 = 10.0;
/// Rounds of `total` that are shown in full.
const TOTALS_SHOWN: u64 = 2;
/// Limits that are set at the same time.
const SET_AT_ONCE: usize = 16;
/// A user of many may have so many seconds of its limit under way.
const CROWD_SECONDS: u64 = 2;
/// What a client gives to setPriority for the priority `batch`; nothing to HBase.
const BATCH_PRIORITY: u32 = 1;
/// How far a rate may be from a new limit that it is said to follow.
const FOLLOWS: f64 = 0.05;

pub struct Measure<'a> {
    pub name: &'a str,
    pub server: &'a Server,
    pub target: Arc<Target>,
    pub quotas: Arc<Quotas>,
    pub options: &'a Throttling,
    pub progress: &'a Progress,
}

/// A limit as it was changed: when the server was asked and when it had answered.
struct Set {
    from: u64,
    to: u64,
    asked: Instant,
    done: Instant,
}

impl Measure<'_> {
    pub async fn all(&self) -> Result<ServerResults, Error> {
        let mut results = ServerResults {
            name: self.name.to_owned(),
            title: self.server.title.clone(),
            started_in_ms: self.server.started_in.map(|d| d.as_secs_f64() * 1e3),
            at_share: None,
            runs: Vec::new(),
            kept: None,
            left: None,
            in_turns: Vec::new(),
            changes: Vec::new(),
            crowd: None,
            switched: None,
        };
        let runs = &mut results.runs;
        if self.options.has(Experiment::Study) {
            for plan in plan::study(self.options) {
                runs.push(self.run(&plan, runs.is_empty()).await?);
            }
        }
        if self.options.has(Experiment::Total) {
            results.kept = self.total(runs).await?;
        }
        let limits = plan::limits(self.options, self.target.row_bytes());
        if !limits.is_empty() {
            let alone = self.run(&plan::alone(self.options), runs.is_empty()).await?;
            let of_alone = alone.free.clone();
            runs.push(alone);
            for plan in limits {
                let run = self.run(&plan, false).await?;
                runs.push(Run { beside: Beside::of(&run.free, &of_alone), ..run });
            }
        }
        if self.options.has(Experiment::Priority) {
            results.left = Left::of(&self.priority(runs).await?);
        }
        results.in_turns = self.in_turns(runs).await?;
        if self.options.has(Experiment::Change) {
            let (run, changes) = self.change(runs.is_empty()).await?;
            runs.push(run);
            results.changes = changes;
        }
        if self.options.has(Experiment::Users) {
            results.crowd = Some(self.crowd(runs.is_empty()).await?);
        }
        Ok(results)
    }

    /// The rate of `free` that --free-share makes.
    pub async fn at_share(&self) -> Result<Option<AtShare>, Error> {
        let (Some(share), true) = (self.options.free_share, self.options.wants_capacity()) else { return Ok(None) };
        // Closed loops tell how many there are at most: fewer that are due one by one take the processor as much.
        let busy = self.run(&plan::busy(self.options), true).await?;
        let mut at = AtShare { per_s: share * busy.operations_per_s, taken: share };
        for _ in 0..plan::LOOKS_FOR_SHARE {
            at.per_s = nearer(at.per_s, share, at.taken);
            let options = Throttling { free_rate: at.per_s, ..self.options.clone() };
            let left = self.run(&Plan { rest: true, ..plan::alone(&options) }, false).await?.rest;
            at.taken = 1.0 - left.unwrap_or(0.0);
        }
        Ok(Some(at))
    }

    async fn run(&self, plan: &Plan, first: bool) -> Result<Run, Error> {
        self.step(plan);
        if let Some(limit) = plan.limit {
            self.quotas.limit(LIMITED, limit).await?;
        }
        let outcome = self.drive(&self.loads(plan), first, plan.rest).await?;
        self.quotas.lift_all().await?;
        Ok(Run::of(plan, &outcome))
    }

    /// Server CPU of an operation in a short run, in µs.
    pub async fn cpu_of(&self, plan: &Plan) -> Result<Option<f64>, Error> {
        let part = |seconds: f64| Duration::from_secs_f64(seconds / ROUNDS_OF_A_RUN);
        let timing = self.timing(part(self.options.warmup), part(self.options.seconds), false);
        let outcome = drive(&self.loads(plan), timing, self.server.process).await?;
        Ok(Run::of(plan, &outcome).server_cpu_us_per_operation)
    }

    /// What a limit leaves of the total; the capacity is that of the study's closed loops.
    async fn total(&self, runs: &mut Vec<Run>) -> Result<Option<Kept>, Error> {
        let capacity = match runs.first() {
            Some(run) => run.operations_per_s,
            None => self.run(&plan::closed(self.options, Does::Get, None), true).await?.operations_per_s,
        };
        let plans = plan::total(self.options, capacity);
        let rounds = self.rounds(&plans, self.options.total_rounds, TOTALS_SHOWN, runs).await?;
        let per_s = |round: &Vec<Run>, which: usize| round[which].operations_per_s;
        let of_both = Rounds::of(rounds.iter().map(|round| (per_s(round, 1), per_s(round, 0))));
        let of_alone = Rounds::of(rounds.iter().map(|round| (per_s(round, 1), per_s(round, 2))));
        Ok(of_both.zip(of_alone).map(|(of_both, of_alone)| Kept { of_both, of_alone }))
    }

    /// `free` beside others and alone, or beside one who wants nothing, in turns.
    async fn in_turns(&self, runs: &mut Vec<Run>) -> Result<Vec<InTurns>, Error> {
        let isolation = vec![plan::beside_idle(self.options), plan::isolation(self.options)];
        let priority = plan::priority(self.options).to_vec();
        let mut all = Vec::new();
        for (experiment, plans) in [(Experiment::Isolation, isolation), (Experiment::Priority, priority)] {
            if self.options.has(experiment) && self.options.beside_rounds > 1 {
                let rounds = self.rounds(&plans, self.options.beside_rounds, 0, runs).await?;
                all.extend(InTurns::of(experiment, &rounds));
            }
        }
        Ok(all)
    }

    /// Plans in turns, every second time in the other order: what the machine can do drifts by more than is looked for. Of the
    /// first rounds `shown` go to `runs`.
    async fn rounds(
        &self,
        plans: &[Plan],
        count: u64,
        shown: u64,
        runs: &mut Vec<Run>,
    ) -> Result<Vec<Vec<Run>>, Error> {
        let mut rounds = Vec::new();
        for round in 0..count {
            let mut of_round = Vec::new();
            for turn in 0..plans.len() {
                let which = if round % 2 == 0 { turn } else { plans.len() - 1 - turn };
                let run = self.run(&plans[which], false).await?;
                if round < shown {
                    runs.push(run.clone());
                }
                of_round.push(run);
            }
            if round % 2 != 0 {
                of_round.reverse();
            }
            rounds.push(of_round);
        }
        Ok(rounds)
    }

    /// What a user of low priority costs others, and what it gets of what they leave.
    async fn priority(&self, runs: &mut Vec<Run>) -> Result<[Run; 4], Error> {
        let [alone, left, batch, both] = plan::priority(self.options);
        let alone = self.run(&alone, runs.is_empty()).await?;
        let left = self.run(&left, false).await?;
        let (batch, both) = (self.run(&batch, false).await?, self.run(&both, false).await?);
        let both = Run { beside: Beside::of(&both.free, &alone.free), ..both };
        let all = [alone, left, batch, both];
        runs.extend(all.clone());
        Ok(all)
    }

    /// Changes the limit at each third of the time.
    async fn change(&self, first: bool) -> Result<(Run, Vec<Change>), Error> {
        let plan = plan::change(self.options);
        self.step(&plan);
        self.quotas.limit(LIMITED, Limit::requests(plan::CHANGES[0])).await?;
        let begin = Instant::now() + self.warmup(first);
        let third = Duration::from_secs_f64(self.options.seconds / plan::CHANGES.len() as f64);
        let changes = async {
            let mut sets = Vec::new();
            for (nth, pair) in plan::CHANGES.windows(2).enumerate() {
                tokio::time::sleep_until((begin + third * (nth as u32 + 1)).into()).await;
                let asked = Instant::now();
                self.quotas.limit(LIMITED, Limit::requests(pair[1])).await?;
                sets.push(Set { from: pair[0], to: pair[1], asked, done: Instant::now() });
            }
            Ok::<_, Error>(sets)
        };
        let loads = self.loads(&plan);
        let (outcome, sets) = tokio::try_join!(self.drive(&loads, first, false), changes)?;
        self.quotas.lift_all().await?;
        let changes = sets.iter().map(|set| followed(set, &outcome)).collect();
        Ok((Run::of(&plan, &outcome), changes))
    }

    /// Many users with a limit each.
    async fn crowd(&self, first: bool) -> Result<Crowd, Error> {
        let (users, limit) = (self.options.users, self.options.user_limit);
        self.progress.step(&format!("{}: {users} users with {limit} req/s each", self.name));
        let names: Vec<String> = (0..users).map(|i| format!("user{i:04}")).collect();
        let began = Instant::now();
        self.for_each(&names, Some(Limit::requests(limit))).await?;
        let set_in_ms = began.elapsed().as_secs_f64() * 1e3;
        let per_second = limit as f64 * self.options.demand;
        let outstanding = usize::try_from(limit * CROWD_SECONDS).unwrap_or(usize::MAX);
        let demand = Demand::Open { per_second, outstanding: outstanding.min(self.options.outstanding) };
        let part = Part { user: "", does: Does::Get, demand, connections: 1, batch: false };
        let loads = names.iter().map(|user| Load { user: user.clone(), ..self.load(&part) });
        let loads: Vec<Load<'_>> = loads.collect();
        let outcome = self.drive(&loads, first, false).await?;
        self.for_each(&names, None).await?;
        Ok(Crowd::of(limit, &outcome, set_in_ms))
    }

    /// Sets or removes the limits of many users, some at a time.
    async fn for_each(&self, users: &[String], limit: Option<Limit>) -> Result<(), Error> {
        for some in users.chunks(SET_AT_ONCE) {
            let mut under_way = tokio::task::JoinSet::new();
            for user in some {
                let (user, quotas) = (user.clone(), self.quotas.clone());
                under_way.spawn(async move {
                    match limit {
                        Some(limit) => quotas.limit(&user, limit).await,
                        None => quotas.lift(&user).await,
                    }
                });
            }
            while let Some(outcome) = under_way.join_next().await {
                outcome.map_err(|e| Error::Setup(format!("setting a limit ended: {e}")))??;
            }
        }
        Ok(())
    }

    fn loads(&self, plan: &Plan) -> Vec<Load<'_>> {
        plan.limited.iter().chain(std::iter::once(&plan.free)).map(|part| self.load(part)).collect()
    }

    fn load(&self, part: &Part) -> Load<'_> {
        let connections = part.connections;
        let (depth, pace) = match part.demand {
            Demand::Closed { threads } => (threads / connections, Pace::Closed),
            Demand::Open { per_second, outstanding } => {
                (outstanding / connections, Pace::Open(Rate::per_second(per_second)))
            }
        };
        let (keys, does, batch) = (Keys::zipfian(), part.does, part.batch);
        let target = match part.batch {
            true => Arc::new(self.target.with_priority(BATCH_PRIORITY)),
            false => self.target.clone(),
        };
        let make: MakeOp<'static> = Box::new(move |seed| match does {
            Does::Get => Box::new(Patient::new(Get::new(target.clone(), keys.clone(), seed))),
            Does::Multi => Box::new(Patient::new(MultiGet::new(target.clone(), keys.clone(), seed))),
            Does::Scan if batch => {
                Box::new(Patient::new(ShortScan::new(target.clone(), keys.clone(), SCAN_ROWS, seed).unread()))
            }
            Does::Scan => Box::new(Patient::new(ShortScan::new(target.clone(), keys.clone(), SCAN_ROWS, seed))),
            Does::Sift => Box::new(Patient::new(Scan::new(target.clone(), Passing::NoValue, SIFTED_ROWS, seed))),
        });
        let (address, user) = (self.target.address, part.user.to_owned());
        Load { address, user, connections, depth, pace, stands_back: part.batch, make }
    }

    fn warmup(&self, first: bool) -> Duration {
        Duration::from_secs_f64(self.options.warmup) * if first { FIRST } else { 1 }
    }

    async fn drive(&self, loads: &[Load<'_>], first: bool, rest: bool) -> Result<Outcome, Error> {
        let timing = self.timing(self.warmup(first), Duration::from_secs_f64(self.options.seconds), rest);
        drive(loads, timing, self.server.process).await
    }

    fn timing(&self, warmup: Duration, length: Duration, rest: bool) -> Timing {
        let Throttling { client_threads, cores, .. } = self.options;
        Timing {
            warmup,
            length: Some(length),
            client_threads: *client_threads as usize,
            polls: cores.is_some(),
            rest: rest.then_some(*cores),
        }
    }

    fn step(&self, plan: &Plan) {
        let limit = plan
            .limit
            .map_or_else(|| "no limit".to_owned(), |limit| format!("limit {} {}", limit.per_second, limit.unit.name()));
        self.progress.step(&format!("{}: {}, {limit}", self.name, plan.experiment.name()));
    }
}

/// A rate whose operations take about such a share of the processor, after they took so much of it. An operation takes less the more
/// there are, so that it comes nearer from both sides and not beyond.
fn nearer(rate: f64, share: f64, taken: f64) -> f64 {
    (rate * share / taken.max(share / 10.0)).max(1.0)
}

/// When the limited user, whose load is the first, had a new rate.
fn followed(set: &Set, outcome: &Outcome) -> Change {
    let at = set.done.saturating_duration_since(outcome.began);
    let from = (at.as_nanos() / BIN.as_nanos()) as usize;
    let wanted = set.to as f64;
    let bin = outcome.loads[0].timeline.settled(from, wanted, wanted * FOLLOWS, |tally| tally.operations);
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    Change {
        from: set.from,
        to: set.to,
        at_s: at.as_secs_f64(),
        set_in_ms: ms(set.done - set.asked),
        followed_after_ms: bin.map(|bin| ms((BIN * bin as u32).saturating_sub(at))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_the_processor_is_come_near_from_both_sides() {
        // All of it from 140,000 on; fewer take more each.
        let taken = |rate: f64| (rate / 140_000.0).powf(0.8).min(1.0);
        for (busy, share) in [(400_000.0, 0.7), (200_000.0, 0.9), (100_000.0, 0.1)] {
            let mut rate = share * busy;
            for _ in 1..plan::LOOKS_FOR_SHARE {
                rate = nearer(rate, share, taken(rate));
            }
            assert!((taken(rate) - share).abs() < 0.03, "{busy} {share}: {rate} {}", taken(rate));
        }
        // It has to be some rate even where nothing was told.
        assert_eq!((nearer(100.0, 0.5, 0.0), nearer(0.0, 0.7, 1.0)), (1000.0, 1.0));
    }
}
