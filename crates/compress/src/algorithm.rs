//! [`Algorithm`]: the compressions of HFile blocks.

use crate::{CompressError, blocks, deflate, zstandard};

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
    /// In the order of their numbers.
    pub const ALL: [Algorithm; 9] = [
        Algorithm::Lzo,
        Algorithm::Gz,
        Algorithm::None,
        Algorithm::Snappy,
        Algorithm::Lz4,
        Algorithm::Bzip2,
        Algorithm::Zstd,
        Algorithm::Lzma,
        Algorithm::Brotli,
    ];

    /// By HBase's name (`GZ`, `SNAPPY`, ...), in any case.
    pub fn from_name(name: &str) -> Option<Algorithm> {
        Self::ALL.into_iter().find(|a| a.name().eq_ignore_ascii_case(name))
    }

    pub fn from_ordinal(ordinal: u32) -> Option<Algorithm> {
        Self::ALL.get(ordinal as usize).copied()
    }

    pub fn ordinal(self) -> u32 {
        self as u32
    }

    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Lzo => "LZO",
            Algorithm::Gz => "GZ",
            Algorithm::None => "NONE",
            Algorithm::Snappy => "SNAPPY",
            Algorithm::Lz4 => "LZ4",
            Algorithm::Bzip2 => "BZIP2",
            Algorithm::Zstd => "ZSTD",
            Algorithm::Lzma => "LZMA",
            Algorithm::Brotli => "BROTLI",
        }
    }

    /// Whether this build can read and write it.
    pub fn supported(self) -> bool {
        matches!(self, Algorithm::None | Algorithm::Gz | Algorithm::Snappy | Algorithm::Lz4 | Algorithm::Zstd)
    }

    /// Appends the compressed form of `plain` to `out`.
    pub fn compress(self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
        match self {
            Algorithm::None => {
                out.extend_from_slice(plain);
                Ok(())
            }
            Algorithm::Gz => deflate::gzip(plain, out),
            Algorithm::Snappy => blocks::compress(blocks::Chunk::Snappy, plain, out),
            Algorithm::Lz4 => blocks::compress(blocks::Chunk::Lz4, plain, out),
            Algorithm::Zstd => zstandard::compress(plain, out),
            Algorithm::Lzo | Algorithm::Bzip2 | Algorithm::Lzma | Algorithm::Brotli => {
                Err(CompressError::Unsupported(self.name()))
            }
        }
    }

    /// Appends exactly `plain_len` bytes to `out`, or fails.
    ///
    /// `plain_len` is allocated at once: the caller has checked it against what it is ready to spend.
    pub fn decompress(self, data: &[u8], plain_len: usize, out: &mut Vec<u8>) -> Result<(), CompressError> {
        let start = out.len();
        match self {
            Algorithm::None => out.extend_from_slice(data),
            Algorithm::Gz => deflate::gunzip(data, plain_len, out)?,
            Algorithm::Snappy => blocks::decompress(blocks::Chunk::Snappy, data, plain_len, out)?,
            Algorithm::Lz4 => blocks::decompress(blocks::Chunk::Lz4, data, plain_len, out)?,
            // HBase's own zstd codecs write Hadoop's block stream, Hadoop's codec bare frames, under the same number.
            Algorithm::Zstd if data.is_empty() || zstandard::is_frame(data) => {
                zstandard::decompress(data, plain_len, out)?
            }
            Algorithm::Zstd => blocks::decompress(blocks::Chunk::Zstd, data, plain_len, out)?,
            Algorithm::Lzo | Algorithm::Bzip2 | Algorithm::Lzma | Algorithm::Brotli => {
                return Err(CompressError::Unsupported(self.name()));
            }
        }
        let got = out.len() - start;
        if got != plain_len {
            let reason = format!("unpacks to {got} bytes, {plain_len} were announced");
            return Err(CompressError::Corrupt { codec: self.name(), reason });
        }
        Ok(())
    }
}
