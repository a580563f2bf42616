//! [`Keeper`]: the thread that keeps the process within `--memory`. What it does and when is in [`budget`].

use crate::settings::Memory;
use crate::{allocator, machine};
use martite_blockcache::{BlockCache, budget};
use martite_hfile::Block;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::thread::JoinHandle;

/// What one core can come to have in a millisecond, about: it clears new pages at that speed and does nothing else.
const GROWTH_BYTES_PER_CORE: u64 = 1 << 20;

/// This process.
struct Process;

impl budget::Memory for Process {
    fn resident_bytes(&self) -> Option<u64> {
        machine::resident_bytes()
    }
    fn release_free(&self) {
        if !allocator::release_free() {
            tracing::debug!("the allocator gives nothing back");
        }
    }
}

#[derive(Default)]
struct Stop {
    asked: Mutex<bool>,
    changed: Condvar,
}

pub struct Keeper {
    stop: Arc<Stop>,
    thread: JoinHandle<()>,
}

impl Keeper {
    pub fn start(memory: Memory, cache: Arc<BlockCache<Block>>) -> std::io::Result<Keeper> {
        let stop = Arc::new(Stop::default());
        let until = stop.clone();
        let run = move || run(memory, &cache, &until);
        let thread = std::thread::Builder::new().name("memory".to_owned()).spawn(run)?;
        Ok(Keeper { stop, thread })
    }

    pub fn stop(self) {
        *self.stop.asked.lock() = true;
        self.stop.changed.notify_all();
        if self.thread.join().is_err() {
            tracing::error!("the thread that keeps the memory panicked");
        }
    }
}

fn run(memory: Memory, cache: &BlockCache<Block>, stop: &Stop) {
    let growth = GROWTH_BYTES_PER_CORE * machine::cores() as u64;
    let mut budget = budget::Budget::new(memory.budget, memory.block_cache, growth);
    while let Some(wait) = budget.look(&Process, cache) {
        let mut asked = stop.asked.lock();
        if !*asked {
            stop.changed.wait_for(&mut asked, wait);
        }
        if *asked {
            return;
        }
    }
    tracing::info!(
        "the system does not tell how much memory is resident: --memory holds for memstores and caches alone"
    );
}
