//! RegexStringComparator: whether a Java regular expression finds something in the cell's text.
//!
//! Most patterns run on the `regex` crate, in time linear in the text. Those with look-around, back-references and the
//! like run on `fancy-regex`, which backtracks; it is stopped after [`BACKTRACK_LIMIT`] steps, which fails the scan.

use super::{Input, java_regex};
use crate::error::{Result, evaluation};
use crate::required::required;
use martite_proto as pb;
use std::borrow::Cow;

pub(super) const CLASS: &str = "RegexStringComparator";

/// Steps for one value, well below 0.1 s.
const BACKTRACK_LIMIT: usize = 1_000_000;

#[derive(Debug)]
pub(super) struct RegexString {
    pub pattern: String,
    engine: Engine,
    charset: Charset,
}

#[derive(Debug)]
enum Engine {
    Linear(regex::Regex),
    Backtracking(Box<fancy_regex::Regex>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Charset {
    Utf8,
    Latin1,
    Ascii,
}

pub(super) fn decode(input: &Input<'_>) -> Result<RegexString> {
    let wanted = &[required(1, "pattern"), required(2, "pattern_flags"), required(3, "charset")];
    let proto: pb::RegexStringComparator = input.message(wanted)?;
    // JONI is another implementation of the same syntax.
    if let Some(engine) = proto.engine.as_deref().filter(|engine| !matches!(*engine, "JAVA" | "JONI")) {
        return Err(input.malformed(format!("regular expression engine {engine} is unknown")));
    }
    let charset = Charset::from_name(&proto.charset)
        .ok_or_else(|| input.malformed(format!("character set {} is not supported", proto.charset)))?;
    let engine = compile(&proto.pattern, proto.pattern_flags)
        .map_err(|reason| input.malformed(format!("pattern {}: {reason}", proto.pattern)))?;
    Ok(RegexString { pattern: proto.pattern, engine, charset })
}

fn compile(pattern: &str, flags: i32) -> std::result::Result<Engine, String> {
    let translated = java_regex::translate(pattern, flags)?;
    if !translated.needs_backtracking {
        return regex::Regex::new(&translated.pattern).map(Engine::Linear).map_err(|e| last_line(&e.to_string()));
    }
    let engine = fancy_regex::RegexBuilder::new(&translated.pattern).backtrack_limit(BACKTRACK_LIMIT).build();
    engine.map(|regex| Engine::Backtracking(Box::new(regex))).map_err(|e| last_line(&e.to_string()))
}

/// The reason at the end of a multi-line report whose excerpts are of the translated pattern.
fn last_line(report: &str) -> String {
    let line = report.lines().next_back().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_string()
}

impl RegexString {
    pub fn matches(&self, cell: &[u8]) -> Result<bool> {
        let text = self.charset.decode(cell);
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(&text)),
            Engine::Backtracking(regex) => regex.is_match(&text[..]).map_err(|error| {
                let (pattern, len) = (&self.pattern, cell.len());
                evaluation(CLASS, format!("pattern {pattern} on a value of {len} bytes: {error}"))
            }),
        }
    }
}

impl Charset {
    fn from_name(java_name: &str) -> Option<Charset> {
        Some(match &java_name.to_ascii_uppercase()[..] {
            // None given: the comparator's own default.
            "" | "UTF-8" | "UTF8" => Charset::Utf8,
            "ISO-8859-1" | "ISO8859_1" | "LATIN1" => Charset::Latin1,
            "US-ASCII" | "ASCII" => Charset::Ascii,
            _ => return None,
        })
    }

    /// What cannot be decoded becomes U+FFFD, as in Java.
    fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match (self, std::str::from_utf8(bytes)) {
            (Charset::Utf8, Ok(text)) => Cow::Borrowed(text),
            (_, Ok(text)) if text.is_ascii() => Cow::Borrowed(text),
            (Charset::Utf8, Err(_)) => String::from_utf8_lossy(bytes),
            (Charset::Latin1, _) => bytes.iter().map(|&b| char::from(b)).collect(),
            (Charset::Ascii, _) => {
                bytes.iter().map(|&b| if b < 0x80 { char::from(b) } else { char::REPLACEMENT_CHARACTER }).collect()
            }
        }
    }
}

/// For the comparison with Java: the pattern alone, without comparator.
#[cfg(test)]
pub(super) fn finder(pattern: &str, flags: i32) -> std::result::Result<impl Fn(&str) -> bool, String> {
    let engine = compile(pattern, flags)?;
    let regex = RegexString { pattern: pattern.into(), engine, charset: Charset::Utf8 };
    Ok(move |text: &str| regex.matches(text.as_bytes()).expect("a short search"))
}

#[cfg(test)]
mod tests {
    use crate::scan_model::{pb, regex, regex_with};
    use crate::{Comparator, FilterError};
    use std::cmp::Ordering::{Equal, Greater};

    #[test]
    fn finds_anywhere_and_answers_zero_or_one() {
        let comparator = Comparator::decode(&regex("b.d")).unwrap();
        assert_eq!(comparator.compare(b"abcde"), Equal);
        assert_eq!(comparator.compare(b"ab\nde"), Equal, "DOTALL");
        assert_eq!(comparator.compare(b"abccd"), Greater);
        assert_eq!(comparator.compare(b"\xff\xfeb\xffd"), Equal, "bytes that are no text");
    }

    #[test]
    fn character_sets() {
        let finds = |pattern: &str, charset: &str, cell: &[u8]| {
            Comparator::decode(&regex_with(pattern, 32, charset)).map(|c| c.compare(cell) == Equal)
        };
        assert_eq!(finds("é", "UTF-8", "é".as_bytes()), Ok(true));
        assert_eq!(finds("é", "UTF-8", b"\xe9"), Ok(false));
        assert_eq!(finds("é", "ISO-8859-1", b"\xe9"), Ok(true));
        assert_eq!(finds("^\\x{fffd}$", "US-ASCII", b"\xe9"), Ok(true));
        assert_eq!(finds("^a$", "US-ASCII", b"a"), Ok(true));
        let error = finds("a", "EBCDIC-CP-US", b"").unwrap_err().to_string();
        assert_eq!(error, "malformed RegexStringComparator: character set EBCDIC-CP-US is not supported");
    }

    #[test]
    fn a_pattern_that_backtracks_too_long_fails_with_the_reason() {
        let comparator = Comparator::decode(&regex(r"^((a+)\2?)+$")).unwrap();
        let error =
            comparator.try_compare(&[b'a'; 64][..].iter().chain(b"!").copied().collect::<Vec<u8>>()).unwrap_err();
        let FilterError::Evaluation { class, reason } = *error else { panic!("{error}") };
        assert_eq!(class, "RegexStringComparator");
        assert!(reason.starts_with(r"pattern ^((a+)\2?)+$ on a value of 65 bytes: "), "{reason}");
        // The same without the reference is linear.
        let linear = Comparator::decode(&regex(r"^(a+)+$")).unwrap();
        assert_eq!(linear.try_compare(&[b'a'; 100_000]), Ok(Equal));
    }

    #[test]
    fn bad_patterns_and_engines_are_refused() {
        let error = |proto: &pb::Comparator| Comparator::decode(proto).unwrap_err().to_string();
        assert_eq!(error(&regex("a(b")), "malformed RegexStringComparator: pattern a(b: a group is not closed");
        assert!(error(&regex("(a{1000}){1000}")).contains("size limit"), "{}", error(&regex("(a{1000}){1000}")));
        let proto = pb::RegexStringComparator {
            pattern: "a".into(),
            pattern_flags: 0,
            charset: "UTF-8".into(),
            engine: Some("PCRE".into()),
        };
        let proto = crate::scan_model::comparator("RegexStringComparator", &proto);
        assert_eq!(error(&proto), "malformed RegexStringComparator: regular expression engine PCRE is unknown");
    }
}
