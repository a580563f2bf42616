//! SubstringComparator: whether the cell's text contains a text, whatever the case of its letters.
//!
//! ```text
//! wanted   m a r t i t e       its three rarest bytes, by their places: m 0, r 2, i 4
//! cell     … E M A R T I N …   is there an m 0 bytes from here, an r 2 from here, and an i 4 from here? 64 places at a time
//!              ↑
//! ```
//! Only where all three are is the whole text compared. So the bytes are loaded three times, from places that overlap: that is cheaper
//! than to move the bits of what is loaded once. Those of one load tell whether they are ASCII, too.

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
        let probe = |at: usize| Probe { byte: wanted[at] | FOLD, at };
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
        if self.cell.len() >= WIDE + self.reach() {
            return self.run_in::<B>(self.cell);
        }
        let mut padded = [0; 2 * WIDE];
        padded[..self.cell.len()].copy_from_slice(self.cell);
        self.run_in::<B>(&padded)
    }
}

impl Search<'_> {
    /// How far the last probe is from where the text begins.
    #[inline(always)]
    fn reach(&self) -> usize {
        let [.., last] = self.probes;
        last.at
    }

    /// `bytes`: the cell, and perhaps others behind it, at least [`WIDE`] and what the probes reach.
    #[inline(always)]
    fn run_in<B: Bytes>(&self, bytes: &[u8]) -> Met {
        let [first, second, third] = self.probes;
        let mut places = Places::<B>::new(self.probes);
        let chunks = |probe: Probe| bytes[probe.at..].as_chunks::<WIDE>().0;
        let (mut from, mut ahead) = (0, LinesAhead::of(self.cell.as_ptr(), AHEAD_BYTES));
        for ((first, second), third) in chunks(first).iter().zip(chunks(second)).zip(chunks(third)) {
            ahead.ask();
            let met = places.met([first, second, third]);
            if met != 0 && self.is_among(from, met) {
                return Met::Wanted;
            }
            from += WIDE;
        }
        // The last ones, some of which were looked at before.
        let last = |probe: Probe| bytes[..bytes.len() - third.at + probe.at].last_chunk::<WIDE>();
        if let (Some(first), Some(second), Some(third)) = (last(first), last(second), last(third)) {
            let met = places.met([first, second, third]);
            if met != 0 && self.is_among(bytes.len() - self.reach() - WIDE, met) {
                return Met::Wanted;
            }
            places.see(third);
        }
        // And those that are before the first probe.
        bytes.first_chunk().into_iter().for_each(|start| places.see(start));
        if places.all_ascii() { Met::Nothing } else { Met::OtherCharacters }
    }

    /// Whether the text begins at one of these bits' places.
    #[cold]
    fn is_among(&self, from: usize, mut bits: u64) -> bool {
        while bits != 0 {
            let at = from + bits.trailing_zeros() as usize;
            let text = self.cell.get(at..).and_then(|text| text.get(..self.wanted.len()));
            if text.is_some_and(|text| text.eq_ignore_ascii_case(self.wanted)) {
                return true;
            }
            bits &= bits - 1;
        }
        false
    }
}

/// Where the probes are.
struct Places<B> {
    probes: [B; PROBES],
    fold: B,
    /// All bytes that were seen, put together.
    all: B,
}

impl<B: Bytes> Places<B> {
    #[inline(always)]
    fn new([first, second, third]: [Probe; PROBES]) -> Places<B> {
        let probes = [B::splat(first.byte), B::splat(second.byte), B::splat(third.byte)];
        Places { probes, fold: B::splat(FOLD), all: B::splat(0) }
    }

    /// A bit wherever each probe is in its bytes. Those of the first one are seen.
    #[inline(always)]
    fn met(&mut self, [first, second, third]: [&[u8; WIDE]; PROBES]) -> u64 {
        let first = B::load(first).or(self.fold);
        let (second, third) = (B::load(second).or(self.fold), B::load(third).or(self.fold));
        self.all = self.all.or(first);
        B::same_in_all([(first, self.probes[0]), (second, self.probes[1]), (third, self.probes[2])])
    }

    #[inline(always)]
    fn see(&mut self, bytes: &[u8; WIDE]) {
        self.all = self.all.or(B::load(bytes));
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
