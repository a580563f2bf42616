//! Java's character classes: bracket expressions, predefined classes and properties.
//!
//! Brackets nest and intersect (`[a-z&&[^aeiou]]`) in Java as in the `regex` crate; what stands in them is spelled out.

use super::java_regex::{Escaped, Parser, TURKISH_I, quote};

/// After `[`: the whole class, in brackets.
pub(super) fn parse(parser: &mut Parser) -> Result<String, String> {
    let class = bracket(parser)?;
    Ok(if parser.ignores_unicode_case() { format!("(?i:{class})") } else { class })
}

fn bracket(parser: &mut Parser) -> Result<String, String> {
    parser.enter()?;
    let mut out = if parser.take_if('^') { "[^".to_string() } else { "[".to_string() };
    let start = out.len();
    loop {
        match parser.peek() {
            None => return Err("a [ is not closed".into()),
            // A ] that comes first means itself.
            Some((']', false)) if out.len() > start => {
                parser.skip();
                break;
            }
            Some(('[', false)) => {
                parser.skip();
                out += &bracket(parser)?;
            }
            Some(('&', false)) => {
                parser.skip();
                if !parser.take_if('&') {
                    range(parser, '&', &mut out)?;
                } else if out.len() > start && !matches!(parser.peek_special(), Some(']' | '&')) {
                    out += "&&";
                }
            }
            Some(('\\', false)) => {
                parser.skip();
                match parser.escape()? {
                    Escaped::Char(c) => range(parser, c, &mut out)?,
                    Escaped::Class(inside, negated) => {
                        out += &format!("[{}{inside}]", if negated { "^" } else { "" });
                    }
                    Escaped::Other(c) => return Err(format!(r"\{c} is not supported in brackets")),
                }
            }
            Some((c, _)) => {
                parser.skip();
                range(parser, c, &mut out)?;
            }
        }
    }
    parser.leave();
    out.push(']');
    Ok(out)
}

/// `first` alone, or as the beginning of `first-last`.
fn range(parser: &mut Parser, first: char, out: &mut String) -> Result<(), String> {
    let mut last = first;
    if parser.peek_special() == Some('-') {
        parser.skip();
        match parser.peek() {
            // The - means itself and is seen to in its turn.
            None | Some((']' | '[', false)) => {
                add(parser, first, first, out);
                add(parser, '-', '-', out);
                return Ok(());
            }
            Some(('\\', false)) => {
                parser.skip();
                match parser.escape()? {
                    Escaped::Char(c) => last = c,
                    _ => return Err("a range ends with a class".into()),
                }
            }
            Some((c, _)) => {
                parser.skip();
                last = c;
            }
        }
    }
    if last < first {
        return Err(format!("the range {first}-{last} is empty"));
    }
    add(parser, first, last, out);
    Ok(())
}

/// Adds a range; with ASCII case ignored, also its letters in the other case.
fn add(parser: &Parser, first: char, last: char, out: &mut String) {
    let mut push = |first: char, last: char| {
        *out += &quote(first);
        if first != last {
            out.push('-');
            *out += &quote(last);
        }
    };
    push(first, last);
    if parser.ignores_unicode_case() && TURKISH_I.chars().any(|i| (first..=last).contains(&i)) {
        TURKISH_I.chars().for_each(|i| push(i, i));
    }
    if parser.ignores_case() && !parser.ignores_unicode_case() {
        let overlap = |from: char, to: char| (first.max(from) <= last.min(to)).then(|| (first.max(from), last.min(to)));
        if let Some((from, to)) = overlap('a', 'z') {
            push(from.to_ascii_uppercase(), to.to_ascii_uppercase());
        }
        if let Some((from, to)) = overlap('A', 'Z') {
            push(from.to_ascii_lowercase(), to.to_ascii_lowercase());
        }
    }
}

/// The inside of `\d`, `\w`, `\s`, `\h`, `\v`.
pub(super) fn predefined(letter: char, unicode: bool) -> &'static str {
    match (letter, unicode) {
        ('d', false) => "0-9",
        ('d', true) => r"\d",
        ('w', false) => "a-zA-Z0-9_",
        ('w', true) => r"\w",
        ('s', false) => r"\t-\r\x20",
        ('s', true) => r"\s",
        ('h', _) => r"\t\x20\x{a0}\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}",
        _ => r"\n-\r\x{85}\x{2028}\x{2029}",
    }
}

/// Properties that are one when case is ignored.
const CASED: [&str; 9] = ["Lu", "Ll", "Lt", "IsLu", "IsLl", "IsLt", "javaLowerCase", "javaUpperCase", "javaTitleCase"];

/// The inside of `\p{name}`.
pub(super) fn property(name: &str, unicode: bool, ignores_case: bool) -> Result<String, String> {
    if ignores_case && CASED.contains(&name.strip_prefix("gc=").unwrap_or(name)) {
        return Ok(r"\p{Lu}\p{Ll}\p{Lt}".into());
    }
    if let Some(inside) = posix(name, unicode, ignores_case).or_else(|| java(name)) {
        return Ok(inside.into());
    }
    let unsupported = || format!("the character property {name} is not supported");
    if let Some((key, value)) = name.split_once('=') {
        return match &key.to_ascii_lowercase()[..] {
            "gc" | "general_category" => Ok(format!(r"\p{{gc={}}}", plain(value)?)),
            "sc" | "script" => Ok(format!(r"\p{{sc={}}}", plain(value)?)),
            _ => Err(unsupported()),
        };
    }
    match name {
        "L1" => return Ok(r"\x00-\x{ff}".into()),
        "LD" => return Ok(r"\p{L}\p{Nd}".into()),
        "all" => return Ok(r"\x00-\x{10ffff}".into()),
        _ if name.starts_with("java") || name.starts_with("In") => return Err(unsupported()),
        _ => {}
    }
    let name = name.strip_prefix("Is").unwrap_or(name);
    let name = match &name.to_ascii_uppercase()[..] {
        "LETTER" => "L",
        "TITLECASE" => "Lt",
        "PUNCTUATION" => "P",
        "CONTROL" => "Cc",
        "DIGIT" => "Nd",
        "ALNUM" => return Ok(r"\p{Alphabetic}\p{Nd}".into()),
        "BLANK" => return Ok(r"\p{Zs}\t".into()),
        _ => name,
    };
    Ok(format!(r"\p{{{}}}", plain(name)?))
}

/// A property's name must not close the braces that it is put in.
fn plain(name: &str) -> Result<&str, String> {
    if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ')) {
        Ok(name)
    } else {
        Err(format!("{name} is no character property"))
    }
}

/// POSIX classes; ASCII unless UNICODE_CHARACTER_CLASS.
fn posix(name: &str, unicode: bool, ignores_case: bool) -> Option<&'static str> {
    Some(match (name, unicode) {
        ("Lower" | "Upper", false) if ignores_case => "a-zA-Z",
        ("Lower", false) => "a-z",
        ("Upper", false) => "A-Z",
        ("ASCII", _) => r"\x00-\x7f",
        ("Alpha", false) => "a-zA-Z",
        ("Digit", false) => "0-9",
        ("Alnum", false) => "a-zA-Z0-9",
        ("Punct", false) => r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
        ("Graph", false) => r"\x21-\x7e",
        ("Print", false) => r"\x20-\x7e",
        ("Blank", false) => r"\t\x20",
        ("Cntrl", false) => r"\x00-\x1f\x7f",
        ("XDigit", false) => "0-9a-fA-F",
        ("Space", false) => r"\t-\r\x20",
        ("Lower", true) => r"\p{Lowercase}",
        ("Upper", true) => r"\p{Uppercase}",
        ("Alpha", true) => r"\p{Alphabetic}",
        ("Digit", true) => r"\p{Nd}",
        ("Alnum", true) => r"\p{Alphabetic}\p{Nd}",
        ("Punct", true) => r"\p{P}",
        ("Blank", true) => r"\p{Zs}\t",
        ("Cntrl", true) => r"\p{Cc}",
        ("XDigit", true) => r"\p{Nd}\p{Hex_Digit}",
        ("Space", true) => r"\p{White_Space}",
        _ => return None,
    })
}

/// Classes named after methods of `java.lang.Character`.
fn java(name: &str) -> Option<&'static str> {
    Some(match name {
        "javaLowerCase" => r"\p{Lowercase}",
        "javaUpperCase" => r"\p{Uppercase}",
        "javaAlphabetic" => r"\p{Alphabetic}",
        "javaTitleCase" => r"\p{Lt}",
        "javaDigit" => r"\p{Nd}",
        "javaLetter" => r"\p{L}",
        "javaLetterOrDigit" => r"\p{L}\p{Nd}",
        "javaISOControl" => r"\p{Cc}",
        "javaSpaceChar" => r"\p{Z}",
        "javaWhitespace" => r"\t-\r\x1c-\x20\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200a}\x{2028}\x{2029}\x{205f}\x{3000}",
        _ => return None,
    })
}
