//! [`Hop`]: a network thread that others keep waiting goes to a processor that a thread which stands back has for itself.
//!
//! ```text
//! the scan thread:     had its processor for most of LOOK ──▶ tells which one ([`Behind`])
//! the network thread:  waited for WAITED of its window    ──▶ goes there, and may be anywhere afterwards
//! ```
//! The system wakes a client where the network thread runs that answers it, unless it finds a processor that is idle, for which it
//! looks only while the machine is not full: scans make it full. In traces, network thread and client took turns on one processor for
//! 0.2 to 0.3 s at a time while a scan had the other, and waited for each other, often for more than 0.1 ms (docs/benchmarks-log.md,
//! "Beside scans").

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use martite_env::thread::{self, RunDelay};

use crate::balance::WINDOW;
use crate::pool::Pool;

/// One part in so many of a window.
const WAITED: u32 = 20;
/// Over how long it is seen whether a thread that stands back has its processor.
const LOOK: Duration = Duration::from_millis(1);
/// For how long it then is taken to have it: who comes once the system has moved others there is in their way.
const FRESH: Duration = Duration::from_millis(2);
/// How many bits of a word tell a processor.
const PROCESSOR_BITS: u32 = 16;

/// A processor that a thread which stands back has for itself.
#[derive(Debug)]
pub(crate) struct Behind {
    origin: Instant,
    /// In microseconds, and which one: 0 for none.
    seen: AtomicU64,
}

thread_local! {
    /// When it was last looked, and the processor's time that the thread had had then.
    static LOOKED: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

impl Behind {
    pub fn new() -> Behind {
        Behind { origin: Instant::now(), seen: AtomicU64::new(0) }
    }

    /// By a thread that stands back, often.
    pub fn review(&self, now: Instant) {
        let Some((at, before)) = LOOKED.get() else { return LOOKED.set(Some((now, thread::cpu_time()))) };
        let wall = now.saturating_duration_since(at);
        if wall < LOOK {
            return;
        }
        let cpu = thread::cpu_time();
        LOOKED.set(Some((now, cpu)));
        let had = cpu.saturating_sub(before);
        if had * 4 >= wall * 3 {
            self.note(now, thread::processor());
        }
    }

    fn note(&self, now: Instant, processor: Option<usize>) {
        if let Some(processor) = processor.filter(|processor| processor >> PROCESSOR_BITS == 0) {
            self.seen.store(self.micros(now) << PROCESSOR_BITS | processor as u64, Relaxed);
        }
    }

    /// For one who is elsewhere; nobody else goes there then.
    fn take(&self, now: Instant, mine: usize) -> Option<usize> {
        let seen = self.seen.load(Relaxed);
        let (at, processor) = (seen >> PROCESSOR_BITS, (seen & ((1 << PROCESSOR_BITS) - 1)) as usize);
        let is_fresh = at > 0 && self.micros(now).saturating_sub(at) < FRESH.as_micros() as u64;
        let takes = is_fresh && processor != mine;
        (takes && self.seen.compare_exchange(seen, 0, Relaxed, Relaxed).is_ok()).then_some(processor)
    }

    fn micros(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.origin).as_micros() as u64
    }
}

/// Of one network thread.
#[derive(Debug)]
pub(crate) struct Hop {
    /// None: not known on this system.
    delay: Option<RunDelay>,
    /// The window under way: its beginning, and for how long the thread had waited until then.
    began: Instant,
    waited: Duration,
}

impl Hop {
    /// Of the calling thread.
    pub fn new(now: Instant) -> Hop {
        let delay = RunDelay::open().inspect_err(|e| tracing::debug!("network threads stay where they are: {e}"));
        Hop { delay: delay.ok(), began: now, waited: Duration::ZERO }
    }

    /// Often. `pool`: whose threads may stand back.
    pub fn review(&mut self, now: Instant, pool: impl FnOnce() -> Option<Arc<Pool>>) {
        if now.saturating_duration_since(self.began) < WINDOW {
            return;
        }
        let Some(Ok(waited)) = self.delay.as_ref().map(RunDelay::read) else { return };
        if !self.is_kept_waiting(now, waited) {
            return;
        }
        let Some(pool) = pool() else { return };
        if let Some(to) = thread::processor().and_then(|mine| pool.behind().take(now, mine)) {
            match thread::go_to(to) {
                Ok(()) => tracing::trace!(processor = to, "a network thread goes where work of little weight was"),
                Err(e) => tracing::debug!("a network thread stays where it is: {e}"),
            }
        }
    }

    /// In the window that ends; until now it has waited for so long.
    fn is_kept_waiting(&mut self, now: Instant, waited: Duration) -> bool {
        let window = now.saturating_duration_since(self.began);
        let of_window = waited.saturating_sub(self.waited);
        (self.began, self.waited) = (now, waited);
        of_window * WAITED >= window
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::pool::PoolOptions;

    #[test]
    fn one_goes_where_another_has_a_processor_of_late() {
        let (behind, now) = (Behind::new(), Instant::now() + Duration::from_millis(1));
        assert_eq!(behind.take(now, 0), None);
        behind.note(now, Some(3));
        assert_eq!(behind.take(now, 3), None, "it is there");
        assert_eq!(behind.take(now + FRESH, 0), None, "that was long ago");
        assert_eq!(behind.take(now + FRESH - Duration::from_micros(1), 0), Some(3));
        assert_eq!(behind.take(now, 0), None, "somebody went there");
        behind.note(now, Some(1 << PROCESSOR_BITS));
        behind.note(now, None);
        assert_eq!(behind.take(now, 0), None);
    }

    #[test]
    fn who_has_a_processor_for_itself_tells_which() {
        let behind = Behind::new();
        // Of a thread that had next to nothing of the time that went by, nothing is told.
        let mut later = Duration::ZERO;
        for _ in 0..3 {
            later += 100 * LOOK;
            behind.review(Instant::now() + later);
        }
        assert_eq!(behind.seen.load(Relaxed), 0);
        // One that works has a processor for most of a millisecond, sooner or later.
        while behind.seen.load(Relaxed) == 0 {
            behind.review(Instant::now() + later);
        }
        let processor = (behind.seen.load(Relaxed) & ((1 << PROCESSOR_BITS) - 1)) as usize;
        assert!(thread::processors().unwrap().contains(&processor));
    }

    #[test]
    fn to_wait_for_a_part_of_a_window_is_to_be_kept_waiting() {
        let mut hop = Hop::new(Instant::now());
        let (mut now, mut all) = (hop.began, Duration::ZERO);
        let mut waits = |part: Duration| {
            (now, all) = (now + WINDOW, all + part);
            hop.is_kept_waiting(now, all)
        };
        let enough = WINDOW / WAITED;
        assert!(waits(enough) && !waits(Duration::ZERO) && !waits(enough - Duration::from_nanos(1)) && waits(WINDOW));
    }

    #[test]
    fn one_who_is_kept_waiting_goes_elsewhere_and_may_be_anywhere_afterwards() {
        let (pool, all) = (Pool::new(PoolOptions::new(2)).unwrap(), thread::processors().unwrap());
        let mut hop = Hop::new(Instant::now());
        if hop.delay.is_none() {
            return;
        }
        let enough = std::sync::atomic::AtomicBool::new(false);
        let is_taken = || pool.behind().seen.load(Relaxed) == 0;
        std::thread::scope(|scope| {
            // More threads than processors: one of them has to wait.
            for _ in 0..2 * all.len() {
                scope.spawn(|| {
                    while !enough.load(Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let other = |mine: usize| all.iter().copied().find(|processor| *processor != mine);
            loop {
                let now = Instant::now();
                // On a machine with one processor, one that is not there: it stays.
                let there = thread::processor().map(|mine| other(mine).unwrap_or(mine + 1));
                pool.behind().note(now, there);
                hop.review(now, || Some(pool.clone()));
                if is_taken() {
                    break;
                }
            }
            enough.store(true, Relaxed);
        });
        assert_eq!(thread::processors().unwrap(), all);
    }
}
