//! [`InTurns`]: `free` beside others and alone, measured by turns.

use super::options::Experiment;
use super::results::Run;
use crate::rounds::{Compared, Estimate};
use crate::tenths::middle;
use serde::Serialize;

/// `free` beside others, in shares of its own alone, or beside the same user when that is idle (`isolation`): all rounds together,
/// for the one per cent of which a p99 tells is in single rounds what the machine's own pauses make it.
#[derive(Debug, Clone, Serialize)]
pub struct InTurns {
    pub experiment: Experiment,
    pub rounds: usize,
    pub p50: Compared,
    pub p99: Compared,
    /// The p99 of each tenth of a second by itself, of which the middle one: without the machine's pauses.
    pub p99_of_tenths: Option<Compared>,
    /// Quantiles around that one, which pauses of the machine decide if they meet about one Get in a hundred.
    pub around: Vec<Around>,
    /// What `batch` got of what was left, where there was one.
    pub of_left: Option<Estimate>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct Around {
    pub quantile: f64,
    #[serde(flatten)]
    pub compared: Compared,
}

const AROUND: [f64; 4] = [0.9, 0.95, 0.98, 0.999];

impl InTurns {
    /// Each round's runs: what it is compared with first, `free` beside the other last.
    pub fn of(experiment: Experiment, rounds: &[Vec<Run>]) -> Option<InTurns> {
        let of_left = Estimate::of(rounds, of_left);
        let of = |quantile| compared(rounds, |runs| latency(runs, quantile));
        let (p50, p99) = (of(0.5)?, of(0.99)?);
        let p99_of_tenths = compared(rounds, middle_tenth);
        let around = AROUND.map(|quantile| Some(Around { quantile, compared: of(quantile)? }));
        let around = around.into_iter().collect::<Option<Vec<Around>>>()?;
        Some(InTurns { experiment, rounds: rounds.len(), p50, p99, p99_of_tenths, around, of_left })
    }
}

/// What some runs of one side say, in µs, by both sides.
fn compared(rounds: &[Vec<Run>], us: impl Fn(&[&Run]) -> Option<f64>) -> Option<Compared> {
    Compared::of(rounds, |rounds| {
        let alone: Vec<&Run> = rounds.iter().filter_map(|round| round.first()).collect();
        let beside: Vec<&Run> = rounds.iter().filter_map(|round| round.last()).collect();
        Some((us(&alone)?, us(&beside)?))
    })
}

/// A quantile of all latencies of `free` in some runs.
fn latency(runs: &[&Run], quantile: f64) -> Option<f64> {
    let (first, rest) = runs.split_first()?;
    let mut all = first.free.latencies.clone();
    for run in rest {
        all.add(&run.free.latencies).ok()?;
    }
    Some(all.value_at_quantile(quantile) as f64 / 1e3)
}

fn middle_tenth(runs: &[&Run]) -> Option<f64> {
    let all = runs.iter().flat_map(|run| &run.free.p99_of_tenths).copied().collect();
    Some(f64::from(middle(all)?) / 1e3)
}

/// What `batch` gets beside `free`, of what that leaves: rounds of [`super::plan::priority`].
fn of_left(rounds: &[&Vec<Run>]) -> Option<f64> {
    let (mut got, mut alone, mut left) = (0.0, 0.0, 0.0);
    for round in rounds {
        let [_, free, batch, both] = round.as_slice() else { return None };
        got += both.limited.as_ref()?.operations_per_s;
        alone += batch.operations_per_s;
        left += free.rest?;
    }
    let count = rounds.len() as f64;
    Some((got / count) / (alone / count * left / count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::throttling::options::tests::options;
    use crate::throttling::plan;
    use crate::throttling::results::tests::run_of;
    use std::time::Duration;

    #[test]
    fn rounds_count_together() {
        let plans = plan::priority(&options(&[]));
        let round = |latencies_ms: [u64; 4]| {
            let runs = plans.iter().zip(latencies_ms);
            runs.map(|(plan, ms)| run_of(plan, Duration::from_millis(ms), 100)).collect::<Vec<_>>()
        };
        let seen = [round([1, 1, 1, 2]), round([1, 1, 1, 2]), round([9, 1, 1, 18])];
        let InTurns { rounds, p50, p99, p99_of_tenths, of_left, .. } =
            InTurns::of(Experiment::Priority, &seen).unwrap();
        assert_eq!(rounds, 3);
        let near = |seen: f64, wanted: f64| (seen / wanted - 1.0).abs() < 0.01;
        assert!(near(p50.alone_us, 1000.0) && near(p50.beside_us, 2000.0), "{p50:?}");
        // A third of all is more than one in a hundred, though most rounds have none of it.
        assert!(near(p99.alone_us, 9000.0) && near(p99.beside_us, 18_000.0), "{p99:?}");
        // But in most tenths of a second there is none of it.
        assert!(
            p99_of_tenths.is_some_and(|p99| near(p99.alone_us, 1000.0) && near(p99.beside_us, 2000.0)),
            "{p99_of_tenths:?}"
        );
        assert!(near(p99.of_alone.value, 2.0) && near(p99.more_us.value, 9000.0), "{p99:?}");
        // `batch` has 100 a second beside `free`, and 2,000 alone, of which 0.8 of the cores are 1,600.
        assert!(of_left.is_some_and(|left| near(left.value, 0.0625) && left.standard_error < 1e-9), "{of_left:?}");
        assert!(InTurns::of(Experiment::Priority, &seen[..1]).is_none());
    }
}
