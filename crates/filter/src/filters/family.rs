//! FamilyFilter: families whose name compares as asked.

use crate::ReturnCode;
use crate::compare::{COMPARE_FILTER, Comparison};
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use martite_cell::CellRef;
use martite_proto as pb;

struct Family {
    comparison: Comparison,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::FamilyFilter = input.message(COMPARE_FILTER)?;
    Ok(Box::new(Family { comparison: Comparison::decode(input.class, &proto.compare_filter)? }))
}

impl Evaluate for Family {
    fn name(&self) -> &'static str {
        "FamilyFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let family = cell.family();
        let excluded = !family.is_empty() && self.comparison.excludes(family)?;
        Ok(if excluded { ReturnCode::NextRow } else { ReturnCode::Include })
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn whole_families_pass_or_not() {
        let filter =
            |op| filter_proto("FamilyFilter", &pb::FamilyFilter { compare_filter: compare_filter(op, binary("g")) });
        let rows = "r1 f:a=1 f:b=2 g:a=3 h:a=4 | r2 h:a=5";
        check(&filter(pb::CompareType::Equal), rows, "r1 g:a=3");
        check(&filter(pb::CompareType::NotEqual), rows, "r1 f:a=1 f:b=2 h:a=4 | r2 h:a=5");
        check(&filter(pb::CompareType::Less), rows, "r1 f:a=1 f:b=2");
        check(&filter(pb::CompareType::NoOp), rows, "");
        codes(&filter(pb::CompareType::Equal), "r1 f:a=1", "NextRow");
    }
}
