//! SubstringComparator: whether the cell's text contains a text, whatever the case of its letters.

use super::Input;
use crate::error::Result;
use crate::required::required;
use aho_corasick::{Span, packed};
use martite_proto as pb;
use std::sync::OnceLock;

#[derive(Debug)]
pub(super) struct Substring {
    pub lower: String,
    /// How the text begins, in upper and lower case: many bytes at a time. Made when a long cell comes.
    beginnings: OnceLock<Option<packed::Searcher>>,
}

/// Shorter cells are looked through byte by byte.
const SHORT: usize = 64;
/// So many bytes of the beginning: fewer are met too often, more have too many forms.
const BEGINNING: usize = 4;

pub(super) fn decode(input: &Input<'_>) -> Result<Substring> {
    let proto: pb::SubstringComparator = input.message(&[required(1, "substr")])?;
    Ok(Substring::new(&proto.substr))
}

impl Substring {
    fn new(wanted: &str) -> Substring {
        Substring { lower: wanted.to_lowercase(), beginnings: OnceLock::new() }
    }

    pub fn matches(&self, cell: &[u8]) -> bool {
        let wanted = self.lower.as_bytes();
        if !cell.is_ascii() {
            return String::from_utf8_lossy(cell).to_lowercase().contains(&self.lower);
        }
        let Some((&first, _)) = wanted.split_first() else {
            return true;
        };
        let Some(last_start) = cell.len().checked_sub(wanted.len()) else {
            return false;
        };
        let is_at = |at: usize| cell[at..at + wanted.len()].eq_ignore_ascii_case(wanted);
        if cell.len() > SHORT
            && let Some(search) = self.beginnings.get_or_init(|| beginnings(wanted))
        {
            let (mut start, end) = (0, cell.len());
            while let Some(found) = search.find_in(cell, Span { start, end }).map(|found| found.start())
                && found <= last_start
            {
                if is_at(found) {
                    return true;
                }
                start = found + 1;
            }
            return false;
        }
        let upper = first.to_ascii_uppercase();
        (0..=last_start).any(|at| (cell[at] == first || cell[at] == upper) && is_at(at))
    }
}

/// None if the machine has no instructions for it.
fn beginnings(wanted: &[u8]) -> Option<packed::Searcher> {
    let mut forms = vec![Vec::new()];
    for byte in &wanted[..wanted.len().min(BEGINNING)] {
        let mut cases = vec![*byte, byte.to_ascii_uppercase()];
        cases.dedup();
        let longer = |form: &Vec<u8>| cases.iter().map(|case| [&form[..], &[*case]].concat()).collect::<Vec<_>>();
        forms = forms.iter().flat_map(longer).collect();
    }
    packed::Searcher::new(forms)
}

#[cfg(test)]
mod tests {
    use super::Substring;

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
            ("é", "cafe", false),
        ];
        // Long text is searched in another way.
        let around = [String::new(), "_,\n#".repeat(super::SHORT)];
        for (wanted, cell, want) in cases {
            for around in &around {
                let cell = format!("{around}{cell}{around}");
                assert_eq!(matches(wanted, &cell), want, "{wanted} in {cell}");
            }
        }
        let long = "a(b".repeat(super::SHORT);
        assert!(matches("A(BA(", &long) && !matches("a.b", &long));
        assert!(Substring::new("b").matches(b"\xff\xfeB"));
    }
}
