//! What stands after the `?`: names and values, decoded; patterns of bean names.

use std::fmt::Write;

/// The fields of a query in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked(Vec<(String, String)>);

impl Asked {
    /// Or a sentence that says what is wrong.
    pub fn parse(query: &str) -> Result<Asked, String> {
        let fields = query.split('&').filter(|field| !field.is_empty());
        let fields = fields.map(|field| {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            Ok((decode(name)?, decode(value)?))
        });
        fields.collect::<Result<_, String>>().map(Asked)
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A field that is none of these.
    pub(crate) fn unknown(&self, known: &[&str]) -> Option<&str> {
        self.iter().map(|(name, _)| name).find(|name| !known.contains(name))
    }
}

/// A text as part of a query.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            // Writing into a string does not fail.
            other => drop(write!(out, "%{other:02X}")),
        }
    }
    out
}

fn decode(text: &str) -> Result<String, String> {
    let wrong = || format!("query: {text} is not percent-encoded UTF-8");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
                let (high, low) = (digit().ok_or_else(wrong)?, digit().ok_or_else(wrong)?);
                (high * 16 + low) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// `domain:key=value,…`; `*` and `?` stand for any characters, a last `,*` for any other keys.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    domain: String,
    keys: Vec<(String, String)>,
    others: bool,
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> Result<Pattern, String> {
        let wrong = |why: &str| format!("qry: {text} is no name of beans: {why}");
        let (domain, keys) = text.split_once(':').ok_or_else(|| wrong("it has no domain"))?;
        let mut pattern = Pattern { domain: domain.to_owned(), keys: Vec::new(), others: false };
        for part in keys.split(',') {
            match part.split_once('=') {
                _ if part == "*" => pattern.others = true,
                Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                    if pattern.keys.iter().any(|(known, _)| known == key) {
                        return Err(wrong("a key is there twice"));
                    }
                    pattern.keys.push((key.to_owned(), value.to_owned()));
                }
                _ => return Err(wrong("expected key=value or *")),
            }
        }
        Ok(pattern)
    }

    pub(crate) fn matches(&self, domain: &str, keys: &[(&str, &str)]) -> bool {
        let has = |(key, value): &(String, String)| {
            keys.iter().any(|(k, v)| k == key && like(value.as_bytes(), v.as_bytes()))
        };
        like(self.domain.as_bytes(), domain.as_bytes())
            && self.keys.iter().all(has)
            && (self.others || self.keys.len() == keys.len())
    }
}

/// Whether a text is like a pattern with `*` and `?`: after a mismatch, the last `*` takes one more.
fn like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match &mut star {
                None => return false,
                Some((at, from)) => {
                    *from += 1;
                    (p, t) = (*at + 1, *from);
                }
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_or_refused() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let read = Asked::parse("qry=Hadoop%3Aname=a+b&&get").unwrap();
        assert_eq!(read.0, [pair("qry", "Hadoop:name=a b"), pair("get", "")]);
        assert_eq!(
            (read.get("qry"), read.get("a"), read.unknown(&["qry"])),
            (Some("Hadoop:name=a b"), None, Some("get"))
        );
        let strange = "a b&c=d/ä%";
        assert_eq!(encode(strange), "a%20b%26c%3Dd%2F%C3%A4%25");
        assert_eq!(Asked::parse(&format!("x={}", encode(strange))).unwrap().get("x"), Some(strange));
        for bad in ["a=%4", "a=%zz", "a=%ff"] {
            assert!(Asked::parse(bad).unwrap_err().contains("percent-encoded"), "{bad}");
        }
    }

    #[test]
    fn patterns_match_names() {
        let keys = [("service", "HBase"), ("name", "RegionServer"), ("sub", "Server")];
        let matches = |text: &str| Pattern::parse(text).map(|p| p.matches("Hadoop", &keys));
        for yes in [
            "*:*",
            "Hadoop:*",
            "Hadoop:service=HBase,name=RegionServer,sub=Server",
            "Hadoop:sub=Server,service=HBase,name=Region*",
            "H?doop:name=*Server,*",
        ] {
            assert_eq!(matches(yes), Ok(true), "{yes}");
        }
        for no in ["java.lang:*", "Hadoop:service=HBase,name=RegionServer", "Hadoop:name=Master,*", "Hadoop:na?=R,*"] {
            assert_eq!(matches(no), Ok(false), "{no}");
        }
        for wrong in ["", "Hadoop", "Hadoop:", "Hadoop:name", "Hadoop:a=b,a=c", "Hadoop:=x"] {
            assert!(matches(wrong).unwrap_err().starts_with(&format!("qry: {wrong} is no name")), "{wrong}");
        }
    }
}
