//! KeyOnlyFilter: cells without their values, or with the value's length in its place.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate, RowPart, ValueForm};
use crate::required::required;
use martite_cell::CellRef;
use martite_proto as pb;

struct KeyOnly {
    length_as_value: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::KeyOnlyFilter = input.message(&[required(1, "len_as_val")])?;
    Ok(Box::new(KeyOnly { length_as_value: proto.len_as_val }))
}

impl Evaluate for KeyOnly {
    fn name(&self) -> &'static str {
        "KeyOnlyFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn part_of_each_row(&self) -> Option<RowPart> {
        Some(RowPart::AllCells)
    }
    fn filter_cell(&mut self, _cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(ReturnCode::Include)
    }
    fn changes_values(&self) -> bool {
        true
    }
    fn transform(&self, value: ValueForm) -> ValueForm {
        if self.length_as_value { ValueForm::Length(value.len()) } else { ValueForm::Empty }
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;
    use martite_cell::OwnedCell;

    #[test]
    fn values_become_empty_or_their_length() {
        let filter = |len_as_val| filter_proto("KeyOnlyFilter", &pb::KeyOnlyFilter { len_as_val });
        check(&filter(false), "r1 f:a=hello f:b=", "r1 f:a= f:b=");
        let cell = OwnedCell::new(OwnedCell::put(b"r", b"f", b"q", 1, b"").as_ref().key, b"hello", b"tags", 9);
        let mut scratch = Vec::new();
        let lengths = |proto: &pb::Filter, scratch: &mut Vec<u8>| {
            let out = decoded(proto).transform(cell.as_ref(), scratch);
            assert_eq!((out.key, out.tags, out.seq_id), (cell.as_ref().key, &b""[..], 9));
            out.value.to_vec()
        };
        assert_eq!(lengths(&filter(true), &mut scratch), 5i32.to_be_bytes());
        assert_eq!(lengths(&filter(false), &mut scratch), b"");
        // Each filter of a list sees what the one before it left.
        assert_eq!(lengths(&list_proto(true, vec![filter(true), filter(true)]), &mut scratch), 4i32.to_be_bytes());
        assert_eq!(lengths(&list_proto(true, vec![filter(false), filter(true)]), &mut scratch), 0i32.to_be_bytes());
    }
}
