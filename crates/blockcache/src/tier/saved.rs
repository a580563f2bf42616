//! The index in its file, between a clean stop and the next start.
//!
//! ```text
//! offset  0  8 bytes   "MTIERIDX"
//!         8  u32       version, 1
//!        12  u32       CRC32C of all that follows
//!        16  16 bytes  id of the slab
//!        32  u32       bytes of a segment
//!        36  u32       number of segments
//!        40  u32       segments with something in them
//!        44  u64       blocks
//!        52  segments, oldest first: u32 number, u32 used bytes
//!            blocks: 16 bytes file, u64 offset, u32 segment, u32 place in it, u32 bytes of the record, u8 read lately
//! ```
//! It tells where to look and no more: what is found there is checked like any record.

use super::index::{Entry, Index};
use super::segments::{Place, Segments};
use super::{FileName, Key, record};

const MAGIC: &[u8; 8] = b"MTIERIDX";
const VERSION: u32 = 1;
const SUMMED: usize = 16;
const SEGMENT_BYTES: usize = 8;
const BLOCK_BYTES: usize = 37;

/// What the index must be about to be of use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub slab: [u8; 16],
    pub segment_bytes: u32,
    pub segments: u32,
}

pub(crate) fn encode(shape: &Shape, segments: &Segments, index: &Index) -> Vec<u8> {
    let filled: Vec<_> = segments.in_order().collect();
    let mut out = Vec::with_capacity(52 + filled.len() * SEGMENT_BYTES + index.blocks() * BLOCK_BYTES);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&VERSION.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&shape.slab);
    for number in [shape.segment_bytes, shape.segments, filled.len() as u32] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    out.extend_from_slice(&(index.blocks() as u64).to_be_bytes());
    for (number, used_bytes) in filled {
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(&used_bytes.to_be_bytes());
    }
    for (key, entry) in index.iter() {
        out.extend_from_slice(&key.file.0);
        out.extend_from_slice(&key.offset.to_be_bytes());
        for number in [entry.place.segment, entry.place.at, entry.len] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.push(u8::from(entry.is_read));
    }
    let sum = crc_fast::crc32_iscsi(&out[SUMMED..]);
    out[12..SUMMED].copy_from_slice(&sum.to_be_bytes());
    out
}

/// Reads fields one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (array, rest) = self.0.split_first_chunk::<N>().ok_or("it ends in the middle")?;
        self.0 = rest;
        Ok(*array)
    }
    fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_be_bytes)
    }
    fn u64(&mut self) -> Result<u64, String> {
        self.array().map(u64::from_be_bytes)
    }
}

/// The error says why the index cannot be used.
pub(crate) fn decode(bytes: &[u8], shape: &Shape) -> Result<(Segments, Index), String> {
    let mut fields = Fields(bytes);
    if fields.array::<8>()? != *MAGIC {
        return Err("it is no index of a cache".to_owned());
    }
    let version = fields.u32()?;
    if version != VERSION {
        return Err(format!("version {version}"));
    }
    let sum = fields.u32()?;
    if sum != crc_fast::crc32_iscsi(fields.0) {
        return Err("it is damaged".to_owned());
    }
    let found = Shape { slab: fields.array()?, segment_bytes: fields.u32()?, segments: fields.u32()? };
    if found != *shape {
        return Err("it belongs to other cache files, or to a cache of another size".to_owned());
    }
    let (filled, blocks) = (fields.u32()?, fields.u64()?);
    let len = blocks.saturating_mul(BLOCK_BYTES as u64).saturating_add(u64::from(filled) * SEGMENT_BYTES as u64);
    if len != fields.0.len() as u64 {
        return Err(format!("{filled} segments and {blocks} blocks do not make its length"));
    }
    let filled = (0..filled).map(|_| Ok((fields.u32()?, fields.u32()?))).collect::<Result<Vec<_>, String>>()?;
    let segments = Segments::filled(shape.segments, shape.segment_bytes, &filled);
    let mut segments = segments.ok_or("its segments are impossible")?;
    let mut index = Index::default();
    for _ in 0..blocks {
        let key = Key { file: FileName(fields.array()?), offset: fields.u64()? };
        let place = Place { segment: fields.u32()?, at: fields.u32()? };
        let entry = Entry { place, len: fields.u32()?, is_read: fields.array::<1>()? != [0] };
        let is_record = entry.len as usize >= record::HEADER_BYTES && segments.add(place, entry.len, key);
        if !is_record || index.insert(key, entry).is_some() {
            return Err(format!("its block at {} of segment {} is impossible", place.at, place.segment));
        }
    }
    segments.free_empty();
    Ok((segments, index))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Shape = Shape { slab: [9; 16], segment_bytes: 1000, segments: 5 };

    fn some() -> (Segments, Index) {
        let (mut segments, mut index) = (Segments::new(5, 1000), Index::default());
        for offset in 0..30 {
            let key = Key { file: FileName([offset as u8 % 3; 16]), offset };
            let place = segments.room(100).unwrap();
            assert!(segments.add(place, 100, key));
            index.insert(key, Entry { place, len: 100, is_read: offset % 2 == 0 });
        }
        (segments, index)
    }

    fn sorted(index: &Index) -> Vec<(Key, Entry)> {
        let mut all: Vec<_> = index.iter().map(|(key, entry)| (key, *entry)).collect();
        all.sort_by_key(|(key, _)| key.offset);
        all
    }

    #[test]
    fn it_comes_back_as_it_was() {
        let (segments, index) = some();
        let (segments2, index2) = decode(&encode(&SHAPE, &segments, &index), &SHAPE).unwrap();
        assert_eq!((sorted(&index2), segments2.live_bytes()), (sorted(&index), 3000));
        assert_eq!(segments2.in_order().collect::<Vec<_>>(), segments.in_order().collect::<Vec<_>>());
        let (mut segments, index) =
            decode(&encode(&SHAPE, &Segments::new(5, 1000), &Index::default()), &SHAPE).unwrap();
        assert_eq!((index.blocks(), segments.room(1000)), (0, Some(Place { segment: 0, at: 0 })));
    }

    #[test]
    fn every_damage_is_noticed() {
        let (segments, index) = some();
        let good = encode(&SHAPE, &segments, &index);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert!(decode(&bad, &SHAPE).is_err(), "byte {at}");
            assert!(decode(&good[..at], &SHAPE).is_err(), "{at} bytes of it");
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
        let good = encode(&SHAPE, &segments, &index);
        let mut accepted = 0;
        for at in SUMMED..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x80;
            let sum = crc_fast::crc32_iscsi(&bad[SUMMED..]);
            bad[12..SUMMED].copy_from_slice(&sum.to_be_bytes());
            if let Ok((segments, index)) = decode(&bad, &SHAPE) {
                accepted += 1;
                assert!(segments.live_bytes() <= 5000 && index.blocks() == 30, "byte {at}");
            }
        }
        assert!(accepted > 0, "names and offsets may be anything");
    }
}
