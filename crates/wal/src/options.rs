//! What a log is made of: places, clocks, sizes.

use martite_env::{Clock, FileSystem};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where a log lives.
pub struct WalContext {
    pub fs: Arc<dyn FileSystem>,
    pub clock: Arc<dyn Clock>,
    /// `<root>/WALs/<host,port,startcode>`; made if absent.
    pub dir: PathBuf,
    /// `<root>/oldWALs`; made if absent.
    pub archive_dir: PathBuf,
    /// First part of the file names: the server name, URL-encoded ([`crate::format::file_prefix`]).
    pub prefix: String,
    /// Last part of the file names: empty, or `.meta` for the log of `hbase:meta`.
    pub suffix: String,
    pub options: WalOptions,
}

/// Sizes and habits of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalOptions {
    /// A file of this many bytes is followed by a new one.
    pub roll_size_bytes: u64,
    /// More files than this make [`crate::Wal::flush_candidates`] name regions.
    pub max_files: usize,
    /// `append` blocks while this many bytes wait to be written.
    pub max_pending_bytes: usize,
    /// Whether a sync reaches the disk (`hbase.wal.hsync`). If not, an entry counts as synced once the operating
    /// system has it: it survives the process, not the machine. A forced sync reaches the disk in any case.
    pub hsync: bool,
    /// How long an entry that nobody waits for (`ASYNC_WAL`) may stay in memory.
    pub async_delay: Duration,
}

impl Default for WalOptions {
    fn default() -> WalOptions {
        WalOptions {
            roll_size_bytes: 128 << 20,
            max_files: 32,
            max_pending_bytes: 64 << 20,
            hsync: true,
            async_delay: Duration::from_millis(100),
        }
    }
}
