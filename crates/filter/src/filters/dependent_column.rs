//! DependentColumnFilter: cells whose timestamp is also one of the reference column's, whose value may have to match.

use crate::ReturnCode;
use crate::compare::{COMPARE_FILTER, Comparison};
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;
use std::collections::BTreeSet;

struct DependentColumn {
    family: Bytes,
    qualifier: Bytes,
    /// Leave the reference column itself out.
    drop_dependent: bool,
    comparison: Comparison,
    /// Timestamps of the reference column in this row.
    timestamps: BTreeSet<u64>,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::DependentColumnFilter = input.message(COMPARE_FILTER)?;
    Ok(Box::new(DependentColumn {
        family: proto.column_family.unwrap_or_default(),
        qualifier: proto.column_qualifier.unwrap_or_default(),
        drop_dependent: proto.drop_dependent_column.unwrap_or(false),
        comparison: Comparison::decode(input.class, &proto.compare_filter)?,
        timestamps: BTreeSet::new(),
    }))
}

impl Evaluate for DependentColumn {
    fn name(&self) -> &'static str {
        "DependentColumnFilter"
    }
    fn reset(&mut self) {
        self.timestamps.clear();
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if key::column(cell.key) != (&self.family, &self.qualifier) {
            // Decided at the end of the row.
            return Ok(ReturnCode::Include);
        }
        if self.comparison.has_comparator() && self.comparison.excludes(cell.value)? {
            return Ok(ReturnCode::Skip);
        }
        self.timestamps.insert(cell.timestamp());
        Ok(if self.drop_dependent { ReturnCode::Skip } else { ReturnCode::Include })
    }
    fn has_filter_row(&self) -> bool {
        true
    }
    fn keeps_row_cell(&mut self, cell: &CellRef<'_>) -> bool {
        self.timestamps.contains(&cell.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    fn filter(drop: bool, compare: pb::CompareFilter) -> pb::Filter {
        filter_proto(
            "DependentColumnFilter",
            &pb::DependentColumnFilter {
                compare_filter: compare,
                column_family: Some("f".into()),
                column_qualifier: Some("ref".into()),
                drop_dependent_column: Some(drop),
            },
        )
    }

    #[test]
    fn cells_that_share_a_timestamp_with_the_reference_column() {
        let any = pb::CompareFilter { compare_op: pb::CompareType::NoOp as i32, comparator: None };
        let rows = "r1 f:a@5=1 f:ref@5=x f:ref@3=y f:z@4=2 f:z@3=3 g:a@5=4 | r2 f:a@5=1";
        check(&filter(false, any.clone()), rows, "r1 f:a@5=1 f:ref@5=x f:ref@3=y f:z@3=3 g:a@5=4");
        check(&filter(true, any), rows, "r1 f:a@5=1 f:z@3=3 g:a@5=4");
        let equal_y = compare_filter(pb::CompareType::Equal, binary("y"));
        check(&filter(false, equal_y.clone()), rows, "r1 f:ref@3=y f:z@3=3");
        check(&filter(true, equal_y), rows, "r1 f:z@3=3");
        // A comparator that no value can pass.
        check(&filter(false, compare_filter(pb::CompareType::NoOp, binary("y"))), rows, "");
    }

    #[test]
    fn the_message_inside_is_checked() {
        let lacking = "malformed DependentColumnFilter: required field compare_filter is missing";
        refused(&empty("DependentColumnFilter"), lacking);
        let without_op = pb::Filter { serialized_filter: Some(vec![0x0a, 0].into()), ..empty("DependentColumnFilter") };
        refused(&without_op, "malformed DependentColumnFilter: required field compare_op is missing");
    }
}
