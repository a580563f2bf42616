//! The servers that are measured: started here and ended with the run, or found running.

mod hbase;
pub mod martite;

use crate::Error;
use crate::cores::Cores;
use crate::process::Process;
use serde::{Serialize, Serializer};
use std::net::TcpListener;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// A server as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spec {
    /// This program's `start`.
    Martite,
    /// Apache HBase from Maven Central.
    HBase,
    /// One that runs.
    Running { name: String, address: String, pid: Option<u32> },
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Spec, String> {
        match text {
            "martite" => return Ok(Spec::Martite),
            "hbase" => return Ok(Spec::HBase),
            _ => {}
        }
        let (name, rest) = text.split_once('=').ok_or("expected martite, hbase or NAME=HOST:PORT")?;
        let (address, pid) = match rest.rsplit_once('@') {
            Some((address, pid)) => (address, Some(pid.parse().map_err(|_| format!("{pid} is no process id"))?)),
            None => (rest, None),
        };
        let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
        if name.is_empty() || port.is_none() {
            return Err("expected NAME=HOST:PORT".to_owned());
        }
        Ok(Spec::Running { name: name.to_owned(), address: address.to_owned(), pid })
    }
}

impl Spec {
    /// What the report calls it.
    pub fn name(&self) -> &str {
        match self {
            Spec::Martite => "martite",
            Spec::HBase => "hbase",
            Spec::Running { name, .. } => name,
        }
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// How a server is started.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Size of its block cache.
    pub cache_mib: u64,
    /// Whether limits can be set (hbase.quota.enabled); none: as the server has it by default.
    pub quotas: Option<bool>,
    /// Whether the log is forced to the disk (hbase.wal.hsync); none: as the server has it by default.
    pub hsync: Option<bool>,
    /// Where it runs, and who measures it.
    pub cores: Option<Cores>,
}

/// A server that clients can connect to. Dropping it ends one that was started here.
pub struct Server {
    /// Name and version.
    pub title: String,
    /// host:port of its connection registry.
    pub registry: String,
    pub process: Option<Process>,
    /// From its start until it served.
    pub started_in: Option<Duration>,
    _end: Option<Box<dyn Send>>,
}

impl Server {
    /// `data`: an empty folder for what it keeps. The caller and the threads that he starts keep to the client's cores from now on.
    pub async fn start(spec: &Spec, data: &Path, settings: Settings) -> Result<Server, Error> {
        if let Some(cores) = settings.cores {
            cores.enter()?;
        }
        match spec {
            Spec::Martite => martite::start(data, settings).await,
            Spec::HBase => hbase::start(data, settings).await,
            Spec::Running { name, address, pid } => Ok(Server {
                title: name.clone(),
                registry: address.clone(),
                process: pid.map(|pid| Process { pid }),
                started_in: None,
                _end: None,
            }),
        }
    }
}

/// Ports that nobody listens on, all different.
fn free_ports<const N: usize>() -> Result<[u16; N], Error> {
    let mut ports = [0; N];
    let mut held = Vec::with_capacity(N);
    for port in &mut ports {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        *port = listener.local_addr()?.port();
        held.push(listener);
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_on_the_command_line() {
        let running = |pid| Spec::Running { name: "prod".to_owned(), address: "host:16000".to_owned(), pid };
        assert_eq!("martite".parse(), Ok(Spec::Martite));
        assert_eq!("hbase".parse(), Ok(Spec::HBase));
        assert_eq!("prod=host:16000".parse(), Ok(running(None)));
        assert_eq!("prod=host:16000@77".parse(), Ok(running(Some(77))));
        for wrong in ["", "prod", "=host:1", "prod=host", "prod=host:x", "prod=host:1@x"] {
            assert!(wrong.parse::<Spec>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn ports_differ() {
        let [a, b, c] = free_ports().unwrap();
        assert!(a != b && b != c && a != c);
    }
}
