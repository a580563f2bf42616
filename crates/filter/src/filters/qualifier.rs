//! QualifierFilter: cells whose qualifier compares as asked.

use crate::ReturnCode;
use crate::compare::{COMPARE_FILTER, Comparison};
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use martite_cell::CellRef;
use martite_proto as pb;

struct Qualifier {
    comparison: Comparison,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::QualifierFilter = input.message(COMPARE_FILTER)?;
    Ok(Box::new(Qualifier { comparison: Comparison::decode(input.class, &proto.compare_filter)? }))
}

impl Evaluate for Qualifier {
    fn name(&self) -> &'static str {
        "QualifierFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(if self.comparison.excludes(cell.qualifier())? { ReturnCode::Skip } else { ReturnCode::Include })
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn columns_pass_by_their_qualifier() {
        let filter = |op, comparator| {
            filter_proto("QualifierFilter", &pb::QualifierFilter { compare_filter: compare_filter(op, comparator) })
        };
        let rows = "r1 f:a@2=1 f:a@1=2 f:b=3 g:c=4 | r2 f:=5 | r3 f:d=6";
        check(&filter(pb::CompareType::LessOrEqual, binary("b")), rows, "r1 f:a@2=1 f:a@1=2 f:b=3 | r2 f:=5");
        check(&filter(pb::CompareType::Equal, regex("[cd]")), rows, "r1 g:c=4 | r3 f:d=6");
        check(&filter(pb::CompareType::Equal, binary("")), rows, "r2 f:=5");
        codes(&filter(pb::CompareType::Less, binary("b")), "r1 f:a=1 f:b=1 f:c=1", "Include Skip Skip");
    }
}
