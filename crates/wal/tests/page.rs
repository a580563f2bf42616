//! The worked example of `docs/formats/wal.md` is what the log writes.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use martite_cell::{CellBuf, OwnedCell};
use martite_env::{FileSystem, ManualClock, MemFs};
use martite_wal::{Entry, Wal, WalContext, WalOptions};
use std::path::PathBuf;
use std::sync::Arc;

fn dump(bytes: &[u8]) -> String {
    let line = |(n, chunk): (usize, &[u8])| {
        let hex: String = chunk.iter().map(|b| format!(" {b:02x}")).collect();
        format!("{:04x} {hex:<48}  {}\n", n * 16, chunk.iter().map(|b| printable(*b)).collect::<String>())
    };
    bytes.chunks(16).enumerate().map(line).collect()
}

fn printable(byte: u8) -> char {
    if (0x20..0x7f).contains(&byte) { byte as char } else { '.' }
}

#[test]
fn the_example_on_the_page_is_what_is_written() {
    let fs = MemFs::new();
    let wal = Wal::create(WalContext {
        fs: Arc::new(fs.clone()),
        clock: Arc::new(ManualClock::new(1_700_000_000_000)),
        dir: PathBuf::from("/WALs/h,16020,1"),
        archive_dir: PathBuf::from("/oldWALs"),
        prefix: "h%2C16020%2C1".into(),
        suffix: String::new(),
        options: WalOptions::default(),
    })
    .unwrap();
    let mut cells = CellBuf::new(true);
    cells.push(&OwnedCell::put(b"row", b"f", b"q", 1_700_000_000_000, b"value").as_ref());
    let entry = Entry {
        region: Bytes::from_static(b"0123456789abcdef0123456789abcdef"),
        table: Bytes::from_static(b"t"),
        seq: 5,
        write_time_ms: 1_700_000_000_000,
        cells: cells.bytes().into(),
        cell_count: 1,
        ..Entry::default()
    };
    wal.append(&entry).unwrap();
    let path = wal.stats().current_file;
    assert_eq!(path, PathBuf::from("/WALs/h,16020,1/h%2C16020%2C1.1700000000000"));
    wal.close().unwrap();
    // No region has anything unflushed: the file was archived.
    let written = dump(&fs.read(&PathBuf::from("/oldWALs/h%2C16020%2C1.1700000000000")).unwrap());
    let page = include_str!("../../../docs/formats/wal.md");
    assert!(page.contains(&written), "the page should show\n{written}");
}
