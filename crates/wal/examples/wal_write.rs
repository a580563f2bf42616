//! Writes a log for HBase's `WALPrettyPrinter` to read: `wal_write DIRECTORY [ENTRIES]`. Prints the file's name.

use bytes::Bytes;
use martite_cell::{CellBuf, OwnedCell, key, tags};
use martite_env::{Clock, LocalFs, SystemClock};
use martite_wal::format::file_prefix;
use martite_wal::{Entry, Scope, Wal, WalContext, WalOptions};
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().ok_or("wal_write DIRECTORY [ENTRIES]")?);
    let entries: u64 = args.next().map_or(Ok(3), |n| n.parse())?;
    let wal = Wal::create(WalContext {
        fs: Arc::new(LocalFs),
        clock: Arc::new(SystemClock),
        dir: dir.join("WALs/localhost,16020,1700000000000"),
        archive_dir: dir.join("oldWALs"),
        prefix: file_prefix("localhost,16020,1700000000000"),
        suffix: String::new(),
        options: WalOptions::default(),
    })?;
    println!("{}", wal.stats().current_file.display());
    let mut last = None;
    for seq in 1..=entries {
        let mut cells = CellBuf::new(true);
        cells.push(&OwnedCell::put(format!("row-{seq}").as_bytes(), b"f", b"q", seq, b"value").as_ref());
        let mut ttl = Vec::new();
        tags::append(&mut ttl, tags::TTL, &60_000u64.to_be_bytes());
        let delete = key::flat_key(b"row-0", b"f", b"", seq, key::CellType::DeleteFamily as u8);
        cells.push(&OwnedCell::new(&delete, b"", &ttl, 0).as_ref());
        last = Some(wal.append(&Entry {
            region: Bytes::from_static(b"0123456789abcdef0123456789abcdef"),
            table: Bytes::from_static(b"ns:table"),
            seq,
            write_time_ms: SystemClock.now_ms(),
            nonce_group: 7,
            nonce: seq,
            cluster_ids: vec![(1, 2)].into(),
            scopes: vec![(Bytes::from_static(b"f"), Scope::Global)].into(),
            cells: cells.bytes().into(),
            cell_count: cells.len() as u32,
            families: vec![Bytes::from_static(b"f")].into(),
            ..Entry::default()
        })?);
    }
    last.map_or(Ok(()), |ticket| wal.sync(ticket))?;
    wal.close()?;
    Ok(())
}
