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

impl HFileError {
    pub(crate) fn corrupt(file: &str, offset: u64, reason: impl Into<String>) -> HFileError {
        HFileError::Corrupt { file: file.to_owned(), offset, reason: reason.into() }
    }
    pub(crate) fn unsupported(file: &str, what: impl Into<String>) -> HFileError {
        HFileError::Unsupported { file: file.to_owned(), what: what.into() }
    }
    pub(crate) fn io(file: &str, offset: u64, source: std::io::Error) -> HFileError {
        HFileError::Io { file: file.to_owned(), offset, source }
    }
}

/// The outcome of parsing bytes whose file and offset the caller knows.
pub(crate) type Parsed<T> = Result<T, String>;
