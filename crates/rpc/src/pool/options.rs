//! What the pool's classes and threads may use.

use super::CLASSES;

/// What one class may use.
#[derive(Debug, Clone, Copy)]
pub struct ClassOptions {
    /// Share of thread time when all classes want it; at least 1.
    pub weight: u32,
    /// Jobs waiting beyond this are refused.
    pub max_queued: usize,
    /// Threads this class may hold at once; at least 1. Scans that read from a disk do not count.
    pub max_running: usize,
}

/// Threads and classes of a pool.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// For all classes but scans and batch work.
    pub threads: usize,
    /// That take what all others leave, as many that have a small weight, and as many like all others.
    pub scan_threads: usize,
    /// That weight (0 to 19, `nice`).
    pub scan_nice: i32,
    /// They take what all others leave.
    pub batch_threads: usize,
    /// Indexed by `Class as usize`.
    pub classes: [ClassOptions; CLASSES],
}

impl PoolOptions {
    /// Defaults for `threads` threads. Work that may wait long leaves threads to the others.
    pub fn new(threads: usize) -> PoolOptions {
        let threads = threads.max(2);
        let class = |weight, max_running: usize| ClassOptions { weight, max_queued: 1000, max_running };
        let (all, most, half) = (threads, threads - 1, threads / 2);
        let scans = half.min(processors());
        PoolOptions {
            threads,
            scan_threads: half,
            scan_nice: SCAN_NICE,
            batch_threads: half,
            classes: [
                class(8, most),
                class(1, scans),
                class(8, most),
                class(16, all),
                class(2, half),
                class(2, half),
                class(1, half),
                class(1, scans),
                class(1, scans),
            ],
        }
    }
}

/// That the process may use.
pub(super) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A fifteenth of the weight of an ordinary thread: a machine full of Gets still lets scans go on (docs/benchmarks-log.md).
const SCAN_NICE: i32 = 12;
