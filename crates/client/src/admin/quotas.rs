//! Quotas: set with the master, read from hbase:quota as HBase's own client reads them.

use super::Admin;
use crate::{Error, Scan};
use martite_catalog::{ServerName, TableName};
use martite_filter::{CompareOp, build as filter};
use martite_proto as pb;
use martite_quota::table::{self, Owner};
use std::collections::BTreeMap;
use std::fmt;

/// One setting of one owner.
#[derive(Debug, Clone, PartialEq)]
pub struct QuotaSetting {
    pub owner: Owner,
    pub kind: QuotaKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum QuotaKind {
    Throttle(pb::ThrottleType, pb::TimedQuota),
    /// To be set: removes one kind of throttle, or all.
    Unthrottle(Option<pb::ThrottleType>),
    /// Whether limits of tables, namespaces and region servers do not count for the user.
    GlobalBypass(bool),
    Space(pb::SpaceQuota),
    /// To be set: removes the limit of space.
    UnlimitSpace,
}

/// Which owners' quotas to read: Java regular expressions of whole names; of a user with a table or a namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuotaFilter {
    pub user: Option<String>,
    pub table: Option<String>,
    pub namespace: Option<String>,
    pub region_server: Option<String>,
}

impl QuotaSetting {
    fn to_request(&self) -> Result<pb::SetQuotaRequest, Error> {
        let mut request = pb::SetQuotaRequest::default();
        let table = |name: &str| -> Result<_, Error> { Ok(Some(TableName::parse(name)?.to_proto())) };
        match &self.owner {
            Owner::User(user) => request.user_name = Some(user.clone()),
            Owner::UserTable(user, name) => {
                request.user_name = Some(user.clone());
                request.table_name = table(name)?;
            }
            Owner::UserNamespace(user, namespace) => {
                request.user_name = Some(user.clone());
                request.namespace = Some(namespace.clone());
            }
            Owner::Table(name) => request.table_name = table(name)?,
            Owner::Namespace(namespace) => request.namespace = Some(namespace.clone()),
            Owner::RegionServer(server) => request.region_server = Some(server.clone()),
        }
        match &self.kind {
            QuotaKind::Throttle(kind, quota) => {
                let (r#type, timed_quota) = (Some(*kind as i32), Some(*quota));
                request.throttle = Some(pb::ThrottleRequest { r#type, timed_quota });
            }
            QuotaKind::Unthrottle(kind) => {
                let r#type = kind.map(|kind| kind as i32);
                request.throttle = Some(pb::ThrottleRequest { r#type, timed_quota: None });
            }
            QuotaKind::GlobalBypass(bypass) => request.bypass_globals = Some(*bypass),
            QuotaKind::Space(quota) => {
                request.space_limit = Some(pb::SpaceLimitRequest { quota: Some(*quota) });
            }
            QuotaKind::UnlimitSpace => {
                let quota = Some(pb::SpaceQuota { remove: Some(true), ..Default::default() });
                request.space_limit = Some(pb::SpaceLimitRequest { quota });
            }
        }
        Ok(request)
    }
}

/// As HBase's QuotaSettings prints itself.
impl fmt::Display for QuotaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuotaKind::Throttle(kind, quota) => {
                write!(f, "TYPE => THROTTLE, THROTTLE_TYPE => {}, LIMIT => ", kind.as_str_name())?;
                let limit = quota.soft_limit();
                match kind.as_str_name() {
                    name if name.ends_with("_NUMBER") => write!(f, "{limit}req")?,
                    name if name.ends_with("_SIZE") => write!(f, "{}", size(limit))?,
                    name if name.ends_with("_UNIT") => write!(f, "{limit}CU")?,
                    _ => write!(f, "{limit}ms")?,
                }
                write!(f, "/{}", unit(quota.time_unit()))?;
                match quota.scope {
                    Some(_) => write!(f, ", SCOPE => {}", quota.scope().as_str_name()),
                    None => Ok(()),
                }
            }
            QuotaKind::Unthrottle(kind) => {
                write!(f, "TYPE => THROTTLE")?;
                kind.iter().try_for_each(|kind| write!(f, ", THROTTLE_TYPE => {}", kind.as_str_name()))?;
                write!(f, ", LIMIT => NONE")
            }
            QuotaKind::GlobalBypass(bypass) => write!(f, "GLOBAL_BYPASS => {bypass}"),
            QuotaKind::Space(quota) => {
                let policy = quota.violation_policy().as_str_name();
                write!(f, "LIMIT => {}, VIOLATION_POLICY => {policy}", size(quota.soft_limit()))
            }
            QuotaKind::UnlimitSpace => write!(f, "REMOVE => true"),
        }
    }
}

impl fmt::Display for QuotaSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            QuotaKind::Space(_) | QuotaKind::UnlimitSpace => {
                write!(f, "TYPE => SPACE, {}, {}", self.owner, self.kind)
            }
            _ => write!(f, "{}", self.kind),
        }
    }
}

fn size(bytes: u64) -> String {
    let unit =
        [(50, 'P'), (40, 'T'), (30, 'G'), (20, 'M'), (10, 'K')].into_iter().find(|(shift, _)| bytes >> shift > 0);
    let (shift, letter) = unit.unwrap_or((0, 'B'));
    format!("{:.2}{letter}", bytes as f64 / (1u64 << shift) as f64)
}

fn unit(unit: pb::TimeUnit) -> &'static str {
    match unit {
        pb::TimeUnit::Nanoseconds => "nsec",
        pb::TimeUnit::Microseconds => "usec",
        pb::TimeUnit::Milliseconds => "msec",
        pb::TimeUnit::Seconds => "sec",
        pb::TimeUnit::Minutes => "min",
        pb::TimeUnit::Hours => "hour",
        pb::TimeUnit::Days => "day",
    }
}

impl QuotaFilter {
    /// The filter that HBase's client sends; none: everything.
    fn to_proto(&self) -> Option<pb::Filter> {
        let matches = |regex: &str| filter::regex_flags(regex, 0);
        let row = |prefix: &str, name: &str| filter::row(CompareOp::Equal, matches(&format!("^\\Q{prefix}\\E{name}$")));
        let Some(user) = &self.user else {
            let (prefix, name) = match self {
                QuotaFilter { table: Some(table), .. } => ("t.", table),
                QuotaFilter { namespace: Some(namespace), .. } => ("n.", namespace),
                QuotaFilter { region_server: Some(server), .. } => ("r.", server),
                _ => return None,
            };
            return Some(filter::all([row(prefix, name)]));
        };
        let column =
            |regex: String| filter::all([row("u.", user), filter::qualifier(CompareOp::Equal, matches(&regex))]);
        let mut columns = Vec::new();
        if let Some(namespace) = &self.namespace {
            columns.push(column(format!("^\\Qs.\\E{namespace}\\Q:\\E$")));
        }
        if let Some(table) = &self.table {
            columns.push(column(format!("^\\Qs.\\E{table}(?<!\\Q:\\E)$")));
        }
        if columns.is_empty() {
            columns.push(row("u.", user));
        }
        Some(filter::all([filter::any(columns)]))
    }
}

/// What one cell of hbase:quota sets, in HBase's order.
fn settings_of(owner: &Owner, quotas: &pb::Quotas) -> Vec<QuotaSetting> {
    use pb::ThrottleType::{AtomicRequestNumber, AtomicWriteSize, ReadCapacityUnit, WriteCapacityUnit};
    let mut throttles: Vec<_> = table::throttles(quotas).collect();
    // HBase lists them by number, but for two pairs.
    throttles.sort_by_key(|(kind, _)| match kind {
        ReadCapacityUnit => WriteCapacityUnit as i32,
        WriteCapacityUnit => ReadCapacityUnit as i32,
        AtomicRequestNumber => AtomicWriteSize as i32,
        AtomicWriteSize => AtomicRequestNumber as i32,
        kind => *kind as i32,
    });
    let mut kinds: Vec<_> = throttles.into_iter().map(|(kind, quota)| QuotaKind::Throttle(kind, *quota)).collect();
    if quotas.bypass_globals() {
        kinds.push(QuotaKind::GlobalBypass(true));
    }
    kinds.extend(quotas.space.map(QuotaKind::Space));
    kinds.into_iter().map(|kind| QuotaSetting { owner: owner.clone(), kind }).collect()
}

impl Admin {
    /// Sets or removes a quota.
    pub async fn set_quota(&self, setting: &QuotaSetting) -> Result<(), Error> {
        let _: pb::SetQuotaResponse = self.master("SetQuota", &setting.to_request()?).await?;
        Ok(())
    }

    /// The quotas in hbase:quota, by owner; at most `limit` of them.
    pub async fn quotas(&self, which: &QuotaFilter, limit: Option<usize>) -> Result<Vec<QuotaSetting>, Error> {
        let mut scan = Scan::new().family(table::SETTINGS_FAMILY);
        if let Some(filter) = which.to_proto() {
            scan = scan.filter(filter);
        }
        let limit = limit.unwrap_or(usize::MAX);
        let mut scanner = self.connection.table(TableName::quota_table()).scan(scan);
        let mut found = Vec::new();
        while found.len() < limit
            && let Some(row) = scanner.next().await?
        {
            for cell in row.cells().filter(|cell| cell.row() != table::EXCEED_ROW) {
                let wrong = |reason| Error::Malformed(format!("hbase:quota: {reason}"));
                let owner = Owner::parse(cell.row(), cell.qualifier()).map_err(wrong)?;
                found.extend(settings_of(&owner, &table::decode(cell.value).map_err(wrong)?));
            }
        }
        found.truncate(limit);
        Ok(found)
    }

    /// Whether throttles count; answers what it was before.
    pub async fn set_rpc_throttle(&self, on: bool) -> Result<bool, Error> {
        let request = pb::SwitchRpcThrottleRequest { rpc_throttle_enabled: on };
        let answer: pb::SwitchRpcThrottleResponse = self.master("SwitchRpcThrottle", &request).await?;
        Ok(answer.previous_rpc_throttle_enabled)
    }

    pub async fn is_rpc_throttle_enabled(&self) -> Result<bool, Error> {
        let answer: pb::IsRpcThrottleEnabledResponse =
            self.master("IsRpcThrottleEnabled", &pb::IsRpcThrottleEnabledRequest {}).await?;
        Ok(answer.rpc_throttle_enabled)
    }

    /// Whether limits may be exceeded while the region server's own is not; answers what it was before.
    pub async fn set_exceed_throttle_quota(&self, on: bool) -> Result<bool, Error> {
        let request = pb::SwitchExceedThrottleQuotaRequest { exceed_throttle_quota_enabled: on };
        let answer: pb::SwitchExceedThrottleQuotaResponse = self.master("SwitchExceedThrottleQuota", &request).await?;
        Ok(answer.previous_exceed_throttle_quota_enabled)
    }

    /// The sizes of tables in bytes, as the master sums them up.
    pub async fn space_quota_table_sizes(&self) -> Result<BTreeMap<TableName, u64>, Error> {
        let answer: pb::GetSpaceQuotaRegionSizesResponse =
            self.master("GetSpaceQuotaRegionSizes", &pb::GetSpaceQuotaRegionSizesRequest {}).await?;
        let mut sizes = BTreeMap::new();
        for entry in answer.sizes {
            let table = entry.table_name.ok_or_else(|| Error::Malformed("a size without a table".to_owned()))?;
            sizes.insert(TableName::from_proto(&table)?, entry.size.unwrap_or(0));
        }
        Ok(sizes)
    }

    /// How tables stand with their limits of space, as hbase:quota has it.
    pub async fn space_quota_snapshots(&self) -> Result<BTreeMap<TableName, pb::SpaceQuotaSnapshot>, Error> {
        let scan = Scan::new().prefix("t.").column(table::USAGE_FAMILY, table::USAGE);
        let mut scanner = self.connection.table(TableName::quota_table()).scan(scan);
        let mut found = BTreeMap::new();
        while let Some(row) = scanner.next().await? {
            for cell in row.cells() {
                let name = cell.row().strip_prefix(b"t.").unwrap_or(cell.row());
                let snapshot: pb::SpaceQuotaSnapshot = decoded(cell.value)?;
                found.insert(TableName::parse_bytes(name)?, snapshot);
            }
        }
        Ok(found)
    }

    /// The same as one region server sees it.
    pub async fn space_quota_snapshots_on(
        &self,
        server: &ServerName,
    ) -> Result<BTreeMap<TableName, pb::SpaceQuotaSnapshot>, Error> {
        let answer: pb::GetSpaceQuotaSnapshotsResponse =
            self.server(server, "GetSpaceQuotaSnapshots", &pb::GetSpaceQuotaSnapshotsRequest {}).await?;
        let mut found = BTreeMap::new();
        for entry in answer.snapshots {
            if let (Some(table), Some(snapshot)) = (entry.table_name, entry.snapshot) {
                found.insert(TableName::from_proto(&table)?, snapshot);
            }
        }
        Ok(found)
    }

    /// The states of tables and namespaces as the master sees them.
    pub async fn quota_states(&self) -> Result<pb::GetQuotaStatesResponse, Error> {
        self.master("GetQuotaStates", &pb::GetQuotaStatesRequest {}).await
    }

    /// What calls of users under limits did on a server, of one user, one table, or all: how long they waited for what, and what
    /// was refused. Only Martite knows; HBase throws an `UnknownProtocolException`.
    pub async fn throttle_usage(
        &self,
        server: &ServerName,
        user: Option<&str>,
        table: Option<&TableName>,
    ) -> Result<pb::GetThrottleUsageResponse, Error> {
        let table = table.map(TableName::to_string);
        let message = pb::GetThrottleUsageRequest { user: user.map(str::to_owned), table };
        self.server_endpoint(server, "hbase.pb.ThrottleUsageService", "GetThrottleUsage", &message).await
    }

    /// The sizes in bytes of snapshots that count towards quotas.
    pub async fn snapshot_sizes(&self) -> Result<BTreeMap<String, u64>, Error> {
        let scan =
            Scan::new().prefix("t.").family(table::USAGE_FAMILY).filter(filter::column_prefix(table::SNAPSHOT_SIZE));
        let mut scanner = self.connection.table(TableName::quota_table()).scan(scan);
        let mut found = BTreeMap::new();
        while let Some(row) = scanner.next().await? {
            for cell in row.cells() {
                let name = cell.qualifier().strip_prefix(table::SNAPSHOT_SIZE).unwrap_or_default();
                let snapshot: pb::SpaceQuotaSnapshot = decoded(cell.value)?;
                found.insert(String::from_utf8_lossy(name).into_owned(), snapshot.quota_usage());
            }
        }
        Ok(found)
    }
}

fn decoded<M: pb::Message + Default>(value: &[u8]) -> Result<M, Error> {
    M::decode(value).map_err(|error| Error::Malformed(format!("hbase:quota: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(limit: u64, unit: pb::TimeUnit) -> pb::TimedQuota {
        let scope = Some(pb::QuotaScope::Machine as i32);
        pb::TimedQuota { time_unit: unit as i32, soft_limit: Some(limit), share: None, scope }
    }

    #[test]
    fn settings_print_as_hbases() {
        let setting = |owner, kind| QuotaSetting { owner, kind }.to_string();
        let user = || Owner::User("u".into());
        let throttle = |kind, limit, unit| setting(user(), QuotaKind::Throttle(kind, timed(limit, unit)));
        use pb::{ThrottleType as T, TimeUnit as U};
        assert_eq!(
            throttle(T::RequestNumber, 10, U::Seconds),
            "TYPE => THROTTLE, THROTTLE_TYPE => REQUEST_NUMBER, LIMIT => 10req/sec, SCOPE => MACHINE"
        );
        assert_eq!(
            throttle(T::ReadSize, 10 << 20, U::Hours),
            "TYPE => THROTTLE, THROTTLE_TYPE => READ_SIZE, LIMIT => 10.00M/hour, SCOPE => MACHINE"
        );
        assert_eq!(
            throttle(T::WriteCapacityUnit, 7, U::Days),
            "TYPE => THROTTLE, THROTTLE_TYPE => WRITE_CAPACITY_UNIT, LIMIT => 7CU/day, SCOPE => MACHINE"
        );
        assert_eq!(setting(user(), QuotaKind::GlobalBypass(true)), "GLOBAL_BYPASS => true");
        let violation_policy = Some(pb::SpaceViolationPolicy::NoInserts as i32);
        let space = pb::SpaceQuota { soft_limit: Some(1 << 30), violation_policy, remove: None };
        assert_eq!(
            setting(Owner::Table("ns:t".into()), QuotaKind::Space(space)),
            "TYPE => SPACE, TABLE => ns:t, LIMIT => 1.00G, VIOLATION_POLICY => NO_INSERTS"
        );
        assert_eq!([size(1), size(1023), size(1536)], ["1.00B", "1023.00B", "1.50K"]);
    }

    #[test]
    fn throttles_are_listed_in_hbases_order() {
        let one = || Some(timed(1, pb::TimeUnit::Seconds));
        let throttle = pb::Throttle {
            atomic_req_num: one(),
            atomic_write_size: one(),
            write_capacity_unit: one(),
            read_capacity_unit: one(),
            req_num: one(),
            ..Default::default()
        };
        let quotas = pb::Quotas { throttle: Some(throttle), bypass_globals: Some(true), ..Default::default() };
        let listed: Vec<_> = settings_of(&Owner::User("u".into()), &quotas)
            .into_iter()
            .map(|setting| match setting.kind {
                QuotaKind::Throttle(kind, _) => kind.as_str_name().to_owned(),
                other => other.to_string(),
            })
            .collect();
        let want = [
            "REQUEST_NUMBER",
            "READ_CAPACITY_UNIT",
            "WRITE_CAPACITY_UNIT",
            "ATOMIC_WRITE_SIZE",
            "ATOMIC_REQUEST_NUMBER",
        ];
        assert_eq!(listed[..5], want);
        assert_eq!(listed[5..], ["GLOBAL_BYPASS => true"]);
    }
}
