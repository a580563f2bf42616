//! The tracker of families with NEW_VERSION_BEHAVIOR: a marker hides only what was written before it
//! (HBase: NewVersionBehaviorTracker).
//!
//! Cells arrive by timestamp, but what hides what is decided by sequence id. The range markers (DeleteFamily,
//! DeleteColumn) seen so far cut the sequence ids into stretches; a stretch ends with its marker, the last one is open:
//!
//! ```text
//!   seq id   0 ......... 7 ............... 12 ............ ∞
//!                        │ DeleteColumn    │ DeleteFamily
//!   stretch  └── puts ≤7 ┘└── puts 8..=12 ─┘└── newer ────┘
//! ```
//!
//! A put is counted in its own stretch and all later ones: a version that is hidden now was a version when it was
//! written, so that a major compaction changes no answer. Version markers (Delete, DeleteFamilyVersion) cut a stretch's
//! counting into segments in the same way. Family markers are kept per row and copied for each column.

use super::matcher::Match;
use bytes::Bytes;
use martite_cell::{CellRef, CellType, key};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Key of the open stretch and of the open segment.
const OPEN: u64 = u64::MAX;

/// What lies between two range markers.
#[derive(Clone)]
struct Stretch {
    /// Timestamp of the marker that ends it; puts up to it are hidden. None for the open one.
    timestamp: Option<u64>,
    /// Sequence ids of version markers, by timestamp.
    version_deletes: BTreeMap<u64, BTreeSet<u64>>,
    /// By the version marker that ends a segment: puts that count as versions before it takes effect.
    counted: BTreeMap<u64, BTreeSet<u64>>,
}

impl Stretch {
    fn new(timestamp: Option<u64>) -> Stretch {
        Stretch { timestamp, version_deletes: BTreeMap::new(), counted: BTreeMap::from([(OPEN, BTreeSet::new())]) }
    }

    fn add_version_delete(&mut self, timestamp: u64, seq_id: u64) {
        self.version_deletes.entry(timestamp).or_default().insert(seq_id);
        // The new segment begins with the puts that were written before this marker.
        let before = match self.counted.range(seq_id..).next() {
            Some((_, counted)) => counted.range(..seq_id).copied().collect(),
            None => BTreeSet::new(),
        };
        self.counted.insert(seq_id, before);
    }
}

type Stretches = BTreeMap<u64, Stretch>;

/// The last cell that was looked at.
#[derive(Clone, Copy)]
struct Last {
    timestamp: u64,
    seq_id: u64,
    type_code: u8,
}

/// Column tracker and delete tracker in one.
pub(super) struct NewVersionTracker {
    columns: Option<Arc<[Bytes]>>,
    index: usize,
    /// Versions that the family keeps.
    max_versions: usize,
    min_versions: u32,
    /// Versions that the reader wants.
    result_max_versions: u32,
    oldest_unexpired: u64,
    /// Versions handed out of the current column.
    count: u32,
    family: Stretches,
    column: Stretches,
    last: Option<Last>,
    qualifier: Vec<u8>,
}

impl NewVersionTracker {
    pub(super) fn new(
        columns: Option<Arc<[Bytes]>>,
        (min_versions, max_versions, result_max_versions): (u32, u32, u32),
        oldest_unexpired: u64,
    ) -> NewVersionTracker {
        let mut tracker = NewVersionTracker {
            columns: columns.filter(|c| !c.is_empty()),
            index: 0,
            max_versions: max_versions as usize,
            min_versions,
            result_max_versions,
            oldest_unexpired,
            count: 0,
            family: BTreeMap::new(),
            column: BTreeMap::new(),
            last: None,
            qualifier: Vec::new(),
        };
        tracker.reset();
        tracker
    }

    /// Before each row.
    pub(super) fn reset(&mut self) {
        self.column.clear();
        self.family.clear();
        self.family.insert(OPEN, Stretch::new(None));
        self.last = None;
        self.qualifier.clear();
        self.index = 0;
        self.count = 0;
    }

    pub(super) fn done(&self) -> bool {
        self.columns.as_ref().is_some_and(|c| self.index >= c.len())
    }

    pub(super) fn hint(&self) -> Option<&[u8]> {
        self.columns.as_ref()?.get(self.index).map(|c| &c[..])
    }

    pub(super) fn check_column(&mut self, cell: &CellRef<'_>) -> Match {
        let Some(columns) = &self.columns else { return Match::Include };
        while let Some(column) = columns.get(self.index) {
            match cell.qualifier().cmp(column) {
                Ordering::Less => return Match::NextCol,
                Ordering::Equal => return Match::Include,
                Ordering::Greater => self.index += 1,
            }
        }
        Match::NextRow
    }

    /// Versions that [`Self::hides`] let pass are counted for the reader, and for the time to live.
    pub(super) fn check_versions(&mut self, timestamp: u64, ignore_count: bool) -> Match {
        if ignore_count {
            return Match::Include;
        }
        self.count += 1;
        if self.count > self.result_max_versions {
            return Match::NextCol;
        }
        if timestamp < self.oldest_unexpired && self.count >= self.min_versions {
            return if self.count == self.min_versions { Match::IncludeNextCol } else { Match::NextCol };
        }
        if self.count < self.result_max_versions { Match::Include } else { Match::IncludeNextCol }
    }

    /// Notes the cell; the sequence id of the put before it if that has the same column, timestamp and type.
    fn prepare(&mut self, cell: &CellRef<'_>) -> Option<u64> {
        let (timestamp, type_code) = (cell.timestamp(), cell.type_code());
        if self.is_new_column(cell) {
            self.column.clone_from(&self.family);
            self.count = 0;
        } else if let Some(last) = self.last
            && last.type_code == type_code
            && last.timestamp == timestamp
            && !key::is_delete_code(type_code)
        {
            return Some(last.seq_id);
        }
        self.last = Some(Last { timestamp, seq_id: cell.seq_id, type_code });
        self.qualifier.clear();
        self.qualifier.extend_from_slice(cell.qualifier());
        None
    }

    fn is_new_column(&self, cell: &CellRef<'_>) -> bool {
        let qualifier = cell.qualifier();
        if self.last.is_none() && qualifier.is_empty() {
            // The first cell of a row: family markers lie here too, and they do not open a column.
            let type_code = cell.type_code();
            return self.column.is_empty()
                && (type_code == CellType::DeleteColumn as u8 || type_code == CellType::Delete as u8);
        }
        self.last.is_none() || self.qualifier != qualifier
    }

    /// Takes a marker in.
    pub(super) fn add(&mut self, marker: &CellRef<'_>) {
        self.prepare(marker);
        let (timestamp, seq_id, type_code) = (marker.timestamp(), marker.seq_id, marker.type_code());
        let of_family = type_code == CellType::DeleteFamily as u8 || type_code == CellType::DeleteFamilyVersion as u8;
        let stretches = if of_family { &mut self.family } else { &mut self.column };
        if type_code == CellType::DeleteFamily as u8 || type_code == CellType::DeleteColumn as u8 {
            stretches.insert(seq_id, Stretch::new(Some(timestamp)));
        } else if let Some((_, stretch)) = stretches.range_mut(seq_id..).next() {
            stretch.add_version_delete(timestamp, seq_id);
        }
    }

    /// Whether a put is hidden, by a marker or by newer versions. Every put of the row must be asked about, in order.
    pub(super) fn hides(&mut self, cell: &CellRef<'_>) -> bool {
        let duplicate_of = self.prepare(cell).unwrap_or(OPEN);
        let (timestamp, seq_id) = (cell.timestamp(), cell.seq_id);
        for (_, stretch) in self.column.range_mut(seq_id..) {
            let deleted_at =
                stretch.version_deletes.get(&timestamp).and_then(|ids| ids.range(seq_id..).next().copied());
            let until = duplicate_of.min(deleted_at.unwrap_or(OPEN));
            if seq_id <= until {
                for (_, counted) in stretch.counted.range_mut(seq_id..=until) {
                    if counted.len() >= self.max_versions {
                        return true;
                    }
                    counted.insert(seq_id);
                }
            }
            if deleted_at.is_some() || stretch.timestamp.is_some_and(|marker| timestamp <= marker) {
                return true;
            }
        }
        duplicate_of != OPEN
    }
}
