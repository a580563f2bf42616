//! The real server with its blocks in files: more data than memory, stopped, warm again, damaged, refused.
#![allow(clippy::unwrap_used)]

use martite_catalog::{FamilyDescriptor, TableDescriptor, TableName};
use martite_testkit::{Admin, Server, Table, TestError};
use std::path::{Path, PathBuf};
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_martite");
const ROWS: u8 = 40;
const SYSTEM_FILES: u64 = 4;

fn row(i: u8) -> Vec<u8> {
    format!("row{i:02}").into_bytes()
}

/// A block a row.
fn value(i: u8) -> Vec<u8> {
    (0..64 << 10).map(|n: u32| (n / 7) as u8 ^ i).collect()
}

async fn fill(server: &Server) -> Result<(), TestError> {
    let name = TableName::parse("t")?;
    let admin = Admin::connect(server.master, server.regionserver).await?;
    admin.create_table(&TableDescriptor::new(name.clone()).with_family(FamilyDescriptor::new("f")), &[]).await?;
    let table = Table::connect(server.regionserver, &name).await?;
    for i in 0..ROWS {
        table.put(&row(i), &["f"], "q", &value(i)).await?;
    }
    Ok(())
}

/// Reads every row a few times, from the last to the first: what a full queue dropped comes again.
async fn read(server: &Server) -> Result<(), TestError> {
    let table = Table::connect(server.regionserver, &TableName::parse("t")?).await?;
    for i in (0..4).flat_map(|_| (0..ROWS).rev()) {
        let cells = table.get(&row(i)).await?;
        assert!(cells.get(0).is_some_and(|cell| cell.value == value(i)), "row {i}");
    }
    Ok(())
}

struct Rig {
    folder: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Rig {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn settings(&self) -> Vec<String> {
        vec![
            "--memory=256m".to_owned(),
            // 256 KiB: four blocks.
            "-Dhfile.block.cache.size=0.001".to_owned(),
            format!("-Dhbase.bucketcache.ioengine=files:{0}/slab1,{0}/slab2", self.folder.path().display()),
            "-Dhbase.bucketcache.size=64".to_owned(),
            format!("-Dhbase.bucketcache.persistent.path={}", self.path("index").display()),
        ]
    }

    /// A server that has done its work.
    fn serve(&self, work: impl AsyncFnOnce(&Server) -> Result<(), TestError>) -> Server {
        let settings = self.settings();
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let server = Server::start(Path::new(BINARY), &self.path("data"), &settings).unwrap();
        self.runtime.block_on(work(&server)).unwrap_or_else(|e| panic!("{e}"));
        server
    }

    /// One run of the server: what it says of the tier when it stops.
    fn run(&self, work: impl AsyncFnOnce(&Server) -> Result<(), TestError>) -> String {
        assert_eq!(self.serve(work).stop(Path::new(BINARY), &self.path("data")).unwrap(), 0);
        let log = std::fs::read_to_string(self.path("data.log")).unwrap();
        let line = log.lines().rev().find(|line| line.contains("cache files are closed"));
        line.expect("a line about the cache files").to_owned()
    }
}

/// A count of the line.
fn count(line: &str, name: &str) -> u64 {
    let fields = line.split(' ').filter_map(|word| word.split_once('='));
    fields.filter(|(key, _)| *key == name).find_map(|(_, count)| count.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn a_server_with_cache_files_is_right_and_warm_after_a_restart_and_after_a_crash() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rig = Rig { folder: tempfile::tempdir().unwrap(), runtime };
    rig.run(fill);
    let first = rig.run(read);
    let rows = u64::from(ROWS);
    assert!(count(&first, "writes") >= rows - 5 && count(&first, "hits") > rows / 2, "{first}");
    let warm = rig.run(read);
    assert!(count(&warm, "hits") >= 2 * rows && count(&warm, "checksum_failures") == 0, "{warm}");
    // What was in memory, too, but not what system tables wrote when the server stopped.
    assert!(count(&warm, "misses") <= SYSTEM_FILES, "{warm}");

    rig.serve(read).kill().unwrap();
    let killed = rig.run(read);
    assert!(count(&killed, "hits") >= 2 * rows && count(&killed, "checksum_failures") == 0, "{killed}");
    assert!(count(&killed, "misses") <= SYSTEM_FILES, "{killed}");

    // Bytes all over the first file.
    let mut slab = std::fs::read(rig.path("slab1")).unwrap();
    slab.iter_mut().skip(4096).step_by(10_000).for_each(|byte| *byte = !*byte);
    std::fs::write(rig.path("slab1"), slab).unwrap();
    let damaged = rig.run(read);
    assert!(count(&damaged, "checksum_failures") > rows / 4, "{damaged}");

    std::fs::remove_file(rig.path("slab2")).unwrap();
    let cold = rig.run(read);
    assert!(count(&cold, "writes") >= rows - 5 && count(&cold, "checksum_failures") == 0, "{cold}");

    // Not a file of ours: left as it is.
    std::fs::write(rig.path("slab1"), b"precious").unwrap();
    let start = Command::new(BINARY)
        .args(["start", "--zookeeper-port=0", "--master-port=0", "--regionserver-port=0", "--data"])
        .arg(rig.path("data"))
        .args(rig.settings())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&start.stderr);
    assert!(start.status.code() == Some(1) && said.contains("is there and is no cache file"), "{said}");
    assert_eq!(std::fs::read(rig.path("slab1")).unwrap(), b"precious");
}
