//! [`CheckAndMutate`]: mutations that happen only if the row is as expected.

use crate::mutation::{Mutation, time_range};
use crate::{Append, Delete, Error, Increment, Put, RowMutations};
use bytes::Bytes;
use martite_proto as pb;
use pb::Message;

/// A condition on a row, and what happens to the row if it holds, atomically.
///
/// ```
/// # use martite_client::{CheckAndMutate, Put};
/// let paid = CheckAndMutate::row("order7")
///     .if_equals("f", "state", "open")
///     .put(Put::row("order7").column("f", "state", "paid"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CheckAndMutate {
    pub(crate) condition: pb::Condition,
    pub(crate) then: Then,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Then {
    Nothing,
    One(Box<Mutation>),
    Several(RowMutations),
}

impl CheckAndMutate {
    pub fn row(row: impl AsRef<[u8]>) -> CheckAndMutate {
        let condition = pb::Condition { row: Bytes::copy_from_slice(row.as_ref()), ..Default::default() };
        CheckAndMutate { condition, then: Then::Nothing }
    }

    /// If the newest value of the column is this.
    pub fn if_equals(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
    ) -> CheckAndMutate {
        self.if_matches(family, qualifier, pb::CompareType::Equal, value)
    }

    /// If the column has no value, or an empty one.
    pub fn if_absent(self, family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> CheckAndMutate {
        self.if_equals(family, qualifier, b"")
    }

    /// If `value` compares so to the newest value of the column: with `Less`, if `value` is less than what is there.
    pub fn if_matches(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        operator: pb::CompareType,
        value: impl AsRef<[u8]>,
    ) -> CheckAndMutate {
        let comparable = pb::ByteArrayComparable { value: Some(Bytes::copy_from_slice(value.as_ref())) };
        let comparator = pb::Comparator {
            name: "org.apache.hadoop.hbase.filter.BinaryComparator".to_owned(),
            serialized_comparator: Some(pb::BinaryComparator { comparable }.encode_to_vec().into()),
        };
        self.if_compares(family, qualifier, operator, comparator)
    }

    /// As [`CheckAndMutate::if_matches`], with any comparator.
    pub fn if_compares(
        mut self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        operator: pb::CompareType,
        comparator: pb::Comparator,
    ) -> CheckAndMutate {
        self.condition.family = Some(Bytes::copy_from_slice(family.as_ref()));
        self.condition.qualifier = Some(Bytes::copy_from_slice(qualifier.as_ref()));
        self.condition.compare_type = Some(operator as i32);
        self.condition.comparator = Some(comparator);
        self
    }

    /// If a Get of the row with this filter finds a cell.
    pub fn if_filter(mut self, filter: pb::Filter) -> CheckAndMutate {
        self.condition.filter = Some(filter);
        self
    }

    /// The condition looks at cells from `min_ms` to before `max_ms`.
    pub fn time_range(mut self, min_ms: u64, max_ms: u64) -> CheckAndMutate {
        self.condition.time_range = Some(time_range(min_ms, max_ms));
        self
    }

    pub fn put(self, put: Put) -> CheckAndMutate {
        self.then(Then::One(Box::new(put.0)))
    }

    pub fn delete(self, delete: Delete) -> CheckAndMutate {
        self.then(Then::One(Box::new(delete.0)))
    }

    pub fn append(self, append: Append) -> CheckAndMutate {
        self.then(Then::One(Box::new(append.0)))
    }

    pub fn increment(self, increment: Increment) -> CheckAndMutate {
        self.then(Then::One(Box::new(increment.0)))
    }

    pub fn mutations(self, mutations: RowMutations) -> CheckAndMutate {
        self.then(Then::Several(mutations))
    }

    fn then(mut self, then: Then) -> CheckAndMutate {
        self.then = then;
        self
    }

    /// The row's key.
    pub fn key(&self) -> &[u8] {
        &self.condition.row
    }

    pub(crate) fn mutations_of(&self) -> &[Mutation] {
        match &self.then {
            Then::Nothing => &[],
            Then::One(mutation) => std::slice::from_ref(mutation),
            Then::Several(several) => &several.mutations,
        }
    }

    pub(crate) fn check(&self, max_cell_bytes: usize) -> Result<(), Error> {
        let row = crate::mutation::shown(&self.condition.row);
        if self.condition.compare_type.is_none() && self.condition.filter.is_none() {
            return Err(Error::Invalid(format!("a check of the row {row} without a condition")));
        }
        match &self.then {
            Then::Nothing => return Err(Error::Invalid(format!("a check of the row {row} without a mutation"))),
            Then::One(mutation) => mutation.check(max_cell_bytes)?,
            Then::Several(several) => several.check(max_cell_bytes)?,
        }
        match self.mutations_of().iter().find(|m| m.row != self.condition.row) {
            None => Ok(()),
            Some(other) => {
                let other = crate::mutation::shown(&other.row);
                Err(Error::Invalid(format!("a check of the row {row} with a mutation of {other}")))
            }
        }
    }
}
