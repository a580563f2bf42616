//! Snapshots, and tables made of them, through everything that archives and deletes files.

use super::quotas::of_table;
use super::*;
use martite_catalog::table::FILE_TRACKER;
use martite_quota::space::Usage;
use pb::snapshot_description::Type;
use std::time::Duration;

fn rows(rig: &Rig, table: &str) -> Vec<Option<String>> {
    ["a", "m", "z"].iter().map(|row| rig.get(table, row)).collect()
}

fn values(values: [&str; 3]) -> Vec<Option<String>> {
    values.iter().map(|value| (!value.is_empty()).then(|| value.to_string())).collect()
}

/// Two regions with a row each, one of them in memory only.
fn with_rows(rig: &Rig) {
    rig.create(&plain("t"), &["m"]).unwrap();
    rig.put("t", "a", "1");
    rig.host.flush_region(rig.regions("t")[0].encoded_name(), &[]).unwrap();
    rig.put("t", "z", "2");
}

/// The files below a directory.
fn files_below(fs: &MemFs, dir: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs.list(dir).unwrap_or_default() {
        let path = dir.join(&entry.name);
        if entry.is_dir { found.extend(files_below(fs, &path)) } else { found.push(path.display().to_string()) }
    }
    found
}

#[test]
fn a_clone_has_what_was_there_and_lives_on_by_itself() {
    let rig = Rig::new();
    with_rows(&rig);
    rig.snapshot("t", "s").unwrap();
    rig.put("t", "a", "newer");
    rig.put("t", "m", "new");
    rig.compact_and_clean("t");
    rig.restore("s", "c").unwrap();
    assert_eq!((rows(&rig, "c"), rows(&rig, "t")), (values(["1", "", "2"]), values(["newer", "new", "2"])));
    // A snapshot of links, and links to what they lead to.
    rig.put("c", "m", "3");
    rig.snapshot("c", "s2").unwrap();
    rig.delete_snapshot("s").unwrap();
    for table in ["t", "c"] {
        rig.disable(table).unwrap();
        rig.delete(table).unwrap();
    }
    rig.clean();
    rig.restore("s2", "d").unwrap();
    rig.delete_snapshot("s2").unwrap();
    rig.clean();
    let rig = rig.crash();
    rig.check();
    assert_eq!(rows(&rig, "d"), values(["1", "3", "2"]));
    rig.compact_and_clean("d");
    assert_eq!(rows(&rig, "d"), values(["1", "3", "2"]));
    let archive = rig.services().layout.archive_dir();
    assert_eq!(files_below(&rig.fs, &archive), [""; 0], "nobody needs an archived file");
}

#[test]
fn a_restored_table_has_the_rows_and_the_descriptor_of_then() {
    let rig = Rig::new();
    with_rows(&rig);
    rig.snapshot("t", "s").unwrap();
    rig.put("t", "a", "newer");
    rig.split(&rig.regions("t")[1].clone(), "p").unwrap();
    rig.modify(&plain("t").with("k", "v").with_family(FamilyDescriptor::new("g"))).unwrap();
    assert!(rig.restore("s", "t").unwrap_err().message.contains("must be disabled"));
    rig.disable("t").unwrap();
    rig.restore("s", "t").unwrap();
    assert_eq!(rig.state("t"), Some(TableState::Disabled));
    rig.delete_snapshot("s").unwrap();
    rig.clean();
    rig.enable("t").unwrap();
    rig.check();
    assert_eq!((rows(&rig, "t"), rig.regions("t").len()), (values(["1", "", "2"]), 2));
    assert!(rig.descriptor("t").setting("k").is_none() && rig.descriptor("t").family(b"g").is_none());
    // Edits of the regions that were are in the log still: they are not the new ones'.
    rig.put("t", "m", "after");
    let rig = rig.crash();
    rig.check();
    assert_eq!(rows(&rig, "t"), values(["1", "after", "2"]));
    rig.compact_and_clean("t");
    assert_eq!(rows(&rig, "t"), values(["1", "after", "2"]));
}

/// What HBase's cleaner goes by: each file that is linked to has a back reference whose region has the very link.
fn assert_kept_by_hbase(rig: &Rig) {
    let root = rig.services().layout.root().to_owned();
    let linked = files_below(&rig.fs, &root.join("data")).into_iter();
    for file in linked.filter_map(|path| path.rsplit('/').next().and_then(link_of_owned)) {
        let (table, region, hfile) = &file;
        let family = root.join("archive/data/default").join(table).join(region).join("f");
        let backs = rig.fs.list(&family.join(format!(".links-{hfile}"))).unwrap();
        let kept = backs.iter().any(|back| {
            let (owner, owner_table) = back.name.split_once('.').unwrap();
            let dir = root.join("data/default").join(owner_table).join(owner).join("f");
            rig.fs.exists(&dir.join(format!("{table}={region}-{hfile}")))
        });
        assert!(kept, "{file:?} is linked to, and HBase's cleaner would delete it");
    }
}

fn link_of_owned(name: &str) -> Option<(String, String, String)> {
    let link = martite_store::name::link_of(name)?;
    Some((link.table.into(), link.region.into(), link.hfile.into()))
}

#[test]
fn daughters_and_merged_regions_are_cloned_by_links_to_their_parents_files() {
    for tracker in ["DEFAULT", "FILE"] {
        let rig = Rig::new();
        rig.create(&plain("t").with(FILE_TRACKER, tracker), &[]).unwrap();
        for (row, value) in [("a", "1"), ("m", "3"), ("z", "2")] {
            rig.put("t", row, value);
        }
        rig.split(&rig.regions("t")[0].clone(), "k").unwrap();
        rig.snapshot("t", "split").unwrap();
        rig.restore("split", "c").unwrap();
        assert_eq!((rows(&rig, "c"), rig.regions("c").len()), (values(["1", "3", "2"]), 2));
        let all = rig.services().catalog.regions(&table("c"));
        assert_eq!(all.iter().filter(|r| r.info.is_split_parent()).count(), 1, "what was split is copied");
        rig.compact_and_clean("t");
        rig.merge(&rig.regions("t"), false).unwrap();
        rig.snapshot("t", "merged").unwrap();
        rig.restore("merged", "d").unwrap();
        assert!(!rig.host.region(rig.regions("d")[0].encoded_name()).unwrap().has_references());
        let rig = rig.crash();
        rig.check();
        assert_kept_by_hbase(&rig);
        for snapshot in ["split", "merged"] {
            rig.delete_snapshot(snapshot).unwrap();
        }
        rig.disable("t").unwrap();
        rig.delete("t").unwrap();
        rig.clean();
        for table in ["c", "d"] {
            assert_eq!(rows(&rig, table), values(["1", "3", "2"]), "{table}, {tracker}");
            rig.compact_and_clean(table);
            assert_eq!(rows(&rig, table), values(["1", "3", "2"]), "{table}, {tracker}");
        }
        rig.split(&rig.regions("d")[0].clone(), "b").unwrap();
        assert_eq!(rows(&rig, "d"), values(["1", "3", "2"]));
        let archive = rig.services().layout.archive_dir();
        rig.compact_and_clean("d");
        assert_eq!(files_below(&rig.fs, &archive), [""; 0], "{tracker}");
    }
}

#[test]
fn what_is_in_memory_is_left_out_if_asked_for_and_a_disabled_table_has_none() {
    let rig = Rig::new();
    with_rows(&rig);
    let of = |name: &str, kind: Type| pb::SnapshotDescription {
        name: name.into(),
        table: Some("t".into()),
        r#type: Some(kind as i32),
        ..Default::default()
    };
    rig.take_snapshot(of("skip", Type::Skipflush)).unwrap();
    rig.disable("t").unwrap();
    rig.take_snapshot(of("disabled", Type::Disabled)).unwrap();
    rig.restore("skip", "c").unwrap();
    rig.restore("disabled", "d").unwrap();
    assert_eq!((rows(&rig, "c"), rows(&rig, "d")), (values(["1", "", ""]), values(["1", "", "2"])));
}

#[test]
fn what_cannot_be_done_is_refused_by_class() {
    let rig = Rig::new();
    with_rows(&rig);
    rig.snapshot("t", "s").unwrap();
    assert_eq!(class_of(rig.snapshot("t", "s")), "SnapshotExistsException");
    assert_eq!(class_of(rig.snapshot("absent", "s2")), "SnapshotCreationException");
    assert_eq!(class_of(rig.restore("none", "c")), "SnapshotDoesNotExistException");
    assert_eq!(class_of(rig.delete_snapshot("none")), "SnapshotDoesNotExistException");
    for bad in ["../s", ".tmp", "", "a/b"] {
        assert_eq!(class_of(rig.snapshot("t", bad)), "DoNotRetryIOException", "{bad}");
        assert_eq!(class_of(rig.delete_snapshot(bad)), "DoNotRetryIOException", "{bad}");
    }
    assert!(rig.snapshot("hbase:meta", "m").unwrap_err().message.contains("System table snapshots are not allowed"));
    let asked = |name: &str| {
        let snapshot = Some(pb::SnapshotDescription { name: name.into(), ..Default::default() });
        rig.call("IsSnapshotDone", &pb::IsSnapshotDoneRequest { snapshot })
            .map(|answer: pb::IsSnapshotDoneResponse| answer.done)
    };
    assert_eq!(asked("s"), Ok(Some(true)));
    assert_eq!(class_of(asked("none")), "UnknownSnapshotException");
    let data = rig.services().layout.table_dir(&table("t"));
    rig.fs.remove_dir_all(&data.join(rig.regions("t")[0].encoded_name()).join("f")).unwrap();
    assert_eq!(class_of(rig.restore("s", "c")), "CorruptedSnapshotException");
    assert_eq!(rig.state("c"), None);
}

#[test]
fn a_snapshot_whose_time_is_over_is_neither_used_nor_kept() {
    let rig = Rig::new();
    with_rows(&rig);
    let of = |name: &str, ttl| pb::SnapshotDescription {
        name: name.into(),
        table: Some("t".into()),
        ttl,
        ..Default::default()
    };
    rig.take_snapshot(of("short", Some(60))).unwrap();
    rig.take_snapshot(of("long", Some(3600 * 24))).unwrap();
    rig.take_snapshot(of("forever", None)).unwrap();
    rig.clock.advance(Duration::from_secs(61));
    assert_eq!(class_of(rig.restore("short", "c")), "SnapshotTTLExpiredException");
    rig.master.run_chores();
    assert_eq!(rig.snapshots(), ["forever", "long"]);
    rig.restore("long", "c").unwrap();
}

#[test]
fn what_snapshots_alone_hold_counts_for_their_tables() {
    let rig = Rig::new();
    with_rows(&rig);
    let quota = pb::SpaceQuota {
        soft_limit: Some(1 << 30),
        violation_policy: Some(pb::SpaceViolationPolicy::NoWrites as i32),
        remove: None,
    };
    let space_limit = Some(pb::SpaceLimitRequest { quota: Some(quota) });
    let _: pb::SetQuotaResponse = rig.call("SetQuota", &pb::SetQuotaRequest { space_limit, ..of_table("t") }).unwrap();
    rig.snapshot("t", "s").unwrap();
    rig.snapshot("t", "same").unwrap();
    let used = || {
        rig.clock.advance(Duration::from_secs(600));
        // Measured by one, counted by the next.
        rig.master.run_chores();
        rig.master.run_chores();
        rig.services().quotas.verdict().tables["t"].used_bytes
    };
    let recorded = || rig.services().quotas.recorded(rig.services()).unwrap();
    let own = used();
    assert_eq!((recorded().snapshots["t"], recorded().namespace_snapshots["default"]), (0, 0));
    rig.put("t", "a", "newer");
    rig.compact_and_clean("t");
    let files: u64 = rig
        .regions("t")
        .iter()
        .map(|r| rig.host.region(r.encoded_name()).unwrap())
        .map(|r| r.stores().iter().map(|(_, store)| store.size_bytes()).sum::<u64>())
        .sum();
    let both = used();
    assert_eq!((both, recorded().snapshots["t"]), (files + own, own), "both snapshots hold the same files");
    let usage: Usage = rig.services().quotas.in_force()["t"];
    assert_eq!(usage.used_bytes, both);
    // What a restored table's links lead to counts for the snapshots, as long as these are there.
    rig.disable("t").unwrap();
    rig.restore("s", "t").unwrap();
    rig.enable("t").unwrap();
    assert_eq!((used(), recorded().snapshots["t"]), (own, own));
    for snapshot in ["s", "same"] {
        rig.delete_snapshot(snapshot).unwrap();
    }
    rig.compact_and_clean("t");
    let compacted = used();
    assert!((own / 2..own * 2).contains(&compacted), "{compacted}, {own} before");
    assert!(recorded().snapshots.is_empty());
}
