//! [`ByTurns`]: servers that run at the same time, measured by turns.

use crate::results::Numbers;
use crate::rounds::Rounds;
use crate::workload::Workload;
use serde::Serialize;

/// What the first server does for a second of its CPU, ÷ what another does, round by round, all numbers of threads together.
#[derive(Debug, Clone, Serialize)]
pub struct ByTurns {
    pub workload: Workload,
    /// The other.
    pub server: String,
    pub rows_per_cpu_s: Rounds,
}

impl ByTurns {
    /// `first`, `other`: for each number of threads, round by round. None: a server's CPU is not known, or there are no two rounds.
    pub fn of(workload: Workload, server: &str, first: &[Vec<Numbers>], other: &[Vec<Numbers>]) -> Option<ByTurns> {
        let rounds = first.iter().chain(other).map(Vec::len).min()?;
        let pair = |round| {
            let rows_per_cpu_s = |of: &[Vec<Numbers>]| rows_per_cpu_s(of.iter().map(|numbers| &numbers[round]));
            rows_per_cpu_s(first).zip(rows_per_cpu_s(other))
        };
        let rows_per_cpu_s = Rounds::of((0..rounds).map(pair).collect::<Option<Vec<_>>>()?)?;
        Some(ByTurns { workload, server: server.to_owned(), rows_per_cpu_s })
    }
}

/// Of all these together; None: the server's CPU is not known.
pub fn rows_per_cpu_s<'a>(mut numbers: impl Iterator<Item = &'a Numbers>) -> Option<f64> {
    let (rows, cpu_us) = numbers.try_fold((0, 0.0), |(rows, cpu_us), n| {
        Some((rows + n.rows, cpu_us + n.server_cpu_us_per_row? * n.rows as f64))
    })?;
    (cpu_us > 0.0).then(|| rows as f64 * 1e6 / cpu_us)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::numbers;

    #[test]
    fn each_round_is_compared_with_itself_all_threads_together() {
        // In the second round the machine is half as fast. By one thread 100 rows at 1 µs, by two 300 at 3 µs: 400 rows in 1,000 µs.
        let first = [
            vec![numbers(100.0, Some(1.0)), numbers(50.0, Some(2.0))],
            vec![numbers(300.0, Some(3.0)), numbers(150.0, Some(6.0))],
        ];
        let other = [
            vec![numbers(10.0, Some(25.0)), numbers(10.0, Some(50.0))],
            vec![numbers(10.0, Some(25.0)), numbers(10.0, Some(50.0))],
        ];
        let seen = ByTurns::of(Workload::Get, "hbase", &first, &other).unwrap();
        assert!(seen.rows_per_cpu_s.ratios.iter().all(|ratio| (ratio - 10.0).abs() < 1e-9), "{seen:?}");
        assert_eq!((seen.server.as_str(), seen.rows_per_cpu_s.ratios.len()), ("hbase", 2));
    }

    #[test]
    fn without_cpu_or_rounds_nothing_is_compared() {
        let known = [vec![numbers(100.0, Some(1.0)); 2]];
        assert!(ByTurns::of(Workload::Get, "x", &known, &[vec![numbers(100.0, None); 2]]).is_none());
        assert!(ByTurns::of(Workload::Get, "x", &known, &[vec![numbers(100.0, Some(1.0))]]).is_none());
        assert!(ByTurns::of(Workload::Get, "x", &[], &[]).is_none());
    }
}
