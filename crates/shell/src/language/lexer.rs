//! [`tokens`]: from text to tokens. Strings become bytes here: escapes are read, `#{…}` is cut into tokens of its own.
//!
//! ```text
//! put 't', "r#{i}\x00", 5    Name(put) Text('t') , Text("r" Code(Name(i)) "\0") , Integer(5)
//! ```
//! What a sign means may depend on what stands before it: `/` and `%w` begin a literal only where a value is expected.

use super::Syntax;
use super::token::{At, KEYWORDS, Kind, Part, SIGNS, Token};
use bytes::Bytes;

/// Cuts a text; `line` is the number of its first line.
pub fn tokens(text: &str, line: usize) -> Result<Vec<Token>, Syntax> {
    let mut lexer = Lexer { text: text.chars().collect(), next: 0, line, column: 1, tokens: Vec::new() };
    lexer.run(false)?;
    Ok(lexer.tokens)
}

struct Lexer {
    text: Vec<char>,
    next: usize,
    line: usize,
    column: usize,
    tokens: Vec<Token>,
}

impl Lexer {
    /// Until the end, or `inside` a string until the brace that closes `#{`.
    fn run(&mut self, inside: bool) -> Result<(), Syntax> {
        let mut depth = 0usize;
        loop {
            let space_before = self.skip_blanks();
            if let Some(last) = self.tokens.last_mut() {
                last.space_after |= space_before || self.next >= self.text.len();
            }
            let at = self.at();
            let Some(c) = self.peek(0) else {
                if inside {
                    return Err(Syntax::Unfinished { open: '"' });
                }
                self.push(Kind::End, at, space_before);
                return Ok(());
            };
            if inside && c == '}' && depth == 0 {
                self.push(Kind::End, at, space_before);
                self.bump();
                return Ok(());
            }
            let kind = self.token(c, at, space_before)?;
            match &kind {
                Kind::Sign("{") => depth += 1,
                Kind::Sign("}") => depth = depth.saturating_sub(1),
                Kind::Newline => {
                    if let Some(last) = self.tokens.last_mut() {
                        last.space_after = true;
                    }
                }
                _ => {}
            }
            self.push(kind, at, space_before);
        }
    }

    fn push(&mut self, kind: Kind, at: At, space_before: bool) {
        self.tokens.push(Token { kind, at, space_before, space_after: false });
    }

    fn token(&mut self, c: char, at: At, space_before: bool) -> Result<Kind, Syntax> {
        match c {
            '\n' | ';' => {
                self.bump();
                Ok(Kind::Newline)
            }
            '\'' => self.single_quoted('\'', None),
            '"' => Ok(Kind::Text(self.parts('"', None)?)),
            '`' => Err(Syntax::at(at, "commands of the system are not run")),
            '0'..='9' => self.number(at),
            '@' | '$' => self.variable(at),
            ':' => self.colon(at),
            '/' if self.begins_literal(space_before) => {
                self.bump_only();
                let parts = self.rest_of_parts('/', None)?;
                let mut flags = String::new();
                while let Some(flag @ ('i' | 'm' | 'x')) = self.peek(0) {
                    flags.push(flag);
                    self.bump();
                }
                Ok(Kind::Pattern(parts, flags))
            }
            '%' if self.begins_literal(space_before) && self.percent_literal().is_some() => self.percent(),
            c if c.is_alphabetic() || c == '_' => Ok(self.word()),
            _ => self.sign(c, at),
        }
    }

    fn at(&self) -> At {
        At { line: self.line, column: self.column }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.next + ahead).copied()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.next += 1;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }

    fn bump_only(&mut self) {
        self.bump();
    }

    /// Blanks, comments and continued lines; whether there was any.
    fn skip_blanks(&mut self) -> bool {
        let mut any = self.next == 0;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\r' => {
                    self.bump();
                }
                '\\' if self.peek(1) == Some('\n') => {
                    self.bump();
                    self.bump();
                }
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.bump();
                    }
                }
                _ => break,
            }
            any = true;
        }
        any
    }

    /// Whether `/` or `%` begins a literal here: no value stands before it, or a name that may be called with it.
    fn begins_literal(&self, space_before: bool) -> bool {
        match self.tokens.last().map(|t| &t.kind) {
            None => true,
            Some(Kind::Name(_)) => space_before && self.peek(1).is_some_and(|c| !c.is_whitespace() && c != '='),
            Some(kind) => !kind.ends_value(),
        }
    }

    fn percent_literal(&self) -> Option<char> {
        let delimiter = |c: Option<char>| c.filter(|c| !c.is_alphanumeric() && !c.is_whitespace());
        match self.peek(1) {
            Some(kind @ ('w' | 'W' | 'i' | 'q' | 'Q')) => delimiter(self.peek(2)).map(|_| kind),
            other => other.filter(|c| matches!(c, '(' | '[' | '{')).map(|_| 'Q'),
        }
    }

    /// `%w[a b]`, `%q(…)`, `%Q(…)`, `%(…)`.
    fn percent(&mut self) -> Result<Kind, Syntax> {
        let kind = self.percent_literal().unwrap_or('Q');
        self.bump();
        if self.peek(0) == Some(kind) {
            self.bump();
        }
        let open = self.bump().unwrap_or('(');
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let nest = (open != close).then_some(open);
        match kind {
            'Q' => Ok(Kind::Text(self.rest_of_parts(close, nest)?)),
            'q' => self.rest_of_single(close, nest),
            _ => {
                let Kind::Text(parts) = self.rest_of_single(close, nest)? else {
                    return Err(Syntax::Unfinished { open: close });
                };
                let words = parts.iter().flat_map(|part| match part {
                    Part::Plain(bytes) => bytes
                        .split(u8::is_ascii_whitespace)
                        .filter(|w| !w.is_empty())
                        .map(Bytes::copy_from_slice)
                        .collect::<Vec<_>>(),
                    Part::Code(_) => Vec::new(),
                });
                Ok(Kind::Words(words.collect(), kind == 'i'))
            }
        }
    }

    fn word(&mut self) -> Kind {
        let mut word = String::new();
        while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || *c == '_') {
            word.push(c);
            self.bump();
        }
        let after_dot = self.tokens.last().is_some_and(|t| t.kind.is_sign(".") || t.kind.is_sign("&."));
        if let Some(mark @ ('?' | '!')) = self.peek(0)
            && self.peek(1) != Some('=')
            && !(mark == '?' && self.is_ternary(after_dot))
        {
            word.push(mark);
            self.bump();
        }
        if self.peek(0) == Some(':') && self.peek(1) != Some(':') && !after_dot && !self.after_question() {
            self.bump();
            return Kind::Label(word);
        }
        if let Some(keyword) = KEYWORDS.iter().find(|k| **k == word)
            && !after_dot
        {
            return Kind::Keyword(keyword);
        }
        match word.chars().next() {
            Some(c) if c.is_uppercase() => Kind::Constant(word),
            _ => Kind::Name(word),
        }
    }

    /// `x ?` is a condition, `x?` a name: a question mark right behind a word belongs to it, unless a value follows it.
    fn is_ternary(&self, after_dot: bool) -> bool {
        !after_dot && self.peek(1).is_some_and(|c| matches!(c, '\'' | '"' | '0'..='9'))
    }

    /// Whether a `?` of this line waits for its `:`.
    fn after_question(&self) -> bool {
        self.tokens.iter().rev().take_while(|t| t.kind != Kind::Newline).any(|t| t.kind.is_sign("?"))
    }

    fn variable(&mut self, at: At) -> Result<Kind, Syntax> {
        let mut name = String::new();
        while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || matches!(c, '_' | '@' | '$')) {
            name.push(c);
            self.bump();
        }
        if name.trim_start_matches(['@', '$']).is_empty() {
            return Err(Syntax::at(at, format!("`{name}` is no name of a variable")));
        }
        Ok(Kind::Variable(name))
    }

    fn colon(&mut self, at: At) -> Result<Kind, Syntax> {
        match self.peek(1) {
            Some(c) if c.is_alphabetic() || c == '_' => {
                self.bump();
                let mut name = String::new();
                while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || matches!(c, '_' | '?' | '!')) {
                    name.push(c);
                    self.bump();
                }
                Ok(Kind::Symbol(name))
            }
            Some(quote @ ('"' | '\'')) => {
                self.bump();
                let Kind::Text(parts) = self.single_quoted(quote, None)? else {
                    return Err(Syntax::Unfinished { open: quote });
                };
                let bytes: Vec<u8> =
                    parts.iter().flat_map(|p| if let Part::Plain(b) = p { b.to_vec() } else { Vec::new() }).collect();
                Ok(Kind::Symbol(String::from_utf8_lossy(&bytes).into_owned()))
            }
            // `:+` where a value is expected, as in `inject(:+)`.
            Some('+' | '-' | '*' | '/') if !self.tokens.last().is_some_and(|t| t.kind.ends_value()) => {
                self.bump();
                Ok(Kind::Symbol(self.bump().map(String::from).unwrap_or_default()))
            }
            _ => self.sign(':', at),
        }
    }

    fn sign(&mut self, c: char, at: At) -> Result<Kind, Syntax> {
        for sign in SIGNS {
            if sign.chars().enumerate().all(|(i, c)| self.peek(i) == Some(c)) {
                for _ in 0..sign.len() {
                    self.bump();
                }
                return Ok(Kind::Sign(sign));
            }
        }
        Err(Syntax::at(at, format!("`{c}` means nothing here")))
    }
}

/// Numbers.
impl Lexer {
    fn number(&mut self, at: At) -> Result<Kind, Syntax> {
        let radix = match (self.peek(0), self.peek(1)) {
            (Some('0'), Some('x' | 'X')) => 16,
            (Some('0'), Some('b' | 'B')) => 2,
            (Some('0'), Some('o' | 'O')) => 8,
            _ => 10,
        };
        if radix != 10 {
            self.bump();
            self.bump();
        }
        let mut digits = self.digits(radix);
        let is_octal = radix == 10 && digits.len() > 1 && digits.starts_with('0');
        let fraction = radix == 10 && self.peek(0) == Some('.') && self.peek(1).is_some_and(|c| c.is_ascii_digit());
        if fraction {
            self.bump();
            digits.push('.');
            digits.push_str(&self.digits(10));
        }
        let signed = usize::from(matches!(self.peek(1), Some('+' | '-')));
        let exponent = radix == 10
            && matches!(self.peek(0), Some('e' | 'E'))
            && self.peek(1 + signed).is_some_and(|c| c.is_ascii_digit());
        if exponent {
            for _ in 0..=signed {
                digits.extend(self.bump());
            }
            digits.push_str(&self.digits(10));
        }
        if self.peek(0).is_some_and(|c| c.is_alphanumeric()) {
            return Err(Syntax::at(at, format!("`{digits}` goes on with letters: is it a name that wants quotes?")));
        }
        if fraction || exponent {
            return digits.parse().map(Kind::Float).map_err(|_| Syntax::at(at, format!("`{digits}` is no number")));
        }
        let radix = if is_octal { 8 } else { radix };
        i64::from_str_radix(&digits, radix)
            .map(Kind::Integer)
            .map_err(|_| Syntax::at(at, format!("`{digits}` is no integer of 64 bits")))
    }

    fn digits(&mut self, radix: u32) -> String {
        let mut digits = String::new();
        while let Some(c) = self.peek(0) {
            if c.is_digit(radix) {
                digits.push(c);
            } else if !(c == '_' && self.peek(1).is_some_and(|c| c.is_digit(radix))) {
                break;
            }
            self.bump();
        }
        digits
    }
}

/// Strings.
impl Lexer {
    fn single_quoted(&mut self, close: char, nest: Option<char>) -> Result<Kind, Syntax> {
        self.bump();
        self.rest_of_single(close, nest)
    }

    /// Only `\\` and the escaped quote mean something; everything else stays as it is.
    fn rest_of_single(&mut self, close: char, nest: Option<char>) -> Result<Kind, Syntax> {
        let mut text = String::new();
        let mut depth = 0usize;
        loop {
            let c = self.bump().ok_or(Syntax::Unfinished { open: close })?;
            match c {
                '\\' if self.peek(0).is_some_and(|c| c == close || c == '\\') => text.extend(self.bump()),
                c if c == close && depth == 0 => break,
                c => {
                    depth += usize::from(Some(c) == nest);
                    depth -= usize::from(c == close);
                    text.push(c);
                }
            }
        }
        Ok(Kind::Text(vec![Part::Plain(text.into())]))
    }

    fn parts(&mut self, close: char, nest: Option<char>) -> Result<Vec<Part>, Syntax> {
        self.bump();
        self.rest_of_parts(close, nest)
    }

    /// With escapes and `#{…}`; the opening quote is behind us.
    fn rest_of_parts(&mut self, close: char, nest: Option<char>) -> Result<Vec<Part>, Syntax> {
        let mut parts = Vec::new();
        let mut plain: Vec<u8> = Vec::new();
        let mut depth = 0usize;
        loop {
            let at = self.at();
            let c = self.bump().ok_or(Syntax::Unfinished { open: close })?;
            match c {
                // A pattern's escapes are the pattern's business.
                '\\' if close == '/' => {
                    if self.peek(0) != Some('/') {
                        plain.push(b'\\');
                    }
                    push_char(&mut plain, self.bump().ok_or(Syntax::Unfinished { open: close })?);
                }
                '\\' => self.escape(&mut plain, at, close)?,
                '#' if self.peek(0) == Some('{') => {
                    self.bump();
                    parts.push(Part::Plain(std::mem::take(&mut plain).into()));
                    let outer = std::mem::take(&mut self.tokens);
                    let ended = self.run(true);
                    parts.push(Part::Code(std::mem::replace(&mut self.tokens, outer)));
                    ended?;
                }
                c if c == close && depth == 0 => break,
                c => {
                    depth += usize::from(Some(c) == nest);
                    depth -= usize::from(c == close);
                    push_char(&mut plain, c);
                }
            }
        }
        parts.push(Part::Plain(plain.into()));
        parts.retain(|part| !matches!(part, Part::Plain(bytes) if bytes.is_empty()));
        Ok(parts)
    }

    fn escape(&mut self, out: &mut Vec<u8>, at: At, close: char) -> Result<(), Syntax> {
        let c = self.bump().ok_or(Syntax::Unfinished { open: close })?;
        match c {
            'n' => out.push(b'\n'),
            't' => out.push(b'\t'),
            'r' => out.push(b'\r'),
            's' => out.push(b' '),
            'a' => out.push(7),
            'b' => out.push(8),
            'e' => out.push(27),
            'f' => out.push(12),
            'v' => out.push(11),
            '\n' => {}
            'x' => match self.code(16, 2) {
                Some(byte) => out.push(byte as u8),
                None => return Err(Syntax::at(at, "invalid hex escape")),
            },
            '0'..='7' => {
                self.next -= 1;
                self.column -= 1;
                out.push(self.code(8, 3).unwrap_or_default() as u8);
            }
            'u' if self.peek(0) == Some('{') => {
                self.bump();
                while self.peek(0) == Some(' ') || self.peek(0).is_some_and(|c| c.is_ascii_hexdigit()) {
                    match self.code(16, 6) {
                        Some(code) => push_char(out, char::from_u32(code).ok_or_else(|| not_unicode(at))?),
                        None => self.bump_only(),
                    }
                }
                if self.bump() != Some('}') {
                    return Err(Syntax::at(at, "invalid Unicode escape"));
                }
            }
            'u' => {
                let start = self.next;
                let code = self.code(16, 4).filter(|_| self.next - start == 4);
                push_char(out, code.and_then(char::from_u32).ok_or_else(|| not_unicode(at))?);
            }
            c => push_char(out, c),
        }
        Ok(())
    }

    fn code(&mut self, radix: u32, most: usize) -> Option<u32> {
        let mut code = None;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|c| c.to_digit(radix)) else { break };
            code = Some(code.unwrap_or(0) * radix + digit);
            self.bump();
        }
        code
    }
}

fn not_unicode(at: At) -> Syntax {
    Syntax::at(at, "invalid Unicode escape")
}

fn push_char(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
