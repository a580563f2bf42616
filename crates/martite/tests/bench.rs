//! `martite bench offheap` as a user runs it: its own server, few rows, every workload.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn a_run_that_is_terminated_takes_its_server_along() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_martite"))
        .args(["bench", "offheap", "--rows", "100", "--regions", "1", "--threads", "1", "--workloads", "get"])
        .args(["--seconds", "600", "--warmup", "0", "--cache-mib", "64", "--out"])
        .arg(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(run.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap() == "martite: get by 1"), "the measurement does not begin");
    assert_eq!(files(folder.path()), 1, "the server's data");
    kill_process(Pid::from_child(&run), Signal::TERM).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(1));
    assert_eq!(files(folder.path()), 0);
}

#[test]
fn a_small_run_measures_every_workload_and_writes_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let run = Command::new(env!("CARGO_BIN_EXE_martite"))
        .args(["bench", "offheap", "--rows", "3000", "--regions", "3", "--threads", "1,4"])
        .args(["--seconds", "0.2", "--warmup", "0", "--cache-mib", "64", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    let (told, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{told}\n{errors}");

    let report = std::fs::read_to_string(out.join("report.json")).unwrap();
    for workload in
        ["get", "multiplexed", "multi-get", "scan-none", "scan-tenth", "scan-values", "multi-get-ten", "scan-ten"]
    {
        // By one thread and by four.
        assert_eq!(report.matches(&format!("\"workload\": \"{workload}\"")).count(), 2, "{workload}: {report}");
        assert!(told.lines().any(|line| line.starts_with(&format!("{workload} "))), "{workload}: {told}");
    }
    // Both tables, written and read. How much a window of time saw is not this test's affair: each thread ends at least one
    // operation, and a wrong answer fails the run.
    assert!(report.matches("\"rows\": 3000,").count() >= 4, "{report}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 24);
    assert_eq!(files(&out), 2, "the server's data are gone");
}
