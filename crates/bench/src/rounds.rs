//! [`Rounds`], [`Estimate`], [`Compared`]: what is smaller than a machine's drift, measured by turns.

use serde::Serialize;

/// One side ÷ the other, round by round: both are close together in time, and neither is always the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    pub ratios: Vec<f64>,
    /// The geometric one: of the ratios the other way round it is the other way round, too. (The arithmetic one of 2 and 1/2 is 1.25.)
    pub mean: f64,
    /// How far the mean is expected to be off.
    pub standard_error: f64,
}

impl Rounds {
    /// None: there are no two rounds, or they tell nothing.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Rounds> {
        let ratios: Vec<f64> = pairs.into_iter().map(|(one, other)| one / other).collect();
        let count = ratios.len() as f64;
        let log = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / count;
        let variance = ratios.iter().map(|ratio| (ratio.ln() - log).powi(2)).sum::<f64>() / (count - 1.0);
        let mean = log.exp();
        let standard_error = mean * (variance / count).sqrt();
        (ratios.len() > 1 && standard_error.is_finite()).then_some(Rounds { ratios, mean, standard_error })
    }

    /// The least and the most of a round.
    pub fn spread(&self) -> (f64, f64) {
        self.ratios.iter().fold((f64::MAX, 0.0), |(least, most), ratio| (least.min(*ratio), most.max(*ratio)))
    }
}

/// What all rounds tell together, and how far it is expected to be off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub standard_error: f64,
}

impl Estimate {
    /// By the jackknife: how much it depends on each round is seen where that is left out. None: there are no two rounds, or they tell
    /// nothing.
    pub fn of<T>(rounds: &[T], estimate: impl Fn(&[&T]) -> Option<f64>) -> Option<Estimate> {
        let all: Vec<&T> = rounds.iter().collect();
        let value = estimate(&all)?;
        let without = |nth: usize| [&all[..nth], &all[nth + 1..]].concat();
        let others: Vec<f64> = (0..all.len()).filter_map(|nth| estimate(&without(nth))).collect();
        let count = others.len() as f64;
        let mean = others.iter().sum::<f64>() / count;
        let spread = others.iter().map(|other| (other - mean).powi(2)).sum::<f64>();
        let standard_error = (spread * (count - 1.0) / count).sqrt();
        let told = others.len() == all.len() && all.len() > 1 && standard_error.is_finite();
        told.then_some(Estimate { value, standard_error })
    }
}

/// Latencies beside others and alone, all rounds together.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Compared {
    pub alone_us: f64,
    pub beside_us: f64,
    pub of_alone: Estimate,
    pub more_us: Estimate,
}

impl Compared {
    /// `us`: what some rounds say together, in µs, alone and beside others.
    pub fn of<T>(rounds: &[T], us: impl Fn(&[&T]) -> Option<(f64, f64)>) -> Option<Compared> {
        let (alone_us, beside_us) = us(&rounds.iter().collect::<Vec<_>>())?;
        let of_alone = Estimate::of(rounds, |some| us(some).map(|(alone, beside)| beside / alone))?;
        let more_us = Estimate::of(rounds, |some| us(some).map(|(alone, beside)| beside - alone))?;
        Some(Compared { alone_us, beside_us, of_alone, more_us })
    }
}

/// The one in the middle; of an even number the lower of two.
pub fn middle<T>(mut rounds: Vec<T>, by: impl Fn(&T) -> f64) -> Option<T> {
    rounds.sort_by(|one, other| by(one).total_cmp(&by(other)));
    let at = rounds.len().checked_sub(1)? / 2;
    Some(rounds.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_each_with_itself() {
        // The machine is half as fast in the second round: that is nobody's doing.
        let seen = Rounds::of([(10.1, 10.0), (20.2, 20.0), (10.3, 10.0)]).unwrap();
        assert!((seen.mean - 1.016_62).abs() < 1e-4, "{seen:?}");
        assert!((seen.standard_error - 0.006_63).abs() < 1e-4, "{seen:?}");
        let (least, most) = seen.spread();
        assert!((least - 1.01).abs() < 1e-9 && (most - 1.03).abs() < 1e-9);
        // Once twice as much, once half as much: that is nothing.
        let seen = Rounds::of([(2.0, 1.0), (1.0, 2.0)]).unwrap();
        assert!((seen.mean - 1.0).abs() < 1e-9 && (seen.standard_error - 2_f64.ln()).abs() < 1e-9, "{seen:?}");
        assert!(Rounds::of([]).is_none() && Rounds::of([(1.0, 1.0)]).is_none());
        assert!(Rounds::of([(1.0, 0.0), (1.0, 1.0)]).is_none() && Rounds::of([(0.0, 1.0), (1.0, 1.0)]).is_none());
    }

    #[test]
    fn the_jackknife_of_a_mean_is_its_standard_error() {
        let mean = |some: &[&f64]| (!some.is_empty()).then(|| some.iter().copied().sum::<f64>() / some.len() as f64);
        let seen = Estimate::of(&[1.0, 2.0, 3.0, 6.0], mean).unwrap();
        // The variance of a sample, (4 + 1 + 0 + 9) / 3, by its size.
        assert_eq!(seen.value, 3.0);
        assert!((seen.standard_error - (14.0_f64 / 3.0 / 4.0).sqrt()).abs() < 1e-9, "{seen:?}");
        assert_eq!((Estimate::of(&[], mean), Estimate::of(&[1.0], mean)), (None, None));
        assert_eq!(Estimate::of(&[f64::NAN, 1.0], mean), None);
    }

    #[test]
    fn the_middle_round_counts() {
        assert_eq!(middle(vec![3.0, 1.0, 2.0], |n| *n), Some(2.0));
        assert_eq!(middle(vec![4.0, 1.0, 2.0, 3.0], |n| *n), Some(2.0));
        assert_eq!(middle(Vec::new(), |n: &f64| *n), None);
    }
}
