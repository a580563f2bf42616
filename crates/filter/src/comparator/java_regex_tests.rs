//! Patterns against what Java itself says of them (testdata/java_regex.tsv), and what is refused on purpose.

use super::translate;

fn text(written: &str) -> String {
    let mut out = String::new();
    let mut rest = written;
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        let named = after.split_once('}').and_then(|(name, after)| {
            let c = match name {
                "n" => '\n',
                "r" => '\r',
                _ if name.len() < 2 => return None,
                _ => char::from_u32(u32::from_str_radix(name, 16).ok()?)?,
            };
            Some((c, after))
        });
        match named {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out + rest
}

/// `y` and `n` for each text, or `bad`.
fn marks(pattern: &str, flags: i32, texts: &[String]) -> String {
    match super::super::regex_string::finder(pattern, flags) {
        Err(_) => "bad".into(),
        Ok(finds) => texts.iter().map(|text| if finds(text) { 'y' } else { 'n' }).collect(),
    }
}

/// Where we differ from Java, and why that is well.
const DIFFERENCES: &[(&str, &str)] = &[
    // Java does not look for two line terminators in \r\n; its documentation says it would.
    ("0", r"\R{2}"),
    // Characters by name are refused.
    ("0", r"\N{DIGIT ONE}"),
    // Blanks inside of one token are refused, whatever COMMENTS says.
    ("4", "( ? :a)"),
    ("4", "a{2 }"),
    ("4", r"\x4 1"),
];

#[test]
fn what_java_finds_is_found() {
    let mut texts = Vec::new();
    let mut wrong = Vec::new();
    let mut checked = 0;
    for line in include_str!("../../testdata/java_regex.tsv").lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        match columns[..] {
            ["texts", ref rest @ ..] => texts = rest.iter().map(|t| text(t)).collect(),
            [flags, pattern, want] => {
                checked += 1;
                let got = marks(pattern, flags.parse().unwrap(), &texts);
                let known = DIFFERENCES.contains(&(flags, pattern));
                if (got != want) != known {
                    let shown = translate(pattern, flags.parse().unwrap()).map(|t| t.pattern);
                    wrong.push(format!("{flags} {pattern}\n  java {want}\n  here {got}\n  {shown:?}"));
                }
            }
            _ => {}
        }
    }
    assert!(checked > 500, "{checked} patterns");
    assert!(wrong.is_empty(), "{} of {checked} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_not_supported_is_said() {
    let cases = [
        ("a", 128, "the flag CANON_EQ is not supported"),
        ("a", 512, "flags 0x200 are unknown"),
        (r"\p{InGreek}", 0, "the character property InGreek is not supported"),
        (r"\X", 0, r"\X is not supported"),
        (r"\b{g}", 0, r"\b{g} is not supported"),
        (r"\uD83D", 0, "half of a surrogate pair is not supported"),
        ("a)", 0, "a ) has no ("),
        ("*", 0, "nothing stands before *"),
        ("[z-a]", 0, "the range z-a is empty"),
    ];
    for (pattern, flags, want) in cases {
        assert_eq!(translate(pattern, flags).err().as_deref(), Some(want), "{pattern}");
    }
    assert_eq!(translate(&"(".repeat(101), 0).err().as_deref(), Some("nested more than 100 deep"));
    assert_eq!(translate(&"[".repeat(101), 0).err().as_deref(), Some("nested more than 100 deep"));
}

#[test]
fn everyday_patterns_run_in_linear_time() {
    let linear = [r"^user\d+_.*\.log$", r"(?i)a|b$", r"[a-z&&[^b]]+?", r"^(\w+)@(\w+)\.com$", r"\Qa.b\E\p{L}"];
    for pattern in linear {
        assert!(!translate(pattern, 32).unwrap().needs_backtracking, "{pattern}");
    }
    for pattern in ["a(?=b)", "a++", r"(a)\1", "(?>a)", "a$b", "(?<=a)b"] {
        assert!(translate(pattern, 32).unwrap().needs_backtracking, "{pattern}");
    }
}
