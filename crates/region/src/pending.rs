//! [`Pending`]: a write that is in order, but not yet durable and visible.

use crate::{RegionError, mvcc::Mvcc};
use std::sync::Arc;

/// Done once the log says what the durability asks for, and the region's read point has passed the write. Dropping it
/// loses only the news: the write goes on.
#[derive(Debug)]
#[must_use = "a write may be acknowledged only when it is done"]
pub struct Pending {
    wait_for: Option<(Arc<Mvcc>, u64)>,
}

impl Pending {
    /// Nothing to wait for.
    pub fn done() -> Pending {
        Pending { wait_for: None }
    }
    pub(crate) fn new(mvcc: &Arc<Mvcc>, seq: u64) -> Pending {
        Pending { wait_for: Some((mvcc.clone(), seq)) }
    }
    /// Calls `f` once: here if the write is done already, else on the thread that makes it visible, usually the log's.
    /// It must not block, nor wait for another write.
    pub fn on_done(self, f: impl FnOnce(Result<(), RegionError>) + Send + 'static) {
        match self.wait_for {
            None => f(Ok(())),
            Some((mvcc, seq)) => mvcc.when_visible(seq, Box::new(f)),
        }
    }
    /// Blocks until the write is done.
    pub fn wait(self) -> Result<(), RegionError> {
        match self.wait_for {
            None => Ok(()),
            Some((mvcc, seq)) => mvcc.wait(seq),
        }
    }
}
