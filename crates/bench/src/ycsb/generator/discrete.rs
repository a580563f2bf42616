//! [`Discrete`]: one of few things, each with a weight.

use crate::zipfian::uniform;
use martite_env::{Random, SeededRandom};

#[derive(Debug)]
pub struct Discrete<T> {
    /// Up to which number, from 0 to 1, it is each of them.
    upto: Vec<(f64, T)>,
}

impl<T: Copy> Discrete<T> {
    /// What has no weight does not come; none if nothing has.
    pub fn new(weights: &[(f64, T)]) -> Option<Discrete<T>> {
        let some = || weights.iter().filter(|(weight, _)| *weight > 0.0);
        let sum: f64 = some().map(|(weight, _)| weight).sum();
        let mut before = 0.0;
        let upto = some().map(|(weight, thing)| {
            before += weight / sum;
            (before, *thing)
        });
        let upto: Vec<_> = upto.collect();
        (!upto.is_empty()).then_some(Discrete { upto })
    }

    #[inline]
    pub fn draw(&self, random: &SeededRandom) -> T {
        let drawn = uniform(random.u64());
        let last = self.upto.len() - 1;
        let nth = self.upto.iter().position(|(upto, _)| drawn < *upto).unwrap_or(last);
        self.upto[nth].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_need_not_sum_to_one() {
        assert!(Discrete::new(&[(0.0, 'a')]).is_none() && Discrete::<char>::new(&[]).is_none());
        let (three, random) = (Discrete::new(&[(1.0, 'a'), (0.0, 'b'), (3.0, 'c')]).unwrap(), SeededRandom::new(3));
        let draws: String = (0..100_000).map(|_| three.draw(&random)).collect();
        let share = |thing: char| draws.matches(thing).count() as f64 / 1e5;
        assert!(
            (share('a') - 0.25).abs() < 0.01 && share('b') == 0.0 && (share('c') - 0.75).abs() < 0.01,
            "{draws:.100}"
        );
    }
}
