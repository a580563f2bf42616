//! [`Stacks`]: where a server's CPU time goes, sampled by Linux' `perf` while a workload runs.

use crate::Error;
use crate::process::Process;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Samples a second and core. A prime: nothing periodic hides between them.
const FREQUENCY: &str = "499";
/// How stacks are found: by the program's debug information, from so many bytes of each stack.
const CALL_GRAPH: &str = "dwarf,16384";

/// Says clearly that it cannot be done, before anything has been measured.
pub fn check() -> Result<(), Error> {
    let run = Command::new("perf").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if run.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(Error::Setup("--profile needs the program perf (Debian: linux-perf)".to_owned()))
}

/// Samples that are being taken. Dropping it ends them.
pub struct Recording {
    perf: Child,
    file: PathBuf,
}

impl Recording {
    /// For `length`, from now on.
    pub fn start(process: Process, length: Duration, folder: &Path) -> Result<Recording, Error> {
        let file = folder.join("perf.data");
        let perf = Command::new("perf")
            .args(["record", "-q", "-F", FREQUENCY, "--call-graph", CALL_GRAPH, "-p", &process.pid.to_string(), "-o"])
            .arg(&file)
            .args(["--", "sleep", &length.as_secs_f64().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(Error::file(Path::new("perf")))?;
        Ok(Recording { perf, file })
    }

    /// Waits for the end.
    pub async fn stacks(mut self) -> Result<Stacks, Error> {
        let read = move || {
            let failed =
                |what: &str| Error::Setup(format!("perf {what} failed; kernel.perf_event_paranoid may forbid it"));
            if !self.perf.wait()?.success() {
                return Err(failed("record"));
            }
            let script = Command::new("perf")
                .args(["script", "--no-inline", "-F", "comm,ip,sym", "-i"])
                .arg(&self.file)
                .stderr(Stdio::null())
                .output()
                .map_err(Error::file(Path::new("perf")))?;
            if !script.status.success() {
                return Err(failed("script"));
            }
            Ok(Stacks::parse(&String::from_utf8_lossy(&script.stdout)))
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|e| Err(Error::Setup(e.to_string())))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = self.perf.kill();
        let _ = self.perf.wait();
        let _ = std::fs::remove_file(&self.file);
    }
}

/// One function in a stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    pub name: String,
    /// Of the operating system.
    pub kernel: bool,
}

/// Samples by the functions that they were in, those called first at the root.
#[derive(Debug, Clone, Default)]
pub struct Stacks {
    pub samples: u64,
    pub called: BTreeMap<Function, Stacks>,
}

impl Stacks {
    /// From the output of `perf script`: the thread's name, then a line for each function, the innermost first, then an
    /// empty line.
    fn parse(script: &str) -> Stacks {
        let mut all = Stacks::default();
        let (mut thread, mut functions) = (None, Vec::new());
        for line in script.lines().chain([""]) {
            let text = line.trim();
            if text.is_empty() {
                if let Some(thread) = thread.take() {
                    all.add(thread, &mut functions);
                }
                functions.clear();
            } else if thread.is_none() {
                thread = Some(Function { name: kind_of_thread(text).to_owned(), kernel: false });
            } else {
                let (address, name) = text.split_once(' ').unwrap_or((text, "[unknown]"));
                let kernel = u64::from_str_radix(address, 16).is_ok_and(|address| address >> 63 == 1);
                functions.push(Function { name: short_name(name).to_owned(), kernel });
            }
        }
        all
    }

    fn add(&mut self, thread: Function, innermost_first: &mut Vec<Function>) {
        innermost_first.push(thread);
        let mut at = self;
        at.samples += 1;
        for function in innermost_first.drain(..).rev() {
            at = at.called.entry(function).or_default();
            at.samples += 1;
        }
    }
}

/// Threads that do the same count together: `net-0` and `net-1` are `net`.
fn kind_of_thread(name: &str) -> &str {
    name.rsplit_once('-').filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit())).map_or(name, |(kind, _)| kind)
}

/// Without the hash that the compiler adds to a name.
fn short_name(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((short, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => short,
        _ => name,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    const SCRIPT: &str = "\
net-0
\tffffffffb1234568 copy_to_user
\tffffffffb1234567 tcp_sendmsg
\t55d01 martite_rpc::task::Task::run::h0123456789abcdef
\t55d02 main

net-1
\t55d01 martite_rpc::task::Task::run::h0123456789abcdef
\t55d02 main

pool-17
\t55d03 [unknown]
";

    pub fn stacks() -> Stacks {
        Stacks::parse(SCRIPT)
    }

    #[test]
    fn samples_are_counted_along_their_stacks() {
        let all = stacks();
        let child = |stacks: &Stacks, name: &str| {
            let found = stacks.called.iter().find(|(f, _)| f.name == name);
            found.map(|(f, inner)| (f.kernel, inner.clone())).unwrap_or_else(|| panic!("{name} in {stacks:?}"))
        };
        let (_, net) = child(&all, "net");
        let (_, main) = child(&net, "main");
        let (kernel, run) = child(&main, "martite_rpc::task::Task::run");
        assert_eq!((all.samples, kernel, net.samples, run.samples), (3, false, 2, 2));
        let (kernel, send) = child(&run, "tcp_sendmsg");
        assert_eq!((kernel, send.samples), (true, 1));
        assert_eq!(child(&all, "pool").1.samples, 1);
    }

    #[test]
    fn torn_output_is_no_harm() {
        for script in ["", "\n\n", "net-0", "x\n\tzz", "x\n\t", "\t55 a\n\t55"] {
            Stacks::parse(script);
        }
        assert_eq!(Stacks::parse("a b-c\n\t1 f\n").called.keys().next().unwrap().name, "a b-c");
    }
}
