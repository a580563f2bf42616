//! [`Algorithm`]: the compressions of HFile blocks.

use crate::CompressError;

/// A compression of HBase column families; the numbers are persisted in HFile trailers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    Lzo = 0,
    Gz = 1,
    #[default]
    None = 2,
    Snappy = 3,
    Lz4 = 4,
    Bzip2 = 5,
    Zstd = 6,
    Lzma = 7,
    Brotli = 8,
}

impl Algorithm {
    /// By HBase's name (`GZ`, `SNAPPY`, ...), in any case.
    pub fn from_name(_name: &str) -> Option<Algorithm> {
        todo!()
    }
    pub fn from_ordinal(_ordinal: u32) -> Option<Algorithm> {
        todo!()
    }
    pub fn ordinal(self) -> u32 {
        self as u32
    }
    pub fn name(self) -> &'static str {
        todo!()
    }
    /// Whether this build can read and write it.
    pub fn supported(self) -> bool {
        todo!()
    }
    /// Appends the compressed form of `plain` to `out`.
    pub fn compress(self, _plain: &[u8], _out: &mut Vec<u8>) -> Result<(), CompressError> {
        todo!()
    }
    /// Appends exactly `plain_len` bytes to `out`, or fails.
    pub fn decompress(self, _data: &[u8], _plain_len: usize, _out: &mut Vec<u8>) -> Result<(), CompressError> {
        todo!()
    }
}
