//! `martite bench offheap` as a user runs it: its own server, few rows, every workload.

use std::process::Command;

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
    assert!(!report.contains("\"rows\": 0,"), "nothing was measured: {report}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 24);
    let left: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the server's data are gone: {left:?}");
}
