//! MVCC: which writes readers see.
//!
//! A write gets its number, which is its sequence id in the log, when it is appended ([`Mvcc::begin`]); it completes when
//! it is in the memstore and, as far as its durability asks, in the synced log. The read point is the highest number
//! such that it and all before it are complete: numbers become visible in order, though they complete in any order.
//!
//! ```text
//!   numbers    4     5        6     7            complete(5) moves the read point to 6:
//!   state      done  running  done  running      4 and 6 were waiting behind 5
//!              ▲ read point 4
//! ```
//!
//! Scanners register the read point that they use ([`Mvcc::reader`]): flushes and compactions keep every version that
//! the oldest of them can see ([`Mvcc::smallest_read_point`]).

use crate::RegionError;
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Waiter = Box<dyn FnOnce(Result<(), RegionError>) + Send>;

/// The write numbers of one region.
#[derive(Default)]
pub struct Mvcc {
    state: Mutex<State>,
    /// Moves only with `state` locked; read without.
    read_point: AtomicU64,
    moved: Condvar,
    /// Registered read points with the number of readers.
    readers: Mutex<BTreeMap<u64, usize>>,
}

#[derive(Default)]
struct State {
    /// Highest number given out.
    last: u64,
    /// Numbers above the read point, in order.
    running: VecDeque<Running>,
    /// Who waits for the read point, ordered by number.
    waiters: VecDeque<(u64, Waiter)>,
    failed: Option<RegionError>,
}

struct Running {
    seq: u64,
    complete: bool,
}

impl Mvcc {
    pub fn new() -> Arc<Mvcc> {
        Arc::new(Mvcc::default())
    }

    /// The newest number that readers may see.
    pub fn read_point(&self) -> u64 {
        self.read_point.load(Ordering::Acquire)
    }

    /// The highest number given out.
    pub fn last(&self) -> u64 {
        self.state.lock().last
    }

    /// Everything up to `seq` is there already: files and replayed edits of a region that opens.
    pub fn advance_to(&self, seq: u64) {
        let mut state = self.state.lock();
        debug_assert!(state.running.is_empty(), "advance_to is for regions that open");
        state.last = state.last.max(seq);
        self.read_point.fetch_max(seq, Ordering::AcqRel);
    }

    /// The next number. Whoever takes one must complete it. The caller holds the region's append lock, so that the log
    /// has the numbers in order.
    pub fn begin(&self) -> Result<u64, RegionError> {
        let mut state = self.state.lock();
        if let Some(error) = &state.failed {
            return Err(error.clone());
        }
        state.last += 1;
        let seq = state.last;
        state.running.push_back(Running { seq, complete: false });
        Ok(seq)
    }

    /// The write is in the memstore and as durable as it asked to be. Moves the read point if it was the oldest one
    /// running, and then runs the waiters that it reaches.
    pub fn complete(&self, seq: u64) {
        let mut state = self.state.lock();
        if let Ok(at) = state.running.binary_search_by_key(&seq, |r| r.seq) {
            state.running[at].complete = true;
        }
        if state.failed.is_some() {
            return;
        }
        let mut reached = None;
        while state.running.front().is_some_and(|r| r.complete) {
            reached = state.running.pop_front().map(|r| r.seq);
        }
        let Some(reached) = reached else { return };
        self.read_point.store(reached, Ordering::Release);
        let due = state.waiters.iter().take_while(|(seq, _)| *seq <= reached).count();
        let due: Vec<_> = state.waiters.drain(..due).collect();
        drop(state);
        self.moved.notify_all();
        for (_, waiter) in due {
            waiter(Ok(()));
        }
    }

    /// The log failed: the read point stays where it is for ever, everyone who waits is told, and no number is given
    /// out any more. The first error counts.
    pub fn fail(&self, error: &RegionError) {
        let mut state = self.state.lock();
        if state.failed.is_some() {
            return;
        }
        state.failed = Some(error.clone());
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        self.moved.notify_all();
        for (_, waiter) in waiters {
            waiter(Err(error.clone()));
        }
    }

    /// The error that stopped the numbers.
    pub fn failure(&self) -> Option<RegionError> {
        self.state.lock().failed.clone()
    }

    /// Calls `f` when the read point has reached `seq`: now, or on the thread that moves it.
    pub fn when_visible(&self, seq: u64, f: Waiter) {
        let mut state = self.state.lock();
        if self.read_point() >= seq {
            drop(state);
            return f(Ok(()));
        }
        if let Some(error) = state.failed.clone() {
            drop(state);
            return f(Err(error));
        }
        let at = state.waiters.partition_point(|(s, _)| *s <= seq);
        state.waiters.insert(at, (seq, f));
    }

    /// Blocks until the read point has reached `seq`.
    pub fn wait(&self, seq: u64) -> Result<(), RegionError> {
        let mut state = self.state.lock();
        while self.read_point() < seq {
            if let Some(error) = &state.failed {
                return Err(error.clone());
            }
            self.moved.wait(&mut state);
        }
        Ok(())
    }

    /// Registers a reader at the read point; to be taken **before** the stores' views, so that no flush drops in between
    /// what the reader should see.
    pub fn reader(self: &Arc<Self>) -> ReadPoint {
        let mut readers = self.readers.lock();
        let seq = self.read_point();
        *readers.entry(seq).or_default() += 1;
        ReadPoint { mvcc: self.clone(), seq }
    }

    /// Registers a reader at an older read point, as a client that goes on in another region asks for.
    pub fn reader_at(self: &Arc<Self>, seq: u64) -> ReadPoint {
        let mut readers = self.readers.lock();
        *readers.entry(seq).or_default() += 1;
        ReadPoint { mvcc: self.clone(), seq }
    }

    /// The oldest read point in use.
    pub fn smallest_read_point(&self) -> u64 {
        let readers = self.readers.lock();
        let now = self.read_point();
        readers.first_key_value().map_or(now, |(oldest, _)| now.min(*oldest))
    }
}

impl std::fmt::Debug for Mvcc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mvcc(read point {})", self.read_point())
    }
}

/// A registered read point; dropping it lets flushes forget what only it could see.
#[derive(Debug)]
pub struct ReadPoint {
    mvcc: Arc<Mvcc>,
    seq: u64,
}

impl ReadPoint {
    pub fn seq(&self) -> u64 {
        self.seq
    }
}

impl Drop for ReadPoint {
    fn drop(&mut self) {
        let mut readers = self.mvcc.readers.lock();
        if let Some(count) = readers.get_mut(&self.seq) {
            *count -= 1;
            if *count == 0 {
                readers.remove(&self.seq);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn numbers_become_visible_in_order_whatever_order_they_complete_in() {
        let mvcc = Mvcc::new();
        mvcc.advance_to(3);
        let seqs: Vec<u64> = (0..3).map(|_| mvcc.begin().unwrap()).collect();
        assert_eq!((seqs, mvcc.read_point(), mvcc.last()), (vec![4, 5, 6], 3, 6));
        let told = Arc::new(Mutex::new(Vec::new()));
        for seq in [6, 4, 5] {
            let told = told.clone();
            mvcc.when_visible(seq, Box::new(move |r| told.lock().push((seq, r.is_ok()))));
        }
        mvcc.complete(6);
        mvcc.complete(5);
        assert_eq!((mvcc.read_point(), told.lock().len()), (3, 0));
        mvcc.complete(4);
        assert_eq!(mvcc.read_point(), 6);
        assert_eq!(*told.lock(), [(4, true), (5, true), (6, true)]);
        mvcc.wait(6).unwrap();
    }

    #[test]
    fn a_failed_log_stops_the_read_point_and_tells_everyone() {
        let mvcc = Mvcc::new();
        let seq = mvcc.begin().unwrap();
        let errors = Arc::new(AtomicU32::new(0));
        let count = errors.clone();
        mvcc.when_visible(seq, Box::new(move |r| assert!(r.is_err() && count.fetch_add(1, Ordering::SeqCst) == 0)));
        mvcc.fail(&RegionError::Io("disk".into()));
        assert_eq!(errors.load(Ordering::SeqCst), 1);
        mvcc.complete(seq);
        assert_eq!(mvcc.read_point(), 0);
        assert_eq!(mvcc.begin().unwrap_err().to_string(), "disk");
        assert_eq!(mvcc.wait(seq).unwrap_err().to_string(), "disk");
    }

    #[test]
    fn the_smallest_read_point_is_the_oldest_readers() {
        let mvcc = Mvcc::new();
        mvcc.advance_to(5);
        let (a, b) = (mvcc.reader(), mvcc.reader());
        let seq = mvcc.begin().unwrap();
        mvcc.complete(seq);
        let c = mvcc.reader();
        assert_eq!((a.seq(), c.seq(), mvcc.smallest_read_point()), (5, 6, 5));
        drop(a);
        assert_eq!(mvcc.smallest_read_point(), 5);
        drop(b);
        assert_eq!(mvcc.smallest_read_point(), 6);
        drop(c);
        assert_eq!(mvcc.smallest_read_point(), 6);
    }
}
