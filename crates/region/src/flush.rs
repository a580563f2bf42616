//! Flush: memstores become files, and the log can let their edits go.
//!
//! ```text
//!  updates locked   number n, START_FLUSH in the log, memstores frozen: they hold edits below n and no others
//!  unlocked         wait until n is visible: all that is frozen is durable in the log
//!  per family       write .tmp/<family>/<file>, then move it: it says "edits up to n"
//!  at the end       COMMIT_FLUSH in the log, old log files can go
//! ```
//!
//! A crash at any point loses nothing: the edits are in the log until the files are in their place, and replay skips
//! what a family's files hold. After an error the frozen part stays readable, and the next flush writes it first, under
//! the number that it was frozen with: what came later is not in that file.

use crate::markers::FlushedFiles;
use crate::{Region, RegionError};
use bytes::Bytes;
use martite_proto::flush_descriptor::FlushAction;
use martite_store::{FlushTicket, FlushedFile, Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a flush did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlushOutcome {
    /// Whether there was something to flush.
    pub flushed: bool,
    /// Number of the flush: everything of the flushed families below it is in files.
    pub seq_id: u64,
    /// Names of the new files with their family.
    pub files: Vec<(Bytes, String)>,
    pub cells: u64,
    pub size_bytes: u64,
    /// Some store has enough files for a compaction.
    pub compaction_needed: bool,
}

/// A region counts as one that is read if it was for every so many cells that are flushed.
const CELLS_A_READ: u64 = 100;

/// A frozen memstore with its family and store.
type Frozen = (Bytes, Arc<Store>, FlushTicket);

/// New files by family; or an error, with the families that were committed before it.
type Written = Result<Vec<(Bytes, FlushedFile)>, (RegionError, Vec<Bytes>)>;

/// The frozen memstores of a flush.
struct Prepared {
    seq: u64,
    /// Number of the START_FLUSH marker.
    marker: u64,
    /// Everything below it is in files once this flush is done.
    complete_seq: u64,
    frozen: Vec<Frozen>,
}

impl Region {
    /// Flushes the given families, or all. Blocking; one at a time per region. `reason` goes into the server's own log.
    pub fn flush(&self, families: Option<&[Bytes]>, reason: &str) -> Result<FlushOutcome, RegionError> {
        let _operation = self.start_operation()?;
        self.flush_stores(families, reason)
    }

    /// [`Region::flush`] for a region that may be closing.
    pub(crate) fn flush_stores(&self, families: Option<&[Bytes]>, reason: &str) -> Result<FlushOutcome, RegionError> {
        let _one = self.flushing.lock();
        // What is written from now on asks anew.
        self.flush_wanted.store(false, Ordering::Release);
        let families = match families {
            Some(names) => names.to_vec(),
            None => self.wal_families.clone(),
        };
        families.iter().try_for_each(|family| self.check_family(family).map(drop))?;
        self.write_left_over()?;
        let Some(prepared) = self.freeze(&families)? else {
            return Ok(FlushOutcome { seq_id: self.mvcc.last(), ..FlushOutcome::default() });
        };
        let outcome = self.write_frozen(prepared, &families)?;
        self.account_memstore();
        self.counters.reads_at_flush.store(self.counters.read_requests.load(Ordering::Relaxed), Ordering::Relaxed);
        self.counters.last_flush_ms.store(self.ctx.clock.now_ms(), Ordering::Relaxed);
        self.counters.data_without_wal_bytes.store(0, Ordering::Relaxed);
        tracing::info!(region = %self.info.encoded_name(), reason, seq = outcome.seq_id, cells = outcome.cells,
            bytes = outcome.size_bytes, "flushed");
        if let Some(events) = &self.ctx.events {
            events.flushed(self);
        }
        Ok(outcome)
    }

    /// Writes what flushes that failed have left frozen. The log keeps its edits until the flush that follows.
    fn write_left_over(&self) -> Result<(), RegionError> {
        for at in 0..self.stores.len() {
            let Some(seq) = self.left_frozen.lock()[at] else { continue };
            let (name, store) = &self.stores[at];
            let frozen = vec![(name.clone(), store.clone(), self.freeze_store(store))];
            self.write_files(seq, frozen).map_err(|(error, _)| error)?;
            self.left_frozen.lock()[at] = None;
        }
        Ok(())
    }

    fn freeze_store(&self, store: &Store) -> FlushTicket {
        let ticket = store.prepare_flush();
        let counters = &self.counters;
        let reads = counters.read_requests.load(Ordering::Relaxed) - counters.reads_at_flush.load(Ordering::Relaxed);
        FlushTicket { is_read: reads * CELLS_A_READ >= ticket.cells, ..ticket }
    }

    /// Freezes the memstores; None if they are empty.
    fn freeze(&self, families: &[Bytes]) -> Result<Option<Prepared>, RegionError> {
        let _no_writes = self.updates.write();
        let chosen = || self.stores.iter().filter(|(name, _)| families.contains(name));
        if chosen().all(|(_, store)| store.memstore().cell_count() == 0) {
            return Ok(None);
        }
        let (seq, _) = self.append(None)?;
        self.mvcc.complete(seq);
        let planned: FlushedFiles = chosen().map(|(name, _)| (name.clone(), Vec::new())).collect();
        let marker = self.mark_flush(FlushAction::StartFlush, seq, &planned)?;
        let others = self.ctx.wal.start_flush(&self.wal_name, families);
        let frozen = chosen().map(|(name, store)| (name.clone(), store.clone(), self.freeze_store(store))).collect();
        Ok(Some(Prepared { seq, marker, complete_seq: others.map_or(seq, |lowest| lowest.saturating_sub(1)), frozen }))
    }

    /// Writes and commits what is frozen.
    fn write_frozen(&self, prepared: Prepared, families: &[Bytes]) -> Result<FlushOutcome, RegionError> {
        let Prepared { seq, marker, complete_seq, frozen } = prepared;
        let written = match self.write_durable(seq, marker, frozen) {
            Ok(written) => written,
            Err((error, done)) => {
                self.give_up(seq, families, &done);
                return Err(error);
            }
        };
        let mut outcome = FlushOutcome { flushed: true, seq_id: seq, ..FlushOutcome::default() };
        let mut names: FlushedFiles = Vec::new();
        for (family, file) in written {
            let name = file.path.as_ref().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned());
            outcome.cells += file.cells;
            outcome.size_bytes += file.size_bytes;
            outcome.files.extend(name.clone().map(|name| (family.clone(), name)));
            names.push((family, name.into_iter().collect()));
        }
        let commit = self.mark_flush(FlushAction::CommitFlush, seq, &names)?;
        self.mvcc.wait(commit)?;
        if let Err(error) = self.ctx.wal.complete_flush(&self.wal_name, families) {
            // The flush itself is done; old log files stay until the next one.
            tracing::warn!(region = %self.info.encoded_name(), %error, "old logs could not be archived");
        }
        self.counters.flushed_seq.fetch_max(complete_seq, Ordering::AcqRel);
        outcome.compaction_needed = self.needs_compaction();
        Ok(outcome)
    }

    /// Waits until what is frozen is durable in the log, then writes it.
    fn write_durable(&self, seq: u64, marker: u64, frozen: Vec<Frozen>) -> Written {
        if let Err(error) = self.mvcc.wait(marker) {
            frozen.into_iter().for_each(|(_, store, ticket)| store.abort_flush(ticket, None));
            return Err((error, Vec::new()));
        }
        self.write_files(seq, frozen)
    }

    /// Writes all files before the first one is moved to its place. The error comes with the families that are done.
    fn write_files(&self, seq: u64, frozen: Vec<Frozen>) -> Written {
        let now_ms = self.ctx.clock.now_ms();
        let smallest_read_point = self.mvcc.smallest_read_point();
        let mut tmp = Vec::with_capacity(frozen.len());
        let mut frozen = frozen.into_iter();
        while let Some((family, store, ticket)) = frozen.next() {
            match store.flush_to_tmp(&ticket, seq, smallest_read_point, now_ms) {
                Ok(file) => tmp.push((family, store, ticket, file)),
                Err(error) => {
                    store.abort_flush(ticket, None);
                    frozen.for_each(|(_, store, ticket)| store.abort_flush(ticket, None));
                    tmp.into_iter().for_each(|(_, store, ticket, file)| store.abort_flush(ticket, Some(file)));
                    return Err((self.tell(error), Vec::new()));
                }
            }
        }
        let mut done = Vec::with_capacity(tmp.len());
        let mut tmp = tmp.into_iter();
        while let Some((family, store, ticket, file)) = tmp.next() {
            match store.commit_flush(ticket, file) {
                Ok(file) => done.push((family, file)),
                Err(error) => {
                    tmp.for_each(|(_, store, ticket, file)| store.abort_flush(ticket, Some(file)));
                    return Err((self.tell(error), done.into_iter().map(|(family, _)| family).collect()));
                }
            }
        }
        Ok(done)
    }

    /// The error, of which the server hears if it must stop.
    pub(crate) fn tell(&self, error: StoreError) -> RegionError {
        let error = RegionError::from(error);
        if let Some(events) = self.ctx.events.as_ref().filter(|_| error.must_stop()) {
            events.must_stop(&error);
        }
        error
    }

    /// Tells the log that these families are not flushed after all; `done` are, though.
    fn give_up(&self, seq: u64, families: &[Bytes], done: &[Bytes]) {
        let failed: Vec<Bytes> = families.iter().filter(|f| !done.contains(f)).cloned().collect();
        let names = failed.iter().map(|family| (family.clone(), Vec::new())).collect();
        // The log may be what failed.
        if let Err(error) = self.mark_flush(FlushAction::AbortFlush, seq, &names) {
            tracing::warn!(region = %self.info.encoded_name(), %error, "the failed flush is not marked in the log");
        }
        self.ctx.wal.abort_flush(&self.wal_name, &failed);
        let mut left_frozen = self.left_frozen.lock();
        for at in failed.iter().filter_map(|family| self.store_index(family)) {
            left_frozen[at] = Some(seq);
        }
        drop(left_frozen);
        if !done.is_empty()
            && let Err(error) = self.ctx.wal.complete_flush(&self.wal_name, done)
        {
            tracing::warn!(region = %self.info.encoded_name(), %error, "old logs could not be archived");
        }
        self.account_memstore();
    }

    /// Flushes what was replayed, up to `seq`: the log has nothing to do with it.
    pub(crate) fn flush_replayed(&self, seq: u64) -> Result<(), RegionError> {
        let frozen = self
            .stores
            .iter()
            .filter(|(_, store)| store.memstore().cell_count() > 0)
            .map(|(name, store)| (name.clone(), store.clone(), store.prepare_flush()))
            .collect();
        // Nobody reads yet, and everything replayed is to be seen.
        self.mvcc.advance_to(seq);
        self.write_files(seq, frozen).map_err(|(error, _)| error)?;
        self.account_memstore();
        Ok(())
    }

    /// Whether the memstores are over the flush size.
    pub fn needs_flush(&self) -> bool {
        self.memstore_heap_bytes() > self.settings.flush_size_bytes
    }

    /// Whether an edit has been in memory for longer than the configuration allows.
    pub fn needs_periodic_flush(&self) -> bool {
        let period_ms = self.ctx.config.periodic_flush_ms;
        let oldest = self.stores.iter().filter_map(|(_, store)| store.memstore().oldest_edit_ms()).min();
        period_ms > 0 && oldest.is_some_and(|oldest| oldest.saturating_add(period_ms) < self.ctx.clock.now_ms())
    }

    /// The families that a flush for lack of room should take (HBase: FlushAllLargeStoresPolicy): those that are large
    /// for their number, None for all.
    pub fn large_families(&self) -> Option<Vec<Bytes>> {
        let share = self.settings.flush_size_bytes / self.stores.len() as u64;
        let large = share.max(self.ctx.config.family_flush_min_bytes);
        let chosen: Vec<Bytes> = self
            .stores
            .iter()
            .filter(|(_, store)| store.memstore().heap_size() >= large)
            .map(|(name, _)| name.clone())
            .collect();
        Some(chosen).filter(|chosen| !chosen.is_empty() && chosen.len() < self.stores.len())
    }
}
