//! [`WalError`], named by what the caller can do.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What can go wrong with a log. Cheap to clone: one failed sync answers many waiters.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WalError {
    /// An earlier write or sync failed; what is durable is unknown. Stop acknowledging, restart, recover.
    #[error("the log is poisoned: {0}")]
    Poisoned(Arc<str>),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
    /// The entry cannot be written, and the log is well.
    #[error("bad log entry: {0}")]
    BadEntry(String),
    /// A file is damaged before its tail.
    #[error("{}: corrupt at offset {offset}: {what}", file.display())]
    Corrupt { file: PathBuf, offset: u64, what: String },
    /// The file is sound, but of a kind that is not read here.
    #[error("{}: {what}", file.display())]
    Unsupported { file: PathBuf, what: String },
    /// The file system failed.
    #[error("{what}: {source}")]
    Io { what: Arc<str>, source: Arc<io::Error> },
}

impl WalError {
    pub(crate) fn io(what: &str, source: io::Error) -> WalError {
        WalError::Io { what: what.into(), source: Arc::new(source) }
    }
    pub(crate) fn corrupt(file: &Path, offset: u64, what: impl Into<String>) -> WalError {
        WalError::Corrupt { file: file.to_owned(), offset, what: what.into() }
    }
}
