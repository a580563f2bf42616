//! Column trackers: which columns are wanted, and how many versions of each one
//! (HBase: ExplicitColumnTracker, ScanWildcardColumnTracker).

use super::matcher::Match;
use bytes::Bytes;
use martite_cell::{CellRef, LATEST_TIMESTAMP, TimeRange, key};
use martite_hfile::JudgeRules;
use std::cmp::Ordering;
use std::sync::Arc;

/// How many versions are kept, and when they expire.
#[derive(Debug, Clone, Copy)]
pub(super) struct Versions {
    pub max: u32,
    pub min: u32,
    /// Cells with an older timestamp have expired.
    pub oldest_unexpired: u64,
}

impl Versions {
    /// The oldest and the newest timestamp of `range` that has not expired.
    #[inline]
    fn wanted(&self, range: &TimeRange) -> (u64, u64) {
        let (oldest, newest) = range.bounds();
        (oldest.max(self.oldest_unexpired), newest)
    }

    fn is_expired(&self, timestamp: u64) -> bool {
        timestamp < self.oldest_unexpired
    }
    /// Whether no cell this old, nor any older one of its column, is wanted.
    #[inline]
    pub(super) fn is_done(&self, timestamp: u64) -> bool {
        self.min == 0 && self.is_expired(timestamp)
    }
}

/// Any column.
pub(super) struct Wildcard {
    versions: Versions,
    column: Vec<u8>,
    has_column: bool,
    count: u32,
    last_timestamp: u64,
    last_type: u8,
}

impl Wildcard {
    pub(super) fn new(versions: Versions) -> Wildcard {
        Wildcard {
            versions,
            column: Vec::new(),
            has_column: false,
            count: 0,
            last_timestamp: LATEST_TIMESTAMP,
            last_type: 0,
        }
    }

    #[inline]
    fn reset(&mut self) {
        self.has_column = false;
        self.last_timestamp = LATEST_TIMESTAMP;
        self.last_type = 0;
    }

    /// The column that was looked at last, if one was in this row.
    #[inline]
    fn counted(&self) -> Option<&[u8]> {
        self.has_column.then_some(&self.column[..])
    }

    /// The put `cell` was included, the first version of its column.
    fn set_only_version(&mut self, cell: &CellRef<'_>) {
        self.has_column = true;
        self.column.clear();
        self.column.extend_from_slice(cell.qualifier());
        self.count = 1;
        self.last_timestamp = cell.timestamp();
        self.last_type = cell.type_code();
    }

    #[inline]
    fn check_versions(&mut self, cell: &CellRef<'_>, timestamp: u64, type_code: u8, ignore_count: bool) -> Match {
        let qualifier = cell.qualifier();
        if self.has_column && self.column == qualifier {
            if ignore_count {
                return Match::Include;
            }
            // Of several cells of one time the newest write counts.
            if timestamp == self.last_timestamp && type_code == self.last_type {
                return Match::Skip;
            }
        } else {
            self.reset();
            self.has_column = true;
            self.column.clear();
            self.column.extend_from_slice(qualifier);
            self.count = 0;
            if ignore_count {
                return Match::Include;
            }
        }
        // A delete marker is not a version.
        if !key::is_delete_code(type_code) {
            self.count += 1;
        }
        if self.count > self.versions.max {
            return Match::NextCol;
        }
        if self.count <= self.versions.min || !self.versions.is_expired(timestamp) {
            self.last_timestamp = timestamp;
            self.last_type = type_code;
            Match::Include
        } else {
            Match::NextCol
        }
    }
}

/// Named columns, in order.
pub(super) struct Explicit {
    versions: Versions,
    columns: Arc<[Bytes]>,
    index: usize,
    /// Versions seen of the current column.
    count: u32,
    last_timestamp: u64,
}

impl Explicit {
    pub(super) fn new(columns: Arc<[Bytes]>, versions: Versions) -> Explicit {
        Explicit { versions, columns, index: 0, count: 0, last_timestamp: LATEST_TIMESTAMP }
    }

    fn reset(&mut self) {
        self.go_to(0);
    }

    fn go_to(&mut self, index: usize) {
        self.index = index;
        self.count = 0;
        self.last_timestamp = LATEST_TIMESTAMP;
    }

    fn done(&self) -> bool {
        self.index >= self.columns.len()
    }

    fn check_column(&mut self, cell: &CellRef<'_>) -> Match {
        let qualifier = cell.qualifier();
        while let Some(column) = self.columns.get(self.index) {
            match qualifier.cmp(column) {
                Ordering::Equal => return Match::Include,
                Ordering::Less => {
                    self.last_timestamp = LATEST_TIMESTAMP;
                    return Match::NextCol;
                }
                Ordering::Greater => self.go_to(self.index + 1),
            }
        }
        Match::NextRow
    }

    fn check_versions(&mut self, timestamp: u64, ignore_count: bool) -> Match {
        if ignore_count {
            return Match::Include;
        }
        if timestamp == self.last_timestamp {
            return Match::Skip;
        }
        self.count += 1;
        let versions = &self.versions;
        if self.count >= versions.max || (self.count >= versions.min && versions.is_expired(timestamp)) {
            self.go_to(self.index + 1);
            return if self.done() { Match::IncludeNextRow } else { Match::IncludeNextCol };
        }
        self.last_timestamp = timestamp;
        Match::Include
    }

    fn done_with_column(&mut self, cell: &CellRef<'_>) {
        let qualifier = cell.qualifier();
        while let Some(column) = self.columns.get(self.index) {
            self.last_timestamp = LATEST_TIMESTAMP;
            match qualifier.cmp(column) {
                Ordering::Less => return,
                Ordering::Equal => return self.go_to(self.index + 1),
                Ordering::Greater => self.go_to(self.index + 1),
            }
        }
    }
}

/// Either kind of tracker.
pub(super) enum Columns {
    Wildcard(Wildcard),
    Explicit(Explicit),
}

/// With more columns than this, looking for each cell's one by one costs more than it saves.
const MOST_JUDGED: usize = 16;

impl Columns {
    #[inline]
    fn versions(&self) -> &Versions {
        match self {
            Columns::Wildcard(c) => &c.versions,
            Columns::Explicit(c) => &c.versions,
        }
    }

    /// Whether a run may take cells: of the current column nothing is counted that it would have to know.
    #[inline]
    pub(super) fn may_run(&self) -> bool {
        match self {
            Columns::Wildcard(_) => true,
            Columns::Explicit(c) => c.versions.max == 1 && !c.done(),
        }
    }

    /// The oldest and the newest timestamp of `range` that has not expired.
    #[inline]
    pub(super) fn wanted(&self, range: &TimeRange) -> (u64, u64) {
        self.versions().wanted(range)
    }

    /// Whether one version of a column is all that is wanted.
    #[inline]
    pub(super) fn wants_one_version(&self) -> bool {
        self.versions().max <= 1
    }

    /// Whether cells of times that are not wanted are nothing to anybody. Expired ones are not where some are kept for their number.
    #[inline]
    pub(super) fn other_times_pass(&self) -> bool {
        self.versions().min == 0
    }

    /// The column before the next one that is wanted, if the row had it or it was named.
    #[inline]
    pub(super) fn counted(&self) -> Option<&[u8]> {
        match self {
            Columns::Wildcard(c) => c.counted(),
            Columns::Explicit(c) => c.columns.get(c.index.checked_sub(1)?).map(|column| &column[..]),
        }
    }

    /// The named columns that are not done with.
    #[inline]
    pub(super) fn left(&self) -> Option<&[Bytes]> {
        match self {
            Columns::Wildcard(_) => None,
            Columns::Explicit(c) => c.columns.get(c.index..),
        }
    }

    /// A run took cells. `last`: the last one that was included, the first version of its column; so many of the named ones are
    /// done with since.
    #[inline]
    pub(super) fn took(&mut self, last: Option<&CellRef<'_>>, columns_done: usize) {
        match (self, last) {
            (Columns::Wildcard(c), Some(last)) => c.set_only_version(last),
            (Columns::Wildcard(_), None) => {}
            (Columns::Explicit(c), _) => c.go_to(c.index + columns_done),
        }
    }

    /// What cells a filter may judge where they lie, of those in `range`.
    pub(super) fn judge_rules(&self, range: &TimeRange, most_cells: usize) -> Option<JudgeRules<'_>> {
        let columns = match self {
            Columns::Wildcard(_) => None,
            Columns::Explicit(explicit) => Some(&explicit.columns[..]),
        };
        let (oldest, newest) = self.wanted(range);
        let few = columns.is_none_or(|columns| columns.len() <= MOST_JUDGED);
        let (other_times_pass, older_pass) = (self.other_times_pass(), self.wants_one_version());
        few.then_some(JudgeRules { oldest, newest, other_times_pass, older_pass, columns, most_cells })
    }

    pub(super) fn new(columns: Option<&Arc<[Bytes]>>, versions: Versions) -> Columns {
        match columns {
            Some(columns) if !columns.is_empty() => Columns::Explicit(Explicit::new(columns.clone(), versions)),
            _ => Columns::Wildcard(Wildcard::new(versions)),
        }
    }

    /// Before each row.
    #[inline]
    pub(super) fn reset(&mut self) {
        match self {
            Columns::Wildcard(c) => c.reset(),
            Columns::Explicit(c) => c.reset(),
        }
    }

    /// No more columns wanted in this row.
    #[inline]
    pub(super) fn done(&self) -> bool {
        match self {
            Columns::Wildcard(_) => false,
            Columns::Explicit(c) => c.done(),
        }
    }

    #[inline]
    pub(super) fn is_done(&self, timestamp: u64) -> bool {
        self.versions().is_done(timestamp)
    }

    /// `Include` if the column is wanted, else where to go.
    #[inline]
    pub(super) fn check_column(&mut self, cell: &CellRef<'_>) -> Match {
        match self {
            Columns::Wildcard(_) => Match::Include,
            Columns::Explicit(c) => c.check_column(cell),
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
            Columns::Wildcard(c) => c.check_versions(cell, timestamp, type_code, ignore_count),
            Columns::Explicit(c) => c.check_versions(timestamp, ignore_count),
        }
    }

    /// The rest of the cell's column is not wanted.
    pub(super) fn done_with_column(&mut self, cell: &CellRef<'_>) {
        if let Columns::Explicit(c) = self {
            c.done_with_column(cell);
        }
    }

    pub(super) fn next_row_or_next_column(&mut self, cell: &CellRef<'_>) -> Match {
        self.done_with_column(cell);
        if self.done() { Match::NextRow } else { Match::NextCol }
    }

    /// The column to seek to next, if known.
    pub(super) fn hint(&self) -> Option<&[u8]> {
        match self {
            Columns::Wildcard(_) => None,
            Columns::Explicit(c) => c.columns.get(c.index).map(|c| &c[..]),
        }
    }
}
