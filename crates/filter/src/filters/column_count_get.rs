//! ColumnCountGetFilter: the first n columns of a row. Made for Gets.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::required;
use martite_cell::CellRef;
use martite_proto as pb;

struct ColumnCountGet {
    limit: u32,
    count: u32,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::ColumnCountGetFilter = input.message(&[required(1, "limit")])?;
    let limit =
        u32::try_from(proto.limit).map_err(|_| input.malformed(format!("limit {} is negative", proto.limit)))?;
    Ok(Box::new(ColumnCountGet { limit, count: 0 }))
}

impl Evaluate for ColumnCountGet {
    fn name(&self) -> &'static str {
        "ColumnCountGetFilter"
    }
    fn reset(&mut self) {
        self.count = 0;
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.count > self.limit
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        self.count = self.count.saturating_add(1);
        Ok(if self.count > self.limit { ReturnCode::NextCol } else { ReturnCode::IncludeAndNextCol })
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn the_first_columns_of_each_row_one_version_each() {
        let filter = |limit| filter_proto("ColumnCountGetFilter", &pb::ColumnCountGetFilter { limit });
        let rows = "r1 f:a@2=1 f:a@1=0 f:b=2 f:c=3 | r2 f:c=4";
        check(&filter(2), rows, "r1 f:a@2=1 f:b=2 | r2 f:c=4");
        check(&filter(0), rows, "");
        refused(&filter(-1), "malformed ColumnCountGetFilter: limit -1 is negative");
        refused(&empty("ColumnCountGetFilter"), "malformed ColumnCountGetFilter: required field limit is missing");
    }
}
