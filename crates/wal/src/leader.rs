//! Leaders: a caller whose entry is to reach the operating system only, not the disk, writes what is pending itself.
//!
//! ```text
//! append ─► on_synced_here ─► tail free? ─ yes ─► one write of all that is pending ─► callbacks, here
//!                                        └ no ──► whoever has it looks at the queue again before it goes
//! ```
//! Such a write takes some microseconds; to have the WAL thread do it takes two wake-ups, and the answer misses the write into
//! the socket that it could have shared. Not so when the system makes writers wait: a network thread must not. So the WAL
//! thread looks from time to time how much waits to reach the disk, and a write that took long ends leading for a while.

use crate::log::{Completion, Queue, Shared, Ticket, Waiter, Wal, wake};
use crate::writer::{EndGuard, end_log, has_work, poison, run_all};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tracing::error;

/// More bytes than these are for the thread.
const MOST_BYTES: usize = 64 << 10;
/// Writes that only copy bytes take less, but for a thread that loses its processor.
const SLOW: Duration = Duration::from_millis(1);
/// How often the state of the disk is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Whether callers may write.
#[derive(Debug, Default)]
pub(crate) struct Leading {
    /// They may not.
    stopped: AtomicBool,
    /// A write has taken long since the last look.
    slow: AtomicBool,
}

impl Leading {
    /// A write without a sync took so long.
    pub fn wrote(&self, took: Duration) {
        if took > SLOW {
            self.slow.store(true, Ordering::Relaxed);
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}

/// When the WAL thread looks at the disk.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    next: Duration,
}

impl Looks {
    pub fn is_due(&self, shared: &Shared) -> bool {
        !shared.options.hsync && shared.clock.monotonic() >= self.next
    }

    /// Lets callers write, or not.
    pub fn look(&mut self, shared: &Shared) {
        self.next = shared.clock.monotonic() + LOOK_EVERY;
        let was_slow = shared.leading.slow.swap(false, Ordering::Relaxed);
        shared.leading.stopped.store(was_slow || shared.fs.is_behind(), Ordering::Relaxed);
    }
}

impl Wal {
    /// [`Wal::on_synced`], but the caller may write what is pending, and `f` and the callbacks of others may run here. Not under
    /// locks that any of them takes.
    pub fn on_synced_here(&self, ticket: Ticket, f: Completion) {
        let shared = &*self.shared;
        let Some(mut queue) = self.queue_waiter(Waiter { ticket: ticket.0, force: false, f }) else { return };
        if !may_lead(shared, &queue) {
            return wake(shared, &queue);
        }
        // Whoever has the tail will see the waiter.
        let Some(mut tail) = self.tail.try_lock() else { return };
        let Some(batch) = tail.take(shared, &mut queue) else { return };
        drop(queue);
        let mut guard = EndGuard::new(&self.shared, "a write to the log panicked");
        let written = tail.write(shared, batch, false);
        guard.end = None;
        let roll_due = tail.is_roll_due();
        drop(tail);
        {
            let mut queue = shared.queue.lock();
            queue.roll_due |= roll_due;
            // What has come meanwhile is left to the thread: a caller has other things to do.
            if has_work(&queue) {
                wake(shared, &queue);
            }
        }
        match written {
            Ok(waiters) => {
                if !run_all(waiters, &Ok(())) {
                    let end = poison("a callback of the log panicked");
                    let later = end_log(shared, end.clone());
                    run_all(later, &Err(end));
                }
            }
            Err(failed) => {
                error!(error = %failed.error, "the log is poisoned");
                failed.tell();
            }
        }
    }
}

fn may_lead(shared: &Shared, queue: &Queue) -> bool {
    let batch = &queue.batch;
    !shared.options.hsync
        && !shared.leading.stopped.load(Ordering::Relaxed)
        && !queue.closing
        && !queue.roll_due
        && queue.rolls.is_empty()
        && !batch.forced
        && batch.bytes.len() <= MOST_BYTES
}
