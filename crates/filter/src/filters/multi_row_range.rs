//! MultiRowRangeFilter: rows of several ranges; seeks from range to range, in the scan's direction.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;

/// Rows from start to stop; an empty stop row is the end of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range {
    start: Bytes,
    start_inclusive: bool,
    stop: Bytes,
    stop_inclusive: bool,
}

impl Range {
    fn is_valid(&self) -> bool {
        self.start.is_empty()
            || self.stop.is_empty()
            || self.start < self.stop
            || (self.start == self.stop && self.stop_inclusive)
    }
    fn begins_after(&self, row: &[u8]) -> bool {
        row < &self.start[..] || (row == self.start && !self.start_inclusive)
    }
    fn ends_before(&self, row: &[u8]) -> bool {
        !self.stop.is_empty() && (row > &self.stop[..] || (row == self.stop && !self.stop_inclusive))
    }
    /// Whether `later`, which does not start before this one, begins where this one has not ended.
    fn touches(&self, later: &Range) -> bool {
        self.stop.is_empty()
            || self.stop > later.start
            || (self.stop == later.start && (self.stop_inclusive || later.start_inclusive))
    }
    fn extend_to(&mut self, other: Range) {
        if self.stop.is_empty() || (!other.stop.is_empty() && other.stop < self.stop) {
            return;
        }
        self.stop_inclusive = other.stop_inclusive || (self.stop == other.stop && self.stop_inclusive);
        self.stop = other.stop;
    }
}

/// Sorted, disjoint ranges of the same rows.
fn sort_and_merge(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_by(|a, b| a.start.cmp(&b.start).then(b.start_inclusive.cmp(&a.start_inclusive)));
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.touches(&range) => last.extend_to(range),
            _ => merged.push(range),
        }
    }
    merged
}

struct MultiRowRange {
    ranges: Vec<Range>,
    reversed: bool,
    /// The range that the last row was in or before.
    current: Option<usize>,
    code: ReturnCode,
    done: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::MultiRowRangeFilter = input.message(&[])?;
    let mut ranges = Vec::with_capacity(proto.row_range_list.len());
    for range in proto.row_range_list {
        let range = Range {
            start: range.start_row.unwrap_or_default(),
            start_inclusive: range.start_row_inclusive.unwrap_or(false),
            stop: range.stop_row.unwrap_or_default(),
            stop_inclusive: range.stop_row_inclusive.unwrap_or(false),
        };
        if !range.is_valid() {
            let (start, stop) = (range.start.escape_ascii(), range.stop.escape_ascii());
            return Err(input.malformed(format!("the range from {start} to {stop} is empty")));
        }
        if range.start.len().max(range.stop.len()) > key::MAX_ROW_LENGTH {
            return Err(input.malformed("a range's end is longer than a row can be"));
        }
        ranges.push(range);
    }
    if ranges.is_empty() {
        return Err(input.malformed("no ranges are given"));
    }
    let ranges = sort_and_merge(ranges);
    Ok(Box::new(MultiRowRange { ranges, reversed: false, current: None, code: ReturnCode::Skip, done: false }))
}

impl MultiRowRange {
    /// The range that holds `row`, else the next one in the scan's direction.
    fn range_at_or_after(&self, row: &[u8]) -> Option<usize> {
        if self.reversed {
            self.ranges.partition_point(|range| !range.begins_after(row)).checked_sub(1)
        } else {
            let i = self.ranges.partition_point(|range| range.ends_before(row));
            (i < self.ranges.len()).then_some(i)
        }
    }

    fn holds(&self, i: usize, row: &[u8]) -> bool {
        !self.ranges[i].begins_after(row) && !self.ranges[i].ends_before(row)
    }

    /// Where the range begins in the scan's direction.
    fn near_end(&self, i: usize) -> &[u8] {
        if self.reversed { &self.ranges[i].stop } else { &self.ranges[i].start }
    }
}

impl Evaluate for MultiRowRange {
    fn name(&self) -> &'static str {
        "MultiRowRangeFilter"
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.done
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.done {
            return Ok(true);
        }
        if self.current.is_some_and(|i| self.holds(i, row)) {
            self.code = ReturnCode::Include;
            return Ok(false);
        }
        self.current = self.range_at_or_after(row);
        self.code = match self.current {
            Some(i) if self.holds(i, row) => ReturnCode::Include,
            // The range begins right after this row: a seek to its end would come back to it.
            Some(i) if self.near_end(i) == row => ReturnCode::NextRow,
            Some(_) => ReturnCode::SeekNextUsingHint,
            None => {
                self.done = true;
                ReturnCode::NextRow
            }
        };
        // Never true: the row's cells must be shown so that there can be a hint.
        Ok(false)
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(self.code)
    }
    fn next_hint(&mut self, _cell: &CellRef<'_>) -> Option<Vec<u8>> {
        Some(key::first_on_row(self.near_end(self.current?)))
    }
    fn set_reversed(&mut self, reversed: bool) {
        self.reversed = reversed;
    }
    fn gives_hints(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan_model::*;

    /// `[b,d) (e,]`: ranges as text; an empty end is open.
    fn ranges(text: &str) -> Vec<Range> {
        let one = |word: &str| {
            let (start, stop) = word[1..word.len() - 1].split_once(',').unwrap();
            Range {
                start: start.as_bytes().to_vec().into(),
                start_inclusive: word.starts_with('['),
                stop: stop.as_bytes().to_vec().into(),
                stop_inclusive: word.ends_with(']'),
            }
        };
        text.split_whitespace().map(one).collect()
    }

    fn filter(text: &str) -> pb::Filter {
        let proto = |range: Range| pb::RowRange {
            start_row: Some(range.start),
            start_row_inclusive: Some(range.start_inclusive),
            stop_row: Some(range.stop),
            stop_row_inclusive: Some(range.stop_inclusive),
        };
        let row_range_list = ranges(text).into_iter().map(proto).collect();
        filter_proto("MultiRowRangeFilter", &pb::MultiRowRangeFilter { row_range_list })
    }

    #[test]
    fn ranges_that_touch_become_one() {
        let cases = [
            ("[b,d) [a,b)", "[a,d)"),
            ("[a,b) (b,c)", "[a,b) (b,c)"),
            ("[a,b] (b,c)", "[a,c)"),
            ("[a,z) [b,c]", "[a,z)"),
            ("[a,c) [b,c]", "[a,c]"),
            ("[a,) [b,c]", "[a,)"),
            ("[b,c] [,a)", "[,a) [b,c]"),
            ("(a,b) [a,a]", "[a,b)"),
            ("[a,c) [b,) [x,y)", "[a,)"),
        ];
        for (given, want) in cases {
            assert_eq!(sort_and_merge(ranges(given)), ranges(want), "{given}");
        }
    }

    #[test]
    fn rows_of_the_ranges_in_both_directions() {
        let rows = "a f:q=1 | b f:q=1 | c f:q=1 | d f:q=1 f:r=1 | e f:q=1 | f f:q=1 | g f:q=1";
        let cases = [
            ("[b,d) [f,)", "b f:q=1 | c f:q=1 | f f:q=1 | g f:q=1", "g f:q=1 | f f:q=1 | c f:q=1 | b f:q=1"),
            ("(b,d] [f,f]", "c f:q=1 | d f:q=1 f:r=1 | f f:q=1", "f f:q=1 | d f:q=1 f:r=1 | c f:q=1"),
            ("[,b) (e,g)", "a f:q=1 | f f:q=1", "f f:q=1 | a f:q=1"),
            ("[x,y) [0,1)", "", ""),
            ("[,)", rows, "g f:q=1 | f f:q=1 | e f:q=1 | d f:q=1 f:r=1 | c f:q=1 | b f:q=1 | a f:q=1"),
            ("(c,d) [bb,c)", "", ""),
        ];
        for (given, forward, reversed) in cases {
            check(&filter(given), rows, forward);
            check_reversed(&filter(given), rows, reversed);
        }
        hint(&filter("[c,d) [x,y)"), "a f:q=1", "c");
        let mut reversed = decoded(&filter("[c,d) [f,g)"));
        reversed.set_reversed(true);
        assert_eq!(hint_at(&mut reversed, "e f:q=1").as_deref(), Some("d"));
        codes(&filter("(c,d)"), "c f:q=1", "NextRow");
    }

    #[test]
    fn empty_ranges_and_none_are_refused() {
        refused(&filter("[c,b)"), "malformed MultiRowRangeFilter: the range from c to b is empty");
        refused(&filter("[b,b)"), "malformed MultiRowRangeFilter: the range from b to b is empty");
        refused(&empty("MultiRowRangeFilter"), "malformed MultiRowRangeFilter: no ranges are given");
    }
}
