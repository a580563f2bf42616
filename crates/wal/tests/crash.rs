//! Whatever moment the machine stops at: what was acknowledged is there, in order, and nothing is called corrupt.
#![allow(clippy::unwrap_used)]

mod rig;

use martite_env::{Fault, FileSystem, MemFs};
use martite_wal::{WalError, WalOptions, WalReader};
use rig::{F, R1, R2, archive, dir, edit, quiet, try_log};
use std::collections::BTreeSet;

/// A day in the life of a log. Notes what was acknowledged; stops at the first error.
fn live(fs: &MemFs, acknowledged: &mut Vec<u64>) -> Result<(), WalError> {
    let wal = try_log(fs, WalOptions { roll_size_bytes: 1500, ..quiet() })?;
    let mut seq = 0u64;
    let mut batch = |size: u64, wait: bool| -> Result<(), WalError> {
        let mut last = None;
        for _ in 0..size {
            seq += 1;
            last = Some(wal.append(&edit(if seq.is_multiple_of(3) { &R2 } else { &R1 }, seq))?);
        }
        if let Some(last) = last.filter(|_| wait) {
            wal.sync(last)?;
            *acknowledged = (1..=seq).collect();
        }
        Ok(())
    };
    for size in [1, 5, 2, 7, 1, 3] {
        batch(size, true)?;
        batch(size, false)?;
    }
    wal.roll()?;
    batch(4, true)?;
    wal.start_flush(&R1, &[F]);
    wal.complete_flush(&R1, &[F])?;
    batch(2, true)?;
    wal.start_flush(&R2, &[F]);
    wal.complete_flush(&R2, &[F])?;
    batch(2, false)?;
    wal.close()
}

/// The sequence ids in all files, in the order in which they were written.
fn recovered(fs: &MemFs) -> Result<Vec<u64>, WalError> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for dir in [archive(), dir()] {
        for name in fs.list(&dir).into_iter().flatten() {
            // A crash between the two directory syncs of an archiving leaves both names.
            if !seen.insert(name.name.clone()) {
                continue;
            }
            let mut reader = WalReader::open(fs, &dir.join(&name.name))?;
            while let Some(entry) = reader.next()? {
                all.push(entry.seq);
            }
            assert!(reader.torn_tail().is_none() || !reader.is_closed());
        }
    }
    Ok(all)
}

#[test]
fn at_every_operation_what_was_acknowledged_survives() {
    survives_at_every_operation(false);
}

#[test]
fn so_it_does_where_logs_grow_by_blocks() {
    survives_at_every_operation(true);
}

fn survives_at_every_operation(pads: bool) {
    let mut points = 0;
    for nth in 1.. {
        let fs = MemFs::new();
        fs.set_pads(pads);
        fs.inject(Fault::HaltAt { nth });
        let mut acknowledged = Vec::new();
        let ended = live(&fs, &mut acknowledged);
        for seed in 0..25 {
            let after = if seed == 0 { fs.crash() } else { fs.crash_torn(seed) };
            let found = recovered(&after).unwrap_or_else(|e| panic!("halt at {nth}, seed {seed}: {e}"));
            let found_set: BTreeSet<u64> = found.iter().copied().collect();
            for seq in &acknowledged {
                assert!(found_set.contains(seq), "halt at {nth}, seed {seed}: {seq} was acknowledged, have {found:?}");
            }
            assert_eq!(found, (1..=found.len() as u64).collect::<Vec<_>>(), "halt at {nth}, seed {seed}: a gap");
        }
        points = nth;
        if ended.is_ok() {
            break;
        }
    }
    assert!(points > 50, "{points} points");
}
