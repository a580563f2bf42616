//! [`Arena`]: memory for the nodes of a list, given back as a whole.
//!
//! ```text
//! lane 0 ─▶ chunk ▪▪▪▪▪▪▫▫   threads take pieces by adding to one number; each has a lane, of which there are some
//! lane 1 ─▶ chunk ▪▪▫▫▫▫▫▫
//!           chunk ▪▪▪▪▪▪▪▪   full, or a big piece by itself
//! ```
#![allow(unsafe_code, reason = "pieces of memory without a type")]

use parking_lot::Mutex;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering as Mem};

/// Of all pieces.
pub(super) const ALIGN: usize = align_of::<u64>();
/// First chunk of an allocation lane; every further one is twice as large up to [`MAX_CHUNK`].
pub(super) const MIN_CHUNK: usize = 4 << 10;
const MAX_CHUNK: usize = 1 << 20;
/// A piece above this size gets a chunk of its own, so that it wastes nothing of a shared one.
pub(super) const BIG_PIECE: usize = MAX_CHUNK / 8;
/// Allocation lanes: writers on different threads rarely bump the same counter.
const LANES: usize = 4;

struct Chunk {
    base: NonNull<u8>,
    len: usize,
    used: AtomicUsize,
}

#[repr(align(64))]
struct Lane {
    current: AtomicPtr<Chunk>,
}

/// Chunks of memory that are handed out in pieces and freed together.
pub(super) struct Arena {
    lanes: [Lane; LANES],
    /// Every chunk ever made, boxed so that lanes can point at it.
    chunks: Mutex<Vec<NonNull<Chunk>>>,
    /// Bytes of all chunks.
    allocated: AtomicU64,
}

// SAFETY: chunks are plain memory owned by the arena; all shared mutation goes through atomics or the mutex.
unsafe impl Send for Arena {}
// SAFETY: as above.
unsafe impl Sync for Arena {}

impl Arena {
    pub fn new() -> Arena {
        Arena {
            lanes: std::array::from_fn(|_| Lane { current: AtomicPtr::new(ptr::null_mut()) }),
            chunks: Mutex::new(Vec::new()),
            allocated: AtomicU64::new(0),
        }
    }

    /// `size` bytes, not 0, a multiple of [`ALIGN`]: aligned to it, and valid until the arena is dropped. What is in them is not defined.
    pub fn allocate(&self, size: usize) -> NonNull<u8> {
        debug_assert!(size > 0 && size.is_multiple_of(ALIGN));
        if size > BIG_PIECE {
            let mut chunks = self.chunks.lock();
            return self.add_chunk(&mut chunks, size, size).0;
        }
        let lane = &self.lanes[lane_of_thread()];
        loop {
            let current = lane.current.load(Mem::Acquire);
            // SAFETY: a lane's chunk pointer is null or points at a boxed chunk that lives as long as the arena.
            let chunk_len = match unsafe { current.as_ref() } {
                Some(chunk) => {
                    let at = chunk.used.fetch_add(size, Mem::Relaxed);
                    if at <= chunk.len && chunk.len - at >= size {
                        // SAFETY: at + size <= len, so the piece lies inside the chunk; fetch_add gave it to us alone.
                        return unsafe { chunk.base.add(at) };
                    }
                    chunk.len
                }
                None => MIN_CHUNK / 2,
            };
            let mut chunks = self.chunks.lock();
            if lane.current.load(Mem::Acquire) == current {
                let len = (chunk_len * 2).clamp(size.next_power_of_two().max(MIN_CHUNK), MAX_CHUNK);
                let (piece, chunk) = self.add_chunk(&mut chunks, len, size);
                lane.current.store(chunk.as_ptr(), Mem::Release);
                return piece;
            }
        }
    }

    /// Bytes of all chunks.
    pub fn allocated_bytes(&self) -> u64 {
        self.allocated.load(Mem::Relaxed)
    }

    /// A new chunk whose first `first` bytes are taken.
    fn add_chunk(&self, chunks: &mut Vec<NonNull<Chunk>>, len: usize, first: usize) -> (NonNull<u8>, NonNull<Chunk>) {
        let layout = chunk_layout(len);
        // SAFETY: the layout is not empty: no piece is.
        let Some(base) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        let chunk = Box::new(Chunk { base, len, used: AtomicUsize::new(first) });
        let chunk = NonNull::from(Box::leak(chunk));
        chunks.push(chunk);
        self.allocated.fetch_add(bytes_of_chunk(len), Mem::Relaxed);
        (base, chunk)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for chunk in self.chunks.get_mut().drain(..) {
            // SAFETY: the pointer came from Box::leak in `add_chunk` and is freed once, here.
            let chunk = unsafe { Box::from_raw(chunk.as_ptr()) };
            // SAFETY: allocated with this very layout.
            unsafe { dealloc(chunk.base.as_ptr(), chunk_layout(chunk.len)) };
        }
    }
}

/// What a chunk with room for `len` bytes takes.
pub(super) fn bytes_of_chunk(len: usize) -> u64 {
    (len + size_of::<Chunk>()) as u64
}

fn chunk_layout(len: usize) -> Layout {
    match Layout::from_size_align(len, ALIGN) {
        Ok(layout) => layout,
        // More than isize::MAX bytes: no allocator has them.
        Err(_) => handle_alloc_error(Layout::new::<Chunk>()),
    }
}

fn lane_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static LANE: usize = NEXT.fetch_add(1, Mem::Relaxed) % LANES);
    LANE.with(|lane| *lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_and_big_ones_have_a_chunk_of_their_own() {
        let arena = Arena::new();
        assert_eq!(arena.allocated_bytes(), 0);
        let first = arena.allocate(3 * ALIGN);
        let second = arena.allocate(ALIGN);
        assert_eq!(second.addr().get() - first.addr().get(), 3 * ALIGN);
        assert!(first.addr().get().is_multiple_of(ALIGN));
        assert_eq!(arena.allocated_bytes(), bytes_of_chunk(MIN_CHUNK));
        arena.allocate(BIG_PIECE + ALIGN);
        assert_eq!(arena.allocated_bytes(), bytes_of_chunk(MIN_CHUNK) + bytes_of_chunk(BIG_PIECE + ALIGN));
        // The shared chunk goes on, and the next is twice as large.
        assert_eq!(arena.allocate(ALIGN).addr().get() - second.addr().get(), ALIGN);
        arena.allocate(MIN_CHUNK);
        assert_eq!(
            arena.allocated_bytes(),
            bytes_of_chunk(MIN_CHUNK) + bytes_of_chunk(2 * MIN_CHUNK) + bytes_of_chunk(BIG_PIECE + ALIGN)
        );
    }

    #[test]
    fn threads_have_pieces_apart() {
        let arena = Arena::new();
        let (threads, each) = if cfg!(miri) { (3, 50) } else { (6, 5_000) };
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let arena = &arena;
                scope.spawn(move || {
                    let pieces: Vec<NonNull<u64>> = (0..each)
                        .map(|nth| {
                            let piece = arena.allocate(ALIGN * (1 + nth % 9)).cast::<u64>();
                            // SAFETY: the piece is ours, aligned for it and as large at least.
                            unsafe { piece.write((thread * each + nth) as u64) };
                            piece
                        })
                        .collect();
                    for (nth, piece) in pieces.into_iter().enumerate() {
                        // SAFETY: as above; it was written.
                        assert_eq!(unsafe { piece.read() }, (thread * each + nth) as u64);
                    }
                });
            }
        });
    }
}
