//! [`Pending`]: a write that is in order, but not yet durable and visible.

use crate::{Region, RegionError, mvcc::Mvcc};
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
    pub fn wait(&self) -> Result<(), RegionError> {
        match &self.wait_for {
            None => Ok(()),
            Some((mvcc, seq)) => mvcc.wait(*seq),
        }
    }
    /// Whether there is nothing to wait for any more. A write that failed is never done.
    pub fn is_done(&self) -> bool {
        self.wait_for.as_ref().is_none_or(|(mvcc, seq)| mvcc.read_point() >= *seq)
    }
    /// Whether a reader of `region` would have to wait for it, if it is not done.
    pub fn is_of(&self, region: &Region) -> bool {
        self.wait_for.as_ref().is_some_and(|(mvcc, _)| Arc::ptr_eq(mvcc, &region.mvcc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_is_what_the_read_point_has_passed_and_a_failed_write_never_is() {
        let mvcc = Mvcc::new();
        let [first, second] = [mvcc.begin().unwrap(), mvcc.begin().unwrap()];
        let pending = [Pending::done(), Pending::new(&mvcc, first), Pending::new(&mvcc, second)];
        let done = || pending.each_ref().map(Pending::is_done);
        mvcc.complete(second);
        assert_eq!(done(), [true, false, false], "the second stands behind the first");
        mvcc.complete(first);
        assert_eq!(done(), [true, true, true]);
        let third = Pending::new(&mvcc, mvcc.begin().unwrap());
        mvcc.fail(&RegionError::Io("disk".into()));
        assert_eq!((third.is_done(), third.wait().unwrap_err().to_string()), (false, "disk".to_owned()));
    }
}
