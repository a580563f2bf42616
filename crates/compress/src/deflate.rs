//! gzip and zlib streams.

use crate::CompressError;
use flate2::{
    Compression,
    bufread::{MultiGzDecoder, ZlibDecoder},
    write::{GzEncoder, ZlibEncoder},
};
use std::io::{Read, Write};

pub(crate) const GZ: &str = "GZ";
pub(crate) const DEFLATE: &str = "DEFLATE";

pub(crate) fn gzip(plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
    let mut encoder = GzEncoder::new(out, Compression::default());
    encoder.write_all(plain).and_then(|()| encoder.finish().map(drop)).map_err(|e| corrupt(GZ, e))
}

pub(crate) fn zlib(plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
    let mut encoder = ZlibEncoder::new(out, Compression::default());
    encoder.write_all(plain).and_then(|()| encoder.finish().map(drop)).map_err(|e| corrupt(DEFLATE, e))
}

/// One or more gzip members, at most `limit_bytes` of plain bytes.
pub(crate) fn gunzip(data: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Result<(), CompressError> {
    read_limited(GZ, MultiGzDecoder::new(data), data.len(), limit_bytes, out)
}

pub(crate) fn unzlib(data: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Result<(), CompressError> {
    read_limited(DEFLATE, ZlibDecoder::new(data), data.len(), limit_bytes, out)
}

/// Plain bytes per packed byte that are allocated before any was seen.
const FIRST_GUESS: usize = 16;

/// Reads to the end, without trusting anybody about how much that is.
pub(crate) fn read_limited(
    codec: &'static str,
    reader: impl Read,
    packed_len: usize,
    limit_bytes: usize,
    out: &mut Vec<u8>,
) -> Result<(), CompressError> {
    let start = out.len();
    // One byte more than will come, so that the end is found without growing.
    out.reserve((limit_bytes.saturating_add(1)).min(packed_len.saturating_mul(FIRST_GUESS).max(1 << 17)));
    reader.take((limit_bytes as u64).saturating_add(1)).read_to_end(out).map_err(|e| corrupt(codec, e))?;
    if out.len() - start > limit_bytes {
        return Err(CompressError::TooLarge { codec, limit_bytes });
    }
    Ok(())
}

fn corrupt(codec: &'static str, error: std::io::Error) -> CompressError {
    CompressError::Corrupt { codec, reason: error.to_string() }
}
