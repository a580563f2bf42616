//! Close a region.

use crate::{Region, RegionError, seq_file};
use martite_proto::region_event_descriptor::EventType;
use std::sync::atomic::Ordering;

/// Memstores larger than this are flushed while the region still serves, so that the closing itself is short.
const PRE_FLUSH_BYTES: u64 = 5 << 20;

impl Region {
    /// Stops operations (those that run are waited for), flushes unless `abort`, and marks the closing in the log.
    /// Scanners that are open find NotServing at their next call. Closing twice is closing once; after an error the
    /// region does not serve, and a close can be tried again.
    pub fn close(&self, abort: bool) -> Result<(), RegionError> {
        if !abort && !self.closing.load(Ordering::Acquire) && self.memstore_heap_bytes() > PRE_FLUSH_BYTES {
            self.flush(None, "before close")?;
        }
        self.closing.store(true, Ordering::Release);
        let _last = self.life.write();
        if self.is_closed() {
            return Ok(());
        }
        if !abort {
            self.finish_up()?;
        }
        self.forget_memstore();
        self.closed.store(true, Ordering::Release);
        tracing::info!(region = %self.info.encoded_name(), abort, "closed");
        Ok(())
    }

    /// Brings everything into files, and says so in the log.
    fn finish_up(&self) -> Result<(), RegionError> {
        // Also what was put back by a flush that failed.
        self.flush_stores(None, "close")?;
        self.mvcc.wait(self.mvcc.last())?;
        self.mark_event(EventType::RegionClose, self.mvcc.read_point())?;
        seq_file::write(&*self.ctx.fs, &self.dir, self.mvcc.last())?;
        if let Err(error) = self.ctx.wal.close_region(&self.wal_name) {
            tracing::warn!(region = %self.info.encoded_name(), %error, "old logs could not be archived");
        }
        Ok(())
    }
}
