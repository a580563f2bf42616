//! Loops over bytes with the widest vectors that the processor has, where a build for all processors takes narrow ones.
#![allow(unsafe_code, reason = "a function for some processors only must not be called on others")]

/// A loop over bytes, and what it needs.
pub trait Loop {
    type Output;

    /// To be `#[inline(always)]`, as all that it calls: what is not inlined stays as narrow as everywhere.
    fn run(self) -> Self::Output;
}

/// Runs a loop, which is compiled once more for a processor with AVX2, where there is one.
#[inline]
pub fn widest<L: Loop>(of: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was asked.
        return unsafe { avx2(of) };
    }
    of.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<L: Loop>(of: L) -> L::Output {
    of.run()
}

#[cfg(test)]
mod tests {
    use super::{Loop, widest};

    struct Sum<'a>(&'a [u8]);

    impl Loop for Sum<'_> {
        type Output = u8;

        #[inline(always)]
        fn run(self) -> u8 {
            self.0.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
        }
    }

    #[test]
    fn the_result_is_the_one_without() {
        for len in [0, 1, 31, 32, 1000] {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 7 % 251) as u8).collect();
            assert_eq!(widest(Sum(&bytes)), Sum(&bytes).run());
        }
    }
}
