//! The log reader and the splitting of logs: ours, and HBase's, plain and with dictionaries.
//!
//! Input: `| flags | file |`. Flag 1: the file is one of recovered.edits, whose dictionaries are small; 2: it is split.

use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use crate::targets::cells::{look_at, sample_block};
use bytes::Bytes;
use martite_cell::{CellBuf, Codec};
use martite_env::{FileSystem, ManualClock, MemFs};
use martite_wal::{Entry, Scope, Wal, WalContext, WalError, WalOptions, WalReader, format, split_logs};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const TARGET: Target = Target {
    name: "wal",
    run,
    seeds,
    words: names,
    form: Form::Binary,
    max_len: 16 << 10,
    // Files in memory, a read buffer of 1 MiB; an index into a dictionary stands for up to 32 KiB.
    budget: Budget { fixed_bytes: 16 << 20, per_byte: 4096 },
    smoke: 4_000,
};

const SPLIT: u8 = 2;
const RECOVERED_EDITS: u8 = 1;

fn run(input: &[u8]) {
    let _ = explore(input);
}

/// Reads the file; the number of cells.
fn explore(input: &[u8]) -> Result<usize, WalError> {
    let Some((flags, file)) = input.split_first() else { return Ok(0) };
    let fs = MemFs::new();
    let dir = Path::new(if flags & RECOVERED_EDITS != 0 { "/root/r/recovered.edits" } else { "/root/WALs/server" });
    let path = dir.join("server.1");
    put(&fs, &path, file)?;
    let mut reader = WalReader::open(&fs, &path)?;
    let (mut cells, mut position) = (0, reader.position());
    while let Some(entry) = reader.next()? {
        assert!(reader.position() > position, "an entry without length at {position}");
        position = reader.position();
        let block = CellBuf::from_block(entry.cells.into_owned(), true);
        let block = block.unwrap_or_else(|e| panic!("the cells of an entry are refused: {e}"));
        assert_eq!(block.len(), entry.cell_count as usize);
        block.iter().for_each(|cell| look_at(&cell));
        cells += block.len();
    }
    if let Some(tail) = reader.torn_tail() {
        assert!(tail.offset + tail.lost_bytes <= file.len() as u64);
    }
    if flags & SPLIT != 0 {
        split_logs(&fs, Path::new("/root"), &[PathBuf::from("/root/WALs/server")], &|_| None)?;
    }
    Ok(cells)
}

fn put(fs: &MemFs, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs.create_dir_all(path.parent().unwrap_or(path))?;
    let mut file = fs.create(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

fn entry(seq: u64, region: u8) -> Entry<'static> {
    let cells = sample_block(Codec::KeyValueWithTags);
    Entry {
        region: Bytes::from(vec![region; 32]),
        table: Bytes::from_static(b"ns:table"),
        seq,
        write_time_ms: 1_700_000_000_000,
        nonce_group: 3,
        nonce: seq,
        cluster_ids: vec![(1, 2)].into(),
        scopes: vec![(Bytes::from_static(b"f"), Scope::Global)].into(),
        attributes: vec![("key".to_owned(), Bytes::from_static(b"value"))].into(),
        cell_count: 4,
        cells: cells.into(),
        families: vec![Bytes::from_static(b"f")].into(),
        ..Entry::default()
    }
}

/// A log as the server writes it.
fn written() -> Result<Vec<u8>, WalError> {
    let fs = MemFs::new();
    let wal = Wal::create(WalContext {
        fs: Arc::new(fs.clone()),
        clock: Arc::new(ManualClock::new(1000)),
        dir: "/root/WALs/server".into(),
        archive_dir: "/root/oldWALs".into(),
        prefix: "server".into(),
        suffix: String::new(),
        options: WalOptions::default(),
    })?;
    for (seq, region) in [(1, b'a'), (2, b'b'), (3, b'a')] {
        let ticket = wal.append(&entry(seq, region))?;
        wal.sync(ticket)?;
    }
    wal.close()?;
    let mut files: Vec<PathBuf> = Vec::new();
    for dir in ["/root/WALs/server", "/root/oldWALs"] {
        if fs.exists(Path::new(dir)) {
            files.extend(fs.list(Path::new(dir))?.into_iter().map(|f| Path::new(dir).join(f.name)));
        }
    }
    Ok(fs.read(files.first().map_or(Path::new("/none"), PathBuf::as_path))?)
}

fn seeds() -> Vec<Vec<u8>> {
    let mut files = vec![
        include_bytes!("../../../wal/tests/fixtures/hbase-plain.wal").to_vec(),
        include_bytes!("../../../wal/tests/fixtures/hbase-dictionaries-plain-tags.wal").to_vec(),
        // The trailer is cut off with the rest.
        include_bytes!("../../../wal/tests/fixtures/hbase-dictionaries.wal")[..4000].to_vec(),
        format::file_header(7),
    ];
    files.extend(written());
    files.iter().flat_map(|file| [0, RECOVERED_EDITS, SPLIT].map(|flags| [&[flags], &file[..]].concat())).collect()
}

fn names() -> Vec<Vec<u8>> {
    words(&["PWAL", "LAWP", "\0\0\0\0LAWP", "ProtobufLogWriter", format::CELL_CODEC_CLASS, format::CHECKSUM_ATTRIBUTE])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_read_and_split() {
        let cells: Vec<_> = seeds().chunks(3).map(|seeds| (explore(&seeds[0]).ok(), explore(&seeds[2]).ok())).collect();
        let twice = |cells| (Some(cells), Some(cells));
        assert_eq!((cells[0], cells[1], cells[3], cells[4]), (twice(8), twice(10), twice(0), twice(12)));
        assert!(cells[2].0.is_some_and(|cells| cells > 20), "{:?}", cells[2]);
        // Of another kind of file are the dictionaries too small.
        assert!(explore(&seeds()[7]).is_err());
    }
}
