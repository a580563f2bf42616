//! [`Rounds`]: what is smaller than a machine's drift, measured by turns.

use serde::Serialize;

/// One side ÷ the other, round by round: both are close together in time, and neither is always the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    pub ratios: Vec<f64>,
    pub mean: f64,
    /// How far the mean is expected to be off.
    pub standard_error: f64,
}

impl Rounds {
    /// None: there are no two rounds, or they tell nothing.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Option<Rounds> {
        let ratios: Vec<f64> = pairs.into_iter().map(|(one, other)| one / other).collect();
        let count = ratios.len() as f64;
        let mean = ratios.iter().sum::<f64>() / count;
        let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let standard_error = (variance / count).sqrt();
        (ratios.len() > 1 && mean.is_finite()).then_some(Rounds { ratios, mean, standard_error })
    }

    /// The least and the most of a round.
    pub fn spread(&self) -> (f64, f64) {
        self.ratios.iter().fold((f64::MAX, 0.0), |(least, most), ratio| (least.min(*ratio), most.max(*ratio)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_each_with_itself() {
        // The machine is half as fast in the second round: that is nobody's doing.
        let seen = Rounds::of([(10.1, 10.0), (20.2, 20.0), (10.3, 10.0)]).unwrap();
        assert!((seen.mean - 1.016_67).abs() < 1e-4, "{seen:?}");
        assert!((seen.standard_error - 0.006_67).abs() < 1e-4, "{seen:?}");
        let (least, most) = seen.spread();
        assert!((least - 1.01).abs() < 1e-9 && (most - 1.03).abs() < 1e-9);
        assert!(Rounds::of([]).is_none() && Rounds::of([(1.0, 1.0)]).is_none());
        assert!(Rounds::of([(1.0, 0.0), (1.0, 1.0)]).is_none());
    }
}
