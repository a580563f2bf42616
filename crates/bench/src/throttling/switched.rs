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
use crate::rounds::Rounds;
use serde::Serialize;

/// CPU time of a Get on a server with hbase.quota.enabled and no limit, and on one without.
#[derive(Debug, Clone, Serialize)]
pub struct Switched {
    pub on_us: f64,
    pub off_us: f64,
    /// On ÷ off.
    pub rounds: Rounds,
}

impl Switched {
    /// Of pairs of µs: with quotas and without. None: there are no two rounds, or the CPU time is not known.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Switched> {
        let rounds = Rounds::of(pairs.iter().copied())?;
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / pairs.len() as f64;
        let (on, off) = (|pair: &(f64, f64)| pair.0, |pair: &(f64, f64)| pair.1);
        let (on_us, off_us) = (mean(&mut pairs.iter().map(on)), mean(&mut pairs.iter().map(off)));
        Some(Switched { on_us, off_us, rounds })
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
