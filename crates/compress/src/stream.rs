//! [`StreamCodec`]: the compressions of cell blocks, which clients name by Java class.

use crate::CompressError;

/// How a cell block is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamCodec {
    Gzip,
    /// zlib stream: `DefaultCodec`, `DeflateCodec`.
    Deflate,
    /// Hadoop block stream of snappy chunks.
    Snappy,
    /// Hadoop block stream of LZ4 chunks.
    Lz4,
    /// Bare zstd frames: Hadoop's `ZStandardCodec`.
    Zstd,
    /// Hadoop block stream of zstd frames: HBase's own `ZstdCodec`s.
    ZstdBlocks,
}

impl StreamCodec {
    /// By the Java class name in the connection header. `None`: unknown or not supported.
    pub fn from_class(_java_class: &str) -> Option<StreamCodec> {
        todo!()
    }
    /// Appends the compressed form of `plain` to `out`.
    pub fn compress(self, _plain: &[u8], _out: &mut Vec<u8>) -> Result<(), CompressError> {
        todo!()
    }
    /// The plain bytes, at most `limit_bytes` of them.
    pub fn decompress(self, _data: &[u8], _limit_bytes: usize) -> Result<Vec<u8>, CompressError> {
        todo!()
    }
}
