//! ValueFilter: cells whose value compares as asked.

use crate::ReturnCode;
use crate::compare::{COMPARE_FILTER, Comparison};
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use martite_cell::CellRef;
use martite_proto as pb;

struct Value {
    comparison: Comparison,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::ValueFilter = input.message(COMPARE_FILTER)?;
    Ok(Box::new(Value { comparison: Comparison::decode(input.class, &proto.compare_filter)? }))
}

impl Evaluate for Value {
    fn name(&self) -> &'static str {
        "ValueFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(if self.comparison.excludes(cell.value)? { ReturnCode::Skip } else { ReturnCode::Include })
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn cells_pass_by_their_value() {
        let filter = |op, comparator| {
            filter_proto("ValueFilter", &pb::ValueFilter { compare_filter: compare_filter(op, comparator) })
        };
        let rows = "r1 f:a@2=5 f:a@1=3 f:b=9 | r2 f:a= | r3 f:a=Hello";
        check(&filter(pb::CompareType::GreaterOrEqual, binary("5")), rows, "r1 f:a@2=5 f:b=9 | r3 f:a=Hello");
        check(&filter(pb::CompareType::Equal, substring("ELL")), rows, "r3 f:a=Hello");
        check(&filter(pb::CompareType::NotEqual, regex("^[0-9]$")), rows, "r2 f:a= | r3 f:a=Hello");
        check(&filter(pb::CompareType::Equal, binary("")), rows, "r2 f:a=");
    }

    #[test]
    fn a_value_that_cannot_be_compared_ends_the_scan_with_the_reason() {
        let long = comparator(
            "LongComparator",
            &pb::LongComparator {
                comparable: pb::ByteArrayComparable { value: Some(5i64.to_be_bytes().to_vec().into()) },
            },
        );
        let proto = filter_proto(
            "ValueFilter",
            &pb::ValueFilter { compare_filter: compare_filter(pb::CompareType::Equal, long) },
        );
        let mut filter = decoded(&proto);
        assert_eq!(filter.filter_cell(&cell("r1 f:a=12345").as_ref()), crate::ReturnCode::NextRow);
        assert!(filter.filter_all_remaining());
        assert_eq!(
            filter.failure().expect("a reason").to_string(),
            "LongComparator cannot judge a cell: 5 bytes are not a long"
        );
    }
}
