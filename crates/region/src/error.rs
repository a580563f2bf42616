//! [`RegionError`], named by what the caller does about it.

use martite_filter::FilterError;
use martite_hfile::HFileError;
use martite_store::StoreError;
use martite_wal::WalError;

/// Why a region refused or failed; the texts are HBase's where a client shows or parses them.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RegionError {
    /// Not an answer: a row is locked (or an equal nonce is running) and the caller's thread must not wait. Call again
    /// with the same request on a thread that may.
    #[error("would block")]
    WouldBlock,
    /// Look the region up again (NotServingRegionException).
    #[error("{0}")]
    NotServing(String),
    /// Look the row's region up again (WrongRegionException).
    #[error("{0}")]
    WrongRegion(String),
    /// Give up: the table has no such family (NoSuchColumnFamilyException).
    #[error("{0}")]
    NoSuchFamily(String),
    /// Try later (RegionTooBusyException).
    #[error("{0}")]
    TooBusy(String),
    /// Give up: the table is read only (DoNotRetryIOException).
    #[error("region is read only")]
    ReadOnly,
    /// Give up: the mutation is not sound (FailedSanityCheckException).
    #[error("{0}")]
    FailedSanityCheck(String),
    /// Give up (DoNotRetryIOException).
    #[error("{0}")]
    DoNotRetry(String),
    /// Give up: the row is larger than a read may be (RowTooBigException).
    #[error("{0}")]
    RowTooBig(String),
    /// Give up: the filter of the request cannot be read (DoNotRetryIOException).
    #[error("{0}")]
    Filter(String),
    /// Data on disk is damaged; the text names the file (CorruptHFileException).
    #[error("{0}")]
    Corrupt(String),
    /// A file could not be read or written; may work later (IOException).
    #[error("{0}")]
    Io(String),
    /// A new store file may be there or not after a crash: the server must stop, and the next one sees (IOException).
    #[error("{0}")]
    InDoubt(String),
    /// The log failed: nothing more can be acknowledged by this server (it must stop).
    #[error("{0}")]
    Wal(WalError),
}

impl RegionError {
    /// Whether the server must stop, for the next one to recover from the disk.
    pub fn must_stop(&self) -> bool {
        match self {
            RegionError::Wal(_) | RegionError::InDoubt(_) => true,
            RegionError::WouldBlock
            | RegionError::NotServing(_)
            | RegionError::WrongRegion(_)
            | RegionError::NoSuchFamily(_)
            | RegionError::TooBusy(_)
            | RegionError::ReadOnly
            | RegionError::FailedSanityCheck(_)
            | RegionError::DoNotRetry(_)
            | RegionError::RowTooBig(_)
            | RegionError::Filter(_)
            | RegionError::Corrupt(_)
            | RegionError::Io(_) => false,
        }
    }

    /// An I/O error with the thing that was being done.
    pub fn io(what: impl std::fmt::Display, error: &std::io::Error) -> RegionError {
        RegionError::Io(format!("{what}: {error}"))
    }
}

impl From<WalError> for RegionError {
    fn from(error: WalError) -> Self {
        RegionError::Wal(error)
    }
}
impl From<StoreError> for RegionError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::HFile(error) => error.into(),
            StoreError::Corrupt { .. } => RegionError::Corrupt(error.to_string()),
            StoreError::InDoubt { .. } => RegionError::InDoubt(error.to_string()),
            // A compaction, because its region closes or the server does.
            StoreError::Cancelled(why) => RegionError::NotServing(why),
            _ => RegionError::Io(error.to_string()),
        }
    }
}
impl From<HFileError> for RegionError {
    fn from(error: HFileError) -> Self {
        match error {
            HFileError::Io { .. } => RegionError::Io(error.to_string()),
            _ => RegionError::Corrupt(error.to_string()),
        }
    }
}
impl From<FilterError> for RegionError {
    fn from(error: FilterError) -> Self {
        RegionError::Filter(error.to_string())
    }
}
