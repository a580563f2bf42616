//! [`Counters`]: what a server has done, for metrics and pages. Each shard counts for itself; reading adds up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;

/// A snapshot of a server's counters.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counters {
    pub connections_open: u64,
    pub connections_accepted: u64,
    /// Connections closed at once because there were too many.
    pub connections_refused: u64,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    /// Calls handed to the handler.
    pub calls: u64,
    /// Calls not answered yet, and the bytes of their requests.
    pub queued_calls: u64,
    pub queued_bytes: u64,
    /// Answers not yet taken by the clients.
    pub output_bytes: u64,
    /// Exceptions answered, by Java class.
    pub exceptions: BTreeMap<String, u64>,
}

/// Counters of one shard, on their own cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct ShardCounters {
    pub received_bytes: AtomicU64,
    pub sent_bytes: AtomicU64,
    pub calls: AtomicU64,
    /// Open connections.
    pub connections: AtomicU64,
    /// Unanswered calls (high bits) and their bytes (low bits) in one word: one atomic per call and side.
    queued: AtomicU64,
}

/// Bits of `queued` that count bytes: 1 TiB of requests, and 16 million calls above.
const QUEUED_BYTES_BITS: u32 = 40;

impl ShardCounters {
    #[inline]
    pub fn enqueue(&self, bytes: u32) {
        self.queued.fetch_add(1 << QUEUED_BYTES_BITS | u64::from(bytes), Relaxed);
    }
    #[inline]
    pub fn dequeue(&self, bytes: u32) {
        self.queued.fetch_sub(1 << QUEUED_BYTES_BITS | u64::from(bytes), Relaxed);
    }
    /// Unanswered calls and their bytes.
    #[inline]
    pub fn queued(&self) -> (u64, u64) {
        let queued = self.queued.load(Relaxed);
        (queued >> QUEUED_BYTES_BITS, queued & ((1 << QUEUED_BYTES_BITS) - 1))
    }
}

/// Exceptions answered, by class.
#[derive(Debug, Default)]
pub(crate) struct ExceptionCounters(Mutex<BTreeMap<String, u64>>);

impl ExceptionCounters {
    pub fn count(&self, class: &str) {
        let mut map = self.0.lock();
        match map.get_mut(class) {
            Some(n) => *n += 1,
            None => {
                map.insert(class.to_owned(), 1);
            }
        }
    }
    pub fn snapshot(&self) -> BTreeMap<String, u64> {
        self.0.lock().clone()
    }
}
