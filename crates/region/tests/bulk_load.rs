//! Bulk load: files of others become a region's, once, and nothing that was written before is lost.
#![allow(clippy::unwrap_used)]

mod rig;

use bytes::Bytes;
use martite_catalog::RegionInfo;
use martite_env::{Fault, FileSystem, MemFs};
use martite_region::RegionError;
use martite_store::Unthrottled;
use rig::Rig;
use std::path::{Path, PathBuf};

/// A file with `column` of two rows, written by a region that is not the rig's.
fn made(rig: &Rig, id: u64, rows: [&str; 2], column: &str, value: &str) -> PathBuf {
    let other = rig.beside(&RegionInfo::new(rig.info.table().clone(), "", "", id));
    for row in rows {
        other.put(row, column, value.as_bytes()).unwrap();
    }
    other.region.close(false).unwrap();
    let family = other.region_dir().join(column.split(':').next().unwrap());
    let name = rig.fs.list(&family).unwrap().remove(0).name;
    let path = Path::new("/made").join(format!("{id}"));
    rig.fs.create_dir_all(path.parent().unwrap()).unwrap();
    rig.fs.rename(&family.join(name), &path).unwrap();
    rig.fs.sync_dir(Path::new("/made")).unwrap();
    path
}

fn family(name: &'static str) -> Bytes {
    Bytes::from_static(name.as_bytes())
}

#[test]
fn loaded_cells_are_newer_than_what_was_written_before_and_older_than_what_comes() {
    let rig = Rig::new();
    for (row, value) in [("c", "old"), ("e", "kept")] {
        rig.put(row, "f:a", value.as_bytes()).unwrap();
    }
    let files = [
        (family("f"), made(&rig, 7, ["c", "d"], "f:a", "loaded")),
        (family("g"), made(&rig, 8, ["c", "x"], "g:b", "too")),
    ];
    let loaded = rig.region.bulk_load(&files, false).unwrap().unwrap();
    assert!(loaded.len() == 2 && loaded.iter().all(|file| file.name.contains("_SeqId_")), "{loaded:?}");
    assert!(rig.fs.list(Path::new("/made")).unwrap().is_empty());
    let rows = |rig: &Rig| ["c", "d", "e", "x"].map(|row| rig.row(row));
    let expected = ["f:a=loaded g:b=too", "f:a=loaded", "f:a=kept", "g:b=too"].map(String::from);
    assert_eq!(rows(&rig), expected);
    // What was in memory when the file came is not passed over by replay.
    let rig = rig.crash();
    assert_eq!(rows(&rig), expected);
    rig.put("d", "f:a", b"after").unwrap();
    rig.region.compact(None, true, &Unthrottled).unwrap();
    let rig = rig.reopen();
    assert_eq!(rows(&rig), ["f:a=loaded g:b=too", "f:a=after", "f:a=kept", "g:b=too"].map(String::from));
}

#[test]
fn a_file_with_rows_of_others_is_left_alone_and_what_is_none_is_refused() {
    let rig = Rig::new();
    let (good, wide) = (made(&rig, 7, ["c", "d"], "f:a", "1"), made(&rig, 8, ["c", "z"], "f:a", "1"));
    let load = |files: &[(&'static str, &Path)]| {
        let files: Vec<_> = files.iter().map(|(name, path)| (family(name), path.to_path_buf())).collect();
        rig.region.bulk_load(&files, false)
    };
    assert!(load(&[("f", &good), ("f", &wide)]).unwrap().is_none());
    let text = |files: &[(&'static str, &Path)]| load(files).unwrap_err().to_string();
    assert!(text(&[("f", &good), ("g", &good)]).contains("has cells of family f, is to be loaded into g"));
    assert!(matches!(load(&[("h", &good)]), Err(RegionError::NoSuchFamily(_))));
    assert!(text(&[("f", &good), ("f", Path::new("/made/none"))]).contains("/made/none"));
    rig.fs.write_atomic(Path::new("/made/text"), &[b'x'; 5000]).unwrap();
    assert!(text(&[("f", Path::new("/made/text"))]).contains("/made/text"));
    assert!(rig.fs.exists(&good) && rig.fs.exists(&wide));
    assert_eq!(rig.row("c"), "");
}

#[test]
fn a_copy_leaves_the_file_where_it_was() {
    let rig = Rig::new();
    let path = made(&rig, 7, ["c", "d"], "f:a", "1");
    for _ in 0..2 {
        rig.region.bulk_load(&[(family("f"), path.clone())], true).unwrap().unwrap();
    }
    assert!(rig.fs.exists(&path));
    let rig = rig.crash();
    assert_eq!((rig.row("c"), rig.region.stores()[0].1.file_count()), ("f:a=1".into(), 2));
}

#[test]
fn a_crash_leaves_a_file_where_it_was_or_loaded() {
    let prepare = || {
        let rig = Rig::new();
        let path = made(&rig, 7, ["c", "d"], "f:a", "1");
        rig.put("e", "f:a", b"kept").unwrap();
        (rig, path)
    };
    let mut crashes = 0;
    for nth in 1.. {
        let (rig, path) = prepare();
        let before = rig.fs.mutations();
        rig.fs.inject(Fault::HaltAt { nth });
        let outcome = rig.region.bulk_load(&[(family("f"), path.clone())], false);
        let reached = rig.fs.mutations() - before >= nth;
        let fs: MemFs = if nth % 2 == 0 { rig.fs.crash_torn(nth) } else { rig.fs.crash() };
        let is_left = fs.exists(&path);
        let next = rig.restart(fs);
        let is_loaded = next.row("c") == "f:a=1" && next.row("d") == "f:a=1";
        assert_eq!(next.row("e"), "f:a=kept", "change {nth}");
        assert!(is_loaded || is_left, "change {nth}: the file is gone");
        if !reached {
            assert!(outcome.unwrap().is_some() && is_loaded && !is_left);
            break;
        }
        crashes += 1;
    }
    assert!(crashes > 5, "only {crashes} crashes");
}
