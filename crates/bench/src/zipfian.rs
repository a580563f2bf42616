//! Which rows are read: each as often as the others, or by Zipf's law as in YCSB.
//!
//! ```text
//! rank      0, 1, 2, …       a rank r of n comes with the probability 1 / (r + 1)^0.99 / zeta(n)
//! row       FNV-1a(rank) mod rows        so that rows that are read often lie anywhere
//! ```
//! As YCSB's ScrambledZipfianGenerator does, ranks are drawn of ten thousand million, however few rows there are: their zeta is
//! known, and with it a draw costs one power. The draw is that of Gray et al., "Quickly generating billion-record synthetic
//! databases" (1994): exact for ranks 0 and 1, close to the law for the others.

use martite_env::{Random, SeededRandom};
use std::sync::Arc;

/// Of how many ranks is drawn.
pub const RANKS: u64 = 10_000_000_001;
pub const THETA: f64 = 0.99;
/// zeta(RANKS): the sum of 1 / i^THETA, as YCSB has it.
pub const ZETA: f64 = 26.469_028_201_783_02;

/// The distribution of an operation's rows.
#[derive(Debug, Clone)]
pub enum Keys {
    Uniform,
    Zipfian(Arc<Zipfian>),
}

impl Keys {
    /// Scrambled, with YCSB's constants.
    pub fn zipfian() -> Keys {
        Keys::Zipfian(Arc::new(Zipfian::new(RANKS, ZETA)))
    }

    /// One of `rows` rows.
    #[inline]
    pub fn row(&self, random: &SeededRandom, rows: u64) -> u64 {
        match self {
            Keys::Uniform => random.below(rows),
            Keys::Zipfian(ranks) => hash(ranks.rank(uniform(random.u64()))) % rows.max(1),
        }
    }
}

/// Ranks by Zipf's law.
#[derive(Debug, Clone)]
pub struct Zipfian {
    /// Ranks at first.
    first: f64,
    ranks: f64,
    zeta: f64,
    /// Below it, of what is drawn times zeta, is rank 1 (and below 1 rank 0).
    second: f64,
    alpha: f64,
    eta: f64,
}

impl Zipfian {
    /// `zeta`: the sum of 1 / i^THETA over i from 1 to `ranks`.
    pub fn new(ranks: u64, zeta: f64) -> Zipfian {
        let ranks = ranks as f64;
        let second = 1.0 + 0.5f64.powf(THETA);
        Zipfian { first: ranks, ranks, zeta, second, alpha: 1.0 / (1.0 - THETA), eta: eta(ranks, second, zeta) }
    }

    /// With the sum, whose time is proportional to the ranks.
    pub fn of(ranks: u64) -> Zipfian {
        Zipfian::new(ranks, terms(1, ranks))
    }

    /// There are more ranks now. As in YCSB, eta goes on with the number of ranks at first.
    pub fn grow(&mut self, ranks: u64) {
        if ranks as f64 > self.ranks {
            self.zeta += terms(self.ranks as u64 + 1, ranks);
            self.ranks = ranks as f64;
            self.eta = eta(self.first, self.second, self.zeta);
        }
    }

    /// The rank of a number that is drawn evenly from 0 up to 1.
    #[inline]
    pub fn rank(&self, drawn: f64) -> u64 {
        let scaled = drawn * self.zeta;
        if scaled < 1.0 {
            return 0;
        }
        if scaled < self.second {
            return 1;
        }
        (self.ranks * (self.eta * drawn - self.eta + 1.0).powf(self.alpha)).min(self.ranks - 1.0) as u64
    }
}

fn eta(ranks: f64, second: f64, zeta: f64) -> f64 {
    (1.0 - (2.0 / ranks).powf(1.0 - THETA)) / (1.0 - second / zeta)
}

/// The sum of 1 / i^THETA over i from `from` to `to`.
fn terms(from: u64, to: u64) -> f64 {
    (from..=to).map(|i| 1.0 / (i as f64).powf(THETA)).sum()
}

/// From 0 up to 1, of 53 bits.
pub fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// FNV-1a of the number's eight bytes, the lowest first; without its sign, as Java has it.
#[inline]
pub fn hash(number: u64) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 1_099_511_628_211;
    let hash = number.to_le_bytes().iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    (hash as i64).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeta(ranks: u64) -> f64 {
        (1..=ranks).map(|i| (i as f64).powf(-THETA)).sum()
    }

    #[test]
    fn the_constant_is_the_sum() {
        // Euler-Maclaurin: a sum up to m, the integral from there, half a term at each end.
        let (m, n) = (100_000u64, RANKS as f64);
        let integral = (n.powf(1.0 - THETA) - (m as f64).powf(1.0 - THETA)) / (1.0 - THETA);
        let want = zeta(m) + integral + (n.powf(-THETA) - (m as f64).powf(-THETA)) / 2.0;
        assert!((want - ZETA).abs() < 1e-7, "{want}");
    }

    #[test]
    fn ranks_come_as_often_as_the_law_says() {
        const RANKS: u64 = 1000;
        const DRAWS: u64 = 1_000_000;
        let sum = zeta(RANKS);
        let (zipfian, random) = (Zipfian::new(RANKS, sum), SeededRandom::new(7));
        let mut seen = vec![0u64; RANKS as usize + 1];
        for _ in 0..DRAWS {
            seen[zipfian.rank(uniform(random.u64())) as usize] += 1;
        }
        let want = |rank: u64| DRAWS as f64 * ((rank + 1) as f64).powf(-THETA) / sum;
        for rank in [0, 1] {
            let off = seen[rank as usize] as f64 / want(rank) - 1.0;
            assert!(off.abs() < 0.01, "rank {rank} is off by {off}");
        }
        for most in [10, 100, 500, 1000u64] {
            let off = seen[..most as usize].iter().sum::<u64>() as f64 / (0..most).map(want).sum::<f64>() - 1.0;
            assert!(off.abs() < 0.05, "the first {most} are off by {off}");
        }
        assert_eq!(seen[RANKS as usize], 0, "there are no more");
    }

    #[test]
    fn ranks_that_are_added_count_as_if_they_had_been_there_but_for_eta() {
        let (mut grown, whole) = (Zipfian::of(100), Zipfian::of(250));
        grown.grow(90);
        assert_eq!(grown.ranks, 100.0, "there are never less");
        grown.grow(170);
        grown.grow(250);
        assert!((grown.zeta - whole.zeta).abs() < 1e-9 && grown.ranks == whole.ranks);
        assert!((grown.eta - eta(100.0, whole.second, whole.zeta)).abs() < 1e-9);
    }

    #[test]
    fn the_ends_of_what_can_be_drawn() {
        let zipfian = Zipfian::new(RANKS, ZETA);
        assert_eq!([0.0, 0.99 / ZETA, 1.01 / ZETA].map(|drawn| zipfian.rank(drawn)), [0, 0, 1]);
        assert!(zipfian.rank(uniform(u64::MAX)) < RANKS);
    }

    #[test]
    fn the_scramble_is_fnv_and_rows_are_skewed() {
        // FNV-1a of eight zero bytes, and its absolute value.
        assert_eq!(hash(0), (0xa8c7_f832_281a_39c5u64 as i64).unsigned_abs());
        let (keys, random) = (Keys::zipfian(), SeededRandom::new(1));
        let mut seen = vec![0u32; 100];
        for _ in 0..10_000 {
            seen[keys.row(&random, 100) as usize] += 1;
        }
        let first = (hash(0) % 100) as usize;
        let most = seen.iter().max().copied().unwrap_or(0);
        assert_eq!(seen[first], most, "{seen:?}");
        // 1 / zeta of all draws, and a hundredth of the others.
        assert!((350..=600).contains(&most), "{seen:?}");
        assert!((0..1000).all(|_| Keys::Uniform.row(&random, 3) < 3));
    }
}
