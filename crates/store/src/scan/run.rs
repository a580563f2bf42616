//! Runs: plain cells, one after the other, without the whole of the merge and the matcher for each.
//!
//! Most cells of most tables are puts without tags, each the only version of its column, and the next one lies right
//! behind in the same block or list. A run takes such cells as long as nothing else has to be asked about them, and goes on
//! with another source of the row when it is that one's turn. Everything else (markers, tags, further versions that are
//! wanted, the end of a block, columns far from each other) is left to the slower way, which would give the same answer for a
//! run's cells, too.

use super::columns::Columns;
use super::merge::Merge;
use super::row_read::{RowRead, StoreEnd};
use super::source::Plain;
use crate::memstore::{SegmentScanner, Visit};
use martite_cell::{CellBuf, TimeRange, key};
use martite_hfile::{Fate, PlainEnd, PlainJudge, PlainRules, PlainTaken};

/// So many older versions of a column are stepped over; then a seek may be better.
pub(super) const MOST_OLDER: u32 = 2;

/// What cells a run may take.
pub(super) struct RunRules<'a> {
    /// The row: `u16 length | row`, as its keys begin.
    pub row_prefix: &'a [u8],
    pub time_range: TimeRange,
    pub columns: &'a mut Columns,
    /// Other rows are wanted, too.
    pub goes_on: bool,
}

/// What a run took.
#[derive(Default)]
pub(super) struct Ran {
    pub cells: u64,
    /// Of them in the answer.
    pub included: u64,
    /// The last one is in the answer.
    pub kept: bool,
    /// It stands at a cell that is not wanted, as many others may be: a seek is due.
    pub wants_seek: bool,
    /// The row is over, and the merge stands at the next one: no step is to come.
    pub row_over: bool,
    /// Columns are named, and the merge stands at the last cell: which comes next decides where to go.
    pub in_named: bool,
    /// The answer has become too big.
    pub end: Option<StoreEnd>,
}

/// Takes cells of the top source, and of those that come to the top in the row. The merge stands at the last one of them,
/// or behind it and wants to settle: a step forward is to come, unless the row is over. It stays where it is if no cell was
/// taken.
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
    // In this row the other sources come from here on.
    let bound = bound.filter(|key| key.starts_with(rules.row_prefix));
    let alone = bound.is_none();
    let (cells_end, bytes_end) = read.ends();
    let room = cells_end.saturating_sub(read.out.len()).max(1) as u64;
    let columns = &mut *rules.columns;
    let (oldest, newest) = columns.wanted(&rules.time_range);
    let plain = PlainRules {
        row_prefix: rules.row_prefix,
        oldest,
        newest,
        read_point,
        bound,
        column: columns.counted(),
        columns: columns.left(),
        most_older: if columns.wants_one_version() { MOST_OLDER } else { 0 },
        most_cells: read.cells_to_next_check().min(room),
        bytes_end,
        goes_on: rules.goes_on,
    };
    let taken = match source.plain() {
        Some(Plain::Segment(cells)) if plain.columns.is_none() => take_shown::<false>(cells, &plain, read.out),
        Some(Plain::Segment(cells)) => take_shown::<true>(cells, &plain, read.out),
        Some(Plain::File(cells)) => cells.take_plain(&plain, read.out),
        None => PlainTaken::NONE,
    };
    let (cells, end) = (taken.cells + taken.passed, taken.end);
    // A source may come to the top of which nothing can be taken.
    if cells == 0 {
        if ran.cells > 0 {
            source.ran(true);
        }
        return false;
    }
    // Where the row ends for all, nothing is asked about its columns any more, but whether they are done with.
    let last = taken.last.as_ref().filter(|_| end != PlainEnd::Row || !alone);
    columns.took(last.map(|cell| cell.as_cell()).as_ref(), taken.columns_done);
    ran.kept = !taken.passed_last;
    ran.included += taken.cells;
    ran.cells += cells;
    read.cells_scanned += cells;
    let is_at_last = matches!(end, PlainEnd::Limit | PlainEnd::Block | PlainEnd::Columns);
    ran.in_named = is_at_last && columns.left().is_some();
    ran.wants_seek = end == PlainEnd::Far;
    if read.is_too_big() {
        ran.end = Some(StoreEnd::TooBig);
    }
    source.ran(!is_at_last);
    ran.row_over = alone && end == PlainEnd::Row && merge.settles_behind_row();
    end == PlainEnd::Bound
}

/// As [`crate::StoreFileScanner::take_plain`], of the memstore, where cells lie one by one.
#[inline(never)]
fn take_shown<'s, const NAMED: bool>(
    cells: &'s mut SegmentScanner,
    rules: &PlainRules<'_>,
    out: &mut CellBuf,
) -> PlainTaken<'s> {
    let mut judge = PlainJudge::<NAMED>::new(rules);
    let mut taken = PlainTaken::NONE;
    cells.run(|cell| {
        let key = cell.key();
        if !judge.is_in_row(key) {
            taken.end = PlainEnd::Row;
            return Visit::Leave;
        }
        match judge.judge(key, !cell.tags.is_empty(), cell.seq_id) {
            Fate::End(end) => {
                taken.end = end;
                return Visit::Leave;
            }
            Fate::Pass => taken.passed += 1,
            Fate::Take => {
                out.push_flat(&cell);
                taken.last = Some(cell);
                taken.cells += 1;
            }
        }
        if taken.cells + taken.passed == rules.most_cells || out.size_bytes() >= rules.bytes_end {
            taken.end = PlainEnd::Limit;
            return Visit::TakeLast;
        }
        if judge.has_all() {
            taken.end = PlainEnd::Columns;
            return Visit::TakeLast;
        }
        // Markers of a whole family have no qualifier either: behind such a cell one may come that is wanted.
        let may_leave_column = rules.most_older > 0 && !key::qualifier_at(key, rules.row_prefix.len()).is_empty();
        if may_leave_column { Visit::TakeColumn } else { Visit::Take }
    });
    judge.finish(&mut taken);
    taken
}
