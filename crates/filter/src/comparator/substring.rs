//! SubstringComparator: whether the cell's text contains a text, whatever the case of its letters.
//!
//! ```text
//! wanted   m a r t i t e       its three rarest bytes, by their places: m 0, r 2, i 4
//! cell     … E M A R T I N …   64 places at a time, each a bit: where is an m, where an r, where an i?
//!              1 . . . . .     m, moved by 4
//!              . . 1 . . .     r, moved by 2
//!              . . . . 1 .     i: all three meet here
//! ```
//! Only where they meet is the whole text compared. Each byte is loaded once, and tells whether it is ASCII, too.

use super::Input;
use crate::error::Result;
use crate::required::required;
use martite_env::prefetch::LinesAhead;
use martite_env::wide::{Bytes, Loop, WIDE, widest};
use martite_proto as pb;

#[derive(Debug)]
pub(super) struct Substring {
    pub lower: String,
    probes: [Probe; PROBES],
}

const PROBES: usize = 3;
/// What makes a letter the small one. It makes other bytes of some: where they are met, there is no more than a chance.
const FOLD: u8 = 0x20;
/// Bytes that text has most of, the rarest first. Those that are not here are rarer.
const USUAL: &[u8] = b"zqjxkvbpygfwmu9876543210cldrhsnioate ";

/// Behind a cell mostly lie those that are looked at next. Their memory is asked for a piece at a time while this one is searched, so
/// far ahead that a scan has not asked for it yet: it does so row by row, and that many pieces at once are waited for.
const AHEAD_BYTES: usize = 5 << 10;

/// A byte of the wanted text, folded.
#[derive(Debug, Clone, Copy, Default)]
struct Probe {
    byte: u8,
    /// Its place; less than [`WIDE`].
    at: usize,
    /// How far the last of the probes is behind it.
    before_last: u32,
}

pub(super) fn decode(input: &Input<'_>) -> Result<Substring> {
    let proto: pb::SubstringComparator = input.message(&[required(1, "substr")])?;
    Ok(Substring::new(&proto.substr))
}

impl Substring {
    fn new(wanted: &str) -> Substring {
        let lower = wanted.to_lowercase();
        Substring { probes: probes(lower.as_bytes()), lower }
    }

    pub fn matches(&self, cell: &[u8]) -> bool {
        let wanted = self.lower.as_bytes();
        if wanted.is_empty() {
            return true;
        }
        // Bytes of ASCII are never a part of other characters; but these may have one as their lower case.
        let met = match wanted.is_ascii() {
            true => widest(Search { cell, wanted, probes: self.probes }),
            false => Met::no(cell),
        };
        met == Met::Wanted
            || (met == Met::OtherCharacters && String::from_utf8_lossy(cell).to_lowercase().contains(&self.lower))
    }
}

/// What was met in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Met {
    Wanted,
    /// Without the wanted text, characters beyond ASCII.
    OtherCharacters,
    Nothing,
}

impl Met {
    /// Of a cell without the wanted text.
    #[inline(always)]
    fn no(cell: &[u8]) -> Met {
        if cell.is_ascii() { Met::Nothing } else { Met::OtherCharacters }
    }
}

/// The rarest bytes of a text, in the order of their places.
fn probes(wanted: &[u8]) -> [Probe; PROBES] {
    let usual = |at: &usize| USUAL.iter().position(|byte| *byte == wanted[*at]).map_or(0, |place| place + 1);
    let mut places: Vec<usize> = (0..wanted.len().min(WIDE)).collect();
    places.sort_by_key(usual);
    places.truncate(PROBES);
    places.sort_unstable();
    let mut probes = [Probe::default(); PROBES];
    if let Some(last) = places.last() {
        let probe = |at: usize| Probe { byte: wanted[at] | FOLD, at, before_last: (last - at) as u32 };
        // A short text has fewer: its last byte counts more than once.
        probes.iter_mut().enumerate().for_each(|(i, to)| *to = probe(places.get(i).copied().unwrap_or(*last)));
    }
    probes
}

/// Looks for an ASCII text, which is not empty, in small or capital letters.
struct Search<'a> {
    cell: &'a [u8],
    wanted: &'a [u8],
    probes: [Probe; PROBES],
}

impl Loop for Search<'_> {
    type Output = Met;

    #[inline(always)]
    fn run<B: Bytes>(self) -> Met {
        let cell = self.cell;
        let Some(tail) = cell.last_chunk::<WIDE>() else { return self.run_short() };
        let mut places = Places::<B>::new(self.probes);
        let (chunks, rest) = cell.as_chunks::<WIDE>();
        let (mut from, mut ahead) = (0, LinesAhead::of(cell.as_ptr(), AHEAD_BYTES));
        for chunk in chunks {
            ahead.ask();
            let met = places.met(B::load(chunk), 0);
            if met != 0 && self.is_among(from, met) {
                return Met::Wanted;
            }
            from += WIDE;
        }
        if !rest.is_empty() {
            ahead.ask();
            // Those of the last bytes that were looked at before are left out.
            let met = places.met(B::load(tail), (WIDE - rest.len()) as u32);
            if met != 0 && self.is_among(from, met) {
                return Met::Wanted;
            }
        }
        if places.all_ascii() { Met::Nothing } else { Met::OtherCharacters }
    }
}

impl Search<'_> {
    /// In a cell of less than [`WIDE`] bytes.
    #[inline(always)]
    fn run_short(&self) -> Met {
        let [first, ..] = self.probes;
        let mut places = self.cell.iter().enumerate().filter(|(_, byte)| **byte | FOLD == first.byte);
        if places.any(|(at, _)| self.is_at(at, first)) { Met::Wanted } else { Met::no(self.cell) }
    }

    /// Whether the text has its last probe at one of these bits' places.
    #[cold]
    fn is_among(&self, from: usize, mut bits: u64) -> bool {
        let [.., last] = self.probes;
        while bits != 0 {
            if self.is_at(from + bits.trailing_zeros() as usize, last) {
                return true;
            }
            bits &= bits - 1;
        }
        false
    }

    /// Whether the text stands where a probe was met.
    fn is_at(&self, met: usize, probe: Probe) -> bool {
        let text = met.checked_sub(probe.at).and_then(|at| self.cell.get(at..)?.get(..self.wanted.len()));
        text.is_some_and(|text| text.eq_ignore_ascii_case(self.wanted))
    }
}

/// Where the probes are in the bytes that are looked at, and in those before them.
struct Places<B> {
    /// All but the last, and how far that is behind each.
    earlier: [(B, u32); PROBES - 1],
    last: B,
    /// Bits of `earlier` in the bytes before, which were moved into those that come.
    carried: [u64; PROBES - 1],
    fold: B,
    /// All bytes so far, put together.
    all: B,
}

impl<B: Bytes> Places<B> {
    #[inline(always)]
    fn new([first, second, last]: [Probe; PROBES]) -> Places<B> {
        let earlier = [first, second].map(|probe| (B::splat(probe.byte), probe.before_last));
        let last = B::splat(last.byte);
        Places { earlier, last, carried: [0; PROBES - 1], fold: B::splat(FOLD), all: B::splat(0) }
    }

    /// A bit wherever the last probe is and the others are before it; without the first `known` bytes.
    #[inline(always)]
    fn met(&mut self, bytes: B, known: u32) -> u64 {
        let bytes = bytes.or(self.fold);
        self.all = self.all.or(bytes);
        let mut met = bytes.same(self.last) >> known;
        for ((byte, before_last), carried) in self.earlier.iter().zip(&mut self.carried) {
            let here = bytes.same(*byte) >> known;
            met &= here << before_last | *carried;
            // In two steps: all 64 bits go where it is the place of the last one, too, and one shift cannot do that.
            *carried = here >> 1 >> (WIDE as u32 - 1 - before_last);
        }
        met
    }

    #[inline(always)]
    fn all_ascii(&self) -> bool {
        let high = B::splat(0x80);
        // A bit more changes nothing where it was set.
        self.all.or(high).same(self.all) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Substring, USUAL, WIDE};

    #[test]
    fn case_does_not_matter() {
        let matches = |wanted: &str, cell: &str| Substring::new(wanted).matches(cell.as_bytes());
        let cases = [
            ("ell", "Hello", true),
            ("ELLO", "hello", true),
            ("hello!", "hello", false),
            ("", "", true),
            ("a", "", false),
            ("ab", "aAaB", true),
            ("straße", "Hauptstraße", true),
            ("É", "café", true),
            ("x\u{212a}", "XK", true), // the Kelvin sign's lower case is k
            ("xk", "X\u{212a}", true),
            ("i\u{307}", "\u{130}", true), // and this I's an i with a dot
            ("é", "cafe", false),
            ("a@b", "A`B", false), // these differ as letters of two cases do
            ("[", "{", false),
        ];
        // Long text is searched in another way.
        let around = [String::new(), "_,\n#".repeat(WIDE), "é".repeat(WIDE)];
        for (wanted, cell, want) in cases {
            for around in &around {
                let cell = format!("{around}{cell}{around}");
                assert_eq!(matches(wanted, &cell), want || around.contains(wanted), "{wanted} in {cell}");
            }
        }
        assert!(Substring::new("b").matches(b"\xff\xfeB"));
    }

    #[test]
    fn every_place_of_every_length_is_looked_at() {
        let text = |len: usize, seed: usize| (0..len).map(|i| USUAL[i * i * seed % 7]).collect::<Vec<u8>>();
        for wanted in
            ["b", "Xb", "zbx", "zzzzb", "a long text with a few words, and more than is looked at together at once, b"]
        {
            let search = Substring::new(wanted);
            for len in (0..3 * WIDE).chain([1000]) {
                let mut cell = text(len, 3);
                assert_eq!(search.matches(&cell), naive(&cell, wanted), "{wanted} of {len}");
                for at in 0..(len + 1).saturating_sub(wanted.len()) {
                    cell = text(len, at + 1);
                    cell[at..at + wanted.len()].copy_from_slice(wanted.to_uppercase().as_bytes());
                    assert!(search.matches(&cell), "{wanted} at {at} of {len}");
                    // One byte of it is another, and one somewhere is no ASCII.
                    cell[at + wanted.len() / 2] = b'!';
                    assert_eq!(search.matches(&cell), naive(&cell, wanted), "{wanted} at {at} of {len}");
                    cell[at] = 0xc3;
                    assert_eq!(search.matches(&cell), naive(&cell, wanted), "{wanted} at {at} of {len}");
                }
            }
        }
    }

    fn naive(cell: &[u8], wanted: &str) -> bool {
        String::from_utf8_lossy(cell).to_lowercase().contains(&wanted.to_lowercase())
    }

    /// Wherever in a long cell it stands.
    #[test]
    fn characters_beyond_ascii_are_noticed() {
        let search = Substring::new("kelvin");
        for at in 0..=300 {
            let cell = format!("{}\u{212a}ELVIN{}", "-".repeat(at), "-".repeat(300 - at));
            assert!(search.matches(cell.as_bytes()), "{at}");
        }
    }
}
