//! FirstKeyValueMatchingQualifiersFilter: a row's cells up to and with the first whose qualifier is listed.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use bytes::Bytes;
use martite_cell::CellRef;
use martite_proto as pb;
use std::collections::BTreeSet;

struct FirstKeyValueMatchingQualifiers {
    qualifiers: BTreeSet<Bytes>,
    found: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::FirstKeyValueMatchingQualifiersFilter = input.message(&[])?;
    let qualifiers = proto.qualifiers.into_iter().collect();
    Ok(Box::new(FirstKeyValueMatchingQualifiers { qualifiers, found: false }))
}

impl Evaluate for FirstKeyValueMatchingQualifiers {
    fn name(&self) -> &'static str {
        "FirstKeyValueMatchingQualifiersFilter"
    }
    fn reset(&mut self) {
        self.found = false;
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        if self.found {
            return Ok(ReturnCode::NextRow);
        }
        self.found = self.qualifiers.contains(cell.qualifier());
        Ok(ReturnCode::Include)
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn cells_up_to_the_first_listed_qualifier() {
        let filter = filter_proto(
            "FirstKeyValueMatchingQualifiersFilter",
            &pb::FirstKeyValueMatchingQualifiersFilter { qualifiers: vec!["c".into(), "b".into()] },
        );
        check(&filter, "r1 f:a=1 f:b=2 f:c=3 | r2 f:a=1 f:d=2", "r1 f:a=1 f:b=2 | r2 f:a=1 f:d=2");
        codes(&filter, "r1 f:a=1 f:b=1 f:c=1", "Include Include NextRow");
    }
}
