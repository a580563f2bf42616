//! Stores that know their files by a list, and the way there and back.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod world;

use martite_cell::{CellType, OwnedCell};
use martite_env::{FileSystem, MemFs};
use martite_store::{FamilyOptions, FileTracker, Store, reference::merge_files, split_files};
use std::path::{Path, PathBuf};
use world::*;

fn tracked(tracker: FileTracker) -> FamilyOptions {
    FamilyOptions { tracker, ..family() }
}

fn dir() -> PathBuf {
    region_dir(Path::new(ROOT), PARENT).join("f")
}

fn rows(from: u32, to: u32, seq_id: u64) -> Vec<OwnedCell> {
    (from..to).map(|i| put(&format!("{i:03}"), NOW, "v", seq_id)).collect()
}

fn flushed(store: &Store, cells: &[OwnedCell], seq_id: u64) {
    add(store, cells);
    flush(store, seq_id).unwrap();
}

/// A store file of the same cells, under a name that no list has.
fn copy_of_a_file(fs: &MemFs, store: &Store) -> String {
    let name = "5".repeat(32);
    fs.write_atomic(&dir().join(&name), &fs.read(&store.files()[0].path).unwrap()).unwrap();
    name
}

fn archived(fs: &MemFs) -> Vec<String> {
    listed(fs, &Path::new(ROOT).join("archive/data/default/t").join(PARENT).join("f"))
}

#[test]
fn what_is_not_in_the_list_is_not_read() {
    let fs = MemFs::new();
    let store = open(&fs, tracked(FileTracker::List), 1).unwrap();
    assert_eq!(store.file_count(), 0);
    flushed(&store, &rows(0, 10, 1), 1);
    flushed(&store, &rows(5, 20, 2), 2);
    let name = copy_of_a_file(&fs, &store);
    let before = (names(&store), logical(&store));
    drop(store);
    let store = open(&fs, tracked(FileTracker::List), 2).unwrap();
    assert_eq!((names(&store), logical(&store)), before);
    assert!(fs.exists(&dir().join(&name)) && archived(&fs).is_empty(), "HBase leaves it to its cleaner, too");
    compact(&store, MAJOR).unwrap();
    let before = names(&store);
    assert_eq!(archived(&fs).len(), 2);
    drop(store);
    assert_eq!(names(&open(&fs, tracked(FileTracker::List), 3).unwrap()), before);
    // A listed file that is gone is no small matter.
    fs.remove_file(&dir().join(&before[0])).unwrap();
    let error = open(&fs, tracked(FileTracker::List), 4).err().unwrap().to_string();
    assert!(error.contains(&before[0]) && error.contains("is in the list of store files"), "{error}");
}

#[test]
fn there_and_back_again_keeps_every_cell_and_brings_none_back() {
    let fs = MemFs::new();
    let step = |tracker: FileTracker, seq_id: u64| {
        let store = open(&fs, tracked(tracker), seq_id).unwrap();
        flushed(&store, &rows(0, 10, seq_id), seq_id);
        add(&store, &[cell("003", "q", NOW, CellType::DeleteColumn, "", seq_id)]);
        flush(&store, seq_id).unwrap();
        let (files, cells) = (store.file_count(), logical(&store));
        assert_eq!(cells.len(), 9, "{tracker:?}");
        let reopened = open(&fs, tracked(tracker), seq_id + 1).unwrap();
        assert_eq!((reopened.file_count(), logical(&reopened)), (files, cells), "{tracker:?}");
        reopened.file_count()
    };
    assert_eq!(step(FileTracker::Directory, 10), 2);
    assert_eq!(step(FileTracker::ToList, 20), 4);
    assert_eq!(step(FileTracker::List, 30), 6);
    // What a crash of HBase may leave behind must not count once the directory does.
    let store = open(&fs, tracked(FileTracker::List), 39).unwrap();
    let name = copy_of_a_file(&fs, &store);
    drop(store);
    assert_eq!(step(FileTracker::ToDirectory, 40), 8);
    assert_eq!(archived(&fs), [name]);
    assert_eq!(step(FileTracker::Directory, 50), 10);
    // The old list is out of date by now.
    assert_eq!(step(FileTracker::ToList, 60), 12);
    assert_eq!(step(FileTracker::List, 70), 14);
}

#[test]
fn daughters_and_merged_regions_begin_with_a_list() {
    let fs = MemFs::new();
    let parent = open(&fs, tracked(FileTracker::List), 1).unwrap();
    flushed(&parent, &rows(0, 100, 1), 1);
    flushed(&parent, &rows(10, 20, 2), 2);
    let before = logical(&parent);
    let region = |name: &str| region_dir(Path::new(ROOT), name);
    for _ in 0..2 {
        split_files(&fs, &parent, PARENT, b"050", &region(LEFT), &region(RIGHT)).unwrap();
    }
    let daughters = [LEFT, RIGHT].map(|name| open_region(parent.context(), name, tracked(FileTracker::List)).unwrap());
    assert_eq!(daughters.each_ref().map(Store::file_count), [2, 1]);
    let mut both = logical(&daughters[0]);
    both.append(&mut logical(&daughters[1]));
    assert_eq!(both, before);
    for daughter in &daughters {
        compact(daughter, Default::default()).unwrap();
    }
    let merged = "cccc456789abcdef0123456789abcdef";
    for (daughter, name, start) in [(&daughters[0], LEFT, &b""[..]), (&daughters[1], RIGHT, &b"050"[..])] {
        merge_files(&fs, daughter, name, start, &region(merged)).unwrap();
    }
    let merged = open_region(parent.context(), merged, tracked(FileTracker::List)).unwrap();
    assert_eq!((merged.file_count(), logical(&merged)), (2, before));
}
