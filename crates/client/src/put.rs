//! [`Put`]: new cells of one row.

use crate::mutation::{Mutation, mutation_methods};
use martite_cell::CellType;
use martite_proto::mutation_proto::MutationType;

/// Cells to be written to one row, all of them or none.
///
/// ```
/// # use martite_client::Put;
/// let put = Put::row("user1").column("f", "name", "Ann").column_at("f", "age", 1_700_000_000_000, "41").ttl_ms(60_000);
/// assert_eq!(put.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Put(pub(crate) Mutation);

mutation_methods!(Put);

impl Put {
    pub fn row(row: impl AsRef<[u8]>) -> Put {
        Put(Mutation::new(MutationType::Put, row.as_ref()))
    }

    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Put {
        self.add(family, qualifier, value);
        self
    }

    /// With a timestamp of its own.
    pub fn column_at(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        timestamp_ms: u64,
        value: impl AsRef<[u8]>,
    ) -> Put {
        let put = CellType::Put as u8;
        self.0.push(family.as_ref(), qualifier.as_ref(), timestamp_ms, put, value.as_ref());
        self
    }

    /// As [`Put::column`], for loops.
    pub fn add(&mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> &mut Put {
        let timestamp = self.0.timestamp;
        self.0.push(family.as_ref(), qualifier.as_ref(), timestamp, CellType::Put as u8, value.as_ref());
        self
    }
}
