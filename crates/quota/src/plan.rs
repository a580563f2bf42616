//! [`Plan`]: whose limits count for a call. HBase's rules: QuotaCache and UserQuotaState of 2.6.
//!
//! ```text
//! call of user u on table ns:t
//!   ├─ the user's: of (u, ns:t), else of (u, ns), else of u, else the defaults if nothing at all is set for u
//!   │     with GLOBAL_BYPASS nothing else counts
//!   ├─ of table ns:t
//!   ├─ of namespace ns
//!   └─ of the region server
//! ```
//! With the exceed switch on, the region server's limits hold calls back and the others only count. With one region server
//! the limits of both scopes, MACHINE and CLUSTER, are the same.

use crate::cost::{HANDLER_UNITS_PER_MS, Kind};
use crate::limiter::Rate;
use crate::settings::{Settings, UserSettings};
use crate::space::namespace_of;
use martite_proto as pb;
use std::fmt;
use std::sync::Arc;

/// Who calls, and what table.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub user: Arc<str>,
    /// The table's full name.
    pub table: Arc<str>,
}

impl Key {
    fn namespace(&self) -> &str {
        namespace_of(&self.table)
    }
}

/// Whom limits belong to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    User(Arc<str>),
    UserTable(Arc<str>, Arc<str>),
    UserNamespace(Arc<str>, Arc<str>),
    Table(Arc<str>),
    Namespace(Arc<str>),
    RegionServer,
}

impl fmt::Display for Owner {
    /// As `list_quotas` writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::User(user) => write!(f, "USER => {user}"),
            Owner::UserTable(user, table) => write!(f, "USER => {user}, TABLE => {table}"),
            Owner::UserNamespace(user, namespace) => write!(f, "USER => {user}, NAMESPACE => {namespace}"),
            Owner::Table(table) => write!(f, "TABLE => {table}"),
            Owner::Namespace(namespace) => write!(f, "NAMESPACE => {namespace}"),
            Owner::RegionServer => write!(f, "REGIONSERVER => all"),
        }
    }
}

/// A limit of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    pub kind: Kind,
    pub rate: Rate,
    /// As it was given, for those who are told of it: `500req/sec`.
    pub soft_limit: u64,
    pub unit: pb::TimeUnit,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = match self.unit {
            pb::TimeUnit::Nanoseconds => "ns",
            pb::TimeUnit::Microseconds => "us",
            pb::TimeUnit::Milliseconds => "ms",
            pb::TimeUnit::Seconds => "sec",
            pb::TimeUnit::Minutes => "min",
            pb::TimeUnit::Hours => "hour",
            pb::TimeUnit::Days => "day",
        };
        write!(f, "{} {}{}/{per}", self.kind.name(), self.soft_limit, self.kind.unit())
    }
}

/// The limits of one owner that count for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub owner: Owner,
    pub limits: Vec<Limit>,
    /// Whether a call waits for it; else it only counts.
    pub holds: bool,
}

/// The settings that count now.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    settings: Arc<Settings>,
    /// Of users for whom nothing is set (`hbase.quota.default.user.machine.*`).
    defaults: pb::Throttle,
    has_defaults: bool,
    is_empty: bool,
}

impl Plan {
    pub fn new(settings: Arc<Settings>, defaults: pb::Throttle) -> Plan {
        let has_defaults = !limits(&defaults).is_empty();
        let users =
            settings.users.values().flat_map(|u| u.global.iter().chain(u.tables.values()).chain(u.namespaces.values()));
        let mut all = users
            .chain(settings.tables.values())
            .chain(settings.namespaces.values())
            .chain(settings.region_server.iter());
        let is_empty = !has_defaults && !all.any(is_limited);
        Plan { settings, defaults, has_defaults, is_empty }
    }

    /// The plan while throttling is switched off.
    pub fn off() -> Plan {
        Plan { is_empty: true, ..Plan::default() }
    }

    /// Nobody has a limit.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Whether anything may count for a call; false: it is free.
    pub fn concerns(&self, user: &str, table: &str) -> bool {
        if self.is_empty {
            return false;
        }
        let settings = &*self.settings;
        settings.region_server.is_some()
            || self.has_defaults
            || settings.users.contains_key(user)
            || settings.tables.contains_key(table)
            || settings.namespaces.contains_key(namespace_of(table))
    }

    /// What counts for a call; nothing: it is free.
    pub fn shares(&self, key: &Key) -> Vec<Share> {
        if self.is_empty || key.namespace() == "hbase" {
            return Vec::new();
        }
        let settings = &*self.settings;
        let mut shares = Vec::new();
        let user = settings.users.get(&*key.user);
        shares.extend(match user {
            Some(user) => of_user(user, key),
            None if self.has_defaults => Some((Owner::User(key.user.clone()), &self.defaults)),
            None => None,
        });
        let bypass = user.and_then(|u| u.global.as_ref()).is_some_and(|q| q.bypass_globals == Some(true));
        if !bypass {
            shares.extend(throttle(settings.tables.get(&*key.table)).map(|t| (Owner::Table(key.table.clone()), t)));
            let namespace = throttle(settings.namespaces.get(key.namespace()));
            shares.extend(namespace.map(|t| (Owner::Namespace(key.namespace().into()), t)));
            shares.extend(throttle(settings.region_server.as_ref()).map(|t| (Owner::RegionServer, t)));
        }
        let exceeds = settings.exceed && shares.iter().any(|(owner, _)| *owner == Owner::RegionServer);
        let shares = shares.into_iter().map(|(owner, throttle)| {
            let holds = !exceeds || owner == Owner::RegionServer;
            Share { owner, limits: limits(throttle), holds }
        });
        shares.filter(|share| !share.limits.is_empty()).collect()
    }
}

/// All limits that are set, by owner.
pub fn all_limits(settings: &Settings) -> Vec<(Owner, Vec<Limit>)> {
    let mut all: Vec<(Owner, &pb::Quotas)> = Vec::new();
    for (name, user) in &settings.users {
        let name = || Arc::from(name.as_str());
        all.extend(user.global.iter().map(|quotas| (Owner::User(name()), quotas)));
        let tables = user.tables.iter();
        all.extend(tables.map(|(table, quotas)| (Owner::UserTable(name(), table.as_str().into()), quotas)));
        let namespaces = user.namespaces.iter();
        all.extend(
            namespaces.map(|(namespace, quotas)| (Owner::UserNamespace(name(), namespace.as_str().into()), quotas)),
        );
    }
    all.extend(settings.tables.iter().map(|(table, quotas)| (Owner::Table(table.as_str().into()), quotas)));
    let namespaces = settings.namespaces.iter();
    all.extend(namespaces.map(|(namespace, quotas)| (Owner::Namespace(namespace.as_str().into()), quotas)));
    all.extend(settings.region_server.iter().map(|quotas| (Owner::RegionServer, quotas)));
    let limits_of = |(owner, quotas)| Some((owner, limits(throttle(Some(quotas))?)));
    all.into_iter().filter_map(limits_of).filter(|(_, limits)| !limits.is_empty()).collect()
}

fn throttle(quotas: Option<&pb::Quotas>) -> Option<&pb::Throttle> {
    quotas.and_then(|q| q.throttle.as_ref())
}

fn is_limited(quotas: &pb::Quotas) -> bool {
    throttle(Some(quotas)).is_some_and(|t| !limits(t).is_empty())
}

/// The most special that is set.
fn of_user<'a>(user: &'a UserSettings, key: &Key) -> Option<(Owner, &'a pb::Throttle)> {
    let name = || key.user.clone();
    if let Some(found) = throttle(user.tables.get(&*key.table)) {
        return Some((Owner::UserTable(name(), key.table.clone()), found));
    }
    if let Some(found) = throttle(user.namespaces.get(key.namespace())) {
        return Some((Owner::UserNamespace(name(), key.namespace().into()), found));
    }
    throttle(user.global.as_ref()).map(|found| (Owner::User(name()), found))
}

/// A limit without an amount or with an unknown unit limits nothing.
fn limits(throttle: &pb::Throttle) -> Vec<Limit> {
    let limit = |kind: &Kind| {
        let quota = kind.of(throttle)?;
        let (unit, soft_limit) = (pb::TimeUnit::try_from(quota.time_unit).ok()?, quota.soft_limit?);
        let factor = if *kind == Kind::RequestHandlerUsageMs { HANDLER_UNITS_PER_MS } else { 1 };
        let rate = Rate::new(soft_limit.saturating_mul(factor), unit_ns(unit));
        Some(Limit { kind: *kind, rate, soft_limit, unit })
    };
    Kind::ALL.iter().filter_map(limit).collect()
}

fn unit_ns(unit: pb::TimeUnit) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    match unit {
        pb::TimeUnit::Nanoseconds => 1,
        pb::TimeUnit::Microseconds => 1000,
        pb::TimeUnit::Milliseconds => 1_000_000,
        pb::TimeUnit::Seconds => SECOND,
        pb::TimeUnit::Minutes => 60 * SECOND,
        pb::TimeUnit::Hours => 3600 * SECOND,
        pb::TimeUnit::Days => 86_400 * SECOND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_limits_are_told_with_their_owners() {
        let quotas = |soft_limit| {
            let limit = pb::TimedQuota {
                time_unit: pb::TimeUnit::Seconds as i32,
                soft_limit: Some(soft_limit),
                ..pb::TimedQuota::default()
            };
            let throttle = pb::Throttle { req_num: Some(limit), ..pb::Throttle::default() };
            pb::Quotas { throttle: Some(throttle), ..pb::Quotas::default() }
        };
        let mut settings = Settings::default();
        let user = settings.users.entry("u".to_owned()).or_default();
        user.global = Some(pb::Quotas::default());
        user.tables.insert("ns:t".to_owned(), quotas(7));
        settings.namespaces.insert("ns".to_owned(), quotas(500));
        settings.region_server = Some(quotas(1000));
        let told = all_limits(&settings);
        let told = told.iter().flat_map(|(owner, limits)| limits.iter().map(move |limit| format!("{owner}: {limit}")));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "USER => u, TABLE => ns:t: REQUEST_NUMBER 7req/sec",
                "NAMESPACE => ns: REQUEST_NUMBER 500req/sec",
                "REGIONSERVER => all: REQUEST_NUMBER 1000req/sec"
            ]
        );
    }
}
