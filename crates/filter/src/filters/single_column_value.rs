//! SingleColumnValueFilter: whole rows, by the value of one column, which the scan must read.

use crate::ReturnCode;
use crate::compare::Comparison;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::{Required, required};
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;

pub(super) struct SingleColumnValue {
    family: Bytes,
    qualifier: Bytes,
    comparison: Comparison,
    filter_if_missing: bool,
    latest_version_only: bool,
    found: bool,
    matched: bool,
}

pub(super) const REQUIRED: &[Required] = &[required(3, "compare_op"), required(4, "comparator")];

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::SingleColumnValueFilter = input.message(REQUIRED)?;
    Ok(Box::new(SingleColumnValue::new(input.class, proto)?))
}

impl SingleColumnValue {
    pub fn new(class: &str, proto: pb::SingleColumnValueFilter) -> Result<SingleColumnValue> {
        Ok(SingleColumnValue {
            family: proto.column_family.unwrap_or_default(),
            qualifier: proto.column_qualifier.unwrap_or_default(),
            comparison: Comparison::new(class, proto.compare_op, &proto.comparator)?,
            filter_if_missing: proto.filter_if_missing.unwrap_or(false),
            // Stock clients always send it; absent means false on the wire, though their default is true.
            latest_version_only: proto.latest_version_only.unwrap_or(false),
            found: false,
            matched: false,
        })
    }

    pub fn is_tested_column(&self, cell: &CellRef<'_>) -> bool {
        key::column(cell.key) == (&self.family, &self.qualifier)
    }
}

impl Evaluate for SingleColumnValue {
    fn name(&self) -> &'static str {
        "SingleColumnValueFilter"
    }
    fn reset(&mut self) {
        self.found = false;
        self.matched = false;
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.matched {
            return Ok(ReturnCode::Include);
        }
        if self.latest_version_only && self.found {
            return Ok(ReturnCode::NextRow);
        }
        if !self.is_tested_column(cell) {
            return Ok(ReturnCode::Include);
        }
        self.found = true;
        if self.comparison.excludes(cell.value)? {
            return Ok(if self.latest_version_only { ReturnCode::NextRow } else { ReturnCode::Include });
        }
        self.matched = true;
        Ok(ReturnCode::Include)
    }
    fn has_filter_row(&self) -> bool {
        true
    }
    fn filter_row(&mut self) -> bool {
        if self.found { !self.matched } else { self.filter_if_missing }
    }
    fn is_family_essential(&self, family: &[u8]) -> bool {
        !self.filter_if_missing || family == self.family
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    fn filter(if_missing: bool, latest: bool, op: pb::CompareType, comparator: pb::Comparator) -> pb::Filter {
        filter_proto("SingleColumnValueFilter", &single_column(if_missing, latest, op, comparator))
    }

    #[test]
    fn whole_rows_pass_by_one_column() {
        use pb::CompareType::{Equal, NotEqual};
        let rows = "r1 f:a=1 f:q@2=x f:q@1=y g:a=2 | r2 f:a=1 f:q=y | r3 f:a=1 | r4 g:q=x";
        let r1 = "r1 f:a=1 f:q@2=x f:q@1=y g:a=2";
        // filter_if_missing, latest_version_only, operator, comparator, answer
        let cases = [
            (true, true, Equal, binary("x"), r1.to_string()),
            (false, true, Equal, binary("x"), format!("{r1} | r3 f:a=1 | r4 g:q=x")),
            (true, true, Equal, binary("y"), "r2 f:a=1 f:q=y".to_string()),
            (true, false, Equal, binary("y"), format!("{r1} | r2 f:a=1 f:q=y")),
            (true, true, NotEqual, binary("x"), "r2 f:a=1 f:q=y".to_string()),
            (true, true, Equal, substring("X"), r1.to_string()),
        ];
        for (if_missing, latest, op, comparator, want) in cases {
            check(&filter(if_missing, latest, op, comparator), rows, &want);
        }
    }

    #[test]
    fn only_the_tested_family_is_essential_when_a_missing_column_drops_the_row() {
        let essential = |if_missing, family| {
            decoded(&filter(if_missing, true, pb::CompareType::Equal, binary("x"))).is_family_essential(family)
        };
        assert_eq!((essential(true, b"f"), essential(true, b"g")), (true, false));
        assert_eq!((essential(false, b"f"), essential(false, b"g")), (true, true));
    }

    #[test]
    fn the_row_is_left_at_the_first_mismatch() {
        let equal_x = filter(false, true, pb::CompareType::Equal, binary("x"));
        codes(&equal_x, "r1 f:a=1 f:q=y f:r=1", "Include NextRow NextRow");
        refused(
            &empty("SingleColumnValueFilter"),
            "malformed SingleColumnValueFilter: required field compare_op is missing",
        );
    }
}
