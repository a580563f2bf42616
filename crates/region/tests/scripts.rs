//! What each mutation means, as golden scripts.

mod rig;

use martite_region::RegionConfig;
use rig::{Rig, script, table};

#[test]
fn puts_and_batches() {
    let config = RegionConfig { max_cell_size_bytes: 10, timestamp_slop_ms: Some(5000), ..RegionConfig::default() };
    // The table's own limit counts.
    let table = table(&["f", "g"]).with("hbase.server.keyvalue.maxsize", "200");
    script::run("puts", Rig::with(table, config));
}

#[test]
fn deletes() {
    script::run("deletes", Rig::new());
}

#[test]
fn increments_and_appends() {
    script::run("increments", Rig::new());
}

#[test]
fn conditions() {
    script::run("conditions", Rig::new());
}

#[test]
fn atomic_writes() {
    script::run("atomic", Rig::new());
}

#[test]
fn recovery() {
    script::run("recovery", Rig::new());
}

#[test]
fn a_read_only_table_refuses_writes() {
    script::run("read_only", Rig::with(table(&["f"]).with("READONLY", "true"), RegionConfig::default()));
}
