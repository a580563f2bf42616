//! Runs: plain cells, one after the other, without the whole of the merge and the matcher for each.
//!
//! Most cells of most tables are puts without tags, each the only version of its column, and the next one lies right
//! behind in the same block or list. A run takes such cells as long as nothing else has to be asked about them, and goes on
//! with another source of the row when it is that one's turn. Everything else (markers, tags, further versions that are
//! wanted, the end of a block) is left to the slower way, which would give the same answer for a run's cells, too.

use super::columns::Wildcard;
use super::merge::Merge;
use super::row_read::{RowRead, StoreEnd};
use martite_cell::order::compare_without_row;
use martite_cell::{CellRef, CellType, TimeRange, key};
use martite_hfile::Visit;
use std::cmp::Ordering;

/// So many older versions of a column are stepped over; then a seek may be better.
const MOST_OLDER: u32 = 2;

/// What cells a run may take.
pub(super) struct RunRules<'a> {
    /// The row: `u16 length | row`, as its keys begin.
    pub row_prefix: &'a [u8],
    pub time_range: TimeRange,
    pub columns: &'a mut Wildcard,
}

/// What a run took.
#[derive(Default)]
pub(super) struct Ran {
    pub cells: u64,
    /// Of them in the answer.
    pub included: u64,
    /// The last one is in the answer.
    pub kept: bool,
    /// It stands among many older versions of a column: a seek is due.
    pub wants_seek: bool,
    /// The answer has become too big.
    pub end: Option<StoreEnd>,
}

/// Takes cells of the top source, and of those that come to the top in the row. The merge stands at the last one of them,
/// or behind it and wants to settle: a step forward is to come. It stays where it is if no cell was taken.
pub(super) fn run(merge: &mut Merge, mut rules: RunRules<'_>, read_point: u64, read: &mut RowRead<'_>) -> Ran {
    let mut ran = Ran::default();
    while run_top(merge, &mut rules, read_point, read, &mut ran) && merge.top_gives_way() {}
    ran
}

/// Takes cells of the top source; true: the next one is of the same kind, but others come before it.
#[inline]
fn run_top(
    merge: &mut Merge,
    rules: &mut RunRules<'_>,
    read_point: u64,
    read: &mut RowRead<'_>,
    ran: &mut Ran,
) -> bool {
    let Some((source, bound)) = merge.top_and_next() else { return false };
    let RunRules { row_prefix, time_range, columns } = rules;
    // In this row the other sources come from here on.
    let bound = bound.filter(|key| key.starts_with(row_prefix));
    let most = read.cells_to_next_check();
    // The last one that was included, and its column.
    let mut last: Option<(CellRef<'_>, &[u8])> = None;
    let (mut taken, mut older, mut crossed) = (0, 0, false);
    let left = source.run(|cell| {
        let timestamp = cell.timestamp();
        let plain = cell.type_code() == CellType::Put as u8 && cell.tags.is_empty() && cell.seq_id <= read_point;
        if !plain
            || !key::is_in_row(cell.key, row_prefix)
            || time_range.compare(timestamp) != Ordering::Equal
            || columns.is_expired(timestamp)
        {
            return Visit::Leave;
        }
        if bound.is_some_and(|bound| compare_without_row(cell.key, bound) != Ordering::Less) {
            crossed = true;
            return Visit::Leave;
        }
        let qualifier = key::qualifier_at(cell.key, row_prefix.len());
        let (is_older, has_all) = match &last {
            Some((_, last)) => (*last == qualifier, columns.has_all(1)),
            None => (columns.is_in(qualifier), columns.has_all_counted()),
        };
        if is_older {
            if !has_all || older == MOST_OLDER {
                ran.wants_seek = has_all;
                return Visit::Leave;
            }
            older += 1;
        } else {
            last = Some((cell, qualifier));
            older = 0;
            ran.included += 1;
            if !read.keep(&cell) {
                ran.end = Some(StoreEnd::TooBig);
            }
        }
        taken += 1;
        ran.kept = !is_older;
        if taken == most || ran.end.is_some() || (ran.kept && read.is_full()) {
            return Visit::TakeLast;
        }
        // Markers of a whole family have no qualifier either: behind such a cell one may come that is wanted.
        let has_all = if is_older { has_all } else { columns.has_all(1) };
        if has_all && !qualifier.is_empty() { Visit::TakeColumn } else { Visit::Take }
    });
    if let Some((cell, _)) = last {
        columns.set_only_version(&cell);
    }
    ran.cells += taken;
    read.cells_scanned += taken;
    if ran.cells > 0 {
        source.ran(left);
    }
    crossed && taken > 0
}
