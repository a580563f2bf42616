//! [`Numbers`]: numbers that follow a law, by the definitions of YCSB's generators.
//!
//! ```text
//! uniform       lowest ..= highest, each as often as the others
//! zipfian       rank r of n with the probability 1 / (r + 1)^0.99 / zeta(n); the lowest comes most often
//! scrambled     the same of ten thousand million ranks, spread by FNV over lowest ..= highest
//! latest        from the last number backwards by a zipfian rank; there are more numbers all the time
//! hotspot       a share of the draws from the lowest share of the numbers, the others from the rest
//! exponential   -ln(u) / gamma: so many percent are below a given number
//! sequential    lowest, lowest + 1 … highest, and again
//! histogram     a multiple of a block size, as often as a file says
//! ```

mod acknowledged;
mod discrete;
mod histogram;

pub use acknowledged::Acknowledged;
pub use discrete::Discrete;
pub use histogram::Histogram;

use crate::zipfian::{RANKS, ZETA, Zipfian, hash, uniform};
use martite_env::{Random, SeededRandom};
use std::cell::{Cell, RefCell};

#[derive(Debug)]
pub enum Numbers {
    Constant(u64),
    Uniform { lowest: u64, count: u64 },
    Zipfian { lowest: u64, ranks: Zipfian },
    Scrambled { lowest: u64, count: u64, ranks: Zipfian },
    Latest(RefCell<Zipfian>),
    Hotspot { lowest: u64, hot: u64, cold: u64, hot_share: f64 },
    Exponential { gamma: f64 },
    Sequential { lowest: u64, count: u64, next: Cell<u64> },
    Histogram(Histogram),
}

/// Numbers from `lowest` to `highest`; one at least.
fn count(lowest: u64, highest: u64) -> u64 {
    highest.saturating_sub(lowest).saturating_add(1)
}

impl Numbers {
    pub fn uniform(lowest: u64, highest: u64) -> Numbers {
        Numbers::Uniform { lowest, count: count(lowest, highest) }
    }

    pub fn zipfian(lowest: u64, highest: u64) -> Numbers {
        Numbers::Zipfian { lowest, ranks: Zipfian::of(count(lowest, highest)) }
    }

    pub fn scrambled(lowest: u64, highest: u64) -> Numbers {
        Numbers::Scrambled { lowest, count: count(lowest, highest), ranks: Zipfian::new(RANKS, ZETA) }
    }

    /// Of the numbers up to `last`, which grows.
    pub fn latest(last: u64) -> Numbers {
        Numbers::Latest(RefCell::new(Zipfian::of(last.max(1))))
    }

    /// Shares that are none, of the numbers or of the draws, count as 0.
    pub fn hotspot(lowest: u64, highest: u64, of_numbers: f64, of_draws: f64) -> Numbers {
        let share = |share: f64| if (0.0..=1.0).contains(&share) { share } else { 0.0 };
        let (lowest, highest) = (lowest.min(highest), lowest.max(highest));
        let all = count(lowest, highest);
        let hot = (all as f64 * share(of_numbers)) as u64;
        Numbers::Hotspot { lowest, hot, cold: all - hot, hot_share: share(of_draws) }
    }

    /// `percent` of the draws are below `range`.
    pub fn exponential(percent: f64, range: f64) -> Numbers {
        Numbers::Exponential { gamma: -(1.0 - percent / 100.0).ln() / range }
    }

    pub fn sequential(lowest: u64, highest: u64) -> Numbers {
        Numbers::Sequential { lowest, count: count(lowest, highest), next: Cell::new(0) }
    }

    /// The next number. `last`: the last number that there is, for `latest`.
    #[inline]
    pub fn draw(&self, random: &SeededRandom, last: u64) -> u64 {
        match self {
            Numbers::Constant(number) => *number,
            Numbers::Uniform { lowest, count } => lowest + random.below(*count),
            Numbers::Zipfian { lowest, ranks } => lowest + ranks.rank(uniform(random.u64())),
            Numbers::Scrambled { lowest, count, ranks } => lowest + hash(ranks.rank(uniform(random.u64()))) % count,
            Numbers::Latest(ranks) => {
                let mut ranks = ranks.borrow_mut();
                ranks.grow(last);
                last.saturating_sub(ranks.rank(uniform(random.u64())))
            }
            Numbers::Hotspot { lowest, hot, cold, hot_share } => {
                // Of an empty part nothing is drawn.
                let hot_now = uniform(random.u64()) < *hot_share;
                if (hot_now && *hot > 0) || *cold == 0 {
                    lowest + random.below(*hot)
                } else {
                    lowest + hot + random.below(*cold)
                }
            }
            Numbers::Exponential { gamma } => (-uniform(random.u64()).ln() / gamma) as u64,
            Numbers::Sequential { lowest, count, next } => {
                let nth = next.get();
                next.set(nth.wrapping_add(1));
                lowest + nth % count
            }
            Numbers::Histogram(histogram) => histogram.draw(random),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zipfian::THETA;

    const DRAWS: usize = 400_000;

    /// How often each number below `most` comes; others are the last count.
    fn seen(numbers: &Numbers, last: u64, most: usize) -> Vec<f64> {
        let random = SeededRandom::new(42);
        let mut seen = vec![0.0; most + 1];
        for _ in 0..DRAWS {
            seen[(numbers.draw(&random, last) as usize).min(most)] += 1.0 / DRAWS as f64;
        }
        seen
    }

    /// A share that is drawn `DRAWS` times is off by five standard deviations at most.
    fn near(seen: f64, want: f64, what: &str) {
        let deviation = (want * (1.0 - want) / DRAWS as f64).sqrt();
        assert!((seen - want).abs() <= 5.0 * deviation + 1e-9, "{what}: {seen}, not {want}");
    }

    fn zeta(ranks: usize) -> f64 {
        (1..=ranks).map(|i| (i as f64).powf(-THETA)).sum()
    }

    #[test]
    fn uniform_numbers_come_equally_often() {
        let seen = seen(&Numbers::uniform(10, 19), 0, 30);
        for (number, seen) in seen.into_iter().enumerate() {
            near(seen, if (10..20).contains(&number) { 0.1 } else { 0.0 }, &number.to_string());
        }
    }

    /// Gray's draw of a number u: 0 if u zeta < 1, 1 if it is below 1 + 0.5^theta, else n (eta u - eta + 1)^alpha. A rank r > 1
    /// comes with the length of the interval of u that it has.
    fn gray(rank: usize, ranks: usize) -> f64 {
        let (zeta, second) = (zeta(ranks), 1.0 + 0.5f64.powf(THETA));
        let eta = (1.0 - (2.0 / ranks as f64).powf(1.0 - THETA)) / (1.0 - second / zeta);
        let begin = |r: usize| (((r as f64 / ranks as f64).powf(1.0 - THETA) - 1.0 + eta) / eta).max(second / zeta);
        match rank {
            0 => 1.0 / zeta,
            1 => 0.5f64.powf(THETA) / zeta + 0.0,
            r => (begin(r + 1) - begin(r)).max(0.0),
        }
    }

    #[test]
    fn zipfian_numbers_come_as_gray_s_draw_says() {
        let seen = seen(&Numbers::zipfian(5, 104), 0, 200);
        for rank in 0..100 {
            near(seen[5 + rank], gray(rank, 100), &format!("rank {rank}"));
        }
        near(seen[200], 0.0, "more");
    }

    #[test]
    fn scrambled_numbers_are_where_fnv_puts_the_ranks() {
        let count = 50u64;
        let seen = seen(&Numbers::scrambled(100, 149), 0, 300);
        // The first million ranks one by one, the rest spread evenly.
        let (mut want, mut rest) = (vec![0.0; count as usize], 1.0);
        let (second, n) = (1.0 + 0.5f64.powf(THETA), RANKS as f64);
        let eta = (1.0 - (2.0 / n).powf(1.0 - THETA)) / (1.0 - second / ZETA);
        let begin = |r: u64| (((r as f64 / n).powf(1.0 - THETA) - 1.0 + eta) / eta).max(second / ZETA);
        for rank in 0..1_000_000u64 {
            let share = match rank {
                0 => 1.0 / ZETA,
                1 => (second - 1.0) / ZETA,
                r => begin(r + 1) - begin(r),
            };
            // FNV-1a by hand.
            let fnv = rank
                .to_le_bytes()
                .iter()
                .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
            want[((fnv as i64).unsigned_abs() % count) as usize] += share;
            rest -= share;
        }
        for (number, want) in want.iter().enumerate() {
            near(seen[100 + number], want + rest / count as f64, &format!("number {number}"));
        }
    }

    #[test]
    fn the_latest_number_comes_most_often_and_there_are_more() {
        let numbers = Numbers::latest(99);
        let seen_at_first = seen(&numbers, 99, 200);
        near(seen_at_first[99], 1.0 / zeta(99), "last");
        near(seen_at_first[98], 0.5f64.powf(THETA) / zeta(99), "last but one");
        near(seen_at_first[100], 0.0, "what is not there");
        // As many again: the sum has grown with them.
        let later = seen(&numbers, 199, 200);
        near(later[199], 1.0 / zeta(199), "last");
        near(later[200], 0.0, "what is not there");
        assert!(later[..100].iter().sum::<f64>() > 0.1);
    }

    #[test]
    fn hot_numbers_have_their_share() {
        let counts = seen(&Numbers::hotspot(0, 99, 0.2, 0.8), 0, 100);
        for (number, seen) in counts.iter().enumerate().take(100) {
            near(*seen, if number < 20 { 0.8 / 20.0 } else { 0.2 / 80.0 }, &number.to_string());
        }
        // Shares that are none.
        let counts = seen(&Numbers::hotspot(0, 9, 2.0, -1.0), 0, 10);
        near(counts[0], 0.1, "no hot ones");
        let counts = seen(&Numbers::hotspot(0, 9, 1.0, 0.5), 0, 10);
        near(counts[9], 0.1, "only hot ones");
    }

    #[test]
    fn exponential_numbers_are_below_the_range_as_often_as_wanted() {
        let range = 1000.0 * 0.857_142_857_1;
        let seen = seen(&Numbers::exponential(95.0, range), 0, 5000);
        let gamma = -(0.05f64).ln() / range;
        for below in [1usize, 100, 500, 857] {
            let want = 1.0 - (-gamma * below as f64).exp();
            near(seen[..below].iter().sum(), want, &format!("below {below}"));
        }
    }

    #[test]
    fn sequential_numbers_begin_again() {
        let (numbers, random) = (Numbers::sequential(7, 9), SeededRandom::new(1));
        assert_eq!([(); 7].map(|()| numbers.draw(&random, 0)), [7, 8, 9, 7, 8, 9, 7]);
        assert_eq!(Numbers::Constant(100).draw(&random, 0), 100);
    }
}
