//! Batch: many Puts and Deletes, each on its own, written in as few edits as possible.
//!
//! The batch is cut into mini-batches of bounded size. A mini-batch locks its rows, is one edit with one number, and
//! has gone through before the next one begins; so a batch that must stop (a block is not in memory, a row is locked)
//! goes on where it was.

use crate::commit::{EditKey, Part};
use crate::request::{Mutation, MutationKind, Progress};
use crate::row_locks::StripeSet;
use crate::{Pending, Region, RegionError, Written};
use martite_hfile::{BlockSource, Step};
use std::ops::Range;
use std::sync::atomic::Ordering;

impl Region {
    pub(crate) fn write_batch(
        &self,
        mutations: &mut [Mutation],
        progress: &mut Progress,
        src: &dyn BlockSource,
    ) -> Result<Step<Written>, RegionError> {
        if !progress.checked {
            self.check_batch(mutations, progress);
        }
        while progress.next < mutations.len() {
            if let Err(busy) = self.check_resources() {
                settle(&mut progress.ops[progress.next..], &Err(busy));
                break;
            }
            let range = self.mini_batch(mutations, progress);
            let seq =
                ready_or_need!(self.write_mini_batch(&mut mutations[range.clone()], &progress.ops[range.clone()], src));
            progress.seq = seq.or(progress.seq);
            settle(&mut progress.ops[range.clone()], &Ok(()));
            progress.next = range.end;
        }
        let pending = progress.seq.map_or_else(Pending::done, |seq| Pending::new(&self.mvcc, seq));
        let ops = std::mem::take(&mut progress.ops).into_iter().map(|op| op.unwrap_or(Ok(()))).collect();
        Ok(Step::Ready(Written { ops, processed: true, result: None, pending }))
    }

    fn check_batch(&self, mutations: &mut [Mutation], progress: &mut Progress) {
        self.counters.write_requests.fetch_add(mutations.len() as u64, Ordering::Relaxed);
        let now_ms = self.ctx.clock.now_ms();
        progress.ops = mutations
            .iter_mut()
            .map(|m| match m.kind {
                MutationKind::Put | MutationKind::Delete => match self.check_mutation(m, now_ms) {
                    Ok(()) => None,
                    // In a batch HBase answers so: the client must not send the row to this region again.
                    Err(RegionError::WrongRegion(text)) => Some(Err(RegionError::FailedSanityCheck(text))),
                    Err(error) => Some(Err(error)),
                },
                kind => Some(Err(RegionError::DoNotRetry(format!("{kind:?} must be written atomically")))),
            })
            .collect();
        progress.checked = true;
    }

    /// The next mutations that share an edit.
    fn mini_batch(&self, mutations: &[Mutation], progress: &Progress) -> Range<usize> {
        let config = &self.ctx.config;
        let (mut ops, mut bytes, mut end) = (0, 0, progress.next);
        while end < mutations.len() {
            if progress.ops[end].is_none() {
                ops += 1;
                bytes += mutations[end].cells.size_bytes();
                if ops > 1 && (ops > config.mini_batch_ops || bytes > config.mini_batch_bytes) {
                    break;
                }
            }
            end += 1;
        }
        progress.next..end
    }

    /// Writes those mutations that have no result yet. Their number; None if there are none.
    fn write_mini_batch(
        &self,
        mutations: &mut [Mutation],
        results: &[Option<Result<(), RegionError>>],
        src: &dyn BlockSource,
    ) -> Result<Step<Option<u64>>, RegionError> {
        let mut rows = StripeSet::new();
        let open = || (0..results.len()).filter(|&i| results[i].is_none());
        open().for_each(|i| rows.insert(&mutations[i].row));
        let rows = self.locks.lock(&rows, src.may_block()).ok_or(RegionError::WouldBlock)?;
        // The time is read under the locks: a later write of a row has no earlier time, as far as the clock is good.
        let now_ms = self.ctx.clock.now_ms();
        let mut stamps = Vec::new();
        for i in open().filter(|&i| mutations[i].kind == MutationKind::Delete) {
            let read = ready_or_need!(self.read_delete_stamps(&mutations[i], now_ms, src));
            stamps.extend(read.into_iter().map(|(cell, ts)| (i, cell, ts)));
        }
        let updates = self.updates(src.may_block())?;
        // From here on nothing stops the mini-batch but the log.
        for (i, cell, ts) in stamps {
            mutations[i].cells.set_timestamp(cell, ts);
        }
        open().for_each(|i| mutations[i].cells.set_latest_timestamps(now_ms));
        let mutations = &*mutations;
        let parts = open().map(|i| self.part(&mutations[i])).filter(|part| !part.cells.is_empty());
        if parts.clone().next().is_none() {
            return Ok(Step::Ready(None));
        }
        let cluster_ids = mutations.first().map_or(&[][..], |m| &m.cluster_ids);
        let key = EditKey { cluster_ids, now_ms, ..EditKey::default() };
        let committed = self.commit(&updates, parts, &key)?;
        drop((updates, rows));
        Ok(Step::Ready(Some(self.finish(committed))))
    }

    fn part<'a>(&self, m: &'a Mutation) -> Part<'a> {
        Part { cells: &m.cells, durability: m.durability.or(self.settings.durability) }
    }
}

/// Gives the result to those that have none.
fn settle(ops: &mut [Option<Result<(), RegionError>>], result: &Result<(), RegionError>) {
    for op in ops.iter_mut().filter(|op| op.is_none()) {
        *op = Some(result.clone());
    }
}
