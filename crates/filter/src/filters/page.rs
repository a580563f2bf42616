//! PageFilter: the first n rows that the other filters let pass, of each region; the client cuts the rest.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::required;
use martite_cell::CellRef;
use martite_proto as pb;

struct Page {
    size: u64,
    accepted: u64,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::PageFilter = input.message(&[required(1, "page_size")])?;
    let size = u64::try_from(proto.page_size)
        .map_err(|_| input.malformed(format!("page size {} is negative", proto.page_size)))?;
    Ok(Box::new(Page { size, accepted: 0 }))
}

impl Evaluate for Page {
    fn name(&self) -> &'static str {
        "PageFilter"
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.accepted >= self.size
    }
    fn watches_refused_rows(&self) -> bool {
        false
    }
    fn minds_cells(&self) -> bool {
        false
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(ReturnCode::Include)
    }
    fn has_filter_row(&self) -> bool {
        true
    }
    fn filter_row(&mut self) -> bool {
        self.accepted += 1;
        self.accepted > self.size
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn ends_after_that_many_rows() {
        let filter = |page_size| filter_proto("PageFilter", &pb::PageFilter { page_size });
        let rows = "r1 f:a=1 | r2 f:a=2 f:b=3 | r3 f:a=4";
        check(&filter(2), rows, "r1 f:a=1 | r2 f:a=2 f:b=3");
        check(&filter(0), rows, "");
        check(&filter(i64::MAX), rows, rows);
        check_reversed(&filter(1), rows, "r3 f:a=4");
        refused(&filter(-1), "malformed PageFilter: page size -1 is negative");
        refused(&empty("PageFilter"), "malformed PageFilter: required field page_size is missing");
    }

    #[test]
    fn rows_that_another_filter_drops_do_not_count() {
        let page = filter_proto("PageFilter", &pb::PageFilter { page_size: 2 });
        let value = filter_proto(
            "ValueFilter",
            &pb::ValueFilter { compare_filter: compare_filter(pb::CompareType::Greater, binary("1")) },
        );
        let list = list_proto(true, vec![value, page]);
        check(&list, "r1 f:a=1 | r2 f:a=2 | r3 f:a=1 | r4 f:a=3 | r5 f:a=4", "r2 f:a=2 | r4 f:a=3");
    }
}
