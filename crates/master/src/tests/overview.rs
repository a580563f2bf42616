//! What pages show of the master.

use super::*;
use crate::SnapshotFiles;

#[test]
fn an_overview_has_tables_regions_procedures_and_snapshots() {
    let rig = Rig::new();
    rig.create(&plain("t"), &["m"]).unwrap();
    rig.put("t", "a", "1");
    rig.snapshot("t", "s").unwrap();
    rig.disable("t").unwrap();

    let names = |tables: Vec<crate::TableOverview>| -> Vec<String> {
        tables.iter().map(|table| table.descriptor.name().to_string()).collect()
    };
    let master = &rig.master;
    assert!(names(master.tables()).contains(&"t".to_owned()), "{:?}", names(master.tables()));
    let table = master.table(&TableName::parse("t").unwrap()).unwrap();
    let regions: Vec<_> =
        table.regions.iter().map(|r| (r.info.start_key().as_ref(), r.state.name(), r.is_live)).collect();
    assert_eq!(regions, [(&b""[..], "CLOSED", true), (b"m", "CLOSED", true)]);
    assert_eq!(table.state.name(), "DISABLED");
    assert!(master.table(&TableName::parse("u").unwrap()).is_none());

    let procedures = master.procedures_known();
    assert!(procedures.is_sorted_by_key(|p| std::cmp::Reverse(p.proc_id)));
    let last = procedures.iter().find(|p| p.parent_id.is_none()).unwrap();
    assert!(last.class_name.ends_with("DisableTableProcedure"), "{}", last.class_name);
    let times = master.procedure_times();
    let count = |class: &str| times.iter().find(|(of, _)| *of == class).map_or(0, |(_, times)| times.count());
    assert_eq!((count("SnapshotProcedure"), count("DisableTableProcedure"), count("EnableTableProcedure")), (1, 1, 0));
    assert!(master.locks().is_empty(), "all is done: {:?}", master.locks());
    assert!(master.switches().iter().all(|(_, on)| *on));
    assert_eq!(master.namespaces().iter().map(|n| n.name().to_owned()).collect::<Vec<_>>(), ["default", "hbase"]);

    let snapshots = master.snapshots().unwrap();
    assert_eq!(snapshots.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["s"]);
    let SnapshotFiles { regions, files, size_bytes } = master.snapshot_files("s").unwrap();
    assert!((regions, files) == (2, 1) && size_bytes > 0, "{regions} {files} {size_bytes}");
    assert!(master.snapshot_files("none").is_err());
}
