//! [`Action`]: one of a batch.

use crate::mutation::{Mutation, check_row};
use crate::{Append, CheckAndMutate, Delete, Error, Get, Increment, Put, RowMutations};

/// Anything that [`Table::batch`](crate::Table::batch) takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    Get(Get),
    Put(Put),
    Delete(Delete),
    Append(Append),
    Increment(Increment),
    /// Its answer is the row of its Increments and Appends.
    RowMutations(RowMutations),
    /// Its answer tells by [`Outcome::processed`](crate::Outcome::processed) whether the condition held.
    CheckAndMutate(Box<CheckAndMutate>),
}

impl Action {
    pub fn row(&self) -> &[u8] {
        match self {
            Action::Get(get) => get.key(),
            Action::RowMutations(mutations) => &mutations.row,
            Action::CheckAndMutate(check) => check.key(),
            Action::Put(_) | Action::Delete(_) | Action::Append(_) | Action::Increment(_) => {
                self.mutation().map_or(&[], |mutation| &mutation.row)
            }
        }
    }

    /// The mutation, if it is a single one without a condition.
    pub(crate) fn mutation(&self) -> Option<&Mutation> {
        match self {
            Action::Put(Put(mutation))
            | Action::Delete(Delete(mutation))
            | Action::Append(Append(mutation))
            | Action::Increment(Increment(mutation)) => Some(mutation),
            _ => None,
        }
    }

    /// Whether it goes with others into one list for its region.
    pub(crate) fn is_simple(&self) -> bool {
        !matches!(self, Action::RowMutations(_) | Action::CheckAndMutate(_))
    }

    /// About what it adds to a request.
    pub(crate) fn size_bytes(&self) -> usize {
        let size = |mutation: &Mutation| mutation.block.len() + 32;
        match self {
            Action::Get(get) => get.key().len() + 32,
            Action::RowMutations(mutations) => mutations.mutations.iter().map(size).sum(),
            Action::CheckAndMutate(check) => check.mutations_of().iter().map(size).sum(),
            _ => self.mutation().map_or(0, size),
        }
    }

    pub(crate) fn is_read(&self) -> bool {
        matches!(self, Action::Get(_))
    }

    pub(crate) fn check(&self, max_cell_bytes: usize) -> Result<(), Error> {
        match self {
            Action::Get(get) => check_row(get.key()),
            Action::RowMutations(mutations) => mutations.check(max_cell_bytes),
            Action::CheckAndMutate(check) => check.check(max_cell_bytes),
            _ => self.mutation().map_or(Ok(()), |mutation| mutation.check(max_cell_bytes)),
        }
    }

    pub(crate) fn priority(&self) -> Option<u32> {
        match self {
            Action::Get(get) => get.priority,
            Action::RowMutations(mutations) => mutations.mutations.iter().filter_map(|m| m.priority).max(),
            Action::CheckAndMutate(check) => check.mutations_of().iter().filter_map(|m| m.priority).max(),
            _ => self.mutation().and_then(|mutation| mutation.priority),
        }
    }
}

macro_rules! from {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Action {
            fn from(action: $kind) -> Action {
                Action::$kind(action)
            }
        })*
    };
}
from!(Get, Put, Delete, Append, Increment, RowMutations);

impl From<CheckAndMutate> for Action {
    fn from(check: CheckAndMutate) -> Action {
        Action::CheckAndMutate(Box::new(check))
    }
}
