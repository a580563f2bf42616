//! Open scanners and their leases.
//!
//! A scanner belongs to the call that works on it; between calls it lies here under its id, and a lease runs: when
//! nobody comes back in time, the sweeper closes it. Ids of scanners that ended are remembered for one lease period,
//! because clients send a late `close`; one that ended in the call that opened it, as most short ones do, tells it by its id.

use martite_region::{Region, RegionScanner};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// An open scanner.
pub struct OpenScanner {
    pub id: u64,
    pub region: Arc<Region>,
    /// Taken by the call that works on it.
    pub state: Mutex<ScannerState>,
    pub next_call_seq: AtomicU64,
    pub max_result_size: u64,
    pub batch: u32,
    pub needs_cursor: bool,
    /// Opened on a replica.
    pub stale: bool,
    /// A call is working on it: the lease stands still.
    busy: AtomicBool,
    last_used: Mutex<Instant>,
}

/// Keeps the lease of a taken scanner from running until it is dropped.
pub struct Hold {
    pub server: Arc<crate::RegionServer>,
    pub scanner: Arc<OpenScanner>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.server.scanners.release(&self.scanner);
    }
}

pub struct ScannerState {
    pub scanner: RegionScanner,
    /// The last call worked for long: the next one will, too.
    pub is_long: bool,
    /// Cells of a slice on a network thread, as the last call left it; none before the first.
    pub pace: Option<u64>,
}

/// The lower half of ids: a number, and whether the scanner ended in the call that opened it.
const NUMBER: u64 = 0x7fff_ffff;
const ENDED_AT_ONCE: u64 = 0x8000_0000;

struct Closed {
    next_call_seq: u64,
    at: Instant,
}

/// All scanners of a server.
pub struct Scanners {
    open: Mutex<HashMap<u64, Arc<OpenScanner>, foldhash::fast::RandomState>>,
    closed: Mutex<HashMap<u64, Closed, foldhash::fast::RandomState>>,
    /// Upper half of ids: differs from one start of the server to the next.
    id_base: u64,
    next: AtomicU64,
    lease: Duration,
    pub expired: AtomicU64,
}

/// What is known of a scanner id.
pub enum Lookup {
    Open(Arc<OpenScanner>),
    /// Ended not long ago, having answered this many calls.
    Closed {
        next_call_seq: u64,
    },
    Unknown,
}

/// What a scan was opened with.
pub struct Opening {
    pub region: Arc<Region>,
    pub scanner: RegionScanner,
    pub max_result_size: u64,
    pub batch: u32,
    pub needs_cursor: bool,
    pub stale: bool,
}

impl Scanners {
    pub fn new(start_code: u64, lease: Duration) -> Scanners {
        Scanners {
            open: Mutex::default(),
            closed: Mutex::default(),
            id_base: (start_code.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) << 32,
            next: AtomicU64::new(1),
            lease,
            expired: AtomicU64::new(0),
        }
    }

    pub fn lease_ms(&self) -> u32 {
        self.lease.as_millis().min(u128::from(u32::MAX)) as u32
    }

    /// A scanner that no one else can find yet: [`Scanners::add`] does that.
    pub fn open(&self, opening: Opening) -> Arc<OpenScanner> {
        Arc::new(OpenScanner {
            id: self.id_base | self.next.fetch_add(1, Ordering::Relaxed) & NUMBER,
            region: opening.region,
            state: Mutex::new(ScannerState { scanner: opening.scanner, is_long: false, pace: None }),
            next_call_seq: AtomicU64::new(0),
            max_result_size: opening.max_result_size,
            batch: opening.batch,
            needs_cursor: opening.needs_cursor,
            stale: opening.stale,
            busy: AtomicBool::new(true),
            last_used: Mutex::new(Instant::now()),
        })
    }

    pub fn add(&self, scanner: Arc<OpenScanner>) {
        self.release(&scanner);
        self.open.lock().insert(scanner.id, scanner);
    }

    pub fn find(&self, id: u64) -> Lookup {
        if let Some(scanner) = self.open.lock().get(&id) {
            return Lookup::Open(scanner.clone());
        }
        match self.closed.lock().get(&id) {
            Some(closed) => Lookup::Closed { next_call_seq: closed.next_call_seq },
            None if id & !NUMBER == self.id_base | ENDED_AT_ONCE => Lookup::Closed { next_call_seq: 0 },
            None => Lookup::Unknown,
        }
    }

    /// The lease stands still until [`Scanners::release`]. False: another call is working on it.
    pub fn acquire(&self, scanner: &OpenScanner) -> bool {
        !scanner.busy.swap(true, Ordering::AcqRel)
    }

    pub fn release(&self, scanner: &OpenScanner) {
        *scanner.last_used.lock() = Instant::now();
        scanner.busy.store(false, Ordering::Release);
    }

    /// What a scanner is called that has ended and was never added: nothing is remembered of it.
    pub fn id_of_ended(scanner: &OpenScanner) -> u64 {
        scanner.id | ENDED_AT_ONCE
    }

    /// Ends a scanner; after an error its id is not remembered.
    pub fn close(&self, scanner: &OpenScanner, after_error: bool) {
        let was_open = self.open.lock().remove(&scanner.id).is_some();
        if !after_error && was_open {
            let next_call_seq = scanner.next_call_seq.load(Ordering::Acquire);
            self.closed.lock().insert(scanner.id, Closed { next_call_seq, at: Instant::now() });
        }
    }

    /// Closes what has not been used for a lease period. To be called now and then.
    pub fn sweep(&self) {
        let now = Instant::now();
        let mut gone = Vec::new();
        self.open.lock().retain(|_, s| {
            let idle = !s.busy.load(Ordering::Acquire) && now.duration_since(*s.last_used.lock()) > self.lease;
            if idle {
                gone.push(s.clone());
            }
            !idle
        });
        for scanner in gone {
            self.expired.fetch_add(1, Ordering::Relaxed);
            tracing::info!(scanner = scanner.id, region = %scanner.region.info().name_string(), "scanner lease expired");
        }
        self.closed.lock().retain(|_, c| now.duration_since(c.at) <= self.lease);
    }

    pub fn len(&self) -> usize {
        self.open.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
