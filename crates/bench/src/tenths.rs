//! [`Tenths`]: latencies of each tenth of a second by itself. A machine's pause is in one or two of them: what the middle one
//! says is what is without such pauses, whereas in a whole run one that meets a hundredth of all operations makes its p99.

use crate::timeline::BIN;
use std::time::Duration;

/// No more are kept: 32 MiB.
const MOST: usize = 8 << 20;

/// In the order in which the operations ended.
#[derive(Debug, Clone, Default)]
pub struct Tenths {
    /// Longer ones count as four seconds.
    latencies_ns: Vec<u32>,
    /// How many there were when a tenth was over.
    ends: Vec<usize>,
}

impl Tenths {
    /// An operation ended so long after the begin.
    pub fn add(&mut self, at: Duration, latency: Duration) {
        if self.latencies_ns.len() >= MOST {
            return;
        }
        let tenth = (at.as_nanos() / BIN.as_nanos()) as usize;
        if tenth > self.ends.len() {
            self.ends.resize(tenth, self.latencies_ns.len());
        }
        self.latencies_ns.push(u32::try_from(latency.as_nanos()).unwrap_or(u32::MAX));
    }

    /// The quantile of each tenth that is over and had operations, in ns.
    pub fn quantiles(&self, quantile: f64) -> Vec<u32> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let tenths = starts.zip(&self.ends).filter_map(|(start, end)| self.latencies_ns.get(start..*end));
        let of = |tenth: &[u32]| {
            let mut tenth = tenth.to_vec();
            let rank = (tenth.len() as f64 * quantile).ceil().max(1.0) as usize;
            *tenth.select_nth_unstable(rank - 1).1
        };
        tenths.filter(|tenth| !tenth.is_empty()).map(of).collect()
    }
}

/// The middle one.
pub fn middle(mut all: Vec<u32>) -> Option<u32> {
    if all.is_empty() {
        return None;
    }
    let middle = all.len() / 2;
    Some(*all.select_nth_unstable(middle).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tenth_has_its_quantile() {
        let mut tenths = Tenths::default();
        (1..=100).for_each(|us| tenths.add(Duration::ZERO, Duration::from_micros(us)));
        // None in the second; a pause in the third, whose end is not seen.
        (1..=100).for_each(|ms| tenths.add(BIN * 2, Duration::from_millis(ms)));
        assert_eq!(tenths.quantiles(0.99), [99_000]);
        tenths.add(BIN * 3, Duration::from_secs(60));
        assert_eq!(tenths.quantiles(0.99), [99_000, 99_000_000]);
        assert_eq!(tenths.quantiles(0.5), [50_000, 50_000_000]);
        assert_eq!((middle(vec![3, 1, 2]), middle(Vec::new())), (Some(2), None));
    }
}
