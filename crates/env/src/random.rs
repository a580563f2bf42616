//! [`Random`]: luck, from the operating system or from a seed.

use parking_lot::Mutex;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

/// Where luck comes from. Not for cryptographic keys.
pub trait Random: Send + Sync {
    fn u64(&self) -> u64;
    /// A number below `bound`; 0 when `bound` is 0.
    fn below(&self, bound: u64) -> u64 {
        // The bias of the multiply-shift is below bound / 2^64.
        ((self.u64() as u128 * bound as u128) >> 64) as u64
    }
    fn fill(&self, out: &mut [u8]) {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&self.u64().to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Numbers that differ from process to process and call to call: the standard library's per-process hash keys, which
/// come from the operating system, over a counter.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsRandom;

impl Random for OsRandom {
    fn u64(&self) -> u64 {
        // Each RandomState has keys of its own: SipHash of nothing under them is the draw.
        RandomState::new().build_hasher().finish()
    }
}

/// SplitMix64: the same numbers for the same seed.
#[derive(Debug)]
pub struct SeededRandom(Mutex<u64>);

impl SeededRandom {
    pub fn new(seed: u64) -> SeededRandom {
        SeededRandom(Mutex::new(seed))
    }
}

impl Random for SeededRandom {
    fn u64(&self) -> u64 {
        let mut state = self.0.lock();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_splitmix64_numbers() {
        let random = SeededRandom::new(1_234_567);
        assert_eq!(random.u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn below_stays_below_and_fill_covers_odd_lengths() {
        let random = SeededRandom::new(5);
        assert!((0..1000).all(|_| random.below(7) < 7));
        assert_eq!(random.below(0), 0);
        let mut bytes = [0; 11];
        random.fill(&mut bytes);
        assert!(bytes[8..].iter().any(|b| *b != 0));
    }

    #[test]
    fn the_operating_system_does_not_repeat_itself() {
        assert_ne!(OsRandom.u64(), OsRandom.u64());
    }
}
