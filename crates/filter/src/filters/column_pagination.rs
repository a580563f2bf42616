//! ColumnPaginationFilter: columns offset .. offset + limit of each row; the offset is a number or a qualifier.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use crate::required::required;
use bytes::Bytes;
use martite_cell::{CellRef, key};
use martite_proto as pb;

enum Offset {
    Columns(u64),
    Qualifier(Bytes),
}

struct ColumnPagination {
    limit: u64,
    offset: Offset,
    /// Columns of this row so far; those before a qualifier offset do not count.
    count: u64,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::ColumnPaginationFilter = input.message(&[required(1, "limit")])?;
    let positive =
        |name: &str, n: i32| u64::try_from(n).map_err(|_| input.malformed(format!("{name} {n} is negative")));
    let limit = positive("limit", proto.limit)?;
    let offset = match proto.column_offset {
        Some(qualifier) => Offset::Qualifier(qualifier),
        None => Offset::Columns(positive("offset", proto.offset.unwrap_or(0))?),
    };
    Ok(Box::new(ColumnPagination { limit, offset, count: 0 }))
}

impl Evaluate for ColumnPagination {
    fn name(&self) -> &'static str {
        "ColumnPaginationFilter"
    }
    fn reset(&mut self) {
        self.count = 0;
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        let code = match &self.offset {
            Offset::Qualifier(_) if self.count >= self.limit => return Ok(ReturnCode::NextRow),
            Offset::Qualifier(offset) if self.count == 0 && cell.qualifier() < &offset[..] => {
                return Ok(ReturnCode::SeekNextUsingHint);
            }
            Offset::Qualifier(_) => ReturnCode::IncludeAndNextCol,
            Offset::Columns(offset) if self.count >= offset + self.limit => return Ok(ReturnCode::NextRow),
            Offset::Columns(offset) if self.count < *offset => ReturnCode::NextCol,
            Offset::Columns(_) => ReturnCode::IncludeAndNextCol,
        };
        self.count += 1;
        Ok(code)
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        match &self.offset {
            Offset::Qualifier(offset) => Some(key::first_on_column(cell.row(), cell.family(), offset)),
            Offset::Columns(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn pages_by_number_and_by_qualifier() {
        let filter = |limit, offset, column: Option<&'static str>| {
            let proto =
                pb::ColumnPaginationFilter { limit, offset, column_offset: column.map(|c| c.as_bytes().into()) };
            filter_proto("ColumnPaginationFilter", &proto)
        };
        let rows = "r1 f:a=1 f:b@2=2 f:b@1=1 f:c=3 f:d=4 | r2 f:a=1 | r3 f:c=1 f:e=2";
        check(&filter(2, Some(1), None), rows, "r1 f:b@2=2 f:c=3 | r3 f:e=2");
        check(&filter(0, Some(1), None), rows, "");
        check(&filter(2, None, Some("b")), rows, "r1 f:b@2=2 f:c=3 | r3 f:c=1 f:e=2");
        check(&filter(1, Some(7), Some("bb")), rows, "r1 f:c=3 | r3 f:c=1");
        check(&filter(i32::MAX, Some(i32::MAX), None), rows, "");
        refused(&filter(1, Some(-1), None), "malformed ColumnPaginationFilter: offset -1 is negative");
        refused(&filter(-1, None, Some("b")), "malformed ColumnPaginationFilter: limit -1 is negative");
    }
}
