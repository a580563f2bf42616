//! What the machine has: memory, cores, a name that clients can find it by.

use std::net::ToSocketAddrs;
use std::time::Duration;

/// Memory of the machine in bytes, or what the container may use of it.
pub fn memory_bytes() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    let total = total.map_or(4 << 30, |kib| kib << 10);
    let limit = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|t| t.trim().parse::<u64>().ok());
    limit.map_or(total, |limit| limit.min(total))
}

/// Bytes of it that this process has. None: the system has no /proc.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?;
    Some(kib.parse::<u64>().ok()? << 10)
}

/// What processors have given to this process.
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// The machine's name if it can be resolved here, else `localhost`.
pub fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| !name.is_empty() && (name.as_str(), 0).to_socket_addrs().is_ok_and(|mut a| a.next().is_some()))
        .unwrap_or_else(|| "localhost".to_owned())
}
