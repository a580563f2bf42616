//! The local file system and the one in memory behave the same, as long as nothing crashes.
#![allow(clippy::unwrap_used)]

use martite_env::{FileSystem, LocalFs, MemFs, ReadAt};
use std::io::{ErrorKind, Write};
use std::path::Path;

fn both(check: impl Fn(&dyn FileSystem, &Path)) {
    let dir = tempfile::tempdir().unwrap();
    check(&LocalFs, dir.path());
    let mem = MemFs::new();
    mem.create_dir_all(Path::new("/root")).unwrap();
    check(&mem, Path::new("/root"));
}

#[test]
fn what_was_written_is_read_at_any_offset() {
    both(|fs, root| {
        let path = root.join("f");
        let mut file = fs.create(&path).unwrap();
        file.write_all(b"hello ").unwrap();
        assert_eq!(file.position(), 6);
        let early = fs.open(&path).unwrap();
        file.write_all(b"world").unwrap();
        file.sync_data().unwrap();
        assert_eq!((file.position(), early.len(), fs.len(&path).unwrap()), (11, 6, 11));
        let mut buf = [0; 5];
        fs.open(&path).unwrap().read_exact_at(&mut buf, 6).unwrap();
        assert_eq!(&buf, b"world");
        assert_eq!(fs.open(&path).unwrap().read_exact_at(&mut buf, 7).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert_eq!(fs.read(&path).unwrap(), b"hello world");
    });
}

#[test]
fn a_file_written_in_place_keeps_its_length_and_its_bytes() {
    both(|fs, root| {
        let path = root.join("slab");
        let file = fs.open_in_place(&path, 10).unwrap();
        file.write_all_at(b"abc", 7).unwrap();
        file.write_all_at(b"xy", 0).unwrap();
        assert_eq!(file.write_all_at(b"abc", 8).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(file.write_all_at(b"a", u64::MAX).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(fs.read(&path).unwrap(), b"xy\0\0\0\0\0abc");
        let shorter = fs.open_in_place(&path, 8).unwrap();
        assert_eq!((shorter.len(), fs.len(&path).unwrap()), (8, 8));
        let longer = fs.open_in_place(&path, 9).unwrap();
        let mut bytes = [1; 9];
        longer.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"xy\0\0\0\0\0a\0");
        assert!(fs.open_in_place(root, 1).is_err() && fs.open_in_place(&root.join("absent/x"), 1).is_err());
    });
}

#[test]
fn errors_have_kinds_and_name_the_path() {
    both(|fs, root| {
        let kind = |e: std::io::Error| {
            assert!(e.to_string().contains("absent") || e.to_string().contains("there"), "{e}");
            e.kind()
        };
        let (absent, there) = (root.join("absent"), root.join("there"));
        fs.create(&there).unwrap();
        fs.create_dir_all(&root.join("there-dir/full")).unwrap();
        assert_eq!(kind(fs.open(&absent).err().unwrap()), ErrorKind::NotFound);
        assert_eq!(kind(fs.create(&there).err().unwrap()), ErrorKind::AlreadyExists);
        assert_eq!(kind(fs.create(&absent.join("x")).err().unwrap()), ErrorKind::NotFound);
        assert_eq!(kind(fs.open(&root.join("there-dir")).err().unwrap()), ErrorKind::IsADirectory);
        assert_eq!(kind(fs.list(&absent).unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(fs.rename(&absent, &there).unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(fs.remove_file(&absent).unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(fs.remove_dir_all(&absent).unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(fs.create_dir_all(&there.join("x")).unwrap_err()), ErrorKind::NotADirectory);
        assert_eq!(kind(fs.len(&absent).unwrap_err()), ErrorKind::NotFound);
        assert_eq!(kind(fs.sync_dir(&absent).unwrap_err()), ErrorKind::NotFound);
        fs.create_dir_all(&root.join("there-too")).unwrap();
        let onto_full = fs.rename(&root.join("there-too"), &root.join("there-dir"));
        assert_eq!(kind(onto_full.unwrap_err()), ErrorKind::DirectoryNotEmpty);
    });
}

#[test]
fn names_are_listed_in_order_and_renamed_over_each_other() {
    both(|fs, root| {
        let dir = root.join("a/b");
        fs.create_dir_all(&dir).unwrap();
        fs.create_dir_all(&dir).unwrap();
        fs.create_dir_all(&dir.join("sub/deep")).unwrap();
        fs.write_atomic(&dir.join("z"), b"old").unwrap();
        fs.write_atomic(&dir.join("z"), b"newer").unwrap();
        fs.create(&dir.join("m")).unwrap().write_all(b"moved").unwrap();
        let listed = |dir: &Path| -> Vec<(String, bool, u64)> {
            fs.list(dir).unwrap().into_iter().map(|e| (e.name, e.is_dir, e.len)).collect()
        };
        let names = [("m".into(), false, 5), ("sub".into(), true, 0), ("z".into(), false, 5)];
        assert_eq!(listed(&dir), names);
        fs.rename(&dir.join("m"), &dir.join("z")).unwrap();
        assert_eq!(fs.read(&dir.join("z")).unwrap(), b"moved");
        fs.rename(&dir.join("sub"), &root.join("moved-dir")).unwrap();
        assert!(fs.exists(&root.join("moved-dir/deep")) && !fs.exists(&dir.join("sub")));
        let open = fs.open(&dir.join("z")).unwrap();
        assert_eq!(fs.remove_empty_dir(&root.join("moved-dir")).unwrap_err().kind(), ErrorKind::DirectoryNotEmpty);
        fs.remove_empty_dir(&root.join("moved-dir/deep")).unwrap();
        fs.remove_empty_dir(&root.join("moved-dir")).unwrap();
        assert_eq!(fs.remove_empty_dir(&root.join("moved-dir")).unwrap_err().kind(), ErrorKind::NotFound);
        fs.remove_dir_all(&root.join("a")).unwrap();
        assert!(!fs.exists(&dir.join("z")));
        let mut buf = [0; 5];
        open.read_exact_at(&mut buf, 0).unwrap();
        assert_eq!(&buf, b"moved", "an open file outlives its name");
    });
}

#[test]
fn bytes_in_memory_read_like_a_file() {
    let bytes = b"0123456789".to_vec();
    let mut buf = [0; 3];
    bytes.read_exact_at(&mut buf, 4).unwrap();
    assert_eq!((&buf, ReadAt::len(&bytes)), (b"456", 10));
    assert_eq!(bytes.as_slice().read_exact_at(&mut buf, 8).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert_eq!(bytes.read_exact_at(&mut buf, u64::MAX).unwrap_err().kind(), ErrorKind::UnexpectedEof);
}
