//! Runs: plain cells, one after the other, without the whole of the merge and the matcher for each.
//!
//! Most cells of most tables are puts without tags, each the only version of its column, and the next one lies right
//! behind in the same block or list. A run takes such cells as long as nothing else has to be asked about them, and goes on
//! with another source of the row when it is that one's turn. Everything else (markers, tags, further versions that are
//! wanted, the end of a block) is left to the slower way, which would give the same answer for a run's cells, too.

use super::columns::Wildcard;
use super::merge::Merge;
use super::row_read::{RowRead, StoreEnd};
use super::source::{Cells, Plain};
use crate::StoreFileScanner;
use martite_cell::order::compare_without_row;
use martite_cell::{CellBuf, CellType, FlatCell, TimeRange, key};
use martite_hfile::{PlainEnd, PlainRules, Visit};
use std::cmp::Ordering;

/// So many older versions of a column are stepped over; then a seek may be better.
pub(super) const MOST_OLDER: u32 = 2;

/// What cells a run may take.
pub(super) struct RunRules<'a> {
    /// The row: `u16 length | row`, as its keys begin.
    pub row_prefix: &'a [u8],
    pub time_range: TimeRange,
    pub columns: &'a mut Wildcard,
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
    /// It stands among many older versions of a column: a seek is due.
    pub wants_seek: bool,
    /// The row is over, and the merge stands at the next one: no step is to come.
    pub row_over: bool,
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
    let (cells_before, alone) = (ran.cells, bound.is_none());
    let left = match source.plain() {
        Some(Plain::Segment(cells)) => take(cells, rules, read_point, bound, read, ran),
        Some(Plain::File(cells)) => match take_plain(cells, rules, read_point, bound, read, ran) {
            Some(left) => left,
            None => take(cells, rules, read_point, bound, read, ran),
        },
        None => Left::At,
    };
    if read.is_too_big() {
        ran.end = Some(StoreEnd::TooBig);
    }
    if ran.cells > 0 {
        source.ran(left != Left::Last);
        ran.row_over = alone && left == Left::Row && merge.settles_behind_row();
    }
    left == Left::Crossed && ran.cells > cells_before
}

/// Where a source was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// At the last cell that was taken.
    Last,
    /// At one that was not taken.
    At,
    /// The same, and it is of another row.
    Row,
    /// The same, and it is one for later: others come before it.
    Crossed,
}

/// Of a file: what can be copied as it lies. None: the next cell is to be looked at.
#[inline]
fn take_plain(
    cells: &mut StoreFileScanner,
    rules: &mut RunRules<'_>,
    read_point: u64,
    bound: Option<&[u8]>,
    read: &mut RowRead<'_>,
    ran: &mut Ran,
) -> Option<Left> {
    let column = rules.columns.counted();
    // Of that column further versions are wanted, or this is not known.
    if read.discard || (column.is_some() && !rules.columns.has_all_counted()) {
        return None;
    }
    let (cells_end, bytes_end) = read.ends();
    let room = cells_end.saturating_sub(read.out.len()).max(1) as u64;
    let (oldest, newest) = rules.columns.wanted(&rules.time_range);
    let plain = PlainRules {
        row_prefix: rules.row_prefix,
        oldest,
        newest,
        read_point,
        bound,
        column,
        columns: None,
        most_older: if rules.columns.has_all(1) { MOST_OLDER } else { 0 },
        most_cells: read.cells_to_next_check().min(room),
        bytes_end,
        goes_on: rules.goes_on,
    };
    let taken = cells.take_plain(&plain, read.out)?;
    // Not where the row ends.
    let row_goes_on = taken.end != PlainEnd::Row || bound.is_some();
    if let Some(last) = taken.last.as_ref().filter(|_| row_goes_on) {
        rules.columns.set_only_version(&last.as_cell());
    }
    if taken.cells + taken.passed > 0 {
        ran.kept = !taken.passed_last;
    }
    ran.included += taken.cells;
    ran.cells += taken.cells + taken.passed;
    read.cells_scanned += taken.cells + taken.passed;
    match taken.end {
        PlainEnd::Limit | PlainEnd::Block | PlainEnd::Columns => Some(Left::Last),
        PlainEnd::Row => Some(Left::Row),
        PlainEnd::Bound => Some(Left::Crossed),
        PlainEnd::Other => None,
    }
}

/// Cell by cell, with older versions of columns.
#[inline]
fn take(
    cells: &mut impl Cells,
    rules: &mut RunRules<'_>,
    read_point: u64,
    bound: Option<&[u8]>,
    read: &mut RowRead<'_>,
    ran: &mut Ran,
) -> Left {
    let RunRules { row_prefix, time_range, columns, .. } = rules;
    let (cells_end, bytes_end) = read.ends();
    let mut taker = Taker {
        row_prefix,
        time_range: *time_range,
        read_point,
        bound,
        has_all: columns.has_all(1),
        columns,
        most: read.cells_to_next_check(),
        cells_end,
        bytes_end,
        out: if read.discard { None } else { Some(read.out) },
        last: None,
        included: 0,
        passed: 0,
        older: 0,
        kept: ran.kept,
        crossed: false,
        wants_seek: false,
    };
    let at_another = cells.run(|cell| taker.take(cell));
    let Taker { last, included, passed, crossed, kept, wants_seek, .. } = taker;
    if let Some((cell, _)) = last {
        columns.set_only_version(&cell.as_cell());
    }
    (ran.kept, ran.wants_seek) = (kept, wants_seek);
    ran.included += included;
    ran.cells += included + passed;
    read.cells_scanned += included + passed;
    match (at_another, crossed) {
        (false, _) => Left::Last,
        (true, false) => Left::At,
        (true, true) => Left::Crossed,
    }
}

/// Judges and takes cells of one source.
struct Taker<'a, 's> {
    row_prefix: &'a [u8],
    time_range: TimeRange,
    read_point: u64,
    /// Cells that are not before this key are for later.
    bound: Option<&'a [u8]>,
    columns: &'a Wildcard,
    /// One version of a column is all that is wanted.
    has_all: bool,
    /// So many cells may be taken.
    most: u64,
    /// Limits of what is in the answer.
    cells_end: usize,
    bytes_end: usize,
    /// None: nothing is kept.
    out: Option<&'a mut CellBuf>,
    /// The last one that was included, and its column.
    last: Option<(FlatCell<'s>, &'s [u8])>,
    included: u64,
    /// Older versions.
    passed: u64,
    /// Those of the last column.
    older: u32,
    kept: bool,
    crossed: bool,
    wants_seek: bool,
}

impl<'s> Taker<'_, 's> {
    #[inline(always)]
    fn take(&mut self, cell: FlatCell<'s>) -> Visit {
        let key = cell.key();
        let timestamp = key::timestamp(key);
        let plain =
            key::type_code(key) == CellType::Put as u8 && cell.tags.is_empty() && cell.seq_id <= self.read_point;
        if !plain
            || !key::is_in_row(key, self.row_prefix)
            || self.time_range.compare(timestamp) != Ordering::Equal
            || self.columns.is_expired(timestamp)
        {
            return Visit::Leave;
        }
        match self.bound.map_or(Ordering::Less, |bound| compare_without_row(key, bound)) {
            Ordering::Less => {}
            // Which of the two comes first is not told by their keys.
            Ordering::Equal => return Visit::Leave,
            Ordering::Greater => {
                self.crossed = true;
                return Visit::Leave;
            }
        }
        let qualifier = key::qualifier_at(key, self.row_prefix.len());
        let (is_older, has_all) = match &self.last {
            Some((_, last)) => (key::is_same(last, qualifier), self.has_all),
            None => (self.columns.is_in(qualifier), self.columns.has_all_counted()),
        };
        if is_older {
            if !has_all || self.older == MOST_OLDER {
                self.wants_seek = has_all;
                return Visit::Leave;
            }
            self.older += 1;
            self.passed += 1;
            self.kept = false;
        } else {
            self.last = Some((cell, qualifier));
            self.older = 0;
            self.included += 1;
            self.kept = true;
            if let Some(out) = &mut self.out {
                out.push_flat(&cell);
                if out.len() >= self.cells_end || out.size_bytes() >= self.bytes_end {
                    return Visit::TakeLast;
                }
            }
        }
        if self.included + self.passed == self.most {
            return Visit::TakeLast;
        }
        // Markers of a whole family have no qualifier either: behind such a cell one may come that is wanted.
        let has_all = if is_older { has_all } else { self.has_all };
        if has_all && !qualifier.is_empty() { Visit::TakeColumn } else { Visit::Take }
    }
}
