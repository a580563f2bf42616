//! Which code an input reached, when the build is instrumented (`cargo xtask fuzz` does it): LLVM's counters, one byte
//! for each edge of the control flow, in the binary's own memory. Works with a stable compiler.
//!
//! ```text
//! counters  0 0 1 0 9 0 255 …    classes of a count: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128-255: one bit each
//! seen      0 0 1 0 16 0 128 …   an input that sets a bit that is not in `seen` is interesting
//! ```
//! In an ordinary build there are no counters, and no input is more interesting than another.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The classes that any input has reached, edge by edge.
#[derive(Debug, Default)]
pub struct Seen {
    /// One for each eight edges.
    classes: Vec<[u8; 8]>,
}

impl Seen {
    /// Edges reached.
    pub fn edges(&self) -> usize {
        self.classes.iter().flatten().filter(|c| **c != 0).count()
    }

    /// Takes the counts since [`reset`] in; whether they held something new.
    pub fn absorb(&mut self) -> bool {
        self.take_in(counters())
    }

    fn take_in(&mut self, counters: &[AtomicU64]) -> bool {
        let mut new = false;
        self.classes.resize(counters.len(), [0; 8]);
        for (counts, seen) in counters.iter().zip(&mut self.classes) {
            let counts = counts.load(Relaxed);
            if counts == 0 {
                continue;
            }
            for (count, seen) in counts.to_ne_bytes().into_iter().zip(seen) {
                let class = class(count);
                new |= class & !*seen != 0;
                *seen |= class;
            }
        }
        new
    }
}

fn class(count: u8) -> u8 {
    match count {
        0 => 0,
        1..=3 => 1 << (count - 1),
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        128..=255 => 128,
    }
}

/// Sets all counters to zero.
pub fn reset() {
    counters().iter().filter(|c| c.load(Relaxed) != 0).for_each(|c| c.store(0, Relaxed));
}

/// Whether the build is instrumented.
pub fn is_on() -> bool {
    !counters().is_empty()
}

#[cfg(not(martite_coverage))]
fn counters() -> &'static [AtomicU64] {
    &[]
}

#[cfg(martite_coverage)]
use instrumented::counters;

#[cfg(martite_coverage)]
mod instrumented {
    //! The counters of the instrumented binary.
    #![allow(unsafe_code, reason = "the compiler hands the counters out as two addresses")]

    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

    static START: AtomicUsize = AtomicUsize::new(0);
    static END: AtomicUsize = AtomicUsize::new(0);

    /// Called before `main`, once for each object file, with the same two addresses: the linker puts all counters
    /// into one section.
    // SAFETY: name and signature are those that the instrumentation calls; nobody else defines it.
    #[unsafe(no_mangle)]
    extern "C" fn __sanitizer_cov_8bit_counters_init(start: *mut u8, end: *mut u8) {
        START.store(start as usize, Relaxed);
        END.store(end as usize, Relaxed);
    }

    /// Eight counters a word; up to seven at either end of the section are left out.
    pub fn counters() -> &'static [AtomicU64] {
        let start = START.load(Relaxed).next_multiple_of(8);
        let words = END.load(Relaxed).saturating_sub(start) / 8;
        if words == 0 {
            return &[];
        }
        // SAFETY: the words lie inside the section, are aligned, and live as long as the process. Instrumented code
        // adds to single bytes without being atomic: a count may get lost, which is all that can come of it.
        unsafe { std::slice::from_raw_parts(start as *const AtomicU64, words) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_fall_into_eight_classes() {
        let classes: Vec<u8> = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 127, 128, 255].map(class).to_vec();
        assert_eq!(classes, [0, 1, 2, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 128]);
    }

    #[test]
    fn only_new_classes_are_interesting() {
        let counts = |bytes: [u8; 8]| [AtomicU64::new(0), AtomicU64::new(u64::from_ne_bytes(bytes))];
        let mut seen = Seen::default();
        assert!(!seen.take_in(&counts([0; 8])));
        assert!(seen.take_in(&counts([0, 1, 0, 0, 9, 0, 0, 0])));
        assert!(!seen.take_in(&counts([0, 1, 0, 0, 10, 0, 0, 0])));
        assert!(seen.take_in(&counts([0, 2, 0, 0, 0, 0, 0, 0])));
        assert_eq!(seen.edges(), 2);
    }
}
