//! [`Append`]: bytes added to the ends of values.

use crate::mutation::{Mutation, mutation_methods, time_range};
use martite_cell::CellType;
use martite_proto::mutation_proto::MutationType;

/// Values to be lengthened, of one row, atomically. The answer is the new values.
#[derive(Debug, Clone, PartialEq)]
pub struct Append(pub(crate) Mutation);

mutation_methods!(Append);

impl Append {
    pub fn row(row: impl AsRef<[u8]>) -> Append {
        Append(Mutation::new(MutationType::Append, row.as_ref()))
    }

    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Append {
        let timestamp = self.0.timestamp;
        self.0.push(family.as_ref(), qualifier.as_ref(), timestamp, CellType::Put as u8, value.as_ref());
        self
    }

    /// Values outside this range of time, from `min_ms` to before `max_ms`, are taken for absent.
    pub fn time_range(mut self, min_ms: u64, max_ms: u64) -> Append {
        self.0.time_range = Some(time_range(min_ms, max_ms));
        self
    }

    /// False: the new values are not wanted.
    pub fn return_results(mut self, wanted: bool) -> Append {
        self.0.set_return_results(wanted);
        self
    }
}
