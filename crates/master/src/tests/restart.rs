//! What is there after a restart, and what the cleaner may delete.

use super::*;
use std::path::Path;
use std::time::Duration;

#[test]
fn tables_and_rows_survive_restarts_and_crashes() {
    let rig = Rig::new();
    rig.create(&plain("on"), &["m"]).unwrap();
    rig.create(&plain("off").with("my.key", "v"), &[]).unwrap();
    rig.put("on", "a", "1");
    rig.disable("off").unwrap();
    let id = rig.master.cluster_id().to_string();
    let rig = rig.restart();
    rig.check();
    assert_eq!((rig.get("on", "a").as_deref(), rig.state("off")), (Some("1"), Some(TableState::Disabled)));
    rig.put("on", "z", "2");
    let rig = rig.crash();
    rig.check();
    assert_eq!((rig.get("on", "a").as_deref(), rig.get("on", "z").as_deref()), (Some("1"), Some("2")));
    assert_eq!(rig.descriptor("off").setting("my.key"), Some("v"));
    assert_eq!(rig.master.cluster_id(), id);
    let location = &rig.services().catalog.regions(&table("on"))[0];
    assert_eq!(location.server, Some(ServerName::new("h", 1, 3)));
}

#[test]
fn the_store_names_the_server_of_this_run() {
    let rig = Rig::new().restart();
    assert_eq!(rig.services().store.servers().unwrap(), ["h,1,2"]);
}

#[test]
fn unfinished_procedures_of_hbase_are_deleted_if_every_start_does_their_work_and_refused_otherwise() {
    let rig = Rig::new();
    rig.services().store.put_foreign(1000, "ServerCrashProcedure").unwrap();
    let rig = rig.restart();
    assert_eq!(rig.services().store.foreign(1000).unwrap().as_deref(), Some(&b""[..]), "as HBase deletes it");
    rig.services().store.put_foreign(1001, "SplitTableRegionProcedure").unwrap();
    let (fs, clock, run) = rig.stop();
    let refused = Rig::start(fs, clock, run + 1, &[]).err().unwrap();
    assert!(
        refused.message.contains("an unfinished procedure of HBase, SplitTableRegionProcedure pid=1001"),
        "{refused}"
    );
}

#[test]
fn the_cleaner_deletes_what_is_old() {
    let rig = Rig::new();
    rig.create(&plain("t"), &[]).unwrap();
    rig.put("t", "a", "1");
    rig.disable("t").unwrap();
    rig.delete("t").unwrap();
    let archive = rig.services().layout.archive_table_dir(&table("t"));
    assert!(rig.fs.exists(&archive));
    rig.master.run_chores();
    assert!(rig.fs.exists(&archive), "too young");
    rig.clock.advance(Duration::from_secs(3600));
    rig.master.run_chores();
    assert!(!rig.fs.exists(&archive));
}

#[test]
fn a_snapshot_that_cannot_be_read_keeps_the_archive() {
    let rig = Rig::new();
    rig.create(&plain("t"), &[]).unwrap();
    rig.put("t", "a", "1");
    rig.disable("t").unwrap();
    rig.delete("t").unwrap();
    rig.fs.create_dir_all(Path::new("/hbase/.hbase-snapshot/s")).unwrap();
    rig.clock.advance(Duration::from_secs(3600));
    rig.master.run_chores();
    assert!(rig.fs.exists(&rig.services().layout.archive_table_dir(&table("t"))));
    assert!(rig.snapshots().is_empty(), "as HBase, which logs what it cannot read");
}
