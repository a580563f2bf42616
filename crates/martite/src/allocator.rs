//! The allocator, what it takes for a block, and how it gives back what is free.
#![allow(unsafe_code, reason = "jemalloc is asked by its C function `mallctl`")]

use martite_hfile::Block;
use std::ffi::CStr;
use std::ptr;

/// Blocks of the cache lie on huge pages (see .cargo/config.toml): a read goes to a random place in gigabytes. What is free
/// goes back to the system on a thread of its own, not on the one that happens to ask for memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PAGE: usize = 4096;
/// Allocations from here on are whole pages and one more: they begin at any line of the first.
const LARGE: usize = 16 << 10;

/// What a block takes of the machine's memory.
pub fn weigh(block: &Block) -> usize {
    taken(block.heap_size())
}

/// What the allocator takes for so many bytes: there are four sizes from each power of two to the next.
fn taken(bytes: usize) -> usize {
    let power = bytes.max(64).next_power_of_two();
    let size = bytes.next_multiple_of(power / 8);
    if size < LARGE { size } else { size + PAGE }
}

/// `arena.<i>.purge` with the number that stands for all arenas (`MALLCTL_ARENAS_ALL`).
const PURGE_ALL: &CStr = c"arena.4096.purge";

/// Gives all that is free back to the system at once, whatever the decay time says. False: the allocator does not know how.
pub fn release_free() -> bool {
    // SAFETY: the name ends with 0, and this entry neither returns nor takes a value: all other pointers may be null.
    let outcome =
        unsafe { tikv_jemalloc_sys::mallctl(PURGE_ALL.as_ptr(), ptr::null_mut(), ptr::null_mut(), ptr::null_mut(), 0) };
    outcome == 0
}

#[cfg(test)]
mod tests {
    use super::{release_free, taken};
    use crate::machine;

    #[test]
    fn what_is_free_goes_back_to_the_system() {
        const BYTES: usize = 64 << 20;
        let before = machine::resident_bytes().unwrap();
        drop(std::hint::black_box(vec![1u8; BYTES]));
        // Smaller ones, which the allocator keeps for later.
        let many: Vec<Vec<u8>> = (0..64).map(|n| vec![n; BYTES / 64]).collect();
        let used = machine::resident_bytes().unwrap();
        assert!(used - before > BYTES as u64 / 2, "{before} {used}");
        drop(std::hint::black_box(many));
        assert!(release_free());
        let after = machine::resident_bytes().unwrap();
        assert!(after < used - BYTES as u64 / 2, "{before} {used} {after}");
    }

    #[test]
    fn sizes_are_the_allocators() {
        for (bytes, want) in [
            (0, 0),
            (1, 8),
            (64, 64),
            (65, 80),
            (4096, 4096),
            (4097, 5120),
            (65_536, 65_536 + 4096),
            (66_300, 81_920 + 4096),
            (81_921, 98_304 + 4096),
            (1 << 20, (1 << 20) + 4096),
        ] {
            assert_eq!(taken(bytes), want, "{bytes}");
        }
    }
}
