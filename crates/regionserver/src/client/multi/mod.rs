//! `ClientService.Multi`: many actions on many regions, each region's part answered on its own.
//!
//! The request becomes a list of steps (a Get, a run of Puts and Deletes, one Increment, one atomic group …). Steps run
//! on the network thread as long as none of them would block; from the first one that does, the rest goes on on the
//! pool. What was written is answered when the log has all of it; a Get that stands after a write of its region waits
//! until it sees that. As in HBase, Puts and Deletes of a region are held back until an Increment, an Append or the end
//! of its actions, so a Get between does not see them.

mod answer;
mod decode;

use super::get::read_get;
use super::mutate::is_short;
use crate::error::Fault;
use crate::gather::when_all_done;
use crate::{RegionServer, result};
use answer::{RegionAnswer, response};
use martite_cell::{CellBuf, Codec};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_region::{GetSpec, Getter, Pending, Region, RegionError, WriteRequest};
use martite_rpc::{Call, Class};
use std::sync::Arc;

/// Room for rows that a Get has not read yet, at most.
const MOST_RESERVED: usize = 1 << 20;

/// One piece of work; `slot` is the place of its RegionActionResult in the answer.
struct Task {
    slot: usize,
    region: Arc<Region>,
    work: Work,
}

enum Work {
    Get {
        index: u32,
        get: Box<GetSpec>,
        /// Asked of a replica.
        stale: bool,
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
    tasks: Vec<Task>,
    /// Tasks that are done.
    done: usize,
    /// What the last Get had open.
    getter: Option<Getter>,
    /// Gets among the tasks that are not done.
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

    /// Runs tasks until all are done (true) or one would block (false: call again on a thread that may).
    fn run_multi(&self, multi: &mut Multi, src: &dyn BlockSource) -> bool {
        let mut tasks = std::mem::take(&mut multi.tasks);
        while let [task, rest @ ..] = &mut tasks[multi.done..]
            && self.run_task(multi, task, rest.first(), src)
        {
            multi.done += 1;
        }
        let complete = multi.done == tasks.len();
        multi.tasks = tasks;
        complete
    }

    /// `next` is the task that will follow.
    fn run_task(&self, multi: &mut Multi, task: &mut Task, next: Option<&Task>, src: &dyn BlockSource) -> bool {
        let slot = task.slot;
        if multi.is_full() && multi.can_retry_actions && multi.refuse_task(task) {
            return true;
        }
        if !matches!(task.work, Work::Get { .. }) {
            // The next Get has to see what this writes.
            multi.getter = None;
        }
        match &mut task.work {
            Work::Get { index, get, stale } => {
                if multi.getter.is_none() && !multi.sees_its_writes(&task.region, src.may_block()) {
                    return false;
                }
                let mark = multi.cells.mark();
                multi.make_room();
                match multi.read_get(&task.region, get, next, src) {
                    Ok(Step::Need(_)) => {
                        multi.cells.truncate(mark);
                        return false;
                    }
                    Ok(Step::Ready(existence)) => multi.push_read(slot, *index, mark, existence, *stale),
                    Err(fault) => {
                        multi.cells.truncate(mark);
                        multi.push_fault(slot, *index, &fault);
                    }
                }
                // Not before: a Get that needs a block runs again.
                multi.gets_left -= 1;
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

impl Multi {
    fn new(codec: Option<Codec>, max_result_bytes: usize, can_retry_actions: bool) -> Multi {
        Multi {
            tasks: Vec::new(),
            done: 0,
            getter: None,
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

    fn is_full(&self) -> bool {
        self.cells.size_bytes() + self.inline_bytes > self.max_result_bytes
    }

    /// The answer is full: tells the client to ask again; false when the task is not one to be split off.
    fn refuse_task(&mut self, task: &Task) -> bool {
        match &task.work {
            Work::Get { index, .. } => {
                self.gets_left -= 1;
                self.refuse(task.slot, *index);
            }
            Work::Single { index, .. } | Work::Service { index, .. } => self.refuse(task.slot, *index),
            Work::Batch { indices, .. } => indices.iter().for_each(|index| self.refuse(task.slot, *index)),
            Work::Atomic { .. } => return false,
        }
        true
    }

    fn refuse(&mut self, slot: usize, index: u32) {
        let size = self.cells.size_bytes() + self.inline_bytes;
        self.push_fault(slot, index, &Fault::result_too_large(format!("Max size exceeded CellSize: {size}")));
    }

    fn push_get(&mut self, (slot, stale): (usize, bool), region: &Arc<Region>, index: u32, get: GetSpec) {
        self.gets_left += 1;
        let work = Work::Get { index, get: Box::new(get), stale };
        self.tasks.push(Task { slot, region: region.clone(), work });
    }

    /// A Get sees the writes that stand before it: they are visible, or become so while this waits for the log. False:
    /// they are not, and this may not wait.
    fn sees_its_writes(&mut self, region: &Region, may_block: bool) -> bool {
        self.pending.retain(|pending| !pending.is_done());
        let mut unseen = self.pending.iter().filter(|pending| pending.is_of(region));
        if may_block {
            // Of a log that failed the whole call tells when it ends.
            unseen.for_each(|pending| drop(pending.wait()));
            return true;
        }
        unseen.next().is_none()
    }

    fn read_get(
        &mut self,
        region: &Arc<Region>,
        get: &GetSpec,
        next: Option<&Task>,
        src: &dyn BlockSource,
    ) -> Result<Step<Option<bool>>, Fault> {
        if get.filter.is_some() {
            return read_get(region, get, src, &mut self.cells);
        }
        let getter = match self.getter.take().filter(|getter| getter.fits(region, get)) {
            Some(getter) => getter,
            None => Getter::new(region, get)?,
        };
        let getter = self.getter.insert(getter);
        let next = next.and_then(|task| match &task.work {
            Work::Get { get, .. } if getter.fits(&task.region, get) => Some(&get.row),
            _ => None,
        });
        let outcome = getter.get(get, next, src, &mut self.cells)?;
        Ok(outcome.map(|outcome| get.exists_only.then_some(outcome.exists)))
    }

    /// Before a Get: once the first has shown how large a row is, there is to be room for those that are left.
    fn make_room(&mut self) {
        if self.cells.len() == 1 {
            let size = self.cells.size_bytes();
            self.cells.reserve(size.saturating_mul(self.gets_left).min(MOST_RESERVED), self.gets_left);
        }
    }
}

fn finish(call: Call, mut multi: Multi) {
    let response = response(&mut multi);
    let block = multi.codec.map(|codec| result::block(multi.cells, codec)).unwrap_or_default();
    let responder = call.responder;
    when_all_done(multi.pending, move |durable| match durable {
        Ok(()) => responder.ok_encoded(response, block),
        Err(e) => responder.fail(Fault::from(e).into_exception()),
    });
}
