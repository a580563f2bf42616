//! SubstringComparator: whether the cell's text contains a text, whatever the case of its letters.
//!
//! ```text
//! wanted   m a r t i t e       its three rarest bytes, by their places: m 0, r 2, i 4
//! cell     … E M A R T I N …   64 places at a time: is there an m, an r two behind it, and an i four behind it?
//! ```
//! Only where all three are is the whole text compared.

use super::Input;
use crate::error::Result;
use crate::required::required;
use martite_env::wide::{Loop, widest};
use martite_proto as pb;

#[derive(Debug)]
pub(super) struct Substring {
    pub lower: String,
    rarest: [Probe; PROBES],
}

const PROBES: usize = 3;
/// Places that are looked at together.
const WIDE: usize = 64;
/// Bytes that text has most of, the rarest first. Those that are not here are rarer.
const USUAL: &[u8] = b"zqjxkvbpygfwmu9876543210cldrhsnioate ";

/// A byte of the wanted text.
#[derive(Debug, Clone, Copy, Default)]
struct Probe {
    at: usize,
    byte: u8,
    /// What makes a letter the small one; other bytes stay as they are.
    fold: u8,
}

impl Probe {
    fn new(wanted: &[u8], at: usize) -> Probe {
        let byte = wanted[at];
        Probe { at, byte, fold: if byte.is_ascii_lowercase() { 0x20 } else { 0 } }
    }

    /// 1 for the byte in both cases, else 0. A letter is met by a few other bytes, too.
    #[inline(always)]
    fn meets(self, byte: u8) -> u8 {
        u8::from(byte | self.fold == self.byte)
    }
}

pub(super) fn decode(input: &Input<'_>) -> Result<Substring> {
    let proto: pb::SubstringComparator = input.message(&[required(1, "substr")])?;
    Ok(Substring::new(&proto.substr))
}

impl Substring {
    fn new(wanted: &str) -> Substring {
        let lower = wanted.to_lowercase();
        Substring { rarest: rarest(lower.as_bytes()), lower }
    }

    pub fn matches(&self, cell: &[u8]) -> bool {
        let wanted = self.lower.as_bytes();
        if wanted.is_empty() {
            return true;
        }
        // Bytes of ASCII are never a part of other characters; but these may have one as their lower case.
        let met = match wanted.is_ascii() {
            true => widest(Search { cell, wanted, rarest: self.rarest }),
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
    /// Of a cell without the wanted text; `bytes`: enough of its bytes, or several put together, to tell.
    #[inline(always)]
    fn no(bytes: &[u8]) -> Met {
        if bytes.is_ascii() { Met::Nothing } else { Met::OtherCharacters }
    }
}

fn rarest(wanted: &[u8]) -> [Probe; PROBES] {
    let usual = |at: &usize| USUAL.iter().position(|byte| *byte == wanted[*at]).map_or(0, |place| place + 1);
    let mut places: Vec<usize> = (0..wanted.len()).collect();
    places.sort_by_key(usual);
    let mut probes = [Probe::default(); PROBES];
    if !places.is_empty() {
        probes.iter_mut().zip(places.iter().cycle()).for_each(|(probe, at)| *probe = Probe::new(wanted, *at));
    }
    probes
}

/// Looks for an ASCII text, which is not empty, in small or capital letters.
struct Search<'a> {
    cell: &'a [u8],
    wanted: &'a [u8],
    rarest: [Probe; PROBES],
}

impl Loop for Search<'_> {
    type Output = Met;

    #[inline(always)]
    fn run(self) -> Met {
        let Search { cell, wanted, rarest } = self;
        let Some(last) = cell.len().checked_sub(wanted.len()) else { return Met::no(cell) };
        let is_at = |at: usize| cell[at..at + wanted.len()].eq_ignore_ascii_case(wanted);
        let [first, second, third] = rarest.map(|probe| &cell[probe.at..=probe.at + last]);
        let Some(last_wide) = (last + 1).checked_sub(WIDE) else {
            let found = (0..=last).any(|at| rarest[0].meets(first[at]) != 0 && is_at(at));
            return if found { Met::Wanted } else { Met::no(cell) };
        };
        let places = [first, second, third];
        let mut from = 0;
        while let Some(met) = next_met(places, rarest, from) {
            if (met..met + WIDE).any(|at| rarest[0].meets(first[at]) != 0 && is_at(at)) {
                return Met::Wanted;
            }
            if met == last_wide {
                break;
            }
            from = met + WIDE;
        }
        // One byte tells as much as all.
        Met::no(&[cell.iter().fold(0, |all, byte| all | byte)])
    }
}

/// Of the [`WIDE`] places from `from` on, those behind them, and so on, the first ones among which is one where all three bytes
/// are. The last ones are as many, so that some may be looked at again.
#[inline(always)]
fn next_met(places: [&[u8]; PROBES], rarest: [Probe; PROBES], from: usize) -> Option<usize> {
    let last = places[0].len().checked_sub(WIDE)?;
    let mut from = from.min(last);
    loop {
        let [Some(a), Some(b), Some(c)] = places.map(|bytes| bytes[from..].first_chunk::<WIDE>()) else { return None };
        let mut met = 0;
        for i in 0..WIDE {
            met |= rarest[0].meets(a[i]) & rarest[1].meets(b[i]) & rarest[2].meets(c[i]);
        }
        if met != 0 {
            return Some(from);
        }
        if from == last {
            return None;
        }
        from = (from + WIDE).min(last);
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
