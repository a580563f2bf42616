//! [`MethodTimes`]: how long calls took, by method.

use std::time::Duration;

use martite_metrics::{CallSnapshot, CallTimes, Waits};

/// The methods that have times of their own, and one place more for all others.
#[derive(Debug)]
pub(crate) struct MethodTimes {
    names: &'static [&'static str],
    times: Box<[CallTimes]>,
}

impl MethodTimes {
    pub fn new(names: &'static [&'static str]) -> MethodTimes {
        MethodTimes { names, times: (0..=names.len()).map(|_| CallTimes::default()).collect() }
    }

    pub fn place(&self, method: &str) -> usize {
        self.names.iter().position(|name| *name == method).unwrap_or(self.others())
    }

    /// The place of methods that have none of their own.
    pub fn others(&self) -> usize {
        self.names.len()
    }

    #[inline]
    pub fn record(&self, place: usize, total: Duration, waits: Waits) {
        if let Some(times) = self.times.get(place) {
            times.record(total, waits);
        }
    }

    pub fn snapshots(&self) -> Vec<(&'static str, CallSnapshot)> {
        let names = self.names.iter().copied().chain([""]);
        names.zip(self.times.iter().map(CallTimes::snapshot)).collect()
    }
}
