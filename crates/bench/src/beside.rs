//! [`Beside`]: Gets alone and while the server has other work, by turns.

use crate::drive::Outcome;
use crate::results::Numbers;
use crate::rounds::{Compared, middle};
use crate::tenths;
use clap::ValueEnum;
use hdrhistogram::Histogram;
use serde::Serialize;

/// Other work that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Other {
    /// A connection, or several, scan the whole table again and again; no row is returned
    Scan,
    /// The same with every row returned; the client counts their bytes, and does not look at them
    Export,
    /// A major compaction of the table
    Compaction,
}

/// Gets by so many threads, alone and while the server has other work.
#[derive(Debug, Clone, Serialize)]
pub struct Beside {
    pub threads: usize,
    /// Of the round that is the middle one by the growth of p99.
    pub alone: Numbers,
    pub work: Work,
    pub beside: Numbers,
    /// Where there was more than one round.
    pub in_turns: Option<InTurns>,
}

/// What a server did beside Gets.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    Scan {
        at_once: usize,
        /// Whether every row comes back, or none.
        returns: bool,
        /// All together.
        rows_per_s: f64,
    },
    /// Whether it was still under way at the end.
    Compaction { outlasted: bool },
}

/// All rounds together.
#[derive(Debug, Clone, Serialize)]
pub struct InTurns {
    pub rounds: usize,
    pub p50: Compared,
    pub p99: Compared,
    /// The p99 of each tenth of a second by itself, of which the middle one: without the machine's pauses.
    pub p99_of_tenths: Option<Compared>,
}

/// One measurement of Gets.
pub struct Seen {
    pub numbers: Numbers,
    latencies_ns: Histogram<u64>,
    p99_of_tenths: Vec<u32>,
}

pub struct Round {
    pub alone: Seen,
    pub work: Work,
    pub beside: Seen,
}

impl Seen {
    /// Of the first load.
    pub fn of(outcome: Outcome) -> Option<Seen> {
        let numbers = Numbers::of(&outcome, 0);
        let recorded = outcome.loads.into_iter().next()?;
        let p99_of_tenths = recorded.tenths.quantiles(0.99);
        Some(Seen { numbers, latencies_ns: recorded.latencies_ns, p99_of_tenths })
    }
}

impl Round {
    fn growth(&self) -> Option<f64> {
        growth_percent(&self.alone.numbers, &self.beside.numbers)
    }
}

impl Beside {
    /// None: there is no round.
    pub fn of(threads: usize, rounds: Vec<Round>) -> Option<Beside> {
        let in_turns = InTurns::of(&rounds);
        let Round { alone, work, beside } = middle(rounds, |round| round.growth().unwrap_or(f64::MAX))?;
        Some(Beside { threads, alone: alone.numbers, work, beside: beside.numbers, in_turns })
    }

    /// By how much the p99 of the Gets grew, in percent; none if there was not a Get.
    pub fn growth_percent(&self) -> Option<f64> {
        growth_percent(&self.alone, &self.beside)
    }
}

fn growth_percent(alone: &Numbers, beside: &Numbers) -> Option<f64> {
    (alone.p99_us > 0.0).then(|| (beside.p99_us / alone.p99_us - 1.0) * 100.0)
}

impl InTurns {
    fn of(rounds: &[Round]) -> Option<InTurns> {
        let compared = |us: &dyn Fn(&[&Seen]) -> Option<f64>| {
            Compared::of(rounds, |rounds| {
                let alone: Vec<&Seen> = rounds.iter().map(|round| &round.alone).collect();
                let beside: Vec<&Seen> = rounds.iter().map(|round| &round.beside).collect();
                Some((us(&alone)?, us(&beside)?))
            })
        };
        let (p50, p99) = (compared(&|seen| quantile(seen, 0.5))?, compared(&|seen| quantile(seen, 0.99))?);
        Some(InTurns { rounds: rounds.len(), p50, p99, p99_of_tenths: compared(&middle_tenth) })
    }
}

/// A quantile of all latencies of some measurements, in µs.
fn quantile(seen: &[&Seen], quantile: f64) -> Option<f64> {
    let (first, rest) = seen.split_first()?;
    let mut all = first.latencies_ns.clone();
    for more in rest {
        all.add(&more.latencies_ns).ok()?;
    }
    Some(all.value_at_quantile(quantile) as f64 / 1e3)
}

fn middle_tenth(seen: &[&Seen]) -> Option<f64> {
    let all = seen.iter().flat_map(|seen| &seen.p99_of_tenths).copied().collect();
    Some(f64::from(tenths::middle(all)?) / 1e3)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::results::tests::numbers;

    fn seen(p99_us: f64, tenths_us: &[u32]) -> Seen {
        let mut latencies_ns = Histogram::new_with_bounds(1_000, 1_000_000_000, 3).unwrap();
        latencies_ns.record_n((p99_us * 1e3) as u64, 100).unwrap();
        let p99_of_tenths = tenths_us.iter().map(|us| us * 1000).collect();
        Seen { numbers: Numbers { p99_us, ..numbers(50_000.0, None) }, latencies_ns, p99_of_tenths }
    }

    fn round(alone_us: f64, beside_us: f64, tenths_us: [&[u32]; 2]) -> Round {
        let work = Work::Scan { at_once: 1, returns: false, rows_per_s: 1e6 };
        Round { alone: seen(alone_us, tenths_us[0]), work, beside: seen(beside_us, tenths_us[1]) }
    }

    pub fn beside() -> Beside {
        let rounds = vec![round(99.0, 120.0, [&[90], &[99]]), round(99.0, 130.0, [&[90], &[99]])];
        Beside::of(5, rounds).unwrap()
    }

    #[test]
    fn rounds_count_together_and_the_middle_one_is_shown() {
        let rounds = || {
            vec![
                round(100.0, 300.0, [&[80, 90], &[100, 700]]),
                round(100.0, 110.0, [&[90, 900], &[100]]),
                round(100.0, 120.0, [&[90], &[100]]),
            ]
        };
        let of = Beside::of(10, rounds()).unwrap();
        assert_eq!((of.threads, of.beside.p99_us, of.growth_percent().map(f64::round)), (10, 120.0, Some(20.0)));
        let InTurns { rounds: count, p50, p99, p99_of_tenths } = of.in_turns.unwrap();
        let near = |seen: f64, wanted: f64| (seen / wanted - 1.0).abs() < 0.01;
        // A third of all is slow; in the middle tenth of a second nothing is.
        assert_eq!(count, 3);
        assert!(near(p50.of_alone.value, 1.2) && near(p99.of_alone.value, 3.0), "{p50:?} {p99:?}");
        assert!(
            p99_of_tenths.is_some_and(|of| near(of.alone_us, 90.0) && near(of.beside_us, 100.0)),
            "{p99_of_tenths:?}"
        );
        let one = Beside::of(10, rounds().into_iter().take(1).collect()).unwrap();
        assert!(one.in_turns.is_none());
        assert!(Beside::of(10, Vec::new()).is_none());
    }
}
