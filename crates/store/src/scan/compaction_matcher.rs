//! The matchers of flushes and compactions: which cells nobody can see any more
//! (HBase: MinorCompactionScanQueryMatcher, MajorCompactionScanQueryMatcher, IncludeAllCompactionQueryMatcher).
//!
//! | | delete markers | puts that they hide | versions beyond the maximum, expired cells |
//! |---|---|---|---|
//! | flush, minor | kept | dropped | dropped |
//! | major | dropped, unless young or KEEP_DELETED_CELLS | dropped | dropped |
//! | flush, minor with NEW_VERSION_BEHAVIOR | kept | kept | kept |
//!
//! Markers and versions newer than the oldest open reader hide nothing yet and are not counted.

use super::columns::{Columns, Versions};
use super::deletes::Deletes;
use super::matcher::{CurrentRow, Match, Tracker, has_expired_by_tag};
use super::new_version::NewVersionTracker;
use super::{CompactionKind, CompactionScan, oldest_unexpired};
use crate::{FamilyOptions, KeepDeleted};
use martite_cell::{CellRef, key};

pub(super) struct CompactionMatcher {
    tracker: Tracker,
    row: CurrentRow,
    scan: CompactionScan,
    keep_deleted: KeepDeleted,
    oldest_unexpired: u64,
    time_to_purge_deletes_ms: u64,
    include_all: bool,
}

impl CompactionMatcher {
    pub(super) fn new(family: &FamilyOptions, scan: CompactionScan) -> CompactionMatcher {
        let oldest_unexpired = oldest_unexpired(family, scan.now_ms);
        let (min, max) = (family.min_versions, family.max_versions);
        let tracker = if family.new_version_behavior {
            Tracker::NewVersion(Box::new(NewVersionTracker::new(None, (min, max, max), oldest_unexpired)))
        } else {
            let columns = Columns::new(None, Versions { max, min, oldest_unexpired });
            Tracker::Plain { columns, deletes: Deletes::default() }
        };
        CompactionMatcher {
            tracker,
            row: CurrentRow::default(),
            scan,
            keep_deleted: family.keep_deleted,
            oldest_unexpired,
            time_to_purge_deletes_ms: family.time_to_purge_deletes_ms,
            include_all: family.new_version_behavior && scan.kind != CompactionKind::Major,
        }
    }

    /// What to do with `cell`; rows follow each other without a `Done`.
    pub(super) fn check(&mut self, cell: &CellRef<'_>) -> Match {
        if self.include_all {
            return Match::Include;
        }
        if !self.row.holds(cell.key) {
            self.row.set(cell.key);
            self.tracker.reset();
        }
        let (timestamp, type_code) = (cell.timestamp(), cell.type_code());
        if self.tracker.is_done(timestamp) {
            return self.tracker.next_row_or_next_column(cell);
        }
        if has_expired_by_tag(cell, self.scan.now_ms) {
            return Match::Skip;
        }
        let too_new = cell.seq_id > self.scan.smallest_read_point;
        let code = if key::is_delete_code(type_code) {
            if too_new {
                return Match::Include;
            }
            match self.scan.kind {
                CompactionKind::Major => self.check_marker_of_major(cell, timestamp),
                CompactionKind::Flush | CompactionKind::Minor => {
                    self.track(cell, timestamp);
                    Some(Match::Include)
                }
            }
        } else if too_new && matches!(self.tracker, Tracker::NewVersion(_)) {
            // Counted, it could hide what an open reader still sees.
            return Match::Include;
        } else {
            self.tracker.check_deleted(cell)
        };
        code.unwrap_or_else(|| self.tracker.check_versions(cell, timestamp, type_code, too_new))
    }

    /// None: the marker is counted as a version of its column.
    fn check_marker_of_major(&mut self, cell: &CellRef<'_>, timestamp: u64) -> Option<Match> {
        self.track(cell, timestamp);
        let purge = self.time_to_purge_deletes_ms;
        if purge > 0 && self.scan.now_ms.saturating_sub(timestamp) <= purge {
            return Some(Match::Include);
        }
        let kept = match self.keep_deleted {
            KeepDeleted::True => true,
            KeepDeleted::Ttl => timestamp >= self.oldest_unexpired,
            KeepDeleted::False => false,
        };
        match kept {
            false => Some(Match::Skip),
            // No put is so old: nothing for it to hide.
            true if timestamp < self.scan.earliest_put_ms => Some(self.tracker.next_row_or_next_column(cell)),
            true => None,
        }
    }

    /// Lets the marker hide cells, unless deleted cells are kept.
    fn track(&mut self, marker: &CellRef<'_>, timestamp: u64) {
        let hides = match self.keep_deleted {
            KeepDeleted::False => true,
            KeepDeleted::Ttl => timestamp < self.oldest_unexpired,
            KeepDeleted::True => false,
        };
        if hides {
            self.tracker.add_delete(marker);
        }
    }

    pub(super) fn next_column_key(&self, cell: &CellRef<'_>, into: &mut Vec<u8>) {
        super::matcher::next_column_key(cell, self.tracker.hint(), into);
    }
}
