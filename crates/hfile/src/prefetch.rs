//! Asking the processor for memory ahead of its use.
#![allow(unsafe_code, reason = "the instruction takes an address")]

pub(crate) const LINE_BYTES: usize = 64;

/// Brings `items` into the processor's caches, without waiting for it. Changes nothing else.
#[inline]
pub(crate) fn prefetch<T>(items: &[T]) {
    let in_line = (LINE_BYTES / size_of::<T>().max(1)).max(1);
    items.iter().step_by(in_line).for_each(prefetch_line);
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn prefetch_line<T>(item: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint: nothing is read that the program could see, and no address makes it fault.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn prefetch_line<T>(_item: &T) {}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn any_slice_will_do() {
        let (bytes, words) = (vec![7u8; 1000], vec![7u32; 100]);
        for len in [0, 1, 63, 64, 65, 1000] {
            prefetch(&bytes[..len]);
            prefetch(&bytes[1000 - len..]);
        }
        prefetch(&words);
        prefetch(&[[0u64; 20]; 3]);
        prefetch(&[(); 10]);
        assert!(bytes.iter().all(|b| *b == 7) && words.iter().all(|w| *w == 7));
    }
}
