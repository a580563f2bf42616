//! `processlist`: what region servers are doing, from their HTTP ports.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::{Failure, Run};
use crate::language::Value;
use crate::session::Session;
use martite_catalog::ServerName;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server that does not answer is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// An answer is not read further.
const MOST_BYTES: u64 = 16 << 20;

pub const COMMAND: Command = Command {
    name: "processlist",
    aliases: &[],
    summary: "what region servers are doing",
    help: "\
Prints the tasks of region servers, from their HTTP ports: all, general (the default), handler, rpc or operation; of all
servers, or of those named.

  hbase> processlist
  hbase> processlist 'all'
  hbase> processlist 'handler', 'host187.example.com,16020'
",
    arity: Arity::at_least(0),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let mut wanted: Vec<String> = arguments.values().iter().map(Value::to_text).collect();
    let kinds = ["all", "general", "handler", "rpc", "operation"];
    let kind = match wanted.first() {
        Some(first) if kinds.contains(&first.as_str()) => wanted.remove(0),
        _ => "general".to_owned(),
    };
    let admin = session.admin()?;
    let status = session.wait(async { admin.cluster_status(&[]).await })?;
    for server in &status.live_servers {
        let name = ServerName::from_proto(&server.server)?;
        let text = name.to_string();
        if !wanted.is_empty() && !wanted.iter().any(|w| text == *w || text.starts_with(&format!("{w},"))) {
            continue;
        }
        let port = server.server_load.info_server_port();
        if port == 0 {
            return Err(Failure::runtime(format!("{text} has no HTTP port: its tasks cannot be listed")));
        }
        let path = format!("/regionserver.jsp?format=json&filter={kind}");
        let answer = session.wait(async { Ok(fetch(&name.host, port, &path).await) })?;
        let answer = answer.map_err(|why| Failure::runtime(format!("{text}: {why}")))?;
        session.print.puts(format!("{text}:"));
        session.print.puts(answer);
    }
    Ok(Value::Nil)
}

/// The body of what HTTP GET answers.
async fn fetch(host: &str, port: u32, path: &str) -> Result<String, String> {
    let port = u16::try_from(port).map_err(|_| format!("{port} is no port"))?;
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
        Ok(Err(error)) => return Err(format!("port {port}: {error}")),
        Err(_) => return Err(format!("port {port}: no answer within {} s", PATIENCE.as_secs())),
    };
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let first = head.lines().next().unwrap_or_default();
    if !first.contains(" 200 ") {
        return Err(format!("port {port} does not list tasks ({first})"));
    }
    Ok(body.trim_end().to_owned())
}
