//! What can go wrong in a store, named by the caller's reaction.

use martite_hfile::HFileError;
use std::{io, path::Path, path::PathBuf};

/// Errors of this crate.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system failed: the operation may be tried again.
    #[error("{what} {path}: {source}", path = path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    /// A store file could not be read; the message names file and offset.
    #[error(transparent)]
    HFile(#[from] HFileError),
    /// Bytes or names on disk that cannot be what they should be.
    #[error("corrupt {path}: {what}", path = path.display())]
    Corrupt { path: PathBuf, what: String },
    /// Whether a change of the store's files outlives a crash cannot be told, and it could not be taken back: the server
    /// must stop, and what the next one finds decides. Nothing is flushed or compacted in this store until then.
    #[error("{path} may be changed or not after a crash: {why}", path = path.display())]
    InDoubt { path: PathBuf, why: String },
    /// A compaction or flush was told to stop; nothing has changed.
    #[error("cancelled: {0}")]
    Cancelled(String),
    /// The request makes no sense for this store (names what).
    #[error("{0}")]
    Invalid(String),
}

impl StoreError {
    /// Attaches what was being done, and to which path, to an I/O error.
    pub fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_owned();
        move |source| StoreError::Io { what, path, source }
    }

    pub fn corrupt(path: &Path, what: impl Into<String>) -> StoreError {
        StoreError::Corrupt { path: path.to_owned(), what: what.into() }
    }
}
