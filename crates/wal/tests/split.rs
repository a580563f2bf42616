//! Splitting dead logs into the recovered edits of their regions, also when it is interrupted.
#![allow(clippy::unwrap_used)]

mod rig;

use bytes::Bytes;
use martite_cell::{CellBuf, OwnedCell};
use martite_env::{Fault, FileSystem, MemFs};
use martite_wal::{Entry, SplitOptions, Wal, WalError, WalReader, split_logs, split_logs_with};
use rig::{F, R1, R2, archive, dir, edit, entries, log, names, put, quiet, seqs, sized_edit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new("/root")
}

fn region(name: &Bytes) -> PathBuf {
    root().join("data/ns/table").join(std::str::from_utf8(name).unwrap())
}

fn edits(name: &Bytes) -> PathBuf {
    region(name).join("recovered.edits")
}

fn marker(wal: &Wal, seq: u64, qualifier: &str) {
    let mut cells = CellBuf::new(true);
    cells.push(&OwnedCell::put(b"", b"METAFAMILY", qualifier.as_bytes(), 1, b"descriptor").as_ref());
    let ticket = wal
        .append(&Entry { cells: cells.bytes().into(), cell_count: 1, families: (&[]).into(), ..edit(&R1, seq) })
        .unwrap();
    wal.sync(ticket).unwrap();
}

/// Three files of a server that died: edits of two regions, markers, and an edit of a region that is gone.
fn dead_server() -> MemFs {
    let fs = MemFs::new();
    for name in [&R1, &R2] {
        fs.create_dir_all(&region(name)).unwrap();
    }
    let wal = log(&fs, quiet());
    marker(&wal, 1, "HBASE::REGION_EVENT::REGION_OPEN");
    for seq in 2..=4 {
        put(&wal, &R1, seq).unwrap();
        put(&wal, &R2, seq * 10).unwrap();
    }
    wal.roll().unwrap();
    put(&wal, &Bytes::from_static(b"99999999999999999999999999999999"), 1).unwrap();
    marker(&wal, 5, "HBASE::COMPACTION");
    put(&wal, &R1, 6).unwrap();
    wal.roll().unwrap();
    put(&wal, &R2, 50).unwrap();
    fs.crash()
}

fn flushed(name: &[u8]) -> Option<u64> {
    (name == &R1[..]).then_some(2)
}

#[test]
fn each_region_gets_its_edits_and_the_logs_are_archived() {
    let fs = dead_server();
    let logs = names(&fs, &dir());
    let report = split_logs(&fs, root(), &[dir()], &flushed).unwrap();
    assert_eq!((report.logs, report.entries), (3, 11));
    assert_eq!((report.flushed, report.markers, report.orphaned), (2, 0, 1));
    assert_eq!(report.outputs, [edits(&R1).join("0000000000000000006"), edits(&R2).join("0000000000000000050")]);
    assert_eq!((report.torn, report.corrupt), (vec![], vec![]));
    assert_eq!(report.archived, logs.iter().map(|n| archive().join(n)).collect::<Vec<_>>());
    let fs = fs.crash();
    assert_eq!(names(&fs, &edits(&R1)), ["0000000000000000006"]);
    assert_eq!(seqs(&fs, &report.outputs[0]), [3, 4, 5, 6]);
    assert_eq!(seqs(&fs, &report.outputs[1]), [20, 30, 40, 50]);
    assert!(WalReader::open(&fs, &report.outputs[0]).unwrap().is_closed());
    assert_eq!(entries(&fs, &report.outputs[1]).unwrap()[1].cells, edit(&R2, 30).cells);
    assert_eq!(names(&fs, &archive()), logs);
    assert!(!fs.exists(&dir()));
    let again = split_logs(&fs, root(), &[dir()], &flushed).unwrap();
    assert_eq!((again.logs, again.entries), (0, 0));
}

#[test]
fn markers_other_than_compactions_are_left_out() {
    let fs = dead_server();
    let report = split_logs(&fs, root(), &[dir()], &|_| None).unwrap();
    assert_eq!((report.flushed, report.markers), (0, 1));
    assert_eq!(seqs(&fs, &report.outputs[0]), [2, 3, 4, 5, 6]);
}

/// All recovered edits of a region: what a replay would see.
fn recovered(fs: &MemFs, name: &Bytes) -> BTreeSet<u64> {
    let files = fs.list(&edits(name)).unwrap_or_default().into_iter().filter(|e| !e.name.ends_with(".temp"));
    files.flat_map(|e| seqs(fs, &edits(name).join(e.name))).collect()
}

#[test]
fn an_interrupted_split_is_run_again_with_the_same_result() {
    for buffer_bytes in [1 << 20, 600, 1] {
        let options = SplitOptions { buffer_bytes, ..SplitOptions::default() };
        let expected = (BTreeSet::from([3, 4, 5, 6]), BTreeSet::from([20, 30, 40, 50]));
        for nth in 1.. {
            let fs = dead_server();
            fs.inject(Fault::HaltAt { nth });
            let ended = split_logs_with(&fs, root(), &[dir()], &flushed, &options);
            for seed in 0..12 {
                let after = if seed == 0 { fs.crash() } else { fs.crash_torn(seed) };
                let again = split_logs_with(&after, root(), &[dir()], &flushed, &options);
                again.unwrap_or_else(|e| panic!("halt at {nth}, seed {seed}: {e}"));
                let found = (recovered(&after, &R1), recovered(&after, &R2));
                assert_eq!(found, expected, "halt at {nth}, seed {seed}, buffer {buffer_bytes}");
                let left = names(&after.crash(), &edits(&R1));
                assert!(left.iter().all(|n| !n.ends_with(".temp")), "halt at {nth}, seed {seed}: {left:?}");
                assert_eq!(names(&after.crash(), &archive()).len(), 3, "halt at {nth}, seed {seed}");
            }
            if ended.is_ok() {
                assert!(nth > 15, "{nth}");
                break;
            }
        }
    }
}

#[test]
fn a_file_of_edits_that_is_there_keeps_its_entries() {
    let fs = dead_server();
    split_logs(&fs, root(), &[dir()], &|_| None).unwrap();
    // Another log of the region ends with the same edit and lacks the earlier ones: seen when a split was interrupted
    // while it moved the logs away.
    let wal = log(&fs, quiet());
    for seq in [5, 6] {
        put(&wal, &R1, seq).unwrap();
    }
    wal.close().unwrap();
    split_logs(&fs, root(), &[dir()], &|_| None).unwrap();
    assert_eq!(seqs(&fs, &edits(&R1).join("0000000000000000006")), [2, 3, 4, 5, 6]);
}

#[test]
fn a_torn_tail_is_reported_and_damage_stops_the_split() {
    let fs = dead_server();
    let logs = names(&fs, &dir());
    let last = dir().join(&logs[2]);
    assert!(fs.truncate(&last, fs.len(&last).unwrap() - 1));
    let report = split_logs(&fs.crash(), root(), &[dir()], &|_| None).unwrap();
    assert_eq!((report.torn.len(), &report.torn[0].0), (1, &last));
    assert_eq!(report.outputs[1], edits(&R2).join("0000000000000000040"));
    let first = dir().join(&logs[0]);
    let offset = fs.len(&first).unwrap() / 2;
    assert!(fs.corrupt(&first, offset, |b| *b ^= 1));
    match split_logs(&fs, root(), &[dir()], &|_| None) {
        Err(WalError::Corrupt { file, offset: at, .. }) => assert!(file == first && at <= offset),
        other => panic!("{other:?}"),
    }
    assert_eq!(names(&fs, &dir()), logs, "nothing has moved");
    let options = SplitOptions { skip_corrupt: true, ..SplitOptions::default() };
    let report = split_logs_with(&fs, root(), &[dir()], &|_| None, &options).unwrap();
    assert_eq!(report.corrupt, [root().join("corrupt").join(&logs[0])]);
    assert_eq!(report.archived.len(), 2);
    assert!(recovered(&fs, &R1).contains(&2) && recovered(&fs, &R1).contains(&6));
}

#[test]
fn names_in_entries_cannot_lead_out_of_the_root() {
    for (region, table) in [("../../x", "ns:table"), ("..", "t"), ("r/s", "t"), ("r", "../t"), ("r", "a:b:c")] {
        let fs = MemFs::new();
        let wal = log(&fs, quiet());
        let bad = Entry { region: region.into(), table: table.into(), ..edit(&R1, 1) };
        let ticket = wal.append(&bad).unwrap();
        wal.sync(ticket).unwrap();
        let result = split_logs(&fs.crash(), root(), &[dir()], &|_| None);
        assert!(matches!(result, Err(WalError::Corrupt { .. })), "{region} {table}: {result:?}");
    }
}

#[test]
fn a_large_split_writes_parts() {
    let fs = MemFs::new();
    fs.create_dir_all(&region(&R1)).unwrap();
    let wal = log(&fs, quiet());
    let mut last = None;
    for seq in 1..=100 {
        last = Some(wal.append(&sized_edit(&R1, seq, &[F], 1000)).unwrap());
    }
    wal.sync(last.unwrap()).unwrap();
    let options = SplitOptions { buffer_bytes: 20_000, ..SplitOptions::default() };
    let report = split_logs_with(&fs.crash(), root(), &[dir()], &|_| None, &options).unwrap();
    assert!(report.outputs.len() >= 5, "{:?}", report.outputs);
    let fs = fs.crash();
    split_logs_with(&fs, root(), &[dir()], &|_| None, &options).unwrap();
    assert_eq!(recovered(&fs, &R1), (1..=100).collect());
}
