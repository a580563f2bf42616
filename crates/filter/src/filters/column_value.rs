//! ColumnValueFilter: of each row only the cells of one column, and of those only the ones whose value matches.

use crate::ReturnCode;
use crate::compare::Comparison;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::{Required, required};
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;

struct ColumnValue {
    family: Bytes,
    qualifier: Bytes,
    comparison: Comparison,
    /// The column was there: what comes after it in the family cannot match.
    found: bool,
}

const REQUIRED: &[Required] =
    &[required(1, "family"), required(2, "qualifier"), required(3, "compare_op"), required(4, "comparator")];

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::ColumnValueFilter = input.message(REQUIRED)?;
    let comparison = Comparison::new(input.class, proto.compare_op, &proto.comparator)?;
    Ok(Box::new(ColumnValue { family: proto.family, qualifier: proto.qualifier, comparison, found: false }))
}

impl Evaluate for ColumnValue {
    fn name(&self) -> &'static str {
        "ColumnValueFilter"
    }
    fn reset(&mut self) {
        self.found = false;
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if key::column(cell.key) != (&self.family, &self.qualifier) {
            return Ok(if self.found { ReturnCode::NextRow } else { ReturnCode::NextCol });
        }
        self.found = true;
        Ok(if self.comparison.excludes(cell.value)? { ReturnCode::Skip } else { ReturnCode::Include })
    }
    fn is_family_essential(&self, family: &[u8]) -> bool {
        family == self.family
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn only_matching_cells_of_the_column_are_left() {
        let filter = filter_proto(
            "ColumnValueFilter",
            &pb::ColumnValueFilter {
                family: "f".into(),
                qualifier: "b".into(),
                compare_op: pb::CompareType::GreaterOrEqual as i32,
                comparator: binary("5"),
            },
        );
        let rows = "r1 f:a=9 f:b@2=4 f:b@1=6 f:c=9 g:b=9 | r2 f:b=1 | r3 f:b=5";
        check(&filter, rows, "r1 f:b@1=6 | r3 f:b=5");
        codes(&filter, "r1 f:a=1 f:b@2=4 f:b@1=6 f:c=1", "NextCol Skip Include NextRow");
        assert!(decoded(&filter).is_family_essential(b"f"));
        assert!(!decoded(&filter).is_family_essential(b"g"));
        refused(&empty("ColumnValueFilter"), "malformed ColumnValueFilter: required field family is missing");
    }
}
