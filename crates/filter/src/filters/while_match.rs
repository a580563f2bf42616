//! WhileMatchFilter: the scan ends as soon as the filter inside filters anything.
//!
//! In a scan backwards the filter inside is not told so, as in HBase: an InclusiveStopFilter inside stops at the rows after
//! its own, not before.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate, ValueForm};
use crate::required::required;
use martite_cell::CellRef;
use martite_proto as pb;

struct WhileMatch {
    inner: Boxed,
    done: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::WhileMatchFilter = input.message(&[required(1, "filter")])?;
    Ok(Box::new(WhileMatch { inner: input.nested(&proto.filter)?, done: false }))
}

impl Evaluate for WhileMatch {
    fn name(&self) -> &'static str {
        "WhileMatchFilter"
    }
    fn reset(&mut self) {
        self.inner.reset();
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.done || self.inner.filter_all_remaining()
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.filter_all_remaining() {
            return Ok(true);
        }
        let filtered = self.inner.filter_row_key(row)?;
        self.done |= filtered;
        Ok(filtered)
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let code = self.inner.filter_cell(cell)?;
        self.done |= code != ReturnCode::Include;
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
        let filtered = self.inner.filter_row();
        self.done |= filtered;
        filtered
    }
    fn is_family_essential(&self, family: &[u8]) -> bool {
        self.inner.is_family_essential(family)
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    fn filter(inner: pb::Filter) -> pb::Filter {
        filter_proto("WhileMatchFilter", &pb::WhileMatchFilter { filter: inner })
    }

    #[test]
    fn ends_at_the_first_row_or_cell_that_does_not_match() {
        let row = filter_proto(
            "RowFilter",
            &pb::RowFilter { compare_filter: compare_filter(pb::CompareType::NotEqual, binary("r2")) },
        );
        check(&filter(row), "r1 f:a=1 | r2 f:a=1 | r3 f:a=1", "r1 f:a=1");
        let value = filter_proto(
            "ValueFilter",
            &pb::ValueFilter { compare_filter: compare_filter(pb::CompareType::NotEqual, binary("0")) },
        );
        // The row in which it happens keeps the cells before it.
        check(&filter(value), "r1 f:a=1 | r2 f:a=1 f:b=0 f:c=2 | r3 f:a=1", "r1 f:a=1 | r2 f:a=1");
        refused(&empty("WhileMatchFilter"), "malformed WhileMatchFilter: required field filter is missing");
    }

    #[test]
    fn the_filter_inside_does_not_know_of_a_scan_backwards() {
        let stop = filter_proto("InclusiveStopFilter", &pb::InclusiveStopFilter { stop_row_key: Some("r2".into()) });
        let rows = "r1 f:a=1 | r2 f:a=2";
        check_reversed(&filter(stop.clone()), rows, "r2 f:a=2 | r1 f:a=1");
        check_reversed(&filter(stop.clone()), "r1 f:a=1 | r3 f:a=3", "");
        check_reversed(&filter(list_proto(true, vec![stop.clone()])), rows, "r2 f:a=2 | r1 f:a=1");
        check_reversed(&list_proto(true, vec![filter(stop)]), rows, "r2 f:a=2 | r1 f:a=1");
    }
}
