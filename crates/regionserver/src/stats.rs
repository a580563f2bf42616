//! Counters of the server's calls.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn hit(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub struct Stats {
    pub get: Counter,
    pub mutate: Counter,
    pub multi: Counter,
    pub scan: Counter,
    pub exec_service: Counter,
}

impl Stats {
    /// Calls to ClientService since the start.
    pub fn requests(&self) -> u64 {
        self.get.get() + self.mutate.get() + self.multi.get() + self.scan.get() + self.exec_service.get()
    }
}
