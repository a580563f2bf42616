//! `martite ycsb` as a user runs it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A properties file in the form of YCSB's own.
fn workload(folder: &Path, proportions: &str) -> PathBuf {
    let file = folder.join("workload");
    let text = format!(
        "# A workload\nrecordcount=1000\noperationcount=1000\nworkload=site.ycsb.workloads.CoreWorkload\n\n\
         readallfields=true\n\n{proportions}\n"
    );
    std::fs::write(&file, text).expect("a folder to write to");
    file
}

fn ycsb(words: &[&str], file: &Path) -> (Output, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_martite"))
        .arg("ycsb")
        .args(words)
        .arg("-P")
        .arg(file)
        .output()
        .expect("the binary runs");
    let (told, errors) = (String::from_utf8_lossy(&run.stdout).into(), String::from_utf8_lossy(&run.stderr).into());
    (run, told, errors)
}

/// The value of a line `[metric], measurement, value`.
fn value(told: &str, metric: &str, measurement: &str) -> Option<f64> {
    let start = format!("[{metric}], {measurement}, ");
    told.lines().find_map(|line| line.strip_prefix(&start)?.parse().ok())
}

#[test]
fn the_binding_basic_tells_what_it_would_ask() {
    let folder = tempfile::tempdir().unwrap();
    let file = workload(folder.path(), "readproportion=0.5\nupdateproportion=0.5\nrequestdistribution=zipfian");
    let (run, told, errors) = ycsb(&["load", "basic", "-p", "recordcount=3", "-p", "fieldcount=1"], &file);
    assert!(run.status.success(), "{told}\n{errors}");
    assert!(told.contains("\nINSERT usertable user6284781860667377211 [ field0="), "{told}");
    assert_eq!(value(&told, "INSERT", "Return=OK"), Some(3.0), "{told}");

    let quiet = ["run", "basic", "-p", "basicdb.verbose=false", "-p", "basicdb.count=true", "-threads", "4", "-s"];
    let (run, told, errors) = ycsb(&quiet, &file);
    assert!(run.status.success(), "{told}\n{errors}");
    let operations = ["READ", "UPDATE"].map(|name| value(&told, name, "Operations").unwrap());
    assert_eq!(operations.iter().sum::<f64>(), 1000.0, "{told}");
    assert!(operations.iter().all(|n| *n > 350.0), "{told}");
    assert_eq!(value(&told, "CLEANUP", "Operations"), Some(4.0), "{told}");
    // As often as Zipf's law has it the same records are read: far fewer than operations.
    let uniques = value(&told, "READS", "Uniques").unwrap();
    assert!(uniques > 20.0 && uniques < 0.8 * operations[0], "{told}");
    let status: Vec<&str> = errors.lines().filter(|line| line.contains(" sec: ")).collect();
    assert!(status.len() >= 2 && status[0].contains(" 0 sec: "), "{errors}");
    assert!(status.last().unwrap().contains(" sec: 1000 operations; "), "{errors}");
}

#[test]
fn a_wrong_command_line_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = workload(folder.path(), "");
    for (words, named) in [
        (&["walk"][..], "expected load or run"),
        (&["run", "basic", "-threads", "0"], "threadcount"),
        (&["run", "basic", "-p", "requestdistribution=gauss"], "gauss"),
        (&["run", "basic", "-p", "measurementtype=dice"], "dice"),
    ] {
        let (run, _, errors) = ycsb(words, &file);
        assert!(run.status.code() == Some(1) && errors.contains(named), "{words:?}: {errors}");
    }
}
