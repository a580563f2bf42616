//! [`Settings`]: all that hbase:quota says.

use crate::space::namespace_of;
use martite_proto as pb;
use std::collections::BTreeMap;

/// How work stands to other work of the server; ours, HBase has no such thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Before others where calls wait for a thread.
    Online,
    Default,
    /// With what others leave.
    Batch,
}

impl Priority {
    /// As it is written in hbase:quota and in request attributes.
    pub fn parse(text: &[u8]) -> Option<Priority> {
        match text {
            b"online" => Some(Priority::Online),
            b"default" => Some(Priority::Default),
            b"batch" => Some(Priority::Batch),
            _ => None,
        }
    }
}

/// Priorities by owner.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Priorities {
    pub users: BTreeMap<String, Priority>,
    pub tables: BTreeMap<String, Priority>,
    pub namespaces: BTreeMap<String, Priority>,
}

impl Priorities {
    pub fn is_empty(&self) -> bool {
        self.users.is_empty() && self.tables.is_empty() && self.namespaces.is_empty()
    }

    /// Of a user's call on a table: the user's, else the table's, else the namespace's.
    pub fn of(&self, user: &str, table: &str) -> Priority {
        let of_namespace = || self.namespaces.get(namespace_of(table));
        let found = self.users.get(user).or_else(|| self.tables.get(table)).or_else(of_namespace);
        found.copied().unwrap_or(Priority::Default)
    }
}

/// All quotas of a cluster, by owner. Names as in hbase:quota: tables by their full names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    pub users: BTreeMap<String, UserSettings>,
    pub tables: BTreeMap<String, pb::Quotas>,
    pub namespaces: BTreeMap<String, pb::Quotas>,
    /// Of every region server (`r.all`).
    pub region_server: Option<pb::Quotas>,
    /// The exceed-throttle switch: users, tables and namespaces may exceed their limits while the server's is not reached.
    pub exceed: bool,
    pub priorities: Priorities,
}

/// The quotas of one user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserSettings {
    pub global: Option<pb::Quotas>,
    pub tables: BTreeMap<String, pb::Quotas>,
    pub namespaces: BTreeMap<String, pb::Quotas>,
}
