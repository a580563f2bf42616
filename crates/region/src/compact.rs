//! Compact: asks the stores, and says in the log what they did.

use crate::{Region, RegionError};
use bytes::Bytes;
use martite_store::{CompactionOutcome, CompactionPlan, CompactionRequest, Throttle};
use std::sync::atomic::{AtomicU64, Ordering};

/// A compaction that ran.
#[derive(Debug, Clone)]
pub struct Compacted {
    pub family: Bytes,
    pub outcome: CompactionOutcome,
}

/// Counts something that runs.
struct Running<'a>(&'a AtomicU64);

impl<'a> Running<'a> {
    fn new(counter: &'a AtomicU64) -> Running<'a> {
        counter.fetch_add(1, Ordering::AcqRel);
        Running(counter)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Stops a compaction when its region closes.
struct WhileOpen<'a> {
    region: &'a Region,
    inner: &'a dyn Throttle,
}

impl Throttle for WhileOpen<'_> {
    fn pause(&self, bytes: u64) -> Result<(), String> {
        if self.region.closing.load(Ordering::Acquire) {
            return Err(format!("{:?} is closing", self.region));
        }
        self.inner.pause(bytes)
    }
    fn run(&self, piece: &mut (dyn FnMut() + Send)) {
        self.inner.run(piece);
    }
    fn ends_piece(&self) -> bool {
        self.inner.ends_piece()
    }
}

impl Region {
    /// Compacts one family or all, each once; `major` takes all files. Blocking.
    pub fn compact(
        &self,
        family: Option<&[u8]>,
        major: bool,
        throttle: &dyn Throttle,
    ) -> Result<Vec<Compacted>, RegionError> {
        if let Some(family) = family {
            self.check_family(family)?;
        }
        let mut done = Vec::new();
        for (name, _) in self.stores.iter().filter(|(name, _)| family.is_none_or(|f| f == name)) {
            let turn = self.ctx.config.off_peak.turn(self.ctx.clock.local_hour());
            let off_peak = turn.is_some();
            let request =
                CompactionRequest { force_major: major, user: major, off_peak, ..CompactionRequest::default() };
            if let Some(plan) = self.select_compaction(name, request)? {
                // Others may have it if this one makes no use of it.
                let _turn = turn.filter(|_| plan.off_peak);
                done.push(self.run_compaction(name, plan, throttle)?);
            }
        }
        Ok(done)
    }

    /// Chooses files of one family, for a caller that queues plans. The time of the request is filled in.
    pub fn select_compaction(
        &self,
        family: &[u8],
        request: CompactionRequest,
    ) -> Result<Option<CompactionPlan>, RegionError> {
        let _operation = self.start_operation()?;
        let store = &self.stores[self.check_family(family)?].1;
        Ok(store.select_compaction(CompactionRequest { now_ms: self.ctx.clock.now_ms(), ..request }))
    }

    /// Runs a plan of [`Region::select_compaction`]. A region that closes stops it.
    pub fn run_compaction(
        &self,
        family: &[u8],
        plan: CompactionPlan,
        throttle: &dyn Throttle,
    ) -> Result<Compacted, RegionError> {
        let _operation = self.start_operation()?;
        let (name, store) = &self.stores[self.check_family(family)?];
        let _running = Running::new(&self.counters.compactions_running);
        let _major = plan.major.then(|| Running::new(&self.counters.major_compactions_running));
        let now_ms = self.ctx.clock.now_ms();
        let throttle = WhileOpen { region: self, inner: throttle };
        let outcome = store.run_compaction(plan, self.mvcc.smallest_read_point(), now_ms, &throttle);
        let outcome = outcome.map_err(|error| self.tell(error))?;
        if outcome.major {
            self.counters.last_major_compaction_ms.fetch_max(now_ms, Ordering::Relaxed);
        }
        // The files say it themselves; the marker is for those who read logs.
        self.mark_compaction(name, &outcome)?;
        Ok(Compacted { family: name.clone(), outcome })
    }

    /// Whether some store has enough files for a compaction.
    pub fn needs_compaction(&self) -> bool {
        self.stores.iter().any(|(_, store)| store.needs_compaction())
    }

    /// The greatest [`martite_store::Store::compaction_pressure`] of its stores.
    pub fn compaction_pressure(&self) -> f64 {
        self.stores.iter().map(|(_, store)| store.compaction_pressure()).fold(0.0, f64::max)
    }

    /// Whether a store has `hbase.hstore.blockingStoreFiles` and compactions may make them fewer.
    pub fn has_too_many_files(&self) -> bool {
        self.table.is_compaction_enabled() && self.stores.iter().any(|(_, store)| store.compaction_priority() <= 0)
    }

    /// Families that are due for a periodic major compaction.
    pub fn needs_major_compaction(&self) -> Vec<Bytes> {
        let now_ms = self.ctx.clock.now_ms();
        let due = self.stores.iter().filter(|(_, store)| store.needs_major_compaction(now_ms));
        due.map(|(name, _)| name.clone()).collect()
    }

    /// Archives inputs of compactions that nobody reads any more; called now and then. How many.
    pub fn archive_compacted(&self) -> Result<usize, RegionError> {
        let _operation = self.start_operation()?;
        let now_ms = self.ctx.clock.now_ms();
        self.stores.iter().try_fold(0, |sum, (_, store)| Ok(sum + store.archive_compacted(now_ms)?))
    }
}
