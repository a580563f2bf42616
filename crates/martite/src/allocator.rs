//! The allocator, what it takes for a block, and how it gives back what is free.
#![allow(unsafe_code, reason = "jemalloc is asked by its C functions `mallctl` and `nallocx`")]

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

/// What the allocator takes for so many bytes.
fn taken(bytes: usize) -> usize {
    // SAFETY: it computes a size from a size, which must not be 0, and flags, of which none are set; 0 says that nothing so
    // large can be had.
    let size = unsafe { tikv_jemalloc_sys::nallocx(bytes.max(1), 0) };
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
    use std::sync::{Mutex, PoisonError};

    /// Whoever measures what the process has.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn what_is_free_goes_back_to_the_system() {
        const BYTES: usize = 64 << 20;
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
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
    fn what_is_counted_is_what_is_taken() {
        const MANY: usize = 2000;
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // A block of 64 KiB ends with the cell that crosses that line.
        for bytes in [16_000, 66_300, 132_000] {
            assert!(release_free());
            let before = machine::resident_bytes().unwrap();
            let blocks: Vec<Vec<u8>> = (0..MANY).map(|n| vec![n as u8 | 1; bytes]).collect();
            let used = (machine::resident_bytes().unwrap() - before) as f64;
            let counted = (MANY * taken(bytes)) as f64;
            // Never given back: that would happen while others measure, on the allocator's own thread.
            std::mem::forget(std::hint::black_box(blocks));
            // Of huge pages some stay empty in part, others are split; and other tests take memory, too.
            assert!((0.9..1.25).contains(&(used / counted)), "{bytes}: {used} for {counted}");
        }
    }
}
