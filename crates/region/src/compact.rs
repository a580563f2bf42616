//! Compact: asks the stores, and says in the log what they did.

use crate::{Region, RegionError};
use bytes::Bytes;
use martite_store::{CompactionOutcome, CompactionPlan, CompactionRequest, Throttle};

/// A compaction that ran.
#[derive(Debug, Clone)]
pub struct Compacted {
    pub family: Bytes,
    pub outcome: CompactionOutcome,
}

impl Region {
    /// Compacts one family or all, once each; `major` takes all files. Blocking.
    pub fn compact(
        &self,
        family: Option<&[u8]>,
        major: bool,
        throttle: &dyn Throttle,
    ) -> Result<Vec<Compacted>, RegionError> {
        let _ = (family, major, throttle);
        todo!()
    }
    /// Chooses files of one family, for a caller that queues plans.
    pub fn select_compaction(
        &self,
        family: &[u8],
        request: CompactionRequest,
    ) -> Result<Option<CompactionPlan>, RegionError> {
        let _ = (family, request);
        todo!()
    }
    /// Runs a plan of [`Region::select_compaction`].
    pub fn run_compaction(
        &self,
        family: &[u8],
        plan: CompactionPlan,
        throttle: &dyn Throttle,
    ) -> Result<Compacted, RegionError> {
        let _ = (family, plan, throttle);
        todo!()
    }
    /// Whether some store has enough files for a compaction.
    pub fn needs_compaction(&self) -> bool {
        self.stores.iter().any(|(_, store)| store.needs_compaction())
    }
    /// Families that are due for a periodic major compaction.
    pub fn needs_major_compaction(&self) -> Vec<Bytes> {
        todo!()
    }
}
