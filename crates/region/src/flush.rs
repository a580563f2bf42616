//! Flush: memstores become files, and the log can let their edits go.

use crate::{Region, RegionError};
use bytes::Bytes;

/// What a flush did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlushOutcome {
    /// Whether there was something to flush.
    pub flushed: bool,
    /// Sequence id of the flush: everything of the flushed families up to it is in files.
    pub seq_id: u64,
    /// Names of the new files with their family.
    pub files: Vec<(Bytes, String)>,
    /// Some store has enough files for a compaction.
    pub compaction_needed: bool,
    pub wrote_marker: bool,
}

impl Region {
    /// Flushes the given families, or all. `reason` is for the log line. Blocking; one at a time per region.
    pub fn flush(&self, families: Option<&[Bytes]>, reason: &str) -> Result<FlushOutcome, RegionError> {
        let _ = (families, reason);
        todo!()
    }
    /// Whether the memstores are over the flush size.
    pub fn needs_flush(&self) -> bool {
        self.memstore_heap_bytes() > self.settings.flush_size_bytes
    }
}
