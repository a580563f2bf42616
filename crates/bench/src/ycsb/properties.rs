//! [`Properties`]: settings by name, from files in the form of `java.util.Properties` and from the command line.
//!
//! ```text
//! # a comment          ! another
//! name=value           name : value           name value
//! long = first \
//!        second        backslash at the end: the line goes on; \t \n \r \f \uXXXX stand for one character
//! ```

use crate::Error;
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

#[derive(Debug, Clone, Default)]
pub struct Properties(BTreeMap<String, String>);

impl Properties {
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.to_owned(), value.to_owned());
    }

    /// Adds those of a file; they replace what has the same name.
    pub fn read(&mut self, file: &Path) -> Result<(), Error> {
        // Java reads ISO 8859-1; in names and values of benchmarks both are the same.
        let text = std::fs::read(file).map_err(Error::file(file))?;
        self.parse(&String::from_utf8_lossy(&text));
        Ok(())
    }

    pub fn parse(&mut self, text: &str) {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with(['#', '!']) {
                continue;
            }
            let mut whole = line.to_owned();
            while goes_on(&whole) {
                whole.pop();
                match lines.next() {
                    Some(more) => whole.push_str(more.trim_start()),
                    None => break,
                }
            }
            let (name, value) = split(&whole);
            self.0.insert(unescape(name), unescape(value));
        }
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn text<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.get(name).unwrap_or(default)
    }

    /// Java's: `true` in any case is true, all else false.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        self.get(name).map_or(default, |value| value.eq_ignore_ascii_case("true"))
    }

    pub fn number<N: FromStr>(&self, name: &str, default: N) -> Result<N, Error> {
        match self.get(name).map(str::trim) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| Error::Setup(format!("the property {name}: {text:?} is not a number in its range"))),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// An odd number of backslashes at the end.
fn goes_on(line: &str) -> bool {
    line.bytes().rev().take_while(|b| *b == b'\\').count() % 2 == 1
}

/// The name ends with the first =, : or blank that has no backslash; the value begins after it and the blanks around it.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c: char| {
        let ends = !escaped && (c == '=' || c == ':' || c.is_ascii_whitespace());
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else { return (line, "") };
    let rest = line[end..].trim_start();
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (&line[..end], value.trim_start())
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let code: String = chars.by_ref().take(4).collect();
                out.push(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_forms_are_read() {
        let mut properties = Properties::default();
        properties.parse(
            "# comment\n! another\n\na=1\n  b : two words  \nc three\nd=x\\\n   y\ne\nf\\ g=h\\tj\\u0041\nk==v\na=2\nend=no\\\\\n",
        );
        let all: Vec<(&str, &str)> = properties.iter().collect();
        assert_eq!(
            all,
            [
                ("a", "2"),
                ("b", "two words  "),
                ("c", "three"),
                ("d", "xy"),
                ("e", ""),
                ("end", "no\\"),
                ("f g", "h\tjA"),
                ("k", "=v")
            ]
        );
    }

    #[test]
    fn values_have_types() {
        let mut properties = Properties::default();
        properties.parse("n=12\nwrong=1x\nyes=TRUE\nno=1\n");
        assert_eq!((properties.number("n", 5u64).unwrap(), properties.number("m", 5u64).unwrap()), (12, 5));
        let told = properties.number("wrong", 0u64).unwrap_err().to_string();
        assert!(told.contains("property wrong") && told.contains("\"1x\""), "{told}");
        let flags = ["yes", "no", "none"].map(|name| properties.flag(name, true));
        assert_eq!(flags, [true, false, true]);
        assert_eq!((properties.text("n", "x"), properties.text("z", "x")), ("12", "x"));
    }
}
