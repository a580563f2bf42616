//! Asking the processor for memory ahead of its use.
#![allow(unsafe_code, reason = "the instruction takes an address")]

pub const LINE_BYTES: usize = 64;

/// Brings `items` into the processor's caches, without waiting for it. Changes nothing else.
#[inline(always)]
pub fn prefetch<T>(items: &[T]) {
    prefetch_at(items.as_ptr().cast(), size_of_val(items));
}

/// The same for `len` bytes from `start` on, which may be any address.
#[inline(always)]
pub fn prefetch_at(start: *const u8, len: usize) {
    let mut at = 0;
    while at < len {
        prefetch_line(start.wrapping_add(at));
        at += LINE_BYTES;
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_line(address: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint: nothing is read that the program could see, and no address makes it fault.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch_line(_address: *const u8) {}

#[cfg(test)]
mod tests {
    use super::{prefetch, prefetch_at};

    #[test]
    fn any_address_will_do() {
        let (bytes, words) = (vec![7u8; 1000], vec![7u32; 100]);
        for len in [0, 1, 63, 64, 65, 1000] {
            prefetch(&bytes[..len]);
            prefetch(&bytes[1000 - len..]);
        }
        prefetch(&words);
        prefetch(&[[0u64; 20]; 3]);
        prefetch(&[(); 10]);
        prefetch_at(std::ptr::null(), 1000);
        assert!(bytes.iter().all(|b| *b == 7) && words.iter().all(|w| *w == 7));
    }
}
