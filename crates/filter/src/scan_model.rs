//! Test scaffolding: a scan over a handful of cells that asks a filter what a region scanner asks, cells as text.
//!
//! `r1 f:a@7=x f:b=y | r2 f:a=z` are two rows; the timestamp is 1 unless given.

use crate::{Filter, FilterError, NextRow, ReturnCode};
use martite_cell::short_rows::{self, MOST_PREFIX, MOST_WORDS};
use martite_cell::{CellBuf, LATEST_TIMESTAMP, Order, OwnedCell, ShortRows, key};
pub use martite_proto as pb;
use pb::Message;
use std::collections::BTreeMap;

pub fn filter_proto(class: &str, message: &impl Message) -> pb::Filter {
    pb::Filter {
        name: format!("{}{class}", crate::decode::PACKAGE),
        serialized_filter: Some(message.encode_to_vec().into()),
    }
}

/// A filter whose message has no fields.
pub fn empty(class: &str) -> pb::Filter {
    pb::Filter { name: format!("{}{class}", crate::decode::PACKAGE), serialized_filter: None }
}

pub fn list_proto(all: bool, filters: Vec<pb::Filter>) -> pb::Filter {
    filter_proto("FilterList", &pb::FilterList { operator: if all { 1 } else { 2 }, filters })
}

pub fn comparator(class: &str, message: &impl Message) -> pb::Comparator {
    pb::Comparator {
        name: format!("{}{class}", crate::decode::PACKAGE),
        serialized_comparator: Some(message.encode_to_vec().into()),
    }
}

pub fn binary(value: &str) -> pb::Comparator {
    let comparable = pb::ByteArrayComparable { value: Some(value.as_bytes().to_vec().into()) };
    comparator("BinaryComparator", &pb::BinaryComparator { comparable })
}

pub fn substring(substr: &str) -> pb::Comparator {
    comparator("SubstringComparator", &pb::SubstringComparator { substr: substr.into() })
}

/// As the stock client sends it: DOTALL, UTF-8.
pub fn regex(pattern: &str) -> pb::Comparator {
    regex_with(pattern, 32, "UTF-8")
}

pub fn regex_with(pattern: &str, pattern_flags: i32, charset: &str) -> pb::Comparator {
    let engine = Some("JAVA".into());
    let proto = pb::RegexStringComparator { pattern: pattern.into(), pattern_flags, charset: charset.into(), engine };
    comparator("RegexStringComparator", &proto)
}

pub fn compare_filter(op: pb::CompareType, comparator: pb::Comparator) -> pb::CompareFilter {
    pb::CompareFilter { compare_op: op as i32, comparator: Some(comparator) }
}

/// SingleColumnValueFilter on f:q.
pub fn single_column(
    if_missing: bool,
    latest: bool,
    op: pb::CompareType,
    comparator: pb::Comparator,
) -> pb::SingleColumnValueFilter {
    pb::SingleColumnValueFilter {
        column_family: Some("f".into()),
        column_qualifier: Some("q".into()),
        compare_op: op as i32,
        comparator,
        filter_if_missing: Some(if_missing),
        latest_version_only: Some(latest),
    }
}

pub fn decoded(proto: &pb::Filter) -> Filter {
    Filter::decode(proto).expect("a sound filter")
}

#[track_caller]
pub fn refused(proto: &pb::Filter, want: &str) {
    let error: FilterError = Filter::decode(proto).map(|f| f.name()).expect_err("an error");
    assert_eq!(error.to_string(), want);
}

pub fn cell(text: &str) -> OwnedCell {
    parse(text).remove(0)
}

fn parse(text: &str) -> Vec<OwnedCell> {
    let mut cells = Vec::new();
    for row in text.split('|').map(str::trim).filter(|row| !row.is_empty()) {
        let mut words = row.split(' ');
        let row = words.next().expect("a row");
        for word in words {
            let (column, value) = word.split_once('=').expect("column=value");
            let (column, ts) = column.split_once('@').unwrap_or((column, "1"));
            let (family, qualifier) = column.split_once(':').expect("family:qualifier");
            let ts = ts.parse().expect("a timestamp");
            let b = str::as_bytes;
            cells.push(OwnedCell::put(b(row), b(family), b(qualifier), ts, b(value)));
        }
    }
    cells
}

fn show(cells: &[OwnedCell]) -> String {
    let mut text = String::new();
    let mut last = None;
    for cell in cells.iter().map(OwnedCell::as_ref) {
        if last.replace(cell.row()) != Some(cell.row()) {
            text += if text.is_empty() { "" } else { " | " };
            text += &cell.row().escape_ascii().to_string();
        }
        let (f, q, v) = (cell.family().escape_ascii(), cell.qualifier().escape_ascii(), cell.value.escape_ascii());
        text += &format!(" {f}:{q}@{}={v}", cell.timestamp());
    }
    text
}

/// A scan over `rows` gives `want`.
#[track_caller]
pub fn check(filter: &pb::Filter, rows: &str, want: &str) {
    assert_eq!(show(&scan(filter, rows, false)), show(&parse(want)));
    let mut rows: Vec<_> = parse(rows).iter().map(|cell| cell.as_ref().row().to_vec()).collect();
    rows.dedup();
    (0..rows.len()).for_each(|from| check_side_by_side(filter, &rows[from..]));
}

/// Rows side by side are judged as one by one.
#[track_caller]
pub fn check_side_by_side(filter: &pb::Filter, rows: &[Vec<u8>]) {
    let (one_by_one, at_once) = (&mut decoded(filter), &mut decoded(filter));
    let prefix_len = (0..rows[0].len().min(MOST_PREFIX))
        .take_while(|len| rows.iter().all(|row| row.starts_with(&rows[0][..len + 1])));
    let prefix = &rows[0][..prefix_len.count()];
    let Some(row_words) = short_rows::row_words(rows.iter().map(|row| row.len() - prefix.len())) else { return };
    let packed = rows.iter().flat_map(|row| short_rows::pack(&row[prefix.len()..], row_words));
    let packed: Vec<u32> = packed.chain([u32::MAX; MOST_WORDS]).collect();
    let mut rest = ShortRows::new(&packed, row_words, prefix, rows.len());
    let mut rows = rows.iter();
    while !rest.is_empty() {
        let first = at_once.first_passing(rest);
        let (refused, answer) = at_once.next_rows(rest);
        let answers: Vec<_> = rows.by_ref().take(refused + 1).map(|row| one_by_one.next_row(row)).collect();
        let wanted = [vec![NextRow::Refused; refused], answer.into_iter().collect()].concat();
        assert_eq!(answers, wanted, "{}", at_once.name());
        assert!(first.is_none_or(|first| first == refused), "{first:?}, {refused}");
        assert!(first.is_none() || answer.is_none_or(|answer| answer == NextRow::Accepted), "{answer:?}");
        assert_eq!((one_by_one.filter_row(), one_by_one.failure()), (at_once.filter_row(), at_once.failure()));
        if matches!(answer, Some(NextRow::End | NextRow::RefusedAsLast)) {
            return;
        }
        rest = rest.skip(refused + 1);
    }
}

#[track_caller]
pub fn check_reversed(filter: &pb::Filter, rows: &str, want: &str) {
    assert_eq!(show(&scan(filter, rows, true)), show(&parse(want)));
}

/// Every cell is shown to the filter, whatever it answers; these are the answers.
#[track_caller]
pub fn codes(filter: &pb::Filter, rows: &str, want: &str) {
    let mut filter = decoded(filter);
    let mut got = Vec::new();
    let mut row = None;
    for cell in parse(rows) {
        let cell = cell.as_ref();
        if row.as_deref() != Some(cell.row()) {
            filter.reset();
            filter.filter_row_key(cell.row());
            row = Some(cell.row().to_vec());
        }
        got.push(format!("{:?}", filter.filter_cell(&cell)));
    }
    assert_eq!(got.join(" "), want);
}

/// The first cell makes the filter hint to `row` or `row family:qualifier[@timestamp]`.
#[track_caller]
pub fn hint(filter: &pb::Filter, cell_text: &str, want: &str) {
    let mut filter = decoded(filter);
    assert_eq!(hint_at(&mut filter, cell_text).as_deref(), Some(want));
}

#[track_caller]
pub fn hint_at(filter: &mut Filter, cell_text: &str) -> Option<String> {
    let cell = cell(cell_text);
    filter.reset();
    filter.filter_row_key(cell.as_ref().row());
    assert_eq!(filter.filter_cell(&cell.as_ref()), ReturnCode::SeekNextUsingHint, "{cell_text}");
    let hint = filter.next_hint(&cell.as_ref())?;
    let mut text = key::row(&hint).escape_ascii().to_string();
    if !key::family(&hint).is_empty() {
        text += &format!(" {}:{}", key::family(&hint).escape_ascii(), key::qualifier(&hint).escape_ascii());
    }
    if key::timestamp(&hint) != LATEST_TIMESTAMP {
        text += &format!("@{}", key::timestamp(&hint));
    }
    Some(text)
}

pub fn scan(filter: &pb::Filter, rows: &str, reversed: bool) -> Vec<OwnedCell> {
    let mut filter = decoded(filter);
    filter.set_reversed(reversed);
    Scan { filter, reversed, bounds: BTreeMap::new(), out: Vec::new() }.run(parse(rows))
}

struct Scan {
    filter: Filter,
    reversed: bool,
    /// Where a hint has led each family; None: the family is done.
    bounds: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    out: Vec<OwnedCell>,
}

impl Scan {
    fn run(mut self, mut cells: Vec<OwnedCell>) -> Vec<OwnedCell> {
        cells.sort_by(|a, b| Order::Default.cells(&a.as_ref(), &b.as_ref()));
        let mut rows: Vec<&[OwnedCell]> = cells.chunk_by(|a, b| a.as_ref().row() == b.as_ref().row()).collect();
        if self.reversed {
            rows.reverse();
        }
        for row in rows {
            let left: Vec<&OwnedCell> = row.iter().filter(|cell| self.is_ahead(cell)).collect();
            if left.is_empty() {
                continue;
            }
            if self.filter.filter_all_remaining() {
                break;
            }
            if !self.filter.filter_row_key(row[0].as_ref().row()) {
                self.row(&left);
            }
            self.filter.reset();
        }
        assert_eq!(self.filter.failure(), None);
        self.out
    }

    fn is_ahead(&self, cell: &OwnedCell) -> bool {
        let cell = cell.as_ref();
        match self.bounds.get(cell.family()) {
            None => true,
            Some(None) => false,
            Some(Some(bound)) if self.reversed => cell.row() <= key::row(bound),
            Some(Some(bound)) => Order::Default.keys(cell.key, bound).is_ge(),
        }
    }

    fn row(&mut self, left: &[&OwnedCell]) {
        let mut kept = CellBuf::new(true);
        let start = kept.mark();
        for family in left.chunk_by(|a, b| a.as_ref().family() == b.as_ref().family()) {
            self.family(family, &mut kept);
        }
        if kept.is_empty() {
            return;
        }
        if self.filter.has_filter_row() {
            self.filter.filter_row_cells(&mut kept, start);
        }
        if !kept.is_empty() && !self.filter.filter_row() {
            self.out.extend(kept.to_owned_cells());
        }
    }

    fn family(&mut self, cells: &[&OwnedCell], kept: &mut CellBuf) {
        let mut skip_column = None;
        for cell in cells.iter().map(|cell| cell.as_ref()) {
            if skip_column == Some(cell.qualifier()) {
                continue;
            }
            if self.reversed || self.bounds.contains_key(cell.family()) {
                let owned = cell.to_owned_cell();
                if !self.is_ahead(&owned) {
                    continue;
                }
            }
            if self.filter.filter_all_remaining() {
                self.bounds.insert(cell.family().to_vec(), None);
                return;
            }
            let code = self.filter.filter_cell(&cell);
            if code.is_include() {
                let mut scratch = Vec::new();
                kept.push(&self.filter.transform(cell, &mut scratch));
            }
            match code {
                ReturnCode::Include | ReturnCode::Skip => {}
                ReturnCode::IncludeAndNextCol | ReturnCode::NextCol => skip_column = Some(cell.qualifier()),
                ReturnCode::NextRow | ReturnCode::IncludeAndSeekNextRow => return,
                ReturnCode::SeekNextUsingHint => {
                    let Some(hint) = self.filter.next_hint(&cell) else { continue };
                    let onward = Order::Default.keys(&hint, cell.key);
                    if if self.reversed { onward.is_lt() } else { onward.is_gt() } {
                        self.bounds.insert(cell.family().to_vec(), Some(hint));
                    }
                }
            }
        }
    }
}
