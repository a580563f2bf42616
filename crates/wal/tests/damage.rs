//! Bit rot is told from torn tails, at every byte.
#![allow(clippy::unwrap_used)]

mod rig;

use martite_env::{FileSystem, MemFs};
use martite_wal::{TornTail, WalError, WalReader};
use rig::{R1, dir, edit, entries, log, put, quiet};
use std::path::PathBuf;

fn file() -> PathBuf {
    dir().join("server.1700000000000")
}

/// A file of three batches of two entries each, and the offsets of all entries and of the end.
fn three_batches(close: bool) -> (MemFs, Vec<u64>) {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    for seq in [1, 3, 5] {
        wal.append(&edit(&R1, seq)).unwrap();
        put(&wal, &R1, seq + 1).unwrap();
    }
    let mut reader = WalReader::open(&fs, &file()).unwrap();
    let mut offsets = vec![reader.position()];
    while reader.next().unwrap().is_some() {
        offsets.push(reader.position());
    }
    if close {
        wal.close().unwrap();
        return (fs, offsets);
    }
    (fs.crash(), offsets)
}

fn read_all(fs: &MemFs) -> Result<(Vec<u64>, Option<TornTail>), WalError> {
    let mut reader = WalReader::open(fs, &file())?;
    let mut seqs = Vec::new();
    while let Some(entry) = reader.next()? {
        seqs.push(entry.seq);
    }
    Ok((seqs, reader.torn_tail()))
}

#[test]
fn a_flipped_bit_in_a_closed_file_is_corruption() {
    let (fs, offsets) = three_batches(true);
    for at in 0..*offsets.last().unwrap() {
        for bit in [0, 3, 7] {
            assert!(fs.corrupt(&file(), at, |b| *b ^= 1 << bit));
            match read_all(&fs) {
                Err(WalError::Corrupt { file: named, offset, .. }) => {
                    assert_eq!(named, file());
                    assert!(offset <= at, "byte {at} bit {bit}: reported at {offset}");
                }
                other => panic!("byte {at} bit {bit}: {other:?}"),
            }
            assert!(fs.corrupt(&file(), at, |b| *b ^= 1 << bit));
        }
    }
    assert_eq!(read_all(&fs).unwrap(), (vec![1, 2, 3, 4, 5, 6], None));
}

#[test]
fn a_flipped_bit_in_an_open_file_is_corruption_unless_it_is_in_the_last_batch() {
    let (fs, offsets) = three_batches(false);
    let last_batch = offsets[4];
    for at in 0..*offsets.last().unwrap() {
        for bit in [0, 3, 7] {
            assert!(fs.corrupt(&file(), at, |b| *b ^= 1 << bit));
            match read_all(&fs) {
                Err(WalError::Corrupt { offset, .. }) => {
                    assert!(at < last_batch && offset <= at, "byte {at} bit {bit}")
                }
                Ok((seqs, Some(tail))) => {
                    assert!(at >= last_batch, "byte {at} bit {bit}: damage to what was synced went as a torn tail");
                    let whole = offsets.iter().rposition(|o| *o <= at).unwrap();
                    assert_eq!(seqs, (1..=whole as u64).collect::<Vec<_>>());
                    let lost_bytes = offsets[6] - offsets[whole];
                    assert_eq!(tail, TornTail { offset: offsets[whole], lost_bytes });
                }
                other => panic!("byte {at} bit {bit}: {other:?}"),
            }
            assert!(fs.corrupt(&file(), at, |b| *b ^= 1 << bit));
        }
    }
}

#[test]
fn a_file_cut_anywhere_keeps_its_whole_entries() {
    let (whole, offsets) = three_batches(true);
    let bytes = whole.read(&file()).unwrap();
    for len in 0..bytes.len() {
        let fs = whole.crash();
        assert!(fs.truncate(&file(), len as u64));
        let (seqs, tail) = read_all(&fs).unwrap_or_else(|e| panic!("cut at {len}: {e}"));
        let kept = offsets.iter().rposition(|o| *o as usize <= len).unwrap_or(0);
        assert_eq!(seqs, (1..=kept as u64).collect::<Vec<_>>(), "cut at {len}");
        let clean = offsets.iter().any(|o| *o as usize == len) || len > offsets[6] as usize;
        assert_eq!(tail.is_none(), clean, "cut at {len}: {tail:?}");
    }
}

#[test]
fn a_tail_that_was_never_synced_may_be_anything() {
    let (fs, offsets) = three_batches(false);
    let good = fs.read(&file()).unwrap();
    // The last batch was written and not synced: its first entry was lost, its second one reached the disk.
    let mut holed = good.clone();
    holed[offsets[4] as usize..offsets[5] as usize].fill(0);
    // Something else was on the disk there before.
    let mut noise = good.clone();
    noise.extend((0..5000u32).map(|n| (n * n % 251) as u8));
    // A second entry that was never there, copied with its checksum from an earlier place of the same log.
    let mut stale = good.clone();
    stale.extend([0xff; 3]);
    stale.extend_from_slice(&good[offsets[1] as usize..offsets[2] as usize]);
    for (bytes, kept) in [(holed, 4), (noise, 6), (stale, 6)] {
        let fs = MemFs::new();
        fs.create_dir_all(&dir()).unwrap();
        fs.create(&file()).unwrap().write_all(&bytes).unwrap();
        let (seqs, tail) = read_all(&fs).unwrap();
        assert_eq!(seqs, (1..=kept).collect::<Vec<_>>());
        let offset = offsets[kept as usize];
        assert_eq!(tail, Some(TornTail { offset, lost_bytes: bytes.len() as u64 - offset }));
    }
}

#[test]
fn zeros_that_fill_a_block_are_no_torn_tail() {
    let (fs, offsets) = three_batches(true);
    let bytes = fs.read(&file()).unwrap();
    let entries = &bytes[..offsets[6] as usize];
    let trailer = &bytes[entries.len()..];
    for (end, zeros, whole) in [
        (&b""[..], 1, true),
        (b"", 4095, true),
        (trailer, 4095, true),
        (&trailer[..6], 100, true),
        (b"", 5000, false),
        (b"\0\0\0\0LAWQ", 100, false),
        (b"\x01", 100, false),
    ] {
        let fs = MemFs::new();
        fs.create_dir_all(&dir()).unwrap();
        let bytes = [entries, end, &vec![0; zeros]].concat();
        fs.create(&file()).unwrap().write_all(&bytes).unwrap();
        let (seqs, tail) = read_all(&fs).unwrap();
        assert_eq!((seqs.len(), tail.is_none()), (6, whole), "{end:?} and {zeros} zeros: {tail:?}");
    }
}

#[test]
fn an_entry_larger_than_the_read_buffer_is_read_whole() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    for (seq, size) in [(1, 10), (2, 5 << 20), (3, 10), (4, 3 << 20)] {
        let ticket = wal.append(&rig::sized_edit(&R1, seq, &[rig::F], size)).unwrap();
        wal.sync(ticket).unwrap();
    }
    let sizes: Vec<_> = entries(&fs, &file()).unwrap().iter().map(|e| (e.seq, e.cells.len() >> 20)).collect();
    assert_eq!(sizes, [(1, 0), (2, 5), (3, 0), (4, 3)]);
    assert!(fs.corrupt(&file(), 3 << 20, |b| *b ^= 1));
    assert!(matches!(read_all(&fs), Err(WalError::Corrupt { .. })));
}

#[test]
fn what_is_no_log_is_refused() {
    let fs = MemFs::new();
    fs.create_dir_all(&dir()).unwrap();
    for (name, bytes) in
        [("hfile", &b"DATABLK*and so on"[..]), ("short", b"PW4L"), ("header", b"PWAL\x05abcde more bytes")]
    {
        fs.create(&dir().join(name)).unwrap().write_all(bytes).unwrap();
        assert!(matches!(WalReader::open(&fs, &dir().join(name)), Err(WalError::Corrupt { .. })), "{name}");
    }
    for (name, bytes) in [("empty", &b""[..]), ("cut", b"PWA"), ("zeros", &[0; 5000])] {
        fs.create(&dir().join(name)).unwrap().write_all(bytes).unwrap();
        let reader = WalReader::open(&fs, &dir().join(name)).unwrap();
        let lost_bytes = bytes.len() as u64;
        assert_eq!(reader.torn_tail(), Some(TornTail { offset: 0, lost_bytes }), "{name}");
    }
}
