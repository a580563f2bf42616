//! Space quotas: how much tables and namespaces hold, and whose writes are therefore refused.
//!
//! ```text
//! limit of a table      ┐                        ┌ tables: each with its own limit
//! limit of a namespace  ├─ judge, with the sizes ┼ namespaces
//! sizes of tables       ┘                        └ in force: column u:p of each table that has a limit or whose namespace has
//! ```
//!
//! A table over its own limit has its own policy; otherwise the policy of a namespace that is over its limit is its own.
//! Example: `ns` may hold 100 bytes (NO_WRITES), `ns:a` 80 (NO_INSERTS), `ns:b` has no limit. With 90 and 30 bytes, `ns:a` is
//! under NO_INSERTS and `ns:b` under NO_WRITES; with 70 and 40 both are under NO_WRITES.

use crate::Settings;
use crate::table::{SNAPSHOT_SIZE, USAGE};
use martite_proto::{self as pb, Message, SpaceViolationPolicy};
use std::collections::BTreeMap;

const DEFAULT_NAMESPACE: &str = "default";
const SYSTEM_NAMESPACE: &str = "hbase";

/// What a table or namespace holds and may hold (HBase: SpaceQuotaSnapshot).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub used_bytes: u64,
    pub limit_bytes: u64,
    /// The policy, while there is more than may be.
    pub violated: Option<SpaceViolationPolicy>,
}

impl Usage {
    fn of(used_bytes: u64, quota: &pb::SpaceQuota) -> Usage {
        let limit_bytes = quota.soft_limit.unwrap_or(u64::MAX);
        let policy = quota.violation_policy.and_then(|code| SpaceViolationPolicy::try_from(code).ok());
        Usage { used_bytes, limit_bytes, violated: policy.filter(|_| used_bytes > limit_bytes) }
    }

    pub fn to_proto(self) -> pb::SpaceQuotaSnapshot {
        let violation_policy = self.violated.map(|policy| policy as i32);
        let status = pb::SpaceQuotaStatus { violation_policy, in_violation: Some(self.violated.is_some()) };
        pb::SpaceQuotaSnapshot {
            quota_status: Some(status),
            quota_usage: Some(self.used_bytes),
            quota_limit: Some(self.limit_bytes),
        }
    }

    /// The value of column u:p.
    pub fn to_bytes(self) -> Vec<u8> {
        self.to_proto().encode_to_vec()
    }

    pub fn from_bytes(value: &[u8]) -> Result<Usage, String> {
        let proto = pb::SpaceQuotaSnapshot::decode(value).map_err(|e| e.to_string())?;
        let status = proto.quota_status.filter(|s| s.in_violation == Some(true));
        let violated = match status.map(|s| s.violation_policy) {
            None => None,
            Some(None) => return Err("a violation without a policy".into()),
            Some(Some(code)) => {
                Some(SpaceViolationPolicy::try_from(code).map_err(|e| format!("no policy has the number {}", e.0))?)
            }
        };
        let (used_bytes, limit_bytes) = (proto.quota_usage.unwrap_or(0), proto.quota_limit.unwrap_or(0));
        Ok(Usage { used_bytes, limit_bytes, violated })
    }

    /// Whether the table is to be disabled.
    pub fn disables(&self) -> bool {
        self.violated == Some(SpaceViolationPolicy::Disable)
    }
}

/// What is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of the store files of each table that is there.
    pub tables: BTreeMap<String, u64>,
    /// Bytes that only snapshots hold, by table and by namespace.
    pub snapshots: BTreeMap<String, u64>,
    pub namespace_snapshots: BTreeMap<String, u64>,
}

/// What follows from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    pub tables: BTreeMap<String, Usage>,
    pub namespaces: BTreeMap<String, Usage>,
    /// What counts for writes to a table.
    pub in_force: BTreeMap<String, Usage>,
}

/// The namespace in a table's full name.
pub fn namespace_of(table: &str) -> &str {
    table.split_once(':').map_or(DEFAULT_NAMESPACE, |(namespace, _)| namespace)
}

/// Whether a table's size matters. HBase's own tables must stay writable.
pub fn is_limited(settings: &Settings, table: &str) -> bool {
    let has = |quotas: Option<&pb::Quotas>| quotas.is_some_and(|q| q.space.is_some());
    let namespace = namespace_of(table);
    namespace != SYSTEM_NAMESPACE && (has(settings.tables.get(table)) || has(settings.namespaces.get(namespace)))
}

pub fn judge(settings: &Settings, sizes: &Sizes) -> Verdict {
    let mut verdict = Verdict::default();
    let of = |bytes: &BTreeMap<String, u64>, name: &str| bytes.get(name).copied().unwrap_or(0);
    for (namespace, quotas) in &settings.namespaces {
        let Some(space) = quotas.space.as_ref().filter(|_| namespace != SYSTEM_NAMESPACE) else { continue };
        let tables = sizes.tables.iter().filter(|(table, _)| namespace_of(table) == namespace);
        let used = tables.map(|(_, bytes)| bytes).sum::<u64>() + of(&sizes.namespace_snapshots, namespace);
        verdict.namespaces.insert(namespace.clone(), Usage::of(used, space));
    }
    for (table, bytes) in &sizes.tables {
        if !is_limited(settings, table) {
            continue;
        }
        let space = settings.tables.get(table).and_then(|quotas| quotas.space.as_ref());
        let own = space.map(|space| Usage::of(bytes + of(&sizes.snapshots, table), space));
        let shared = verdict.namespaces.get(namespace_of(table)).copied();
        let counts = match (own, shared) {
            (Some(own), Some(shared)) if own.violated.is_none() && shared.violated.is_some() => Some(shared),
            (own, shared) => own.or(shared),
        };
        verdict.tables.extend(own.map(|own| (table.clone(), own)));
        verdict.in_force.extend(counts.map(|counts| (table.clone(), counts)));
    }
    verdict
}

/// A cell of family u.
#[derive(Debug, Clone, Copy)]
pub struct UsageCell<'a> {
    pub row: &'a [u8],
    pub qualifier: &'a [u8],
    pub value: &'a [u8],
}

/// The value of a snapshot's size.
pub fn snapshot_size(bytes: u64) -> Vec<u8> {
    pb::SpaceQuotaSnapshot { quota_usage: Some(bytes), ..Default::default() }.encode_to_vec()
}

/// What family u says: the usage of tables, and the sizes of snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recorded {
    pub in_force: BTreeMap<String, Usage>,
    pub snapshots: BTreeMap<String, u64>,
    pub namespace_snapshots: BTreeMap<String, u64>,
}

impl Recorded {
    /// Adds a cell, or says why it does not count.
    pub fn add(&mut self, cell: &UsageCell<'_>) -> Result<(), String> {
        let text = |name: &[u8]| String::from_utf8(name.to_vec()).map_err(|_| "the name is not UTF-8".to_string());
        let of_snapshot = cell.qualifier.starts_with(SNAPSHOT_SIZE);
        let usage = || Usage::from_bytes(cell.value);
        match cell.row.split_at_checked(2) {
            Some((b"t.", table)) if cell.qualifier == USAGE => {
                self.in_force.insert(text(table)?, usage()?);
            }
            Some((b"t.", table)) if of_snapshot => {
                *self.snapshots.entry(text(table)?).or_default() += usage()?.used_bytes;
            }
            Some((b"n.", namespace)) if of_snapshot => {
                self.namespace_snapshots.insert(text(namespace)?, usage()?.used_bytes);
            }
            _ => return Err("an unknown column".into()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SpaceViolationPolicy::{Disable, NoInserts, NoWrites};

    fn limit(bytes: u64, policy: SpaceViolationPolicy) -> pb::Quotas {
        let space = pb::SpaceQuota { soft_limit: Some(bytes), violation_policy: Some(policy as i32), remove: None };
        pb::Quotas { space: Some(space), ..Default::default() }
    }

    fn sizes(tables: &[(&str, u64)]) -> Sizes {
        Sizes { tables: tables.iter().map(|(t, b)| (t.to_string(), *b)).collect(), ..Sizes::default() }
    }

    fn in_force(verdict: &Verdict) -> Vec<(&str, u64, Option<SpaceViolationPolicy>)> {
        verdict.in_force.iter().map(|(table, usage)| (table.as_str(), usage.used_bytes, usage.violated)).collect()
    }

    /// The example of the page.
    #[test]
    fn a_tables_own_violation_comes_before_its_namespaces() {
        let mut settings = Settings::default();
        settings.namespaces.insert("ns".into(), limit(100, NoWrites));
        settings.tables.insert("ns:a".into(), limit(80, NoInserts));
        let both = |a, b| judge(&settings, &sizes(&[("ns:a", a), ("ns:b", b), ("c", 1000)]));
        assert_eq!(in_force(&both(90, 30)), [("ns:a", 90, Some(NoInserts)), ("ns:b", 120, Some(NoWrites))]);
        let shared = both(70, 40);
        assert_eq!(in_force(&shared), [("ns:a", 110, Some(NoWrites)), ("ns:b", 110, Some(NoWrites))]);
        assert_eq!((shared.tables["ns:a"].used_bytes, shared.tables["ns:a"].violated), (70, None));
        assert_eq!(shared.namespaces["ns"].violated, Some(NoWrites));
        assert_eq!(in_force(&both(70, 30)), [("ns:a", 70, None), ("ns:b", 100, None)]);
    }

    #[test]
    fn as_much_as_the_limit_is_allowed_and_snapshots_count() {
        let mut settings = Settings::default();
        settings.tables.insert("t".into(), limit(10, Disable));
        settings.tables.insert("gone".into(), limit(0, Disable));
        let mut sizes = sizes(&[("t", 10)]);
        let verdict = judge(&settings, &sizes);
        assert_eq!(in_force(&verdict), [("t", 10, None)]);
        assert!(!verdict.in_force["t"].disables());
        sizes.snapshots.insert("t".into(), 1);
        let verdict = judge(&settings, &sizes);
        assert_eq!(in_force(&verdict), [("t", 11, Some(Disable))]);
        assert!(verdict.in_force["t"].disables());
    }

    #[test]
    fn the_default_namespace_is_one_and_hbases_is_never_limited() {
        let mut settings = Settings::default();
        settings.namespaces.insert("default".into(), limit(5, NoWrites));
        settings.namespaces.insert("hbase".into(), limit(5, NoWrites));
        settings.tables.insert("hbase:meta".into(), limit(5, NoWrites));
        let verdict = judge(&settings, &sizes(&[("t", 6), ("hbase:meta", 6), ("ns:t", 6)]));
        assert_eq!(in_force(&verdict), [("t", 6, Some(NoWrites))]);
        assert_eq!((verdict.tables.len(), verdict.namespaces.len()), (0, 1));
    }

    #[test]
    fn usage_has_hbases_bytes() {
        let usage = Usage { used_bytes: 300, limit_bytes: 200, violated: Some(NoInserts) };
        assert_eq!(usage.to_bytes(), b"\x0a\x04\x08\x04\x10\x01\x10\xac\x02\x18\xc8\x01");
        assert_eq!(Usage::from_bytes(&usage.to_bytes()), Ok(usage));
        let kept = Usage { used_bytes: 1, limit_bytes: 2, violated: None };
        assert_eq!(kept.to_bytes(), b"\x0a\x02\x10\x00\x10\x01\x18\x02");
        assert_eq!(Usage::from_bytes(&kept.to_bytes()), Ok(kept));
        assert_eq!(Usage::from_bytes(b"\x0a\x02\x10\x01"), Err("a violation without a policy".into()));
        assert_eq!(Usage::from_bytes(b"\x0a\x04\x08\x09\x10\x01"), Err("no policy has the number 9".into()));
    }

    #[test]
    fn what_is_recorded_is_read() {
        let size = |bytes| Usage { used_bytes: bytes, limit_bytes: 0, violated: None }.to_bytes();
        let usage = Usage { used_bytes: 3, limit_bytes: 2, violated: Some(NoWrites) };
        let mut recorded = Recorded::default();
        for (row, qualifier, value) in [
            ("t.ns:t", "p", usage.to_bytes()),
            ("t.ns:t", "sssnap1", size(5)),
            ("t.ns:t", "sssnap2", size(6)),
            ("n.ns", "ss", size(11)),
        ] {
            recorded.add(&UsageCell { row: row.as_bytes(), qualifier: qualifier.as_bytes(), value: &value }).unwrap();
        }
        assert_eq!((recorded.in_force["ns:t"], recorded.snapshots["ns:t"]), (usage, 11));
        assert_eq!(recorded.namespace_snapshots["ns"], 11);
        let bad = UsageCell { row: b"u.x", qualifier: b"p", value: b"" };
        assert_eq!(recorded.add(&bad), Err("an unknown column".into()));
    }
}
