//! Compression codecs by HBase name, with Hadoop's block framing where HBase uses it.
//!
//! Two users: HFile blocks name an [`Algorithm`] by the ordinal in the file's trailer, clients name a [`StreamCodec`]
//! for their cell blocks by Java class. Both decompress into a buffer whose size the caller bounds.
#![forbid(unsafe_code)]

mod algorithm;
mod stream;

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
