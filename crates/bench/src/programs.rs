//! [`Programs`]: other programs on the machine, which want a processor all the time.

use std::io;
use std::process::{Child, Command, Stdio};

/// Counts, and looks now and then whether the one that started it is still there.
const SCRIPT: &str =
    r#"while kill -0 "$1" 2>/dev/null; do i=0; while [ "$i" -lt 100000 ]; do i=$((i + 1)); done; done"#;

/// Until it is dropped.
pub struct Programs(Vec<Child>);

impl Programs {
    pub fn start(number: u64) -> io::Result<Programs> {
        let mut programs = Programs(Vec::new());
        for _ in 0..number {
            let mut program = Command::new("sh");
            program.args(["-c", SCRIPT, "sh", &std::process::id().to_string()]).stdin(Stdio::null());
            programs.0.push(program.spawn()?);
        }
        Ok(programs)
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        for program in &mut self.0 {
            // It ends with this process at the latest.
            let _ = program.kill().and_then(|()| program.wait());
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::process::Process;
    use std::time::Duration;

    #[test]
    fn programs_use_processors_until_they_end() {
        let programs = Programs::start(2).unwrap();
        let processes: Vec<_> = programs.0.iter().map(|program| Process { pid: program.id() }).collect();
        while processes.iter().any(|process| process.cpu().unwrap() < Duration::from_millis(20)) {
            std::thread::yield_now();
        }
        drop(programs);
        assert!(processes.iter().all(|process| process.cpu().is_err()));
    }
}
