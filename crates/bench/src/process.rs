//! What the system tells of a process: CPU time, memory, what it had disks do.

use crate::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
}

impl Process {
    pub fn this() -> Process {
        Process { pid: std::process::id() }
    }

    fn file(self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.pid))
    }

    fn read(self, name: &str) -> Result<String, Error> {
        let path = self.file(name);
        std::fs::read_to_string(&path).map_err(Error::file(&path))
    }

    /// User and system time of all its threads, those that ended too.
    pub fn cpu(self) -> Result<Duration, Error> {
        let unknown = |e| Error::Setup(format!("CPU time of process {}: {e}", self.pid));
        martite_env::thread::cpu_time_of(self.pid).map_err(unknown)
    }

    /// Bytes that it had disks read, and write, so far. Of others' processes the kernel does not tell.
    pub fn disk(self) -> Result<(u64, u64), Error> {
        let unknown = || Error::Setup(format!("{}: no bytes", self.file("io").display()));
        disk_bytes(&self.read("io")?).ok_or_else(unknown)
    }

    /// Memory that is resident now, and the most that was, in MiB.
    pub fn memory_mib(self) -> Result<(u64, u64), Error> {
        let status = self.read("status")?;
        let mib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib >> 10)
        };
        Ok((mib("VmRSS:").unwrap_or(0), mib("VmHWM:").unwrap_or(0)))
    }
}

/// `read_bytes` and `write_bytes` of /proc/PID/io.
fn disk_bytes(io: &str) -> Option<(u64, u64)> {
    let of = |name: &str| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Some((of("read_bytes:")?, of("write_bytes:")?))
}

/// What all processes and the kernel have used, and what a virtual machine did not get.
pub fn machine_cpu() -> Result<Duration, Error> {
    let path = Path::new("/proc/stat");
    let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
    let ticks = busy_ticks(&text).ok_or_else(|| Error::Setup(format!("{}: no CPU times", path.display())))?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    Ok(Duration::from_nanos(ticks.saturating_mul(1_000_000_000 / per_second)))
}

/// `cpu user nice system idle iowait irq softirq steal …`: all but idle and iowait.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<u64> = line.split_whitespace().take(8).map_while(|n| n.parse().ok()).collect();
    let [user, nice, system, _, _, irq, softirq, steal] = fields[..] else { return None };
    Some(user + nice + system + irq + softirq + steal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_bytes_are_not_those_of_calls() {
        let io =
            "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 7\n";
        assert_eq!((disk_bytes(io), disk_bytes("rchar: 1\n")), (Some((4096, 8192)), None));
        Process::this().disk().unwrap();
    }

    #[test]
    fn waiting_is_not_work() {
        assert_eq!(busy_ticks("cpu  1 2 4 1000 2000 8 16 32 64 128\ncpu0 5 5"), Some(63));
        assert_eq!(busy_ticks("cpu  1 2 4 1000\n"), None);
        assert_eq!(busy_ticks("cpu0 1 2 3 4 5 6 7 8"), None);
        machine_cpu().unwrap();
    }

    #[test]
    fn this_process_has_memory() {
        let (now, most) = Process::this().memory_mib().unwrap();
        assert!(now > 0 && most >= now);
        Process::this().cpu().unwrap();
        assert!(Process { pid: u32::MAX }.cpu().is_err());
    }
}
