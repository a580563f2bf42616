//! RowFilter: rows whose key compares as asked.

use crate::ReturnCode;
use crate::compare::{COMPARE_FILTER, Comparison};
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use martite_cell::{CellRef, ShortRows};
use martite_proto as pb;

struct Row {
    comparison: Comparison,
    excluded: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::RowFilter = input.message(COMPARE_FILTER)?;
    Ok(Box::new(Row { comparison: Comparison::decode(input.class, &proto.compare_filter)?, excluded: false }))
}

impl Evaluate for Row {
    fn name(&self) -> &'static str {
        "RowFilter"
    }
    fn reset(&mut self) {
        self.excluded = false;
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        self.excluded |= self.comparison.excludes(row)?;
        Ok(self.excluded)
    }
    fn first_passing(&self, rows: ShortRows<'_>) -> Option<usize> {
        self.comparison.part().map(|(part, kept)| rows.count_until(part, kept))
    }
    fn minds_cells(&self) -> bool {
        false
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(if self.excluded { ReturnCode::NextRow } else { ReturnCode::Include })
    }
    fn filter_row(&mut self) -> bool {
        self.excluded
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn rows_pass_by_their_key() {
        let filter = |op, comparator| {
            filter_proto("RowFilter", &pb::RowFilter { compare_filter: compare_filter(op, comparator) })
        };
        let rows = "a1 f:a=1 f:b=2 | a2 f:a=3 | b1 f:a=4";
        check(&filter(pb::CompareType::Less, binary("a2")), rows, "a1 f:a=1 f:b=2");
        check(&filter(pb::CompareType::Equal, substring("1")), rows, "a1 f:a=1 f:b=2 | b1 f:a=4");
        check(&filter(pb::CompareType::NotEqual, regex("^a")), rows, "b1 f:a=4");
        check(&filter(pb::CompareType::NoOp, binary("a2")), rows, "");
        check_reversed(&filter(pb::CompareType::GreaterOrEqual, binary("a2")), rows, "b1 f:a=4 | a2 f:a=3");
        let component = |value: &str, offset| {
            let value = value.as_bytes().to_vec().into();
            comparator("BinaryComponentComparator", &pb::BinaryComponentComparator { value, offset })
        };
        check(&filter(pb::CompareType::Equal, component("2", 1)), rows, "a2 f:a=3");
        check(&filter(pb::CompareType::NotEqual, component("a", 0)), rows, "b1 f:a=4");
        check(&filter(pb::CompareType::Equal, component("", 9)), rows, rows);
        check(&filter(pb::CompareType::NotEqual, binary("a2")), rows, "a1 f:a=1 f:b=2 | b1 f:a=4");
        let lacking = "malformed RowFilter: required field compare_filter is missing";
        refused(&empty("RowFilter"), lacking);
    }
}
