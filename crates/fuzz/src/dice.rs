//! [`Dice`]: luck that repeats. The same seed makes the same inputs, on every machine.

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }
    pub fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    /// A number below `bound`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.u64()) * bound as u128) >> 64) as usize
    }
    pub fn byte(&mut self) -> u8 {
        self.u64() as u8
    }
    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }
    /// A place to cut `len` bytes, both ends included.
    pub fn cut(&mut self, len: usize) -> usize {
        self.below(len + 1)
    }
    /// A length of at most `most`, small ones more often.
    pub fn length(&mut self, most: usize) -> usize {
        let bits = self.below(usize::BITS as usize - most.leading_zeros() as usize + 1);
        self.below(1 << bits.min(40)).min(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_repeat_and_stay_in_their_bounds() {
        let (mut a, mut b) = (Dice::new(7), Dice::new(7));
        for bound in [1, 2, 100, usize::MAX] {
            let (x, y) = (a.below(bound), b.below(bound));
            assert_eq!(x, y);
            assert!(x < bound);
        }
        assert_eq!((a.below(0), a.length(0)), (0, 0));
        assert!((0..1000).all(|_| a.length(9) <= 9));
        assert_eq!(a.pick::<u8>(&[]), None);
    }
}
