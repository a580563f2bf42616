//! `ClientService.Multi`: many actions on many regions, each region's part answered on its own.
//!
//! The request becomes a list of steps (a Get, a run of Puts and Deletes, one Increment, one atomic group …). Steps run
//! on the network thread as long as none of them would block; from the first one that does, the rest goes on on the
//! pool. What was written is answered when the log has all of it.

use super::mutate::{check_same_row, decode_condition, is_short, untagged};
use crate::cells::CellCursor;
use crate::error::Fault;
use crate::gather::when_all_done;
use crate::{RegionServer, mutation, result};
use martite_cell::{CellBuf, Codec};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_region::{Condition, Mutation, Pending, Region, RegionError, WriteRequest};
use martite_rpc::{Call, Class};
use pb::Message;
use pb::mutation_proto::MutationType;
use std::collections::VecDeque;
use std::sync::Arc;

/// One piece of work; `slot` is the place of its RegionActionResult in the answer.
struct Task {
    slot: usize,
    region: Arc<Region>,
    work: Work,
}

enum Work {
    Get {
        index: u32,
        get: Box<pb::Get>,
    },
    /// Puts and Deletes that stood together, with their indices.
    Batch {
        indices: Vec<u32>,
        write: WriteRequest,
    },
    /// One Increment or Append.
    Single {
        index: u32,
        write: WriteRequest,
    },
    /// All or nothing, `actions` of them; conditional or not.
    Atomic {
        actions: usize,
        conditional: bool,
        write: WriteRequest,
    },
    Service {
        index: u32,
        call: pb::CoprocessorServiceCall,
    },
}

/// A multi under way.
struct Multi {
    tasks: VecDeque<Task>,
    results: Vec<pb::RegionActionResult>,
    regions: Vec<pb::RegionSpecifier>,
    stats: Vec<pb::RegionLoadStats>,
    cells: CellBuf,
    codec: Option<Codec>,
    pending: Vec<Pending>,
    processed: Option<bool>,
    /// Bytes of inline results, which count like cells against the limit.
    inline_bytes: usize,
    max_result_bytes: usize,
    can_retry_actions: bool,
}

impl RegionServer {
    pub(crate) fn multi(self: &Arc<Self>, call: Call) {
        self.stats.multi.hit();
        let mut multi = match self.decode_multi(&call) {
            Ok(multi) => multi,
            Err(fault) => return call.responder.fail(fault.into_exception()),
        };
        let files = self.ctx.stores.files.clone();
        let short = multi.tasks.len() <= 256 && multi.tasks.iter().all(|t| t.work.is_short());
        if short && self.run_multi(&mut multi, &files.cache_only()) {
            return finish(call, multi);
        }
        let server = self.clone();
        self.pool.spawn_call(Class::Write, call, move |call| {
            while !server.run_multi(&mut multi, &files.blocking()) {}
            finish(call, multi);
        });
    }

    fn decode_multi(&self, call: &Call) -> Result<Multi, Fault> {
        let request =
            pb::MultiRequest::decode(call.param.clone()).map_err(|e| Fault::bad_message("MultiRequest", e))?;
        let actions: usize = request.region_action.iter().map(|r| r.action.len()).sum();
        if self.options.reject_large_batches && actions > self.options.batch_rows_threshold {
            return Err(Fault::do_not_retry(format!(
                "Rejecting large batch operation for current batch with {actions} rows, threshold {}",
                self.options.batch_rows_threshold
            )));
        }
        let mut cells = CellCursor::new(call.cells.clone(), call.conn.codec)?;
        let mut multi = Multi {
            tasks: VecDeque::with_capacity(actions),
            results: Vec::with_capacity(request.region_action.len()),
            regions: Vec::new(),
            stats: Vec::new(),
            cells: result::buffer(call.conn.codec),
            codec: call.conn.codec,
            pending: Vec::new(),
            processed: None,
            inline_bytes: 0,
            max_result_bytes: self.options.max_result_bytes,
            can_retry_actions: call.conn.has_version(1, 2),
        };
        let nonce_group = request.nonce_group.unwrap_or(0);
        for mut group in request.region_action {
            // Clients up to 2.3 put the condition of a checkAndMutate beside the actions.
            if group.condition.is_none() {
                group.condition = request.condition.clone();
            }
            let slot = multi.results.len();
            multi.results.push(pb::RegionActionResult::default());
            if let Err(fault) = self.decode_group(&mut multi, slot, group, nonce_group, &mut cells) {
                multi.results[slot] = pb::RegionActionResult { exception: Some(fault.to_pair()), ..Default::default() };
            }
        }
        Ok(multi)
    }

    fn decode_group(
        &self,
        multi: &mut Multi,
        slot: usize,
        group: pb::RegionAction,
        nonce_group: u64,
        cells: &mut CellCursor,
    ) -> Result<(), Fault> {
        let writes = group.action.iter().any(|a| a.mutation.is_some());
        let found = self.region(&group.region).and_then(|region| {
            if writes {
                self.check_memstore_room(&region)?;
            }
            Ok(region)
        });
        let region = match found {
            Ok(region) => region,
            Err(fault) => {
                // Its cells must be passed over, for the next region's to be found.
                for mutation in group.action.iter().filter_map(|a| a.mutation.as_ref()) {
                    cells.skip(mutation.associated_cell_count.unwrap_or(0).max(0) as usize)?;
                }
                return Err(fault);
            }
        };
        multi.stats.push(self.load_stats(&region));
        multi.regions.push(group.region.clone());
        if group.condition.is_some() || group.atomic == Some(true) {
            let condition = group.condition.as_ref().map(decode_condition).transpose();
            let task = decode_atomic(slot, region, group, condition, nonce_group, cells)?;
            multi.tasks.push_back(task);
            return Ok(());
        }
        decode_separate(multi, slot, &region, group, nonce_group, cells);
        Ok(())
    }

    /// Runs tasks until all are done (true) or one would block (false: call again on a thread that may).
    fn run_multi(&self, multi: &mut Multi, src: &dyn BlockSource) -> bool {
        while let Some(mut task) = multi.tasks.pop_front() {
            if !self.run_task(multi, &mut task, src) {
                multi.tasks.push_front(task);
                return false;
            }
        }
        true
    }

    fn run_task(&self, multi: &mut Multi, task: &mut Task, src: &dyn BlockSource) -> bool {
        let slot = task.slot;
        if multi.is_full() && multi.can_retry_actions {
            match &task.work {
                Work::Get { index, .. } | Work::Single { index, .. } | Work::Service { index, .. } => {
                    multi.refuse(slot, *index);
                    return true;
                }
                Work::Batch { indices, .. } => {
                    indices.iter().for_each(|index| multi.refuse(slot, *index));
                    return true;
                }
                Work::Atomic { .. } => {}
            }
        }
        match &mut task.work {
            Work::Get { index, get } => {
                let mark = multi.cells.mark();
                match self.read_get(&task.region, get, src, &mut multi.cells) {
                    Ok(Step::Need(_)) => {
                        multi.cells.truncate(mark);
                        return false;
                    }
                    Ok(Step::Ready(existence)) => multi.push_read(slot, *index, mark, existence),
                    Err(fault) => {
                        multi.cells.truncate(mark);
                        multi.push_fault(slot, *index, &fault);
                    }
                }
            }
            Work::Batch { indices, write } => match task.region.write(write, src) {
                Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => return false,
                Ok(Step::Ready(written)) => multi.push_batch(slot, indices, written),
                Err(e) => {
                    let fault = Fault::from(e);
                    indices.iter().for_each(|index| multi.push_fault(slot, *index, &fault));
                }
            },
            Work::Single { index, write } => match task.region.write(write, src) {
                Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => return false,
                Ok(Step::Ready(written)) => {
                    multi.pending.push(written.pending);
                    multi.push_cells(slot, *index, written.result.unwrap_or_default());
                }
                Err(e) => multi.push_fault(slot, *index, &Fault::from(e)),
            },
            Work::Atomic { actions, conditional, write } => match task.region.write(write, src) {
                Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => return false,
                Ok(Step::Ready(written)) => multi.push_atomic(slot, *actions, *conditional, written),
                Err(e) => multi.results[slot].exception = Some(Fault::from(e).to_pair()),
            },
            Work::Service { index, call } => {
                if !src.may_block() {
                    return false;
                }
                let answer = self.run_region_service(&task.region, call, src);
                multi.push_service(slot, *index, answer);
            }
        }
        true
    }
}

impl Work {
    fn is_short(&self) -> bool {
        match self {
            Work::Batch { write, .. } | Work::Atomic { write, .. } => is_short(write),
            _ => true,
        }
    }
}

/// A group that succeeds or fails as a whole.
fn decode_atomic(
    slot: usize,
    region: Arc<Region>,
    group: pb::RegionAction,
    condition: Result<Option<Condition>, Fault>,
    nonce_group: u64,
    cells: &mut CellCursor,
) -> Result<Task, Fault> {
    let mut mutations = Vec::with_capacity(group.action.len());
    let mut first_fault = None;
    for action in &group.action {
        match &action.mutation {
            Some(proto) => match mutation::decode(proto, cells) {
                Ok(one) => mutations.push(one),
                Err(fault) => first_fault = first_fault.or(Some(fault)),
            },
            None => {
                first_fault = first_fault.or_else(|| {
                    Some(Fault::do_not_retry("Atomic put and/or delete only, not a Get or another action"))
                });
            }
        }
    }
    let condition = condition?;
    if let Some(fault) = first_fault {
        return Err(fault);
    }
    if let Some(condition) = &condition {
        check_same_row(condition, &mutations)?;
    }
    let work = Work::Atomic {
        actions: group.action.len(),
        conditional: condition.is_some(),
        write: WriteRequest::atomic(mutations, condition, nonce_group),
    };
    Ok(Task { slot, region, work })
}

/// Actions that stand for themselves; Puts and Deletes that follow each other become one batch.
fn decode_separate(
    multi: &mut Multi,
    slot: usize,
    region: &Arc<Region>,
    group: pb::RegionAction,
    nonce_group: u64,
    cells: &mut CellCursor,
) {
    let mut batch: (Vec<u32>, Vec<Mutation>) = Default::default();
    let flush = |multi: &mut Multi, batch: &mut (Vec<u32>, Vec<Mutation>)| {
        if !batch.0.is_empty() {
            let (indices, mutations) = std::mem::take(batch);
            let work = Work::Batch { indices, write: WriteRequest::batch(mutations) };
            multi.tasks.push_back(Task { slot, region: region.clone(), work });
        }
    };
    for action in group.action {
        let index = action.index.unwrap_or(0);
        let work = if let Some(get) = action.get {
            Work::Get { index, get: Box::new(get) }
        } else if let Some(proto) = action.mutation {
            let plain = matches!(
                MutationType::try_from(proto.mutate_type.unwrap_or_default()),
                Ok(MutationType::Put | MutationType::Delete)
            );
            match mutation::decode(&proto, cells) {
                Err(fault) => {
                    multi.push_fault(slot, index, &fault);
                    continue;
                }
                Ok(one) if plain => {
                    batch.0.push(index);
                    batch.1.push(one);
                    continue;
                }
                Ok(one) => Work::Single { index, write: WriteRequest::atomic(vec![one], None, nonce_group) },
            }
        } else if let Some(call) = action.service_call {
            Work::Service { index, call }
        } else {
            multi.push_fault(slot, index, &Fault::io("Unexpected Action type"));
            continue;
        };
        if matches!(work, Work::Single { .. }) {
            flush(multi, &mut batch);
        }
        multi.tasks.push_back(Task { slot, region: region.clone(), work });
    }
    flush(multi, &mut batch);
}

impl Multi {
    fn is_full(&self) -> bool {
        self.cells.size_bytes() + self.inline_bytes > self.max_result_bytes
    }

    fn refuse(&mut self, slot: usize, index: u32) {
        let size = self.cells.size_bytes() + self.inline_bytes;
        self.push_fault(slot, index, &Fault::result_too_large(format!("Max size exceeded CellSize: {size}")));
    }

    fn push(&mut self, slot: usize, entry: pb::ResultOrException) {
        self.results[slot].result_or_exception.push(entry);
    }

    /// A success always has a result, even an empty one: gohbase takes an action without for an error.
    fn push_success(&mut self, slot: usize, index: u32, result: pb::Result) {
        self.push(slot, pb::ResultOrException { index: Some(index), result: Some(result), ..Default::default() });
    }

    fn push_fault(&mut self, slot: usize, index: u32, fault: &Fault) {
        let exception = Some(fault.to_pair());
        self.push(slot, pb::ResultOrException { index: Some(index), exception, ..Default::default() });
    }

    /// The cells since `mark` are the answer of a Get.
    fn push_read(&mut self, slot: usize, index: u32, mark: martite_cell::buf::Mark, existence: Option<bool>) {
        let result = match (existence, self.codec) {
            (Some(exists), _) => result::exists(exists),
            (None, Some(_)) => result::in_block(self.cells.len_since(mark)),
            (None, None) => {
                self.inline_bytes += self.cells.size_bytes();
                let result = result::inline(self.cells.iter());
                self.cells.clear();
                result
            }
        };
        self.push_success(slot, index, result);
    }

    /// The new cells of an Increment or Append.
    fn push_cells(&mut self, slot: usize, index: u32, cells: CellBuf) {
        let result = match self.codec {
            Some(codec) => {
                let cells = untagged(cells, codec);
                cells.iter().for_each(|c| self.cells.push(&c));
                result::in_block(cells.len())
            }
            None => result::inline(cells.iter()),
        };
        self.push_success(slot, index, result);
    }

    fn push_batch(&mut self, slot: usize, indices: &[u32], written: martite_region::Written) {
        for (index, op) in indices.iter().zip(written.ops) {
            match op {
                Ok(()) => self.push_success(slot, *index, pb::Result::default()),
                Err(e) => self.push_fault(slot, *index, &Fault::from(e)),
            }
        }
        self.pending.push(written.pending);
    }

    fn push_atomic(&mut self, slot: usize, actions: usize, conditional: bool, written: martite_region::Written) {
        self.results[slot].processed = Some(written.processed);
        if !conditional || written.processed {
            self.processed = Some(written.processed);
        }
        // Results of Increments and Appends stand merged in the first element, and in the message itself even for
        // clients with a codec. Under a condition the other elements have an index only.
        let mut first = written.result.as_ref().map(|cells| result::inline(cells.iter()));
        for index in 0..actions as u32 {
            match first.take() {
                None if conditional => {
                    self.push(slot, pb::ResultOrException { index: Some(index), ..Default::default() });
                }
                result => self.push_success(slot, index, result.unwrap_or_default()),
            }
        }
        self.pending.push(written.pending);
    }

    fn push_service(&mut self, slot: usize, index: u32, answer: Result<pb::NameBytesPair, Fault>) {
        match answer {
            Ok(value) => self.push(
                slot,
                pb::ResultOrException {
                    index: Some(index),
                    service_result: Some(pb::CoprocessorServiceResult { value: Some(value) }),
                    ..Default::default()
                },
            ),
            Err(fault) => self.push_fault(slot, index, &fault),
        }
    }
}

fn finish(call: Call, multi: Multi) {
    let response = pb::MultiResponse {
        region_action_result: multi.results,
        processed: multi.processed,
        region_statistics: Some(pb::MultiRegionLoadStats { region: multi.regions, stat: multi.stats }),
    };
    let block = multi.codec.map(|codec| result::block(multi.cells, codec)).unwrap_or_default();
    let responder = call.responder;
    when_all_done(multi.pending, move |durable| match durable {
        Ok(()) => responder.ok(&response, block),
        Err(e) => responder.fail(Fault::from(e).into_exception()),
    });
}
