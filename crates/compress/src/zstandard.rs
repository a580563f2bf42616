//! Bare zstd frames. Contexts are kept per thread: making one costs more than a small block.

use crate::{CompressError, deflate::read_limited};
use std::cell::RefCell;

pub(crate) const ZSTD: &str = "ZSTD";
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Largest window of a frame that we agree to buffer when its plain size is unknown: 16 MiB.
const WINDOW_LOG_MAX: u32 = 24;

thread_local! {
    static CONTEXTS: RefCell<(zstd::bulk::Compressor<'static>, zstd::bulk::Decompressor<'static>)> = RefCell::default();
}

/// More than this many plain bytes cannot come out of `packed` bytes: a block of 4 bytes makes at most 128 KiB.
pub(crate) fn most_plain(packed: usize) -> usize {
    packed.saturating_mul(32 << 10).saturating_add(128 << 10)
}

pub(crate) fn is_frame(data: &[u8]) -> bool {
    data.starts_with(&MAGIC)
}

pub(crate) fn compress(plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
    let start = out.len();
    out.resize(start + zstd::zstd_safe::compress_bound(plain.len()), 0);
    let len = CONTEXTS
        .with_borrow_mut(|(compressor, _)| compressor.compress_to_buffer(plain, &mut out[start..]))
        .map_err(corrupt)?;
    out.truncate(start + len);
    Ok(())
}

/// Unpacks frames to the front of `room`; gives the number of bytes.
pub(crate) fn decompress_into(data: &[u8], room: &mut [u8]) -> Result<usize, CompressError> {
    CONTEXTS.with_borrow_mut(|(_, decompressor)| decompressor.decompress_to_buffer(data, room)).map_err(corrupt)
}

/// Unpacks frames that hold `plain_len` bytes.
pub(crate) fn decompress(data: &[u8], plain_len: usize, out: &mut Vec<u8>) -> Result<(), CompressError> {
    if plain_len > most_plain(data.len()) {
        let reason = format!("{plain_len} bytes from {} packed ones", data.len());
        return Err(CompressError::Corrupt { codec: ZSTD, reason });
    }
    let start = out.len();
    out.resize(start + plain_len, 0);
    let len = decompress_into(data, &mut out[start..])?;
    out.truncate(start + len);
    Ok(())
}

/// Unpacks frames of unknown size, at most `limit_bytes`.
pub(crate) fn decompress_limited(data: &[u8], limit_bytes: usize, out: &mut Vec<u8>) -> Result<(), CompressError> {
    let mut reader = zstd::stream::read::Decoder::with_buffer(data).map_err(corrupt)?;
    reader.window_log_max(WINDOW_LOG_MAX).map_err(corrupt)?;
    read_limited(ZSTD, reader, data.len(), limit_bytes, out)
}

fn corrupt(error: std::io::Error) -> CompressError {
    CompressError::Corrupt { codec: ZSTD, reason: error.to_string() }
}
