//! [`Token`]: what the lexer cuts the text into.

use bytes::Bytes;
use std::fmt;

/// A place in the text that was typed; both count from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A token with its surroundings: Ruby's grammar asks whether blanks stand beside it (`f -1` is no subtraction).
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: Kind,
    pub at: At,
    pub space_before: bool,
    pub space_after: bool,
}

/// A piece of a string: as it is, or `#{…}`.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Plain(Bytes),
    Code(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A line's end, or `;`.
    Newline,
    End,
    Integer(i64),
    Float(f64),
    Text(Vec<Part>),
    /// `/…/` and its flags.
    Pattern(Vec<Part>, String),
    Symbol(String),
    /// `name:` before a value of a hash.
    Label(String),
    /// `%w[…]`, and `%i[…]` if the flag is set.
    Words(Vec<Bytes>, bool),
    /// Starts with a lower-case letter or `_`; with `?` or `!` at its end perhaps.
    Name(String),
    /// `@x`, `$x`.
    Variable(String),
    /// Starts with an upper-case letter.
    Constant(String),
    Keyword(&'static str),
    Sign(&'static str),
}

impl Kind {
    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self, Kind::Sign(s) if *s == sign)
    }
    pub fn is_keyword(&self, word: &str) -> bool {
        matches!(self, Kind::Keyword(w) if *w == word)
    }
    /// Whether an expression may end with it, so that what follows is an operator.
    pub fn ends_value(&self) -> bool {
        match self {
            Kind::Newline | Kind::End | Kind::Label(_) => false,
            Kind::Keyword(word) => matches!(*word, "end" | "nil" | "true" | "false" | "self"),
            Kind::Sign(sign) => matches!(*sign, ")" | "]" | "}"),
            _ => true,
        }
    }
    /// As error messages name it.
    pub fn describe(&self) -> String {
        match self {
            Kind::Newline => "the end of the line".to_owned(),
            Kind::End => "the end of the input".to_owned(),
            Kind::Integer(i) => i.to_string(),
            Kind::Float(f) => f.to_string(),
            Kind::Text(_) => "a string".to_owned(),
            Kind::Pattern(..) => "a pattern".to_owned(),
            Kind::Symbol(name) => format!(":{name}"),
            Kind::Label(name) => format!("{name}:"),
            Kind::Words(..) => "a list of words".to_owned(),
            Kind::Name(name) | Kind::Variable(name) | Kind::Constant(name) => name.clone(),
            Kind::Keyword(word) | Kind::Sign(word) => format!("`{word}`"),
        }
    }
}

pub const KEYWORDS: &[&str] = &[
    "and", "begin", "break", "case", "class", "def", "do", "else", "elsif", "end", "ensure", "false", "for", "if",
    "in", "module", "next", "nil", "not", "or", "rescue", "return", "self", "then", "true", "unless", "until", "when",
    "while", "yield",
];

/// Longest first, so that the first that fits is right.
pub const SIGNS: &[&str] = &[
    "<=>", "===", "**=", "...", "||=", "&&=", "<<=", "=>", "==", "!=", "=~", "!~", "<=", ">=", "&&", "||", "<<", ">>",
    "**", "+=", "-=", "*=", "/=", "%=", "..", "::", "&.", "->", "+", "-", "*", "/", "%", "=", "<", ">", "!", "&", "|",
    "^", "~", "?", ":", ",", ".", "(", ")", "[", "]", "{", "}",
];
