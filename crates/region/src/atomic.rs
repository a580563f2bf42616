//! Atomic: all mutations or none, in one edit, if the conditions hold.
//!
//! Everything that is read (conditions, versions to delete, values to add to) is what the rows held before: mutations
//! of one write do not see each other. Among cells with the same key the later mutation's counts.

use crate::commit::{EditKey, Part};
use crate::condition::Judged;
use crate::nonce::{NonceRun, Started};
use crate::request::{Condition, Mutation, MutationKind};
use crate::row_locks::StripeSet;
use crate::{Pending, Region, RegionError, Written};
use martite_cell::CellBuf;
use martite_hfile::{BlockSource, Step};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long an operation waits for the one that it repeats, and how often.
const NONCE_WAIT: Duration = Duration::from_secs(30);
const NONCE_WAITS: u32 = 4;

impl Region {
    pub(crate) fn write_atomic(
        &self,
        mutations: &mut [Mutation],
        conditions: &[Condition],
        nonce_group: u64,
        checked: &mut bool,
        src: &dyn BlockSource,
    ) -> Result<Step<Written>, RegionError> {
        if !*checked {
            self.check_atomic(mutations, conditions)?;
            *checked = true;
        }
        self.check_resources()?;
        let nonce = mutations.iter().map(|m| m.nonce).find(|n| *n != 0).unwrap_or(0);
        let run = match self.start_nonce(nonce_group, nonce, src.may_block())? {
            None => return self.answer_again(mutations, src),
            Some(run) => run,
        };
        let (written, seq) = ready_or_need!(self.write_locked(mutations, conditions, &run, src));
        if let Some(seq) = seq {
            self.mvcc.when_visible(seq, Box::new(move |result| run.end(result.is_ok())));
        }
        Ok(Step::Ready(written))
    }

    fn check_atomic(&self, mutations: &mut [Mutation], conditions: &[Condition]) -> Result<(), RegionError> {
        self.counters.write_requests.fetch_add(mutations.len() as u64, Ordering::Relaxed);
        conditions.iter().try_for_each(|condition| self.check_condition(condition))?;
        let now_ms = self.ctx.clock.now_ms();
        mutations.iter_mut().try_for_each(|m| self.check_mutation(m, now_ms))
    }

    /// None: the same operation has succeeded before.
    fn start_nonce(&self, group: u64, nonce: u64, may_block: bool) -> Result<Option<NonceRun>, RegionError> {
        if nonce == 0 {
            return Ok(Some(NonceRun::none()));
        }
        let nonces = &self.ctx.nonces;
        for _ in 0..NONCE_WAITS {
            match nonces.start(group, nonce) {
                Started::Fresh => return Ok(Some(NonceRun::new(nonces, group, nonce))),
                Started::Done => return Ok(None),
                Started::Running if !may_block => return Err(RegionError::WouldBlock),
                Started::Running => drop(nonces.wait_end(group, nonce, NONCE_WAIT)),
            }
        }
        Err(RegionError::TooBusy(format!("the same operation is still running, nonce [{group:x}:{nonce:x}]")))
    }

    /// The answer to an operation that a client sent again after it had succeeded.
    fn answer_again(&self, mutations: &[Mutation], src: &dyn BlockSource) -> Result<Step<Written>, RegionError> {
        let mut result = None;
        for m in mutations.iter().filter(|m| m.is_delta()) {
            let out = result.get_or_insert_with(|| CellBuf::new(true));
            if m.return_results {
                ready_or_need!(self.read_delta_columns(m, src, out));
            }
        }
        Ok(Step::Ready(Written { ops: Vec::new(), processed: true, result, pending: Pending::done() }))
    }

    /// The answer, and the number of what was written.
    fn write_locked(
        &self,
        mutations: &mut [Mutation],
        conditions: &[Condition],
        run: &NonceRun,
        src: &dyn BlockSource,
    ) -> Result<Step<(Written, Option<u64>)>, RegionError> {
        let mut rows = StripeSet::new();
        mutations.iter().for_each(|m| rows.insert(&m.row));
        conditions.iter().for_each(|c| rows.insert(&c.row));
        let rows = self.locks.lock(&rows, src.may_block()).ok_or(RegionError::WouldBlock)?;
        let mut not_before = 0;
        for condition in conditions {
            let Judged { holds, cell_ts } = ready_or_need!(self.judge(condition, src));
            if !holds {
                self.counters.check_and_mutate_failed.fetch_add(1, Ordering::Relaxed);
                // The answer tells of cells that may not be durable yet.
                let pending = Pending::new(&self.mvcc, self.mvcc.last());
                let written = Written { ops: Vec::new(), processed: false, result: None, pending };
                return Ok(Step::Ready((written, None)));
            }
            not_before = cell_ts.max(not_before);
        }
        let now_ms = self.ctx.clock.now_ms();
        let plans = ready_or_need!(self.plan(mutations, now_ms, src));
        let updates = self.updates(src.may_block())?;
        // From here on nothing stops the write but the log.
        if !conditions.is_empty() {
            self.counters.check_and_mutate_passed.fetch_add(1, Ordering::Relaxed);
        }
        let put_ms = now_ms.max(not_before);
        let result = settle(mutations, plans, now_ms, put_ms);
        let mutations = &*mutations;
        let parts = mutations
            .iter()
            .filter(|m| !m.cells.is_empty())
            .map(|m| Part { cells: &m.cells, durability: m.durability.or(self.settings.durability) });
        if parts.clone().next().is_none() {
            let written = Written { ops: Vec::new(), processed: true, result, pending: Pending::done() };
            return Ok(Step::Ready((written, None)));
        }
        let cluster_ids = mutations.first().map_or(&[][..], |m| &m.cluster_ids);
        let key = EditKey { nonce_group: run.group(), nonce: run.nonce(), cluster_ids, now_ms };
        let committed = self.commit(&updates, parts, &key)?;
        drop((updates, rows));
        let seq = self.finish(committed);
        let pending = Pending::new(&self.mvcc, seq);
        Ok(Step::Ready((Written { ops: Vec::new(), processed: true, result, pending }, Some(seq))))
    }

    /// Reads what the mutations need to know; changes nothing.
    fn plan(&self, mutations: &[Mutation], now_ms: u64, src: &dyn BlockSource) -> Result<Step<Vec<Plan>>, RegionError> {
        let mut plans = Vec::with_capacity(mutations.len());
        for m in mutations {
            plans.push(match m.kind {
                MutationKind::Put => Plan::Put,
                MutationKind::Delete => Plan::Delete(ready_or_need!(self.read_delete_stamps(m, now_ms, src))),
                MutationKind::Increment | MutationKind::Append => {
                    Plan::Replace(ready_or_need!(self.apply_delta(m, now_ms, src)))
                }
            });
        }
        Ok(Step::Ready(plans))
    }
}

/// What becomes of a mutation's cells.
enum Plan {
    Put,
    /// These cells get these timestamps.
    Delete(Vec<(usize, u64)>),
    /// These are the cells.
    Replace(CellBuf),
}

/// Brings the mutations' cells into their final form; the cells to answer.
fn settle(mutations: &mut [Mutation], plans: Vec<Plan>, now_ms: u64, put_ms: u64) -> Option<CellBuf> {
    let mut result: Option<CellBuf> = None;
    for (m, plan) in mutations.iter_mut().zip(plans) {
        match plan {
            Plan::Put => m.cells.set_latest_timestamps(put_ms),
            Plan::Delete(stamps) => {
                stamps.into_iter().for_each(|(cell, ts)| m.cells.set_timestamp(cell, ts));
                m.cells.set_latest_timestamps(now_ms);
            }
            Plan::Replace(cells) => {
                // The answer has a result even when no cells of it are wanted.
                let out = result.get_or_insert_with(|| CellBuf::new(true));
                if m.return_results {
                    cells.iter().for_each(|cell| out.push(&cell));
                }
                m.cells = cells;
            }
        }
    }
    result
}
