//! SingleColumnValueExcludeFilter: as SingleColumnValueFilter, without the tested column in the answer.

use super::single_column_value::{REQUIRED, SingleColumnValue};
use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::Required;
use martite_cell::CellRef;
use martite_proto as pb;

struct SingleColumnValueExclude(SingleColumnValue);

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let wanted = &[Required { tag: 1, name: "single_column_value_filter", inside: REQUIRED }];
    let proto: pb::SingleColumnValueExcludeFilter = input.message(wanted)?;
    Ok(Box::new(SingleColumnValueExclude(SingleColumnValue::new(input.class, proto.single_column_value_filter)?)))
}

impl Evaluate for SingleColumnValueExclude {
    fn name(&self) -> &'static str {
        "SingleColumnValueExcludeFilter"
    }
    fn reset(&mut self) {
        self.0.reset();
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        self.0.filter_row_key(row)
    }
    fn is_row_local(&self) -> bool {
        self.0.is_row_local()
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        self.0.filter_cell(cell)
    }
    fn has_filter_row(&self) -> bool {
        true
    }
    fn keeps_row_cell(&mut self, cell: &CellRef<'_>) -> bool {
        !self.0.is_tested_column(cell)
    }
    fn filter_row(&mut self) -> bool {
        self.0.filter_row()
    }
    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.0.is_family_essential(family)
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn matching_rows_without_the_tested_column() {
        let inner = |if_missing| single_column(if_missing, true, pb::CompareType::Equal, binary("x"));
        let filter = |if_missing| {
            let proto = pb::SingleColumnValueExcludeFilter { single_column_value_filter: inner(if_missing) };
            filter_proto("SingleColumnValueExcludeFilter", &proto)
        };
        let rows = "r1 f:a=1 f:q@2=x f:q@1=y g:q=2 | r2 f:a=1 f:q=y | r3 f:a=1 | r4 f:q=x";
        check(&filter(true), rows, "r1 f:a=1 g:q=2");
        check(&filter(false), rows, "r1 f:a=1 g:q=2 | r3 f:a=1");
        refused(
            &empty("SingleColumnValueExcludeFilter"),
            "malformed SingleColumnValueExcludeFilter: required field single_column_value_filter is missing",
        );
    }
}
