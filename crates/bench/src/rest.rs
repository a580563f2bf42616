//! [`Rest`]: how much of the processor is left to threads of the lowest priority.
//!
//! Cores that are idle tell less: part of the time in which a core falls asleep and is woken counts as idle, and is not there
//! for work that runs in its place (on a virtual machine, 25 µs instead of 16 were gone for each of 20,000 Gets a second). So
//! a thread for each core does nothing but count, and what it gets is what is left.

use crate::cores::Cores;
use martite_env::thread;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Rounds of the loop between looks at the clocks: some ten microseconds.
const ROUNDS: usize = 1_000;

/// A thread on each core, until it is dropped.
pub struct Rest {
    threads: Vec<(JoinHandle<()>, Arc<Clock>)>,
    stop: Arc<AtomicBool>,
}

#[derive(Default)]
struct Clock {
    cpu_ns: AtomicU64,
    refused: AtomicBool,
}

/// Processor time of all threads at a moment.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    at: Instant,
    cpu: Duration,
}

impl Rest {
    /// On the server's cores, or on all.
    pub fn start(cores: Option<Cores>) -> io::Result<Rest> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut rest = Rest { threads: Vec::new(), stop: stop.clone() };
        for core in crate::cores::servers(cores)? {
            let (clock, stop) = (Arc::new(Clock::default()), stop.clone());
            let shared = clock.clone();
            let run = move || {
                if thread::stand_back().and_then(|()| crate::cores::stay(core)).is_err() {
                    clock.refused.store(true, Ordering::Relaxed);
                    return;
                }
                while !stop.load(Ordering::Relaxed) {
                    (0..ROUNDS).for_each(|_| std::hint::spin_loop());
                    clock.cpu_ns.store(thread::cpu_time().as_nanos() as u64, Ordering::Relaxed);
                }
            };
            rest.threads.push((std::thread::Builder::new().name("rest".to_owned()).spawn(run)?, shared));
        }
        Ok(rest)
    }

    /// What they have had so far. None: the system does not let a thread have the lowest priority.
    pub fn taken(&self) -> Option<Taken> {
        let clocks = self.threads.iter().map(|(_, clock)| clock);
        let each = clocks.map(|c| (!c.refused.load(Ordering::Relaxed)).then(|| c.cpu_ns.load(Ordering::Relaxed)));
        let cpu = each.sum::<Option<u64>>()?;
        Some(Taken { at: Instant::now(), cpu: Duration::from_nanos(cpu) })
    }

    /// The share of the cores that was left between two moments.
    pub fn share(&self, from: Taken, to: Taken) -> f64 {
        let all = (to.at - from.at).as_secs_f64() * self.threads.len() as f64;
        (to.cpu - from.cpu).as_secs_f64() / all.max(1e-9)
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for (thread, _) in self.threads.drain(..) {
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
        let from = rest.taken().unwrap();
        // However little the machine leaves, it is something in the end.
        let to = loop {
            std::thread::yield_now();
            let to = rest.taken().unwrap();
            if to.cpu > from.cpu + Duration::from_millis(1) {
                break to;
            }
        };
        let share = rest.share(from, to);
        assert!(share > 0.0, "{share}");
        let second = Taken { at: from.at + Duration::from_secs(1), cpu: from.cpu + Duration::from_millis(500) };
        assert_eq!(rest.share(from, second), 0.5 / rest.threads.len() as f64);
    }
}
