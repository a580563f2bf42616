//! The WAL thread: waits until something is to be written, writes it at the log's [`Tail`], tells those who wait. Beside it,
//! callers may write by themselves (`leader.rs`).
//!
//! ```text
//!            ┌─► wait for waiters, rolls, closing, or a tick with something unwritten, unsynced or untrimmed
//!            │        │ lock the tail, take the batch
//!            │   one write of all bytes; one fdatasync if somebody waits or at a tick
//!            │        │
//!            └── callbacks in order of tickets; a new file if this one is large, or if asked
//! ```

use crate::error::WalError;
use crate::leader::Looks;
use crate::log::{EAGER_WRITE_BYTES, Queue, RollReply, Shared, Waiter};
use crate::tail::{Failed, Tail};
use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracing::{error, warn};

/// Ticks without work after which the thread sleeps until it is woken.
const IDLE_TICKS: u32 = 10;

pub(crate) struct Writer {
    shared: Arc<Shared>,
    tail: Arc<Mutex<Tail>>,
    looks: Looks,
}

/// What the thread woke up for.
struct Work {
    rolls: Vec<RollReply>,
    closing: bool,
    tick: bool,
}

impl Writer {
    pub fn new(shared: Arc<Shared>, tail: Arc<Mutex<Tail>>) -> Writer {
        Writer { shared, tail, looks: Looks::default() }
    }

    pub fn run(self) {
        // Many wait for what it has to tell when the disk has answered.
        if let Err(e) = martite_env::thread::be_prompt() {
            warn!("the log's thread runs in slices like all others: {e}");
        }
        // However this thread ends, nobody may wait for it any longer.
        let mut guard = EndGuard::new(&self.shared, "the log's thread panicked");
        guard.end = Some(match self.serve() {
            Ok(()) => WalError::Closed,
            Err(e) => {
                error!(error = %e, "the log is poisoned");
                poison(&e.to_string())
            }
        });
    }

    fn serve(mut self) -> io::Result<()> {
        loop {
            let work = self.next_work();
            let waiters = match self.write(work.tick) {
                Ok(waiters) => waiters,
                Err(failed) => {
                    let end = poison(&failed.error.to_string());
                    work.rolls.into_iter().for_each(|reply| reply(Err(end.clone())));
                    return Err(failed.tell());
                }
            };
            if !run_all(waiters, &Ok(())) {
                return Err(io::Error::other("a callback of the log panicked"));
            }
            if work.closing {
                self.tail.lock().close(&self.shared)?;
                work.rolls.into_iter().for_each(|reply| reply(Err(WalError::Closed)));
                return Ok(());
            }
            let rolled = self.tail.lock().roll_if_due(&self.shared, work.rolls);
            rolled.map_err(Failed::tell)?;
        }
    }

    fn write(&self, tick: bool) -> Result<Vec<Waiter>, Failed> {
        let mut tail = self.tail.lock();
        let batch = tail.take(&self.shared, &mut self.shared.queue.lock());
        tail.write(&self.shared, batch.ok_or_else(Failed::before)?, tick)
    }

    /// Sleeps until there is something to do.
    fn next_work(&mut self) -> Work {
        let shared = Arc::clone(&self.shared);
        let mut queue = shared.queue.lock();
        let mut idle_ticks = 0;
        let mut tick = false;
        self.look(&mut queue);
        while !tick && !has_work(&queue) {
            if idle_ticks >= IDLE_TICKS && queue.batch.bytes.is_empty() {
                self.sleep(&mut queue);
                idle_ticks = 0;
                continue;
            }
            queue.waiting = true;
            let timed_out = shared.work.wait_for(&mut queue, shared.options.async_delay).timed_out();
            queue.waiting = false;
            self.look(&mut queue);
            if timed_out {
                idle_ticks += 1;
                let unsettled = shared.options.hsync && shared.counters.unsettled.load(Ordering::Relaxed);
                tick = unsettled || !queue.batch.bytes.is_empty();
            }
        }
        Work { rolls: std::mem::take(&mut queue.rolls), closing: queue.closing, tick }
    }

    /// Whether callers may write; looked at from time to time, without holding up anybody.
    fn look(&mut self, queue: &mut MutexGuard<'_, Queue>) {
        if self.looks.is_due(&self.shared) {
            MutexGuard::unlocked(queue, || self.looks.look(&self.shared));
        }
    }

    fn sleep(&self, queue: &mut MutexGuard<'_, Queue>) {
        (queue.waiting, queue.asleep) = (true, true);
        self.shared.work.wait(queue);
        (queue.waiting, queue.asleep) = (false, false);
    }
}

/// Whether there is something for the WAL thread.
pub(crate) fn has_work(queue: &Queue) -> bool {
    let batch = &queue.batch;
    queue.closing
        || queue.roll_due
        || queue.end.is_some()
        || !batch.waiters.is_empty()
        || !queue.rolls.is_empty()
        || batch.bytes.len() >= EAGER_WRITE_BYTES
}

pub(crate) fn poison(what: &str) -> WalError {
    WalError::Poisoned(what.into())
}

/// Calls everybody, even if one panics; `false` if one did.
pub(crate) fn run_all(waiters: impl IntoIterator<Item = Waiter>, result: &Result<(), WalError>) -> bool {
    let call = |waiter: Waiter| catch_unwind(AssertUnwindSafe(|| (waiter.f)(result.clone()))).is_ok();
    waiters.into_iter().map(call).fold(true, |all, one| all & one)
}

/// Says why nothing more can be written, and takes those who wait for it.
pub(crate) fn end_log(shared: &Shared, end: WalError) -> Vec<Waiter> {
    let mut queue = shared.queue.lock();
    let end = queue.end.get_or_insert(end).clone();
    let waiters = std::mem::take(&mut queue.batch).waiters;
    let rolls = std::mem::take(&mut queue.rolls);
    shared.room.notify_all();
    // It ends, too, if it is not the one that has failed.
    crate::log::wake(shared, &queue);
    drop(queue);
    rolls.into_iter().for_each(|reply| reply(Err(end.clone())));
    waiters
}

/// Ends the log when it is dropped, with a panic or without.
pub(crate) struct EndGuard {
    shared: Arc<Shared>,
    /// None: the log goes on.
    pub end: Option<WalError>,
}

impl EndGuard {
    pub fn new(shared: &Arc<Shared>, panic: &str) -> EndGuard {
        EndGuard { shared: Arc::clone(shared), end: Some(poison(panic)) }
    }
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            let waiters = end_log(&self.shared, end.clone());
            run_all(waiters, &Err(end));
        }
    }
}
