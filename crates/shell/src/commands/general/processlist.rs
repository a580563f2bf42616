//! `processlist`: what region servers are doing, from their HTTP ports.
//!
//! ```text
//! 1 tasks as of: 2026-11-22 12:40:00
//! +-----------------+---------------------+----------+------------------+--------------------------------------+
//! | Host            | Start Time          | State    | Description      | Status                               |
//! +-----------------+---------------------+----------+------------------+--------------------------------------+
//! | host187.exam... | 2026-11-22 12:39:00 | RUNNING  | Compacting f i...| Compacting store f (since 60 seco... |
//! +-----------------+---------------------+----------+------------------+--------------------------------------+
//! ```

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use martite_catalog::ServerName;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server that does not answer is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// An answer is not read further.
const MOST_BYTES: u64 = 16 << 20;
/// Where servers may list their tasks: versions differ.
const PAGES: [&str; 2] = ["/regionserver.jsp", "/rs-status"];

pub const COMMAND: Command = Command {
    name: "processlist",
    aliases: &[],
    summary: "what region servers are doing",
    help: "\
Prints the tasks of region servers, from their HTTP ports: all, general (the default: what is no call, such as flushes and
compactions), handler (threads for calls), rpc (those that have one) or operation (that have one of a client); of all
servers, or of those named.

  hbase> processlist
  hbase> processlist 'all'
  hbase> processlist 'handler', 'host187.example.com'
  hbase> processlist 'rpc', 'host187.example.com,16020'
  hbase> processlist 'all', 'host187.example.com,16020,1289493121758'
",
    arity: Arity::at_least(0),
    run,
};

/// What a server says of one of its tasks.
#[derive(Debug, PartialEq, Eq)]
struct Task {
    host: String,
    description: String,
    status: String,
    state: String,
    started_ms: i64,
    /// Since when it has its status.
    status_ms: i64,
}

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut wanted: Vec<String> = arguments.values().iter().map(Value::to_text).collect();
    let kinds = ["all", "general", "handler", "rpc", "operation"];
    let kind = match wanted.first() {
        Some(first) if kinds.contains(&first.as_str()) => wanted.remove(0),
        _ => "general".to_owned(),
    };
    let admin = session.admin()?;
    let status = session.wait(async { admin.cluster_status(&[]).await })?;
    let mut tasks = Vec::new();
    for server in &status.live_servers {
        let name = ServerName::from_proto(&server.server)?;
        if !wanted.is_empty() && !wanted.iter().any(|wanted| is_named(&name, wanted)) {
            continue;
        }
        let port = u16::try_from(server.server_load.info_server_port()).ok().filter(|port| *port != 0);
        let Some(port) = port else {
            return Err(Failure::runtime(format!("{name} has no HTTP port: its tasks cannot be listed")));
        };
        let asked = session.wait(async { Ok(tasks_of(&name.host, port, &kind).await) })?;
        tasks.extend(asked.map_err(|why| Failure::runtime(format!("{name}, port {port}: {why}")))?);
    }
    let now = Timestamp::now();
    session.print.puts(format!("{} tasks as of: {}", tasks.len(), time(now.as_millisecond(), &TimeZone::system())));
    if tasks.is_empty() {
        session.print.puts(format!("No {kind} tasks currently running."));
    } else {
        session.print.print(table(&tasks, now.as_millisecond(), &TimeZone::system()));
    }
    Ok(Value::Nil)
}

/// By its host, `host,port` or `host,port,startcode`.
fn is_named(name: &ServerName, wanted: &str) -> bool {
    let text = name.to_string();
    text == wanted || text.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(','))
}

/// The last one that the server names comes first.
async fn tasks_of(host: &str, port: u16, kind: &str) -> Result<Vec<Task>, String> {
    let mut why = String::new();
    for page in PAGES {
        let answer = fetch(host, port, &format!("{page}?format=json&filter={kind}")).await?;
        match answer.and_then(|body| parsed(host, &body)) {
            Ok(tasks) => return Ok(tasks),
            Err(error) => why = error,
        }
    }
    Err(format!("it does not list tasks ({why})"))
}

fn parsed(host: &str, body: &str) -> Result<Vec<Task>, String> {
    let all: Vec<serde_json::Value> = serde_json::from_str(body).map_err(|e| format!("no JSON: {e}"))?;
    let task = |task: &serde_json::Value| {
        let text = |key| task[key].as_str().unwrap_or_default().to_owned();
        let number = |key| task[key].as_i64().unwrap_or(-1);
        Task {
            host: host.to_owned(),
            description: text("description"),
            status: text("status"),
            state: text("state"),
            started_ms: number("starttimems"),
            status_ms: number("statustimems"),
        }
    };
    Ok(all.iter().rev().map(task).collect())
}

/// The body of what HTTP GET answers, or why there is none; outside: why there is no answer.
async fn fetch(host: &str, port: u16, path: &str) -> Result<Result<String, String>, String> {
    let asked = async {
        let mut stream = tokio::net::TcpStream::connect((host, port)).await?;
        let request = format!("GET {path} HTTP/1.0\r\nHost: {host}:{port}\r\nAccept: application/json\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.take(MOST_BYTES).read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(answer)) => String::from_utf8_lossy(&answer).into_owned(),
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err(format!("no answer within {} s", PATIENCE.as_secs())),
    };
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let first = head.lines().next().unwrap_or_default();
    Ok(if first.contains(" 200 ") { Ok(body.to_owned()) } else { Err(first.to_owned()) })
}

fn time(ms: i64, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn table(tasks: &[Task], now_ms: i64, zone: &TimeZone) -> String {
    let longest = |text: fn(&Task) -> &str| tasks.iter().map(|task| text(task).chars().count()).max().unwrap_or(0);
    // A status is followed by its age.
    let widths = [15, 19, 8, longest(|task| &task.description).min(32), (longest(|task| &task.status) + 27).min(36)];
    let rule: String = widths.iter().map(|width| format!("+{}", "-".repeat(width + 2))).collect::<String>() + "+\n";
    let line = |cells: [&str; 5]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("| {} ", fitted(cell, width)));
        cells.collect::<String>() + "|\n"
    };
    let mut out = rule.clone() + &line(["Host", "Start Time", "State", "Description", "Status"]) + &rule;
    for task in tasks {
        let since_ms = if task.status_ms < 0 { task.started_ms } else { task.status_ms };
        let status = format!("{} (since {} seconds ago)", task.status, (now_ms - since_ms).max(0) / 1000);
        out += &line([&task.host, &time(task.started_ms, zone), &task.state, &task.description, &status]);
        out += &rule;
    }
    out
}

/// Filled up with spaces, or cut with dots at the end.
fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:width$}");
    }
    text.chars().take(width.saturating_sub(3)).chain("...".chars().take(width)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_a_table_with_the_newest_first() {
        let body = r#"[{"description":"Compacting f in t","status":"Compacting store f","state":"RUNNING",
             "starttimems":1000,"statustimems":61000,"statetimems":1000},
            {"description":"RpcServer.default.FPBQ.Fifo.handler=29,queue=2,port=16020","status":"Waiting for a call",
             "state":"WAITING","starttimems":2000,"statustimems":-1}]"#;
        let tasks = parsed("host187.example.com", body).unwrap();
        let want = "\
+-----------------+---------------------+----------+----------------------------------+--------------------------------------+
| Host            | Start Time          | State    | Description                      | Status                               |
+-----------------+---------------------+----------+----------------------------------+--------------------------------------+
| host187.exam... | 1970-01-01 00:00:02 | WAITING  | RpcServer.default.FPBQ.Fifo.h... | Waiting for a call (since 119 sec... |
+-----------------+---------------------+----------+----------------------------------+--------------------------------------+
| host187.exam... | 1970-01-01 00:00:01 | RUNNING  | Compacting f in t                | Compacting store f (since 60 seco... |
+-----------------+---------------------+----------+----------------------------------+--------------------------------------+
";
        assert_eq!(table(&tasks, 121_000, &TimeZone::UTC), want);
        assert!(parsed("h", "<html>").unwrap_err().starts_with("no JSON: "));
        assert_eq!(parsed("h", "[]").unwrap(), []);
    }

    #[test]
    fn servers_are_named_in_three_ways() {
        let name = ServerName::parse("a.example.com,16020,1795350670885").unwrap();
        for wanted in ["a.example.com", "a.example.com,16020", "a.example.com,16020,1795350670885"] {
            assert!(is_named(&name, wanted), "{wanted}");
        }
        for wanted in ["a.example", "a.example.com,1602", ""] {
            assert!(!is_named(&name, wanted), "{wanted}");
        }
    }
}
