//! SkipFilter: drops the whole row if the filter inside does anything but include one of its cells.
//!
//! Only cells are shown to the filter inside, never row keys: a RowFilter inside lets everything pass, as in HBase. Nor is it
//! told that a scan goes backwards.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate, ValueForm};
use crate::required::required;
use martite_cell::CellRef;
use martite_proto as pb;

struct Skip {
    inner: Boxed,
    filter_row: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::SkipFilter = input.message(&[required(1, "filter")])?;
    Ok(Box::new(Skip { inner: input.nested(&proto.filter)?, filter_row: false }))
}

impl Evaluate for Skip {
    fn name(&self) -> &'static str {
        "SkipFilter"
    }
    fn reset(&mut self) {
        self.inner.reset();
        self.filter_row = false;
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        self.inner.is_row_local()
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let code = self.inner.filter_cell(cell)?;
        self.filter_row |= code != ReturnCode::Include;
        Ok(code)
    }
    fn changes_values(&self) -> bool {
        self.inner.changes_values()
    }
    fn transform(&self, value: ValueForm) -> ValueForm {
        self.inner.transform(value)
    }
    fn has_filter_row(&self) -> bool {
        true
    }
    fn filter_row(&mut self) -> bool {
        self.filter_row
    }
    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.inner.is_family_essential(family)
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn one_bad_cell_drops_the_row() {
        let not_zero = filter_proto(
            "ValueFilter",
            &pb::ValueFilter { compare_filter: compare_filter(pb::CompareType::NotEqual, binary("0")) },
        );
        let filter = filter_proto("SkipFilter", &pb::SkipFilter { filter: not_zero });
        check(&filter, "r1 f:a=1 f:b=2 | r2 f:a=1 f:b=0 f:c=2 | r3 f:a=3", "r1 f:a=1 f:b=2 | r3 f:a=3");
        refused(&empty("SkipFilter"), "malformed SkipFilter: required field filter is missing");
    }

    #[test]
    fn row_keys_are_not_shown_to_the_filter_inside() {
        let row = filter_proto(
            "RowFilter",
            &pb::RowFilter { compare_filter: compare_filter(pb::CompareType::Equal, binary("r1")) },
        );
        let filter = filter_proto("SkipFilter", &pb::SkipFilter { filter: row });
        check(&filter, "r1 f:a=1 | r2 f:a=1", "r1 f:a=1 | r2 f:a=1");
    }
}
