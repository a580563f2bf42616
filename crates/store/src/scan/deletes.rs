//! The delete tracker: which cells of a row its markers hide (HBase: ScanDeleteTracker).
//!
//! Markers come before the cells they hide: family markers at the start of the row (empty qualifier), column markers
//! before the puts of their column, each kind newest first.

use martite_cell::{CellRef, CellType};

/// Why a cell is hidden, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deleted {
    No,
    /// By DeleteFamily: the cell and all older ones of its column.
    Family,
    /// By DeleteColumn: the same.
    Column,
    /// By a marker for exactly this timestamp.
    Version,
}

#[derive(Default)]
pub(super) struct Deletes {
    family: Option<u64>,
    /// Timestamps of DeleteFamilyVersion markers.
    family_versions: Vec<u64>,
    /// The newest marker of the current column.
    column: Option<ColumnMarker>,
    /// Qualifier of `column`; a buffer that is used again.
    qualifier: Vec<u8>,
}

#[derive(Clone, Copy)]
struct ColumnMarker {
    type_code: u8,
    timestamp: u64,
}

impl Deletes {
    /// Before each row.
    #[inline]
    pub(super) fn reset(&mut self) {
        self.family = None;
        self.family_versions.clear();
        self.column = None;
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.column.is_none() && self.family.is_none() && self.family_versions.is_empty()
    }

    /// Takes a marker of the row in.
    pub(super) fn add(&mut self, marker: &CellRef<'_>) {
        let (timestamp, type_code) = (marker.timestamp(), marker.type_code());
        if self.family.is_some_and(|stamp| timestamp <= stamp) {
            return;
        }
        if type_code == CellType::DeleteFamily as u8 {
            self.family = Some(timestamp);
        } else if type_code == CellType::DeleteFamilyVersion as u8 {
            self.family_versions.push(timestamp);
        } else {
            let qualifier = marker.qualifier();
            // A marker for one version does not replace one for the whole column.
            if self.column.is_some_and(|m| type_code < m.type_code) && self.qualifier == qualifier {
                return;
            }
            self.column = Some(ColumnMarker { type_code, timestamp });
            self.qualifier.clear();
            self.qualifier.extend_from_slice(qualifier);
        }
    }

    /// Whether a put is hidden. Cells are asked about in order.
    pub(super) fn check(&mut self, cell: &CellRef<'_>) -> Deleted {
        let timestamp = cell.timestamp();
        if self.family.is_some_and(|stamp| timestamp <= stamp) {
            return Deleted::Family;
        }
        if self.family_versions.contains(&timestamp) {
            return Deleted::Version;
        }
        if let Some(marker) = self.column {
            if self.qualifier == cell.qualifier() {
                if marker.type_code == CellType::DeleteColumn as u8 {
                    return Deleted::Column;
                }
                if timestamp == marker.timestamp {
                    return Deleted::Version;
                }
            }
            // An older version, or another column: the marker has done its work.
            self.column = None;
        }
        Deleted::No
    }
}
