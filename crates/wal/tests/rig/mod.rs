//! A log over files in memory, and edits to write to it.
#![allow(dead_code, clippy::unwrap_used)]

use bytes::Bytes;
use martite_cell::{CellBuf, OwnedCell};
use martite_env::{FileSystem, ManualClock, MemFs};
use martite_wal::{Entry, Ticket, Wal, WalContext, WalError, WalOptions, WalReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub const F: Bytes = Bytes::from_static(b"f");
pub const G: Bytes = Bytes::from_static(b"g");
pub static R1: Bytes = Bytes::from_static(b"11111111111111111111111111111111");
pub static R2: Bytes = Bytes::from_static(b"22222222222222222222222222222222");

pub fn dir() -> PathBuf {
    PathBuf::from("/root/WALs/server")
}

pub fn archive() -> PathBuf {
    PathBuf::from("/root/oldWALs")
}

/// No ticks: what the log does depends on its callers only.
pub fn quiet() -> WalOptions {
    WalOptions { async_delay: Duration::from_secs(3600), ..WalOptions::default() }
}

pub fn log(fs: &MemFs, options: WalOptions) -> Arc<Wal> {
    try_log(fs, options).unwrap()
}

pub fn try_log(fs: &MemFs, options: WalOptions) -> Result<Arc<Wal>, WalError> {
    Wal::create(WalContext {
        fs: Arc::new(fs.clone()),
        clock: Arc::new(ManualClock::new(1_700_000_000_000)),
        dir: dir(),
        archive_dir: archive(),
        prefix: "server".into(),
        suffix: String::new(),
        options,
    })
}

/// An edit whose value is `value_bytes` long.
pub fn sized_edit(region: &Bytes, seq: u64, families: &[Bytes], value_bytes: usize) -> Entry<'static> {
    let mut cells = CellBuf::new(true);
    for family in families {
        cells.push(&OwnedCell::put(b"row", family, b"q", seq, &vec![seq as u8; value_bytes]).as_ref());
    }
    Entry {
        region: region.clone(),
        table: Bytes::from_static(b"ns:table"),
        seq,
        write_time_ms: 5,
        cell_count: cells.len() as u32,
        cells: cells.into_bytes().into(),
        families: families.to_vec().into(),
        ..Entry::default()
    }
}

pub fn edit(region: &Bytes, seq: u64) -> Entry<'static> {
    sized_edit(region, seq, &[F], 5)
}

/// Appends an edit and waits until it is durable.
pub fn put(wal: &Wal, region: &Bytes, seq: u64) -> Result<Ticket, WalError> {
    let ticket = wal.append(&edit(region, seq))?;
    wal.sync(ticket).map(|()| ticket)
}

pub fn entries(fs: &dyn FileSystem, path: &Path) -> Result<Vec<Entry<'static>>, WalError> {
    let mut reader = WalReader::open(fs, path)?;
    let mut all = Vec::new();
    while let Some(entry) = reader.next()? {
        all.push(entry);
    }
    Ok(all)
}

pub fn seqs(fs: &dyn FileSystem, path: &Path) -> Vec<u64> {
    entries(fs, path).unwrap().iter().map(|e| e.seq).collect()
}

pub fn names(fs: &dyn FileSystem, dir: &Path) -> Vec<String> {
    fs.list(dir).unwrap().into_iter().map(|e| e.name).collect()
}
