//! Every procedure, stopped at every change of the file system: the next start finishes it or undoes it.

use super::*;
use martite_catalog::table::FILE_TRACKER;
use martite_env::Fault;

/// Runs `act` on copies of what `prepare` left, with the machine stopping at the first, second, third … change of the
/// disk, until `act` gets through. After each crash a new master must serve, and `verify` must hold; it is told whether
/// the client was told of success.
fn at_every_change(prepare: impl Fn(&Rig), act: impl Fn(&Rig) -> Result<(), MasterError>, verify: impl Fn(&Rig, bool)) {
    let rig = Rig::new();
    prepare(&rig);
    let (fs, clock, run) = rig.stop();
    let mut crashes = 0;
    for nth in 1.. {
        assert!(nth < 2000, "no end");
        let rig = Rig::start(fs.crash(), clock.clone(), run + 1, &[]).unwrap();
        let before = rig.fs.mutations();
        rig.fs.inject(Fault::HaltAt { nth });
        let outcome = act(&rig);
        let reached = rig.fs.mutations() - before >= nth;
        let next = if nth % 3 == 0 { rig.fs.crash_torn(nth) } else { rig.fs.crash() };
        let next = match Rig::start(next, clock.clone(), run + 2, &[]) {
            Ok(next) => next,
            Err(e) => panic!("change {nth}, outcome {outcome:?}: no start: {e}"),
        };
        next.check();
        verify(&next, outcome.is_ok());
        if !reached {
            outcome.unwrap();
            break;
        }
        crashes += 1;
    }
    assert!(crashes > 3, "only {crashes} crashes");
}

#[test]
fn bootstrap() {
    for nth in 1.. {
        let clock = Arc::new(ManualClock::new(1_000_000));
        let fs = MemFs::with_clock(clock.clone());
        fs.inject(Fault::HaltAt { nth });
        let outcome = Rig::start(fs.clone(), clock.clone(), 1, &[]);
        let reached = fs.mutations() >= nth;
        let next = match Rig::start(fs.crash(), clock, 2, &[]) {
            Ok(next) => next,
            Err(e) => panic!("change {nth}: no start: {e}"),
        };
        next.check();
        assert_eq!(next.services().namespaces.list().len(), 2);
        if !reached {
            assert!(outcome.is_ok());
            assert!(nth > 30, "only {nth} changes");
            break;
        }
    }
}

#[test]
fn create_table() {
    at_every_change(
        |_| {},
        |rig| rig.create(&plain("t"), &["m"]),
        |rig, acknowledged| match rig.state("t") {
            None => {
                assert!(!acknowledged);
                rig.create(&plain("t"), &[]).unwrap();
            }
            Some(state) => {
                assert_eq!((state, rig.regions("t").len()), (TableState::Enabled, 2));
                rig.put("t", "a", "1");
            }
        },
    );
}

fn with_rows(rig: &Rig) {
    rig.create(&plain("t"), &["m"]).unwrap();
    rig.put("t", "a", "1");
    rig.put("t", "z", "2");
}

fn disabled_with_rows(rig: &Rig) {
    with_rows(rig);
    rig.disable("t").unwrap();
}

fn assert_values(rig: &Rig, table: &str, rows: [&str; 3], values: [&str; 3]) {
    assert_eq!(rows.map(|row| rig.get(table, row)), values.map(|value| Some(value.to_string())));
}

fn assert_rows(rig: &Rig) {
    assert_eq!((rig.get("t", "a").as_deref(), rig.get("t", "z").as_deref()), (Some("1"), Some("2")));
}

#[test]
fn disable_table() {
    at_every_change(
        with_rows,
        |rig| {
            put_unless_stopped(rig, "a", "1")?;
            rig.disable("t")
        },
        |rig, acknowledged| {
            if rig.state("t") == Some(TableState::Disabled) {
                rig.enable("t").unwrap();
            } else {
                assert!(!acknowledged);
            }
            assert_rows(rig);
        },
    );
}

#[test]
fn enable_table() {
    at_every_change(
        disabled_with_rows,
        |rig| rig.enable("t"),
        |rig, acknowledged| {
            if rig.state("t") == Some(TableState::Disabled) {
                assert!(!acknowledged);
                rig.enable("t").unwrap();
            }
            assert_rows(rig);
        },
    );
}

#[test]
fn delete_table() {
    at_every_change(
        disabled_with_rows,
        |rig| rig.delete("t"),
        |rig, acknowledged| match rig.state("t") {
            None => rig.create(&plain("t"), &[]).unwrap(),
            Some(_) => {
                assert!(!acknowledged);
                rig.enable("t").unwrap();
                assert_rows(rig);
            }
        },
    );
}

#[test]
fn truncate_table() {
    at_every_change(
        disabled_with_rows,
        |rig| rig.truncate("t", true),
        |rig, acknowledged| {
            if rig.state("t") == Some(TableState::Enabled) {
                assert_eq!((rig.get("t", "a"), rig.regions("t").len()), (None, 2));
            } else {
                assert!(!acknowledged);
                rig.enable("t").unwrap();
                assert_rows(rig);
            }
        },
    );
}

#[test]
fn modify_table() {
    at_every_change(
        with_rows,
        |rig| rig.modify(&plain("t").with_family(FamilyDescriptor::new("g"))),
        |rig, acknowledged| {
            let changed = rig.descriptor("t").family(b"g").is_some();
            assert!(changed || !acknowledged);
            for region in rig.regions("t") {
                let region = rig.host.region(region.encoded_name()).unwrap();
                assert_eq!(region.store(b"g").is_some(), changed, "every region has the new descriptor, or none");
            }
            assert_rows(rig);
        },
    );
}

#[test]
fn modify_file_tracker() {
    at_every_change(
        |rig| {
            with_rows(rig);
            rig.modify_file_tracker("FILE", None).unwrap();
        },
        |rig| rig.modify_file_tracker("DEFAULT", None),
        |rig, acknowledged| {
            let tracker = rig.descriptor("t").attributes.text(FILE_TRACKER).map(str::to_owned).unwrap();
            assert!(tracker == "DEFAULT" || (tracker == "FILE" && !acknowledged), "{tracker}");
            assert_rows(rig);
            rig.modify_file_tracker("FILE", None).unwrap();
            assert_rows(rig);
        },
    );
}

#[test]
fn split_region_with_listed_files() {
    at_every_change(
        |rig| {
            with_rows(rig);
            rig.modify_file_tracker("FILE", None).unwrap();
            let halves = rig.regions("t");
            rig.merge(&halves, false).unwrap();
            let merged = rig.host.region(rig.regions("t")[0].encoded_name()).unwrap();
            merged.compact(None, true, &martite_store::Unthrottled).unwrap();
        },
        |rig| rig.split(&rig.regions("t")[0], "k"),
        |rig, acknowledged| {
            let count = rig.regions("t").len();
            assert!(count == 2 || (count == 1 && !acknowledged), "{count} regions");
            assert_rows(rig);
        },
    );
}

#[test]
fn split_region() {
    at_every_change(
        with_rows,
        |rig| {
            let first = rig.regions("t")[0].clone();
            rig.split(&first, "c")
        },
        |rig, acknowledged| {
            let count = rig.regions("t").len();
            assert!(count == 3 || (count == 2 && !acknowledged), "{count} regions");
            assert_rows(rig);
            rig.put("t", "b", "3");
        },
    );
}

#[test]
fn split_region_with_rows_in_memory() {
    at_every_change(
        |rig| rig.create(&plain("t"), &[]).unwrap(),
        |rig| {
            let region = rig.regions("t")[0].clone();
            // Before the first change of the disk these cannot fail.
            if rig.fs.mutations() > 0 && rig.get("t", "a").is_none() {
                put_unless_stopped(rig, "a", "1")?;
                put_unless_stopped(rig, "z", "2")?;
            }
            rig.split(&region, "m")
        },
        |rig, acknowledged| {
            if acknowledged {
                assert_rows(rig);
                assert_eq!(rig.regions("t").len(), 2);
            }
            // What was written before a later row is there if that is.
            assert!(rig.get("t", "a").is_some() || rig.get("t", "z").is_none());
        },
    );
}

fn put_unless_stopped(rig: &Rig, row: &str, value: &str) -> Result<(), MasterError> {
    let region = rig.region_of("t", row).unwrap();
    let mut cells = CellBuf::new(false);
    let cell = OwnedCell::put(row.as_bytes(), b"f", b"q", LATEST_TIMESTAMP, value.as_bytes());
    cells.push(&cell.as_ref());
    let mut request = WriteRequest::batch(vec![Mutation::new(MutationKind::Put, row.to_string(), cells)]);
    match region.write(&mut request, &rig.host.ctx.stores.files.blocking())? {
        Step::Ready(written) => Ok(written.pending.wait()?),
        Step::Need(block) => panic!("a blocking source was asked for {block:?}"),
    }
}

#[test]
fn merge_regions() {
    at_every_change(
        with_rows,
        |rig| rig.merge(&rig.regions("t"), false),
        |rig, acknowledged| {
            let count = rig.regions("t").len();
            assert!(count == 1 || (count == 2 && !acknowledged), "{count} regions");
            assert_rows(rig);
        },
    );
}

#[test]
fn janitor() {
    at_every_change(
        |rig| {
            with_rows(rig);
            let first = rig.regions("t")[0].clone();
            rig.split(&first, "c").unwrap();
            for region in rig.regions("t") {
                let region = rig.host.region(region.encoded_name()).unwrap();
                region.compact(None, true, &martite_store::Unthrottled).unwrap();
            }
        },
        |rig| crate::janitor::run(rig.services()).map(|_| ()),
        |rig, _| {
            assert_rows(rig);
            crate::janitor::run(rig.services()).unwrap();
            assert!(rig.services().catalog.regions(&table("t")).iter().all(|r| r.is_live()));
            assert_rows(rig);
        },
    );
}

#[test]
fn namespaces() {
    at_every_change(
        |_| {},
        |rig| rig.create_namespace("ns"),
        |rig, acknowledged| {
            let there = rig.services().namespaces.get("ns").is_some();
            assert!(there || !acknowledged);
            if !there {
                rig.create_namespace("ns").unwrap();
            }
            rig.delete_namespace("ns").unwrap();
        },
    );
    at_every_change(
        |rig| rig.create_namespace("ns").unwrap(),
        |rig| rig.delete_namespace("ns"),
        |rig, acknowledged| assert!(!acknowledged || rig.services().namespaces.get("ns").is_none()),
    );
}

#[test]
fn truncate_region() {
    at_every_change(
        with_rows,
        |rig| {
            let request =
                pb::TruncateRegionRequest { region_info: rig.regions("t")[0].to_proto(), ..Default::default() };
            let response: pb::TruncateRegionResponse = rig.call("TruncateRegion", &request)?;
            rig.done(response.proc_id)
        },
        |rig, acknowledged| {
            assert!(!acknowledged || rig.get("t", "a").is_none());
            assert_eq!(rig.get("t", "z").as_deref(), Some("2"));
        },
    );
}

#[test]
fn snapshot() {
    at_every_change(
        with_rows,
        |rig| rig.snapshot("t", "s"),
        |rig, acknowledged| {
            assert_rows(rig);
            let is_there = rig.snapshots() == ["s"];
            assert!(is_there || !acknowledged);
            if !is_there {
                rig.snapshot("t", "s").unwrap();
            }
            rig.restore("s", "c").unwrap();
            assert_eq!((rig.get("c", "a").as_deref(), rig.get("c", "z").as_deref()), (Some("1"), Some("2")));
        },
    );
}

#[test]
fn clone_snapshot() {
    at_every_change(
        |rig| {
            with_rows(rig);
            // With a region that was split, and daughters that refer to it.
            rig.put("t", "d", "3");
            rig.split(&rig.regions("t")[0].clone(), "c").unwrap();
            rig.snapshot("t", "s").unwrap();
        },
        |rig| rig.restore("s", "c"),
        |rig, acknowledged| {
            assert!(rig.state("c").is_some() || !acknowledged);
            if rig.state("c").is_none() {
                rig.restore("s", "c").unwrap();
            }
            rig.delete_snapshot("s").unwrap();
            rig.disable("t").unwrap();
            rig.delete("t").unwrap();
            rig.clean();
            assert_values(rig, "c", ["a", "d", "z"], ["1", "3", "2"]);
        },
    );
}

#[test]
fn restore_snapshot() {
    at_every_change(
        |rig| {
            with_rows(rig);
            rig.put("t", "d", "3");
            rig.split(&rig.regions("t")[0].clone(), "c").unwrap();
            rig.snapshot("t", "s").unwrap();
            rig.modify(&plain("t").with_family(FamilyDescriptor::new("g"))).unwrap();
            rig.put("t", "a", "newer");
            rig.disable("t").unwrap();
        },
        |rig| rig.restore("s", "t"),
        |rig, acknowledged| {
            rig.enable("t").unwrap();
            rig.clean();
            let restored = rig.descriptor("t").family(b"g").is_none();
            assert!(restored || !acknowledged);
            let a = if restored { "1" } else { "newer" };
            assert_values(rig, "t", ["a", "d", "z"], [a, "3", "2"]);
        },
    );
}

#[test]
fn delete_snapshot() {
    at_every_change(
        |rig| {
            with_rows(rig);
            rig.snapshot("t", "s").unwrap();
        },
        |rig| rig.delete_snapshot("s"),
        |rig, acknowledged| {
            if rig.snapshots() == ["s"] {
                assert!(!acknowledged);
                rig.restore("s", "c").unwrap();
                assert_eq!(rig.get("c", "a").as_deref(), Some("1"));
            } else {
                assert!(!rig.fs.exists(&rig.services().layout.working_snapshots_dir()));
                rig.snapshot("t", "s").unwrap();
            }
        },
    );
}
