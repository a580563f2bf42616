//! The halves of a split file partition it exactly, whichever way they are read.
#![allow(clippy::unwrap_used, reason = "a test fails where it stands")]

mod world;

use martite_cell::{Order, OwnedCell, key};
use martite_env::{FileSystem, MemFs};
use martite_hfile::BlockSource;
use martite_store::{Half, Reference, Store, StoreFile, reference::merge_files, split_files};
use std::{path::Path, sync::Arc};
use world::*;

/// Cells back to front, by seek_before from the end.
fn backwards(file: &Arc<StoreFile>, src: &dyn BlockSource) -> Vec<OwnedCell> {
    let mut scanner = file.scanner(true);
    let mut bound = key::last_on_row(&[0xff; 40]);
    let mut cells = Vec::new();
    while ready(scanner.seek_before(&bound, src).unwrap()) {
        let cell = scanner.peek().unwrap();
        bound = cell.key.to_vec();
        cells.push(cell.to_owned_cell());
    }
    assert!(scanner.peek().is_none());
    cells
}

fn filled(fs: &MemFs) -> Store {
    let store = open(fs, family(), 1).unwrap();
    let cells: Vec<_> = (0..200u32).map(|i| put(&format!("{i:04}"), NOW, &"v".repeat(i as usize % 30), 1)).collect();
    add(&store, &cells);
    flush(&store, 1).unwrap();
    add(&store, &cells[10..20]);
    flush(&store, 2).unwrap();
    store
}

fn split(store: &Store, row: &[u8]) -> Vec<String> {
    let fs = store.context().fs.clone();
    let (left, right) = (region_dir(Path::new(ROOT), LEFT), region_dir(Path::new(ROOT), RIGHT));
    let written = split_files(&*fs, store, PARENT, row, &left, &right).unwrap();
    written.iter().map(|p| p.strip_prefix(region_dir(Path::new(ROOT), "")).unwrap().to_string_lossy().into()).collect()
}

#[test]
fn halves_partition_a_file_at_every_row() {
    let fs = MemFs::new();
    let parent = filled(&fs);
    let whole = file_cells(&parent.files()[0], &parent.context().files.blocking());
    assert_eq!(whole.len(), 200);
    // On a row, between rows, before the first and after the last.
    let edges = ["0", "0000", "0000a", "0001", "0037", "00370", "0100", "0198", "0199", "01990", "9"];
    for edge in edges {
        let files = parent.context().files.clone();
        for (top, region) in [(false, LEFT), (true, RIGHT)] {
            let dir = region_dir(Path::new(ROOT), region).join("f");
            let _ = fs.remove_dir_all(&dir);
            fs.create_dir_all(&dir).unwrap();
            let name = format!("{}.{PARENT}", parent.files()[0].name());
            fs.write_atomic(&dir.join(name), &Reference::at_row(edge.as_bytes(), top).encode()).unwrap();
        }
        let halves: Vec<Store> =
            [LEFT, RIGHT].iter().map(|r| open_region(parent.context(), r, family()).unwrap()).collect();
        let src = files.blocking();
        let read: Vec<Vec<OwnedCell>> = halves.iter().map(|h| file_cells(&h.files()[0], &src)).collect();
        let below = whole.iter().filter(|c| c.as_ref().row() < edge.as_bytes()).count();
        assert_eq!((read[0].len(), read[1].len()), (below, 200 - below), "{edge}");
        assert!(read.concat() == whole, "{edge}");
        for (half, cells) in halves.iter().zip(&read) {
            let file = &half.files()[0];
            let mut reversed = backwards(file, &src);
            reversed.reverse();
            assert!(&reversed == cells, "{edge}");
            assert_eq!(file.first_key().map(|k| &k[..]), cells.first().map(|c| c.as_ref().key), "{edge}");
            assert_eq!(file.last_key().map(|k| &k[..]), cells.last().map(|c| c.as_ref().key), "{edge}");
            assert_seeks(file, cells, &src);
        }
    }
}

/// From every place, seek and reseek find the first cell of the half at or after the key.
fn assert_seeks(file: &Arc<StoreFile>, cells: &[OwnedCell], src: &dyn BlockSource) {
    let mut forward = file.scanner(true);
    let mut started = false;
    for row in ["", "0", "0036", "0037", "00371", "0100", "0150", "0199", "5"] {
        let key = key::first_on_row(row.as_bytes());
        let expected = cells.iter().find(|c| Order::Default.keys(c.as_ref().key, &key).is_ge());
        let mut fresh = file.scanner(true);
        ready(fresh.seek(&key, src).unwrap());
        assert_eq!(fresh.peek().map(|c| c.to_owned_cell()).as_ref(), expected, "seek {row}");
        let step = if started { forward.reseek(&key, src) } else { forward.seek(&key, src) };
        ready(step.unwrap());
        started = true;
        assert_eq!(forward.peek().map(|c| c.to_owned_cell()).as_ref(), expected, "reseek {row}");
        let expected = cells.iter().rev().find(|c| Order::Default.keys(c.as_ref().key, &key).is_lt());
        let found = ready(fresh.seek_before(&key, src).unwrap());
        assert_eq!(fresh.peek().map(|c| c.to_owned_cell()).as_ref(), expected, "before {row}");
        assert_eq!(found, expected.is_some());
    }
}

#[test]
fn a_split_writes_references_only_where_there_is_something_to_see() {
    let fs = MemFs::new();
    let parent = filled(&fs);
    let before = logical(&parent);
    let names = names(&parent);
    let mut expected = vec![
        format!("{LEFT}/f/{}.{PARENT}", names[0]),
        format!("{LEFT}/f/{}.{PARENT}", names[1]),
        format!("{RIGHT}/f/{}.{PARENT}", names[0]),
    ];
    let mut written = split(&parent, b"0100");
    written.sort();
    expected.sort();
    assert_eq!(written, expected, "rows 10 to 19 of the second file lie on the left");
    let mut again = split(&parent, b"0100");
    again.sort();
    assert_eq!(again, expected, "doing it again changes nothing");

    let left = open_region(parent.context(), LEFT, family()).unwrap();
    let right = open_region(parent.context(), RIGHT, family()).unwrap();
    assert!(left.has_references() && left.needs_compaction());
    assert_eq!(left.split_point().unwrap(), None, "not before the references are compacted");
    assert_eq!(right.files()[0].seq_id, 2, "the top half counts as newer");
    let mut both = logical(&left);
    both.append(&mut logical(&right));
    assert_eq!(both, before);
    // They share the parent's blocks.
    assert_eq!(left.files()[0].open_file().id(), parent.files()[0].open_file().id());

    // Compaction makes the daughters independent of the parent.
    for (daughter, rows) in [(&left, 100), (&right, 100)] {
        compact(daughter, Default::default()).unwrap();
        assert!(!daughter.has_references());
        assert_eq!(logical(daughter).len(), rows);
    }
    drop((left, right, parent));
    fs.remove_dir_all(&region_dir(Path::new(ROOT), PARENT)).unwrap();
    assert_eq!(logical(&open_right(&fs)).len(), 100);
}

fn open_right(fs: &MemFs) -> Store {
    let ctx = context(Arc::new(fs.clone()), Path::new(ROOT), Default::default(), 5);
    open_region(&ctx, RIGHT, family()).unwrap()
}

#[test]
fn a_parent_in_the_archive_is_found_there() {
    let fs = MemFs::new();
    let parent = filled(&fs);
    split(&parent, b"0100");
    drop(parent);
    let archive = Path::new(ROOT).join("archive/data/default/t");
    fs.create_dir_all(&archive).unwrap();
    fs.rename(&region_dir(Path::new(ROOT), PARENT), &archive.join(PARENT)).unwrap();
    assert_eq!(logical(&open_right(&fs)).len(), 100);
    fs.remove_dir_all(&archive).unwrap();
    let ctx = context(Arc::new(fs.clone()), Path::new(ROOT), Default::default(), 5);
    let error = open_region(&ctx, RIGHT, family()).err().unwrap().to_string();
    assert!(error.contains(PARENT), "{error}");
}

#[test]
fn splitting_a_half_again_refers_to_the_file_itself_or_says_no() {
    let fs = MemFs::new();
    let parent = filled(&fs);
    split(&parent, b"0100");
    let right = open_region(parent.context(), RIGHT, family()).unwrap();
    let (a, b) = (region_dir(Path::new(ROOT), "a1"), region_dir(Path::new(ROOT), "b1"));
    let error = split_files(&fs, &right, RIGHT, b"0150", &a, &b).unwrap_err().to_string();
    assert!(error.contains("compact before splitting again"), "{error}");
    // Below its first row there is nothing; the rest is a half of the parent's file.
    let written = split_files(&fs, &right, RIGHT, b"0100", &a, &b).unwrap();
    assert_eq!(written.len(), 1);
    let all = open_region(parent.context(), "b1", family()).unwrap();
    assert_eq!(all.files()[0].half, Some(Half::at_row(b"0100", true)));
    assert_eq!(logical(&all), logical(&right));
}

#[test]
fn a_merged_region_reads_both_parents() {
    let fs = MemFs::new();
    let left = filled(&fs);
    let right = open_region(left.context(), RIGHT, family()).unwrap();
    add(&right, &[put("5000", NOW, "v", 9)]);
    flush(&right, 9).unwrap();
    let merged_dir = region_dir(Path::new(ROOT), "c1");
    merge_files(&fs, &left, PARENT, b"", &merged_dir).unwrap();
    merge_files(&fs, &right, RIGHT, b"5", &merged_dir).unwrap();
    let merged = open_region(left.context(), "c1", family()).unwrap();
    let mut both = logical(&left);
    both.append(&mut logical(&right));
    assert_eq!(logical(&merged), both);
    compact(&merged, Default::default()).unwrap();
    assert_eq!(logical(&merged), both);
}

#[test]
fn links_and_references_to_links_are_followed() {
    let fs = MemFs::new();
    let parent = filled(&fs);
    let name = names(&parent)[0].clone();
    let clone = Path::new(ROOT).join("data/ns/copy");
    let link = format!("t={PARENT}-{name}");
    fs.create_dir_all(&clone.join("c1/f")).unwrap();
    fs.create(&clone.join("c1/f").join(&link)).unwrap();
    fs.create_dir_all(&clone.join("d1/f")).unwrap();
    let reference = clone.join("d1/f").join(format!("{link}.c1"));
    fs.write_atomic(&reference, &Reference::at_row(b"0150", true).encode()).unwrap();
    let open = |region: &str| {
        Store::open(parent.context().clone(), clone.join(region).join("f"), Arc::new(family()), NOW).unwrap()
    };
    assert_eq!(logical(&open("c1")).len(), 200);
    assert_eq!(logical(&open("d1")).len(), 50);
}
