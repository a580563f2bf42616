//! ColumnPrefixFilter: columns whose qualifier begins with the prefix; seeks to the first of them.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::required;
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;

struct ColumnPrefix {
    prefix: Bytes,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::ColumnPrefixFilter = input.message(&[required(1, "prefix")])?;
    Ok(Box::new(ColumnPrefix { prefix: proto.prefix }))
}

impl Evaluate for ColumnPrefix {
    fn name(&self) -> &'static str {
        "ColumnPrefixFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let qualifier = cell.qualifier();
        Ok(if qualifier.starts_with(&self.prefix) {
            ReturnCode::Include
        } else if qualifier < &self.prefix[..] {
            ReturnCode::SeekNextUsingHint
        } else {
            ReturnCode::NextRow
        })
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        Some(key::first_on_column(cell.row(), cell.family(), &self.prefix))
    }
    fn gives_hints(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn only_columns_with_the_prefix_in_every_family() {
        let filter = |prefix: &'static str| {
            filter_proto("ColumnPrefixFilter", &pb::ColumnPrefixFilter { prefix: prefix.into() })
        };
        let rows = "r1 f:a=1 f:b=2 f:ba@2=3 f:ba@1=4 f:c=5 g:a=6 g:b=7 | r2 f:c=8 | r3 f:=9";
        check(&filter("b"), rows, "r1 f:b=2 f:ba@2=3 f:ba@1=4 g:b=7");
        check(&filter("ba"), rows, "r1 f:ba@2=3 f:ba@1=4");
        check(&filter(""), rows, rows);
        codes(&filter("b"), "r1 f:a=1 f:b=1 f:c=1", "SeekNextUsingHint Include NextRow");
        hint(&filter("ba"), "r1 f:b=1", "r1 f:ba");
        refused(&empty("ColumnPrefixFilter"), "malformed ColumnPrefixFilter: required field prefix is missing");
    }
}
