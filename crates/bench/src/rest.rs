//! [`Rest`]: how much of the processor is left to threads of the lowest priority.
//!
//! Cores that are idle tell less: part of the time in which a core falls asleep and is woken counts as idle, and is not there
//! for work that runs in its place (on a virtual machine, 24 µs instead of 16 were gone for each of 20,000 Gets a second). So
//! a thread for each core looks again and again whether it is to end, and what it gets is what is left. It makes no system
//! calls meanwhile: a thread that is in the kernel anyway makes room for less (19 µs there).

use crate::Error;
use crate::cores::Cores;
use martite_env::thread;
use rustix::thread::gettid;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A thread on each core, until it is dropped.
pub struct Rest {
    threads: Vec<JoinHandle<()>>,
    /// What Linux tells of each thread that has the lowest priority.
    clocks: Vec<PathBuf>,
    stop: Arc<AtomicBool>,
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
        let mut rest = Rest { threads: Vec::new(), clocks: Vec::new(), stop: Arc::default() };
        for core in crate::cores::servers(cores)? {
            let stop = rest.stop.clone();
            let (ready, begun) = mpsc::channel();
            let run = move || {
                let prepared = thread::stand_back().and_then(|()| crate::cores::stay(core));
                let runs = prepared.is_ok();
                // The other side waits for it.
                let _ = ready.send(prepared.map(|()| gettid()));
                while runs && !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            rest.threads.push(std::thread::Builder::new().name("rest".to_owned()).spawn(run)?);
            let thread = begun.recv().map_err(io::Error::other)??;
            rest.clocks.push(format!("/proc/self/task/{}/schedstat", thread.as_raw_nonzero()).into());
        }
        Ok(rest)
    }

    /// What they have had so far.
    pub fn taken(&self) -> Result<Taken, Error> {
        let mut cpu = Duration::ZERO;
        for path in &self.clocks {
            let text = std::fs::read_to_string(path).map_err(Error::file(path))?;
            // Nanoseconds on the processor come first.
            let ns = text.split(' ').next().and_then(|word| word.parse().ok());
            cpu += ns.map(Duration::from_nanos).ok_or_else(|| Error::Setup(format!("{}: no time", path.display())))?;
        }
        Ok(Taken { at: Instant::now(), cpu })
    }

    /// The share of the cores that was left between two moments.
    pub fn share(&self, from: Taken, to: Taken) -> f64 {
        let all = (to.at - from.at).as_secs_f64() * self.threads.len() as f64;
        to.cpu.saturating_sub(from.cpu).as_secs_f64() / all.max(1e-9)
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
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
