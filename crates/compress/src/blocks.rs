//! Hadoop's block stream (`BlockCompressorStream`): how snappy, LZ4 and HBase's zstd codecs frame their output.
//!
//! ```text
//! group = | u32 plain length of the group | { u32 packed length | packed chunk } until that length is reached |
//! stream = group*
//! ```
//! Worked example, snappy, plain bytes `aaaaaaaa`:
//! ```text
//! 00 00 00 08   the group unpacks to 8 bytes
//! 00 00 00 06   its only chunk has 6 bytes
//! 08 00 61 1a 01 00   snappy: length 8, literal "a", copy 7 from 1 back
//! ```

use crate::{CompressError, zstandard};
use std::cell::RefCell;

/// What a chunk is packed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chunk {
    Snappy,
    Lz4,
    Zstd,
}

/// Plain bytes per chunk: packed at its worst, a chunk still fits the 256 KiB buffers of Hadoop's decompressors.
const CHUNK_BYTES: usize = 192 << 10;

thread_local! {
    static SNAPPY: RefCell<snap::raw::Encoder> = RefCell::new(snap::raw::Encoder::new());
}

impl Chunk {
    fn name(self) -> &'static str {
        match self {
            Chunk::Snappy => "SNAPPY",
            Chunk::Lz4 => "LZ4",
            Chunk::Zstd => "ZSTD",
        }
    }

    fn corrupt(self, reason: impl ToString) -> CompressError {
        CompressError::Corrupt { codec: self.name(), reason: reason.to_string() }
    }

    /// More than this many plain bytes cannot come out of `packed` bytes.
    fn most_plain(self, packed: usize) -> usize {
        match self {
            // A 3 byte copy element makes 64 bytes.
            Chunk::Snappy => packed.saturating_mul(22).saturating_add(64),
            Chunk::Lz4 => packed.saturating_mul(255).saturating_add(64),
            Chunk::Zstd => zstandard::most_plain(packed),
        }
    }

    fn pack(self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
        let start = out.len();
        let room = match self {
            Chunk::Snappy => snap::raw::max_compress_len(plain.len()),
            Chunk::Lz4 => lz4_flex::block::get_maximum_output_size(plain.len()),
            Chunk::Zstd => return zstandard::compress(plain, out),
        };
        out.resize(start + room, 0);
        let packed = match self {
            Chunk::Lz4 => {
                lz4_flex::block::compress_into(plain, &mut out[start..]).map_err(|e| self.corrupt(format!("{e}")))?
            }
            _ => SNAPPY
                .with_borrow_mut(|s| s.compress(plain, &mut out[start..]))
                .map_err(|e| self.corrupt(format!("{e}")))?,
        };
        out.truncate(start + packed);
        Ok(())
    }

    /// Unpacks one chunk to the front of `room`; gives its length.
    fn unpack(self, packed: &[u8], room: &mut [u8]) -> Result<usize, CompressError> {
        match self {
            Chunk::Snappy => {
                let len = snap::raw::decompress_len(packed).map_err(|e| self.corrupt(e))?;
                let room = room
                    .get_mut(..len)
                    .ok_or_else(|| self.corrupt(format!("a chunk of {len} bytes exceeds its group")))?;
                snap::raw::Decoder::new().decompress(packed, room).map_err(|e| self.corrupt(e))
            }
            Chunk::Lz4 => lz4_flex::block::decompress_into(packed, room).map_err(|e| self.corrupt(e)),
            Chunk::Zstd => zstandard::decompress_into(packed, room),
        }
    }
}

pub(crate) fn compress(chunk: Chunk, plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
    let len = u32::try_from(plain.len()).map_err(|_| chunk.corrupt("more than 4 GiB in one group"))?;
    out.extend_from_slice(&len.to_be_bytes());
    for plain in plain.chunks(CHUNK_BYTES) {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        chunk.pack(plain, out)?;
        let packed = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&packed.to_be_bytes());
    }
    Ok(())
}

/// Unpacks the whole stream, at most `limit_bytes` of it.
pub(crate) fn decompress(
    chunk: Chunk,
    mut data: &[u8],
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), CompressError> {
    let start = out.len();
    while !data.is_empty() {
        let group = take_u32(chunk, &mut data)?;
        if group > limit_bytes - (out.len() - start) {
            return Err(CompressError::TooLarge { codec: chunk.name(), limit_bytes });
        }
        if group > chunk.most_plain(data.len()) {
            return Err(chunk.corrupt(format!("a group of {group} bytes from {} packed ones", data.len())));
        }
        let at = out.len();
        out.resize(at + group, 0);
        let mut done = 0;
        while done < group {
            let packed_len = take_u32(chunk, &mut data)?;
            let (packed, rest) = data
                .split_at_checked(packed_len)
                .ok_or_else(|| chunk.corrupt(format!("chunk of {packed_len} bytes, {} are left", data.len())))?;
            data = rest;
            match chunk.unpack(packed, &mut out[at + done..])? {
                0 => return Err(chunk.corrupt("an empty chunk inside a group")),
                n => done += n,
            }
        }
    }
    Ok(())
}

fn take_u32(chunk: Chunk, data: &mut &[u8]) -> Result<usize, CompressError> {
    let (len, rest) = data.split_first_chunk::<4>().ok_or_else(|| chunk.corrupt("ends inside a length"))?;
    *data = rest;
    Ok(u32::from_be_bytes(*len) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_worked_example() {
        let mut out = Vec::new();
        decompress(Chunk::Snappy, b"\0\0\0\x08\0\0\0\x05\x08\x00a\x1a\x01", 100, &mut out).unwrap_err();
        let mut out = Vec::new();
        decompress(Chunk::Snappy, b"\0\0\0\x08\0\0\0\x06\x08\x00a\x1a\x01\x00", 100, &mut out).unwrap();
        assert_eq!(out, b"aaaaaaaa");
        let mut packed = Vec::new();
        compress(Chunk::Lz4, b"abc", &mut packed).unwrap();
        assert_eq!(packed, b"\0\0\0\x03\0\0\0\x04\x30abc");
    }

    #[test]
    fn several_groups_and_chunks_are_one_stream() {
        let plain: Vec<u8> = (0..1_000_000u32).flat_map(|i| (i / 7).to_le_bytes()).collect();
        for chunk in [Chunk::Snappy, Chunk::Lz4, Chunk::Zstd] {
            let mut packed = Vec::new();
            compress(chunk, &plain, &mut packed).unwrap();
            compress(chunk, b"", &mut packed).unwrap();
            compress(chunk, b"tail", &mut packed).unwrap();
            let mut out = Vec::new();
            decompress(chunk, &packed, plain.len() + 4, &mut out).unwrap();
            assert!(out[..plain.len()] == plain && out.ends_with(b"tail"), "{chunk:?}");
            let mut out = Vec::new();
            let error = decompress(chunk, &packed, plain.len() + 3, &mut out).unwrap_err();
            assert!(matches!(error, CompressError::TooLarge { .. }), "{error}");
        }
    }

    #[test]
    fn a_huge_group_is_refused_before_it_is_allocated() {
        let mut out = Vec::new();
        let error = decompress(Chunk::Lz4, b"\x7f\xff\xff\xff\0\0\0\x01\0", usize::MAX, &mut out).unwrap_err();
        assert_eq!(error.to_string(), "corrupt LZ4 data: a group of 2147483647 bytes from 5 packed ones");
        assert_eq!(out.capacity(), 0);
    }
}
