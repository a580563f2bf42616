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
mod parts;

use super::mutate::is_short;
use crate::error::Fault;
use crate::gather::when_all_done;
use crate::space::Space;
use crate::throttle::{Later, Toll, Turn, Work};
use crate::{RegionServer, keep, result, times};
use answer::{RegionAnswer, response};
use bytes::Bytes;
use gets::Gets;
use martite_cell::{CellBuf, Codec};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::{Cost, Operation};
use martite_region::{Pending, Region, RegionError, WriteRequest};
use martite_rpc::{Call, Class};
use parts::{Part, Parts};
use std::sync::Arc;

/// More actions than this are not for the network thread.
const MOST_AT_ONCE: usize = 256;
/// The same of one of low priority, for which others may have to wait.
const MOST_ASIDE: usize = 32;

/// Some requests share a buffer of this size.
const READ_BUFFER: usize = 64 << 10;

/// One piece of work; `slot` is the place of its RegionActionResult in the answer.
struct Task {
    slot: usize,
    region: Arc<Region>,
    work: Doing,
}

enum Doing {
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
    /// Bytes of what is written, as it came, and how many tasks there were.
    came: (usize, usize),
    /// Bytes of inline results, which count like cells against the limit.
    inline_bytes: usize,
    max_result_bytes: usize,
    can_retry_actions: bool,
}

impl Work for Multi {
    fn is_short(&self) -> bool {
        self.actions() <= MOST_ASIDE && Multi::is_short(self)
    }

    fn keep(&mut self, _: &Arc<RegionServer>, call: &mut Call) {
        self.let_go();
        call.size_bytes = self.held_bytes(call) as u32;
        call.param = Bytes::new();
    }

    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll) {
        server.begin_multi(call, toll, self);
    }

    fn go_on(mut self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>) {
        if let Err(fault) = turn {
            self.refuse_all(&fault);
        }
        server.run_whole(call, toll, self);
    }
}

impl RegionServer {
    pub(crate) fn multi(self: &Arc<Self>, mut call: Call, toll: Toll) {
        match self.decode_multi(&mut call) {
            Ok(multi) => self.begin_multi(call, toll, multi),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }

    /// Asks for the turn of each table. Where it would come too late, its actions fail; where it is to wait, it waits for
    /// itself, and the answer for all.
    fn begin_multi(self: &Arc<Self>, call: Call, mut toll: Toll, mut multi: Multi) {
        let regions = one_of_each_table(&multi.tasks);
        let costs: Vec<Cost> = regions.iter().map(|region| cost(&multi, region)).collect();
        let mut parts: Option<Arc<Parts>> = None;
        for (region, cost) in regions.iter().zip(costs) {
            match self.turn(&call, &mut toll, region, (Operation::Multi, cost)) {
                Turn::Now => {}
                Turn::Refused(fault) => multi.refuse_part(region, &fault),
                Turn::Later(later) if regions.len() == 1 || matches!(later, Later::Behind) => {
                    return later.park(self, call, toll, multi);
                }
                Turn::Later(later) => {
                    let parts = parts.get_or_insert_with(|| Parts::new(&call, &multi));
                    let part = multi.part_of(region);
                    Part::park(self, parts, toll.of_part(), part, later);
                }
            }
        }
        match parts {
            None => self.run_whole(call, toll, multi),
            Some(parts) => Part::last(self, &parts, call, toll, multi),
        }
    }

    fn run_whole(self: &Arc<Self>, call: Call, toll: Toll, mut multi: Multi) {
        self.stats.multi.hit();
        let files = self.ctx.stores.files.clone();
        if multi.is_short() && self.run_multi(&mut multi, &files.cache_only()) {
            return finish(call, toll, multi);
        }
        let server = self.clone();
        self.pool.spawn_call(toll.class(Class::Write), call, move |call| {
            while !server.run_multi(&mut multi, &files.blocking()) {}
            finish(call, toll, multi);
        });
    }

    /// Runs tasks until all are done (true) or one would block (false: call again on a thread that may).
    fn run_multi(&self, multi: &mut Multi, src: &dyn BlockSource) -> bool {
        let mut tasks = std::mem::take(&mut multi.tasks);
        let complete = tasks[multi.done..].iter_mut().all(|task| {
            let before = multi.cells.len();
            let done = self.run_task(multi, task, src);
            multi.results[task.slot].cells += multi.cells.len().saturating_sub(before);
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
            Doing::Gets(gets) => return multi.run_gets(slot, &task.region, gets, src),
            Doing::Batch { indices, write } => match task.region.write(write, src) {
                Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => return false,
                Ok(Step::Ready(written)) => multi.push_batch(slot, indices, written),
                Err(e) => {
                    let fault = Fault::from(e);
                    indices.iter().for_each(|index| multi.push_fault(slot, *index, &fault));
                }
            },
            Doing::Single { index, write } => match task.region.write(write, src) {
                Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => return false,
                Ok(Step::Ready(written)) => {
                    multi.pending.push(written.pending);
                    multi.push_cells(slot, *index, written.result.unwrap_or_default());
                }
                Err(e) => multi.push_fault(slot, *index, &Fault::from(e)),
            },
            Doing::Atomic { actions, conditional, write } => match task.region.write(write, src) {
                Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => return false,
                Ok(Step::Ready(written)) => multi.push_atomic(slot, *actions, *conditional, written),
                Err(e) => multi.results[slot].exception = Some(Fault::from(e).to_pair()),
            },
            Doing::Service { index, call } => {
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

impl Doing {
    /// What it counts for when it is decided who runs it.
    fn actions(&self) -> usize {
        match self {
            Doing::Gets(gets) => gets.len(),
            _ => 1,
        }
    }

    fn is_short(&self) -> bool {
        match self {
            Doing::Batch { write, .. } | Doing::Atomic { write, .. } => is_short(write),
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
            came: (0, 0),
            inline_bytes: 0,
            max_result_bytes,
            can_retry_actions,
        }
    }

    fn actions(&self) -> usize {
        self.tasks.iter().map(|t| t.work.actions()).sum()
    }

    /// Whether it is for the network thread, as long as nothing blocks.
    fn is_short(&self) -> bool {
        self.actions() <= MOST_AT_ONCE && self.tasks.iter().all(|t| t.work.is_short())
    }

    /// It is about to wait: what lies in the large buffer that brought the call is copied, but for what conditions compare
    /// with.
    fn let_go(&mut self) {
        for task in &mut self.tasks {
            match &mut task.work {
                Doing::Gets(gets) => gets.let_go(),
                Doing::Batch { write, .. } | Doing::Single { write, .. } | Doing::Atomic { write, .. } => {
                    keep::write(write);
                }
                Doing::Service { call, .. } => keep::service(call),
            }
        }
    }

    /// What it holds of memory while it waits: with conditions the whole buffer that brought it.
    fn held_bytes(&self, call: &Call) -> usize {
        let conditional = |task: &Task| matches!(task.work, Doing::Atomic { conditional: true, .. });
        let least = if self.tasks.iter().any(conditional) { READ_BUFFER } else { 0 };
        least.max(call.size_bytes as usize)
    }

    /// Takes out all that concerns a region's table.
    fn part_of(&mut self, region: &Region) -> Multi {
        let mut part = Multi::new(self.codec, self.max_result_bytes, self.can_retry_actions);
        part.results.resize_with(self.results.len(), RegionAnswer::default);
        part.tasks = self.tasks.extract_if(.., |task| is_of(task, region)).collect();
        for task in &part.tasks {
            // What was wrong with some of a region's actions.
            if !self.results[task.slot].is_empty() {
                part.results[task.slot] = std::mem::take(&mut self.results[task.slot]);
            }
            if let Doing::Gets(gets) = &task.work {
                part.gets_left += gets.len();
            }
        }
        self.gets_left -= part.gets_left;
        part
    }

    fn refuse_part(&mut self, region: &Region, fault: &Fault) {
        for task in self.part_of(region).tasks {
            self.results[task.slot] = RegionAnswer::failed(fault);
        }
    }

    /// Nothing of it is done.
    fn refuse_all(&mut self, fault: &Fault) {
        for task in std::mem::take(&mut self.tasks) {
            self.results[task.slot] = RegionAnswer::failed(fault);
        }
        self.gets_left = 0;
    }

    /// The answer is full, and the client will ask again for what is refused.
    fn must_split(&self) -> bool {
        self.can_retry_actions && self.cells.size_bytes() + self.inline_bytes > self.max_result_bytes
    }

    /// Tells the client to ask again; false when the task is not one to be split off, or sees to that itself.
    fn refuse_task(&mut self, task: &Task) -> bool {
        match &task.work {
            Doing::Single { index, .. } | Doing::Service { index, .. } => self.refuse(task.slot, *index),
            Doing::Batch { indices, .. } => indices.iter().for_each(|index| self.refuse(task.slot, *index)),
            Doing::Gets(_) | Doing::Atomic { .. } => return false,
        }
        true
    }

    /// Tells the client that the task's table holds too much for what it writes.
    fn refuse_over_space(&mut self, space: &Space, task: &Task) -> bool {
        let (indices, write) = match &task.work {
            Doing::Batch { indices, write } => (indices.as_slice(), write),
            Doing::Single { index, write } => (std::slice::from_ref(index), write),
            Doing::Atomic { write, .. } => (&[][..], write),
            Doing::Gets(_) | Doing::Service { .. } => return false,
        };
        let Err(fault) = space.check(&task.region, write) else { return false };
        if matches!(task.work, Doing::Atomic { .. }) {
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
fn cost(multi: &Multi, region: &Region) -> Cost {
    let (mut cost, mut mine) = (Cost::default(), 0);
    for task in multi.tasks.iter().filter(|task| is_of(task, region)) {
        mine += 1;
        match &task.work {
            Doing::Gets(gets) => cost.reads += gets.len() as u64,
            Doing::Batch { indices, .. } => cost.writes += indices.len() as u64,
            Doing::Single { .. } => {
                (cost.reads, cost.writes, cost.is_atomic) = (cost.reads + 1, cost.writes + 1, true);
            }
            Doing::Atomic { write, conditional, .. } => {
                cost.writes += write.len() as u64;
                cost.reads += u64::from(*conditional);
                cost.is_atomic |= *conditional;
            }
            // Endpoints are not charged.
            Doing::Service { .. } => {}
        }
    }
    if cost.writes > 0 {
        let (bytes, tasks) = multi.came;
        cost.write_bytes = (bytes * mine / tasks.max(1)) as u64;
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
    responder.keep_disk_time();
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
        Doing::Gets(gets) => gets.len(),
        _ => 0,
    };
    let (read, all) = (multi.cells.size_bytes() + multi.inline_bytes, multi.tasks.iter().map(gets).sum::<usize>());
    for region in one_of_each_table(&multi.tasks) {
        let mine: usize = multi.tasks.iter().filter(|task| is_of(task, &region)).map(gets).sum();
        toll.settle(&region, read * mine / all.max(1));
    }
}
