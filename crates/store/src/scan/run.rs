//! Runs: plain cells, one after the other, without the whole of the merge and the matcher for each.
//!
//! Most cells of most tables are puts without tags, each the only version of its column, and the next one lies right
//! behind in the same block or list. A run takes such cells as long as nothing else has to be asked about them, and goes on
//! with another source of the row when it is that one's turn. Everything else (markers, tags, further versions that are
//! wanted, the end of a block, columns far from each other) is left to the slower way, which would give the same answer for a
//! run's cells, too.

use super::columns::Columns;
use super::matcher::{Filtered, Match};
use super::merge::Merge;
use super::row_read::{RowRead, StoreEnd};
use super::shows::ByFilter;
use super::source::{Plain, Source};
use crate::memstore::{SegmentScanner, Visit};
use martite_cell::{CellBuf, TimeRange, key};
use martite_hfile::{Fate, PlainEnd, PlainJudge, PlainRules, PlainTaken, ShowCells, ShownPlain, Then};

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
    pub filtered: &'a mut Filtered,
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
    /// Where the filter wants to go from the last cell, where the merge stands.
    pub code: Option<Match>,
    /// The filter wants nothing more of the row, and the merge stands at the next one.
    pub left_row: bool,
    /// The answer has become too big.
    pub end: Option<StoreEnd>,
}

/// Takes cells of the top source, and of those that come to the top in the row. The merge stands at the last one of them,
/// or behind it and wants to settle: a step forward is to come, unless the row is over. It stays where it is if no cell was
/// taken.
pub(super) fn run(merge: &mut Merge, mut rules: RunRules<'_>, read_point: u64, read: &mut RowRead<'_>) -> Ran {
    let mut ran = Ran::default();
    merge.stands_in(key::row(rules.row_prefix));
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
        other_times_pass: columns.other_times_pass(),
        read_point,
        bound,
        column: columns.counted(),
        columns: columns.left(),
        most_older: if columns.wants_one_version() { MOST_OLDER } else { 0 },
        most_cells: read.cells_to_next_check().min(room),
        bytes_end,
        goes_on: rules.goes_on,
    };
    let (shown, code) = take(source, &plain, read);
    let ShownPlain { plain: taken, last_taken, left_row } = shown;
    if let Some(key) = last_taken {
        rules.filtered.set_first(key);
    }
    ran.left_row = left_row;
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
    // Behind the last of the named columns nothing of the row is wanted.
    ran.code = code.map(|code| match code {
        Match::Hint => code,
        _ if columns.done() && taken.passed_last => Match::NextRow,
        _ if columns.done() => Match::IncludeNextRow,
        _ => code,
    });
    ran.kept = !taken.passed_last;
    ran.included += taken.cells;
    ran.cells += cells;
    read.cells_scanned += cells;
    let is_at_last = matches!(end, PlainEnd::Limit | PlainEnd::Block | PlainEnd::Columns | PlainEnd::Shown);
    ran.in_named = is_at_last && columns.left().is_some() && !taken.passed_one;
    ran.wants_seek = end == PlainEnd::Far;
    if read.is_too_big() {
        ran.end = Some(StoreEnd::TooBig);
    }
    source.ran(!is_at_last);
    ran.row_over = alone && end == PlainEnd::Row && merge.settles_behind_row();
    end == PlainEnd::Bound
}

/// Takes cells of a source, or shows them to the filter: then where that wants to go from the last one, if it has been asked there.
#[inline(always)]
fn take<'s>(source: &'s mut Source, rules: &PlainRules<'_>, read: &mut RowRead<'_>) -> (ShownPlain<'s>, Option<Match>) {
    let out = &mut *read.out;
    let Some(mut shows) = ByFilter::new(read.filter.as_deref_mut(), read.scratch) else {
        let taken = match source.plain() {
            Some(Plain::Segment(cells)) if rules.columns.is_none() => take_shown::<false>(cells, rules, out),
            Some(Plain::Segment(cells)) => take_shown::<true>(cells, rules, out),
            Some(Plain::File(cells)) => cells.take_plain(rules, out),
            None => PlainTaken::NONE,
        };
        return (ShownPlain { plain: taken, ..ShownPlain::NONE }, None);
    };
    let shown = match source.plain() {
        Some(Plain::Segment(cells)) => show_cells(cells, rules, &mut shows, out),
        Some(Plain::File(cells)) => cells.show_plain(rules, &mut shows, out),
        None => ShownPlain::NONE,
    };
    let code = if shown.plain.end == PlainEnd::Shown { shows.code() } else { None };
    (shown, code)
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
        let fate = judge.judge(key, !cell.tags.is_empty(), cell.seq_id);
        match fate {
            Fate::End(end) => {
                taken.end = end;
                return Visit::Leave;
            }
            Fate::Pass | Fate::PassOne => taken.passed += 1,
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
        let may_leave_column =
            fate != Fate::PassOne && rules.most_older > 0 && !key::qualifier_at(key, rules.row_prefix.len()).is_empty();
        if may_leave_column { Visit::TakeColumn } else { Visit::Take }
    });
    judge.finish(&mut taken);
    taken
}

/// As [`crate::StoreFileScanner::show_plain`], of the memstore.
#[inline(never)]
fn show_cells<'s>(
    cells: &'s mut SegmentScanner,
    rules: &PlainRules<'_>,
    shows: &mut ByFilter<'_>,
    out: &mut CellBuf,
) -> ShownPlain<'s> {
    let mut judge = PlainJudge::<true>::new(rules);
    let mut shown = ShownPlain::NONE;
    cells.run(|cell| {
        if shows.is_done() {
            return Visit::Leave;
        }
        let key = cell.key();
        if !judge.is_in_row(key) {
            shown.plain.end = PlainEnd::Row;
            return Visit::Leave;
        }
        let mut then = Then::Next;
        match judge.judge(key, !cell.tags.is_empty(), cell.seq_id) {
            Fate::End(end) => {
                shown.plain.end = end;
                return Visit::Leave;
            }
            Fate::Pass | Fate::PassOne => shown.plain.passed += 1,
            Fate::Take => {
                let answer = shows.show(&cell.as_cell());
                if answer.takes && !shows.put(&cell.as_cell(), out) {
                    out.push_flat(&cell);
                }
                shown.saw(cell, answer);
                then = answer.tell(&mut judge);
            }
        }
        // Behind a column that is over, older versions may come that would be shown.
        if then != Then::Next && !(then == Then::NextColumn && rules.most_older > 0) {
            shown.plain.end = PlainEnd::Shown;
            return Visit::TakeLast;
        }
        if shown.plain.cells + shown.plain.passed >= rules.most_cells || out.size_bytes() >= rules.bytes_end {
            shown.plain.end = PlainEnd::Limit;
            return Visit::TakeLast;
        }
        if judge.has_all() {
            shown.plain.end = PlainEnd::Columns;
            return Visit::TakeLast;
        }
        Visit::Take
    });
    judge.finish(&mut shown.plain);
    shown
}
