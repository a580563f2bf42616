//! [`Switched`]: what quotas cost while nobody has a limit: a server with them beside one without, measured by turns.
//!
//! ```text
//! round 1   on off    round 2   off on    round 3   on off …      CPU of the server for each operation; on ÷ off of each round
//! ```
//! The difference looked for is smaller than what a machine's speed changes by from one second to the next, so both sides of
//! a round are close together, neither is always the first, and the report tells how far rounds differ.

use super::measure::Measure;
use super::plan;
use crate::Error;
use serde::Serialize;

/// CPU time of a Get on a server with hbase.quota.enabled and no limit, and on one without.
#[derive(Debug, Clone, Serialize)]
pub struct Switched {
    pub on_us: f64,
    pub off_us: f64,
    /// On ÷ off of each round.
    pub rounds: Vec<f64>,
    /// Mean of the rounds, and how far it is expected to be off.
    pub of_off: f64,
    pub standard_error: f64,
}

impl Switched {
    /// Of pairs of µs: with quotas and without. None: there are no two rounds, or the CPU time is not known.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Switched> {
        let count = pairs.len() as f64;
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / count;
        let rounds: Vec<f64> = pairs.iter().map(|(on, off)| on / off).collect();
        let of_off = mean(&mut rounds.iter().copied());
        let variance = rounds.iter().map(|round| (round - of_off).powi(2)).sum::<f64>() / (count - 1.0);
        (pairs.len() > 1 && of_off.is_finite()).then(|| Switched {
            on_us: mean(&mut pairs.iter().map(|(on, _)| *on)),
            off_us: mean(&mut pairs.iter().map(|(_, off)| *off)),
            of_off,
            standard_error: (variance / count).sqrt(),
            rounds,
        })
    }

    /// The least and the most of a round.
    pub fn spread(&self) -> (f64, f64) {
        self.rounds.iter().fold((f64::MAX, 0.0), |(least, most), round| (least.min(*round), most.max(*round)))
    }
}

/// Gets on each server in turn.
pub async fn switched(on: &Measure<'_>, off: &Measure<'_>) -> Result<Option<Switched>, Error> {
    let plan = plan::busy(on.options);
    let (mut pairs, sides) = (Vec::new(), [on, off]);
    for round in 0..=on.options.rounds as usize {
        let mut took = [None; 2];
        for turn in 0..2 {
            let side = (round + turn) % 2;
            took[side] = sides[side].cpu_of(&plan).await?;
        }
        // The first one warms both up.
        if let ([Some(on), Some(off)], true) = (took, round > 0) {
            pairs.push((on, off));
        }
    }
    Ok(Switched::of(&pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_each_with_itself() {
        // The machine is half as fast in the second round: that is not the quotas' doing.
        let seen = Switched::of(&[(10.1, 10.0), (20.2, 20.0), (10.3, 10.0)]).unwrap();
        assert!((seen.of_off - 1.016_67).abs() < 1e-4, "{seen:?}");
        assert!((seen.standard_error - 0.006_67).abs() < 1e-4, "{seen:?}");
        let (least, most) = seen.spread();
        assert!((least - 1.01).abs() < 1e-9 && (most - 1.03).abs() < 1e-9);
        assert!(Switched::of(&[]).is_none() && Switched::of(&[(1.0, 1.0)]).is_none());
        assert!(Switched::of(&[(1.0, 0.0), (1.0, 1.0)]).is_none());
    }
}
