//! The WAL thread: takes what is pending, writes it, syncs, tells those who wait. One file is current at a time.
//!
//! ```text
//!            ┌─► wait for waiters, rolls, closing, or a tick with something unwritten or unsynced
//!            │        │ take the batch
//!            │   one write of all bytes; one fdatasync if somebody waits or at a tick
//!            │        │
//!            └── callbacks in order of tickets; a new file if this one is large, or if asked
//! ```

use crate::accounting::FileAccount;
use crate::error::WalError;
use crate::format::{Checksum, FLAG_SYNCED_BEFORE, TRAILER, file_header};
use crate::log::{Batch, EAGER_WRITE_BYTES, FinishedFile, Queue, RollReply, Rolled, Shared, Waiter};
use martite_env::FileWriter;
use parking_lot::MutexGuard;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracing::{debug, error, warn};

/// Ticks without work after which the thread sleeps until it is woken.
const IDLE_TICKS: u32 = 10;
/// The batch's buffer is used again unless it grew larger than this.
const KEPT_BUFFER_BYTES: usize = 8 << 20;

pub(crate) struct Writer {
    shared: Arc<Shared>,
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
    account: FileAccount,
}

/// What the thread woke up for.
struct Work {
    batch: Batch,
    rolls: Vec<RollReply>,
    closing: bool,
    tick: bool,
}

impl LogFile {
    /// Makes the next file: its header and its name are durable.
    fn create(shared: &Shared) -> io::Result<LogFile> {
        let mut stamp = shared.clock.now_ms();
        loop {
            let path = shared.dir.join(format!("{}.{stamp}{}", shared.prefix, shared.suffix));
            let mut out = match shared.fs.create(&path) {
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
            return Ok(LogFile { path, out, synced, account: FileAccount::default() });
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        if self.synced < self.out.position() {
            self.out.sync_data()?;
            self.synced = self.out.position();
        }
        Ok(())
    }

    /// Writes the trailer. It must not be durable before the entries are: it says that they all are there.
    fn finish(&mut self) -> io::Result<()> {
        self.sync()?;
        self.out.write_all(TRAILER)?;
        self.sync()
    }
}

impl Writer {
    pub fn create(shared: Arc<Shared>) -> Result<Writer, WalError> {
        let file = LogFile::create(&shared).map_err(|e| WalError::io("create log", e))?;
        let roll_at = shared.options.roll_size_bytes;
        let writer = Writer { shared, file, written: 0, roll_at, spare: Vec::new() };
        writer.publish_file();
        Ok(writer)
    }

    fn publish_file(&self) {
        self.shared.files.lock().current.clone_from(&self.file.path);
        self.shared.counters.current_size_bytes.store(self.file.out.position(), Ordering::Relaxed);
    }

    pub fn run(self) {
        // However this thread ends, nobody may wait for it any longer.
        let mut guard = EndGuard { shared: Arc::clone(&self.shared), end: poison("the log's thread panicked") };
        guard.end = match self.serve() {
            Ok(()) => WalError::Closed,
            Err(e) => {
                error!(error = %e, "the log is poisoned");
                poison(&e.to_string())
            }
        };
    }

    fn serve(mut self) -> io::Result<()> {
        loop {
            let work = self.next_work();
            let waiters = match self.write(work.batch, work.tick) {
                Ok(waiters) => waiters,
                Err((e, waiters)) => {
                    let end = poison(&e.to_string());
                    // Later callers must not see the log alive after the first of these has failed.
                    let later = end_log(&self.shared, end.clone());
                    run_all(waiters.into_iter().chain(later), &Err(end.clone()));
                    work.rolls.into_iter().for_each(|reply| reply(Err(end.clone())));
                    return Err(e);
                }
            };
            if !run_all(waiters, &Ok(())) {
                return Err(io::Error::other("a callback of the log panicked"));
            }
            if work.closing {
                self.close()?;
                work.rolls.into_iter().for_each(|reply| reply(Err(WalError::Closed)));
                return Ok(());
            }
            if !work.rolls.is_empty() || self.file.out.position() >= self.roll_at {
                self.roll(work.rolls)?;
            }
        }
    }

    /// Sleeps until there is something to do, and takes it.
    fn next_work(&mut self) -> Work {
        let shared = Arc::clone(&self.shared);
        let mut queue = shared.queue.lock();
        let mut idle_ticks = 0;
        let mut tick = false;
        while !tick && !has_work(&queue) {
            if idle_ticks >= IDLE_TICKS && queue.batch.bytes.is_empty() {
                self.sleep(&mut queue);
                idle_ticks = 0;
                continue;
            }
            queue.waiting = true;
            let timed_out = shared.work.wait_for(&mut queue, shared.options.async_delay).timed_out();
            queue.waiting = false;
            if timed_out {
                idle_ticks += 1;
                let unsynced = shared.options.hsync && self.file.synced < self.file.out.position();
                tick = unsynced || !queue.batch.bytes.is_empty();
            }
        }
        let spare = Batch { bytes: std::mem::take(&mut self.spare), ..Batch::default() };
        let batch = std::mem::replace(&mut queue.batch, spare);
        queue.batch.last = batch.last;
        shared.room.notify_all();
        Work { batch, rolls: std::mem::take(&mut queue.rolls), closing: queue.closing, tick }
    }

    fn sleep(&self, queue: &mut MutexGuard<'_, Queue>) {
        (queue.waiting, queue.asleep) = (true, true);
        self.shared.work.wait(queue);
        (queue.waiting, queue.asleep) = (false, false);
    }

    /// Writes a batch and makes it durable if anybody wants that. Gives the waiters back in the order of tickets.
    fn write(&mut self, batch: Batch, tick: bool) -> Result<Vec<Waiter>, (io::Error, Vec<Waiter>)> {
        let Batch { mut bytes, first, mut waiters, notes, last } = batch;
        // Nearly sorted already; stable, so that waiters of one ticket stay in order.
        waiters.sort_by_key(|w| w.ticket);
        let hsync = self.shared.options.hsync;
        let sync = waiters.iter().any(|w| w.force || hsync) || (tick && hsync);
        if let Err(e) = self.write_bytes(&mut bytes, first, sync) {
            return Err((e, waiters));
        }
        for (region, seq) in notes {
            self.file.account.note(region, seq);
        }
        self.written = last;
        let counters = &self.shared.counters;
        if self.file.synced == self.file.out.position() || !hsync {
            counters.synced.store(self.written, Ordering::Release);
        }
        counters.current_size_bytes.store(self.file.out.position(), Ordering::Relaxed);
        counters.appended_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if bytes.capacity() <= KEPT_BUFFER_BYTES {
            bytes.clear();
            self.spare = bytes;
        }
        Ok(waiters)
    }

    fn write_bytes(&mut self, bytes: &mut [u8], first: Option<Checksum>, sync: bool) -> io::Result<()> {
        if !bytes.is_empty() {
            let synced_before = self.file.synced == self.file.out.position();
            if let Some(checksum) = first.filter(|_| synced_before) {
                bytes[checksum.at..checksum.at + 5].copy_from_slice(&checksum.value(FLAG_SYNCED_BEFORE));
            }
            self.file.out.write_all(bytes)?;
            self.shared.counters.batches.fetch_add(1, Ordering::Relaxed);
        }
        if sync && self.file.synced < self.file.out.position() {
            self.file.sync()?;
            self.shared.counters.syncs.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Goes on in a new file. Fails only if the old one cannot be finished: without a new one the log goes on as it is.
    fn roll(&mut self, replies: Vec<RollReply>) -> io::Result<()> {
        let next = match LogFile::create(&self.shared) {
            Ok(next) => next,
            Err(e) => {
                warn!(error = %e, "cannot begin a new log file");
                self.roll_at = self.file.out.position() + self.shared.options.roll_size_bytes;
                let e = WalError::io("create log", e);
                replies.into_iter().for_each(|reply| reply(Err(e.clone())));
                return Ok(());
            }
        };
        if let Err(e) = self.file.finish() {
            let end = poison(&e.to_string());
            replies.into_iter().for_each(|reply| reply(Err(end.clone())));
            return Err(e);
        }
        let old = std::mem::replace(&mut self.file, next);
        self.roll_at = self.shared.options.roll_size_bytes;
        self.shared.counters.synced.store(self.written, Ordering::Release);
        self.shared.counters.rolls.fetch_add(1, Ordering::Relaxed);
        debug!(old = %old.path.display(), new = %self.file.path.display(), "rolled the log");
        let rolled = Rolled { old_file: old.path.clone(), new_file: self.file.path.clone() };
        self.finished(old);
        self.publish_file();
        replies.into_iter().for_each(|reply| reply(Ok(rolled.clone())));
        Ok(())
    }

    fn finished(&self, file: LogFile) {
        let size_bytes = file.out.position();
        let finished = FinishedFile { path: file.path, size_bytes, account: file.account };
        self.shared.files.lock().finished.push(finished);
    }

    fn close(mut self) -> io::Result<()> {
        self.file.finish()?;
        self.shared.counters.synced.store(self.written, Ordering::Release);
        self.shared.counters.current_size_bytes.store(0, Ordering::Relaxed);
        let Writer { shared, file, .. } = self;
        let size_bytes = file.out.position();
        let finished = FinishedFile { path: file.path, size_bytes, account: file.account };
        shared.files.lock().finished.push(finished);
        Ok(())
    }
}

fn has_work(queue: &Queue) -> bool {
    let batch = &queue.batch;
    queue.closing || !batch.waiters.is_empty() || !queue.rolls.is_empty() || batch.bytes.len() >= EAGER_WRITE_BYTES
}

fn poison(what: &str) -> WalError {
    WalError::Poisoned(what.into())
}

/// Calls everybody, even if one panics; `false` if one did.
fn run_all(waiters: impl IntoIterator<Item = Waiter>, result: &Result<(), WalError>) -> bool {
    let call = |waiter: Waiter| catch_unwind(AssertUnwindSafe(|| (waiter.f)(result.clone()))).is_ok();
    waiters.into_iter().map(call).fold(true, |all, one| all & one)
}

/// Says why nothing more can be written, and takes those who wait for it.
fn end_log(shared: &Shared, end: WalError) -> Vec<Waiter> {
    let mut queue = shared.queue.lock();
    let end = queue.end.get_or_insert(end).clone();
    let waiters = std::mem::take(&mut queue.batch).waiters;
    let rolls = std::mem::take(&mut queue.rolls);
    shared.room.notify_all();
    drop(queue);
    rolls.into_iter().for_each(|reply| reply(Err(end.clone())));
    waiters
}

/// Ends the log when the thread does, however it does.
struct EndGuard {
    shared: Arc<Shared>,
    end: WalError,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        let waiters = end_log(&self.shared, self.end.clone());
        run_all(waiters, &Err(self.end.clone()));
    }
}
