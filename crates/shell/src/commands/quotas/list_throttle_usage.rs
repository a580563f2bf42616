//! `list_throttle_usage`: what calls of users under limits did; of Martite only.
//!
//! ```text
//!  USER | TABLE | OPERATION | CALLS | WAITED | WAIT p50 | WAIT p99 | …
//! ----- | ----- | --------- | ----- | ------ | -------- | -------- | …
//!   bob |    t1 |       GET |    12 |      2 |  10.2 ms |  15.1 ms | …
//!  USER | TABLE |        REFUSED BY | CALLS |
//! ----- | ----- | ----------------- | ----- |
//!   bob |    t1 |    REQUEST_NUMBER |     1 |
//! 0 calls wait now
//! ```

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::TableName;
use martite_proto as pb;

pub const COMMAND: Command = Command {
    name: "list_throttle_usage",
    aliases: &[],
    summary: "what users under limits do (Martite only)",
    help: "\
Lists the calls of users under limits since the server started: how many there were, how many of them waited for a limit, how
long they waited (WAIT), how long before that until they were looked at (QUEUE), how long they took then (SERVICE); below,
how many were refused and by which kind of limit; and how many calls wait now. Of all, of one user, or of one table.
Only Martite's servers know this.

  hbase> list_throttle_usage
  hbase> list_throttle_usage USER => 'bob'
  hbase> list_throttle_usage TABLE => 'ns1:t1'
  hbase> list_throttle_usage USER => 'bob', TABLE => 't1'
",
    arity: Arity::between(0, 1),
    run,
};

const CALLS: [&str; 11] = [
    "USER",
    "TABLE",
    "OPERATION",
    "CALLS",
    "WAITED",
    "WAIT p50",
    "WAIT p99",
    "WAIT max",
    "QUEUE p99",
    "SERVICE p50",
    "SERVICE p99",
];
const REFUSALS: [&str; 4] = ["USER", "TABLE", "REFUSED BY", "CALLS"];

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut options = arguments.options(0)?;
    let user = options.take_text("USER").filter(|text| !text.is_empty());
    let table = options.take_text("TABLE").filter(|text| !text.is_empty());
    let table = table.map(|table| TableName::parse(&table)).transpose()?;
    if !options.is_empty() {
        let left = Value::hash(options.pairs().to_vec()).inspect();
        return Err(Failure::argument(format!("Unexpected arguments: {left}")));
    }
    let admin = session.admin()?;
    let servers = session.wait(async { admin.region_servers().await })?;
    for server in &servers {
        let asked = session.wait(async { admin.throttle_usage(server, user.as_deref(), table.as_ref()).await });
        let usage = match asked {
            Err(failure) if failure.is("UnknownProtocolException") => {
                return Err(Failure::runtime(format!(
                    "{server} has no ThrottleUsageService: only Martite's servers tell what limited users do"
                )));
            }
            other => other?,
        };
        if servers.len() > 1 {
            session.print.puts(format!("{server}:"));
        }
        session.print.print(text(&usage));
    }
    Ok(Value::Nil)
}

fn text(usage: &pb::GetThrottleUsageResponse) -> String {
    let calls: Vec<[String; 11]> = usage.usage.iter().map(of_operation).collect();
    let refusal = |refused: &pb::ThrottleRefusals| {
        let kind = refused.r#type().as_str_name().to_owned();
        [refused.user.clone(), refused.table.clone(), kind, refused.count.to_string()]
    };
    let refusals: Vec<[String; 4]> = usage.refused.iter().map(refusal).collect();
    let mut out = grid(&CALLS, &calls);
    if !refusals.is_empty() {
        out += &grid(&REFUSALS, &refusals);
    }
    out + &format!("{} calls wait now\n", usage.parked_calls)
}

fn of_operation(usage: &pb::ThrottleUsage) -> [String; 11] {
    // Of nothing there are no times.
    let time = |times: &pb::ThrottleUsageTimes, us: u64| if times.count == 0 { "-".to_owned() } else { time(us) };
    let (queue, parked, service) = (&usage.queue, &usage.parked, &usage.service);
    [
        usage.user.clone(),
        usage.table.clone(),
        usage.operation().as_str_name().to_owned(),
        service.count.to_string(),
        parked.count.to_string(),
        time(parked, parked.p50_us),
        time(parked, parked.p99_us),
        time(parked, parked.max_us),
        time(queue, queue.p99_us),
        time(service, service.p50_us),
        time(service, service.p99_us),
    ]
}

/// `890 µs`, `12.3 ms`, `4.56 s`.
fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{:.1} ms", us as f64 / 1e3),
        _ => format!("{:.2} s", us as f64 / 1e6),
    }
}

/// Cells to the right of their columns, as in `list_regions`.
fn grid<const N: usize>(heads: &[&str; N], rows: &[[String; N]]) -> String {
    let heads = heads.map(str::to_owned);
    let width = |i: usize| rows.iter().chain([&heads]).map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let rule = widths.map(|width| "-".repeat(width));
    let line = |cells: &[String; N]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!(" {cell:>width$} |"));
        cells.collect::<String>() + "\n"
    };
    [&heads, &rule].into_iter().chain(rows).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_refusals_are_tables() {
        let times = |count, us| pb::ThrottleUsageTimes {
            count,
            total_us: us,
            p50_us: us,
            p95_us: us,
            p99_us: us,
            p999_us: us,
            max_us: us,
        };
        let (user, table) = ("bob".to_owned(), "t1".to_owned());
        let calls = pb::ThrottleUsage {
            user: user.clone(),
            table: table.clone(),
            operation: pb::throttle_usage::Operation::Scan as i32,
            queue: times(3, 7),
            parked: times(0, 0),
            service: times(3, 1_234_567),
        };
        let waited = pb::ThrottleUsage { parked: times(2, 10_230), ..calls.clone() };
        let refused = pb::ThrottleRefusals { user, table, r#type: pb::ThrottleType::ReadNumber as i32, count: 4 };
        let usage =
            pb::GetThrottleUsageResponse { usage: vec![calls, waited], refused: vec![refused], parked_calls: 5 };
        let want = " \
 USER | TABLE | OPERATION | CALLS | WAITED | WAIT p50 | WAIT p99 | WAIT max | QUEUE p99 | SERVICE p50 | SERVICE p99 |
 ---- | ----- | --------- | ----- | ------ | -------- | -------- | -------- | --------- | ----------- | ----------- |
  bob |    t1 |      SCAN |     3 |      0 |        - |        - |        - |      7 µs |      1.23 s |      1.23 s |
  bob |    t1 |      SCAN |     3 |      2 |  10.2 ms |  10.2 ms |  10.2 ms |      7 µs |      1.23 s |      1.23 s |
 USER | TABLE |  REFUSED BY | CALLS |
 ---- | ----- | ----------- | ----- |
  bob |    t1 | READ_NUMBER |     4 |
5 calls wait now
";
        assert_eq!(text(&usage), want);
    }
}
