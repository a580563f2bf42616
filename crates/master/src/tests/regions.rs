//! Splits, merges, and what becomes of single regions.

use super::*;
use martite_catalog::RegionState;

fn loaded() -> Rig {
    let rig = Rig::new();
    rig.create(&plain("t"), &[]).unwrap();
    for row in ["a", "h", "p", "z"] {
        rig.put("t", row, row);
    }
    rig
}

fn assert_rows(rig: &Rig) {
    for row in ["a", "h", "p", "z"] {
        assert_eq!(rig.get("t", row).as_deref(), Some(row));
    }
}

fn compact(rig: &Rig) {
    for region in rig.regions("t") {
        let region = rig.host.region(region.encoded_name()).unwrap();
        region.compact(None, true, &martite_store::Unthrottled).unwrap();
    }
}

#[test]
fn a_split_keeps_every_row_and_its_parent_goes_when_it_is_needed_no_more() {
    let rig = loaded();
    let parent = rig.regions("t")[0].clone();
    assert!(rig.split(&parent, "k").is_ok());
    rig.check();
    assert_eq!(rig.regions("t").len(), 2);
    assert_rows(&rig);
    let entry = rig.services().catalog.region(parent.encoded_name()).unwrap();
    assert_eq!((entry.state, entry.info.is_split_parent()), (RegionState::Split, true));
    let again = rig.split(&rig.regions("t")[0], "c").unwrap_err();
    assert!(again.message.ends_with("NOT splittable"), "{}", again.message);
    let clean = |rig: &Rig| -> Option<i32> {
        let response: pb::RunCatalogScanResponse = rig.call("RunCatalogScan", &pb::RunCatalogScanRequest {}).unwrap();
        response.scan_result
    };
    assert_eq!(clean(&rig), Some(0), "the daughters still read the parent's files");
    compact(&rig);
    assert_eq!(clean(&rig), Some(1));
    assert!(rig.services().catalog.region(parent.encoded_name()).is_none());
    assert!(!rig.fs.exists(&rig.services().layout.region_dir(&parent)));
    assert_rows(&rig);
    let rig = rig.crash();
    rig.check();
    assert_rows(&rig);
    rig.split(&rig.regions("t")[0], "c").unwrap();
    assert_rows(&rig);
}

#[test]
fn a_merge_keeps_every_row() {
    let rig = Rig::new();
    rig.create(&plain("t"), &["k", "s"]).unwrap();
    for row in ["a", "h", "p", "z"] {
        rig.put("t", row, row);
    }
    let regions = rig.regions("t");
    assert_eq!(class_of(rig.merge(&[regions[0].clone(), regions[2].clone()], false)), "MergeRegionException");
    assert_eq!(class_of(rig.merge(&regions[..1], false)), "MergeRegionException");
    rig.merge(&[regions[1].clone(), regions[0].clone()], false).unwrap();
    rig.check();
    assert_rows(&rig);
    let merged = rig.regions("t")[0].clone();
    assert_eq!((rig.regions("t").len(), &merged.end_key()[..]), (2, &b"s"[..]));
    let rig = rig.crash();
    assert_rows(&rig);
    assert_eq!(rig.services().catalog.region(merged.encoded_name()).unwrap().merged.len(), 2);
    compact(&rig);
    rig.master.run_chores();
    assert!(rig.services().catalog.region(merged.encoded_name()).unwrap().merged.is_empty());
    assert!(!rig.fs.exists(&rig.services().layout.region_dir(&regions[0])));
    rig.merge(&rig.regions("t"), false).unwrap();
    assert_rows(&rig);
    rig.check();
}

#[test]
fn splits_are_refused_in_hbases_words() {
    let rig = Rig::new();
    rig.create(&plain("t"), &["c"]).unwrap();
    let region = rig.regions("t")[1].clone();
    let split = |row: &str| rig.split(&region, row).unwrap_err().message;
    assert_eq!(split("c"), "Split row is equal to startkey: c");
    assert!(split("a").starts_with("Split row is not inside region key range splitKey:a region: {ENCODED => "));
    assert!(split("").starts_with("Region not splittable because bestSplitPoint = null"), "{}", split(""));
    let request = pb::SetSplitOrMergeEnabledRequest { enabled: false, synchronous: None, switch_types: vec![0] };
    let _: pb::SetSplitOrMergeEnabledResponse = rig.call("SetSplitOrMergeEnabled", &request).unwrap();
    assert_eq!(split("k"), format!("Split region {} failed due to split switch off", region.name_string()));
    assert!(rig.master.request_split(region.encoded_name()).is_err());
    assert_eq!(class_of(rig.master.request_split("0123")), "UnknownRegionException");
}

#[test]
fn a_split_without_a_row_finds_the_middle_of_what_is_in_memory() {
    let rig = loaded();
    let large = "x".repeat(70_000);
    for row in ["b", "i", "q"] {
        rig.put("t", row, &large);
    }
    let id = rig.master.request_split(rig.regions("t")[0].encoded_name()).unwrap();
    rig.master.wait(id).unwrap();
    assert_eq!(rig.regions("t").len(), 2);
    assert_rows(&rig);
    rig.check();
}

#[test]
fn regions_can_be_closed_and_opened_by_hand() {
    let rig = loaded();
    let region = rig.regions("t")[0].clone();
    let unassign = |rig: &Rig| -> Result<pb::UnassignRegionResponse, MasterError> {
        rig.call("UnassignRegion", &pb::UnassignRegionRequest { region: specifier(&region), force: None })
    };
    unassign(&rig).unwrap();
    assert_eq!(rig.get("t", "a"), None);
    let twice = unassign(&rig).unwrap_err();
    assert_eq!(
        twice.message,
        format!("Unexpected state for state=CLOSED, location=h,1,1, table=t, region={}", region.encoded_name())
    );
    let assign = pb::AssignRegionRequest { region: specifier(&region), r#override: None };
    let _: pb::AssignRegionResponse = rig.call("AssignRegion", &assign).unwrap();
    assert_rows(&rig);
    let truncate = pb::TruncateRegionRequest { region_info: region.to_proto(), ..Default::default() };
    let response: pb::TruncateRegionResponse = rig.call("TruncateRegion", &truncate).unwrap();
    rig.done(response.proc_id).unwrap();
    assert_eq!((rig.get("t", "a"), rig.regions("t")), (None, vec![region]));
    rig.check();
}

#[test]
fn flush_writes_files() {
    let rig = loaded();
    let region = rig.host.region(rig.regions("t")[0].encoded_name()).unwrap();
    let flush = |families: Vec<Bytes>| -> Result<(), MasterError> {
        let request =
            pb::FlushTableRequest { table_name: table("t").to_proto(), column_family: families, ..Default::default() };
        let response: pb::FlushTableResponse = rig.call("FlushTable", &request)?;
        rig.done(response.proc_id)
    };
    flush(vec![]).unwrap();
    assert_eq!(region.store(b"f").unwrap().file_count(), 1);
    assert_eq!(flush(vec!["x".into()]).unwrap_err().message, "Column families [x] don't exist in table t");
    let older = pb::ExecProcedureRequest {
        procedure: pb::ProcedureDescription {
            signature: "flush-table-proc".into(),
            instance: Some("t".into()),
            ..Default::default()
        },
    };
    rig.put("t", "b", "b");
    let _: pb::ExecProcedureResponse = rig.call("ExecProcedure", &older).unwrap();
    assert_eq!(region.store(b"f").unwrap().file_count(), 2);
}

#[test]
fn a_table_whose_policy_forbids_splits_is_not_split() {
    let rig = Rig::new();
    let policy = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy";
    rig.create(&plain("t").with("SPLIT_POLICY", policy), &[]).unwrap();
    rig.put("t", "a", "1");
    let error = rig.split(&rig.regions("t")[0], "c").unwrap_err();
    assert!(error.message.ends_with("NOT splittable"), "{}", error.message);
    assert_eq!(rig.regions("t").len(), 1);
}

/// Replica columns of the first region of "t" that hbase:meta has: `column → value`, binary values as `…`.
fn replica_columns(rig: &Rig) -> Vec<String> {
    let row = rig.regions("t")[0].name().clone();
    let rows = rig.services().meta.scan(None).unwrap();
    let cells = rows.iter().find(|cells| cells[0].as_ref().row() == row).unwrap();
    let text = |value: &[u8]| {
        let printed = value.is_empty() || value.iter().any(u8::is_ascii_alphabetic);
        if printed { to_string_binary(value) } else { "…".into() }
    };
    let column =
        |cell: &OwnedCell| format!("{} {}", to_string_binary(cell.as_ref().qualifier()), text(cell.as_ref().value));
    let newest = |cells: &[OwnedCell]| {
        let mut columns: Vec<String> = Vec::new();
        for cell in cells {
            let name = format!("{} ", to_string_binary(cell.as_ref().qualifier()));
            if !columns.iter().any(|c| c.starts_with(&name)) {
                columns.push(column(cell));
            }
        }
        columns
    };
    newest(cells).into_iter().filter(|c| c.contains("_000")).collect()
}

#[test]
fn replicas_are_where_their_region_is() {
    let rig = Rig::new();
    let server = rig.host.server_name();
    let located = |id: i32| {
        [
            format!("seqnumDuringOpen_{id:04X} …"),
            format!("server_{id:04X} {}", server.address()),
            format!("serverstartcode_{id:04X} …"),
            format!("sn_{id:04X} {server}"),
            format!("state_{id:04X} OPEN"),
        ]
    };
    let two = |ids: [i32; 2]| {
        let mut all: Vec<String> = ids.into_iter().flat_map(located).collect();
        all.sort();
        all
    };
    rig.create(&plain("t").with("REGION_REPLICATION", "3"), &[]).unwrap();
    assert_eq!(replica_columns(&rig), two([1, 2]));
    rig.modify(&rig.descriptor("t").with("REGION_REPLICATION", "2")).unwrap();
    assert_eq!(replica_columns(&rig), located(1));
    rig.disable("t").unwrap();
    assert!(replica_columns(&rig).contains(&"state_0001 CLOSED".to_string()));
    rig.modify(&rig.descriptor("t").with("REGION_REPLICATION", "1")).unwrap();
    assert_eq!(replica_columns(&rig), [""; 0]);
}

#[test]
fn of_meta_only_the_number_of_replicas_changes() {
    let rig = Rig::new();
    let meta = rig.descriptor("hbase:meta");
    rig.modify(&meta.clone().with("REGION_REPLICATION", "3")).unwrap();
    let rig = rig.restart();
    assert_eq!(rig.descriptor("hbase:meta").region_replication(), 3);
    let error = rig.modify(&meta.with("MAX_FILESIZE", "1000000000")).unwrap_err();
    assert!(error.message.contains("is not supported by this server"), "{}", error.message);
}

#[test]
fn a_table_changes_how_it_knows_its_files() {
    let rig = Rig::new();
    rig.create(&plain("t"), &["m"]).unwrap();
    rig.put("t", "a", "1");
    let settings = |rig: &Rig| -> Vec<String> {
        let table = rig.descriptor("t");
        let family = table.family(b"f").unwrap();
        let keys = ["impl", "migration.src.impl", "migration.dst.impl"];
        let key = |key: &&str| format!("hbase.store.file-tracker.{key}");
        let of_table = keys.iter().filter_map(|k| table.attributes.text(&key(k)).map(str::to_owned));
        of_table.chain(keys.iter().filter_map(|k| family.configuration.get(&key(k)).cloned())).collect()
    };
    rig.modify_file_tracker("file", None).unwrap();
    assert_eq!(settings(&rig), ["FILE"]);
    assert_eq!(rig.get("t", "a").as_deref(), Some("1"));
    rig.modify_file_tracker("FILE", None).unwrap();
    let migration = rig.descriptor("t").with("hbase.store.file-tracker.impl", "MIGRATION");
    let migration = migration
        .with("hbase.store.file-tracker.migration.src.impl", "FILE")
        .with("hbase.store.file-tracker.migration.dst.impl", "DEFAULT");
    rig.modify(&migration).unwrap();
    rig.modify_file_tracker("FILE", None).unwrap();
    assert_eq!(settings(&rig), ["FILE"], "by way of DEFAULT");
    rig.modify_file_tracker("DEFAULT", Some("f")).unwrap();
    assert_eq!(settings(&rig), ["FILE", "DEFAULT"]);
    assert_eq!(rig.get("t", "a").as_deref(), Some("1"));
    let rig = rig.restart();
    assert_eq!(rig.get("t", "a").as_deref(), Some("1"));
    let class = |outcome: Result<(), MasterError>| outcome.unwrap_err().class.rsplit('.').next().unwrap().to_owned();
    assert_eq!(class(rig.modify_file_tracker("MIGRATION", None)), "DoNotRetryIOException");
    assert_eq!(class(rig.modify_file_tracker("FILE", Some("g"))), "NoSuchColumnFamilyException");
    rig.disable("t").unwrap();
    assert_eq!(class(rig.modify_file_tracker("DEFAULT", None)), "TableNotEnabledException");
    assert_eq!(class(rig.create(&migration, &[])), "DoNotRetryIOException");
}
