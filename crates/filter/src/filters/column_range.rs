//! ColumnRangeFilter: qualifiers between two bounds, each inclusive or not, each may be open.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;
use std::cmp::Ordering;

struct ColumnRange {
    min: Option<Bytes>,
    min_inclusive: bool,
    max: Option<Bytes>,
    max_inclusive: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::ColumnRangeFilter = input.message(&[])?;
    Ok(Box::new(ColumnRange {
        min: proto.min_column,
        min_inclusive: proto.min_column_inclusive.unwrap_or(false),
        max: proto.max_column,
        max_inclusive: proto.max_column_inclusive.unwrap_or(false),
    }))
}

impl Evaluate for ColumnRange {
    fn name(&self) -> &'static str {
        "ColumnRangeFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let qualifier = cell.qualifier();
        match self.min.as_ref().map(|min| qualifier.cmp(min)) {
            Some(Ordering::Less) => return Ok(ReturnCode::SeekNextUsingHint),
            Some(Ordering::Equal) if !self.min_inclusive => return Ok(ReturnCode::NextCol),
            _ => {}
        }
        Ok(match self.max.as_ref().map(|max| qualifier.cmp(max)) {
            Some(Ordering::Greater) => ReturnCode::NextRow,
            Some(Ordering::Equal) if !self.max_inclusive => ReturnCode::NextRow,
            _ => ReturnCode::Include,
        })
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        let min = self.min.as_ref()?;
        Some(key::first_on_column(cell.row(), cell.family(), min))
    }
    fn gives_hints(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn bounds_are_inclusive_exclusive_or_open() {
        let rows = "r1 f:a=1 f:b=2 f:bb=3 f:c=4 f:d=5";
        // min, inclusive, max, inclusive, answer
        let cases = [
            (Some("b"), true, Some("c"), true, "r1 f:b=2 f:bb=3 f:c=4"),
            (Some("b"), false, Some("c"), false, "r1 f:bb=3"),
            (None, true, Some("b"), false, "r1 f:a=1"),
            (Some("c"), true, None, false, "r1 f:c=4 f:d=5"),
            (None, false, None, false, rows),
            (Some("d"), false, Some("a"), true, ""),
        ];
        for (min, min_inclusive, max, max_inclusive, want) in cases {
            let proto = pb::ColumnRangeFilter {
                min_column: min.map(Into::into),
                min_column_inclusive: Some(min_inclusive),
                max_column: max.map(Into::into),
                max_column_inclusive: Some(max_inclusive),
            };
            check(&filter_proto("ColumnRangeFilter", &proto), rows, want);
        }
        let from_c = pb::ColumnRangeFilter { min_column: Some("c".into()), ..Default::default() };
        hint(&filter_proto("ColumnRangeFilter", &from_c), "r1 g:b=1", "r1 g:c");
        codes(&filter_proto("ColumnRangeFilter", &from_c), "r1 f:b=1 f:c=1 f:d=1", "SeekNextUsingHint NextCol Include");
    }
}
