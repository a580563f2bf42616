//! [`Counting`]: the allocator of the runner and of the smoke test: the system's, with a count of what is in use.
//!
//! A target that gets 100 bytes and allocates a gigabyte is as broken as one that panics; without a count nobody
//! notices, for untouched pages cost nothing. What C libraries (zstd) allocate is not counted.
#![allow(unsafe_code, reason = "an allocator is made of unsafe functions")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Requests above this are refused, which ends the process: nothing the targets are given deserves so much.
const CEILING: usize = 16 << 30;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Register it with `#[global_allocator]`.
pub struct Counting;

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Relaxed).wrapping_add(bytes);
    // Most allocations do not make a new peak: a plain look first.
    if live > PEAK.load(Relaxed) {
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: every request goes to `System` as it came and its answer is returned as it is; null for a refused request is
// what the contract allows. The counters never touch the memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > CEILING {
            return std::ptr::null_mut();
        }
        grow(layout.size());
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() > CEILING {
            return std::ptr::null_mut();
        }
        grow(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the block came from `System` with this layout, as all blocks of this allocator do.
        unsafe { System.dealloc(block, layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if new_size > CEILING {
            return std::ptr::null_mut();
        }
        // Old and new block may exist at the same time.
        grow(new_size);
        // SAFETY: as above.
        let moved = unsafe { System.realloc(block, layout, new_size) };
        LIVE.fetch_sub(if moved.is_null() { new_size } else { layout.size() }, Relaxed);
        moved
    }
}

/// Bytes in use now.
pub fn live() -> usize {
    LIVE.load(Relaxed)
}

/// Forgets earlier peaks; returns the bytes in use.
pub fn begin() -> usize {
    let live = live();
    PEAK.store(live, Relaxed);
    live
}

/// Most bytes in use since [`begin`].
pub fn peak() -> usize {
    PEAK.load(Relaxed)
}

/// Whether this process counts: false where the allocator is not registered.
pub fn is_counting() -> bool {
    live() > 0
}
