//! Files that HBase 2.6.4 wrote (its `ProtobufLogWriter`): plain, with dictionaries, with compressed values.
#![allow(clippy::unwrap_used)]

use martite_cell::{CellBuf, tags};
use martite_env::{FileSystem, LocalFs, MemFs};
use martite_wal::{Entry, Scope, TornTail, WalError, WalReader};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn entries(fs: &dyn FileSystem, path: &Path) -> Result<(Vec<Entry<'static>>, Option<TornTail>), WalError> {
    let mut reader = WalReader::open(fs, path)?;
    let mut all = Vec::new();
    while let Some(entry) = reader.next()? {
        all.push(entry);
    }
    Ok((all, reader.torn_tail()))
}

/// The writer's loop, told again: entry `i` has a put with two tags and a family deletion.
fn check(entries: &[Entry<'static>]) {
    for (i, entry) in entries.iter().enumerate() {
        let n = i as u64;
        assert_eq!(entry.region, format!("0123456789abcdef0123456789abcde{}", i % 2));
        assert_eq!((&entry.table[..], entry.seq, entry.write_time_ms), (&b"ns:table"[..], 10 + n, 5000 + n));
        assert_eq!((entry.nonce_group, entry.nonce, &entry.cluster_ids[..]), (3, 4 + n, &[(1, 2)][..]));
        assert_eq!(entry.scopes[..], [("f".into(), Scope::Global)]);
        let attributes = if i == 1 { vec![("attr".to_string(), "v".into())] } else { vec![] };
        assert_eq!(entry.attributes[..], attributes);
        let cells = CellBuf::from_block(entry.cells.to_vec(), true).unwrap();
        assert_eq!((cells.len(), entry.cell_count), (2, 2));
        let (put, delete) = (cells.get(0).unwrap(), cells.get(1).unwrap());
        let row = format!("row-{}", i % 3).into_bytes();
        assert_eq!((put.row(), put.family(), put.timestamp(), put.type_code()), (&row[..], &b"f"[..], 1000 + n, 4));
        assert_eq!(put.qualifier(), format!("q{}", i % 200).as_bytes());
        assert_eq!(put.value, format!("value-{i}").as_bytes());
        let mut expected = Vec::new();
        tags::append(&mut expected, tags::TTL, &60_000u64.to_be_bytes());
        tags::append(&mut expected, 1, format!("acl{}", i % 2).as_bytes());
        assert_eq!(put.tags, expected);
        assert_eq!((delete.row(), delete.qualifier(), delete.type_code()), (&row[..], &b""[..], 14));
        assert_eq!((delete.value, delete.tags), (&b""[..], &b""[..]));
    }
}

#[test]
fn plain_and_dictionary_compressed_files_are_read() {
    for (name, count) in
        [("hbase-plain.wal", 4), ("hbase-dictionaries.wal", 400), ("hbase-dictionaries-plain-tags.wal", 5)]
    {
        let (read, tail) = entries(&LocalFs, &fixture(name)).unwrap();
        assert_eq!((read.len(), tail), (count, None), "{name}");
        check(&read);
        let reader = WalReader::open(&LocalFs, &fixture(name)).unwrap();
        assert!(reader.is_closed() && !reader.has_checksums(), "{name}");
    }
}

#[test]
fn compressed_values_are_refused_by_name() {
    let error = WalReader::open(&LocalFs, &fixture("hbase-compressed-values.wal")).err().unwrap();
    assert!(matches!(&error, WalError::Unsupported { what, .. } if what.contains("compressed values")), "{error}");
}

#[test]
fn a_file_that_hbase_did_not_close_may_be_cut_anywhere() {
    for name in ["hbase-plain.wal", "hbase-dictionaries-plain-tags.wal"] {
        let bytes = LocalFs.read(&fixture(name)).unwrap();
        let path = Path::new("/wal");
        let mut counts = Vec::new();
        for len in 85..bytes.len() {
            let fs = MemFs::new();
            fs.create(path).unwrap().write_all(&bytes[..len]).unwrap();
            let (read, tail) = entries(&fs, path).unwrap_or_else(|e| panic!("{name} cut at {len}: {e}"));
            check(&read);
            assert!(tail.is_none_or(|t| t.offset + t.lost_bytes == len as u64));
            counts.push(read.len());
        }
        assert!(counts.is_sorted() && counts.first() == Some(&0) && *counts.last().unwrap() >= 4, "{name}");
    }
}

#[test]
fn damage_in_a_file_of_hbase_never_panics() {
    for name in ["hbase-plain.wal", "hbase-dictionaries-plain-tags.wal"] {
        let bytes = LocalFs.read(&fixture(name)).unwrap();
        let path = Path::new("/wal");
        let fs = MemFs::new();
        fs.create(path).unwrap().write_all(&bytes).unwrap();
        let mut refused = 0;
        for at in 0..bytes.len() as u64 {
            for change in [0x01, 0x80, 0xff] {
                assert!(fs.corrupt(path, at, |b| *b ^= change));
                refused += u32::from(entries(&fs, path).is_err());
                assert!(fs.corrupt(path, at, |b| *b ^= change));
            }
        }
        assert!(refused > 100, "{name}: {refused}");
    }
}
