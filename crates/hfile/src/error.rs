//! [`HFileError`]: what can go wrong with a file, by the caller's reaction.

/// An error that names the file and, where bytes are at fault, their offset.
#[derive(Debug, thiserror::Error)]
pub enum HFileError {
    /// The bytes are damaged: nothing of this block can be trusted.
    #[error("{file} is corrupt at offset {offset}: {reason}")]
    Corrupt { file: String, offset: u64, reason: String },
    /// The file is sound, but uses something that this build does not read or write.
    #[error("{file}: {what} is not supported")]
    Unsupported { file: String, what: String },
    /// The file could not be read or written.
    #[error("{file}, offset {offset}: {source}")]
    Io { file: String, offset: u64, source: std::io::Error },
    /// A cell handed to the writer breaks the order of the file or does not fit its format.
    #[error("{file}: cell refused: {reason}")]
    BadCell { file: String, reason: String },
}
