//! FirstKeyOnlyFilter: the first cell of each row, for counting rows.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate, RowPart};
use martite_cell::CellRef;
use martite_proto as pb;

struct FirstKeyOnly {
    found: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    input.message::<pb::FirstKeyOnlyFilter>(&[])?;
    Ok(Box::new(FirstKeyOnly { found: false }))
}

impl Evaluate for FirstKeyOnly {
    fn name(&self) -> &'static str {
        "FirstKeyOnlyFilter"
    }
    fn reset(&mut self) {
        self.found = false;
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn part_of_each_row(&self) -> Option<RowPart> {
        Some(RowPart::FirstCell)
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(if std::mem::replace(&mut self.found, true) { ReturnCode::NextRow } else { ReturnCode::Include })
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn one_cell_per_row() {
        let filter = empty("FirstKeyOnlyFilter");
        check(&filter, "r1 f:a@2=1 f:a@1=2 g:a=3 | r2 g:b=4", "r1 f:a@2=1 | r2 g:b=4");
        codes(&filter, "r1 f:a=1 f:b=1 f:c=1", "Include NextRow NextRow");
    }
}
