//! Filters: decoded from a request and asked about the rows of a scan, forwards and backwards.
//!
//! Input: `| flags | Filter message |`. Flag 1: the scan is reversed.

use crate::mutate::Form;
use crate::target::{Budget, Target};
use bytes::Bytes;
use martite_cell::{CellBuf, OwnedCell, key, tags};
use martite_filter::{Filter, ReturnCode};
use martite_proto as pb;
use pb::Message;

pub const TARGET: Target = Target {
    name: "filter",
    run,
    seeds,
    words: names,
    form: Form::Proto(1),
    max_len: 16 << 10,
    // Compiled patterns: the regex crate stops at 10 MiB each, and a list may have some.
    budget: Budget { fixed_bytes: 64 << 20, per_byte: 4096 },
    smoke: 4_000,
};

pub const PACKAGE: &str = "org.apache.hadoop.hbase.filter.";

fn run(input: &[u8]) {
    let Some((flags, message)) = input.split_first() else { return };
    let Ok(proto) = pb::Filter::decode(message) else { return };
    let Ok(mut filter) = Filter::decode(&proto) else { return };
    scan(&mut filter, flags & 1 != 0);
}

/// Rows with a few columns, versions and tags.
fn rows() -> Vec<Vec<OwnedCell>> {
    let rows: [&[u8]; 7] = [b"a", b"row1", b"row2", b"row2\0", b"row3", b"z\xff\xff", &[0xff; 40]];
    let mut section = Vec::new();
    tags::append(&mut section, tags::TTL, &5u64.to_be_bytes());
    let cell = |row: &[u8], family: &[u8], qualifier: &[u8], timestamp, value: &[u8]| {
        OwnedCell::new(&key::flat_key(row, family, qualifier, timestamp, 4), value, &section, 1)
    };
    let cells = |row: &&[u8]| {
        vec![
            cell(row, b"f", b"", 9, b""),
            cell(row, b"f", b"a", 9, &[0, 0, 0, 0, 0, 0, 0, 5]),
            cell(row, b"f", b"a", 8, b"abcabcabc"),
            cell(row, b"f", b"abc", 5, b"value"),
            cell(row, b"f", b"q", 3, b"\xff\xfe not text \x80"),
            cell(row, b"g", b"q", 5, &[0, 0, 0, 2, 0x04, 0xd2]),
            cell(row, b"g", b"z", martite_cell::LATEST_TIMESTAMP, b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!"),
        ]
    };
    rows.iter().map(cells).collect()
}

/// Asks what a region scanner asks, in its order.
fn scan(filter: &mut Filter, reversed: bool) {
    let mut rows = rows();
    if reversed {
        rows.reverse();
    }
    filter.set_reversed(reversed);
    let _ = (filter.name(), filter.is_family_essential(b"f"), filter.is_family_essential(b"none"));
    let mut scratch = Vec::new();
    for row in &rows {
        if filter.filter_all_remaining() {
            break;
        }
        let mut kept = CellBuf::new(true);
        let start = kept.mark();
        if !row.first().is_some_and(|cell| filter.filter_row_key(cell.as_ref().row())) {
            for cell in row {
                if filter.filter_all_remaining() || !ask(filter, cell, &mut kept, &mut scratch) {
                    break;
                }
            }
            if filter.has_filter_row() && !kept.is_empty() {
                filter.filter_row_cells(&mut kept, start);
            }
            let _ = filter.filter_row();
        }
        filter.reset();
    }
    let _ = filter.failure().map(ToString::to_string);
}

/// One cell. False: the rest of the row is not wanted.
fn ask(filter: &mut Filter, cell: &OwnedCell, kept: &mut CellBuf, scratch: &mut Vec<u8>) -> bool {
    let cell = cell.as_ref();
    match filter.filter_cell(&cell) {
        ReturnCode::Include | ReturnCode::IncludeAndNextCol => {
            kept.push(&filter.transform(cell, scratch));
            true
        }
        ReturnCode::IncludeAndSeekNextRow => {
            kept.push(&filter.transform(cell, scratch));
            false
        }
        ReturnCode::Skip | ReturnCode::NextCol => true,
        ReturnCode::NextRow => false,
        ReturnCode::SeekNextUsingHint => {
            if let Some(hint) = filter.next_hint(&cell) {
                assert!(key::check(&hint).is_ok(), "a hint that is no key: {}", hint.escape_ascii());
                assert!(
                    key::row(&hint).len() <= key::MAX_ROW_LENGTH,
                    "a hint's row of {} bytes",
                    key::row(&hint).len()
                );
            }
            true
        }
    }
}

fn filter(class: &str, message: &impl Message) -> pb::Filter {
    pb::Filter { name: format!("{PACKAGE}{class}"), serialized_filter: Some(message.encode_to_vec().into()) }
}

fn comparator(class: &str, message: &impl Message) -> pb::Comparator {
    pb::Comparator { name: format!("{PACKAGE}{class}"), serialized_comparator: Some(message.encode_to_vec().into()) }
}

/// One comparator of each class.
pub fn comparators() -> Vec<pb::Comparator> {
    let comparable = |value: &[u8]| pb::ByteArrayComparable { value: Some(Bytes::copy_from_slice(value)) };
    let regex = |pattern: &str, pattern_flags, charset: &str| pb::RegexStringComparator {
        pattern: pattern.into(),
        pattern_flags,
        charset: charset.into(),
        engine: Some("JAVA".into()),
    };
    vec![
        comparator("BinaryComparator", &pb::BinaryComparator { comparable: comparable(b"row2") }),
        comparator("BinaryPrefixComparator", &pb::BinaryPrefixComparator { comparable: comparable(b"ro") }),
        comparator(
            "BinaryComponentComparator",
            &pb::BinaryComponentComparator { value: b"w2".as_slice().into(), offset: 2 },
        ),
        comparator("BitComparator", &pb::BitComparator { comparable: comparable(b"row3"), bitwise_op: 3 }),
        comparator("NullComparator", &pb::NullComparator {}),
        comparator("LongComparator", &pb::LongComparator { comparable: comparable(&[0, 0, 0, 0, 0, 0, 0, 5]) }),
        comparator(
            "BigDecimalComparator",
            &pb::BigDecimalComparator { comparable: comparable(&[0, 0, 0, 2, 0x04, 0xd2]) },
        ),
        comparator("RegexStringComparator", &regex("^r[o-z]+(\\d|x{2,3})?$", 32, "UTF-8")),
        comparator("RegexStringComparator", &regex("(?<n>a+)\\k<n>+(?!b)", 8, "ISO-8859-1")),
        comparator("SubstringComparator", &pb::SubstringComparator { substr: "abc".into() }),
    ]
}

fn compare(op: i32, comparator: &pb::Comparator) -> pb::CompareFilter {
    pb::CompareFilter { compare_op: op, comparator: Some(comparator.clone()) }
}

/// Filters that compare, with every comparator.
fn comparing() -> Vec<pb::Filter> {
    let mut out = Vec::new();
    for (i, comparator) in comparators().iter().enumerate() {
        let (op, family, qualifier) = (i as i32 % 7, Some("f".into()), Some("a".into()));
        let single = pb::SingleColumnValueFilter {
            column_family: family.clone(),
            column_qualifier: qualifier.clone(),
            compare_op: op,
            comparator: comparator.clone(),
            filter_if_missing: Some(true),
            latest_version_only: Some(false),
        };
        let dependent = pb::DependentColumnFilter {
            compare_filter: compare(op, comparator),
            column_family: family,
            column_qualifier: qualifier,
            drop_dependent_column: Some(true),
        };
        let column = pb::ColumnValueFilter {
            family: "f".into(),
            qualifier: "a".into(),
            compare_op: op,
            comparator: comparator.clone(),
        };
        out.push(filter("RowFilter", &pb::RowFilter { compare_filter: compare(op, comparator) }));
        out.push(filter("FamilyFilter", &pb::FamilyFilter { compare_filter: compare(op, comparator) }));
        out.push(filter("QualifierFilter", &pb::QualifierFilter { compare_filter: compare(op, comparator) }));
        out.push(filter("ValueFilter", &pb::ValueFilter { compare_filter: compare(op, comparator) }));
        out.push(filter("DependentColumnFilter", &dependent));
        out.push(filter("ColumnValueFilter", &column));
        out.push(filter("SingleColumnValueFilter", &single));
        let exclude = pb::SingleColumnValueExcludeFilter { single_column_value_filter: single };
        out.push(filter("SingleColumnValueExcludeFilter", &exclude));
    }
    out
}

/// Filters that do not.
fn plain() -> Vec<pb::Filter> {
    let range = |start: &'static str, stop: &'static str| pb::RowRange {
        start_row: Some(start.into()),
        start_row_inclusive: Some(true),
        stop_row: Some(stop.into()),
        stop_row_inclusive: Some(false),
    };
    let fuzzy = |key: &'static [u8], mask: &'static [u8]| pb::BytesBytesPair { first: key.into(), second: mask.into() };
    let columns = pb::ColumnRangeFilter {
        min_column: Some("a".into()),
        min_column_inclusive: Some(false),
        max_column: Some("q".into()),
        max_column_inclusive: Some(true),
    };
    let pages = pb::ColumnPaginationFilter { limit: 2, offset: Some(1), column_offset: Some("a".into()) };
    let fuzzy_rows = vec![fuzzy(b"r??2", &[0, 1, 1, 0]), fuzzy(b"z", &[0xff])];
    vec![
        filter("ColumnCountGetFilter", &pb::ColumnCountGetFilter { limit: 2 }),
        filter("ColumnPaginationFilter", &pages),
        filter("ColumnPrefixFilter", &pb::ColumnPrefixFilter { prefix: "a".into() }),
        filter("ColumnRangeFilter", &columns),
        filter("FilterAllFilter", &pb::FilterAllFilter {}),
        filter("FirstKeyOnlyFilter", &pb::FirstKeyOnlyFilter {}),
        filter(
            "FirstKeyValueMatchingQualifiersFilter",
            &pb::FirstKeyValueMatchingQualifiersFilter { qualifiers: vec!["a".into(), "q".into()] },
        ),
        filter("FuzzyRowFilter", &pb::FuzzyRowFilter { fuzzy_keys_data: fuzzy_rows, is_mask_v2: None }),
        filter("InclusiveStopFilter", &pb::InclusiveStopFilter { stop_row_key: Some("row3".into()) }),
        filter("KeyOnlyFilter", &pb::KeyOnlyFilter { len_as_val: true }),
        filter(
            "MultiRowRangeFilter",
            &pb::MultiRowRangeFilter { row_range_list: vec![range("a", "b"), range("row2", "row3")] },
        ),
        filter(
            "MultipleColumnPrefixFilter",
            &pb::MultipleColumnPrefixFilter { sorted_prefixes: vec!["ab".into(), "q".into()] },
        ),
        filter("PageFilter", &pb::PageFilter { page_size: 2 }),
        filter("PrefixFilter", &pb::PrefixFilter { prefix: Some("row".into()) }),
        filter("RandomRowFilter", &pb::RandomRowFilter { chance: 0.5 }),
        filter("TimestampsFilter", &pb::TimestampsFilter { timestamps: vec![3, 8], can_hint: Some(true) }),
    ]
}

/// One of everything, and some in lists.
pub fn sample_filters() -> Vec<pb::Filter> {
    let mut all = comparing();
    all.extend(plain());
    let list = |operator, filters: &[pb::Filter]| {
        filter("FilterList", &pb::FilterList { operator, filters: filters.to_vec() })
    };
    let some: Vec<_> = all.iter().step_by(7).cloned().collect();
    let mut nested = list(1, &some);
    for operator in [2, 1, 2] {
        nested = list(operator, &[nested, filter("SkipFilter", &pb::SkipFilter { filter: some[0].clone() })]);
    }
    let wrapped = filter("FilterWrapper", &pb::FilterWrapper { filter: nested.clone() });
    let lists = [list(1, &some), list(2, &some), nested, wrapped];
    all.push(filter("SkipFilter", &pb::SkipFilter { filter: some[0].clone() }));
    all.push(filter("WhileMatchFilter", &pb::WhileMatchFilter { filter: lists[0].clone() }));
    all.extend(lists);
    all
}

fn seeds() -> Vec<Vec<u8>> {
    let filters = sample_filters();
    (0..).zip(&filters).map(|(i, filter)| [vec![i & 1], filter.encode_to_vec()].concat()).collect()
}

pub fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = sample_filters().iter().map(|f| f.name.clone().into_bytes()).collect();
    names.extend(comparators().iter().map(|c| c.name.clone().into_bytes()));
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_filters_of_every_class() {
        for seed in seeds() {
            let proto = pb::Filter::decode(&seed[1..]).expect("a message");
            Filter::decode(&proto).unwrap_or_else(|e| panic!("{}: {e}", proto.name));
        }
        let classes = names().iter().filter(|n| !n.ends_with(b"Comparator")).count();
        assert_eq!(classes, 28);
    }
}
