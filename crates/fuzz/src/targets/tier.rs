//! What the cache keeps in files on an SSD: its index and its slab, read at the next start, read from, and written to.
//!
//! Input: `| flags | u16 length | slab, without the gap behind its header | index |`. Flag 1: the index's checksums are made
//! right, so that what it says is believed. What the tier gives must be right all the same.

use crate::mutate::Form;
use crate::target::{Budget, Target, words};
use martite_blockcache::tier::{FileName, Found, Image, Tier, TierContext, TierOptions};
use martite_blockcache::{BlockCache, Kind};
use martite_env::{FileSystem, ManualClock, MemFs, SeededRandom};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

pub const TARGET: Target = Target {
    name: "tier",
    run,
    seeds,
    words: names,
    form: Form::Binary,
    max_len: 8 << 10,
    // A table for each file that the index names.
    budget: Budget { fixed_bytes: 1 << 20, per_byte: 64 },
    smoke: 4_000,
};

const MEND: u8 = 1;
const SLAB: &str = "/slab";
const INDEX: &str = "/index";
const HEADER_BYTES: usize = 48;
const INDEX_HEADER_BYTES: usize = 40;
/// Where the slab's segments begin.
const DATA_AT: usize = 4096;
const SEGMENT_BYTES: u32 = 512;
const SEGMENTS: usize = 4;
/// What is fuzzed is about file 1 and 2; 3 and 4 are written over it.
const FILES: std::ops::Range<u64> = 1..5;
const OFFSETS: std::ops::Range<u64> = 0..6;

fn run(input: &[u8]) {
    let _ = explore(input);
}

/// How many blocks the files gave at first.
fn explore(input: &[u8]) -> io::Result<usize> {
    let Some(([flags, high, low], rest)) = input.split_first_chunk() else { return Ok(0) };
    let slab_len = usize::from(u16::from_be_bytes([*high, *low]));
    let (slab, index) = rest.split_at(slab_len.min(rest.len()));
    let fs = MemFs::new();
    let (header, data) = slab.split_at(HEADER_BYTES.min(slab.len()));
    let mut file = header.to_vec();
    file.resize(DATA_AT, 0);
    file.extend_from_slice(data);
    file.resize(DATA_AT + SEGMENTS * SEGMENT_BYTES as usize, 0);
    put(&fs, SLAB, &file)?;
    let mut index = index.to_vec();
    if flags & MEND != 0 {
        mend(&mut index);
    }
    put(&fs, INDEX, &index)?;
    let tier = start(&fs)?;
    let found = look(&tier, FILES);
    write(tier, 3..5);
    // What was written over the damage is whole.
    let tier = start(&fs)?;
    look(&tier, FILES);
    tier.stop();
    Ok(found)
}

/// Makes the checksums of header and entries right, as far as it is one behind the other.
fn mend(index: &mut [u8]) {
    let sign = |part: &mut [u8]| {
        let sum = crc_fast::crc32_iscsi(&part[4..]);
        part[..4].copy_from_slice(&sum.to_be_bytes());
    };
    let Some((header, mut rest)) = index.split_at_mut_checked(INDEX_HEADER_BYTES) else { return };
    sign(&mut header[12..]);
    while let [_, _, _, _, kind, fields @ ..] = &*rest {
        let blocks = fields.get(8..12).map_or(0, |n| n.iter().fold(0, |n, byte| n << 8 | usize::from(*byte)));
        let len = if *kind == 1 { 17 + 33 * blocks } else { 21 };
        let Some((entry, behind)) = rest.split_at_mut_checked(len) else { return };
        sign(entry);
        rest = behind;
    }
}

fn put(fs: &MemFs, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs.create(Path::new(path))?;
    file.write_all(bytes)?;
    file.sync_data()
}

fn start(fs: &MemFs) -> io::Result<Arc<Tier<Vec<u8>>>> {
    let capacity_bytes = SEGMENTS as u64 * u64::from(SEGMENT_BYTES);
    let options = TierOptions {
        segment_bytes: SEGMENT_BYTES,
        index: Some(INDEX.into()),
        ..TierOptions::new(vec![SLAB.into()], capacity_bytes)
    };
    let random = Arc::new(SeededRandom::new(1));
    let ctx = TierContext { fs: Arc::new(fs.clone()), clock: Arc::new(ManualClock::new(1000)), random };
    let tier =
        Tier::start(ctx, options, |value: &Vec<u8>| Image { on_disk_size: on_disk_size(value), payload: value })?;
    FILES.for_each(|file| tier.open_file(file, FileName::of(&file.to_string(), file, file)));
    Ok(tier)
}

fn on_disk_size(value: &[u8]) -> u32 {
    value.len() as u32 + 33
}

/// The block says where it belongs.
fn block(file: u64, offset: u64) -> Vec<u8> {
    [file.to_be_bytes(), offset.to_be_bytes()].concat().repeat(3 + (offset + file) as usize % 4)
}

/// Number of blocks that the tier has; they are right.
fn look(tier: &Tier<Vec<u8>>, files: std::ops::Range<u64>) -> usize {
    let mut found = 0;
    for (file, offset) in files.flat_map(|file| OFFSETS.map(move |offset| (file, offset))) {
        let expected = block(file, offset);
        match tier.get(file, offset, on_disk_size(&expected)) {
            None => continue,
            Some(Found::Value(value)) => assert_eq!(*value, expected, "{file}, {offset}"),
            Some(Found::Payload { bytes, start }) => assert_eq!(&bytes[start..], expected, "{file}, {offset}"),
        }
        found += 1;
    }
    let stats = tier.stats();
    assert!(stats.used_bytes <= stats.capacity_bytes, "{stats:?}");
    found
}

/// Blocks of these files go through a small cache into the tier, which is stopped then.
fn write(tier: Arc<Tier<Vec<u8>>>, files: std::ops::Range<u64>) {
    fill(&tier, files);
    tier.stop();
}

fn fill(tier: &Arc<Tier<Vec<u8>>>, files: std::ops::Range<u64>) {
    let cache = BlockCache::above(Some(tier.clone()), 1 << 10, Vec::len);
    for (file, offset) in files.clone().flat_map(|file| OFFSETS.map(move |offset| (file, offset))) {
        cache.insert((file, offset), Kind::Data, Arc::new(block(file, offset)));
    }
    cache.set_capacity(0);
    tier.settle();
    look(tier, files);
}

/// Files as a stop leaves them, a clean one or another, before which files came and went.
fn stopped(files: std::ops::Range<u64>, clean: bool) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let fs = MemFs::new();
    let tier = start(&fs)?;
    if clean {
        write(tier, files);
    } else {
        fill(&tier, 3..5);
        tier.close_file(3, true);
        fill(&tier, files);
    }
    let slab = fs.read(Path::new(SLAB))?;
    let slab = [&slab[..HEADER_BYTES], &slab[DATA_AT..]].concat();
    Ok((slab, fs.read(Path::new(INDEX))?))
}

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0, 0, 0]];
    let stops = [(1..2, true), (1..3, true), (1..1, true), (1..3, false)];
    for (slab, index) in stops.into_iter().filter_map(|(files, clean)| stopped(files, clean).ok()) {
        let len = (slab.len() as u16).to_be_bytes();
        seeds.extend([0, MEND].map(|flags| [&[flags, len[0], len[1]], &slab[..], &index[..]].concat()));
    }
    seeds
}

fn names() -> Vec<Vec<u8>> {
    words(&["MARTSLAB", "MTIERIDX", "MBLK"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_hold_blocks_and_damage_is_missed() {
        let seeds = seeds();
        let found: Vec<_> = seeds.iter().map(|seed| explore(seed).ok()).collect();
        assert_eq!(found[1], Some(OFFSETS.count()), "{found:?}");
        assert_eq!((found[2], found[5]), (found[1], Some(0)));
        assert!(found[3] > found[1], "{found:?}");
        assert!(found[7] > Some(0) && found[7] == found[8], "{found:?}");
        // A bit of a block's payload, of its record's name, of the index.
        for at in [3 + HEADER_BYTES + 41, 3 + HEADER_BYTES + 9] {
            let mut seed = seeds[1].clone();
            seed[at] ^= 1;
            assert_eq!(explore(&seed).ok(), Some(OFFSETS.count() - 1), "byte {at}");
        }
        let mut seed = seeds[1].clone();
        *seed.last_mut().expect("it is not empty") ^= 1;
        assert!(explore(&seed).is_ok_and(|left| left < OFFSETS.count()));
        seed[0] = MEND;
        assert!(explore(&seed).is_ok_and(|left| left + 1 >= OFFSETS.count()), "a flag of the last block");
    }
}
