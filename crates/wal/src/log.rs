//! [`Wal`]: the log that a server writes.

use crate::{Entry, WalContext, WalError};
use bytes::Bytes;
use std::path::PathBuf;
use std::sync::Arc;

/// The place of an entry in the order of all appends to one log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(crate) u64);

/// What [`Wal::roll`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rolled {
    pub old_file: PathBuf,
    pub new_file: PathBuf,
}

/// A region that keeps old files from being archived, and those of its families that do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlushCandidate {
    pub region: Bytes,
    pub families: Vec<Bytes>,
}

/// Numbers of a log since it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WalStats {
    pub current_file: PathBuf,
    /// Bytes written to the current file.
    pub current_size_bytes: u64,
    /// Files not yet archived, with the current one.
    pub files: usize,
    /// Bytes of those files.
    pub size_bytes: u64,
    pub pending_bytes: usize,
    pub appends: u64,
    pub appended_bytes: u64,
    pub batches: u64,
    pub syncs: u64,
    pub rolls: u64,
    pub poisoned: bool,
}

/// A log and its writer thread.
pub struct Wal {}

impl Wal {
    /// Makes the first file, durably, and starts the writer thread.
    pub fn create(ctx: WalContext) -> Result<Arc<Wal>, WalError> {
        let _ = ctx;
        todo!()
    }
    /// Puts an entry at the end of the log, in memory. Blocks only while too many bytes wait to be written.
    ///
    /// Entries are written in the order of these calls. Without a sync asked for, an entry is written within
    /// `async_delay`.
    pub fn append(&self, entry: &Entry<'_>) -> Result<Ticket, WalError> {
        let _ = entry;
        todo!()
    }
    /// Asks for a sync and calls `f` on the WAL thread once the entry is durable, or never will be. Callbacks run in
    /// the order of their tickets as far as they were handed in before the batch was taken; they must not block, and must not call `sync`, `roll` or `close`.
    pub fn on_synced(&self, ticket: Ticket, f: Box<dyn FnOnce(Result<(), WalError>) + Send>) {
        let _ = (ticket, f);
        todo!()
    }
    /// [`Wal::on_synced`], down to the disk even without `hsync` (`FSYNC_WAL`).
    pub fn on_forced(&self, ticket: Ticket, f: Box<dyn FnOnce(Result<(), WalError>) + Send>) {
        let _ = (ticket, f);
        todo!()
    }
    /// Waits until the entry is durable.
    pub fn sync(&self, ticket: Ticket) -> Result<(), WalError> {
        let _ = ticket;
        todo!()
    }
    /// Finishes the current file and begins the next one; returns when both are durable.
    pub fn roll(&self) -> Result<Rolled, WalError> {
        todo!()
    }
    /// The region begins to flush these families: what it appends from now on belongs to the next flush. Call it while
    /// no append of the region is under way. Returns the lowest unflushed sequence id of the region's other families.
    pub fn start_flush(&self, region: &Bytes, families: &[Bytes]) -> Option<u64> {
        let _ = (region, families);
        todo!()
    }
    /// The flush is durable; files that nobody needs any more go to the archive directory.
    pub fn complete_flush(&self, region: &Bytes, families: &[Bytes]) -> Result<(), WalError> {
        let _ = (region, families);
        todo!()
    }
    /// The flush failed: its edits are unflushed again.
    pub fn abort_flush(&self, region: &Bytes, families: &[Bytes]) {
        let _ = (region, families);
        todo!()
    }
    /// The region was flushed and closed, or is recovered elsewhere: it keeps no file any more.
    pub fn close_region(&self, region: &Bytes) -> Result<(), WalError> {
        let _ = region;
        todo!()
    }
    /// The lowest unflushed sequence id of a region, or of one of its families.
    pub fn lowest_unflushed(&self, region: &Bytes, family: Option<&[u8]>) -> Option<u64> {
        let _ = (region, family);
        todo!()
    }
    /// Regions to flush so that the oldest file can go, when there are more than `max_files`; otherwise none.
    pub fn flush_candidates(&self) -> Vec<FlushCandidate> {
        todo!()
    }
    /// Writes what is pending and the trailer, syncs, and stops the writer thread.
    pub fn close(&self) -> Result<(), WalError> {
        todo!()
    }
    pub fn stats(&self) -> WalStats {
        todo!()
    }
}
