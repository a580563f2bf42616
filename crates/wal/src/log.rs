//! [`Wal`]: the log that a server writes, as its callers see it. The thread that writes is in `writer.rs`, callers that do so
//! themselves in `leader.rs`.
//!
//! An append encodes its entry outside any lock, then copies it into the pending buffer under one short lock. A sync
//! puts a callback beside it. Whatever gathers there while the WAL thread is busy is its next batch.

use crate::accounting::{Accounting, FileAccount, RegionAccount};
use crate::entry::Entry;
use crate::error::WalError;
use crate::format::{Checksum, append_entry, crc32c};
use crate::leader::Leading;
use crate::options::{WalContext, WalOptions};
use crate::tail::Tail;
use crate::writer::Writer;
use bytes::Bytes;
use martite_env::{Clock, FileSystem};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;

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

/// Called once, with what became of an entry.
pub(crate) type Completion = Box<dyn FnOnce(Result<(), WalError>) + Send>;

/// Called once, with what became of a roll.
pub(crate) type RollReply = Box<dyn FnOnce(Result<Rolled, WalError>) + Send>;

/// A thread's buffer that grew larger than this is not kept: every handler appends at times, and large batches would leave
/// each of them with megabytes.
const KEPT_BUFFER_BYTES: usize = 64 << 10;
/// So many bytes are written even if nobody waits for them.
pub(crate) const EAGER_WRITE_BYTES: usize = 1 << 20;

/// What the callers and the WAL thread share.
pub(crate) struct Shared {
    pub fs: Arc<dyn FileSystem>,
    pub clock: Arc<dyn Clock>,
    pub dir: PathBuf,
    pub archive_dir: PathBuf,
    pub prefix: String,
    pub suffix: String,
    pub options: WalOptions,
    /// Goes into every checksum of this log, so that entries of another one, as a value or in a reused disk block,
    /// are not taken for ours.
    pub salt: u32,
    pub accounting: Accounting,
    pub queue: Mutex<Queue>,
    /// The WAL thread waits here.
    pub work: Condvar,
    /// Appends wait here for the pending buffer to be taken.
    pub room: Condvar,
    /// Finished files, oldest first, and the current one. Archiving happens under this lock.
    pub files: Mutex<Files>,
    pub counters: Counters,
    pub leading: Leading,
}

#[derive(Default)]
pub(crate) struct Queue {
    pub batch: Batch,
    /// Ticket of the last append.
    pub last: u64,
    pub rolls: Vec<RollReply>,
    /// The file is large: the WAL thread is to begin a new one.
    pub roll_due: bool,
    pub closing: bool,
    /// Why nothing more can be written.
    pub end: Option<WalError>,
    /// The WAL thread sleeps until it is woken: an append must do so.
    pub asleep: bool,
    /// The WAL thread is waiting, with a timeout or without.
    pub waiting: bool,
}

/// What the WAL thread takes at once.
#[derive(Default)]
pub(crate) struct Batch {
    pub bytes: Vec<u8>,
    /// The checksum of the first entry: its flags are known when it is written.
    pub first: Option<Checksum>,
    pub waiters: Vec<Waiter>,
    /// One of them waits for the disk, whatever the options say.
    pub forced: bool,
    /// The highest sequence id of each run of entries of one region.
    pub notes: Vec<(Arc<RegionAccount>, u64)>,
    /// Ticket of the last entry.
    pub last: u64,
}

pub(crate) struct Waiter {
    pub ticket: u64,
    /// Down to the disk, whatever the options say.
    pub force: bool,
    pub f: Completion,
}

#[derive(Default)]
pub(crate) struct Files {
    pub finished: Vec<FinishedFile>,
    pub current: PathBuf,
}

pub(crate) struct FinishedFile {
    pub path: PathBuf,
    pub size_bytes: u64,
    pub account: FileAccount,
}

#[derive(Default)]
pub(crate) struct Counters {
    /// Ticket up to which everything is durable.
    pub synced: AtomicU64,
    /// There are bytes in the current file that the disk may not have, or zeros at its end.
    pub unsettled: AtomicBool,
    pub current_size_bytes: AtomicU64,
    pub appended_bytes: AtomicU64,
    pub batches: AtomicU64,
    pub syncs: AtomicU64,
    pub rolls: AtomicU64,
}

/// A log and its writer thread. Dropping it closes it.
pub struct Wal {
    pub(crate) shared: Arc<Shared>,
    pub(crate) tail: Arc<Mutex<Tail>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Wal {
    /// Makes the first file, durably, and starts the writer thread.
    pub fn create(ctx: WalContext) -> Result<Arc<Wal>, WalError> {
        let make = |dir: &PathBuf| ctx.fs.create_dir_all(dir).map_err(|e| WalError::io("make log directory", e));
        make(&ctx.dir)?;
        make(&ctx.archive_dir)?;
        let identity = format!("{}{} {}", ctx.prefix, ctx.suffix, ctx.clock.now_ms());
        let shared = Arc::new(Shared {
            salt: crc32c(identity.as_bytes()),
            fs: ctx.fs,
            clock: ctx.clock,
            dir: ctx.dir,
            archive_dir: ctx.archive_dir,
            prefix: ctx.prefix,
            suffix: ctx.suffix,
            options: ctx.options,
            accounting: Accounting::default(),
            queue: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            files: Mutex::default(),
            counters: Counters::default(),
            leading: Leading::default(),
        });
        let tail = Arc::new(Mutex::new(Tail::create(&shared)?));
        let writer = Writer::new(Arc::clone(&shared), Arc::clone(&tail));
        let thread = std::thread::Builder::new().name("wal".into()).spawn(move || writer.run());
        let thread = thread.map_err(|e| WalError::io("start the log's thread", e))?;
        Ok(Arc::new(Wal { shared, tail, thread: Mutex::new(Some(thread)) }))
    }

    /// Puts an entry at the end of the log, in memory. Blocks only while too many bytes wait to be written.
    ///
    /// Entries are written in the order of these calls. Without a sync asked for, an entry is written within
    /// `async_delay`.
    pub fn append(&self, entry: &Entry<'_>) -> Result<Ticket, WalError> {
        thread_local! {
            static ENCODED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        ENCODED.with_borrow_mut(|encoded| {
            encoded.clear();
            let checksum = append_entry(encoded, self.shared.salt, entry)?;
            let ticket = self.enqueue(entry, encoded, checksum);
            if encoded.capacity() > KEPT_BUFFER_BYTES {
                *encoded = Vec::new();
            }
            ticket
        })
    }

    fn enqueue(&self, entry: &Entry<'_>, encoded: &[u8], checksum: Checksum) -> Result<Ticket, WalError> {
        let shared = &*self.shared;
        // Before the entry can reach a file: a file must not look flushed while the entry is on its way into it.
        let account = shared.accounting.append(&entry.region, &entry.families, entry.seq);
        let mut queue = shared.queue.lock();
        while queue.end.is_none() && queue.batch.bytes.len() >= shared.options.max_pending_bytes {
            wake(shared, &queue);
            shared.room.wait(&mut queue);
        }
        if let Some(end) = &queue.end {
            return Err(end.clone());
        }
        queue.last += 1;
        let last = queue.last;
        let batch = &mut queue.batch;
        batch.last = last;
        if batch.bytes.is_empty() {
            batch.first = Some(checksum);
        }
        batch.bytes.extend_from_slice(encoded);
        match batch.notes.last_mut() {
            Some((region, seq)) if Arc::ptr_eq(region, &account) => *seq = entry.seq.max(*seq),
            _ => batch.notes.push((account, entry.seq)),
        }
        if queue.asleep || queue.batch.bytes.len() >= EAGER_WRITE_BYTES {
            wake(shared, &queue);
        }
        Ok(Ticket(last))
    }

    /// Asks for a sync and calls `f` once the entry is durable, or never will be: on the WAL thread, or on that of another caller,
    /// which writes this entry with its own ([`Wal::on_synced_here`]).
    ///
    /// Callbacks of one batch run in the order of their tickets. They must be short, and must not call `sync`, `roll`
    /// or `close`. When the log has ended, `f` is called at once, with the error, unless the entry was durable before.
    pub fn on_synced(&self, ticket: Ticket, f: Box<dyn FnOnce(Result<(), WalError>) + Send>) {
        self.wait_for(ticket, false, f);
    }

    /// [`Wal::on_synced`], down to the disk even without `hsync` (`FSYNC_WAL`).
    pub fn on_forced(&self, ticket: Ticket, f: Box<dyn FnOnce(Result<(), WalError>) + Send>) {
        self.wait_for(ticket, true, f);
    }

    fn wait_for(&self, ticket: Ticket, force: bool, f: Completion) {
        if let Some(queue) = self.queue_waiter(Waiter { ticket: ticket.0, force, f }) {
            wake(&self.shared, &queue);
        }
    }

    /// Puts a waiter beside what is pending; None: the log has ended, and it was told so.
    pub(crate) fn queue_waiter(&self, waiter: Waiter) -> Option<MutexGuard<'_, Queue>> {
        let mut queue = self.shared.queue.lock();
        if let Some(end) = queue.end.clone() {
            drop(queue);
            let durable = waiter.ticket <= self.shared.counters.synced.load(Ordering::Acquire);
            (waiter.f)(if durable { Ok(()) } else { Err(end) });
            return None;
        }
        queue.batch.forced |= waiter.force;
        queue.batch.waiters.push(waiter);
        Some(queue)
    }

    /// Waits until the entry is durable.
    pub fn sync(&self, ticket: Ticket) -> Result<(), WalError> {
        let (done, wait) = sync_channel(1);
        self.on_synced(ticket, Box::new(move |result| drop(done.send(result))));
        wait.recv().unwrap_or(Err(WalError::Closed))
    }

    /// Finishes the current file and begins the next one; returns when both are durable.
    pub fn roll(&self) -> Result<Rolled, WalError> {
        let (done, wait) = sync_channel(1);
        {
            let mut queue = self.shared.queue.lock();
            if let Some(end) = &queue.end {
                return Err(end.clone());
            }
            queue.rolls.push(Box::new(move |result| drop(done.send(result))));
            wake(&self.shared, &queue);
        }
        let rolled = wait.recv().unwrap_or(Err(WalError::Closed))?;
        self.shared.archive_flushed()?;
        Ok(rolled)
    }

    /// The region begins to flush these families: what it appends from now on belongs to the next flush. Call it while
    /// no append of the region is under way. Returns the lowest unflushed sequence id of the region's other families.
    pub fn start_flush(&self, region: &Bytes, families: &[Bytes]) -> Option<u64> {
        self.shared.accounting.start_flush(region, families)
    }

    /// The flush is durable; files that nobody needs any more go to the archive directory. An error is about that
    /// moving: the flush is noted all the same, and the next call tries again.
    pub fn complete_flush(&self, region: &Bytes, families: &[Bytes]) -> Result<(), WalError> {
        self.shared.accounting.complete_flush(region, families);
        self.shared.archive_flushed()
    }

    /// The flush failed: its edits are unflushed again.
    pub fn abort_flush(&self, region: &Bytes, families: &[Bytes]) {
        self.shared.accounting.abort_flush(region, families);
    }

    /// The region was flushed and closed, or is recovered elsewhere: it keeps no file any more.
    pub fn close_region(&self, region: &Bytes) -> Result<(), WalError> {
        self.shared.accounting.close_region(region);
        self.shared.archive_flushed()
    }

    /// The lowest unflushed sequence id of a region, or of one of its families.
    pub fn lowest_unflushed(&self, region: &Bytes, family: Option<&[u8]>) -> Option<u64> {
        self.shared.accounting.lowest(region, family)
    }

    /// Regions to flush so that the oldest files can go, when there are more than `max_files`; otherwise none.
    pub fn flush_candidates(&self) -> Vec<FlushCandidate> {
        let files = self.shared.files.lock();
        let excess = (files.finished.len() + 1).saturating_sub(self.shared.options.max_files);
        let mut candidates: Vec<FlushCandidate> = Vec::new();
        for file in files.finished.iter().take(excess) {
            for (region, seq) in file.account.keepers() {
                let families = region.families_up_to(seq);
                match candidates.iter_mut().find(|c| c.region == region.region) {
                    Some(c) => {
                        c.families.extend(families.into_iter().filter(|f| !c.families.contains(f)).collect::<Vec<_>>())
                    }
                    None => candidates.push(FlushCandidate { region: region.region.clone(), families }),
                }
            }
        }
        candidates
    }

    /// Writes what is pending and the trailer, syncs, stops the writer thread, and archives the files if all regions
    /// have flushed. Later calls get [`WalError::Closed`].
    pub fn close(&self) -> Result<(), WalError> {
        self.stop();
        let end = self.shared.queue.lock().end.clone();
        match end {
            Some(WalError::Closed) => self.shared.archive_flushed(),
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn stop(&self) {
        {
            let mut queue = self.shared.queue.lock();
            queue.closing = true;
            wake(&self.shared, &queue);
        }
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            // The last owner may be a callback: the thread ends by itself then.
            if thread.thread().id() != std::thread::current().id() {
                // A panic of the thread has ended the log with an error.
                drop(thread.join());
            }
        }
    }

    pub fn stats(&self) -> WalStats {
        let shared = &*self.shared;
        let counters = &shared.counters;
        let current_size_bytes = counters.current_size_bytes.load(Ordering::Relaxed);
        let (pending_bytes, appends, poisoned) = {
            let queue = shared.queue.lock();
            (queue.batch.bytes.len(), queue.last, matches!(queue.end, Some(WalError::Poisoned(_))))
        };
        let files = shared.files.lock();
        WalStats {
            current_file: files.current.clone(),
            current_size_bytes,
            files: files.finished.len() + 1,
            size_bytes: current_size_bytes + files.finished.iter().map(|f| f.size_bytes).sum::<u64>(),
            pending_bytes,
            appends,
            appended_bytes: counters.appended_bytes.load(Ordering::Relaxed),
            batches: counters.batches.load(Ordering::Relaxed),
            syncs: counters.syncs.load(Ordering::Relaxed),
            rolls: counters.rolls.load(Ordering::Relaxed),
            poisoned,
        }
    }
}

impl Drop for Wal {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn wake(shared: &Shared, queue: &Queue) {
    if queue.waiting {
        shared.work.notify_one();
    }
}

impl Shared {
    /// Moves finished files that no region needs to the archive.
    pub fn archive_flushed(&self) -> Result<(), WalError> {
        let mut files = self.files.lock();
        let before = files.finished.len();
        let mut failed = None;
        files.finished.retain(|file| {
            if failed.is_some() || !file.account.is_flushed() {
                return true;
            }
            let moved = match file.path.file_name() {
                Some(name) => self.fs.rename(&file.path, &self.archive_dir.join(name)),
                None => Ok(()),
            };
            if let Err(e) = moved {
                failed = Some(e);
            }
            failed.is_some()
        });
        if files.finished.len() < before {
            // The new name first: a crash in between must not lose both.
            self.fs.sync_dir(&self.archive_dir)?;
            self.fs.sync_dir(&self.dir)?;
        }
        failed.map_or(Ok(()), |e| Err(WalError::io("archive log", e)))
    }
}
