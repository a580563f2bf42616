//! [`OfPeak`]: what most client threads keep of the best throughput.

use crate::rounds::Rounds;
use crate::workload::Workload;
use serde::Serialize;

/// Each round compares the most threads with the number that is best in all other rounds. (The best of some
/// measurements is best by luck, too: of six that scatter by 3 per cent around the same value it is some 4 per cent above that.)
#[derive(Debug, Clone, Serialize)]
pub struct OfPeak {
    pub workload: Workload,
    pub threads: usize,
    /// The best by all rounds.
    pub best_threads: usize,
    pub kept: Rounds,
}

impl OfPeak {
    /// `rows_per_s`: for each of `threads`, round by round. None: there are no two rounds, or no two numbers of threads.
    pub fn of(workload: Workload, threads: &[usize], rows_per_s: &[Vec<f64>]) -> Option<OfPeak> {
        let most = (0..threads.len()).max_by_key(|nth| threads[*nth])?;
        let rounds = rows_per_s.iter().map(Vec::len).min()?;
        if rounds < 2 || threads.len() < 2 {
            return None;
        }
        let best = |without: Option<usize>| {
            let sum = |nth: usize| {
                let others = (0..rounds).filter(|round| Some(*round) != without);
                others.map(|round| rows_per_s[nth][round].ln()).sum::<f64>()
            };
            (0..threads.len()).max_by(|one, other| sum(*one).total_cmp(&sum(*other)))
        };
        let pair = |round| Some((rows_per_s[most][round], rows_per_s[best(Some(round))?][round]));
        let kept = Rounds::of((0..rounds).map(pair).collect::<Option<Vec<_>>>()?)?;
        Some(OfPeak { workload, threads: threads[most], best_threads: threads[best(None)?], kept })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(threads: &[usize], rows_per_s: &[Vec<f64>]) -> Option<OfPeak> {
        OfPeak::of(Workload::Get, threads, rows_per_s)
    }

    #[test]
    fn what_is_kept_is_of_the_number_that_other_rounds_find_best() {
        // Twenty are best but for one lucky round of ten.
        let seen = of(&[75, 10, 20], &[vec![90.0, 95.0, 90.0], vec![80.0, 80.0, 150.0], vec![100.0; 3]]).unwrap();
        assert_eq!((seen.threads, seen.best_threads), (75, 20));
        // In the first two rounds the lucky one is among the others.
        let wanted = [90.0 / 80.0, 95.0 / 80.0, 90.0 / 100.0];
        assert!(seen.kept.ratios.iter().zip(wanted).all(|(one, other)| (one - other).abs() < 1e-9), "{seen:?}");
        let seen = of(&[10, 75], &[vec![50.0, 50.0], vec![100.0, 110.0]]).unwrap();
        assert_eq!((seen.best_threads, seen.kept.mean), (75, 1.0));
    }

    #[test]
    fn one_round_or_one_number_of_threads_tells_nothing() {
        assert!(of(&[1, 75], &[vec![1.0], vec![1.0]]).is_none());
        assert!(of(&[75], &[vec![1.0, 1.0]]).is_none());
        assert!(of(&[], &[]).is_none());
    }

    #[test]
    fn what_scatters_alike_keeps_all_in_the_mean() {
        // A generator of numbers that repeat: no two of them are in step.
        let mut state = 1_u64;
        let mut scatter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1.0 + 0.1 * ((state >> 33) as f64 / (1_u64 << 31) as f64 - 0.5)
        };
        let rows: Vec<Vec<f64>> = (0..6).map(|_| (0..200).map(|_| scatter()).collect()).collect();
        let seen = of(&[1, 5, 10, 25, 50, 75], &rows).unwrap();
        assert!((seen.kept.mean - 1.0).abs() < 4.0 * seen.kept.standard_error.max(0.001), "{seen:?}");
    }
}
