//! Asking the processor for memory ahead of its use.
#![allow(unsafe_code, reason = "the instruction takes an address")]

use std::cell::Cell;

pub const LINE_BYTES: usize = 64;

thread_local! {
    static WAY: Cell<Way> = const { Cell::new(Way::STRAIGHT) };
}

/// How a thread goes through memory.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// What would lie from here on ..
    end: usize,
    /// .. is here instead; 0: nothing comes that is known.
    then: usize,
}

impl Way {
    const STRAIGHT: Way = Way { end: usize::MAX, then: 0 };
}

/// As long as it lives, its thread goes through pieces of memory that do not lie one behind the other. Whoever looks at what lies in
/// them can ask for what comes ([`LinesAhead`]) without knowing of pieces.
#[derive(Debug)]
#[must_use]
pub struct Through {
    before: Way,
}

impl Through {
    /// `behind` comes after `piece`; if it is empty, nothing does that is known.
    pub fn new(piece: &[u8], behind: &[u8]) -> Through {
        let end = piece.as_ptr_range().end as usize;
        let then = if behind.is_empty() { 0 } else { behind.as_ptr() as usize };
        Through { before: WAY.replace(Way { end, then }) }
    }
}

impl Drop for Through {
    fn drop(&mut self) {
        WAY.set(self.before);
    }
}

/// Asks for the memory some way ahead of that which is gone through, line by line.
#[derive(Debug)]
pub struct LinesAhead {
    at: usize,
    /// So far ahead.
    bytes: usize,
    way: Way,
}

impl LinesAhead {
    /// So many bytes ahead of `start`.
    #[inline(always)]
    pub fn of(start: *const u8, bytes: usize) -> LinesAhead {
        LinesAhead { at: (start as usize).wrapping_add(bytes), bytes, way: WAY.get() }
    }

    #[inline(always)]
    pub fn ask(&mut self) {
        let line = self.next();
        prefetch_line(std::ptr::without_provenance(line));
    }

    #[inline(always)]
    fn next(&mut self) -> usize {
        if self.at >= self.way.end {
            self.turn();
        }
        let line = self.at;
        self.at = line.wrapping_add(LINE_BYTES);
        line
    }

    #[cold]
    fn turn(&mut self) {
        self.at = match self.way.then {
            // What is gone through now is at hand, so that to ask for it costs nothing.
            0 => self.at.wrapping_sub(self.bytes),
            then => then.wrapping_add(self.at - self.way.end),
        };
        self.way = Way::STRAIGHT;
    }
}

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
    use super::{LINE_BYTES, LinesAhead, Through, prefetch, prefetch_at};

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

    /// How far into `to` the lines are that come ahead of `from`.
    fn lines(from: &[u8], ahead: usize, to: &[u8]) -> [isize; 3] {
        let mut lines = LinesAhead::of(from.as_ptr(), ahead);
        [(); 3].map(|()| lines.next() as isize - to.as_ptr() as isize)
    }

    #[test]
    fn lines_ahead_follow_the_way() {
        let (piece, behind) = (vec![0; 4 * LINE_BYTES], vec![0; 100]);
        let line = LINE_BYTES as isize;
        assert_eq!(lines(&piece, 5, &piece), [5, line + 5, 2 * line + 5]);
        {
            let _way = Through::new(&piece, &behind);
            assert_eq!(lines(&piece, 5, &piece), [5, line + 5, 2 * line + 5]);
            assert_eq!(lines(&piece, piece.len() + 7, &behind), [7, line + 7, 2 * line + 7]);
            let rest = &piece[3 * LINE_BYTES..];
            assert_eq!(lines(rest, 9, &piece)[0], 3 * line + 9);
            assert_eq!(lines(rest, 9, &behind)[1..], [9, line + 9]);
            {
                let _way = Through::new(&piece, &[]);
                assert_eq!(lines(rest, LINE_BYTES, rest), [0, line, 2 * line]);
            }
            assert_eq!(lines(rest, LINE_BYTES, &behind), [0, line, 2 * line]);
        }
        assert_eq!(lines(&piece, piece.len(), &piece), [4 * line, 5 * line, 6 * line]);
    }
}
