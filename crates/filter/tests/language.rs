//! Golden scripts of the filter language: a line of it, then what a server reads out of the filter, or what is wrong.
//!
//! ```text
//! PrefixFilter('a')                  a line; \t, \n, \\ and \xNN are one byte
//! = PrefixFilter(a)                  the filter's fields in the order of their tags, as the message has them
//! ```
//! `MARTITE_UPDATE=1` writes what is answered into the scripts.

#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

use martite_filter::{Filter, language};
use martite_proto as pb;
use pb::Message;
use std::fmt::Write;
use std::path::Path;

fn message<M: Message + Default>(bytes: &[u8]) -> M {
    M::decode(bytes).unwrap()
}

fn short(name: &str) -> &str {
    name.strip_prefix("org.apache.hadoop.hbase.filter.").unwrap()
}

fn text(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string().replace("\\'", "'")
}

fn optional(bytes: &Option<bytes::Bytes>) -> String {
    bytes.as_ref().map_or("-".to_owned(), |bytes| text(bytes))
}

fn op(number: i32) -> &'static str {
    ["<", "<=", "=", "!=", ">=", ">", "no-op"][number as usize]
}

fn comparator(proto: &pb::Comparator) -> String {
    let bytes = proto.serialized_comparator.as_deref().unwrap();
    let value = match short(&proto.name) {
        "BinaryComparator" => optional(&message::<pb::BinaryComparator>(bytes).comparable.value),
        "BinaryPrefixComparator" => optional(&message::<pb::BinaryPrefixComparator>(bytes).comparable.value),
        "SubstringComparator" => message::<pb::SubstringComparator>(bytes).substr,
        "RegexStringComparator" => {
            let regex: pb::RegexStringComparator = message(bytes);
            format!("{}, {}, {}, {}", regex.pattern, regex.pattern_flags, regex.charset, regex.engine.unwrap())
        }
        other => panic!("{other}"),
    };
    format!("{}({value})", short(&proto.name))
}

fn compare(proto: &pb::CompareFilter) -> String {
    let comparator = proto.comparator.as_ref().map_or("-".to_owned(), comparator);
    format!("{}, {comparator}", op(proto.compare_op))
}

fn single(proto: &pb::SingleColumnValueFilter) -> String {
    let (family, qualifier) = (optional(&proto.column_family), optional(&proto.column_qualifier));
    let (if_missing, latest) = (proto.filter_if_missing.unwrap(), proto.latest_version_only.unwrap());
    let comparator = comparator(&proto.comparator);
    format!("{family}, {qualifier}, {}, {comparator}, {if_missing}, {latest}", op(proto.compare_op))
}

fn list(proto: &pb::FilterList) -> String {
    let filters: Vec<_> = proto.filters.iter().map(describe).collect();
    format!("{}: {}", if proto.operator == 1 { "all" } else { "one" }, filters.join(", "))
}

fn column_filter(name: &str, bytes: &[u8]) -> String {
    match name {
        "ColumnPrefixFilter" => text(&message::<pb::ColumnPrefixFilter>(bytes).prefix),
        "MultipleColumnPrefixFilter" => {
            let prefixes = message::<pb::MultipleColumnPrefixFilter>(bytes).sorted_prefixes;
            prefixes.iter().map(|prefix| text(prefix)).collect::<Vec<_>>().join(", ")
        }
        "ColumnRangeFilter" => {
            let m: pb::ColumnRangeFilter = message(bytes);
            let (from, to) = (m.min_column_inclusive.unwrap(), m.max_column_inclusive.unwrap());
            format!("{}, {from}, {}, {to}", optional(&m.min_column), optional(&m.max_column))
        }
        "ColumnValueFilter" => {
            let m: pb::ColumnValueFilter = message(bytes);
            let comparator = comparator(&m.comparator);
            format!("{}, {}, {}, {comparator}", text(&m.family), text(&m.qualifier), op(m.compare_op))
        }
        "DependentColumnFilter" => {
            let m: pb::DependentColumnFilter = message(bytes);
            let (family, qualifier) = (optional(&m.column_family), optional(&m.column_qualifier));
            format!("{}, {family}, {qualifier}, {}", compare(&m.compare_filter), m.drop_dependent_column.unwrap())
        }
        "ColumnCountGetFilter" => message::<pb::ColumnCountGetFilter>(bytes).limit.to_string(),
        "ColumnPaginationFilter" => {
            let m: pb::ColumnPaginationFilter = message(bytes);
            format!("{}, {}, {}", m.limit, m.offset.unwrap(), optional(&m.column_offset))
        }
        other => panic!("{other}"),
    }
}

fn describe(proto: &pb::Filter) -> String {
    let (name, bytes) = (short(&proto.name), proto.serialized_filter.as_deref().unwrap());
    let fields = match name {
        "FilterList" => list(&message(bytes)),
        "SkipFilter" => describe(&message::<pb::SkipFilter>(bytes).filter),
        "WhileMatchFilter" => describe(&message::<pb::WhileMatchFilter>(bytes).filter),
        "PrefixFilter" => optional(&message::<pb::PrefixFilter>(bytes).prefix),
        "InclusiveStopFilter" => optional(&message::<pb::InclusiveStopFilter>(bytes).stop_row_key),
        "PageFilter" => message::<pb::PageFilter>(bytes).page_size.to_string(),
        "KeyOnlyFilter" => message::<pb::KeyOnlyFilter>(bytes).len_as_val.to_string(),
        "FirstKeyOnlyFilter" => String::new(),
        "TimestampsFilter" => {
            let m: pb::TimestampsFilter = message(bytes);
            format!("{:?}, {}", m.timestamps, m.can_hint.unwrap())
        }
        "RowFilter" => compare(&message::<pb::RowFilter>(bytes).compare_filter),
        "FamilyFilter" => compare(&message::<pb::FamilyFilter>(bytes).compare_filter),
        "QualifierFilter" => compare(&message::<pb::QualifierFilter>(bytes).compare_filter),
        "ValueFilter" => compare(&message::<pb::ValueFilter>(bytes).compare_filter),
        "SingleColumnValueFilter" => single(&message(bytes)),
        "SingleColumnValueExcludeFilter" => {
            single(&message::<pb::SingleColumnValueExcludeFilter>(bytes).single_column_value_filter)
        }
        column => column_filter(column, bytes),
    };
    format!("{name}({fields})")
}

/// A script's line as bytes.
fn unescape(line: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = line.as_bytes();
    while let [byte, tail @ ..] = rest {
        let (one, len) = match (byte, tail.first()) {
            (b'\\', Some(b'n')) => (b'\n', 2),
            (b'\\', Some(b't')) => (b'\t', 2),
            (b'\\', Some(b'x')) => (u8::from_str_radix(std::str::from_utf8(&tail[1..3]).unwrap(), 16).unwrap(), 4),
            (b'\\', _) => (b'\\', 2),
            _ => (*byte, 1),
        };
        bytes.push(one);
        rest = &rest[len..];
    }
    bytes
}

fn answer(line: &str) -> String {
    match language::parse(unescape(line)) {
        Ok(proto) => {
            Filter::decode(&proto).unwrap();
            format!("= {}", describe(&proto))
        }
        Err(error) => format!("! {error}"),
    }
}

fn rewrite(script: &str) -> String {
    let mut result = String::new();
    for line in script.lines().filter(|line| !line.starts_with(['=', '!'])) {
        writeln!(result, "{line}").unwrap();
        if !line.is_empty() && !line.starts_with('#') {
            writeln!(result, "{}", answer(line)).unwrap();
        }
    }
    result
}

#[test]
fn scripts_answer_what_they_say() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let script = std::fs::read_to_string(&path).unwrap();
        let answer = rewrite(&script);
        if std::env::var_os("MARTITE_UPDATE").is_some() {
            std::fs::write(&path, &answer).unwrap();
        } else if answer != script {
            wrong.push(format!("{}:\n{answer}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nesting_is_bounded_before_the_stack_is_full() {
    for open in ["(", "SKIP ", "WHILE("] {
        let error = language::parse(open.repeat(100_000)).unwrap_err();
        assert_eq!(error.reason, "filters are nested more than 100 deep");
    }
}

#[test]
fn any_bytes_are_a_filter_or_a_reason() {
    let line = b"SKIP (PrefixFilter('a''b') OR RowFilter(>=,'binary:x')AND PageFilter(5))";
    for cut in 0..line.len() {
        for byte in 0..=255u8 {
            let mut damaged = line.to_vec();
            damaged[cut] = byte;
            if let Ok(filter) = language::parse(&damaged) {
                Filter::decode(&filter).unwrap();
            }
        }
        // Never a position outside of the text.
        let error = language::parse(&line[..cut]).map_or_else(|error| error.column, |_| 1);
        assert!((1..=cut + 1).contains(&error), "{error} of {cut}");
    }
}
