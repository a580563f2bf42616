//! This program's own server as a child process.

use super::{Server, Settings};
use crate::Error;
use crate::cores::{self, Cores};
use crate::process::Process;
use rustix::process::{Pid, Signal};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Ends the server: its data are thrown away, so it need not flush.
struct Kill(Child);

impl Drop for Kill {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server of this program's own, which ends with it.
pub struct Spawned {
    end: Kill,
    /// `ready zookeeper=HOST:PORT master=HOST:PORT …`
    line: String,
    pub process: Process,
    /// From its start until it served.
    pub started_in: Duration,
}

/// Starts a server on free ports with its data in the folder `data`, which may have been another's before.
pub async fn spawn(data: &Path, arguments: &[String], on: Option<Cores>) -> Result<Spawned, Error> {
    let binary = std::env::current_exe()?;
    let log = data.join("server.log");
    let log_file = File::create(&log).map_err(Error::file(&log))?;
    let began = Instant::now();
    let mut command = Command::new(&binary);
    command
        .args(["start", "--hostname", "localhost", "--zookeeper-port", "0", "--master-port", "0"])
        .args(["--regionserver-port", "0", "--data"])
        .arg(data.join("root"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log_file);
    let mut child = cores::start(on, || command.spawn()).map_err(Error::file(&binary))?;
    let process = Process { pid: child.id() };
    let out = child.stdout.take();
    let end = Kill(child);
    let line = tokio::task::spawn_blocking(move || first_line(out)).await.unwrap_or_default();
    if address(&line, "master").is_none() {
        return Err(Error::Setup(format!("martite start: {}", last_lines(&log))));
    }
    Ok(Spawned { end, line, process, started_in: began.elapsed() })
}

impl Spawned {
    /// Where it listens: `zookeeper`, `master`, `regionserver`, `regionserverinfo`.
    pub fn address(&self, of: &str) -> Result<String, Error> {
        address(&self.line, of).ok_or_else(|| Error::Setup(format!("the server has no {of}: {}", self.line.trim())))
    }

    /// As loads see it. It lives as long as the child.
    pub fn server(&self) -> Result<Server, Error> {
        Ok(Server {
            title: format!("Martite {}", env!("CARGO_PKG_VERSION")),
            registry: self.address("master")?,
            process: Some(self.process),
            started_in: Some(self.started_in),
            _end: None,
        })
    }

    /// Stops it as an operator does, and waits for its end.
    pub async fn stop(mut self) -> Result<(), Error> {
        rustix::process::kill_process(Pid::from_child(&self.end.0), Signal::TERM).map_err(std::io::Error::from)?;
        let ended = tokio::task::spawn_blocking(move || self.end.0.wait()).await;
        let status = ended.map_err(|e| Error::Setup(format!("the server's end: {e}")))??;
        if status.success() { Ok(()) } else { Err(Error::Setup(format!("the server ended with {status}"))) }
    }
}

pub async fn start(data: &Path, settings: Settings) -> Result<Server, Error> {
    let Settings { cache_mib, quotas, hsync, cores: on } = settings;
    let mut arguments = vec![
        // Half as much again for memstores and indexes.
        format!("--memory={}m", cache_mib + cache_mib / 2),
        "-Dhbase.bucketcache.ioengine=offheap".to_owned(),
        format!("-Dhbase.bucketcache.size={cache_mib}"),
    ];
    arguments.extend(quotas.map(|quotas| format!("-Dhbase.quota.enabled={quotas}")));
    arguments.extend(hsync.map(|hsync| format!("-Dhbase.wal.hsync={hsync}")));
    let child = spawn(data, &arguments, on).await?;
    let server = child.server()?;
    Ok(Server { _end: Some(Box::new(child.end)), ..server })
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
fn address(line: &str, of: &str) -> Option<String> {
    let words = line.trim().strip_prefix("ready ")?;
    let mut pairs = words.split(' ').filter_map(|word| word.split_once('='));
    pairs.find_map(|(name, address)| (name == of).then(|| address.to_owned()))
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
    fn addresses_are_in_the_ready_line() {
        let line = "ready zookeeper=localhost:1 master=localhost:2 regionserver=localhost:3\n";
        assert_eq!(address(line, "master").as_deref(), Some("localhost:2"));
        assert_eq!(address(line, "regionserver").as_deref(), Some("localhost:3"));
        assert_eq!(address(line, "regionserverinfo"), None);
        assert_eq!(address("", "master"), None);
        assert_eq!(address("ready", "master"), None);
    }
}
