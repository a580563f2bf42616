//! `set_quota`: limits what a user, a table, a namespace or the region servers may use.

use crate::commands::Options;
use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;
use martite_client::admin::{QuotaKind, QuotaOwner, QuotaSetting};
use martite_client::pb;

pub const COMMAND: Command = Command {
    name: "set_quota",
    aliases: &[],
    summary: "limits what a user, a table, a namespace or the region servers may use",
    help: "\
Limits the rate of requests, or the space of tables. A limit is a number with its unit: req, cu (capacity units) or
B K M G T P (bytes), behind it a slash and sec, min, hour or day.

  hbase> set_quota TYPE => THROTTLE, USER => 'u1', LIMIT => '10req/sec'
  hbase> set_quota TYPE => THROTTLE, THROTTLE_TYPE => READ, USER => 'u1', LIMIT => '10req/sec'
  hbase> set_quota TYPE => THROTTLE, THROTTLE_TYPE => WRITE, USER => 'u1', LIMIT => '10M/sec'
  hbase> set_quota TYPE => THROTTLE, USER => 'u1', LIMIT => '10cu/sec'
  hbase> set_quota TYPE => THROTTLE, USER => 'u1', TABLE => 't2', LIMIT => '5K/min'
  hbase> set_quota TYPE => THROTTLE, USER => 'u1', NAMESPACE => 'ns2', LIMIT => NONE
  hbase> set_quota TYPE => THROTTLE, TABLE => 't1', LIMIT => '10M/sec', SCOPE => CLUSTER
  hbase> set_quota TYPE => THROTTLE, NAMESPACE => 'ns1', LIMIT => '10req/sec'
  hbase> set_quota TYPE => THROTTLE, REGIONSERVER => 'all', LIMIT => '30000req/sec'
  hbase> set_quota TYPE => THROTTLE, USER => 'u1', LIMIT => NONE
  hbase> set_quota TYPE => THROTTLE, USER => 'u1', THROTTLE_TYPE => WRITE_NUMBER, LIMIT => NONE

What a user may do whatever the limits of tables and namespaces:

  hbase> set_quota USER => 'u1', GLOBAL_BYPASS => true

Space; the policy says what is refused above the limit: NO_INSERTS, NO_WRITES, NO_WRITES_COMPACTIONS or DISABLE.

  hbase> set_quota TYPE => SPACE, TABLE => 't1', LIMIT => '1G', POLICY => NO_INSERTS
  hbase> set_quota TYPE => SPACE, NAMESPACE => 'ns1', LIMIT => '50T', POLICY => NO_WRITES
  hbase> set_quota TYPE => SPACE, TABLE => 't1', LIMIT => NONE
",
    arity: Arity::between(0, 1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut options = arguments.options(0)?;
    let setting = if let Some(kind) = options.take_any("TYPE") {
        match kind.to_text().as_str() {
            "THROTTLE" => throttle(&mut options)?,
            "SPACE" => space(&mut options)?,
            other => return Err(Failure::runtime(format!("Invalid TYPE argument. got {other}"))),
        }
    } else if let Some(bypass) = options.take_bool("GLOBAL_BYPASS") {
        let user = options.take_text("USER").ok_or_else(|| Failure::runtime("Expected USER"))?;
        nothing_left(&options)?;
        QuotaSetting { owner: QuotaOwner::User(user), kind: QuotaKind::GlobalBypass(bypass) }
    } else {
        return Err(Failure::runtime("Expected TYPE argument"));
    };
    let admin = session.admin()?;
    session.wait(admin.set_quota(&setting))?;
    Ok(Value::Nil)
}

/// HBase knows no other servers than all of them.
const ALL_SERVERS: &str = "all";

fn nothing_left(options: &Options) -> Run<()> {
    if options.is_empty() {
        return Ok(());
    }
    Err(Failure::argument(format!("Unexpected arguments: {}", Value::hash(options.pairs().to_vec()).inspect())))
}

fn table_name(text: &str) -> Run<String> {
    Ok(TableName::parse(text)?.to_string())
}

/// Whose limit it is: a user's, also in a table or a namespace, a table's, a namespace's, the region servers'.
fn owner(options: &mut Options) -> Run<QuotaOwner> {
    if let Some(user) = options.take_text("USER") {
        return Ok(match (options.take_text("TABLE"), options.has("NAMESPACE")) {
            (Some(table), _) => QuotaOwner::UserTable(user, table_name(&table)?),
            (None, true) => QuotaOwner::UserNamespace(user, options.take_text("NAMESPACE").unwrap_or_default()),
            (None, false) => QuotaOwner::User(user),
        });
    }
    if let Some(table) = options.take_text("TABLE") {
        return Ok(QuotaOwner::Table(table_name(&table)?));
    }
    if let Some(namespace) = options.take_text("NAMESPACE") {
        return Ok(QuotaOwner::Namespace(namespace));
    }
    match options.take_any("REGIONSERVER") {
        Some(_) => Ok(QuotaOwner::RegionServer(ALL_SERVERS.to_owned())),
        None => Err(Failure::runtime("One of USER, TABLE, NAMESPACE or REGIONSERVER must be specified")),
    }
}

fn is_none(value: &Value) -> bool {
    value.as_text().is_some_and(|text| text == "NONE")
}

fn throttle_type(name: &str) -> Run<pb::ThrottleType> {
    let unknown = || {
        let class = "org.apache.hadoop.hbase.quotas.ThrottleType";
        Failure::argument(format!("No enum constant {class}.{name}"))
    };
    pb::ThrottleType::from_str_name(name).ok_or_else(unknown)
}

fn throttle(options: &mut Options) -> Run<QuotaSetting> {
    let limit = options.take_any("LIMIT").unwrap_or(Value::Nil);
    let kind = options.take_text("THROTTLE_TYPE");
    if is_none(&limit) {
        let owner = owner(options)?;
        if kind.is_none() {
            nothing_left(options)?;
        }
        let kind = kind.map(|kind| throttle_type(&kind)).transpose()?;
        return Ok(QuotaSetting { owner, kind: QuotaKind::Unthrottle(kind) });
    }
    let (kind, soft_limit, unit) = rate(&limit.to_text(), kind.as_deref().unwrap_or("REQUEST"))?;
    let scope = match options.take_text("SCOPE").map(|scope| scope.to_uppercase()).as_deref() {
        None | Some("MACHINE") => pb::QuotaScope::Machine,
        Some("CLUSTER") => pb::QuotaScope::Cluster,
        Some(_) => {
            return Err(Failure::argument("Invalid throttle scope, must be either CLUSTER or MACHINE"));
        }
    };
    let owner = owner(options)?;
    if matches!(owner, QuotaOwner::RegionServer(_)) && scope == pb::QuotaScope::Cluster {
        return Err(Failure::argument("Invalid region server throttle scope, must be MACHINE"));
    }
    if !matches!(owner, QuotaOwner::RegionServer(_)) {
        nothing_left(options)?;
    }
    let quota =
        pb::TimedQuota { time_unit: unit as i32, soft_limit: Some(soft_limit), share: None, scope: Some(scope as i32) };
    Ok(QuotaSetting { owner, kind: QuotaKind::Throttle(kind, quota) })
}

/// `10req/sec` of the type READ is READ_NUMBER, 10, SECONDS.
fn rate(text: &str, prefix: &str) -> Run<(pb::ThrottleType, u64, pb::TimeUnit)> {
    let syntax = || Failure::argument("Invalid throttle limit syntax");
    let text = text.to_lowercase();
    let (amount, unit) = text.split_once('/').ok_or_else(syntax)?;
    let digits = amount.find(|c: char| !c.is_ascii_digit()).ok_or_else(syntax)?;
    let (number, letters) = amount.split_at(digits);
    let (suffix, shift) = match letters {
        "req" => ("NUMBER", 0),
        "cu" => ("CAPACITY_UNIT", 0),
        letters => ("SIZE", shift(letters).ok_or_else(syntax)?),
    };
    let unit = match unit {
        "sec" => pb::TimeUnit::Seconds,
        "min" => pb::TimeUnit::Minutes,
        "hour" => pb::TimeUnit::Hours,
        "day" => pb::TimeUnit::Days,
        _ => return Err(syntax()),
    };
    let limit = shifted(number, shift).ok_or_else(syntax)?;
    let kind = throttle_type(&format!("{prefix}_{suffix}"))?;
    if limit == 0 {
        return Err(Failure::argument("Invalid throttle limit, must be greater than 0"));
    }
    Ok((kind, limit, unit))
}

/// What a letter of a size multiplies by, as a power of two.
fn shift(letter: &str) -> Option<u32> {
    ["b", "k", "m", "g", "t", "p"].iter().position(|known| *known == letter).map(|at| 10 * at as u32)
}

fn shifted(number: &str, shift: u32) -> Option<u64> {
    let number: i64 = number.parse().ok()?;
    u64::try_from(number.checked_mul(1 << shift)?).ok()
}

fn space(options: &mut Options) -> Run<QuotaSetting> {
    let limit = options.take_any("LIMIT");
    if limit.as_ref().is_some_and(is_none) {
        return Ok(QuotaSetting { owner: space_owner(options)?, kind: QuotaKind::UnlimitSpace });
    }
    let limit = limit.ok_or_else(|| Failure::argument("Expected a LIMIT to be provided"))?;
    let policy = options.take_any("POLICY").ok_or_else(|| Failure::argument("Expected a POLICY to be provided"))?;
    let bytes = match limit {
        Value::Integer(bytes) => u64::try_from(bytes).unwrap_or(0),
        text => {
            let text = text.to_text().to_lowercase();
            let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let (number, letter) = text.split_at(digits);
            let shift = if letter.is_empty() { Some(0) } else { shift(letter) };
            let bytes = shift.and_then(|shift| shifted(number, shift));
            bytes.ok_or_else(|| Failure::argument("Invalid size limit syntax"))?
        }
    };
    if bytes == 0 {
        return Err(Failure::argument("Invalid space limit, must be greater than 0"));
    }
    let policy = policy.to_text();
    let violation_policy = pb::SpaceViolationPolicy::from_str_name(&policy).ok_or_else(|| {
        let class = "org.apache.hadoop.hbase.quotas.SpaceViolationPolicy";
        Failure::argument(format!("No enum constant {class}.{policy}"))
    })?;
    let quota =
        pb::SpaceQuota { soft_limit: Some(bytes), violation_policy: Some(violation_policy as i32), remove: None };
    Ok(QuotaSetting { owner: space_owner(options)?, kind: QuotaKind::Space(quota) })
}

fn space_owner(options: &mut Options) -> Run<QuotaOwner> {
    match (options.take_text("TABLE"), options.take_text("NAMESPACE")) {
        (Some(_), Some(_)) => Err(Failure::argument("Only one of TABLE or NAMESPACE can be specified.")),
        (Some(table), None) => Ok(QuotaOwner::Table(table_name(&table)?)),
        (None, Some(namespace)) => Ok(QuotaOwner::Namespace(namespace)),
        (None, None) => Err(Failure::argument("One of TABLE or NAMESPACE must be specified.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pb::{ThrottleType as T, TimeUnit as U};

    #[test]
    fn rates() {
        assert_eq!(rate("10req/sec", "REQUEST").unwrap(), (T::RequestNumber, 10, U::Seconds));
        assert_eq!(rate("5K/min", "READ").unwrap(), (T::ReadSize, 5 << 10, U::Minutes));
        assert_eq!(rate("7CU/Day", "WRITE").unwrap(), (T::WriteCapacityUnit, 7, U::Days));
        assert_eq!(rate("3b/hour", "ATOMIC_READ").unwrap(), (T::AtomicReadSize, 3, U::Hours));
        let wrong = |text: &str, prefix: &str| rate(text, prefix).unwrap_err().message();
        for text in ["10", "req/sec", "10req/week", "10 req/sec", "10kb/sec", "10/sec", "99999999999999999999req/sec"] {
            assert_eq!(wrong(text, "REQUEST"), "Invalid throttle limit syntax", "{text}");
        }
        assert_eq!(wrong("0req/sec", "READ"), "Invalid throttle limit, must be greater than 0");
        assert!(wrong("1req/sec", "READ_NUMBER").ends_with("ThrottleType.READ_NUMBER_NUMBER"));
    }
}
