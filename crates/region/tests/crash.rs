//! Crashes at every change of the file system, failed syncs, damaged files.
#![allow(clippy::unwrap_used)]

mod rig;

use martite_env::{Fault, FileSystem, Op};
use martite_region::{Region, RegionConfig, RegionError, RegionEvents, WriteRequest};
use rig::{ROOT, Rig, increment, put};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What one run acknowledged, and what it began.
#[derive(Default)]
struct Run {
    acknowledged: u32,
    begun: u32,
}

/// Writes, flushes, compacts, closes and opens; stops at the first error.
fn work(rig: &mut Rig, run: &mut Run) -> Result<(), RegionError> {
    for i in 0..14u32 {
        rig.clock.advance_ms(1);
        run.begun = i + 1;
        let value = format!("{i}");
        let row = format!("row{}", i % 4);
        let cells =
            vec![put(&row, "f:v", value.as_bytes()), put(&row, "g:v", value.as_bytes()), increment("sum", "f:n", 1)];
        rig.write(WriteRequest::atomic(cells, None, 0))?;
        run.acknowledged = i + 1;
        match i {
            3 => drop(rig.region.flush(None, "test")?),
            6 => drop(rig.region.flush(Some(&[rig::bytes("g")]), "test")?),
            8 => drop(rig.region.flush(None, "test")?),
            9 => drop(rig.region.compact(None, true, &martite_store::Unthrottled)?),
            11 => {
                rig.region.close(false)?;
                rig.ctx.wal.close()?;
                *rig = Rig::start(
                    rig.fs.clone(),
                    rig.clock.clone(),
                    rig.table.clone(),
                    rig.config.clone(),
                    rig.ctx.server.start_code + 1,
                )?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Everything acknowledged is there, and what else is there is whole.
fn check(rig: &Rig, run: &Run, at: u64) {
    let sum = rig.row("sum");
    let writes: u32 = sum.strip_prefix("f:n=#").map_or(0, |n| n.parse().unwrap());
    assert!((run.acknowledged..=run.begun).contains(&writes), "change {at}: {writes} of {}", run.acknowledged);
    let mut expected = BTreeMap::new();
    for i in 0..writes {
        expected.insert(format!("row{}", i % 4), format!("f:v={i} g:v={i}"));
    }
    for (row, cells) in &expected {
        assert_eq!(&rig.row(row), cells, "change {at}, {row}");
    }
}

#[test]
fn a_crash_at_every_change_loses_nothing_acknowledged_and_halves_nothing() {
    let (mut whole, mut run) = (Rig::new(), Run::default());
    let from = whole.fs.mutations();
    work(&mut whole, &mut run).unwrap();
    assert_eq!((run.acknowledged, run.begun), (14, 14));
    let changes = whole.fs.mutations() - from;
    assert!(changes > 60, "{changes} changes");
    for nth in 1..=changes {
        for torn in [None, Some(nth)] {
            let (mut rig, mut run) = (Rig::new(), Run::default());
            rig.fs.inject(Fault::HaltAt { nth });
            let result = work(&mut rig, &mut run);
            // Full logs are archived in the background: the last changes may come when the work is over.
            assert!(result.is_err() || nth + 10 > changes, "change {nth} of {changes} did not stop the work");
            let code = rig.ctx.server.start_code + 2;
            let disk = match torn {
                None => rig.fs.crash(),
                Some(seed) => rig.fs.crash_torn(seed),
            };
            let after = Rig::start(disk, rig.clock.clone(), rig.table.clone(), rig.config.clone(), code)
                .unwrap_or_else(|e| {
                    panic!("change {nth}, torn {torn:?}: {e}");
                });
            check(&after, &run, nth);
            assert!(after.region.open_seq_num() > rig.region.open_seq_num(), "change {nth}");
            // And it goes on.
            after.put("row0", "f:v", b"after").unwrap();
            let again = after.crash();
            assert!(again.row("row0").starts_with("f:v=after"), "change {nth}");
        }
    }
}

#[test]
fn a_failed_sync_is_the_end_of_acknowledging() {
    let rig = Rig::new();
    rig.put("c", "f:a", b"1").unwrap();
    rig.fs.inject(Fault::Once { op: Op::Sync, nth: 1 });
    let error = rig.put("c", "f:a", b"2").unwrap_err();
    assert!(matches!(error, RegionError::Wal(_)), "{error:?}");
    for _ in 0..2 {
        assert!(matches!(rig.put("c", "f:a", b"3").unwrap_err(), RegionError::Wal(_)));
        assert!(matches!(rig.region.flush(None, "test").unwrap_err(), RegionError::Wal(_)));
    }
    // What was not acknowledged is not shown.
    assert_eq!(rig.row("c"), "f:a=1");
    assert_eq!(rig.crash().row("c"), "f:a=1");
}

#[test]
fn a_flush_that_fails_loses_nothing_and_the_next_one_works() {
    for (op, nth) in [(Op::Create, 1), (Op::Write, 1), (Op::Rename, 1), (Op::SyncDir, 1)] {
        let rig = Rig::new();
        rig.put("c", "f:a", b"1").unwrap();
        // The marker of the flush is a write and a sync of the log: only the flush itself makes and moves files.
        rig.fs.inject(Fault::Once { op, nth: if op == Op::Write { nth + 1 } else { nth } });
        assert!(rig.region.flush(None, "test").is_err(), "{op:?}");
        assert_eq!(rig.row("c"), "f:a=1", "{op:?}");
        rig.put("c", "f:b", b"2").unwrap();
        assert_eq!(rig.crash().row("c"), "f:a=1 f:b=2", "{op:?}");
        let outcome = rig.region.flush(None, "test").unwrap();
        assert!(outcome.flushed, "{op:?}");
        rig.put("c", "f:d", b"3").unwrap();
        assert_eq!(rig.row("c"), "f:a=1 f:b=2 f:d=3", "{op:?}");
        assert_eq!(rig.crash().row("c"), "f:a=1 f:b=2 f:d=3", "{op:?}");
    }
}

/// Hears what its region says.
#[derive(Default)]
struct Heard(parking_lot::Mutex<Vec<RegionError>>);

impl RegionEvents for Heard {
    fn flush_wanted(&self, _: &Region) {}
    fn flushed(&self, _: &Region) {}
    fn must_stop(&self, error: &RegionError) {
        self.0.lock().push(error.clone());
    }
}

#[test]
fn a_file_in_doubt_stops_the_server_and_whatever_is_left_of_it_loses_nothing() {
    for (first, second) in [(Op::SyncDir, Op::SyncDir), (Op::SyncDir, Op::Remove), (Op::Rename, Op::Remove)] {
        let heard = Arc::new(Heard::default());
        let mut rig = Rig::new();
        rig.listen(heard.clone());
        rig.put("c", "f:a", b"1").unwrap();
        rig.region.flush(None, "test").unwrap();
        rig.put("c", "f:b", b"2").unwrap();
        rig.fs.inject(Fault::Once { op: first, nth: 1 });
        rig.fs.inject(Fault::Once { op: second, nth: if first == second { 2 } else { 1 } });
        for _ in 0..2 {
            let error = rig.region.flush(None, "test").unwrap_err();
            assert!(matches!(error, RegionError::InDoubt(_)), "{first:?}, {second:?}: {error:?}");
        }
        assert!(heard.0.lock().iter().all(RegionError::must_stop));
        assert!(!heard.0.lock().is_empty(), "{first:?}, {second:?}");
        assert!(rig.region.compact(None, true, &martite_store::Unthrottled).unwrap().is_empty());
        // Until it has stopped it serves.
        rig.put("c", "f:d", b"3").unwrap();
        assert_eq!(rig.row("c"), "f:a=1 f:b=2 f:d=3");
        for disk in [rig.fs.clone(), rig.fs.crash(), rig.fs.crash_torn(1), rig.fs.crash_torn(2)] {
            let after = rig.restart(disk);
            assert_eq!(after.row("c"), "f:a=1 f:b=2 f:d=3", "{first:?}, {second:?}");
            after.region.flush(None, "test").unwrap();
            assert_eq!(after.reopen().row("c"), "f:a=1 f:b=2 f:d=3", "{first:?}, {second:?}");
        }
    }
}

#[test]
fn replay_in_little_memory_flushes_on_the_way() {
    let config = RegionConfig { flush_size_bytes: 20_000, block_multiplier: 1000, ..RegionConfig::default() };
    let rig = Rig::with(rig::table(&["f", "g"]), config);
    for i in 0..300 {
        rig.put(&format!("row{i:03}"), "f:a", &[b'x'; 500]).unwrap();
    }
    let after = rig.crash();
    let files = after.region.load().files;
    assert!((9..20).contains(&files), "flushed on the way, {files} files");
    let present = (0..300).filter(|i| after.row(&format!("row{i:03}")).len() == 504).count();
    assert_eq!(present, 300);
    let edits = after.fs.list(&after.region_dir().join("recovered.edits")).unwrap();
    assert!(edits.iter().all(|e| e.name.ends_with(".seqid")), "{edits:?}");
}

#[test]
fn damaged_edits_stop_the_opening_or_are_set_aside() {
    let rig = Rig::new();
    rig.put("c", "f:a", b"1").unwrap();
    let disk = rig.fs.crash();
    let dir = rig.region_dir().join("recovered.edits");
    disk.write_atomic(&dir.join("0000000000000000099"), b"not a log").unwrap();
    let start = |config: RegionConfig| Rig::start(disk.clone(), rig.clock.clone(), rig.table.clone(), config, 2);
    let Err(error) = start(rig.config.clone()) else { panic!("opened") };
    assert!(matches!(error, RegionError::Corrupt(_)), "{error:?}");
    assert!(error.to_string().contains("0000000000000000099"), "{error}");
    let after = start(RegionConfig { skip_bad_edits: true, ..rig.config.clone() }).unwrap();
    assert_eq!(after.row("c"), "f:a=1");
    assert!(disk.exists(&dir.join("0000000000000000099.1000")));
}

#[test]
fn old_logs_go_to_the_archive_once_everything_is_flushed() {
    let rig = Rig::new();
    rig.put("c", "f:a", b"1").unwrap();
    rig.ctx.wal.roll().unwrap();
    rig.put("c", "g:a", b"1").unwrap();
    assert_eq!(rig.ctx.wal.stats().files, 2);
    rig.region.flush(Some(&[rig::bytes("f")]), "test").unwrap();
    rig.region.flush(Some(&[rig::bytes("g")]), "test").unwrap();
    rig.ctx.wal.roll().unwrap();
    assert_eq!(rig.ctx.wal.stats().files, 1);
    assert_eq!(rig.fs.list(&Path::new(ROOT).join("oldWALs")).unwrap().len(), 2);
    assert_eq!(rig.crash().row("c"), "f:a=1 g:a=1");
}

#[test]
fn a_crash_under_many_writers_keeps_what_each_was_told() {
    for nth in (1..80).step_by(3) {
        let rig = Rig::new();
        rig.fs.inject(Fault::HaltAt { nth });
        let told: Vec<(u64, u64)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|t| {
                    let rig = &rig;
                    scope.spawn(move || {
                        let (mut acknowledged, mut begun) = (0, 0);
                        for i in 0..60 {
                            begun += 1;
                            let m = vec![increment(&format!("row{t}"), "f:n", 1), increment("sum", "g:n", 1)];
                            if rig.write(WriteRequest::atomic(m, None, 0)).is_err() {
                                break;
                            }
                            acknowledged += 1;
                            if t == 0 && i == 20 && rig.region.flush(None, "test").is_err() {
                                break;
                            }
                        }
                        (acknowledged, begun)
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let after = rig.restart(rig.fs.crash_torn(nth));
        let number = |row: &str| -> u64 {
            let row = after.row(row);
            row.split_once("=#").map_or(0, |(_, n)| n.parse().unwrap())
        };
        let mut sum = 0;
        for (t, (acknowledged, begun)) in told.iter().enumerate() {
            let there = number(&format!("row{t}"));
            assert!((*acknowledged..=*begun).contains(&there), "change {nth}, thread {t}: {there} of {told:?}");
            sum += there;
        }
        assert_eq!(number("sum"), sum, "change {nth}");
    }
}
