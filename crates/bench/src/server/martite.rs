//! This program's own server as a child process.

use super::{Server, Settings};
use crate::Error;
use crate::process::Process;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Ends the server: its data are thrown away, so it need not flush.
struct Kill(Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub async fn start(data: &Path, settings: Settings) -> Result<Server, Error> {
    let Settings { cache_mib, quotas, hsync } = settings;
    let binary = std::env::current_exe()?;
    let log = data.join("server.log");
    let log_file = File::create(&log).map_err(Error::file(&log))?;
    let began = Instant::now();
    let mut child = Command::new(&binary)
        .args(["start", "--hostname", "localhost", "--zookeeper-port", "0", "--master-port", "0"])
        .args(["--regionserver-port", "0", "--data"])
        .arg(data.join("root"))
        // Half as much again for memstores and indexes.
        .arg(format!("--memory={}m", cache_mib + cache_mib / 2))
        .arg("-Dhbase.bucketcache.ioengine=offheap")
        .arg(format!("-Dhbase.bucketcache.size={cache_mib}"))
        .args(quotas.then_some("-Dhbase.quota.enabled=true"))
        .args(hsync.map(|hsync| format!("-Dhbase.wal.hsync={hsync}")))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log_file)
        .spawn()
        .map_err(Error::file(&binary))?;
    let process = Process { pid: child.id() };
    let out = child.stdout.take();
    let end = Kill(child);
    let line = tokio::task::spawn_blocking(move || first_line(out)).await.unwrap_or_default();
    let failed = || Error::Setup(format!("martite start: {}", last_lines(&log)));
    let registry = master_of(&line).ok_or_else(failed)?;
    Ok(Server {
        title: format!("Martite {}", env!("CARGO_PKG_VERSION")),
        registry,
        process: Some(process),
        started_in: Some(began.elapsed()),
        _end: Some(Box::new(end)),
    })
}

/// Empty when there is none: the server has ended.
fn first_line(out: Option<impl std::io::Read>) -> String {
    let mut line = String::new();
    if let Some(out) = out {
        let _ = BufReader::new(out).read_line(&mut line);
    }
    line
}

/// `ready zookeeper=HOST:PORT master=HOST:PORT regionserver=HOST:PORT`
fn master_of(line: &str) -> Option<String> {
    let words = line.trim().strip_prefix("ready ")?;
    words.split(' ').find_map(|word| word.strip_prefix("master=")).map(str::to_owned)
}

/// The end of a log, for a message.
pub fn last_lines(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_master_is_in_the_ready_line() {
        let line = "ready zookeeper=localhost:1 master=localhost:2 regionserver=localhost:3\n";
        assert_eq!(master_of(line).as_deref(), Some("localhost:2"));
        assert_eq!(master_of(""), None);
        assert_eq!(master_of("ready"), None);
    }
}
