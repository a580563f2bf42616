//! `ClientService.Multi`: many actions on many regions, each region's part answered on its own.
//!
//! The request becomes a list of steps (a Get, a run of Puts and Deletes, one Increment, one atomic group …). Steps run
//! on the network thread as long as none of them would block; from the first one that does, the rest goes on on the
//! pool. What was written is answered when the log has all of it; a Get that stands after a write of its region waits
//! until it sees that. As in HBase, Puts and Deletes of a region are held back until an Increment, an Append or the end
//! of its actions, so a Get between does not see them.

mod answer;
mod decode;
mod gets;

use super::mutate::{is_short, write_bytes};
use crate::error::Fault;
use crate::gather::when_all_done;
use crate::space::Space;
use crate::throttle::{Toll, Turn};
use crate::{RegionServer, result, times};
use answer::{RegionAnswer, response};
use gets::Gets;
use martite_cell::{CellBuf, Codec};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::{Cost, Operation};
use martite_region::{Pending, Region, RegionError, WriteRequest};
use martite_rpc::{Call, Class};
use std::sync::Arc;

/// More actions than this are not for the network thread.
const MOST_AT_ONCE: usize = 256;

/// One piece of work; `slot` is the place of its RegionActionResult in the answer.
struct Task {
    slot: usize,
    region: Arc<Region>,
    work: Work,
}

enum Work {
    Gets(Gets),
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
    tasks: Vec<Task>,
    /// Tasks that are done.
    done: usize,
    /// Gets that are not done.
    gets_left: usize,
    results: Vec<RegionAnswer>,
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
    pub(crate) fn multi(self: &Arc<Self>, call: Call, toll: Toll) {
        let mut multi = match self.decode_multi(&call) {
            Ok(multi) => multi,
            Err(fault) => return call.responder.fail(fault.into_exception()),
        };
        let Some((call, toll)) = self.turns(call, toll, &mut multi) else { return };
        self.stats.multi.hit();
        let files = self.ctx.stores.files.clone();
        let actions: usize = multi.tasks.iter().map(|t| t.work.actions()).sum();
        let short = actions <= MOST_AT_ONCE && multi.tasks.iter().all(|t| t.work.is_short());
        if short && self.run_multi(&mut multi, &files.cache_only()) {
            return finish(call, toll, multi);
        }
        let server = self.clone();
        self.pool.spawn_call(toll.class(Class::Write), call, move |call| {
            while !server.run_multi(&mut multi, &files.blocking()) {}
            finish(call, toll, multi);
        });
    }

    /// The turn of each table that a multi concerns; a table's actions fail if it would come too late. None: it waits.
    fn turns(self: &Arc<Self>, mut call: Call, mut toll: Toll, multi: &mut Multi) -> Option<(Call, Toll)> {
        for region in one_of_each_table(&multi.tasks) {
            let what = (Operation::Multi, cost(&call, &multi.tasks, &region));
            match self.turn(call, toll, &region, what, Self::multi) {
                Turn::Now(same, paid) => (call, toll) = (same, paid),
                Turn::Refused(same, paid, fault) => {
                    (call, toll) = (same, paid);
                    for task in multi.tasks.extract_if(.., |task| is_of(task, &region)) {
                        multi.results[task.slot] = RegionAnswer::failed(&fault);
                    }
                }
                Turn::Parked => return None,
            }
        }
        Some((call, toll))
    }

    /// Runs tasks until all are done (true) or one would block (false: call again on a thread that may).
    fn run_multi(&self, multi: &mut Multi, src: &dyn BlockSource) -> bool {
        let mut tasks = std::mem::take(&mut multi.tasks);
        let complete = tasks[multi.done..].iter_mut().all(|task| {
            let done = self.run_task(multi, task, src);
            multi.done += usize::from(done);
            done
        });
        multi.tasks = tasks;
        complete
    }

    fn run_task(&self, multi: &mut Multi, task: &mut Task, src: &dyn BlockSource) -> bool {
        let slot = task.slot;
        if multi.must_split() && multi.refuse_task(task) {
            return true;
        }
        if multi.refuse_over_space(&self.space, task) {
            return true;
        }
        match &mut task.work {
            Work::Gets(gets) => return multi.run_gets(slot, &task.region, gets, src),
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
    /// What it counts for when it is decided who runs it.
    fn actions(&self) -> usize {
        match self {
            Work::Gets(gets) => gets.len(),
            _ => 1,
        }
    }

    fn is_short(&self) -> bool {
        match self {
            Work::Batch { write, .. } | Work::Atomic { write, .. } => is_short(write),
            _ => true,
        }
    }
}

impl Multi {
    fn new(codec: Option<Codec>, max_result_bytes: usize, can_retry_actions: bool) -> Multi {
        Multi {
            tasks: Vec::new(),
            done: 0,
            gets_left: 0,
            results: Vec::new(),
            regions: Vec::new(),
            stats: Vec::new(),
            cells: result::buffer(codec),
            codec,
            pending: Vec::new(),
            processed: None,
            inline_bytes: 0,
            max_result_bytes,
            can_retry_actions,
        }
    }

    /// The answer is full, and the client will ask again for what is refused.
    fn must_split(&self) -> bool {
        self.can_retry_actions && self.cells.size_bytes() + self.inline_bytes > self.max_result_bytes
    }

    /// Tells the client to ask again; false when the task is not one to be split off, or sees to that itself.
    fn refuse_task(&mut self, task: &Task) -> bool {
        match &task.work {
            Work::Single { index, .. } | Work::Service { index, .. } => self.refuse(task.slot, *index),
            Work::Batch { indices, .. } => indices.iter().for_each(|index| self.refuse(task.slot, *index)),
            Work::Gets(_) | Work::Atomic { .. } => return false,
        }
        true
    }

    /// Tells the client that the task's table holds too much for what it writes.
    fn refuse_over_space(&mut self, space: &Space, task: &Task) -> bool {
        let (indices, write) = match &task.work {
            Work::Batch { indices, write } => (indices.as_slice(), write),
            Work::Single { index, write } => (std::slice::from_ref(index), write),
            Work::Atomic { write, .. } => (&[][..], write),
            Work::Gets(_) | Work::Service { .. } => return false,
        };
        let Err(fault) = space.check(&task.region, write) else { return false };
        if matches!(task.work, Work::Atomic { .. }) {
            self.results[task.slot].exception = Some(fault.to_pair());
        }
        indices.iter().for_each(|index| self.push_fault(task.slot, *index, &fault));
        true
    }

    fn refuse(&mut self, slot: usize, index: u32) {
        let size = self.cells.size_bytes() + self.inline_bytes;
        self.push_fault(slot, index, &Fault::result_too_large(format!("Max size exceeded CellSize: {size}")));
    }
}

fn is_of(task: &Task, region: &Region) -> bool {
    task.region.info().table() == region.info().table()
}

/// A region of each table.
fn one_of_each_table(tasks: &[Task]) -> Vec<Arc<Region>> {
    let mut regions: Vec<Arc<Region>> = Vec::new();
    for task in tasks {
        if !regions.iter().any(|region| is_of(task, region)) {
            regions.push(task.region.clone());
        }
    }
    regions
}

/// What the tasks on a region's table take, as far as the request says; its bytes are shared among all tasks.
fn cost(call: &Call, tasks: &[Task], region: &Region) -> Cost {
    let (mut cost, mut mine) = (Cost::default(), 0);
    for task in tasks.iter().filter(|task| is_of(task, region)) {
        mine += 1;
        match &task.work {
            Work::Gets(gets) => cost.reads += gets.len() as u64,
            Work::Batch { indices, .. } => cost.writes += indices.len() as u64,
            Work::Single { .. } => {
                (cost.reads, cost.writes, cost.is_atomic) = (cost.reads + 1, cost.writes + 1, true);
            }
            Work::Atomic { write, conditional, .. } => {
                cost.writes += write.len() as u64;
                cost.reads += u64::from(*conditional);
                cost.is_atomic |= *conditional;
            }
            // Endpoints are not charged.
            Work::Service { .. } => {}
        }
    }
    if cost.writes > 0 {
        cost.write_bytes = (write_bytes(call) * mine / tasks.len().max(1)) as u64;
    }
    Cost { rows: cost.reads, ..cost }
}

fn finish(call: Call, mut toll: Toll, mut multi: Multi) {
    if !toll.is_empty() {
        settle(&mut toll, &multi);
    }
    let response = response(&mut multi);
    let block = multi.codec.map(|codec| result::block(multi.cells, codec)).unwrap_or_default();
    let mut responder = call.responder;
    let tables = times::tables(multi.tasks.iter().map(|task| &*task.region));
    when_all_done(multi.pending, move |durable| {
        drop(toll);
        tables.iter().for_each(|table| table.multi.record(responder.took()));
        match durable {
            Ok(()) => responder.ok_encoded(response, block),
            Err(e) => responder.fail(Fault::from(e).into_exception()),
        }
    });
}

/// Shares what was read among the tables, by their Gets.
fn settle(toll: &mut Toll, multi: &Multi) {
    let gets = |task: &Task| match &task.work {
        Work::Gets(gets) => gets.len(),
        _ => 0,
    };
    let (read, all) = (multi.cells.size_bytes() + multi.inline_bytes, multi.tasks.iter().map(gets).sum::<usize>());
    for region in one_of_each_table(&multi.tasks) {
        let mine: usize = multi.tasks.iter().filter(|task| is_of(task, &region)).map(gets).sum();
        toll.settle(&region, read * mine / all.max(1));
    }
}
