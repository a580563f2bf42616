//! The machine stops at every change that flushes and compactions make to the file system; what is found afterwards is
//! what was promised.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod world;

use martite_cell::{CellType, OwnedCell};
use martite_env::{Fault, MemFs, Op};
use martite_store::{FamilyOptions, FileTracker, Store, StoreError};
use std::{collections::BTreeMap, path::Path};
use world::*;

/// What each flush adds.
fn batches() -> Vec<Vec<OwnedCell>> {
    let rows = |from: u32, to: u32, seq: u64| -> Vec<OwnedCell> {
        (from..to).map(|i| put(&format!("{i:03}"), 100 * seq, &format!("v{seq}"), seq)).collect()
    };
    let mut third = rows(30, 60, 3);
    third.push(cell("005", "q", 250, CellType::DeleteColumn, "", 3));
    third.push(cell("006", "", 150, CellType::DeleteFamily, "", 3));
    vec![rows(0, 40, 1), rows(20, 50, 2), third, rows(5, 6, 4)]
}

type Contents = BTreeMap<String, String>;

/// Flushes three batches, compacts them, flushes one more and compacts again. `done` counts the flushes that were
/// promised; the log would bring back those that were not.
fn work(fs: &MemFs, tracker: FileTracker, done: &mut usize) -> Result<(), StoreError> {
    let store = open(fs, tracked(tracker), 1)?;
    for (i, batch) in batches().iter().enumerate() {
        add(&store, batch);
        flush(&store, i as u64 + 1)?;
        *done = i + 1;
        if i >= 2 {
            compact(&store, MAJOR)?;
        }
    }
    Ok(())
}

/// Contents after the first n batches.
fn expected() -> Vec<Contents> {
    (0..=batches().len())
        .map(|n| {
            let store = open(&MemFs::new(), family(), 1).unwrap();
            batches()[..n].iter().for_each(|batch| add(&store, batch));
            logical(&store)
        })
        .collect()
}

fn tracked(tracker: FileTracker) -> FamilyOptions {
    FamilyOptions { tracker, ..family() }
}

/// With a list, files may lie in the directory that nobody reads.
fn check(fs: &MemFs, tracker: FileTracker, done: usize, expected: &[Contents], what: &str) {
    let no_leftovers = |store: &Store| {
        if tracker == FileTracker::Directory {
            no_leftovers(fs, store, what);
        }
    };
    let store = open(fs, tracked(tracker), 77).unwrap_or_else(|e| panic!("{what}: {e}"));
    // A flush that was not promised may have reached the disk all the same.
    let seq = store.max_seq_id() as usize;
    assert!(seq == done || seq == done + 1, "{what}: sequence id {seq} after {done} flushes");
    assert_eq!(logical(&store), expected[seq], "{what}");
    no_leftovers(&store);
    // The log brings back the rest, and life goes on.
    for (i, batch) in batches().iter().enumerate().skip(seq) {
        add(&store, batch);
        flush(&store, i as u64 + 1).unwrap();
    }
    assert_eq!(&logical(&store), expected.last().unwrap(), "{what}");
    if store.file_count() > 1 {
        compact(&store, MAJOR).unwrap();
    }
    assert_eq!(&logical(&store), expected.last().unwrap(), "{what}");
    drop(store);
    let store = open(fs, tracked(tracker), 78).unwrap();
    assert_eq!(&logical(&store), expected.last().unwrap(), "{what}");
    no_leftovers(&store);
}

/// Nothing lies in the family's directory that the store does not read, and nothing in `.tmp`.
fn no_leftovers(fs: &MemFs, store: &Store, what: &str) {
    let mut names = names(store);
    names.sort();
    assert_eq!(listed(fs, store.dir()), names, "{what}");
    assert_eq!(listed(fs, &region_dir(Path::new(ROOT), PARENT).join(".tmp/f")), Vec::<String>::new(), "{what}");
}

#[test]
fn a_crash_at_every_change_loses_nothing_that_was_promised() {
    crash_at_every_change(FileTracker::Directory);
}

#[test]
fn a_crash_at_every_change_leaves_a_list_that_is_right() {
    crash_at_every_change(FileTracker::List);
}

fn crash_at_every_change(tracker: FileTracker) {
    let expected = expected();
    let calm = MemFs::new();
    let mut done = 0;
    work(&calm, tracker, &mut done).unwrap();
    let changes = calm.mutations();
    assert!(done == 4 && changes > 40, "{changes} changes");
    for nth in 1..=changes {
        let fs = MemFs::new();
        fs.inject(Fault::HaltAt { nth });
        let mut done = 0;
        // Archiving may fail without failing the compaction.
        let _ = work(&fs, tracker, &mut done);
        check(&fs.crash(), tracker, done, &expected, &format!("stopped at change {nth}"));
        for seed in 0..4 {
            let what = format!("stopped at change {nth}, seed {seed}");
            check(&fs.crash_torn(nth * 100 + seed), tracker, done, &expected, &what);
        }
    }
}

#[test]
fn a_failing_operation_fails_the_flush_or_compaction_and_nothing_else() {
    fail_every_operation(FileTracker::Directory);
}

#[test]
fn a_failing_operation_leaves_a_list_that_is_right() {
    fail_every_operation(FileTracker::List);
}

fn fail_every_operation(tracker: FileTracker) {
    let expected = expected();
    let calm = MemFs::new();
    work(&calm, tracker, &mut 0).unwrap();
    for op in [Op::Create, Op::Write, Op::Sync, Op::Rename, Op::SyncDir, Op::Remove, Op::Open, Op::Read] {
        for nth in 1..=calm.count(op) {
            let fs = MemFs::new();
            fs.inject(Fault::Once { op, nth });
            let mut done = 0;
            let result = work(&fs, tracker, &mut done);
            let what = format!("{op:?} {nth}: {result:?}");
            // Not a crash: the store is closed and opened again.
            check(&fs, tracker, done, &expected, &what);
        }
    }
}

#[test]
fn a_flush_that_fails_leaves_the_cells_readable() {
    let fs = MemFs::new();
    let store = open(&fs, family(), 1).unwrap();
    add(&store, &batches()[0]);
    let before = logical(&store);
    fs.inject(Fault::Once { op: Op::Sync, nth: 1 });
    let ticket = store.prepare_flush();
    let error = store.flush_to_tmp(&ticket, 1, u64::MAX, NOW).err().unwrap();
    assert!(error.to_string().contains(".tmp/f/"), "{error}");
    store.abort_flush(ticket, None);
    assert_eq!(logical(&store), before);
    no_leftovers(&fs, &store, "after the failed flush");
    flush(&store, 1).unwrap();
    assert_eq!(logical(&store), before);
}
