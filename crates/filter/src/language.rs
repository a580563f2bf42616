//! HBase's filter language: what users of its shell, of REST and of Thrift write for a filter.
//!
//! ```text
//! PrefixFilter('row2') AND (QualifierFilter(>=, 'binary:x') OR SKIP ValueFilter(!=, 'substring:it''s'))
//!
//! filter     = all { "OR" all }                   OR binds least
//! all        = one { "AND" one }
//! one        = ( "SKIP" | "WHILE" ) one | "(" filter ")" | name "(" [ argument { "," argument } ] ")"
//! argument   = 'text' | word                      '' in a text is one quote; a word is a number, true, false or an operator
//! comparator = 'type:value'                       type: binary, binaryprefix, regexstring, regexstringnocase, substring
//! operator   = "<" | "<=" | "=" | "!=" | ">=" | ">"
//! ```
//! The same text gives the same filter as HBase 2.6's `ParseFilter`, which also is why commas may be left out and the
//! text may end before its last parentheses. What `ParseFilter` gets wrong is read as meant: operators of two kinds in
//! one pair of parentheses, which it refuses; tabs and ends of lines around operators. What it takes though nobody can
//! mean it is refused: operators behind both their filters, a character behind a text.

use crate::build::{self, CASE_INSENSITIVE, DOTALL};
use crate::decode::MAX_DEPTH;
use crate::{CompareOp, Filter, decode};
use martite_proto as pb;

/// Why a text is no filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("filter, column {column}, {word}: {reason}")]
pub struct LanguageError {
    /// Where the word begins: bytes of the text before it, and one.
    pub column: usize,
    /// The word, as it was written, or what was found in its place.
    pub word: String,
    pub reason: String,
}

type Result<T> = std::result::Result<T, LanguageError>;

/// The filter that a text describes; the text may have any bytes within quotes.
pub fn parse(text: impl AsRef<[u8]>) -> Result<pb::Filter> {
    let mut parser = Parser { text: text.as_ref(), at: 0 };
    let filter = parser.any(0)?;
    if let Some(column) = parser.next_byte() {
        return Err(match column {
            b')' => parser.wrong_here("a parenthesis that closes nothing"),
            _ => parser.wrong_here("AND or OR is missing before it"),
        });
    }
    Filter::decode(&filter).map_err(|error| parser.wrong(0, parser.text, error.to_string()))?;
    Ok(filter)
}

/// The filters that the language knows, in the order in which HBase's shell lists them.
pub fn filter_names() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|(name, _)| *name)
}

type Build = fn(&Call<'_>) -> Result<pb::Filter>;

const FILTERS: &[(&str, Build)] = &[
    ("DependentColumnFilter", dependent_column),
    ("KeyOnlyFilter", |call| {
        call.count(&[0, 1])?;
        Ok(build::key_only(call.args.first().map_or(Ok(false), |_| call.boolean(0))?))
    }),
    ("ColumnCountGetFilter", |call| call.exactly(1, |call| Ok(build::column_count_get(call.int(0)?)))),
    ("SingleColumnValueFilter", |call| Ok(single_column_value(call)?.build())),
    ("PrefixFilter", |call| call.exactly(1, |call| Ok(build::prefix(call.text(0)?)))),
    ("SingleColumnValueExcludeFilter", |call| Ok(single_column_value(call)?.exclude())),
    ("FirstKeyOnlyFilter", |call| call.exactly(0, |_| Ok(build::first_key_only()))),
    ("ColumnRangeFilter", |call| call.exactly(4, column_range)),
    ("ColumnValueFilter", |call| {
        call.exactly(4, |call| {
            let (op, comparator) = call.condition(2)?;
            Ok(build::column_value(call.text(0)?, call.text(1)?, op, comparator))
        })
    }),
    ("TimestampsFilter", |call| {
        let timestamps = (0..call.args.len()).map(|i| call.not_negative(i)).collect::<Result<Vec<_>>>()?;
        Ok(build::timestamps(timestamps))
    }),
    ("FamilyFilter", |call| comparison(call, build::family)),
    ("QualifierFilter", |call| comparison(call, build::qualifier)),
    ("ColumnPrefixFilter", |call| call.exactly(1, |call| Ok(build::column_prefix(call.text(0)?)))),
    ("RowFilter", |call| comparison(call, build::row)),
    ("MultipleColumnPrefixFilter", |call| {
        let prefixes = (0..call.args.len()).map(|i| call.text(i)).collect::<Result<Vec<_>>>()?;
        Ok(build::multiple_column_prefix(prefixes))
    }),
    ("InclusiveStopFilter", |call| call.exactly(1, |call| Ok(build::inclusive_stop(call.text(0)?)))),
    ("PageFilter", |call| call.exactly(1, |call| Ok(build::page(call.not_negative(0)?)))),
    ("ValueFilter", |call| comparison(call, build::value)),
    ("ColumnPaginationFilter", |call| call.exactly(2, |call| Ok(build::column_pagination(call.int(0)?, call.int(1)?)))),
];

fn comparison(call: &Call<'_>, build: fn(CompareOp, pb::Comparator) -> pb::Filter) -> Result<pb::Filter> {
    call.exactly(2, |call| {
        let (op, comparator) = call.condition(0)?;
        Ok(build(op, comparator))
    })
}

fn column_range(call: &Call<'_>) -> Result<pb::Filter> {
    let end = |i| match (call.text(i)?, call.boolean(i + 1)?) {
        ([], inclusive) => Ok((None, inclusive)),
        (column, inclusive) => Ok((Some(column), inclusive)),
    };
    Ok(build::column_range_of(end(0)?, end(2)?))
}

fn single_column_value(call: &Call<'_>) -> Result<build::SingleColumn> {
    call.count(&[4, 6])?;
    let (op, comparator) = call.condition(2)?;
    let column = build::single_column_value(call.text(0)?, call.text(1)?, op, comparator);
    Ok(if call.args.len() == 6 {
        column.filter_if_missing(call.boolean(4)?).latest_version_only(call.boolean(5)?)
    } else {
        column
    })
}

fn dependent_column(call: &Call<'_>) -> Result<pb::Filter> {
    call.count(&[2, 3, 5])?;
    let drop = if call.args.len() > 2 { call.boolean(2)? } else { false };
    let condition = if call.args.len() > 3 { Some((call.operator(3)?, call.comparator(4)?)) } else { None };
    Ok(build::dependent_column(call.text(0)?, call.text(1)?, drop, condition))
}

/// `name(argument, …)`, read but not yet understood.
struct Call<'a> {
    parser: &'a Parser<'a>,
    name: &'a [u8],
    at: usize,
    args: Vec<Argument<'a>>,
}

struct Argument<'a> {
    at: usize,
    /// As it was written.
    word: &'a [u8],
    /// What is between the quotes, if it has them.
    text: Option<Vec<u8>>,
}

impl<'a> Call<'a> {
    fn count(&self, allowed: &[usize]) -> Result<()> {
        if allowed.contains(&self.args.len()) {
            return Ok(());
        }
        let allowed: Vec<_> = allowed.iter().map(usize::to_string).collect();
        let reason = format!("takes {} arguments, not {}", allowed.join(" or "), self.args.len());
        Err(self.parser.wrong(self.at, self.name, reason))
    }

    fn exactly(&self, count: usize, build: impl Fn(&Self) -> Result<pb::Filter>) -> Result<pb::Filter> {
        self.count(&[count])?;
        build(self)
    }

    fn wrong<T>(&self, i: usize, reason: impl Into<String>) -> Result<T> {
        Err(self.parser.wrong(self.args[i].at, self.args[i].word, reason))
    }

    fn text(&self, i: usize) -> Result<&[u8]> {
        match &self.args[i].text {
            Some(text) => Ok(text),
            None => self.wrong(i, "must be in single quotes"),
        }
    }

    fn long(&self, i: usize) -> Result<i64> {
        let digits = self.args[i].word;
        let unsigned = digits.strip_prefix(b"-").unwrap_or(digits);
        if unsigned.is_empty() || !unsigned.iter().all(u8::is_ascii_digit) {
            return self.wrong(i, "must be a whole number, without quotes");
        }
        match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
            Some(number) => Ok(number),
            None => self.wrong(i, "is too large a number"),
        }
    }

    fn not_negative(&self, i: usize) -> Result<i64> {
        let number = self.long(i)?;
        if number < 0 { self.wrong(i, "must not be negative") } else { Ok(number) }
    }

    fn int(&self, i: usize) -> Result<i32> {
        match i32::try_from(self.not_negative(i)?) {
            Ok(number) => Ok(number),
            Err(_) => self.wrong(i, "is too large a number"),
        }
    }

    fn boolean(&self, i: usize) -> Result<bool> {
        match &self.args[i].word.to_ascii_lowercase()[..] {
            b"true" => Ok(true),
            b"false" => Ok(false),
            _ => self.wrong(i, "must be true or false, without quotes"),
        }
    }

    fn operator(&self, i: usize) -> Result<CompareOp> {
        Ok(match self.args[i].word {
            b"<" => CompareOp::Less,
            b"<=" => CompareOp::LessOrEqual,
            b"=" => CompareOp::Equal,
            b"!=" => CompareOp::NotEqual,
            b">=" => CompareOp::GreaterOrEqual,
            b">" => CompareOp::Greater,
            _ => return self.wrong(i, "must be one of < <= = != >= >, without quotes"),
        })
    }

    fn comparator(&self, i: usize) -> Result<pb::Comparator> {
        let text = self.text(i)?;
        let Some(colon) = text.iter().position(|&b| b == b':') else {
            return self.wrong(i, "must be a comparator, 'type:value'");
        };
        let (class, value) = (&text[..colon], &text[colon + 1..]);
        let string = String::from_utf8_lossy(value);
        Ok(match class {
            b"binary" => build::binary(value),
            b"binaryprefix" => build::binary_prefix(value),
            b"regexstring" => build::regex(&string),
            b"regexstringnocase" => build::regex_flags(&string, CASE_INSENSITIVE | DOTALL),
            b"substring" => build::substring(&string),
            _ => {
                let known = "binary, binaryprefix, regexstring, regexstringnocase and substring";
                return self.wrong(i, format!("{} is no comparator; there are {known}", class.escape_ascii()));
            }
        })
    }

    /// An operator and, behind it, a comparator that it goes with.
    fn condition(&self, i: usize) -> Result<(CompareOp, pb::Comparator)> {
        let (op, comparator) = (self.operator(i)?, self.comparator(i + 1)?);
        let orders = !matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        let text = self.text(i + 1)?;
        if orders && (text.starts_with(b"regexstring") || text.starts_with(b"substring")) {
            return self.wrong(i, "only = and != go with regexstring and substring");
        }
        Ok((op, comparator))
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl<'a> Parser<'a> {
    fn wrong(&self, at: usize, word: &[u8], reason: impl Into<String>) -> LanguageError {
        let word = if word.is_empty() {
            "the end".to_owned()
        } else {
            word.escape_ascii().to_string().replace("\\'", "'").replace("\\\"", "\"")
        };
        LanguageError { column: at + 1, word, reason: reason.into() }
    }

    /// Of the word that begins here.
    fn wrong_here(&self, reason: &str) -> LanguageError {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|&b| is_space(b) || b == b'(').unwrap_or(rest.len()).max(1).min(rest.len());
        self.wrong(self.at, &rest[..len], reason)
    }

    /// The next byte that is no space; it stays.
    fn next_byte(&mut self) -> Option<u8> {
        while self.text.get(self.at).copied().is_some_and(is_space) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Passes over `word` if it is next and ends there.
    fn keyword(&mut self, word: &str) -> bool {
        self.next_byte();
        let Some(rest) = self.text[self.at..].strip_prefix(word.as_bytes()) else { return false };
        let ends = rest.first().is_none_or(|&b| is_space(b) || b == b'(');
        if ends {
            self.at += word.len();
        }
        ends
    }

    /// Filters with OR between them.
    fn any(&mut self, depth: usize) -> Result<pb::Filter> {
        self.list("OR", build::any, |parser| parser.list("AND", build::all, |parser| parser.one(depth)))
    }

    fn list(
        &mut self,
        operator: &str,
        build: fn(Vec<pb::Filter>) -> pb::Filter,
        mut operand: impl FnMut(&mut Self) -> Result<pb::Filter>,
    ) -> Result<pb::Filter> {
        let first = operand(self)?;
        if !self.keyword(operator) {
            return Ok(first);
        }
        let mut filters = vec![first, operand(self)?];
        while self.keyword(operator) {
            filters.push(operand(self)?);
        }
        Ok(build(filters))
    }

    fn one(&mut self, depth: usize) -> Result<pb::Filter> {
        let start = self.next_byte();
        if depth >= MAX_DEPTH {
            return Err(self.wrong_here(&format!("filters are nested more than {MAX_DEPTH} deep")));
        }
        if self.keyword("SKIP") {
            return Ok(build::skip(self.one(depth + 1)?));
        }
        if self.keyword("WHILE") {
            return Ok(build::while_match(self.one(depth + 1)?));
        }
        if start != Some(b'(') {
            return self.call();
        }
        self.at += 1;
        let inner = self.any(depth + 1)?;
        match self.next_byte() {
            Some(b')') => self.at += 1,
            None => {}
            Some(_) => return Err(self.wrong_here("AND, OR or a closing parenthesis is missing before it")),
        }
        Ok(inner)
    }

    fn call(&mut self) -> Result<pb::Filter> {
        let at = self.at;
        let rest = &self.text[at..];
        let len = rest.iter().position(|&b| is_space(b) || matches!(b, b'(' | b')' | b',')).unwrap_or(rest.len());
        let name = &rest[..len];
        if name.is_empty() || matches!(name, b"AND" | b"OR") {
            return Err(self.wrong_here("a filter must be here"));
        }
        let Some((_, build)) = FILTERS.iter().find(|(known, _)| known.as_bytes() == name) else {
            return Err(self.wrong(at, name, "is the name of no filter"));
        };
        self.at += len;
        if self.next_byte() != Some(b'(') {
            return Err(self.wrong(at, name, "has no arguments in parentheses"));
        }
        self.at += 1;
        let args = self.arguments(at, name)?;
        let filter = build(&Call { parser: self, name, at, args })?;
        decode::filter(&filter, 0).map_err(|error| self.wrong(at, name, error.to_string()))?;
        Ok(filter)
    }

    /// Up to the closing parenthesis, and over it.
    fn arguments(&mut self, name_at: usize, name: &[u8]) -> Result<Vec<Argument<'a>>> {
        let mut args = Vec::new();
        loop {
            match self.next_byte() {
                None => return Err(self.wrong(name_at, name, "its parenthesis is not closed")),
                Some(b',') => self.at += 1,
                Some(b')') => {
                    self.at += 1;
                    return Ok(args);
                }
                Some(b'\'') => args.push(self.quoted()?),
                Some(_) => args.push(self.word()),
            }
        }
    }

    fn word(&mut self) -> Argument<'a> {
        let (at, rest) = (self.at, &self.text[self.at..]);
        let len = rest.iter().position(|&b| is_space(b) || matches!(b, b',' | b')')).unwrap_or(rest.len());
        self.at += len;
        Argument { at, word: &rest[..len], text: None }
    }

    fn quoted(&mut self) -> Result<Argument<'a>> {
        let at = self.at;
        let mut text = Vec::new();
        self.at += 1;
        loop {
            match self.text[self.at..] {
                [] => return Err(self.wrong(at, &self.text[at..], "its quote is not closed")),
                [b'\'', b'\'', ..] => {
                    text.push(b'\'');
                    self.at += 2;
                }
                [b'\'', ..] => break,
                [byte, ..] => {
                    text.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let follows = self.text.get(self.at).copied();
        if follows.is_some_and(|b| !is_space(b) && !matches!(b, b',' | b')')) {
            return Err(self.wrong_here("a comma is missing before it"));
        }
        Ok(Argument { at, word: &self.text[at..self.at], text: Some(text) })
    }
}
