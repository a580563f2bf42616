//! [`Tail`]: the end of the log. Whoever has it locked takes what is pending and writes it. One file is current at a time.
//!
//! The lock of the tail comes before that of the queue. A log that fails is ended before the tail is free again: nobody may
//! write behind a write that failed.

use crate::accounting::FileAccount;
use crate::error::WalError;
use crate::format::{Checksum, FLAG_SYNCED_BEFORE, TRAILER, file_header};
use crate::log::{Batch, FinishedFile, Queue, RollReply, Rolled, Shared, Waiter};
use crate::writer::{end_log, poison, run_all};
use martite_env::FileWriter;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tracing::{debug, warn};

/// The batch's buffer is used again unless it grew larger than this.
const KEPT_BUFFER_BYTES: usize = 8 << 20;

pub(crate) struct Tail {
    file: LogFile,
    /// Ticket of the last entry written.
    written: u64,
    /// Position at which an automatic roll is tried; moved on when one fails.
    roll_at: u64,
    spare: Vec<u8>,
}

/// The current file.
struct LogFile {
    path: PathBuf,
    out: Box<dyn FileWriter>,
    /// Everything before is durable.
    synced: u64,
    /// The file may end in zeros ([`FileWriter::trim`]).
    padded: bool,
    account: FileAccount,
}

/// A write that failed; the log has ended.
pub(crate) struct Failed {
    pub error: io::Error,
    /// All who waited.
    waiters: Vec<Waiter>,
}

impl Failed {
    /// Somebody else's write has failed, and has told all.
    pub fn before() -> Failed {
        Failed { error: io::Error::other("a write to the log has failed"), waiters: Vec::new() }
    }

    /// Tells all who waited. Not with the tail locked.
    pub fn tell(self) -> io::Error {
        run_all(self.waiters, &Err(poison(&self.error.to_string())));
        self.error
    }
}

impl LogFile {
    /// Makes the next file: its header and its name are durable.
    fn create(shared: &Shared) -> io::Result<LogFile> {
        let mut stamp = shared.clock.now_ms();
        loop {
            let path = shared.dir.join(format!("{}.{stamp}{}", shared.prefix, shared.suffix));
            // What the operating system is to have at once must not be kept here.
            let created = if shared.options.hsync { shared.fs.create_direct(&path) } else { shared.fs.create(&path) };
            let mut out = match created {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                    stamp += 1;
                    continue;
                }
                out => out?,
            };
            out.write_all(&file_header(shared.salt))?;
            out.sync_data()?;
            shared.fs.sync_dir(&shared.dir)?;
            let synced = out.position();
            return Ok(LogFile { path, out, synced, padded: true, account: FileAccount::default() });
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.synced < self.out.position() {
            self.out.sync_data()?;
            self.synced = self.out.position();
            self.padded = true;
        }
        Ok(())
    }

    /// Makes the file as long as it is: HBase's tools take zeros for damage.
    fn trim(&mut self) -> io::Result<()> {
        if self.padded {
            self.out.trim()?;
            self.padded = false;
        }
        Ok(())
    }

    /// Writes the trailer. It must not be durable before the entries are: it says that they all are there.
    fn finish(&mut self) -> io::Result<()> {
        self.sync()?;
        self.out.write_all(TRAILER)?;
        self.sync()?;
        self.trim()?;
        self.out.sync_data()
    }

    /// The disk has everything, and nothing else.
    fn is_settled(&self) -> bool {
        self.synced == self.out.position() && !self.padded
    }
}

impl Tail {
    pub fn create(shared: &Shared) -> Result<Tail, WalError> {
        let file = LogFile::create(shared).map_err(|e| WalError::io("create log", e))?;
        let tail = Tail { file, written: 0, roll_at: shared.options.roll_size_bytes, spare: Vec::new() };
        tail.publish_file(shared);
        Ok(tail)
    }

    fn publish_file(&self, shared: &Shared) {
        shared.files.lock().current.clone_from(&self.file.path);
        shared.counters.current_size_bytes.store(self.file.out.position(), Ordering::Relaxed);
    }

    /// What is pending; None if nothing may be written any more.
    pub fn take(&mut self, shared: &Shared, queue: &mut Queue) -> Option<Batch> {
        if queue.end.is_some() {
            return None;
        }
        let spare = Batch { bytes: std::mem::take(&mut self.spare), last: queue.batch.last, ..Batch::default() };
        shared.room.notify_all();
        Some(std::mem::replace(&mut queue.batch, spare))
    }

    /// Writes what was taken and makes it durable if anybody wants that. Gives the waiters back in the order of tickets. If
    /// it fails, the log has ended.
    pub fn write(&mut self, shared: &Shared, batch: Batch, tick: bool) -> Result<Vec<Waiter>, Failed> {
        let Batch { mut bytes, first, mut waiters, notes, last, .. } = batch;
        // Nearly sorted already; stable, so that waiters of one ticket stay in order.
        waiters.sort_by_key(|w| w.ticket);
        let hsync = shared.options.hsync;
        let sync = waiters.iter().any(|w| w.force || hsync) || (tick && hsync);
        let written = self.write_bytes(shared, &mut bytes, first, sync);
        // Nobody has written for a while.
        let settled = written.and_then(|()| if tick && bytes.is_empty() { self.file.trim() } else { Ok(()) });
        if let Err(error) = settled {
            // Later callers must not see the log alive after the first of these has failed.
            waiters.extend(end_log(shared, poison(&error.to_string())));
            return Err(Failed { error, waiters });
        }
        for (region, seq) in notes {
            self.file.account.note(region, seq);
        }
        self.written = last;
        let counters = &shared.counters;
        let is_synced = self.file.synced == self.file.out.position();
        if is_synced || !hsync {
            counters.synced.store(self.written, Ordering::Release);
        }
        counters.unsettled.store(!self.file.is_settled(), Ordering::Relaxed);
        counters.current_size_bytes.store(self.file.out.position(), Ordering::Relaxed);
        counters.appended_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if bytes.capacity() <= KEPT_BUFFER_BYTES {
            bytes.clear();
            self.spare = bytes;
        }
        Ok(waiters)
    }

    fn write_bytes(
        &mut self,
        shared: &Shared,
        bytes: &mut [u8],
        first: Option<Checksum>,
        sync: bool,
    ) -> io::Result<()> {
        if !bytes.is_empty() {
            let synced_before = self.file.synced == self.file.out.position();
            if let Some(checksum) = first.filter(|_| synced_before) {
                bytes[checksum.at..checksum.at + 5].copy_from_slice(&checksum.value(FLAG_SYNCED_BEFORE));
            }
            let began = shared.clock.monotonic();
            self.file.out.write_all(bytes)?;
            shared.leading.wrote(shared.clock.monotonic().saturating_sub(began));
            shared.counters.batches.fetch_add(1, Ordering::Relaxed);
        }
        if sync && self.file.synced < self.file.out.position() {
            self.file.sync()?;
            shared.counters.syncs.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    pub fn is_roll_due(&self) -> bool {
        self.file.out.position() >= self.roll_at
    }

    /// Goes on in a new file if this one is large or somebody asks for it. Fails only if the old one cannot be finished: without
    /// a new one the log goes on as it is.
    pub fn roll_if_due(&mut self, shared: &Shared, replies: Vec<RollReply>) -> Result<(), Failed> {
        shared.queue.lock().roll_due = false;
        if replies.is_empty() && !self.is_roll_due() {
            return Ok(());
        }
        let next = match LogFile::create(shared) {
            Ok(next) => next,
            Err(e) => {
                warn!(error = %e, "cannot begin a new log file");
                self.roll_at = self.file.out.position() + shared.options.roll_size_bytes;
                let e = WalError::io("create log", e);
                replies.into_iter().for_each(|reply| reply(Err(e.clone())));
                return Ok(());
            }
        };
        if let Err(error) = self.file.finish() {
            let end = poison(&error.to_string());
            let waiters = end_log(shared, end.clone());
            replies.into_iter().for_each(|reply| reply(Err(end.clone())));
            return Err(Failed { error, waiters });
        }
        let old = std::mem::replace(&mut self.file, next);
        self.roll_at = shared.options.roll_size_bytes;
        shared.counters.synced.store(self.written, Ordering::Release);
        shared.counters.unsettled.store(true, Ordering::Relaxed);
        shared.counters.rolls.fetch_add(1, Ordering::Relaxed);
        debug!(old = %old.path.display(), new = %self.file.path.display(), "rolled the log");
        let rolled = Rolled { old_file: old.path.clone(), new_file: self.file.path.clone() };
        finished(shared, old.path, old.out.position(), old.account);
        self.publish_file(shared);
        replies.into_iter().for_each(|reply| reply(Ok(rolled.clone())));
        Ok(())
    }

    /// Ends the log: its last file is whole.
    pub fn close(&mut self, shared: &Shared) -> io::Result<()> {
        self.file.finish()?;
        shared.counters.synced.store(self.written, Ordering::Release);
        shared.counters.current_size_bytes.store(0, Ordering::Relaxed);
        let account = std::mem::take(&mut self.file.account);
        finished(shared, self.file.path.clone(), self.file.out.position(), account);
        Ok(())
    }
}

fn finished(shared: &Shared, path: PathBuf, size_bytes: u64, account: FileAccount) {
    shared.files.lock().finished.push(FinishedFile { path, size_bytes, account });
}
