//! FilterAllFilter: nothing passes. HBase keeps it in its test jar; PerformanceEvaluation sends it.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use martite_cell::{CellRef, ShortRows};
use martite_proto as pb;

struct FilterAll;

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    input.message::<pb::FilterAllFilter>(&[])?;
    Ok(Box::new(FilterAll))
}

impl Evaluate for FilterAll {
    fn name(&self) -> &'static str {
        "FilterAllFilter"
    }
    /// Refusing the row at once comes to the same as skipping its cells, and spares them.
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(true)
    }
    fn first_passing(&self, rows: ShortRows<'_>) -> Option<usize> {
        Some(rows.len())
    }
    fn watches_refused_rows(&self) -> bool {
        false
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(ReturnCode::Skip)
    }
    fn has_filter_row(&self) -> bool {
        true
    }
    fn filter_row(&mut self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn no_row_and_no_cell_passes() {
        check(&empty("FilterAllFilter"), "r1 f:a=1 f:b=2 | r2 f:a=1", "");
        codes(&empty("FilterAllFilter"), "r1 f:a=1 f:b=2", "Skip Skip");
    }
}
