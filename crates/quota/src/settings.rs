//! [`Settings`]: all that hbase:quota says.

use martite_proto as pb;
use std::collections::BTreeMap;

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
}

/// The quotas of one user.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserSettings {
    pub global: Option<pb::Quotas>,
    pub tables: BTreeMap<String, pb::Quotas>,
    pub namespaces: BTreeMap<String, pb::Quotas>,
}
