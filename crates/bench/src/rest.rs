//! [`Rest`]: how much of the processor is left to threads of the lowest priority.
//!
//! ```text
//! clock   | | | | | |          | | | |      | | | | |     a thread for each core reads it again and again
//! is left └────────┘           └─────┘      └───────┘     but for the gaps, in which it did nothing
//! ```
//! Cores that are idle tell less: part of the time in which a core falls asleep and is woken counts as idle, and is not there
//! for work that runs in its place (on a virtual machine, 24 µs instead of 16 were gone for each of 20,000 Gets a second). Nor is it
//! the processor's time that Linux says such a thread had: of the same three seconds that was 0.330 of a core, where the thread went on
//! without a gap for 0.374 (docs/benchmarks-log.md, "Limits"). It makes no system calls meanwhile, for a thread that is in the kernel anyway
//! makes room for less (19 µs there), and no `pause`, of which a virtual machine may make more than a pause.

use crate::cores::Cores;
use martite_env::thread;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Between two looks at the clock a thread that nobody interrupts needs less, and an interrupt takes more.
const GAP: Duration = Duration::from_nanos(500);

/// A thread on each core, until it is dropped.
pub struct Rest {
    threads: Vec<JoinHandle<()>>,
    clocks: Vec<Arc<Clock>>,
    stop: Arc<AtomicBool>,
}

/// What one thread has had so far, in nanoseconds; written by it alone.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Clock(AtomicU64);

/// What all threads have had at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    at: Instant,
    time: Duration,
}

impl Rest {
    /// On the server's cores, or on all.
    pub fn start(cores: Option<Cores>) -> io::Result<Rest> {
        let mut rest = Rest { threads: Vec::new(), clocks: Vec::new(), stop: Arc::default() };
        for core in crate::cores::servers(cores)? {
            let (clock, stop) = (Arc::<Clock>::default(), rest.stop.clone());
            rest.clocks.push(clock.clone());
            let (ready, begun) = mpsc::channel();
            let run = move || {
                let prepared = thread::stand_back().and_then(|()| crate::cores::stay(core));
                let runs = prepared.is_ok();
                // The other side waits for it.
                let _ = ready.send(prepared);
                if runs {
                    clock.run(&stop);
                }
            };
            rest.threads.push(std::thread::Builder::new().name("rest".to_owned()).spawn(run)?);
            begun.recv().map_err(io::Error::other)??;
        }
        Ok(rest)
    }

    pub fn taken(&self) -> Taken {
        let ns = self.clocks.iter().map(|clock| clock.0.load(Relaxed)).sum();
        Taken { at: Instant::now(), time: Duration::from_nanos(ns) }
    }

    /// The share of the cores that was left between two moments.
    pub fn share(&self, from: Taken, to: Taken) -> f64 {
        let all = (to.at - from.at).as_secs_f64() * self.threads.len() as f64;
        to.time.saturating_sub(from.time).as_secs_f64() / all.max(1e-9)
    }
}

impl Clock {
    fn run(&self, stop: &AtomicBool) {
        let mut before = Instant::now();
        while !stop.load(Relaxed) {
            let now = Instant::now();
            self.add(now - before);
            before = now;
        }
    }

    /// Between two looks.
    fn add(&self, passed: Duration) {
        if passed < GAP {
            self.0.store(self.0.load(Relaxed) + passed.as_nanos() as u64, Relaxed);
        }
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_a_share_of_the_cores() {
        let rest = Rest::start(None).unwrap();
        let from = rest.taken();
        // However little the machine leaves, it is something in the end.
        let to = loop {
            std::thread::yield_now();
            let to = rest.taken();
            if to.time > from.time + Duration::from_millis(1) {
                break to;
            }
        };
        let share = rest.share(from, to);
        assert!(share > 0.0, "{share}");
        let second = Taken { at: from.at + Duration::from_secs(1), time: from.time + Duration::from_millis(500) };
        assert_eq!(rest.share(from, second), 0.5 / rest.threads.len() as f64);
    }

    #[test]
    fn interrupts_are_not_left() {
        let clock = Clock::default();
        [30, 40, 12_000, 499, 500].into_iter().for_each(|ns| clock.add(Duration::from_nanos(ns)));
        assert_eq!(clock.0.load(Relaxed), 30 + 40 + 499);
    }
}
