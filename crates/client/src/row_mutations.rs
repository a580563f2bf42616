//! [`RowMutations`]: several mutations of one row, all of them or none.

use crate::mutation::Mutation;
use crate::{Append, Delete, Error, Increment, Put};
use bytes::Bytes;

/// Mutations of one row that happen together, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct RowMutations {
    pub(crate) row: Bytes,
    pub(crate) mutations: Vec<Mutation>,
}

impl RowMutations {
    pub fn row(row: impl AsRef<[u8]>) -> RowMutations {
        RowMutations { row: Bytes::copy_from_slice(row.as_ref()), mutations: Vec::new() }
    }

    #[must_use]
    pub fn put(mut self, put: Put) -> RowMutations {
        self.mutations.push(put.0);
        self
    }

    #[must_use]
    pub fn delete(mut self, delete: Delete) -> RowMutations {
        self.mutations.push(delete.0);
        self
    }

    #[must_use]
    pub fn append(mut self, append: Append) -> RowMutations {
        self.mutations.push(append.0);
        self
    }

    #[must_use]
    pub fn increment(mut self, increment: Increment) -> RowMutations {
        self.mutations.push(increment.0);
        self
    }

    pub(crate) fn check(&self, max_cell_bytes: usize) -> Result<(), Error> {
        let row = || crate::mutation::shown(&self.row);
        if self.mutations.is_empty() {
            return Err(Error::Invalid(format!("no mutations of the row {}", row())));
        }
        for mutation in &self.mutations {
            mutation.check(max_cell_bytes)?;
            if mutation.row != self.row {
                let other = crate::mutation::shown(&mutation.row);
                return Err(Error::Invalid(format!("a mutation of the row {other} among those of {}", row())));
            }
        }
        Ok(())
    }
}
