//! Compression codecs by HBase name, with Hadoop's block framing where HBase uses it.
//!
//! Two users: HFile blocks name an [`Algorithm`] by the ordinal in the file's trailer, clients name a [`StreamCodec`]
//! for their cell blocks by Java class. Both decompress into a buffer whose size the caller bounds.
#![forbid(unsafe_code)]

mod algorithm;
mod blocks;
mod deflate;
mod stream;
mod zstandard;

pub use algorithm::Algorithm;
pub use stream::StreamCodec;

/// Why bytes could not be compressed or decompressed.
#[derive(Debug, thiserror::Error)]
pub enum CompressError {
    /// The codec is known by name and not built in.
    #[error("compression {0} is not supported")]
    Unsupported(&'static str),
    /// The compressed bytes are not what the codec writes.
    #[error("corrupt {codec} data: {reason}")]
    Corrupt { codec: &'static str, reason: String },
    /// The plain bytes would exceed the caller's limit.
    #[error("{codec} data unpacks to more than {limit_bytes} bytes")]
    TooLarge { codec: &'static str, limit_bytes: usize },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_hbases() {
        let names = ["LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"];
        for (ordinal, name) in names.into_iter().enumerate() {
            let algorithm = Algorithm::from_name(&name.to_lowercase()).unwrap();
            assert_eq!((algorithm.ordinal(), algorithm.name()), (ordinal as u32, name));
            assert_eq!(Algorithm::from_ordinal(ordinal as u32), Some(algorithm));
        }
        assert_eq!(Algorithm::from_ordinal(9), None);
    }

    #[test]
    fn every_supported_algorithm_reads_what_it_wrote_and_checks_the_length() {
        let plain: Vec<u8> = (0..300_000u32).map(|i| (i / 50) as u8).collect();
        for algorithm in Algorithm::ALL {
            let mut packed = Vec::new();
            if !algorithm.supported() {
                let error = algorithm.compress(&plain, &mut packed).unwrap_err();
                assert_eq!(error.to_string(), format!("compression {} is not supported", algorithm.name()));
                assert!(algorithm.decompress(b"x", 1, &mut Vec::new()).is_err());
                continue;
            }
            for plain in [&plain[..], b""] {
                packed.clear();
                algorithm.compress(plain, &mut packed).unwrap();
                let mut out = b"before".to_vec();
                algorithm.decompress(&packed, plain.len(), &mut out).unwrap();
                assert!(&out[6..] == plain, "{}", algorithm.name());
                assert!(
                    algorithm.decompress(&packed, plain.len() + 1, &mut Vec::new()).is_err(),
                    "{}",
                    algorithm.name()
                );
                if !plain.is_empty() {
                    let shorter = algorithm.decompress(&packed, plain.len() - 1, &mut Vec::new());
                    assert!(shorter.is_err(), "{}", algorithm.name());
                }
            }
        }
    }

    #[test]
    fn a_zstd_frame_that_does_not_tell_its_size_is_read() {
        // What a streaming writer such as Hadoop's makes.
        let plain = b"size unknown ".repeat(5000);
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        std::io::Write::write_all(&mut encoder, &plain).unwrap();
        let packed = encoder.finish().unwrap();
        let mut out = Vec::new();
        Algorithm::Zstd.decompress(&packed, plain.len(), &mut out).unwrap();
        assert!(out == plain);
        assert!(StreamCodec::Zstd.decompress(&packed, plain.len()).unwrap() == plain);
    }

    #[test]
    fn both_zstd_layouts_are_read() {
        let plain = b"the same ordinal, two layouts".repeat(100);
        for codec in [StreamCodec::Zstd, StreamCodec::ZstdBlocks] {
            let mut packed = Vec::new();
            codec.compress(&plain, &mut packed).unwrap();
            let mut out = Vec::new();
            Algorithm::Zstd.decompress(&packed, plain.len(), &mut out).unwrap();
            assert_eq!(out, plain, "{codec:?}");
        }
    }
}
