//! [`Increment`]: numbers added to counters.

use crate::mutation::{Mutation, mutation_methods, time_range};
use martite_cell::CellType;
use martite_proto::mutation_proto::MutationType;

/// Counters to be changed, of one row, atomically. A counter is eight bytes, big-endian; the answer is the new values.
#[derive(Debug, Clone, PartialEq)]
pub struct Increment(pub(crate) Mutation);

mutation_methods!(Increment);

impl Increment {
    pub fn row(row: impl AsRef<[u8]>) -> Increment {
        Increment(Mutation::new(MutationType::Increment, row.as_ref()))
    }

    pub fn column(mut self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>, amount: i64) -> Increment {
        let timestamp = self.0.timestamp;
        self.0.push(family.as_ref(), qualifier.as_ref(), timestamp, CellType::Put as u8, &amount.to_be_bytes());
        self
    }

    /// Values outside this range of time, from `min_ms` to before `max_ms`, are taken for absent.
    pub fn time_range(mut self, min_ms: u64, max_ms: u64) -> Increment {
        self.0.time_range = Some(time_range(min_ms, max_ms));
        self
    }

    /// False: the new values are not wanted.
    pub fn return_results(mut self, wanted: bool) -> Increment {
        self.0.set_return_results(wanted);
        self
    }
}
