//! [`StreamCodec`]: the compressions of cell blocks, which clients name by Java class.

use crate::{CompressError, blocks, blocks::Chunk, deflate, zstandard};

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

const STREAMS: [(&str, StreamCodec); 13] = [
    ("GzipCodec", StreamCodec::Gzip),
    ("ReusableStreamGzipCodec", StreamCodec::Gzip),
    ("DefaultCodec", StreamCodec::Deflate),
    ("DeflateCodec", StreamCodec::Deflate),
    ("SnappyCodec", StreamCodec::Snappy),
    ("xerial.SnappyCodec", StreamCodec::Snappy),
    ("aircompressor.SnappyCodec", StreamCodec::Snappy),
    ("Lz4Codec", StreamCodec::Lz4),
    ("lz4.Lz4Codec", StreamCodec::Lz4),
    ("aircompressor.Lz4Codec", StreamCodec::Lz4),
    ("ZStandardCodec", StreamCodec::Zstd),
    ("zstd.ZstdCodec", StreamCodec::ZstdBlocks),
    ("aircompressor.ZstdCodec", StreamCodec::ZstdBlocks),
];

impl StreamCodec {
    /// By the Java class name in the connection header. `None`: unknown or not supported.
    pub fn from_class(java_class: &str) -> Option<StreamCodec> {
        let name = java_class
            .strip_prefix("org.apache.hadoop.io.compress.")
            .or_else(|| java_class.strip_prefix("org.apache.hadoop.hbase.io.compress."))?;
        STREAMS.iter().find(|(class, _)| *class == name).map(|(_, codec)| *codec)
    }

    /// Java class names that are known, without the package: Hadoop's, or HBase's of those in a package below.
    pub fn classes() -> impl Iterator<Item = &'static str> {
        STREAMS.iter().map(|(class, _)| *class)
    }

    /// Appends the compressed form of `plain` to `out`.
    pub fn compress(self, plain: &[u8], out: &mut Vec<u8>) -> Result<(), CompressError> {
        match self {
            StreamCodec::Gzip => deflate::gzip(plain, out),
            StreamCodec::Deflate => deflate::zlib(plain, out),
            StreamCodec::Snappy => blocks::compress(Chunk::Snappy, plain, out),
            StreamCodec::Lz4 => blocks::compress(Chunk::Lz4, plain, out),
            StreamCodec::Zstd => zstandard::compress(plain, out),
            StreamCodec::ZstdBlocks => blocks::compress(Chunk::Zstd, plain, out),
        }
    }

    /// The plain bytes, at most `limit_bytes` of them.
    pub fn decompress(self, data: &[u8], limit_bytes: usize) -> Result<Vec<u8>, CompressError> {
        let mut out = Vec::new();
        match self {
            StreamCodec::Gzip => deflate::gunzip(data, limit_bytes, &mut out)?,
            StreamCodec::Deflate => deflate::unzlib(data, limit_bytes, &mut out)?,
            StreamCodec::Snappy => blocks::decompress(Chunk::Snappy, data, limit_bytes, &mut out)?,
            StreamCodec::Lz4 => blocks::decompress(Chunk::Lz4, data, limit_bytes, &mut out)?,
            StreamCodec::Zstd => zstandard::decompress_limited(data, limit_bytes, &mut out)?,
            StreamCodec::ZstdBlocks => blocks::decompress(Chunk::Zstd, data, limit_bytes, &mut out)?,
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLASSES: [(&str, StreamCodec); 12] = [
        ("org.apache.hadoop.io.compress.GzipCodec", StreamCodec::Gzip),
        ("org.apache.hadoop.io.compress.DefaultCodec", StreamCodec::Deflate),
        ("org.apache.hadoop.io.compress.DeflateCodec", StreamCodec::Deflate),
        ("org.apache.hadoop.io.compress.SnappyCodec", StreamCodec::Snappy),
        ("org.apache.hadoop.hbase.io.compress.xerial.SnappyCodec", StreamCodec::Snappy),
        ("org.apache.hadoop.hbase.io.compress.aircompressor.SnappyCodec", StreamCodec::Snappy),
        ("org.apache.hadoop.io.compress.Lz4Codec", StreamCodec::Lz4),
        ("org.apache.hadoop.hbase.io.compress.lz4.Lz4Codec", StreamCodec::Lz4),
        ("org.apache.hadoop.hbase.io.compress.aircompressor.Lz4Codec", StreamCodec::Lz4),
        ("org.apache.hadoop.io.compress.ZStandardCodec", StreamCodec::Zstd),
        ("org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec", StreamCodec::ZstdBlocks),
        ("org.apache.hadoop.hbase.io.compress.aircompressor.ZstdCodec", StreamCodec::ZstdBlocks),
    ];

    #[test]
    fn class_names_lead_to_codecs() {
        for (class, codec) in CLASSES {
            assert_eq!(StreamCodec::from_class(class), Some(codec), "{class}");
        }
        for unknown in ["", "SnappyCodec", "org.apache.hadoop.io.compress.BZip2Codec", "com.example.SnappyCodec"] {
            assert_eq!(StreamCodec::from_class(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn round_trips_are_bounded_and_damage_is_an_error_or_harmless() {
        let plain: Vec<u8> = (0..5000u32).flat_map(|i| (i / 3).to_be_bytes()).collect();
        for (_, codec) in CLASSES {
            for plain in [&plain[..], b"", b"x"] {
                let mut packed = b"kept".to_vec();
                codec.compress(plain, &mut packed).unwrap();
                let packed = &packed[4..];
                assert_eq!(codec.decompress(packed, plain.len()).unwrap(), plain, "{codec:?}");
                if !plain.is_empty() {
                    let error = codec.decompress(packed, plain.len() - 1).unwrap_err();
                    assert!(matches!(error, CompressError::TooLarge { .. }), "{codec:?}: {error}");
                    assert!(codec.decompress(&packed[..packed.len() - 1], plain.len()).is_err(), "{codec:?}");
                }
                for i in 0..packed.len().min(200) {
                    let mut damaged = packed.to_vec();
                    damaged[i] ^= 0x55;
                    // Not every codec notices; none may panic or exceed the limit.
                    if let Ok(out) = codec.decompress(&damaged, 40_000) {
                        assert!(out.len() <= 40_000);
                    }
                }
            }
        }
    }
}
