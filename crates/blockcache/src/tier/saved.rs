//! The index in its file: what was written into which segment, and which files are gone, in the order in which it happened.
//!
//! ```text
//! offset  0  8 bytes   "MTIERIDX"
//!         8  u32       version, 2
//!        12  u32       CRC32C of the next 24 bytes
//!        16  16 bytes  id of the slab
//!        32  u32       bytes of a segment
//!        36  u32       number of segments
//!        40  entries, one behind the other:
//!
//! entry   0  u32       CRC32C of all that follows in it
//!         4  u8        1: what is in a segment from now on                 2: a file is gone
//!         5            u32 segment, u32 used bytes, u32 number of blocks   16 bytes file
//!        17            blocks: 16 bytes file, u64 offset, u32 place in the segment, u32 bytes of the record,
//!                      u8 read lately
//! ```
//! The first entry that is not whole is the end: the server was killed while it was written. It tells where to look and no
//! more: what is found there is checked like any record.

use super::index::{Entry, Index};
use super::segments::{Place, Segments};
use super::{FileName, Key, record};
use std::collections::{HashMap, HashSet};

const MAGIC: &[u8; 8] = b"MTIERIDX";
const VERSION: u32 = 2;
const SUMMED: usize = 16;
const HEADER_BYTES: usize = 40;
const SEGMENT: u8 = 1;
const GONE: u8 = 2;

/// What the index must be about to be of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub slab: [u8; 16],
    pub segment_bytes: u32,
    pub segments: u32,
}

/// All that there is, as a file of its own.
pub(crate) fn whole(shape: &Shape, segments: &Segments, index: &Index) -> Vec<u8> {
    let mut out = [&MAGIC[..], &VERSION.to_be_bytes(), &[0; 4], &shape.slab].concat();
    for number in [shape.segment_bytes, shape.segments] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    sign(&mut out, 12);
    for (number, used_bytes) in segments.in_order() {
        segment(&mut out, (number, used_bytes), segments, index);
    }
    out
}

/// Adds what is in a segment.
pub(crate) fn segment(out: &mut Vec<u8>, (number, used_bytes): (u32, u32), segments: &Segments, index: &Index) {
    let mut seen = HashSet::<_, foldhash::fast::RandomState>::default();
    let mut is_here = |key: &Key| index.get(key).filter(|entry| entry.place.segment == number && seen.insert(*key));
    let blocks = segments.blocks(number).iter();
    let blocks: Vec<(&Key, &Entry)> = blocks.filter_map(|key| Some((key, is_here(key)?))).collect();
    let start = begin(out, SEGMENT);
    for field in [number, used_bytes, blocks.len() as u32] {
        out.extend_from_slice(&field.to_be_bytes());
    }
    for (key, entry) in blocks {
        out.extend_from_slice(&key.file.0);
        out.extend_from_slice(&key.offset.to_be_bytes());
        out.extend_from_slice(&entry.place.at.to_be_bytes());
        out.extend_from_slice(&entry.len.to_be_bytes());
        out.push(u8::from(entry.is_read));
    }
    sign(out, start);
}

/// Adds that a segment is about to be written anew.
pub(crate) fn emptied(out: &mut Vec<u8>, number: u32) {
    let start = begin(out, SEGMENT);
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(&[0; 8]);
    sign(out, start);
}

/// Adds that a file is gone.
pub(crate) fn gone(out: &mut Vec<u8>, file: &FileName) {
    let start = begin(out, GONE);
    out.extend_from_slice(&file.0);
    sign(out, start);
}

/// Where the entry begins.
fn begin(out: &mut Vec<u8>, kind: u8) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    out.push(kind);
    start
}

/// Puts the checksum of all that follows at `at`.
fn sign(out: &mut [u8], at: usize) {
    let sum = crc_fast::crc32_iscsi(&out[at + 4..]);
    out[at..at + 4].copy_from_slice(&sum.to_be_bytes());
}

/// Reads fields one after the other; None: it ends in the middle.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }
    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
    fn file(&mut self) -> Option<FileName> {
        self.array().map(FileName)
    }
}

struct Block {
    key: Key,
    at: u32,
    len: u32,
    is_read: bool,
}

/// The last entry about a segment.
struct Filled {
    /// Which entry of the file it was.
    turn: usize,
    used_bytes: u32,
    blocks: Vec<Block>,
}

const BLOCK_BYTES: usize = 33;

#[derive(Default)]
struct Entries {
    segments: HashMap<u32, Filled>,
    /// Which entry said so.
    gone: HashMap<FileName, usize>,
    turn: usize,
}

impl Entries {
    /// False: the entry is not whole, and neither is what follows.
    fn read(&mut self, fields: &mut Fields<'_>) -> Option<()> {
        let sum = fields.u32()?;
        let all = fields.0;
        self.turn += 1;
        match fields.array::<1>()?[0] {
            SEGMENT => {
                let (number, used_bytes, count) = (fields.u32()?, fields.u32()?, fields.u32()?);
                let mut blocks = Fields(fields.bytes((count as usize).checked_mul(BLOCK_BYTES)?)?);
                is_signed(sum, all, fields)?;
                let blocks = (0..count).map(|_| Block::read(&mut blocks)).collect::<Option<Vec<_>>>()?;
                self.segments.insert(number, Filled { turn: self.turn, used_bytes, blocks });
            }
            GONE => {
                let file = fields.file()?;
                is_signed(sum, all, fields)?;
                self.gone.insert(file, self.turn);
            }
            _ => return None,
        }
        Some(())
    }

    /// The error says what is impossible.
    fn apply(self, shape: &Shape) -> Result<(Segments, Index), String> {
        let mut filled: Vec<_> = self.segments.into_iter().filter(|(_, filled)| !filled.blocks.is_empty()).collect();
        filled.sort_unstable_by_key(|(_, filled)| filled.turn);
        let used: Vec<_> = filled.iter().map(|(number, filled)| (*number, filled.used_bytes)).collect();
        let segments = Segments::filled(shape.segments, shape.segment_bytes, &used);
        let mut segments = segments.ok_or("its segments are impossible")?;
        let mut index = Index::default();
        for (number, filled) in filled {
            let is_gone = |file: &FileName| self.gone.get(file).is_some_and(|turn| *turn > filled.turn);
            for Block { key, at, len, is_read } in filled.blocks.into_iter().filter(|block| !is_gone(&block.key.file)) {
                let place = Place { segment: number, at };
                if (len as usize) < record::HEADER_BYTES || !segments.add(place, len, key) {
                    return Err(format!("its block at {at} of segment {number} is impossible"));
                }
                // It was moved: the older place does not count.
                if let Some(before) = index.insert(key, Entry { place, len, is_read }) {
                    segments.remove(before.place, before.len);
                }
            }
        }
        segments.free_empty();
        Ok((segments, index))
    }
}

impl Block {
    fn read(fields: &mut Fields<'_>) -> Option<Block> {
        let key = Key { file: fields.file()?, offset: fields.u64()? };
        Some(Block { key, at: fields.u32()?, len: fields.u32()?, is_read: fields.array::<1>()? != [0] })
    }
}

/// Whether the checksum is that of what was read of `all`.
fn is_signed(sum: u32, all: &[u8], rest: &Fields<'_>) -> Option<()> {
    (crc_fast::crc32_iscsi(&all[..all.len() - rest.0.len()]) == sum).then_some(())
}

/// What was there, as far as the file is whole. The error says why it cannot be used.
pub(crate) fn decode(bytes: &[u8], shape: &Shape) -> Result<(Segments, Index), String> {
    let header = bytes.get(..HEADER_BYTES).ok_or("it ends in the middle of its header")?;
    let mut fields = Fields(header);
    if fields.array() != Some(*MAGIC) {
        return Err("it is no index of a cache".to_owned());
    }
    let (version, sum) = (fields.u32(), fields.u32());
    if version != Some(VERSION) {
        return Err(format!("version {}", version.unwrap_or_default()));
    }
    if sum != Some(crc_fast::crc32_iscsi(&header[SUMMED..])) {
        return Err("it is damaged".to_owned());
    }
    let found = (fields.array(), fields.u32(), fields.u32());
    if found != (Some(shape.slab), Some(shape.segment_bytes), Some(shape.segments)) {
        return Err("it belongs to other cache files, or to a cache of another size".to_owned());
    }
    let (mut fields, mut entries) = (Fields(&bytes[HEADER_BYTES..]), Entries::default());
    while entries.read(&mut fields).is_some() {}
    entries.apply(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { slab: [9; 16], segment_bytes: 1000, segments: 5 };

    fn key(offset: u64) -> Key {
        Key { file: FileName([offset as u8 % 3; 16]), offset }
    }

    fn put(segments: &mut Segments, index: &mut Index, offset: u64) {
        let place = segments.room(100).unwrap();
        assert!(segments.add(place, 100, key(offset)));
        index.insert(key(offset), Entry { place, len: 100, is_read: offset.is_multiple_of(2) });
    }

    fn some() -> (Segments, Index) {
        let (mut segments, mut index) = (Segments::new(5, 1000), Index::default());
        (0..30).for_each(|offset| put(&mut segments, &mut index, offset));
        (segments, index)
    }

    fn sorted(index: &Index) -> Vec<(Key, Entry)> {
        let mut all: Vec<_> = index.iter().map(|(key, entry)| (key, *entry)).collect();
        all.sort_by_key(|(key, _)| key.offset);
        all
    }

    fn offsets(index: &Index) -> Vec<u64> {
        sorted(index).into_iter().map(|(key, _)| key.offset).collect()
    }

    #[test]
    fn it_comes_back_as_it_was() {
        let (segments, index) = some();
        let (segments2, index2) = decode(&whole(&SHAPE, &segments, &index), &SHAPE).unwrap();
        assert_eq!((sorted(&index2), segments2.live_bytes()), (sorted(&index), 3000));
        assert_eq!(segments2.in_order().collect::<Vec<_>>(), segments.in_order().collect::<Vec<_>>());
        let none = whole(&SHAPE, &Segments::new(5, 1000), &Index::default());
        let (mut segments, index) = decode(&none, &SHAPE).unwrap();
        assert_eq!((none.len(), index.blocks(), segments.room(1000)), (40, 0, Some(Place { segment: 0, at: 0 })));
    }

    #[test]
    fn later_entries_replace_earlier_ones() {
        let (mut segments, mut index) = some();
        let mut file = whole(&SHAPE, &segments, &index);
        emptied(&mut file, 0);
        assert_eq!(offsets(&decode(&file, &SHAPE).unwrap().1), (10..30).collect::<Vec<_>>());
        gone(&mut file, &key(12).file);
        let not_gone = (10..30).filter(|offset| offset % 3 != 0).collect::<Vec<_>>();
        assert_eq!(offsets(&decode(&file, &SHAPE).unwrap().1), not_gone);
        // A block that was moved is there twice; what was written after its file was gone is there.
        (40..50).chain([13]).for_each(|offset| put(&mut segments, &mut index, offset));
        segment(&mut file, (3, 1000), &segments, &index);
        segment(&mut file, (4, 100), &segments, &index);
        let (segments2, index2) = decode(&file, &SHAPE).unwrap();
        assert_eq!(offsets(&index2), [not_gone, (40..50).collect()].concat());
        assert_eq!(index2.get(&key(13)).unwrap().place, Place { segment: 4, at: 0 });
        let bytes: u64 = index2.iter().map(|(_, entry)| u64::from(entry.len)).sum();
        assert_eq!(segments2.live_bytes(), bytes);
        assert_eq!(segments2.in_order().map(|(number, _)| number).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    #[test]
    fn a_block_that_left_a_segment_and_came_back_is_there_once() {
        let (mut segments, mut index) = some();
        segments.remove(index.remove(&key(29)).unwrap().place, 100);
        put(&mut segments, &mut index, 29);
        segments.remove(index.remove(&key(29)).unwrap().place, 100);
        put(&mut segments, &mut index, 29);
        let (segments2, index2) = decode(&whole(&SHAPE, &segments, &index), &SHAPE).unwrap();
        assert_eq!((sorted(&index2), segments2.live_bytes()), (sorted(&index), 3000));
    }

    #[test]
    fn a_file_that_ends_early_has_what_came_before() {
        let (segments, index) = some();
        let good = whole(&SHAPE, &segments, &index);
        let entry = (good.len() - HEADER_BYTES) / 3;
        for len in 0..good.len() {
            match decode(&good[..len], &SHAPE) {
                Err(why) => assert!(len < HEADER_BYTES, "{len} bytes: {why}"),
                Ok((_, index)) => assert_eq!(index.blocks(), (len - HEADER_BYTES) / entry * 10, "{len} bytes"),
            }
            // As a machine leaves it that lost its power.
            let zeros = [&good[..len], &vec![0; good.len() - len]].concat();
            assert!(
                decode(&zeros, &SHAPE).is_ok_and(|(_, index)| index.blocks() < 30)
                    || len < HEADER_BYTES
                    || zeros == good
            );
        }
    }

    #[test]
    fn every_damage_is_noticed() {
        let (segments, index) = some();
        let good = whole(&SHAPE, &segments, &index);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert!(decode(&bad, &SHAPE).map_or(true, |(_, index)| index.blocks() < 30), "byte {at}");
        }
        for other in
            [Shape { slab: [8; 16], ..SHAPE }, Shape { segment_bytes: 999, ..SHAPE }, Shape { segments: 6, ..SHAPE }]
        {
            assert!(decode(&good, &other).unwrap_err().contains("other cache files"));
        }
    }

    #[test]
    fn what_is_impossible_is_refused_though_the_checksum_is_right() {
        let (segments, index) = some();
        let good = whole(&SHAPE, &segments, &index);
        let entry = (good.len() - HEADER_BYTES) / 3;
        let (mut accepted, mut refused) = (0, 0);
        for at in HEADER_BYTES + 4..HEADER_BYTES + entry {
            let mut bad = good.clone();
            bad[at] ^= 0x80;
            sign(&mut bad[HEADER_BYTES..HEADER_BYTES + entry], 0);
            match decode(&bad, &SHAPE) {
                Err(_) => refused += 1,
                Ok((segments, index)) => {
                    accepted += 1;
                    let bytes: u64 = index.iter().map(|(_, entry)| u64::from(entry.len)).sum();
                    assert!(segments.live_bytes() == bytes && bytes <= 5000, "byte {at}");
                }
            }
        }
        assert!(accepted > 0, "names and offsets may be anything");
        assert!(refused > 0, "places may not");
    }
}
