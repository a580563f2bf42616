//! TimestampsFilter: cells with one of the listed timestamps; leaves a column below the least of them.

use crate::ReturnCode;
use crate::decode::Input;
use crate::error::Result;
use crate::evaluate::{Boxed, Evaluate};
use martite_cell::{CellRef, CellType, key};
use martite_proto as pb;

struct Timestamps {
    /// Sorted.
    timestamps: Vec<u64>,
    can_hint: bool,
}

pub(crate) fn decode(input: Input) -> Result<Boxed> {
    let proto: pb::TimestampsFilter = input.message(&[])?;
    let mut timestamps = Vec::with_capacity(proto.timestamps.len());
    for ts in proto.timestamps {
        timestamps.push(u64::try_from(ts).map_err(|_| input.malformed(format!("timestamp {ts} is negative")))?);
    }
    timestamps.sort_unstable();
    timestamps.dedup();
    Ok(Box::new(Timestamps { timestamps, can_hint: proto.can_hint.unwrap_or(false) }))
}

impl Evaluate for Timestamps {
    fn name(&self) -> &'static str {
        "TimestampsFilter"
    }
    fn filter_row_key(&mut self, _row: &[u8]) -> Result<bool> {
        Ok(false)
    }
    fn is_row_local(&self) -> bool {
        true
    }
    fn filter_cell(&mut self, cell: &CellRef<'_>) -> Result<ReturnCode> {
        Ok(match self.timestamps.binary_search(&cell.timestamp()) {
            Ok(_) => ReturnCode::Include,
            // Versions come newest first: nothing of this column is left.
            Err(0) => ReturnCode::NextCol,
            Err(_) if self.can_hint => ReturnCode::SeekNextUsingHint,
            Err(_) => ReturnCode::Skip,
        })
    }
    fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        if !self.can_hint {
            return None;
        }
        let (row, family, qualifier) = (cell.row(), cell.family(), cell.qualifier());
        let older = self.timestamps.partition_point(|&ts| ts < cell.timestamp());
        Some(match older.checked_sub(1) {
            Some(i) => key::flat_key(row, family, qualifier, self.timestamps[i], CellType::Maximum as u8),
            None => key::last_on_column(row, family, qualifier),
        })
    }
    fn gives_hints(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::scan_model::*;

    #[test]
    fn only_listed_timestamps_with_and_without_hints() {
        let filter = |timestamps: &[i64], can_hint| {
            let proto = pb::TimestampsFilter { timestamps: timestamps.to_vec(), can_hint };
            filter_proto("TimestampsFilter", &proto)
        };
        let rows = "r1 f:a@9=1 f:a@7=2 f:a@5=3 f:a@3=4 f:b@7=5 f:b@4=6 | r2 f:a@1=7";
        for can_hint in [None, Some(false), Some(true)] {
            check(&filter(&[5, 7], can_hint), rows, "r1 f:a@7=2 f:a@5=3 f:b@7=5");
            check(&filter(&[], can_hint), rows, "");
        }
        codes(&filter(&[5, 7], None), "r1 f:a@9=1 f:a@7=1 f:a@4=1", "Skip Include NextCol");
        codes(
            &filter(&[5, 7], Some(true)),
            "r1 f:a@9=1 f:a@6=1 f:a@4=1",
            "SeekNextUsingHint SeekNextUsingHint NextCol",
        );
        hint(&filter(&[5, 7], Some(true)), "r1 f:a@9=1", "r1 f:a@7");
        hint(&filter(&[5, 7], Some(true)), "r1 f:a@6=1", "r1 f:a@5");
        refused(&filter(&[-3], None), "malformed TimestampsFilter: timestamp -3 is negative");
    }
}
