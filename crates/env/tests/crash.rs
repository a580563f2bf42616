//! What survives a crash of the file system in memory: synced bytes under synced names, and, torn, some of the rest.
#![allow(clippy::unwrap_used)]

use martite_env::{Fault, FileSystem, FileWriter, MemFs, Op};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

fn root() -> &'static Path {
    Path::new("/r")
}

fn fs() -> MemFs {
    let fs = MemFs::new();
    fs.create_dir_all(root()).unwrap();
    fs
}

fn file(fs: &MemFs, name: &str, synced: &[u8], unsynced: &[u8]) -> Box<dyn FileWriter> {
    let mut file = fs.create(&root().join(name)).unwrap();
    file.write_all(synced).unwrap();
    file.sync_data().unwrap();
    file.write_all(unsynced).unwrap();
    file
}

#[test]
fn bytes_and_names_survive_once_synced() {
    let fs = fs();
    file(&fs, "named", b"kept", b"lost");
    fs.sync_dir(root()).unwrap();
    file(&fs, "nameless", b"bytes without a name", b"");
    let after = fs.crash();
    assert_eq!(after.read(&root().join("named")).unwrap(), b"kept");
    assert!(!after.exists(&root().join("nameless")));
    assert_eq!(fs.read(&root().join("named")).unwrap(), b"keptlost", "the crashed clone is another one");
}

#[test]
fn a_rename_and_a_removal_survive_once_the_directory_is_synced() {
    let fs = fs();
    file(&fs, "a", b"new", b"");
    file(&fs, "b", b"old", b"");
    file(&fs, "c", b"gone", b"");
    fs.sync_dir(root()).unwrap();
    fs.rename(&root().join("a"), &root().join("b")).unwrap();
    fs.remove_file(&root().join("c")).unwrap();
    let before = fs.crash();
    assert_eq!(before.read(&root().join("b")).unwrap(), b"old");
    assert!(before.exists(&root().join("a")) && before.exists(&root().join("c")));
    fs.sync_dir(root()).unwrap();
    let after = fs.crash();
    assert_eq!(after.read(&root().join("b")).unwrap(), b"new");
    assert!(!after.exists(&root().join("a")) && !after.exists(&root().join("c")));
}

#[test]
fn write_atomic_leaves_the_old_or_the_new_at_every_point() {
    let path = root().join("f");
    for nth in 1.. {
        let fs = fs();
        fs.write_atomic(&path, b"old").unwrap();
        fs.inject(Fault::HaltAt { nth });
        let done = fs.write_atomic(&path, b"new");
        for seed in 0..20 {
            let content = fs.crash_torn(seed).read(&path).unwrap();
            assert!(content == b"old" || content == b"new", "halt {nth} seed {seed}: {content:?}");
            assert!(done.is_err() || content == b"new", "halt {nth} seed {seed}: acknowledged and lost");
        }
        if done.is_ok() {
            assert_eq!(nth, 7, "remove, create, write, sync, rename, sync_dir");
            return;
        }
    }
}

#[test]
fn a_torn_crash_keeps_the_synced_and_some_of_the_rest() {
    let fs = fs();
    let _open = file(&fs, "f", b"synced", b"unsynced");
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let after = fs.crash_torn(seed);
        match after.read(&root().join("f")) {
            Ok(content) => {
                assert_eq!(&content[..6], b"synced");
                let tail = &content[6..];
                let zeros = tail.iter().rev().take_while(|b| **b == 0).count();
                assert_eq!(tail[..tail.len() - zeros], b"unsynced"[..tail.len() - zeros]);
                seen.insert((tail.len(), zeros));
            }
            Err(_) => _ = seen.insert((usize::MAX, 0)),
        }
        let again = fs.crash_torn(seed).read(&root().join("f")).ok();
        assert_eq!(after.read(&root().join("f")).ok(), again, "the seed decides");
    }
    assert!(seen.contains(&(usize::MAX, 0)) && seen.contains(&(8, 0)) && seen.contains(&(0, 0)), "{seen:?}");
    assert!(seen.iter().any(|(_, zeros)| *zeros > 0), "{seen:?}");
}

#[test]
fn the_nth_operation_fails_and_is_counted() {
    let fs = fs();
    fs.inject(Fault::Once { op: Op::Sync, nth: 2 });
    fs.inject(Fault::Once { op: Op::Write, nth: 3 });
    let mut file = fs.create(&root().join("f")).unwrap();
    file.write_all(b"one").unwrap();
    file.sync_data().unwrap();
    file.write_all(b"two").unwrap();
    assert!(file.sync_data().unwrap_err().to_string().contains("/r/f: injected failure of Sync"));
    file.write_all(b"half-written").unwrap_err();
    file.sync_data().unwrap();
    assert_eq!(fs.read(&root().join("f")).unwrap(), b"onetwohalf-w");
    assert_eq!((fs.count(Op::Sync), fs.count(Op::Write), fs.count(Op::Create)), (3, 3, 2));
}

#[test]
fn after_a_halt_nothing_changes_and_reads_go_on() {
    let fs = fs();
    let mut open = file(&fs, "f", b"synced", b"");
    fs.inject(Fault::Halt { op: Op::Write, nth: 1 });
    open.write_all(b"more").unwrap_err();
    open.sync_data().unwrap_err();
    fs.create(&root().join("g")).err().unwrap();
    fs.create_dir_all(&root().join("d")).unwrap_err();
    fs.rename(&root().join("f"), &root().join("h")).unwrap_err();
    assert_eq!(fs.read(&root().join("f")).unwrap(), b"syncedmo");
}

#[test]
fn rot_and_truncation_can_be_made() {
    let fs = fs();
    file(&fs, "f", b"abc", b"");
    let path = root().join("f");
    assert!(fs.corrupt(&path, 1, |b| *b ^= 0x20) && !fs.corrupt(&path, 3, |_| ()));
    assert_eq!(fs.read(&path).unwrap(), b"aBc");
    assert!(fs.truncate(&path, 1));
    assert_eq!(fs.read(&path).unwrap(), b"a");
}

#[test]
fn of_a_file_written_in_place_a_crash_leaves_old_and_new_pages() {
    let fs = fs();
    let path = root().join("slab");
    fs.open_in_place(&path, 64 << 10).unwrap().write_all_at(&[1; 64 << 10], 0).unwrap();
    let file = fs.open_in_place(&path, 64 << 10).unwrap();
    fs.sync_dir(root()).unwrap();
    file.write_all_at(&[2; 64 << 10], 0).unwrap();
    assert_eq!(fs.crash().read(&path).unwrap(), [1; 64 << 10]);
    let torn = fs.crash_torn(7).read(&path).unwrap();
    let new = torn.chunks(512).filter(|page| page.iter().all(|b| *b == 2)).count();
    let old = torn.chunks(512).filter(|page| page.iter().all(|b| *b == 1)).count();
    assert!(old > 10 && new > 10 && old + new == 128, "{old} old pages, {new} new ones");
    fs.inject(Fault::Once { op: Op::Write, nth: 1 });
    assert!(file.write_all_at(&[3; 8], 0).unwrap_err().to_string().contains("injected failure of Write"));
    assert_eq!(fs.read(&path).unwrap()[..8], [3, 3, 3, 3, 2, 2, 2, 2]);
}
