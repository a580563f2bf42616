//! Splitting: the entries of dead logs become `recovered.edits` files of their regions.

use crate::{TornTail, WalError};
use martite_env::FileSystem;
use std::path::{Path, PathBuf};

/// Habits of a split.
#[derive(Debug, Clone, Default)]
pub struct SplitOptions {
    /// Put damaged files into `<root>/corrupt`, keeping the entries before the damage, instead of failing.
    pub skip_corrupt: bool,
}

/// What a split did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitReport {
    /// Log files read.
    pub logs: usize,
    pub entries: u64,
    /// Entries that were not written because the region had flushed them.
    pub flushed: u64,
    /// Entries of regions whose directory is gone.
    pub orphaned: u64,
    /// `recovered.edits` files, as they are named now.
    pub outputs: Vec<PathBuf>,
    pub torn: Vec<(PathBuf, TornTail)>,
    /// Damaged files that were put aside.
    pub corrupt: Vec<PathBuf>,
    /// Where the logs are now.
    pub archived: Vec<PathBuf>,
}

/// Splits all logs in `wal_dirs`: writes `<root>/data/<namespace>/<table>/<region>/recovered.edits/<%019d>`, then moves
/// the logs to `<root>/oldWALs` and removes the directories. `flushed` gives the highest sequence id that a region has
/// in its files in all families; entries up to it are left out. Run again after an interruption, it gives the same.
pub fn split_logs(
    fs: &dyn FileSystem,
    root: &Path,
    wal_dirs: &[PathBuf],
    flushed: &dyn Fn(&[u8]) -> Option<u64>,
) -> Result<SplitReport, WalError> {
    split_logs_with(fs, root, wal_dirs, flushed, &SplitOptions::default())
}

/// [`split_logs`] with options.
pub fn split_logs_with(
    fs: &dyn FileSystem,
    root: &Path,
    wal_dirs: &[PathBuf],
    flushed: &dyn Fn(&[u8]) -> Option<u64>,
    options: &SplitOptions,
) -> Result<SplitReport, WalError> {
    let _ = (fs, root, wal_dirs, flushed, options);
    todo!()
}
