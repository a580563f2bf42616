//! SubstringComparator: whether the cell's text contains a text, whatever the case of its letters.

use super::Input;
use crate::error::Result;
use crate::required::required;
use martite_proto as pb;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::OnceLock;

#[derive(Debug)]
pub(super) struct Substring {
    pub lower: String,
    /// For ASCII text: many bytes at a time. Made when a long one comes.
    search: OnceLock<Option<Regex>>,
}

/// Shorter text is looked through byte by byte.
const SHORT: usize = 64;

pub(super) fn decode(input: &Input<'_>) -> Result<Substring> {
    let proto: pb::SubstringComparator = input.message(&[required(1, "substr")])?;
    Ok(Substring::new(&proto.substr))
}

impl Substring {
    fn new(wanted: &str) -> Substring {
        Substring { lower: wanted.to_lowercase(), search: OnceLock::new() }
    }

    pub fn matches(&self, cell: &[u8]) -> bool {
        let wanted = self.lower.as_bytes();
        if !cell.is_ascii() {
            return String::from_utf8_lossy(cell).to_lowercase().contains(&self.lower);
        }
        if cell.len() > SHORT
            && let Some(search) = self.search.get_or_init(|| search(&self.lower))
        {
            return search.is_match(cell);
        }
        let Some((&first, rest)) = wanted.split_first() else {
            return true;
        };
        let Some(last_start) = cell.len().checked_sub(wanted.len()) else {
            return false;
        };
        let upper = first.to_ascii_uppercase();
        let starts = cell[..=last_start].iter().enumerate().filter(|(_, b)| **b == first || **b == upper);
        starts.into_iter().any(|(i, _)| cell[i + 1..i + wanted.len()].eq_ignore_ascii_case(rest))
    }
}

/// None if the text is too long for it.
fn search(lower: &str) -> Option<Regex> {
    RegexBuilder::new(&regex::escape(lower)).case_insensitive(true).unicode(false).build().ok()
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
