//! [`Axis`]: from where to where a plot goes.

/// The axis: what is at its bottom and top, and where the lines across are.
#[derive(Debug, PartialEq)]
pub struct Axis {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<f64>,
}

impl Axis {
    /// From 0, in steps of 1, 2 or 5 times a power of ten.
    pub fn linear(most: f64) -> Axis {
        let most = if most > 0.0 { most } else { 1.0 };
        let power = 10f64.powf((most / 4.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|s| most / s <= 5.0).unwrap_or(most);
        let count = (most / step).ceil() as usize;
        Axis { low: 0.0, high: step * count as f64, ticks: (0..=count).map(|i| step * i as f64).collect() }
    }

    /// Whole powers of ten around the values; one power where there are none.
    pub fn logarithmic(least: f64, most: f64) -> Axis {
        let (least, most) = if least > 0.0 && least <= most { (least, most) } else { (1.0, 10.0) };
        let low = least.log10().floor() as i32;
        let high = (most.log10().ceil() as i32).max(low + 1);
        Axis { low: 10f64.powi(low), high: 10f64.powi(high), ticks: (low..=high).map(|p| 10f64.powi(p)).collect() }
    }

    /// From just below the least to just above the most, in steps as those from 0.
    pub fn between(least: f64, most: f64) -> Axis {
        if least >= most {
            return Axis::between(least - 0.5, least.max(most) + 0.5);
        }
        let ticks = Axis::linear(most - least).ticks;
        let step = ticks[1] - ticks[0];
        let (from, to) = ((least / step).floor() as i64, (most / step).ceil() as i64);
        let at = |i: i64| step * i as f64;
        Axis { low: at(from), high: at(to), ticks: (from..=to).map(at).collect() }
    }

    /// How high a value is, from 0 to 1.
    pub fn share(&self, value: f64, logarithmic: bool) -> f64 {
        let share = if logarithmic {
            (value.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_few_round_ticks() {
        for (most, want) in [(4.2, 5.0), (10.0, 10.0), (97_000.0, 100_000.0), (0.0, 1.0), (2.1e6, 2.5e6)] {
            let axis = Axis::linear(most);
            assert!((axis.high - want).abs() < 1e-6 * want, "{most}: {axis:?}");
            assert!((3..=6).contains(&axis.ticks.len()), "{most}: {axis:?}");
        }
        let axis = Axis::logarithmic(30.0, 4_000.0);
        assert_eq!(axis.ticks, [10.0, 100.0, 1_000.0, 10_000.0]);
        assert!((axis.share(100.0, true) - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(Axis::logarithmic(f64::MAX, 0.0).ticks, [1.0, 10.0], "nothing to show");
        assert_eq!(Axis::logarithmic(100.0, 100.0).ticks, [100.0, 1_000.0]);
    }

    #[test]
    fn an_axis_need_not_begin_at_zero() {
        let axis = Axis::between(0.93, 1.04);
        assert!(axis.low <= 0.93 && axis.high >= 1.04 && axis.high - axis.low < 0.16, "{axis:?}");
        assert!(axis.ticks.iter().any(|tick| (tick - 1.0).abs() < 1e-9), "{axis:?}");
        assert!((axis.share(axis.low, false), axis.share(axis.high, false)) == (0.0, 1.0));
        let same = Axis::between(1.0, 1.0);
        assert!(same.low < 1.0 && same.high > 1.0, "{same:?}");
    }
}
