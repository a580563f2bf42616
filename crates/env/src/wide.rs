//! Loops over bytes with the widest vectors that the processor has, where a build for all processors takes narrow ones.
#![allow(unsafe_code, reason = "instructions of some processors only must not be met by others")]

/// Bytes that are looked at together.
pub const WIDE: usize = 64;

/// [`WIDE`] bytes in as few of the processor's registers as it can hold them.
pub trait Bytes: Copy {
    fn load(bytes: &[u8; WIDE]) -> Self;
    fn splat(byte: u8) -> Self;
    fn or(self, other: Self) -> Self;
    /// A bit for each place where both of each pair have the same byte, the lowest for the first.
    fn same_in_all<const N: usize>(pairs: [(Self, Self); N]) -> u64;

    #[inline(always)]
    fn same(self, other: Self) -> u64 {
        Self::same_in_all([(self, other)])
    }
}

/// A loop over bytes, and what it needs.
pub trait Loop {
    type Output;

    /// To be `#[inline(always)]`, as all that it calls: what is not inlined does without the processor's vectors.
    fn run<B: Bytes>(self) -> Self::Output;
}

/// Runs a loop, which is compiled once for each kind of vectors, with the widest that there are.
#[inline]
pub fn widest<L: Loop>(of: L) -> L::Output {
    #[cfg(target_arch = "x86_64")]
    {
        x86::widest(of)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        of.run::<[u8; WIDE]>()
    }
}

/// Whatever vectors the compiler knows of.
impl Bytes for [u8; WIDE] {
    #[inline(always)]
    fn load(bytes: &[u8; WIDE]) -> Self {
        *bytes
    }
    #[inline(always)]
    fn splat(byte: u8) -> Self {
        [byte; WIDE]
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        std::array::from_fn(|i| self[i] | other[i])
    }
    #[inline(always)]
    fn same_in_all<const N: usize>(pairs: [(Self, Self); N]) -> u64 {
        let is_same = |i: usize| pairs.iter().all(|(a, b)| a[i] == b[i]);
        (0..WIDE).fold(0, |bits, i| bits | u64::from(is_same(i)) << i)
    }
}

/// The types are handed to loops by [`widest`](x86::widest) alone, which asks the processor before.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Bytes, Loop, WIDE};
    use std::arch::x86_64::*;

    #[inline]
    pub fn widest<L: Loop>(of: L) -> L::Output {
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor was asked.
            return unsafe { avx512(of) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
            // SAFETY: as above.
            return unsafe { avx2(of) };
        }
        of.run::<Sse2>()
    }

    #[target_feature(enable = "avx512bw,bmi2")]
    pub(super) fn avx512<L: Loop>(of: L) -> L::Output {
        of.run::<Avx512>()
    }

    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn avx2<L: Loop>(of: L) -> L::Output {
        of.run::<Avx2>()
    }

    #[derive(Clone, Copy)]
    pub(super) struct Avx512(__m512i);

    impl Bytes for Avx512 {
        #[inline(always)]
        fn load(bytes: &[u8; WIDE]) -> Self {
            // SAFETY: whoever has this type runs on a processor with AVX-512; so many bytes are read, wherever they begin.
            Avx512(unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) })
        }
        #[inline(always)]
        fn splat(byte: u8) -> Self {
            // SAFETY: the processor has AVX-512.
            Avx512(unsafe { _mm512_set1_epi8(byte.cast_signed()) })
        }
        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: the processor has AVX-512.
            Avx512(unsafe { _mm512_or_si512(self.0, other.0) })
        }
        #[inline(always)]
        fn same_in_all<const N: usize>(pairs: [(Self, Self); N]) -> u64 {
            let mut bits = u64::MAX;
            for (a, b) in pairs {
                // SAFETY: the processor has AVX-512, for bytes, too.
                bits = unsafe { _mm512_mask_cmpeq_epi8_mask(bits, a.0, b.0) };
            }
            bits
        }
    }

    #[derive(Clone, Copy)]
    pub(super) struct Avx2([__m256i; 2]);

    impl Bytes for Avx2 {
        #[inline(always)]
        fn load(bytes: &[u8; WIDE]) -> Self {
            let halves: [_; 2] = std::array::from_fn(|i| &bytes[i * WIDE / 2..][..WIDE / 2]);
            // SAFETY: whoever has this type runs on a processor with AVX2; a half is read, wherever it begins.
            Avx2(halves.map(|half| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }))
        }
        #[inline(always)]
        fn splat(byte: u8) -> Self {
            // SAFETY: the processor has AVX2.
            Avx2([unsafe { _mm256_set1_epi8(byte.cast_signed()) }; 2])
        }
        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: the processor has AVX2.
            Avx2(std::array::from_fn(|i| unsafe { _mm256_or_si256(self.0[i], other.0[i]) }))
        }
        #[inline(always)]
        fn same_in_all<const N: usize>(pairs: [(Self, Self); N]) -> u64 {
            let mut bits = 0;
            for i in 0..2 {
                // SAFETY: the processor has AVX2.
                let mut same = unsafe { _mm256_set1_epi8(-1) };
                for (a, b) in pairs {
                    // SAFETY: as above.
                    same = unsafe { _mm256_and_si256(same, _mm256_cmpeq_epi8(a.0[i], b.0[i])) };
                }
                // SAFETY: as above.
                let half = unsafe { _mm256_movemask_epi8(same) };
                bits |= u64::from(half.cast_unsigned()) << (i * WIDE / 2);
            }
            bits
        }
    }

    /// What every processor of this kind has.
    #[derive(Clone, Copy)]
    pub(super) struct Sse2([__m128i; 4]);

    impl Bytes for Sse2 {
        #[inline(always)]
        fn load(bytes: &[u8; WIDE]) -> Self {
            let quarters: [_; 4] = std::array::from_fn(|i| &bytes[i * WIDE / 4..][..WIDE / 4]);
            // SAFETY: there is no x86-64 without SSE2; a quarter is read, wherever it begins.
            Sse2(quarters.map(|quarter| unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) }))
        }
        #[inline(always)]
        fn splat(byte: u8) -> Self {
            // SAFETY: there is no x86-64 without SSE2.
            Sse2([unsafe { _mm_set1_epi8(byte.cast_signed()) }; 4])
        }
        #[inline(always)]
        fn or(self, other: Self) -> Self {
            // SAFETY: there is no x86-64 without SSE2.
            Sse2(std::array::from_fn(|i| unsafe { _mm_or_si128(self.0[i], other.0[i]) }))
        }
        #[inline(always)]
        fn same_in_all<const N: usize>(pairs: [(Self, Self); N]) -> u64 {
            let mut bits = 0;
            for i in 0..4 {
                // SAFETY: there is no x86-64 without SSE2.
                let mut same = unsafe { _mm_set1_epi8(-1) };
                for (a, b) in pairs {
                    // SAFETY: as above.
                    same = unsafe { _mm_and_si128(same, _mm_cmpeq_epi8(a.0[i], b.0[i])) };
                }
                // SAFETY: as above.
                let quarter = unsafe { _mm_movemask_epi8(same) };
                bits |= u64::from(quarter.cast_unsigned()) << (i * WIDE / 4);
            }
            bits
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Loop, WIDE, widest};

    /// Of two times as many bytes: where they are the same, where one of them is the other or a third, and where more are.
    #[derive(Clone, Copy)]
    struct Compare<'a>(&'a [u8; WIDE], &'a [u8; WIDE]);

    impl Loop for Compare<'_> {
        type Output = [u64; 4];

        #[inline(always)]
        fn run<B: Bytes>(self) -> [u64; 4] {
            let (a, b, c) = (B::load(self.0), B::load(self.1), B::splat(0x7f));
            [a.same(b), a.or(b).same(b), a.same(c), B::same_in_all([(a, c), (b, a), (c, b)])]
        }
    }

    #[test]
    fn all_vectors_tell_the_same() {
        let mut state = 1u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Few different ones, with high and low bits.
            [0, 0x7f, 0x80, 0xff][(state >> 30) as usize]
        };
        for _ in 0..1000 {
            let bytes: Vec<u8> = std::iter::repeat_with(&mut byte).take(2 * WIDE + 1).collect();
            // Nowhere in particular in memory.
            let [a, b] = [0, WIDE].map(|from| bytes[from + 1..].first_chunk().unwrap());
            let want = Compare(a, b).run::<[u8; WIDE]>();
            assert_eq!(widest(Compare(a, b)), want);
            #[cfg(target_arch = "x86_64")]
            {
                use super::x86::{Sse2, avx2, avx512};
                assert_eq!(Compare(a, b).run::<Sse2>(), want);
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
                    // SAFETY: the processor was asked.
                    assert_eq!(unsafe { avx2(Compare(a, b)) }, want);
                }
                if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("bmi2") {
                    // SAFETY: as above.
                    assert_eq!(unsafe { avx512(Compare(a, b)) }, want);
                }
            }
        }
    }
}
