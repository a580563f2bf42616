//! Comparators against values, and Java's regular expressions as text.
//!
//! Input of `comparator`: `| u16 length of the message | Comparator message | value |`.
//! Input of `regex`: `| flags | pattern | 00 | text |`.

use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use crate::targets::filter::{PACKAGE, comparators, names};
use martite_filter::Comparator;
use martite_proto as pb;
use pb::Message;

pub const COMPARATOR: Target = Target {
    name: "comparator",
    run: run_comparator,
    seeds: comparator_seeds,
    words: names,
    form: Form::Binary,
    max_len: 4 << 10,
    budget: Budget { fixed_bytes: 64 << 20, per_byte: 256 },
    smoke: 6_000,
};

pub const REGEX: Target = Target {
    name: "regex",
    run: run_regex,
    seeds: regex_seeds,
    words: syntax,
    form: Form::Text,
    max_len: 600,
    // A compiled pattern may take 10 MiB, in several forms, and its cache as much.
    budget: Budget { fixed_bytes: 128 << 20, per_byte: 4096 },
    smoke: 3_000,
};

const VALUES: [&[u8]; 5] =
    [b"", b"row2", &[0, 0, 0, 0, 0, 0, 0, 5], b"\xff\xfe\xc3\x28", b"aaaaaaaaaaaaaaaaaaaaaaaaaaaa!"];

fn run_comparator(input: &[u8]) {
    let Some((len, rest)) = input.split_first_chunk::<2>() else { return };
    let (message, value) = rest.split_at((u16::from_be_bytes(*len) as usize).min(rest.len()));
    let Ok(proto) = pb::Comparator::decode(message) else { return };
    let Ok(comparator) = Comparator::decode(&proto) else { return };
    let _ = (comparator.name(), comparator.value());
    for value in VALUES.iter().chain([&value]) {
        let compared = comparator.try_compare(value);
        let expected = compared.unwrap_or(std::cmp::Ordering::Greater);
        assert_eq!(comparator.compare(value), expected);
    }
}

fn comparator_seeds() -> Vec<Vec<u8>> {
    let seed = |proto: &pb::Comparator| {
        let message = proto.encode_to_vec();
        [&(message.len() as u16).to_be_bytes(), &message[..], b"value"].concat()
    };
    comparators().iter().map(seed).collect()
}

fn run_regex(input: &[u8]) {
    let Some((flags, rest)) = input.split_first() else { return };
    let end = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
    let (pattern, text) = rest.split_at(end);
    let proto = pb::RegexStringComparator {
        pattern: String::from_utf8_lossy(pattern).into_owned(),
        // All flags of java.util.regex.Pattern fit into 9 bits.
        pattern_flags: i32::from(*flags) << 1,
        charset: ["UTF-8", "ISO-8859-1", "US-ASCII"][*flags as usize % 3].into(),
        engine: None,
    };
    let proto = pb::Comparator {
        name: format!("{PACKAGE}RegexStringComparator"),
        serialized_comparator: Some(proto.encode_to_vec().into()),
    };
    let Ok(comparator) = Comparator::decode(&proto) else { return };
    for text in VALUES.iter().chain([&text]) {
        let _ = comparator.try_compare(text);
    }
}

const PATTERNS: [&str; 14] = [
    "^abc.*$",
    "(a|b)*?c{2,5}+",
    "[a-z&&[^aeiou]]+",
    "\\p{Lu}\\P{IsLatin}\\d\\W\\R",
    "(?<name>x)\\k<name>\\1",
    "(?i:a)(?-s).(?m)^$",
    "(?=a)(?!b)(?<=c)(?<!d)",
    "\\Qa.b\\E\\x41\\u0042\\0101\\cA",
    "(?>a+)b|c",
    "[\\w\\-\\]&&[^x-z]]",
    "((((a))))",
    "(?x) a b # comment\n c",
    "\\bword\\B|\\Aa\\z|\\Zb\\G",
    "(a+)+$",
];

fn regex_seeds() -> Vec<Vec<u8>> {
    let flags = [0u8, 16, 1, 4, 32, 2, 0x80, 8, 64, 3, 5, 6, 20, 0];
    PATTERNS.iter().zip(flags).map(|(p, flags)| [&[flags], p.as_bytes(), b"\0abcabc"].concat()).collect()
}

fn syntax() -> Vec<Vec<u8>> {
    SYNTAX.split_whitespace().map(|word| word.as_bytes().to_vec()).chain(words(&[" ", "\n"])).collect()
}

/// Pieces of patterns, a space between them.
const SYNTAX: &str = r"(?: (?<n> \k<n> (?= (?! (?<= (?<! (?> (?i) (?-s: (?x) (?u) (?U) ) | * + ? *? ++ {2} {1000} {2,}
    {0,1000} [ ] [^ && - \p{L} \p{IsHan} \P{javaLowerCase} \p{Alpha} \d \D \w \s \S \h \v \R \X \b \B \A \z \Z \G \Q \E
    \1 \9 \12 \x{10ffff} \x41 \u00e9 \ud83d\ude00 \0377 \cA \N{DIGIT} ^ $ . é ß 😀 #";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_understood() {
        for seed in comparator_seeds() {
            let proto = pb::Comparator::decode(&seed[2..seed.len() - 5]).expect("a message");
            assert!(Comparator::decode(&proto).is_ok(), "{}", proto.name);
        }
        assert_eq!(regex_seeds().len(), PATTERNS.len());
    }
}
