//! What the run ran on.

use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct Machine {
    pub cores: usize,
    pub cpu: String,
    pub memory_gib: u64,
    pub kernel: String,
}

impl Machine {
    pub fn read() -> Machine {
        let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Machine {
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            cpu: cpu_model(&text("/proc/cpuinfo")),
            memory_gib: memory_gib(&text("/proc/meminfo")),
            kernel: format!("Linux {}", text("/proc/sys/kernel/osrelease").trim()),
        }
    }
}

impl std::fmt::Display for Machine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cores ({}), {} GiB, {}", self.cores, self.cpu, self.memory_gib, self.kernel)
    }
}

/// `model name : …`; machines that are not x86 may not say.
fn cpu_model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = line.and_then(|line| line.split_once(':')).map(|(_, model)| model.trim().to_owned());
    model.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn memory_gib(meminfo: &str) -> u64 {
    let kib = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = kib.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    // What the kernel keeps for itself is not missing.
    kib.unwrap_or(0).div_ceil(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_files_are_read() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: A (R) CPU: 3\n"), "A (R) CPU: 3");
        assert_eq!(cpu_model(""), std::env::consts::ARCH);
        assert_eq!(memory_gib("MemFree: 1 kB\nMemTotal:       24641232 kB\n"), 24);
        assert_eq!(memory_gib(""), 0);
    }
}
