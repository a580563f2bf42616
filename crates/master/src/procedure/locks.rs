//! Locks of procedures: on namespaces, tables and regions, shared or exclusive. A procedure takes all its locks at once
//! or none, so there are no deadlocks; among those that wait, the first comes first.

use martite_catalog::TableName;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What is locked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Resource {
    Namespace(String),
    Table(TableName),
    /// By encoded name.
    Region(Arc<str>),
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Resource::Namespace(name) => write!(f, "namespace {name}"),
            Resource::Table(name) => write!(f, "table {name}"),
            Resource::Region(encoded) => write!(f, "region {encoded}"),
        }
    }
}

impl Resource {
    pub fn namespace(name: &str) -> Resource {
        Resource::Namespace(name.to_string())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lock {
    pub resource: Resource,
    pub exclusive: bool,
}

impl Lock {
    pub fn shared(resource: Resource) -> Lock {
        Lock { resource, exclusive: false }
    }
    pub fn exclusive(resource: Resource) -> Lock {
        Lock { resource, exclusive: true }
    }
}

/// Who holds what: procedure ids by resource.
#[derive(Debug, Default)]
pub(crate) struct LockTable {
    held: BTreeMap<Resource, Holders>,
}

#[derive(Debug, Default, Clone)]
pub(crate) struct Holders {
    pub exclusive: bool,
    pub ids: Vec<u64>,
}

impl LockTable {
    /// Whether all could be had now.
    pub fn is_free(&self, locks: &[Lock]) -> bool {
        locks.iter().all(|lock| match self.held.get(&lock.resource) {
            None => true,
            Some(holders) => !holders.exclusive && !lock.exclusive,
        })
    }

    /// Takes locks that are free.
    pub fn take(&mut self, id: u64, locks: &[Lock]) {
        for lock in locks {
            let holders = self.held.entry(lock.resource.clone()).or_default();
            holders.exclusive |= lock.exclusive;
            holders.ids.push(id);
        }
    }

    pub fn release(&mut self, id: u64) {
        self.held.retain(|_, holders| {
            holders.ids.retain(|held_by| *held_by != id);
            !holders.ids.is_empty()
        });
    }

    pub fn held(&self) -> impl Iterator<Item = (&Resource, &Holders)> {
        self.held.iter()
    }
}

/// Whether two sets of locks exclude each other.
pub(crate) fn conflict(a: &[Lock], b: &[Lock]) -> bool {
    a.iter().any(|x| b.iter().any(|y| x.resource == y.resource && (x.exclusive || y.exclusive)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_locks_go_together_and_exclusive_ones_alone() {
        let table = Resource::Table(TableName::parse("t").unwrap());
        let (shared, exclusive) = ([Lock::shared(table.clone())], [Lock::exclusive(table)]);
        let mut locks = LockTable::default();
        locks.take(1, &shared);
        assert!(locks.is_free(&shared) && !locks.is_free(&exclusive));
        locks.take(2, &shared);
        locks.release(1);
        assert!(!locks.is_free(&exclusive));
        locks.release(2);
        locks.take(3, &exclusive);
        assert!(!locks.is_free(&shared));
        assert!(conflict(&shared, &exclusive) && !conflict(&shared, &shared));
    }
}
