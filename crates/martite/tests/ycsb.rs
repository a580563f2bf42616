//! `martite ycsb` and `martite bench ycsb` as a user runs them.

use martite_catalog::{FamilyDescriptor, TableDescriptor};
use martite_testkit::Server;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A properties file in the form of YCSB's own.
fn workload(folder: &Path, proportions: &str) -> PathBuf {
    let file = folder.join("workload");
    let text = format!(
        "# A workload\nrecordcount=300\noperationcount=300\nworkload=site.ycsb.workloads.CoreWorkload\n\n\
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

    let quiet = [
        "run",
        "basic",
        "-p",
        "basicdb.verbose=false",
        "-p",
        "basicdb.count=true",
        "-threads",
        "4",
        "-s",
        "-p",
        "operationcount=1000",
    ];
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

/// A server with the table that YCSB's guide makes, in two regions.
fn server(folder: &Path) -> Server {
    let server = Server::start(Path::new(env!("CARGO_BIN_EXE_martite")), &folder.join("data"), &[]).expect("a server");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let made = runtime.block_on(async {
        let admin = martite_testkit::Admin::connect(server.master, server.regionserver).await?;
        let table = TableDescriptor::new("usertable".parse()?).with_family(FamilyDescriptor::new("family"));
        admin.create_table(&table, &[b"user5"]).await
    });
    made.expect("the table");
    server
}

#[test]
fn a_table_is_loaded_and_every_workload_verified() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let file = workload(folder.path(), "");
    let quorum = format!("hbase.zookeeper.quorum={}", server.zookeeper);
    let run = |words: &[&str], more: &[&str]| {
        let own = ["-p", "columnfamily=family", "-p", "dataintegrity=true", "-p", &quorum, "-threads", "5"];
        let (run, told, errors) = ycsb(&[words, &own[..], more].concat(), &file);
        assert!(run.status.success(), "{told}\n{errors}");
        assert!(!errors.contains("Error doing"), "{errors}");
        assert!(!told.contains("ERROR") && !told.contains("UNEXPECTED_STATE") && !told.contains("NOT_FOUND"), "{told}");
        told
    };
    let told = run(&["load", "hbase2"], &["-p", "insertcount=200"]);
    assert_eq!(value(&told, "INSERT", "Return=OK"), Some(200.0), "{told}");
    // Buffered, the rest.
    let told = run(&["load"], &["-p", "clientbuffering=true", "-p", "insertstart=200", "-p", "insertcount=100"]);
    assert_eq!(value(&told, "INSERT", "Return=OK"), Some(100.0), "{told}");
    assert_eq!(value(&told, "UPDATE", "Operations"), Some(5.0), "what is buffered is sent at last: {told}");

    for (more, metrics) in [
        (
            &["-p", "readproportion=0.5", "-p", "updateproportion=0.5", "-p", "requestdistribution=zipfian"][..],
            &["READ", "UPDATE", "VERIFY"][..],
        ),
        (&["-p", "insertproportion=0.05", "-p", "requestdistribution=latest"], &["READ", "INSERT", "VERIFY"]),
        (
            &[
                "-p",
                "readproportion=0",
                "-p",
                "scanproportion=0.95",
                "-p",
                "insertproportion=0.05",
                "-p",
                "maxscanlength=100",
            ],
            &["SCAN", "INSERT", "SCAN-LATENCY-PER-RECORD"],
        ),
        (
            &["-p", "readproportion=0", "-p", "updateproportion=0", "-p", "readmodifywriteproportion=1"],
            &["READ", "UPDATE", "READ-MODIFY-WRITE", "VERIFY"],
        ),
        (&["-target", "20000", "-p", "measurement.interval=both"], &["READ", "Intended-READ"]),
    ] {
        let told = run(&["run"], more);
        for metric in metrics {
            assert!(value(&told, metric, "Operations").is_some_and(|n| n > 0.0), "{metric}: {told}");
        }
        let done: f64 = ["READ", "UPDATE", "INSERT", "SCAN"].iter().filter_map(|m| value(&told, m, "Return=OK")).sum();
        let twice = told.contains("READ-MODIFY-WRITE");
        assert_eq!(done, if twice { 600.0 } else { 300.0 }, "{told}");
    }
}

#[test]
fn what_is_not_there_is_told_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path());
    let file = workload(folder.path(), "");
    let quorum = format!("hbase.zookeeper.quorum={}", server.zookeeper);
    for (words, named) in [
        (&["run", "-p", "columnfamily=family", "-p", "table=nobody"][..], "nobody"),
        (&["run"], "columnfamily"),
        (&["run", "-p", "columnfamily=family", "-p", "principal=a"], "principal"),
    ] {
        let (run, _, errors) = ycsb(&[words, &["-p", &quorum]].concat(), &file);
        assert!(run.status.code() == Some(1) && errors.contains(named), "{words:?}: {errors}");
    }
    // A family that is not there is each operation's own error, as in YCSB.
    let (run, told, errors) = ycsb(&["run", "-p", "columnfamily=none", "-p", &quorum], &file);
    assert!(run.status.success() && errors.matches("Error doing").count() == 1, "{told}\n{errors}");
    assert_eq!(value(&told, "READ", "Operations"), Some(0.0), "{told}");
}

#[test]
fn a_small_run_of_the_benchmark_writes_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let run = Command::new(env!("CARGO_BIN_EXE_martite"))
        .args([
            "bench",
            "ycsb",
            "--records",
            "500",
            "--regions",
            "2",
            "--threads",
            "1,3",
            "--seconds",
            "1",
            "--workloads",
            "a,e,f",
        ])
        .args(["--warmup", "0", "--cache-mib", "64", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    let (told, errors) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{told}\n{errors}");
    let report = std::fs::read_to_string(out.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let server = &report["servers"][0];
    assert_eq!(server["load"]["operations"][0]["count"], 50, "{server}");
    let measured = server["measurements"].as_array().unwrap();
    assert_eq!(measured.len(), 6);
    for measurement in measured {
        assert_eq!(measurement["failed"], 0, "{measurement}");
        assert_eq!(measurement["per_second"].as_array().unwrap().len(), 1, "{measurement}");
        assert!(measurement["operations_per_s"].as_f64().unwrap() > 0.0, "{measurement}");
    }
    for workload in ["load", "A", "E", "F"] {
        assert!(told.lines().any(|line| line.starts_with(&format!("{workload} "))), "{workload}: {told}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 4 * 7);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 2, "the server's data are gone");
}
