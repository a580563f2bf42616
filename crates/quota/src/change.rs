//! What a SetQuota request makes of an owner's quotas (HBase 2.6: GlobalQuotaSettingsImpl, QuotaUtil).

use crate::table::{self, Owner, slot};
use martite_proto as pb;

/// A request that HBase refuses; the text is DoNotRetryIOException's message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

fn unsupported<T>(text: impl std::fmt::Display) -> Result<T, Refused> {
    Err(Refused(format!("java.lang.UnsupportedOperationException: {text}")))
}

fn illegal<T>(text: impl std::fmt::Display) -> Result<T, Refused> {
    Err(Refused(format!("java.lang.IllegalArgumentException: {text}")))
}

fn plain<T>(text: &str) -> Result<T, Refused> {
    Err(Refused(text.to_string()))
}

/// Whose quotas a request changes; `table` is the full name of its table, if it names one.
pub fn owner(request: &pb::SetQuotaRequest, table: Option<String>) -> Result<Owner, Refused> {
    let owner = match (request.user_name.clone(), table, request.namespace.clone(), request.region_server.clone()) {
        (Some(user), Some(table), ..) => Owner::UserTable(user, table),
        (Some(user), None, Some(namespace), _) => Owner::UserNamespace(user, namespace),
        (Some(user), ..) => Owner::User(user),
        (None, Some(table), ..) => Owner::Table(table),
        (None, None, Some(namespace), _) => Owner::Namespace(namespace),
        (None, None, None, Some(server)) => Owner::RegionServer(server),
        _ => return unsupported("a user, a table, a namespace or region server must be specified"),
    };
    // What could not be read back is not written.
    match Owner::parse(&owner.row(), &owner.qualifier()) {
        Ok(parsed) if parsed == owner => Ok(owner),
        Ok(_) => illegal(format!("the owner {owner} is ambiguous")),
        Err(reason) => illegal(format!("the owner {owner} has {reason}")),
    }
}

/// The owner's quotas after the request; None: the owner has none any more.
pub fn merge(
    owner: &Owner,
    current: Option<pb::Quotas>,
    request: &pb::SetQuotaRequest,
) -> Result<Option<pb::Quotas>, Refused> {
    let mut quotas = current.unwrap_or_default();
    match (request.bypass_globals, &request.space_limit, &request.throttle) {
        (Some(bypass), None, None) => quotas.bypass_globals = Some(bypass),
        (None, Some(limit), None) => quotas.space = merged_space(owner, quotas.space, limit)?,
        (None, None, Some(throttle)) => quotas.throttle = merged_throttle(owner, quotas.throttle, throttle)?,
        (None, None, None) => {
            return Err(Refused("java.lang.IllegalStateException: Unhandled SetRequestRequest state".into()));
        }
        _ => return Err(Refused("java.lang.IllegalStateException: SetQuotaRequest has multiple limits".into())),
    }
    let is_empty = quotas.throttle.is_none() && quotas.space.is_none() && quotas.bypass_globals.is_none();
    Ok((!is_empty).then_some(quotas))
}

fn merged_throttle(
    owner: &Owner,
    current: Option<pb::Throttle>,
    request: &pb::ThrottleRequest,
) -> Result<Option<pb::Throttle>, Refused> {
    let Some(code) = request.r#type else {
        return Ok(None);
    };
    let Ok(kind) = pb::ThrottleType::try_from(code) else {
        return illegal(format!("no throttle has the type {code}"));
    };
    let mut throttle = current.unwrap_or_default();
    if let Some(timed) = &request.timed_quota {
        check_timed(owner, timed)?;
    }
    *slot(&mut throttle, kind) = request.timed_quota;
    Ok((throttle != pb::Throttle::default()).then_some(throttle))
}

fn check_timed(owner: &Owner, timed: &pb::TimedQuota) -> Result<(), Refused> {
    let limit = timed.soft_limit.unwrap_or(0) as i64;
    if limit < 1 {
        return unsupported(format!("The throttle limit must be greater then 0, got {limit}"));
    }
    if pb::TimeUnit::try_from(timed.time_unit).is_err() {
        return illegal(format!("Invalid TimeUnit {}", timed.time_unit));
    }
    match timed.scope.map(pb::QuotaScope::try_from) {
        Some(Err(unknown)) => illegal(format!("Invalid QuotaScope: {unknown}")),
        Some(Ok(pb::QuotaScope::Cluster)) if matches!(owner, Owner::RegionServer(_)) => {
            unsupported("the quotas of a region server have scope MACHINE")
        }
        _ => Ok(()),
    }
}

fn merged_space(
    owner: &Owner,
    current: Option<pb::SpaceQuota>,
    request: &pb::SpaceLimitRequest,
) -> Result<Option<pb::SpaceQuota>, Refused> {
    let Some(wanted) = &request.quota else {
        return illegal("SpaceLimitRequest is missing the expected SpaceQuota.");
    };
    if !matches!(owner, Owner::Table(_) | Owner::Namespace(_)) {
        return illegal("Can only construct SpaceLimitSettings for a table or namespace.");
    }
    if wanted.remove == Some(true) {
        return Ok(None);
    }
    match (wanted.soft_limit, wanted.violation_policy) {
        (None, _) => illegal("Cannot handle SpaceQuota without a soft limit"),
        (_, None) => illegal("Cannot handle SpaceQuota without a violation policy"),
        (Some(limit), _) if i64::try_from(limit).is_err() => illegal("Size limit must be a non-negative value."),
        (_, Some(code)) if pb::SpaceViolationPolicy::try_from(code).is_err() => {
            illegal(format!("no violation policy has the number {code}"))
        }
        (limit, policy) => {
            let remove = wanted.remove.or(current.and_then(|c| c.remove));
            Ok(Some(pb::SpaceQuota { soft_limit: limit, violation_policy: policy, remove }))
        }
    }
}

/// Whether users may exceed their quotas while the region server's is not reached: only if that one limits reads and
/// writes, per second.
pub fn check_exceed(region_server: Option<&pb::Quotas>) -> Result<(), Refused> {
    use pb::ThrottleType as T;
    let Some(quotas) = region_server.filter(|q| q.throttle.is_some()) else {
        return plain("Please set region server quota before enable exceed throttle quota");
    };
    let has = |kinds: &[T]| table::throttles(quotas).any(|(kind, _)| kinds.contains(&kind));
    let both = has(&[T::RequestNumber, T::RequestSize, T::RequestCapacityUnit]);
    if !both && !has(&[T::ReadNumber, T::ReadSize, T::ReadCapacityUnit]) {
        return plain("Please set at least one read region server quota before enable exceed throttle quota");
    }
    if !both && !has(&[T::WriteNumber, T::WriteSize, T::WriteCapacityUnit]) {
        return plain("Please set at least one write region server quota before enable exceed throttle quota");
    }
    if table::throttles(quotas).any(|(_, timed)| timed.time_unit != pb::TimeUnit::Seconds as i32) {
        return plain("All region server quota must be in seconds time unit if enable exceed throttle quota");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user() -> Owner {
        Owner::User("u".into())
    }

    fn timed(limit: u64, unit: pb::TimeUnit) -> pb::TimedQuota {
        pb::TimedQuota { time_unit: unit as i32, soft_limit: Some(limit), share: None, scope: None }
    }

    fn throttle(kind: Option<pb::ThrottleType>, limit: Option<u64>) -> pb::SetQuotaRequest {
        let timed_quota = limit.map(|limit| timed(limit, pb::TimeUnit::Seconds));
        let throttle = pb::ThrottleRequest { r#type: kind.map(|k| k as i32), timed_quota };
        pb::SetQuotaRequest { throttle: Some(throttle), ..Default::default() }
    }

    fn space(quota: pb::SpaceQuota) -> pb::SetQuotaRequest {
        let limit = pb::SpaceLimitRequest { quota: Some(quota) };
        pb::SetQuotaRequest { space_limit: Some(limit), ..Default::default() }
    }

    fn limits(quotas: &Option<pb::Quotas>) -> Vec<(&'static str, u64)> {
        quotas.iter().flat_map(table::throttles).map(|(k, t)| (k.as_str_name(), t.soft_limit.unwrap())).collect()
    }

    #[test]
    fn owners_have_an_order() {
        let request = |user: &str, namespace: &str, server: &str| {
            let text = |t: &str| (!t.is_empty()).then(|| t.to_string());
            let (user_name, namespace, region_server) = (text(user), text(namespace), text(server));
            pb::SetQuotaRequest { user_name, namespace, region_server, ..Default::default() }
        };
        let of = |user, table: &str, namespace, server| {
            let table = (!table.is_empty()).then(|| table.to_string());
            owner(&request(user, namespace, server), table).map_err(|e| e.to_string()).map(|o| o.to_string())
        };
        assert_eq!(of("u", "t", "n", "all").unwrap(), "USER => u, TABLE => t");
        assert_eq!(of("u", "", "n", "all").unwrap(), "USER => u, NAMESPACE => n");
        assert_eq!(of("u", "", "", "all").unwrap(), "USER => u");
        assert_eq!(of("", "t", "n", "all").unwrap(), "TABLE => t");
        assert_eq!(of("", "", "n", "all").unwrap(), "NAMESPACE => n");
        assert_eq!(of("", "", "", "all").unwrap(), "REGIONSERVER => all");
        assert_eq!(
            of("", "", "", "").unwrap_err(),
            "java.lang.UnsupportedOperationException: a user, a table, a namespace or region server must be specified"
        );
        let empty = pb::SetQuotaRequest { user_name: Some(String::new()), ..Default::default() };
        assert!(owner(&empty, None).unwrap_err().to_string().ends_with("the owner USER =>  has no user"));
    }

    #[test]
    fn throttles_come_and_go_one_by_one_or_together() {
        use pb::ThrottleType::{ReadNumber, RequestNumber};
        let next = |quotas, request: &pb::SetQuotaRequest| merge(&user(), quotas, request).unwrap();
        let both = next(next(None, &throttle(Some(RequestNumber), Some(5))), &throttle(Some(ReadNumber), Some(3)));
        assert_eq!(limits(&both), [("REQUEST_NUMBER", 5), ("READ_NUMBER", 3)]);
        let changed = next(both, &throttle(Some(ReadNumber), Some(4)));
        assert_eq!(limits(&changed), [("REQUEST_NUMBER", 5), ("READ_NUMBER", 4)]);
        let one = next(both, &throttle(Some(RequestNumber), None));
        assert_eq!(limits(&one), [("READ_NUMBER", 3)]);
        assert_eq!(next(one, &throttle(Some(ReadNumber), None)), None);
        assert_eq!(next(both, &throttle(None, None)), None);
        let bypass = pb::SetQuotaRequest { bypass_globals: Some(true), ..Default::default() };
        let with_bypass = next(both, &bypass);
        assert_eq!(with_bypass.as_ref().unwrap().bypass_globals, Some(true));
        let only_bypass = next(with_bypass, &throttle(None, None));
        assert_eq!((limits(&only_bypass), only_bypass.unwrap().bypass_globals), (vec![], Some(true)));
        // As in HBase, a bypass that is turned off leaves a row.
        let off = pb::SetQuotaRequest { bypass_globals: Some(false), ..Default::default() };
        assert_eq!(next(None, &off).unwrap().bypass_globals, Some(false));
    }

    #[test]
    fn space_limits_are_of_tables_and_namespaces() {
        let table = Owner::Table("t".into());
        let policy = Some(pb::SpaceViolationPolicy::NoWrites as i32);
        let quota = pb::SpaceQuota { soft_limit: Some(9), violation_policy: policy, remove: None };
        let set = merge(&table, None, &space(quota)).unwrap();
        assert_eq!(set.as_ref().unwrap().space, Some(quota));
        let remove = space(pb::SpaceQuota { remove: Some(true), ..Default::default() });
        assert_eq!(merge(&table, set, &remove), Ok(None));
        let refused = |owner: &Owner, quota| merge(owner, None, &space(quota)).unwrap_err().to_string();
        assert!(refused(&user(), quota).ends_with("Can only construct SpaceLimitSettings for a table or namespace."));
        let without = |change: fn(&mut pb::SpaceQuota)| {
            let mut quota = quota;
            change(&mut quota);
            refused(&table, quota)
        };
        assert!(without(|q| q.soft_limit = None).ends_with("Cannot handle SpaceQuota without a soft limit"));
        assert!(
            without(|q| q.violation_policy = None).ends_with("Cannot handle SpaceQuota without a violation policy")
        );
        assert!(without(|q| q.violation_policy = Some(9)).ends_with("no violation policy has the number 9"));
        assert!(without(|q| q.soft_limit = Some(u64::MAX)).ends_with("Size limit must be a non-negative value."));
    }

    #[test]
    fn senseless_requests_are_refused_in_hbases_words() {
        use pb::ThrottleType::ReadSize;
        let refused =
            |owner: &Owner, request: &pb::SetQuotaRequest| merge(owner, None, request).unwrap_err().to_string();
        assert_eq!(
            refused(&user(), &throttle(Some(ReadSize), Some(0))),
            "java.lang.UnsupportedOperationException: The throttle limit must be greater then 0, got 0"
        );
        assert!(refused(&user(), &throttle(Some(ReadSize), Some(u64::MAX))).ends_with("greater then 0, got -1"));
        assert_eq!(
            refused(&user(), &pb::SetQuotaRequest::default()),
            "java.lang.IllegalStateException: Unhandled SetRequestRequest state"
        );
        let two = pb::SetQuotaRequest { bypass_globals: Some(true), ..throttle(Some(ReadSize), Some(1)) };
        assert!(refused(&user(), &two).ends_with("SetQuotaRequest has multiple limits"));
        let with = |change: fn(&mut pb::ThrottleRequest)| {
            let mut request = throttle(Some(ReadSize), Some(1));
            change(request.throttle.as_mut().unwrap());
            request
        };
        assert!(refused(&user(), &with(|t| t.r#type = Some(14))).ends_with("no throttle has the type 14"));
        let unit = with(|t| t.timed_quota.as_mut().unwrap().time_unit = 8);
        assert!(refused(&user(), &unit).ends_with("Invalid TimeUnit 8"));
        let cluster = with(|t| t.timed_quota.as_mut().unwrap().scope = Some(pb::QuotaScope::Cluster as i32));
        assert!(merge(&user(), None, &cluster).is_ok());
        let server = Owner::RegionServer("all".into());
        assert!(refused(&server, &cluster).ends_with("the quotas of a region server have scope MACHINE"));
    }

    #[test]
    fn exceeding_needs_limits_of_reads_and_writes_per_second() {
        use pb::ThrottleType as T;
        use pb::TimeUnit::{Minutes, Seconds};
        let check = |types: &[(T, pb::TimeUnit)]| {
            let mut throttle = pb::Throttle::default();
            for (kind, unit) in types {
                *slot(&mut throttle, *kind) = Some(timed(1, *unit));
            }
            let quotas = pb::Quotas { throttle: Some(throttle), ..Default::default() };
            check_exceed(Some(&quotas)).map_err(|e| e.to_string())
        };
        assert_eq!(
            check_exceed(None).unwrap_err().to_string(),
            "Please set region server quota before enable exceed throttle quota"
        );
        assert_eq!(
            check(&[(T::WriteSize, Seconds)]).unwrap_err(),
            "Please set at least one read region server quota before enable exceed throttle quota"
        );
        assert_eq!(
            check(&[(T::ReadNumber, Seconds)]).unwrap_err(),
            "Please set at least one write region server quota before enable exceed throttle quota"
        );
        assert_eq!(
            check(&[(T::ReadNumber, Seconds), (T::WriteNumber, Minutes)]).unwrap_err(),
            "All region server quota must be in seconds time unit if enable exceed throttle quota"
        );
        assert_eq!(check(&[(T::ReadNumber, Seconds), (T::WriteCapacityUnit, Seconds)]), Ok(()));
        assert_eq!(check(&[(T::RequestCapacityUnit, Seconds)]), Ok(()));
    }
}
