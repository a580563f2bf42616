//! Filters and comparators as a client sends them: one function a class, named as the class without its ending.
//!
//! ```
//! use martite_filter::{CompareOp, Filter, build as filter};
//!
//! let recent = filter::all([
//!     filter::prefix("user1"),
//!     filter::value(CompareOp::NotEqual, filter::substring("gone")),
//!     filter::page(10),
//! ]);
//! assert_eq!(Filter::decode(&recent)?.name(), "FilterList");
//! # Ok::<(), martite_filter::FilterError>(())
//! ```
//! What is sent is, byte for byte, what HBase 2.6's own client sends for the same filter. A server reads it with
//! [`crate::Filter::decode`], which also says what is wrong with it: these functions check nothing.

use crate::CompareOp;
use crate::decode::PACKAGE;
use bytes::Bytes;
use martite_proto as pb;
use pb::Message;
use pb::filter_list::Operator;
use std::ops::Bound;

fn filter(class: &str, message: &impl Message) -> pb::Filter {
    pb::Filter { name: format!("{PACKAGE}{class}"), serialized_filter: Some(message.encode_to_vec().into()) }
}

fn bytes(slice: impl AsRef<[u8]>) -> Bytes {
    Bytes::copy_from_slice(slice.as_ref())
}

fn all_bytes(slices: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<Bytes> {
    slices.into_iter().map(bytes).collect()
}

fn compare(op: CompareOp, comparator: pb::Comparator) -> pb::CompareFilter {
    pb::CompareFilter { compare_op: op.encode() as i32, comparator: Some(comparator) }
}

/// FilterList, MUST_PASS_ALL: what passes every one of them.
pub fn all(filters: impl IntoIterator<Item = pb::Filter>) -> pb::Filter {
    list(Operator::MustPassAll, filters)
}

/// FilterList, MUST_PASS_ONE: what passes one of them.
pub fn any(filters: impl IntoIterator<Item = pb::Filter>) -> pb::Filter {
    list(Operator::MustPassOne, filters)
}

fn list(operator: Operator, filters: impl IntoIterator<Item = pb::Filter>) -> pb::Filter {
    let filters = filters.into_iter().collect();
    filter("FilterList", &pb::FilterList { operator: operator as i32, filters })
}

/// Leaves out every row of which `inner` leaves out a cell.
pub fn skip(inner: pb::Filter) -> pb::Filter {
    filter("SkipFilter", &pb::SkipFilter { filter: inner })
}

/// Ends the scan where `inner` leaves out something for the first time.
pub fn while_match(inner: pb::Filter) -> pb::Filter {
    filter("WhileMatchFilter", &pb::WhileMatchFilter { filter: inner })
}

/// Nothing at all.
pub fn filter_all() -> pb::Filter {
    filter("FilterAllFilter", &pb::FilterAllFilter {})
}

/// Rows that begin with `prefix`; the scan ends behind them.
pub fn prefix(prefix: impl AsRef<[u8]>) -> pb::Filter {
    filter("PrefixFilter", &pb::PrefixFilter { prefix: Some(bytes(prefix)) })
}

/// The first `rows` rows of each region.
pub fn page(rows: i64) -> pb::Filter {
    filter("PageFilter", &pb::PageFilter { page_size: rows })
}

/// All rows up to `row`, with it.
pub fn inclusive_stop(row: impl AsRef<[u8]>) -> pb::Filter {
    filter("InclusiveStopFilter", &pb::InclusiveStopFilter { stop_row_key: Some(bytes(row)) })
}

/// Rows by their keys.
pub fn row(op: CompareOp, comparator: pb::Comparator) -> pb::Filter {
    filter("RowFilter", &pb::RowFilter { compare_filter: compare(op, comparator) })
}

/// Rows that match one of the patterns: `mask` has 0 where a byte of the row must be that of `key`, 1 where it may be any.
pub fn fuzzy_row(patterns: impl IntoIterator<Item = (impl AsRef<[u8]>, impl AsRef<[u8]>)>) -> pb::Filter {
    let pair = |(key, mask)| pb::BytesBytesPair { first: bytes(key), second: bytes(mask) };
    let fuzzy_keys_data = patterns.into_iter().map(pair).collect();
    filter("FuzzyRowFilter", &pb::FuzzyRowFilter { fuzzy_keys_data, is_mask_v2: Some(true) })
}

/// Rows in any of the ranges; an empty bound is the table's end, as an unbounded one.
pub fn multi_row_range<R: AsRef<[u8]>>(ranges: impl IntoIterator<Item = (Bound<R>, Bound<R>)>) -> pb::Filter {
    let end = |bound: Bound<R>, unbounded| match bound {
        Bound::Included(row) => (Some(bytes(row)), Some(true)),
        Bound::Excluded(row) => (Some(bytes(row)), Some(false)),
        Bound::Unbounded => (Some(Bytes::new()), Some(unbounded)),
    };
    let mut row_range_list = Vec::new();
    for (start, stop) in ranges {
        let (start_row, start_row_inclusive) = end(start, true);
        let (stop_row, stop_row_inclusive) = end(stop, false);
        row_range_list.push(pb::RowRange { start_row, start_row_inclusive, stop_row, stop_row_inclusive });
    }
    filter("MultiRowRangeFilter", &pb::MultiRowRangeFilter { row_range_list })
}

/// Each row with this probability.
pub fn random_row(chance: f32) -> pb::Filter {
    filter("RandomRowFilter", &pb::RandomRowFilter { chance })
}

/// Cells by their families.
pub fn family(op: CompareOp, comparator: pb::Comparator) -> pb::Filter {
    filter("FamilyFilter", &pb::FamilyFilter { compare_filter: compare(op, comparator) })
}

/// Cells by their qualifiers.
pub fn qualifier(op: CompareOp, comparator: pb::Comparator) -> pb::Filter {
    filter("QualifierFilter", &pb::QualifierFilter { compare_filter: compare(op, comparator) })
}

/// Cells by their values.
pub fn value(op: CompareOp, comparator: pb::Comparator) -> pb::Filter {
    filter("ValueFilter", &pb::ValueFilter { compare_filter: compare(op, comparator) })
}

/// Cells by the value of their column; those of other columns are left out.
pub fn column_value(
    family: impl AsRef<[u8]>,
    qualifier: impl AsRef<[u8]>,
    op: CompareOp,
    comparator: pb::Comparator,
) -> pb::Filter {
    let (family, qualifier, compare_op) = (bytes(family), bytes(qualifier), op.encode() as i32);
    filter("ColumnValueFilter", &pb::ColumnValueFilter { family, qualifier, compare_op, comparator })
}

/// Cells whose qualifier begins with `prefix`.
pub fn column_prefix(prefix: impl AsRef<[u8]>) -> pb::Filter {
    filter("ColumnPrefixFilter", &pb::ColumnPrefixFilter { prefix: bytes(prefix) })
}

/// Cells whose qualifier begins with one of `prefixes`.
pub fn multiple_column_prefix(prefixes: impl IntoIterator<Item = impl AsRef<[u8]>>) -> pb::Filter {
    let mut sorted_prefixes = all_bytes(prefixes);
    sorted_prefixes.sort_unstable();
    filter("MultipleColumnPrefixFilter", &pb::MultipleColumnPrefixFilter { sorted_prefixes })
}

/// Cells whose qualifier lies between two.
pub fn column_range<Q: AsRef<[u8]>>(min: Bound<Q>, max: Bound<Q>) -> pb::Filter {
    let end = |bound, unbounded| match bound {
        Bound::Included(column) => (Some(column), true),
        Bound::Excluded(column) => (Some(column), false),
        Bound::Unbounded => (None, unbounded),
    };
    column_range_of(end(min, true), end(max, false))
}

/// Each end with whether it is in; None is open.
pub(crate) fn column_range_of<Q: AsRef<[u8]>>(min: (Option<Q>, bool), max: (Option<Q>, bool)) -> pb::Filter {
    let message = pb::ColumnRangeFilter {
        min_column: min.0.map(bytes),
        min_column_inclusive: Some(min.1),
        max_column: max.0.map(bytes),
        max_column_inclusive: Some(max.1),
    };
    filter("ColumnRangeFilter", &message)
}

/// The first `columns` cells of a row.
pub fn column_count_get(columns: i32) -> pb::Filter {
    filter("ColumnCountGetFilter", &pb::ColumnCountGetFilter { limit: columns })
}

/// `limit` cells of a row behind the first `offset`.
pub fn column_pagination(limit: i32, offset: i32) -> pb::Filter {
    let message = pb::ColumnPaginationFilter { limit, offset: Some(offset), column_offset: None };
    filter("ColumnPaginationFilter", &message)
}

/// `limit` cells of a row from a qualifier on.
pub fn column_pagination_from(limit: i32, qualifier: impl AsRef<[u8]>) -> pb::Filter {
    // HBase's client sends no offset where a column says where to begin.
    let message = pb::ColumnPaginationFilter { limit, offset: None, column_offset: Some(bytes(qualifier)) };
    filter("ColumnPaginationFilter", &message)
}

/// Cells with these timestamps.
pub fn timestamps(timestamps: impl IntoIterator<Item = i64>) -> pb::Filter {
    let mut timestamps: Vec<i64> = timestamps.into_iter().collect();
    timestamps.sort_unstable();
    timestamps.dedup();
    filter("TimestampsFilter", &pb::TimestampsFilter { timestamps, can_hint: Some(false) })
}

/// Keys without values; `length_as_value`: with four bytes that say how long the value is.
pub fn key_only(length_as_value: bool) -> pb::Filter {
    filter("KeyOnlyFilter", &pb::KeyOnlyFilter { len_as_val: length_as_value })
}

/// The first cell of each row.
pub fn first_key_only() -> pb::Filter {
    filter("FirstKeyOnlyFilter", &pb::FirstKeyOnlyFilter {})
}

/// The cells of a row up to the first with one of these qualifiers.
pub fn first_key_value_matching_qualifiers(qualifiers: impl IntoIterator<Item = impl AsRef<[u8]>>) -> pb::Filter {
    let message = pb::FirstKeyValueMatchingQualifiersFilter { qualifiers: all_bytes(qualifiers) };
    filter("FirstKeyValueMatchingQualifiersFilter", &message)
}

/// Whole rows, by the value of one column, which the scan must read: the start of a [`SingleColumn`].
pub fn single_column_value(
    family: impl AsRef<[u8]>,
    qualifier: impl AsRef<[u8]>,
    op: CompareOp,
    comparator: pb::Comparator,
) -> SingleColumn {
    SingleColumn(pb::SingleColumnValueFilter {
        column_family: Some(bytes(family)),
        column_qualifier: Some(bytes(qualifier)),
        compare_op: op.encode() as i32,
        comparator,
        filter_if_missing: Some(false),
        latest_version_only: Some(true),
    })
}

/// A SingleColumnValueFilter, or a SingleColumnValueExcludeFilter: [`SingleColumn::build`], or `.into()`.
#[derive(Debug, Clone)]
pub struct SingleColumn(pb::SingleColumnValueFilter);

impl SingleColumn {
    /// Whether rows that do not have the column are left out. Unless said: they are not.
    pub fn filter_if_missing(mut self, yes: bool) -> SingleColumn {
        self.0.filter_if_missing = Some(yes);
        self
    }

    /// Whether only the latest version is compared. Unless said: only that.
    pub fn latest_version_only(mut self, yes: bool) -> SingleColumn {
        self.0.latest_version_only = Some(yes);
        self
    }

    pub fn build(self) -> pb::Filter {
        filter("SingleColumnValueFilter", &self.0)
    }

    /// The filter that leaves the compared column itself out of the rows.
    pub fn exclude(self) -> pb::Filter {
        let message = pb::SingleColumnValueExcludeFilter { single_column_value_filter: self.0 };
        filter("SingleColumnValueExcludeFilter", &message)
    }
}

impl From<SingleColumn> for pb::Filter {
    fn from(column: SingleColumn) -> pb::Filter {
        column.build()
    }
}

/// Cells that have the timestamp of a cell of the dependent column; `drop`: without that column itself; `condition`:
/// only where the dependent column's value meets it.
pub fn dependent_column(
    family: impl AsRef<[u8]>,
    qualifier: impl AsRef<[u8]>,
    drop: bool,
    condition: Option<(CompareOp, pb::Comparator)>,
) -> pb::Filter {
    let none = pb::CompareFilter { compare_op: CompareOp::NoOp.encode() as i32, comparator: None };
    filter(
        "DependentColumnFilter",
        &pb::DependentColumnFilter {
            compare_filter: condition.map_or(none, |(op, comparator)| compare(op, comparator)),
            column_family: Some(bytes(family)),
            column_qualifier: Some(bytes(qualifier)),
            drop_dependent_column: Some(drop),
        },
    )
}

fn comparator(class: &str, message: &impl Message) -> pb::Comparator {
    let serialized_comparator = Some(message.encode_to_vec().into());
    pb::Comparator { name: format!("{PACKAGE}{class}"), serialized_comparator }
}

fn comparable(value: impl AsRef<[u8]>) -> pb::ByteArrayComparable {
    pb::ByteArrayComparable { value: Some(bytes(value)) }
}

/// Bytes by their order.
pub fn binary(value: impl AsRef<[u8]>) -> pb::Comparator {
    comparator("BinaryComparator", &pb::BinaryComparator { comparable: comparable(value) })
}

/// The first bytes by their order, as many as `prefix` has.
pub fn binary_prefix(prefix: impl AsRef<[u8]>) -> pb::Comparator {
    comparator("BinaryPrefixComparator", &pb::BinaryPrefixComparator { comparable: comparable(prefix) })
}

/// The bytes from `offset` on by their order, as many as `value` has.
pub fn binary_component(value: impl AsRef<[u8]>, offset: u32) -> pb::Comparator {
    comparator("BinaryComponentComparator", &pb::BinaryComponentComparator { value: bytes(value), offset })
}

/// Eight bytes as a signed number.
pub fn long(value: i64) -> pb::Comparator {
    comparator("LongComparator", &pb::LongComparator { comparable: comparable(value.to_be_bytes()) })
}

/// Equal if some bit of `value OP cell` is set.
pub fn bit(value: impl AsRef<[u8]>, op: pb::bit_comparator::BitwiseOp) -> pb::Comparator {
    comparator("BitComparator", &pb::BitComparator { comparable: comparable(value), bitwise_op: op as i32 })
}

/// Equal to no bytes at all; for checkAndMutate: the column is not there.
pub fn null() -> pb::Comparator {
    comparator("NullComparator", &pb::NullComparator {})
}

/// Equal if the cell has this text in it, large and small letters alike.
pub fn substring(text: &str) -> pb::Comparator {
    comparator("SubstringComparator", &pb::SubstringComparator { substr: text.to_lowercase() })
}

/// `java.util.regex.Pattern.CASE_INSENSITIVE`.
pub const CASE_INSENSITIVE: i32 = 2;
/// `java.util.regex.Pattern.DOTALL`: a dot is any character, a line's end too.
pub const DOTALL: i32 = 32;

/// Equal if the Java regular expression finds something in the cell; a dot may be a line's end.
pub fn regex(pattern: &str) -> pb::Comparator {
    regex_flags(pattern, DOTALL)
}

/// The same with flags of `java.util.regex.Pattern`.
pub fn regex_flags(pattern: &str, pattern_flags: i32) -> pb::Comparator {
    let (pattern, charset, engine) = (pattern.to_owned(), "UTF-8".to_owned(), Some("JAVA".to_owned()));
    comparator("RegexStringComparator", &pb::RegexStringComparator { pattern, pattern_flags, charset, engine })
}

/// The decimal number `unscaled / 10^scale`, of cells that HBase's `Bytes.toBytes(BigDecimal)` wrote.
pub fn big_decimal(unscaled: i128, scale: i32) -> pb::Comparator {
    let unscaled = unscaled.to_be_bytes();
    // Java's shortest two's complement: no byte in front that only repeats the sign.
    let repeats = |i: usize| unscaled[i] == if unscaled[i + 1] & 0x80 == 0 { 0 } else { 0xff };
    let first = (0..unscaled.len() - 1).find(|&i| !repeats(i)).unwrap_or(unscaled.len() - 1);
    let value = [&scale.to_be_bytes(), &unscaled[first..]].concat();
    comparator("BigDecimalComparator", &pb::BigDecimalComparator { comparable: comparable(value) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_model::check;
    use crate::{Filter, filter_classes};
    use std::collections::BTreeSet;

    fn one_of_each() -> Vec<pb::Filter> {
        let equal = CompareOp::Equal;
        vec![
            all([page(1)]),
            skip(page(1)),
            while_match(page(1)),
            filter_all(),
            prefix("r"),
            page(1),
            inclusive_stop("r"),
            row(equal, null()),
            fuzzy_row([("r1", [0, 1])]),
            multi_row_range([(Bound::Included("a"), Bound::Unbounded)]),
            random_row(0.5),
            family(equal, binary("f")),
            qualifier(equal, binary_prefix("q")),
            value(equal, long(1)),
            column_value("f", "q", equal, binary_component("v", 1)),
            column_prefix("q"),
            multiple_column_prefix(["b", "a"]),
            column_range(Bound::Included("a"), Bound::Unbounded),
            column_count_get(1),
            column_pagination(1, 1),
            column_pagination_from(1, "q"),
            timestamps([2, 1]),
            key_only(true),
            first_key_only(),
            first_key_value_matching_qualifiers(["q"]),
            single_column_value("f", "q", equal, bit([1], pb::bit_comparator::BitwiseOp::And)).into(),
            single_column_value("f", "q", equal, substring("V")).filter_if_missing(true).exclude(),
            dependent_column("f", "q", true, Some((equal, regex("v")))),
            dependent_column("f", "q", false, None),
        ]
    }

    #[test]
    fn a_server_can_read_every_one() {
        let mut classes: BTreeSet<_> =
            one_of_each().iter().map(|filter| Filter::decode(filter).expect("sound").name()).collect();
        // Servers wrap filters in it for themselves.
        classes.insert("FilterWrapper");
        assert_eq!(classes, filter_classes().collect());
    }

    #[test]
    fn they_do_what_they_say() {
        let rows = "a1 f:q=1 f:r=2 | a2 f:q=3 | b3 f:q=4";
        let (a1, a2, b) = ("a1 f:q=1 f:r=2", "a2 f:q=3", "b3 f:q=4");
        check(&multi_row_range([(Bound::Included("a2"), Bound::Excluded("b"))]), rows, a2);
        check(&multi_row_range([(Bound::Excluded("a1"), Bound::Unbounded)]), rows, &format!("{a2} | {b}"));
        check(&fuzzy_row([("a2", [1, 0])]), rows, a2);
        check(&any([prefix("b"), row(CompareOp::Equal, regex("^.1"))]), rows, &format!("{a1} | {b}"));
        check(&column_range(Bound::Excluded("q"), Bound::Unbounded), rows, "a1 f:r=2");
        check(&single_column_value("f", "q", CompareOp::Greater, binary("1")).build(), rows, &format!("{a2} | {b}"));
        check(
            &single_column_value("f", "r", CompareOp::Equal, binary("2")).filter_if_missing(true).exclude(),
            rows,
            "a1 f:q=1",
        );
    }

    #[test]
    fn decimal_numbers_are_as_short_as_javas() {
        let sent = |unscaled, scale| {
            let bytes = big_decimal(unscaled, scale).serialized_comparator.expect("a message");
            pb::BigDecimalComparator::decode(bytes).expect("sound").comparable.value.expect("a value").to_vec()
        };
        assert_eq!(sent(0, 0), [0, 0, 0, 0, 0]);
        assert_eq!(sent(127, 1), [0, 0, 0, 1, 0x7f]);
        assert_eq!(sent(128, -1), [0xff, 0xff, 0xff, 0xff, 0, 0x80]);
        assert_eq!(sent(-128, 0), [0, 0, 0, 0, 0x80]);
        assert_eq!(sent(-129, 0), [0, 0, 0, 0, 0xff, 0x7f]);
    }
}
