//! InclusiveStopFilter: the scan ends after the given row; in a reversed scan likewise.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::required;
use bytes::Bytes;
use martite_cell::CellRef;
use martite_proto as pb;

struct InclusiveStop {
    stop_row: Bytes,
    reversed: bool,
    done: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    // Optional on the wire, but a filter without it can judge nothing.
    let proto: pb::InclusiveStopFilter = input.message(&[required(1, "stop_row_key")])?;
    Ok(Box::new(InclusiveStop { stop_row: proto.stop_row_key.unwrap_or_default(), reversed: false, done: false }))
}

impl Evaluate for InclusiveStop {
    fn name(&self) -> &'static str {
        "InclusiveStopFilter"
    }
    fn filter_all_remaining(&mut self) -> bool {
        self.done
    }
    fn filter_row_key(&mut self, row: &[u8]) -> Result<bool> {
        self.done |= if self.reversed { row < &self.stop_row[..] } else { row > &self.stop_row[..] };
        Ok(self.done)
    }
    fn watches_refused_rows(&self) -> bool {
        false
    }
    fn minds_cells(&self) -> bool {
        false
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(if self.done { ReturnCode::NextRow } else { ReturnCode::Include })
    }
    fn set_reversed(&mut self, reversed: bool) {
        self.reversed = reversed;
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn ends_after_the_row_in_both_directions() {
        let filter = filter_proto("InclusiveStopFilter", &pb::InclusiveStopFilter { stop_row_key: Some("r2".into()) });
        let rows = "r1 f:a=1 | r2 f:a=2 | r3 f:a=3";
        check(&filter, rows, "r1 f:a=1 | r2 f:a=2");
        check_reversed(&filter, rows, "r3 f:a=3 | r2 f:a=2");
        let lacking = "malformed InclusiveStopFilter: required field stop_row_key is missing";
        refused(&empty("InclusiveStopFilter"), lacking);
    }
}
