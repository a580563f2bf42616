//! The real binary as a child process: started on free ports, told apart from others by its folder, killed or stopped.

use crate::TestError;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running server. Dropping it kills it.
pub struct Server {
    child: Child,
    pub zookeeper: SocketAddr,
    pub master: SocketAddr,
    pub regionserver: SocketAddr,
    /// The info ports, where it has them.
    pub master_info: Option<SocketAddr>,
    pub regionserver_info: Option<SocketAddr>,
}

impl Server {
    /// Starts `binary` on `data` and waits for its line `ready`. What it logs goes to `data/../server.log`.
    pub fn start(binary: &Path, data: &Path, extra: &[&str]) -> Result<Server, TestError> {
        Server::start_at([0; 3], binary, data, extra)
    }

    /// Starts another one after this, on the same ports.
    pub fn restart(self, binary: &Path, data: &Path, extra: &[&str]) -> Result<Server, TestError> {
        let ports = [self.zookeeper, self.master, self.regionserver].map(|address| address.port());
        self.kill()?;
        Server::start_at(ports, binary, data, extra)
    }

    fn start_at(ports: [u16; 3], binary: &Path, data: &Path, extra: &[&str]) -> Result<Server, TestError> {
        let [zookeeper, master, regionserver] = ports.map(|port| port.to_string());
        let log = log_path(data);
        let log_file = std::fs::OpenOptions::new().create(true).append(true).open(&log)?;
        let mut child = Command::new(binary)
            .args(["start", "--hostname", "localhost", "--zookeeper-port", &zookeeper, "--master-port", &master])
            .args(["--regionserver-port", &regionserver, "--data"])
            .arg(data)
            .args(extra)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log_file)
            .spawn()?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut line)?;
        }
        match parse_ready(&line) {
            Some(([zookeeper, master, regionserver], [master_info, regionserver_info])) => {
                Ok(Server { child, zookeeper, master, regionserver, master_info, regionserver_info })
            }
            None => {
                // The process has ended or is of no use.
                let _ = child.kill();
                let status = child.wait()?;
                Err(TestError::Server(format!("not ready ({status}, said {line:?}); its log is {}", log.display())))
            }
        }
    }

    /// kill -9.
    pub fn kill(mut self) -> Result<(), TestError> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// SIGTERM, and waits for the end; the exit code.
    pub fn stop(mut self, binary: &Path, data: &Path) -> Result<i32, TestError> {
        let stopped = Command::new(binary).args(["stop", "--data"]).arg(data).status()?;
        if !stopped.success() {
            return Err(TestError::Server(format!("martite stop: {stopped}")));
        }
        self.child.wait()?.code().ok_or_else(|| TestError::Server("ended by a signal".to_owned()))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the log of a server on `data` goes.
pub fn log_path(data: &Path) -> PathBuf {
    data.with_extension("log")
}

/// `ready zookeeper=HOST:PORT master=HOST:PORT regionserver=HOST:PORT`, and with info ports
/// `… masterinfo=HOST:PORT regionserverinfo=HOST:PORT`
fn parse_ready(line: &str) -> Option<([SocketAddr; 3], [Option<SocketAddr>; 2])> {
    let mut words = line.trim().strip_prefix("ready ")?.split(' ');
    let resolve = |address: &str| address.to_socket_addrs().ok()?.find(SocketAddr::is_ipv4);
    let mut next = |name: &str| resolve(words.next()?.strip_prefix(name)?.strip_prefix('=')?);
    let three = [next("zookeeper")?, next("master")?, next("regionserver")?];
    let rest: Vec<&str> = words.collect();
    let info = |name: &str| rest.iter().find_map(|word| word.strip_prefix(name)).and_then(resolve);
    Some((three, [info("masterinfo="), info("regionserverinfo=")]))
}
