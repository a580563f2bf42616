//! Nonces: an Increment or Append that a client sends twice is applied once.
//!
//! A client names each such operation by (group, nonce). While the first one runs, a second one waits for it; when it has
//! succeeded, the second one is answered by a read; when it has failed, the second one runs. Names are kept for a grace
//! period after success (HBase: 30 minutes), and come back from the log when a region is opened.

use martite_env::Clock;
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// How long names are kept by default (`hbase.server.hashNonce.gracePeriod`).
pub const GRACE_MS: u64 = 30 * 60 * 1000;

type Key = (u64, u64);

/// The nonces of all regions of a server.
pub struct Nonces {
    clock: Arc<dyn Clock>,
    grace_ms: u64,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    ops: HashMap<Key, Op, foldhash::fast::RandomState>,
    /// Finished ones by the time at which they may be forgotten, roughly in order.
    expiry: VecDeque<(u64, Key)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    Running,
    Done,
}

/// What is known of a nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Started {
    /// It was not seen before, and is running now.
    Fresh,
    /// The same operation is running.
    Running,
    /// The same operation has succeeded.
    Done,
}

/// An operation that runs under a nonce, or without one. Dropped, it counts as failed and may be tried again.
pub(crate) struct NonceRun(Option<(Arc<Nonces>, u64, u64)>);

impl NonceRun {
    pub(crate) fn none() -> NonceRun {
        NonceRun(None)
    }
    pub(crate) fn new(nonces: &Arc<Nonces>, group: u64, nonce: u64) -> NonceRun {
        NonceRun(Some((nonces.clone(), group, nonce)))
    }
    pub(crate) fn group(&self) -> u64 {
        self.0.as_ref().map_or(0, |run| run.1)
    }
    pub(crate) fn nonce(&self) -> u64 {
        self.0.as_ref().map_or(0, |run| run.2)
    }
    pub(crate) fn end(mut self, ok: bool) {
        if let Some((nonces, group, nonce)) = self.0.take() {
            nonces.end(group, nonce, ok);
        }
    }
}

impl Drop for NonceRun {
    fn drop(&mut self) {
        if let Some((nonces, group, nonce)) = self.0.take() {
            nonces.end(group, nonce, false);
        }
    }
}

impl Nonces {
    pub fn new(clock: Arc<dyn Clock>, grace_ms: u64) -> Arc<Nonces> {
        Arc::new(Nonces { clock, grace_ms, state: Mutex::default(), ended: Condvar::new() })
    }

    pub(crate) fn start(&self, group: u64, nonce: u64) -> Started {
        let now = self.clock.now_ms();
        let mut state = self.state.lock();
        state.forget_until(now);
        match state.ops.get(&(group, nonce)) {
            Some(Op::Running) => Started::Running,
            Some(Op::Done) => Started::Done,
            None => {
                state.ops.insert((group, nonce), Op::Running);
                Started::Fresh
            }
        }
    }

    /// The operation ended; after a failure it may be tried again.
    pub(crate) fn end(&self, group: u64, nonce: u64, ok: bool) {
        let now = self.clock.now_ms();
        let mut state = self.state.lock();
        if ok {
            state.done((group, nonce), now + self.grace_ms);
        } else {
            state.ops.remove(&(group, nonce));
        }
        drop(state);
        self.ended.notify_all();
    }

    /// An operation that the log says has succeeded at `write_time_ms`.
    pub(crate) fn report_from_log(&self, group: u64, nonce: u64, write_time_ms: u64) {
        let until = write_time_ms.saturating_add(self.grace_ms);
        if nonce != 0 && until > self.clock.now_ms() {
            self.state.lock().done((group, nonce), until);
        }
    }

    /// Blocks until the operation has ended, but no longer than `at_most`; whether it has.
    pub(crate) fn wait_end(&self, group: u64, nonce: u64, at_most: Duration) -> bool {
        let mut state = self.state.lock();
        let running = |s: &mut State| s.ops.get(&(group, nonce)) == Some(&Op::Running);
        !self.ended.wait_while_for(&mut state, running, at_most).timed_out()
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.state.lock().ops.len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl State {
    fn done(&mut self, key: Key, until: u64) {
        self.ops.insert(key, Op::Done);
        self.expiry.push_back((until, key));
    }

    fn forget_until(&mut self, now: u64) {
        while let Some(&(until, key)) = self.expiry.front() {
            if until > now {
                break;
            }
            self.expiry.pop_front();
            if self.ops.get(&key) == Some(&Op::Done) {
                self.ops.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::ManualClock;

    #[test]
    fn a_nonce_runs_once_and_is_forgotten_after_the_grace_period() {
        let clock = Arc::new(ManualClock::new(1000));
        let nonces = Nonces::new(clock.clone(), 100);
        assert_eq!(nonces.start(1, 2), Started::Fresh);
        assert_eq!(nonces.start(1, 2), Started::Running);
        assert_eq!(nonces.start(2, 2), Started::Fresh, "another group is another operation");
        nonces.end(2, 2, false);
        assert_eq!(nonces.start(2, 2), Started::Fresh, "a failed one may be tried again");
        nonces.end(1, 2, true);
        assert_eq!(nonces.start(1, 2), Started::Done);
        clock.advance_ms(99);
        assert_eq!(nonces.start(1, 2), Started::Done);
        clock.advance_ms(1);
        assert_eq!(nonces.start(1, 2), Started::Fresh);
    }

    #[test]
    fn the_log_brings_nonces_back_unless_they_are_old() {
        let clock = Arc::new(ManualClock::new(1000));
        let nonces = Nonces::new(clock, 100);
        nonces.report_from_log(1, 2, 950);
        nonces.report_from_log(1, 3, 900);
        nonces.report_from_log(1, 0, 950);
        assert_eq!((nonces.start(1, 2), nonces.start(1, 3)), (Started::Done, Started::Fresh));
        assert_eq!(nonces.len(), 2);
    }

    #[test]
    fn waiting_ends_with_the_operation() {
        let nonces = Nonces::new(Arc::new(ManualClock::new(0)), 100);
        nonces.start(1, 1);
        assert!(!nonces.wait_end(1, 1, Duration::ZERO));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| nonces.wait_end(1, 1, Duration::from_secs(60)));
            nonces.end(1, 1, true);
            assert!(waiter.join().unwrap());
        });
        assert_eq!(nonces.start(1, 1), Started::Done);
    }
}
