//! Java's regular expressions (`java.util.regex.Pattern`) in terms of the `regex` and `fancy-regex` crates.
//!
//! What differs is spelled out: `.`, `^`, `$` know Java's line terminators; `\d \w \s` and POSIX classes are ASCII unless
//! UNICODE_CHARACTER_CLASS; ignoring case is ASCII unless UNICODE_CASE; `\Q..\E`, comments and flags are resolved here.
//!
//! ```text
//! (?i)id=\d++$   becomes   [iI][dD]=(?>[0-9]+)(?:(?:\r\n|[\n\r..])?\z)   and needs backtracking, for the (?>..)
//! ```
//! Only whether something is found matters, not where: a `$` that ends the pattern may thus eat the line terminator.

use super::java_class;

/// `java.util.regex.Pattern`'s constants.
const UNIX_LINES: i32 = 1;
const CASE_INSENSITIVE: i32 = 2;
const COMMENTS: i32 = 4;
const MULTILINE: i32 = 8;
const LITERAL: i32 = 16;
const DOTALL: i32 = 32;
const UNICODE_CASE: i32 = 64;
const CANON_EQ: i32 = 128;
const UNICODE_CHARACTER_CLASS: i32 = 256;

/// With UNICODE_CASE Java takes these four for one letter, against Unicode's simple case folding.
pub(super) const TURKISH_I: &str = "iI\u{130}\u{131}";

/// Groups and character classes may be nested this deep.
const MAX_DEPTH: usize = 100;

pub(super) struct Translated {
    pub pattern: String,
    /// Not for the `regex` crate: look-around, back-references, atomic groups.
    pub needs_backtracking: bool,
}

pub(super) fn translate(pattern: &str, flags: i32) -> Result<Translated, String> {
    if flags & !0x1ff != 0 {
        return Err(format!("flags {flags:#x} are unknown"));
    }
    if flags & CANON_EQ != 0 {
        return Err("the flag CANON_EQ is not supported".into());
    }
    let chars = if flags & LITERAL != 0 { pattern.chars().map(|c| (c, true)).collect() } else { unquote(pattern) };
    let mut parser =
        Parser { chars, at: 0, out: String::new(), flags, groups: 0, depth: 0, in_behind: false, backtracking: false };
    parser.alternatives()?;
    if parser.at < parser.chars.len() {
        return Err("a ) has no (".into());
    }
    Ok(Translated { pattern: parser.out, needs_backtracking: parser.backtracking })
}

/// The characters of the pattern; true: it was between `\Q` and `\E` and means itself.
fn unquote(pattern: &str) -> Vec<(char, bool)> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix("\\Q") {
            let (literal, after) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            out.extend(literal.chars().map(|c| (c, true)));
            rest = after;
            continue;
        }
        out.push((c, false));
        rest = &rest[c.len_utf8()..];
        // An escaped backslash must not be taken for the beginning of \Q.
        if c == '\\'
            && let Some(escaped) = rest.chars().next()
        {
            out.push((escaped, false));
            rest = &rest[escaped.len_utf8()..];
        }
    }
    out
}

pub(super) struct Parser {
    chars: Vec<(char, bool)>,
    at: usize,
    out: String,
    flags: i32,
    /// Capturing groups opened so far.
    groups: usize,
    depth: usize,
    in_behind: bool,
    backtracking: bool,
}

/// What an escape stands for.
pub(super) enum Escaped {
    Char(char),
    /// The inside of a bracket expression, and whether it is negated.
    Class(String, bool),
    /// Something that only means something outside of brackets.
    Other(char),
}

impl Parser {
    pub fn has(&self, flag: i32) -> bool {
        self.flags & flag != 0
    }
    pub fn unicode_classes(&self) -> bool {
        self.has(UNICODE_CHARACTER_CLASS)
    }
    pub fn ignores_case(&self) -> bool {
        self.has(CASE_INSENSITIVE)
    }
    pub fn ignores_unicode_case(&self) -> bool {
        self.has(CASE_INSENSITIVE) && self.has(UNICODE_CASE)
    }

    /// The next character and whether it means itself; skips what COMMENTS makes invisible.
    pub fn peek(&mut self) -> Option<(char, bool)> {
        while self.has(COMMENTS) {
            match self.chars.get(self.at) {
                Some(('\t'..='\r' | ' ', false)) => self.at += 1,
                Some(('#', false)) => {
                    while self.chars.get(self.at).is_some_and(|(c, _)| !is_line_end(*c)) {
                        self.at += 1;
                    }
                }
                _ => break,
            }
        }
        self.chars.get(self.at).copied()
    }
    /// The next character, if it has its special meaning.
    pub fn peek_special(&mut self) -> Option<char> {
        self.peek().filter(|(_, literal)| !literal).map(|(c, _)| c)
    }
    pub fn take_if(&mut self, wanted: char) -> bool {
        let there = self.peek_special() == Some(wanted);
        self.at += usize::from(there);
        there
    }
    /// The next character, whatever it is.
    fn raw(&mut self) -> Option<char> {
        let (c, _) = *self.chars.get(self.at)?;
        self.at += 1;
        Some(c)
    }
    pub fn skip(&mut self) {
        self.at += 1;
    }
    pub fn enter(&mut self) -> Result<(), String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(format!("nested more than {MAX_DEPTH} deep")) } else { Ok(()) }
    }
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Up to the end or to a `)`.
    fn alternatives(&mut self) -> Result<(), String> {
        loop {
            let start = self.out.len();
            match self.peek() {
                None | Some((')', false)) => return Ok(()),
                Some(('|', false)) => {
                    self.skip();
                    self.out.push('|');
                    continue;
                }
                Some((c, literal)) => {
                    self.skip();
                    let quantifiable = if literal { self.literal(c) } else { self.atom(c)? };
                    if !quantifiable {
                        continue;
                    }
                }
            }
            self.quantifier(start)?;
        }
    }

    /// One element, whose first character is taken. False: it was no element (inline flags).
    fn atom(&mut self, first: char) -> Result<bool, String> {
        match first {
            '(' => return self.group(),
            '[' => {
                let class = java_class::parse(self)?;
                self.out += &class;
            }
            '.' => self.dot(),
            '^' => self.caret(),
            '$' => self.dollar(self.has(MULTILINE)),
            '*' | '+' | '?' => return Err(format!("nothing stands before {first}")),
            '{' => return Err("a { must be escaped".into()),
            '\\' => self.escape_outside()?,
            c => return Ok(self.literal(c)),
        }
        Ok(true)
    }

    fn literal(&mut self, c: char) -> bool {
        if self.ignores_unicode_case() && TURKISH_I.contains(c) {
            self.out += &format!("[{TURKISH_I}]");
        } else if self.ignores_unicode_case() {
            self.out += &format!("(?i:{})", quote(c));
        } else if self.ignores_case() && c.is_ascii_alphabetic() {
            self.out.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
        } else {
            self.out += &quote(c);
        }
        true
    }

    fn dot(&mut self) {
        self.out += if self.has(DOTALL) {
            "(?s:.)"
        } else if self.has(UNIX_LINES) {
            r"[^\n]"
        } else {
            r"[^\n\r\x{85}\x{2028}\x{2029}]"
        };
    }

    /// With MULTILINE it also stands after a line terminator, but never at the very end.
    fn caret(&mut self) {
        self.out += match (self.has(MULTILINE), self.has(UNIX_LINES)) {
            (false, _) => r"\A",
            (true, true) => r"(?:(?!\z)(?:\A|(?<=\n)))",
            (true, false) => r"(?:(?!\z)(?:\A|(?<=[\n\x{85}\x{2028}\x{2029}])|(?<=\r)(?!\n)))",
        };
        self.backtracking |= self.has(MULTILINE);
    }

    /// At the end or before a last line terminator; with MULTILINE before any.
    fn dollar(&mut self, multiline: bool) {
        let unix = self.has(UNIX_LINES);
        if !multiline && !self.in_behind && self.nothing_follows() {
            self.out += if unix { r"(?:\n?\z)" } else { r"(?:(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z)" };
            return;
        }
        self.backtracking = true;
        self.out += match (multiline, unix) {
            (true, true) => r"(?=\n|\z)",
            (true, false) => r"(?:(?=[\r\x{85}\x{2028}\x{2029}]|\z)|(?<!\r)(?=\n))",
            (false, true) => r"(?=\n?\z)",
            (false, false) => r"(?:(?=(?:\r\n|[\r\x{85}\x{2028}\x{2029}])?\z)|(?<!\r)(?=\n\z))",
        };
    }

    /// Whether the pattern ends here, but for closing groups and other alternatives.
    fn nothing_follows(&self) -> bool {
        let mut rest = self.chars[self.at..].iter();
        let mut skipped_groups = None;
        let mut in_class = 0;
        while let Some((c, literal)) = rest.next() {
            match (skipped_groups, c) {
                _ if *literal && skipped_groups.is_none() => return false,
                _ if *literal => {}
                (None, ')') => {}
                (None, '|') => skipped_groups = Some(0),
                (None, _) => return false,
                (Some(_), '\\') => drop(rest.next()),
                (Some(_), '[') => in_class += 1,
                (Some(_), ']') if in_class > 0 => in_class -= 1,
                (Some(_), _) if in_class > 0 => {}
                (Some(n), '(') => skipped_groups = Some(n + 1),
                (Some(0), ')') => skipped_groups = None,
                (Some(n), ')') => skipped_groups = Some(n - 1),
                _ => {}
            }
        }
        true
    }

    /// After `(`. False: it only set flags.
    fn group(&mut self) -> Result<bool, String> {
        let (flags, in_behind) = (self.flags, self.in_behind);
        if !self.take_if('?') {
            self.groups += 1;
            self.out.push('(');
        } else {
            match self.raw() {
                Some(':') => self.out += "(?:",
                Some(c @ ('=' | '!' | '>')) => {
                    self.backtracking = true;
                    self.out.extend(['(', '?', c]);
                }
                Some('<') => self.behind_or_name()?,
                Some(c) => {
                    self.at -= usize::from(c != ')');
                    if !self.inline_flags()? {
                        return Ok(false);
                    }
                    self.out += "(?:";
                }
                None => return Err("a group is not closed".into()),
            }
        }
        self.enter()?;
        self.alternatives()?;
        self.leave();
        if !self.take_if(')') {
            return Err("a group is not closed".into());
        }
        self.out.push(')');
        (self.flags, self.in_behind) = (flags, in_behind);
        Ok(true)
    }

    /// After `(?<`.
    fn behind_or_name(&mut self) -> Result<(), String> {
        if let Some((c @ ('=' | '!'), _)) = self.chars.get(self.at).copied() {
            self.at += 1;
            self.backtracking = true;
            self.in_behind = true;
            self.out += &format!("(?<{c}");
            return Ok(());
        }
        let name = self.name('>')?;
        self.groups += 1;
        self.out += &format!("(?<{name}>");
        Ok(())
    }

    /// A group's name up to `end`.
    fn name(&mut self, end: char) -> Result<String, String> {
        let mut name = String::new();
        loop {
            match self.raw() {
                Some(c) if c == end && !name.is_empty() => return Ok(name),
                Some(c) if c.is_ascii_alphabetic() || (c.is_ascii_digit() && !name.is_empty()) => name.push(c),
                _ => return Err("a group has no proper name".into()),
            }
        }
    }

    /// `idmsuxU-idmsuxU` and `)` (false) or `:` (true: they hold for this group).
    fn inline_flags(&mut self) -> Result<bool, String> {
        let mut on = true;
        loop {
            let flag = match self.raw() {
                Some('-') => {
                    on = false;
                    continue;
                }
                Some(')') => return Ok(false),
                Some(':') => return Ok(true),
                Some('d') => UNIX_LINES,
                Some('i') => CASE_INSENSITIVE,
                Some('m') => MULTILINE,
                Some('s') => DOTALL,
                Some('u') => UNICODE_CASE,
                Some('x') => COMMENTS,
                Some('U') => UNICODE_CHARACTER_CLASS | UNICODE_CASE,
                Some(c) => return Err(format!("(?{c} is unknown")),
                None => return Err("a group is not closed".into()),
            };
            self.flags = if on { self.flags | flag } else { self.flags & !flag };
        }
    }

    fn escape_outside(&mut self) -> Result<(), String> {
        match self.escape()? {
            Escaped::Char(c) => drop(self.literal(c)),
            Escaped::Class(inside, negated) => self.out += &format!("[{}{inside}]", if negated { "^" } else { "" }),
            Escaped::Other('A' | 'G') => self.out += r"\A",
            Escaped::Other('z') => self.out += r"\z",
            Escaped::Other('Z') => self.dollar(false),
            Escaped::Other('R') => self.out += r"(?:\r\n|[\n\x0b\x0c\r\x{85}\x{2028}\x{2029}])",
            Escaped::Other(c @ ('b' | 'B')) => {
                if self.peek_special() == Some('{') {
                    return Err(r"\b{g} is not supported".into());
                }
                self.out.extend(['\\', c]);
            }
            Escaped::Other('k') => {
                if self.raw() != Some('<') {
                    return Err(r"\k is not followed by <name>".into());
                }
                let name = self.name('>')?;
                self.back_reference(&format!(r"\k<{name}>"));
            }
            Escaped::Other(digit @ '1'..='9') => self.numbered_reference(digit),
            Escaped::Other(c) => return Err(format!(r"\{c} is not supported")),
        }
        Ok(())
    }

    /// More digits belong to the number only as long as there are so many groups already.
    fn numbered_reference(&mut self, first: char) {
        let mut number = first as usize - '0' as usize;
        while let Some((c @ '0'..='9', false)) = self.chars.get(self.at).copied() {
            let longer = number * 10 + (c as usize - '0' as usize);
            if longer > self.groups {
                break;
            }
            number = longer;
            self.at += 1;
        }
        if number > self.groups {
            // No such group: it never matches.
            self.backtracking = true;
            self.out += "(?!)";
        } else {
            self.back_reference(&format!(r"\{number}"));
        }
    }

    fn back_reference(&mut self, reference: &str) {
        self.backtracking = true;
        let open = if self.ignores_case() { "(?i:" } else { "(?:" };
        self.out += &format!("{open}{reference})");
    }

    /// After a backslash.
    pub fn escape(&mut self) -> Result<Escaped, String> {
        let c = self.raw().ok_or("the pattern ends with a backslash")?;
        Ok(match c {
            't' => Escaped::Char('\t'),
            'n' => Escaped::Char('\n'),
            'r' => Escaped::Char('\r'),
            'f' => Escaped::Char('\x0c'),
            'a' => Escaped::Char('\x07'),
            'e' => Escaped::Char('\x1b'),
            'c' => {
                let c = self.raw().ok_or(r"\c is followed by nothing")?;
                Escaped::Char(char::from_u32(c as u32 ^ 0x40).ok_or(r"\c is followed by no letter")?)
            }
            '0' => Escaped::Char(self.octal()?),
            'x' => Escaped::Char(self.hexadecimal()?),
            'u' => Escaped::Char(self.utf16()?),
            'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'h' | 'H' | 'v' | 'V' => {
                let inside = java_class::predefined(c.to_ascii_lowercase(), self.unicode_classes());
                Escaped::Class(inside.into(), c.is_ascii_uppercase())
            }
            'p' | 'P' => {
                let name = self.property_name()?;
                let inside = java_class::property(&name, self.unicode_classes(), self.ignores_case())?;
                Escaped::Class(inside, c == 'P')
            }
            c if c.is_ascii_alphanumeric() => Escaped::Other(c),
            c => Escaped::Char(c),
        })
    }

    /// After `\p`: one letter or a name in braces.
    fn property_name(&mut self) -> Result<String, String> {
        match self.raw() {
            Some('{') => {}
            Some(c) => return Ok(c.to_string()),
            None => return Err(r"\p is followed by nothing".into()),
        }
        let mut name = String::new();
        loop {
            match self.raw() {
                Some('}') => return Ok(name),
                Some(c) => name.push(c),
                None => return Err(r"\p{ is not closed".into()),
            }
        }
    }

    /// After `\0`: one to three octal digits, at most 377.
    fn octal(&mut self) -> Result<char, String> {
        let mut value = 0;
        for i in 0..3 {
            match self.chars.get(self.at) {
                Some((c @ '0'..='7', _)) if i < 2 || value <= 0o37 => value = value * 8 + (*c as u32 - '0' as u32),
                _ if i == 0 => return Err(r"\0 is not followed by an octal digit".into()),
                _ => break,
            }
            self.at += 1;
        }
        char::from_u32(value).ok_or_else(|| "an octal character is out of range".into())
    }

    /// After `\x`: two digits, or `{` digits `}`.
    fn hexadecimal(&mut self) -> Result<char, String> {
        let wrong = || r"\x is not followed by a character's number".to_string();
        let value = if self.chars.get(self.at) == Some(&('{', false)) {
            self.at += 1;
            let mut value = 0u32;
            loop {
                match self.raw() {
                    Some('}') => break value,
                    Some(c) if value <= 0x10ffff => value = value << 4 | c.to_digit(16).ok_or_else(wrong)?,
                    _ => return Err(wrong()),
                }
            }
        } else {
            self.hex_digits(2).ok_or_else(wrong)?
        };
        char::from_u32(value).ok_or_else(wrong)
    }

    /// After `\u`: four digits; two of them may be a surrogate pair.
    fn utf16(&mut self) -> Result<char, String> {
        let wrong = || r"\u is not followed by a character's number".to_string();
        let unit = self.hex_digits(4).ok_or_else(wrong)?;
        if let Some(c) = char::from_u32(unit) {
            return Ok(c);
        }
        if self.raw() != Some('\\') || self.raw() != Some('u') {
            return Err("half of a surrogate pair is not supported".into());
        }
        let low = self.hex_digits(4).ok_or_else(wrong)?;
        match char::decode_utf16([unit as u16, low as u16]).next() {
            Some(Ok(c)) => Ok(c),
            _ => Err("half of a surrogate pair is not supported".into()),
        }
    }

    fn hex_digits(&mut self, count: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..count {
            value = value << 4 | self.raw()?.to_digit(16)?;
        }
        Some(value)
    }

    /// After an element that begins at `start` of the output.
    fn quantifier(&mut self, start: usize) -> Result<(), String> {
        let quantifier = match self.peek_special() {
            Some(c @ ('*' | '+' | '?')) => {
                self.skip();
                c.to_string()
            }
            Some('{') => {
                self.skip();
                self.bounds()?
            }
            _ => return Ok(()),
        };
        self.out += &quantifier;
        if self.take_if('?') {
            self.out.push('?');
        } else if self.take_if('+') {
            self.backtracking = true;
            self.out.insert_str(start, "(?>");
            self.out.push(')');
        }
        Ok(())
    }

    /// After `{`: `n}`, `n,}` or `n,m}`.
    fn bounds(&mut self) -> Result<String, String> {
        let mut text = "{".to_string();
        let mut commas = 0;
        loop {
            match self.raw() {
                Some(c @ '0'..='9') => text.push(c),
                Some(',') if commas == 0 && text.len() > 1 => {
                    commas = 1;
                    text.push(',');
                }
                Some('}') if text.len() > 1 => {
                    text.push('}');
                    return Ok(text);
                }
                _ => return Err("a repetition must read {n}, {n,} or {n,m}".into()),
            }
        }
    }
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The character itself, for either crate, inside and outside of brackets.
pub(super) fn quote(c: char) -> String {
    match c {
        _ if c.is_alphanumeric() => c.to_string(),
        ' ' | '_' | '=' | ':' | ',' | ';' | '/' | '<' | '>' | '"' | '\'' | '@' | '%' | '!' => c.to_string(),
        _ => format!("\\x{{{:x}}}", c as u32),
    }
}

#[cfg(test)]
#[path = "java_regex_tests.rs"]
mod tests;
