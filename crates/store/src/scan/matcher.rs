//! The matcher of user scans: what to do with the cell on top of the merge
//! (HBase: UserScanQueryMatcher, NormalUserScanQueryMatcher, RawScanQueryMatcher).
//!
//! For each cell, in this order: the row is still the same; columns are left; not expired; a delete marker (noted, not
//! returned); not hidden by one; in the time range; of a wanted column; a wanted version; and at last the filter.

use super::StoreScan;
use super::columns::{Columns, Versions};
use super::deletes::{Deleted, Deletes};
use super::new_version::NewVersionTracker;
use super::run::RunRules;
use crate::{FamilyOptions, KeepDeleted};
use bytes::Bytes;
use martite_cell::{CellRef, CellType, Order, TimeRange, key, tags};
use martite_filter::{Filter, ReturnCode};
use martite_hfile::JudgeRules;
use std::cmp::Ordering;

/// What to do with a cell, and where to go from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Include,
    IncludeNextCol,
    IncludeNextRow,
    Skip,
    NextCol,
    NextRow,
    /// The filter names the next cell.
    Hint,
    /// The cell is of another row.
    Done,
    /// The filter wants nothing more.
    DoneScan,
}

/// So many range markers of one column in a row are stepped over before seeking is worth it.
const SEEK_AFTER_MARKERS: u32 = 10;

/// Which versions are visible: by timestamp, or by sequence id.
pub(super) enum Tracker {
    Plain { columns: Columns, deletes: Deletes },
    NewVersion(Box<NewVersionTracker>),
}

impl Tracker {
    pub(super) fn reset(&mut self) {
        match self {
            Tracker::Plain { columns, deletes } => {
                columns.reset();
                deletes.reset();
            }
            Tracker::NewVersion(t) => t.reset(),
        }
    }

    /// All columns that were named are done with.
    #[inline]
    pub(super) fn done(&self) -> bool {
        match self {
            Tracker::Plain { columns, .. } => columns.done(),
            Tracker::NewVersion(t) => t.done(),
        }
    }

    /// Whether the cell's age ends its column.
    #[inline]
    pub(super) fn is_done(&self, timestamp: u64) -> bool {
        match self {
            Tracker::Plain { columns, .. } => columns.is_done(timestamp),
            // An older put may have been written later.
            Tracker::NewVersion(_) => false,
        }
    }

    pub(super) fn next_row_or_next_column(&mut self, cell: &CellRef<'_>) -> Match {
        match self {
            Tracker::Plain { columns, .. } => columns.next_row_or_next_column(cell),
            Tracker::NewVersion(_) => Match::NextCol,
        }
    }

    pub(super) fn hint(&self) -> Option<&[u8]> {
        match self {
            Tracker::Plain { columns, .. } => columns.hint(),
            Tracker::NewVersion(t) => t.hint(),
        }
    }

    pub(super) fn add_delete(&mut self, marker: &CellRef<'_>) {
        match self {
            Tracker::Plain { deletes, .. } => deletes.add(marker),
            Tracker::NewVersion(t) => t.add(marker),
        }
    }

    /// Where to go from a put that a marker hides; None if it is not hidden.
    #[inline]
    pub(super) fn check_deleted(&mut self, cell: &CellRef<'_>) -> Option<Match> {
        match self {
            Tracker::Plain { columns, deletes } => {
                if deletes.is_empty() {
                    return None;
                }
                match deletes.check(cell) {
                    Deleted::No => None,
                    Deleted::Version => Some(Match::Skip),
                    Deleted::Family | Deleted::Column => Some(columns.next_row_or_next_column(cell)),
                }
            }
            Tracker::NewVersion(t) => t.hides(cell).then_some(Match::Skip),
        }
    }

    #[inline]
    fn check_column(&mut self, cell: &CellRef<'_>) -> Match {
        match self {
            Tracker::Plain { columns, .. } => columns.check_column(cell),
            Tracker::NewVersion(t) => t.check_column(cell),
        }
    }

    #[inline]
    pub(super) fn check_versions(
        &mut self,
        cell: &CellRef<'_>,
        timestamp: u64,
        type_code: u8,
        ignore_count: bool,
    ) -> Match {
        match self {
            Tracker::Plain { columns, .. } => columns.check_versions(cell, timestamp, type_code, ignore_count),
            Tracker::NewVersion(t) => t.check_versions(timestamp, ignore_count),
        }
    }

    fn done_with_column(&mut self, cell: &CellRef<'_>) {
        if let Tracker::Plain { columns, .. } = self {
            columns.done_with_column(cell);
        }
    }
}

/// The row that is being read: `u16 length | row`, as a key begins.
#[derive(Default)]
pub(super) struct CurrentRow {
    prefix: Vec<u8>,
    set: bool,
}

impl CurrentRow {
    #[inline]
    pub(super) fn set(&mut self, key: &[u8]) {
        self.prefix.clear();
        self.prefix.extend_from_slice(&key[..2 + key::row_len(key)]);
        self.set = true;
    }
    pub(super) fn clear(&mut self) {
        self.set = false;
    }
    pub(super) fn is_set(&self) -> bool {
        self.set
    }
    #[inline]
    pub(super) fn holds(&self, key: &[u8]) -> bool {
        self.set && key::is_in_row(key, &self.prefix)
    }
}

/// Whether a cell's own time to live has passed.
#[inline]
pub(super) fn has_expired_by_tag(cell: &CellRef<'_>, now_ms: u64) -> bool {
    !cell.tags.is_empty() && tags::ttl_ms(cell.tags).is_some_and(|ttl| cell.timestamp().saturating_add(ttl) < now_ms)
}

pub(super) struct UserMatcher {
    tracker: Tracker,
    row: CurrentRow,
    order: Order,
    stop_row: Bytes,
    include_stop: bool,
    reversed: bool,
    is_get: bool,
    raw: bool,
    time_range: TimeRange,
    now_ms: u64,
    /// KEEP_DELETED_CELLS: markers outside the time range hide nothing inside it.
    see_past_markers: bool,
    seek_on_markers: bool,
    range_markers: u32,
    last_marker: Vec<u8>,
    /// Nothing about the scan itself wants each cell of a row to be looked at, but perhaps its filter.
    may_run: bool,
    /// With a filter: versions of a column to return.
    versions_after_filter: u32,
    filtered: Filtered,
}

/// Of the cells that a filter has let pass: how many of the last column there were.
#[derive(Default)]
pub(super) struct Filtered {
    count: u32,
    /// With its row, as keys begin.
    column: Vec<u8>,
}

impl Filtered {
    /// A cell was let pass: how many of its column there are with it.
    #[inline]
    fn count(&mut self, key: &[u8]) -> u32 {
        if self.column != key[..key.len() - key::TS_TYPE_SIZE] {
            self.set_first(key);
        } else {
            self.count += 1;
        }
        self.count
    }

    /// The first one of its column was.
    #[inline]
    pub(super) fn set_first(&mut self, key: &[u8]) {
        self.count = 1;
        self.column.clear();
        self.column.extend_from_slice(&key[..key.len() - key::TS_TYPE_SIZE]);
    }
}

impl UserMatcher {
    pub(super) fn new(family: &FamilyOptions, scan: &StoreScan, has_filter: bool) -> UserMatcher {
        let result_max = if scan.raw { scan.max_versions } else { scan.max_versions.min(family.max_versions) };
        let max = match (has_filter, scan.raw) {
            (false, _) => result_max,
            (true, true) => u32::MAX,
            (true, false) => family.max_versions,
        };
        let oldest_unexpired = scan.oldest_unexpired(family);
        let tracker = if family.new_version_behavior && !scan.raw {
            let versions = (family.min_versions, family.max_versions, result_max);
            Tracker::NewVersion(Box::new(NewVersionTracker::new(scan.columns.clone(), versions, oldest_unexpired)))
        } else {
            let versions = Versions { max, min: family.min_versions, oldest_unexpired };
            Tracker::Plain { columns: Columns::new(scan.columns.as_ref(), versions), deletes: Deletes::default() }
        };
        let see_past_markers = family.keep_deleted != KeepDeleted::False;
        UserMatcher {
            seek_on_markers: !see_past_markers && matches!(tracker, Tracker::Plain { .. }),
            tracker,
            row: CurrentRow::default(),
            order: family.order,
            stop_row: scan.stop_row.clone(),
            include_stop: scan.include_stop,
            reversed: scan.reversed,
            is_get: scan.is_get && !scan.raw,
            raw: scan.raw,
            time_range: scan.time_range,
            now_ms: scan.now_ms,
            see_past_markers,
            range_markers: 0,
            last_marker: Vec::new(),
            may_run: !scan.raw
                && (scan.store_limit, scan.store_offset, family.order) == (-1, 0, Order::Default)
                && result_max > 0,
            versions_after_filter: result_max,
            filtered: Filtered::default(),
        }
    }

    /// `key`: of the first cell of the row.
    #[inline]
    pub(super) fn set_row(&mut self, key: &[u8]) {
        self.row.set(key);
        self.tracker.reset();
        self.range_markers = 0;
        self.last_marker.clear();
    }

    pub(super) fn clear_row(&mut self) {
        self.row.clear();
    }

    pub(super) fn has_row(&self) -> bool {
        self.row.is_set()
    }

    /// All columns that were named are done with.
    pub(super) fn has_all_columns(&self) -> bool {
        self.tracker.done()
    }

    /// Whether the cell with this key is of the row that is set.
    pub(super) fn is_in_row(&self, key: &[u8]) -> bool {
        self.row.holds(key)
    }

    /// What cells of the row that is set a run may take now; none if each has to be looked at.
    #[inline]
    pub(super) fn run_rules(&mut self) -> Option<RunRules<'_>> {
        match &mut self.tracker {
            Tracker::Plain { columns, deletes } if self.may_run && deletes.is_empty() && columns.may_run() => {
                self.range_markers = 0;
                let (time_range, goes_on) = (self.time_range, !self.is_get);
                let filtered = &mut self.filtered;
                Some(RunRules { row_prefix: &self.row.prefix, time_range, columns, goes_on, filtered })
            }
            _ => None,
        }
    }

    /// What plain cells a filter may judge, or who takes rows may take, where they lie; none if each has to be looked at.
    pub(super) fn judge_rules(&self, most_cells: usize) -> Option<JudgeRules<'_>> {
        match &self.tracker {
            Tracker::Plain { columns, .. } if self.may_run && !self.is_get && !self.reversed => {
                columns.judge_rules(&self.time_range, most_cells)
            }
            _ => None,
        }
    }

    /// Whether the scan can want a row after this one.
    pub(super) fn more_rows_after(&self, row: &[u8]) -> bool {
        if self.is_get {
            return false;
        }
        if self.stop_row.is_empty() {
            return true;
        }
        match self.order.rows(row, &self.stop_row) {
            Ordering::Less => !self.reversed,
            Ordering::Equal => self.include_stop,
            Ordering::Greater => self.reversed,
        }
    }

    /// What to do with `cell`; `begins_row`: it is the one that the row was set by.
    #[inline]
    pub(super) fn check(&mut self, cell: &CellRef<'_>, begins_row: bool, filter: Option<&mut Filter>) -> Match {
        let mut filter = filter;
        if let Some(filter) = &mut filter
            && filter.filter_all_remaining()
        {
            return Match::DoneScan;
        }
        if !begins_row && !self.row.holds(cell.key) {
            return Match::Done;
        }
        if self.tracker.done() {
            return Match::NextRow;
        }
        let (timestamp, type_code) = (cell.timestamp(), cell.type_code());
        if self.tracker.is_done(timestamp) {
            return self.tracker.next_row_or_next_column(cell);
        }
        if has_expired_by_tag(cell, self.now_ms) {
            return Match::Skip;
        }
        if !self.raw {
            if key::is_delete_code(type_code) {
                return self.check_marker(cell, timestamp, type_code);
            }
            self.range_markers = 0;
            if let Some(code) = self.tracker.check_deleted(cell) {
                return code;
            }
        }
        self.check_column(cell, timestamp, type_code, filter)
    }

    fn check_marker(&mut self, cell: &CellRef<'_>, timestamp: u64, type_code: u8) -> Match {
        let hides =
            if self.see_past_markers { self.time_range.contains(timestamp) } else { timestamp >= self.time_range.min };
        if hides {
            self.tracker.add_delete(cell);
        }
        let qualifier = cell.qualifier();
        let ends_column = type_code == CellType::DeleteFamily as u8
            || (type_code == CellType::DeleteColumn as u8 && !qualifier.is_empty());
        if !self.seek_on_markers || !ends_column {
            self.range_markers = 0;
            return Match::Skip;
        }
        if self.last_marker != qualifier {
            self.range_markers = 0;
            self.last_marker.clear();
            self.last_marker.extend_from_slice(qualifier);
        }
        self.range_markers += 1;
        if self.range_markers >= SEEK_AFTER_MARKERS {
            self.range_markers = 0;
            return self.tracker.next_row_or_next_column(cell);
        }
        Match::Skip
    }

    #[inline]
    fn check_column(
        &mut self,
        cell: &CellRef<'_>,
        timestamp: u64,
        type_code: u8,
        filter: Option<&mut Filter>,
    ) -> Match {
        match self.time_range.compare(timestamp) {
            Ordering::Greater => return Match::Skip,
            Ordering::Less => return self.tracker.next_row_or_next_column(cell),
            Ordering::Equal => {}
        }
        let code = self.tracker.check_column(cell);
        if code != Match::Include {
            return code;
        }
        let code = self.tracker.check_versions(cell, timestamp, type_code, false);
        match filter {
            Some(filter) if code != Match::Skip && code != Match::NextCol => {
                let wanted = filter.filter_cell(cell);
                self.merge_filter_code(cell, code, wanted)
            }
            _ => code,
        }
    }

    /// The farther one of what the trackers and the filter say.
    fn merge_filter_code(&mut self, cell: &CellRef<'_>, code: Match, filter: ReturnCode) -> Match {
        let mut code = match (filter, code) {
            (ReturnCode::Skip, Match::Include) => return Match::Skip,
            (ReturnCode::Skip, Match::IncludeNextCol) => return Match::NextCol,
            (ReturnCode::Skip | ReturnCode::NextCol, Match::IncludeNextRow) => return Match::NextRow,
            (ReturnCode::NextCol, _) => return self.tracker.next_row_or_next_column(cell),
            (ReturnCode::NextRow, _) => return Match::NextRow,
            (ReturnCode::SeekNextUsingHint, _) => return Match::Hint,
            (ReturnCode::IncludeAndNextCol, Match::Include) => Match::IncludeNextCol,
            (ReturnCode::IncludeAndSeekNextRow, _) => Match::IncludeNextRow,
            (_, code) => code,
        };
        if self.filtered.count(cell.key) > self.versions_after_filter {
            code = if code == Match::IncludeNextRow { Match::NextRow } else { Match::NextCol };
        }
        if code == Match::IncludeNextCol || code == Match::NextCol {
            self.tracker.done_with_column(cell);
        }
        code
    }

    /// Writes the key to go to for `NextCol` into `into`.
    pub(super) fn next_column_key(&self, cell: &CellRef<'_>, into: &mut Vec<u8>) {
        next_column_key(cell, self.tracker.hint(), into);
    }
}

/// Where the next column begins, at least. Cells with an empty qualifier are left one by one: among them family markers
/// may still come.
pub(super) fn next_column_key(cell: &CellRef<'_>, hint: Option<&[u8]>, into: &mut Vec<u8>) {
    into.clear();
    let (family, qualifier) = key::column(cell.key);
    if qualifier.is_empty() && cell.type_code() != CellType::DeleteFamily as u8 {
        let (timestamp, type_code) = (cell.timestamp(), cell.type_code());
        if type_code > 0 {
            return key::append_key(into, cell.row(), family, qualifier, timestamp, type_code - 1);
        }
        if timestamp > 0 {
            return key::append_key(into, cell.row(), family, qualifier, timestamp - 1, CellType::Maximum as u8);
        }
    }
    // A tracker may name the column that it is in.
    match hint.filter(|column| *column != qualifier) {
        None => {
            let lowest = i64::MIN as u64;
            key::append_key(into, cell.row(), family, qualifier, lowest, CellType::Minimum as u8);
        }
        Some(column) => {
            let highest = martite_cell::LATEST_TIMESTAMP;
            key::append_key(into, cell.row(), family, column, highest, CellType::Maximum as u8);
        }
    }
}
