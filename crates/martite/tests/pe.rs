//! `martite pe` as a user runs it: every command once, with few rows.

use martite_testkit::Server;
use std::path::Path;
use std::process::Command;

struct Pe {
    server: Server,
    _folder: tempfile::TempDir,
}

impl Pe {
    fn start() -> Pe {
        let folder = tempfile::tempdir().expect("a folder");
        let binary = Path::new(env!("CARGO_BIN_EXE_martite"));
        let server = Server::start(binary, &folder.path().join("data"), &[]).expect("a server");
        Pe { server, _folder: folder }
    }

    /// Whether it went well, what it told and what it logged.
    fn run(&self, words: &str) -> (bool, String, String) {
        let run = Command::new(env!("CARGO_BIN_EXE_martite"))
            .args(["pe", &format!("-Dhbase.zookeeper.quorum={}", self.server.zookeeper)])
            .args(words.split_whitespace())
            .output()
            .expect("the binary runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (run.status.success(), text(&run.stdout), text(&run.stderr))
    }
}

#[test]
fn every_command_runs_and_tells_its_summary() {
    let pe = Pe::start();
    let (well, _, errors) = pe.run("--rows=10 randomRead 1");
    assert!(!well && errors.contains("Run a write command first"), "{errors}");
    let write = "--nomapred --rows=100 --presplit=2 --families=2 --columns=2 --valueSize=50 sequentialWrite 2";
    let (well, told, errors) = pe.run(write);
    assert!(well && errors.contains("Table TestTable created"), "{told}\n{errors}");
    for (words, name) in [
        ("sequentialRead", "SequentialReadTest"),
        ("--multiGet=10 randomRead", "RandomReadTest"),
        ("scan", "ScanTest"),
        ("reverseScan", "ReverseScanTest"),
        ("--filterAll scanRange100", "RandomScanWithRange100Test"),
        ("--sampleRate=0.1 randomSeekScan", "RandomSeekScanTest"),
        ("--sampleRate=0.1 filterScan", "FilteredScanTest"),
        ("--autoFlush=true --multiPut=10 --valueRandom randomWrite", "RandomWriteTest"),
        ("--valueZipf --autoFlush=true asyncSequentialWrite", "AsyncSequentialWriteTest"),
        ("--oneCon --addColumns=false asyncRandomRead", "AsyncRandomReadTest"),
        ("asyncScan", "AsyncScanTest"),
        ("increment", "IncrementTest"),
        ("append", "AppendTest"),
        ("checkAndMutate", "CheckAndMutateTest"),
        ("checkAndPut", "CheckAndPutTest"),
        ("checkAndDelete", "CheckAndDeleteTest"),
        ("sequentialDelete", "SequentialDeleteTest"),
    ] {
        let (well, told, errors) = pe.run(&format!("--rows=50 --families=2 --columns=2 --valueSize=50 {words} 2"));
        assert!(well, "{words}: {told}\n{errors}");
        let summary = [
            format!("hbase.PerformanceEvaluation: [{name}] Summary of timings (ms): ["),
            format!("[{name} duration ]\tMin: "),
            "[ Avg latency (us)]\t".to_owned(),
            "[ Avg TPS/QPS]\t".to_owned(),
            "[ Latency (us)]\tmean=".to_owned(),
        ];
        assert!(summary.iter().all(|line| told.contains(line)), "{words}: {told}");
        assert!(!errors.contains("recreated"), "{words}: {errors}");
    }
}

#[test]
fn a_table_that_differs_is_made_anew_by_a_command_that_writes() {
    let pe = Pe::start();
    let (well, _, errors) = pe.run("--rows=10 --valueSize=10 sequentialWrite 1");
    assert!(well, "{errors}");
    let (well, _, errors) = pe.run("--rows=10 --presplit=3 scan 1");
    assert!(well && errors.contains("--presplit=3, but found 1 regions"), "{errors}");
    let (well, _, errors) = pe.run("--rows=10 --families=2 scan 1");
    assert!(!well && errors.contains("found 1 column families"), "{errors}");
    let (well, _, errors) = pe.run("--rows=10 --presplit=3 --valueSize=10 --compress=GZ sequentialWrite 1");
    assert!(well && errors.contains("Table will be recreated: [--presplit=3, but found 1 regions]"), "{errors}");
    let (well, _, errors) = pe.run("--encryption=AES sequentialWrite 1");
    assert!(!well && errors.contains("--encryption"), "{errors}");
}
