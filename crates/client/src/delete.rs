//! [`Delete`]: markers that hide cells of one row.

use crate::mutation::{Mutation, mutation_methods};
use martite_cell::CellType;
use martite_proto::mutation_proto::MutationType;

/// What to delete of one row: nothing named, all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Delete(pub(crate) Mutation);

mutation_methods!(Delete);

impl Delete {
    pub fn row(row: impl AsRef<[u8]>) -> Delete {
        Delete(Mutation::new(MutationType::Delete, row.as_ref()))
    }

    /// The newest version of a column, or the one with the timestamp of [`Delete::at`].
    pub fn column(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Delete {
        self.with(family.as_ref(), qualifier.as_ref(), None, CellType::Delete)
    }

    /// The version of a column with exactly this timestamp.
    pub fn column_at(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, timestamp_ms: u64) -> Delete {
        self.with(family.as_ref(), qualifier.as_ref(), Some(timestamp_ms), CellType::Delete)
    }

    /// All versions of a column, up to the timestamp of [`Delete::at`].
    pub fn columns(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Delete {
        self.with(family.as_ref(), qualifier.as_ref(), None, CellType::DeleteColumn)
    }

    /// All versions of a column up to this timestamp.
    pub fn columns_at(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, timestamp_ms: u64) -> Delete {
        self.with(family.as_ref(), qualifier.as_ref(), Some(timestamp_ms), CellType::DeleteColumn)
    }

    /// All columns of a family, up to the timestamp of [`Delete::at`].
    pub fn family(self, family: impl AsRef<[u8]>) -> Delete {
        self.with(family.as_ref(), &[], None, CellType::DeleteFamily)
    }

    /// All columns of a family up to this timestamp.
    pub fn family_at(self, family: impl AsRef<[u8]>, timestamp_ms: u64) -> Delete {
        self.with(family.as_ref(), &[], Some(timestamp_ms), CellType::DeleteFamily)
    }

    /// The cells of a family with exactly this timestamp.
    pub fn family_version(self, family: impl AsRef<[u8]>, timestamp_ms: u64) -> Delete {
        self.with(family.as_ref(), &[], Some(timestamp_ms), CellType::DeleteFamilyVersion)
    }

    fn with(mut self, family: &[u8], qualifier: &[u8], timestamp_ms: Option<u64>, kind: CellType) -> Delete {
        let timestamp = timestamp_ms.unwrap_or(self.0.timestamp);
        self.0.push(family, qualifier, timestamp, kind as u8, &[]);
        self
    }
}
