//! `ClientService.Mutate`: one mutation, with or without a condition.

use crate::cells::CellCursor;
use crate::error::Fault;
use crate::throttle::{self, Toll, Turn};
use crate::{RegionServer, keep, mutation, result, times};
use bytes::Bytes;
use martite_cell::{CellBlock, CellBuf};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::{Cost, Operation};
use martite_region::{Check, Condition, Mutation, MutationKind, Region, RegionError, WriteBody, WriteRequest, Written};
use martite_rpc::{Call, Class, Responder};
use pb::Message;
use std::sync::Arc;

/// A decoded request.
struct Mutate {
    region: Arc<Region>,
    write: WriteRequest,
    /// Whether the answer carries `processed` (Put, Delete, and everything with a condition).
    answers_processed: bool,
    /// Bytes of what is written, as it came.
    bytes: usize,
}

impl throttle::Work for Mutate {
    fn keep(&mut self, _: &Arc<RegionServer>, call: &mut Call) {
        keep::write(&mut self.write);
        // A condition with all that it compares with: decoded again from a copy.
        if let WriteBody::Atomic { conditions, .. } = &mut self.write.body
            && !conditions.is_empty()
            && let Ok(request) = pb::MutateRequest::decode(Bytes::copy_from_slice(&call.param))
            && let Some(Ok(condition)) = request.condition.as_ref().map(decode_condition)
        {
            *conditions = vec![condition];
        }
        call.param = Bytes::new();
    }

    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll) {
        server.begin_mutate(call, toll, self);
    }

    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>) {
        // While it waited the table may have grown too large, or the memstore.
        let turn = turn.and_then(|()| server.check_memstore_room(&self.region));
        match turn.and_then(|()| server.space.check(&self.region, &self.write)) {
            Ok(()) => server.run_mutate(call, toll, self),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }
}

impl RegionServer {
    pub(crate) fn mutate(self: &Arc<Self>, mut call: Call, toll: Toll) {
        match self.decode_mutate(&mut call) {
            Ok(mutate) => self.begin_mutate(call, toll, mutate),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }

    fn begin_mutate(self: &Arc<Self>, call: Call, mut toll: Toll, mutate: Mutate) {
        if let Err(fault) = self.space.check(&mutate.region, &mutate.write) {
            return call.responder.fail(fault.into_exception());
        }
        match self.turn(&call, &mut toll, &mutate.region, (Operation::Mutate, cost(&mutate))) {
            Turn::Now => self.run_mutate(call, toll, mutate),
            Turn::Refused(fault) => call.responder.fail(fault.into_exception()),
            Turn::Later(later) => later.park(self, call, toll, mutate),
        }
    }

    fn run_mutate(self: &Arc<Self>, call: Call, toll: Toll, mutate: Mutate) {
        self.stats.mutate.hit();
        let Mutate { region, mut write, answers_processed, .. } = mutate;
        let files = self.ctx.stores.files.clone();
        if let Some(outcome) = attempt(&region, &mut write, &files.cache_only()) {
            return answer((call, toll), region, answers_processed, outcome);
        }
        self.pool.spawn_call(toll.class(Class::Write), call, move |call| {
            let outcome = loop {
                match region.write(&mut write, &files.blocking()) {
                    Ok(Step::Ready(written)) => break Ok(written),
                    Ok(Step::Need(_)) => {}
                    Err(e) => break Err(e),
                }
            };
            answer((call, toll), region, answers_processed, outcome);
        });
    }

    fn decode_mutate(&self, call: &mut Call) -> Result<Mutate, Fault> {
        let bytes = write_bytes(call);
        let request =
            pb::MutateRequest::decode(call.param.clone()).map_err(|e| Fault::bad_message("MutateRequest", e))?;
        let region = self.writable(&request.region)?;
        self.check_memstore_room(&region)?;
        let mut cells = CellCursor::new(std::mem::take(&mut call.cells), call.conn.codec)?;
        let one = mutation::decode(&request.mutation, &mut cells)?;
        let nonce_group = request.nonce_group.unwrap_or(0);
        let plain = matches!(one.kind, MutationKind::Put | MutationKind::Delete);
        let (write, answers_processed) = match &request.condition {
            Some(condition) => {
                let condition = decode_condition(condition)?;
                check_same_row(&condition, std::slice::from_ref(&one))?;
                (WriteRequest::atomic(vec![one], Some(condition), nonce_group), true)
            }
            None if plain => (WriteRequest::batch(vec![one]), true),
            None => (WriteRequest::atomic(vec![one], None, nonce_group), false),
        };
        Ok(Mutate { region, write, answers_processed, bytes })
    }
}

/// What a write takes, as far as its request says.
fn cost(mutate: &Mutate) -> Cost {
    let is_atomic = matches!(mutate.write.body, WriteBody::Atomic { .. });
    let reads = u64::from(is_atomic);
    Cost { reads, rows: reads, writes: 1, write_bytes: mutate.bytes as u64, is_atomic, ..Cost::default() }
}

/// The bytes of what is written, in the cell block or, from clients without one, in the message.
pub(super) fn write_bytes(call: &Call) -> usize {
    if call.cells.is_empty() { call.param.len() } else { call.cells.len() }
}

/// None: it would block, call again on the pool.
fn attempt(region: &Region, write: &mut WriteRequest, src: &dyn BlockSource) -> Option<Result<Written, RegionError>> {
    match region.write(write, src) {
        Ok(Step::Ready(written)) => Some(Ok(written)),
        Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => None,
        Err(e) => Some(Err(e)),
    }
}

fn answer(
    (call, mut toll): (Call, Toll),
    region: Arc<Region>,
    answers_processed: bool,
    outcome: Result<Written, RegionError>,
) {
    let Call { mut responder, conn, .. } = call;
    let mut written = match outcome {
        Ok(written) => written,
        Err(e) => return responder.fail(Fault::from(e).into_exception()),
    };
    // A batch of one: its own result is the call's.
    let processed = match written.ops.pop() {
        Some(Err(e)) => return responder.fail(Fault::from(e).into_exception()),
        Some(Ok(())) => true,
        None => written.processed,
    };
    // An Increment or Append without a condition always has a result, be it an empty one.
    let cells = written.result.or_else(|| (!answers_processed).then(CellBuf::default));
    let read = cells.as_ref().map_or(0, CellBuf::size_bytes);
    toll.settle(&region, read);
    let (result, block) = match (cells, conn.codec) {
        (None, _) => (None, CellBlock::default()),
        (Some(cells), Some(codec)) => {
            (Some(result::in_block(cells.len())), result::block(untagged(cells, codec), codec))
        }
        (Some(cells), None) => (Some(result::inline(cells.iter())), CellBlock::default()),
    };
    let response = pb::MutateResponse { result, processed: answers_processed.then_some(processed), metrics: None };
    responder.keep_disk_time();
    written.pending.on_done(move |durable| {
        drop(toll);
        times::record(&region, &mut responder, |table| &table.mutate);
        respond(responder, durable, &response, block);
    });
}

fn respond(responder: Responder, durable: Result<(), RegionError>, response: &pb::MutateResponse, block: CellBlock) {
    match durable {
        Ok(()) => responder.ok(response, block),
        Err(e) => responder.fail(Fault::from(e).into_exception()),
    }
}

/// New cells of Increment and Append hold their tags; a client without a codec for tags must not see them.
pub(crate) fn untagged(cells: CellBuf, codec: martite_cell::Codec) -> CellBuf {
    if codec.carries_tags() || cells.iter().all(|c| c.tags.is_empty()) {
        return cells;
    }
    let mut out = CellBuf::new(false);
    cells.iter().for_each(|c| out.push(&c));
    out
}

/// The condition of a checkAndMutate.
pub(crate) fn decode_condition(proto: &pb::Condition) -> Result<Condition, Fault> {
    let check = match &proto.filter {
        Some(filter) => Check::Filter(filter.clone()),
        None => {
            let op = proto
                .compare_type
                .and_then(martite_filter::CompareOp::decode)
                .ok_or_else(|| Fault::do_not_retry("Condition without a known compare_type"))?;
            let comparator =
                proto.comparator.as_ref().ok_or_else(|| Fault::do_not_retry("Condition without a comparator"))?;
            Check::Value {
                family: proto.family.clone().unwrap_or_default(),
                qualifier: proto.qualifier.clone().unwrap_or_default(),
                op,
                comparator: martite_filter::Comparator::decode(comparator)?,
            }
        }
    };
    Ok(Condition { row: proto.row.clone(), time_range: mutation::time_range(proto.time_range.as_ref()), check })
}

/// What is checked and what is changed must be one row.
pub(crate) fn check_same_row(condition: &Condition, mutations: &[Mutation]) -> Result<(), Fault> {
    if mutations.iter().all(|m| m.row == condition.row) {
        return Ok(());
    }
    Err(Fault::do_not_retry("Action's getRow must match"))
}

/// Whether a write may be tried on the network thread: large ones go to the pool at once.
pub(crate) fn is_short(write: &WriteRequest) -> bool {
    match &write.body {
        WriteBody::Batch(all) => all.len() <= 1000,
        WriteBody::Atomic { mutations, .. } => mutations.len() <= 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use martite_cell::TimeRange;

    #[test]
    fn what_is_checked_and_what_is_changed_must_be_one_row() {
        let condition = Condition {
            row: Bytes::from_static(b"r"),
            time_range: TimeRange::ALL,
            check: Check::Filter(martite_proto::Filter::default()),
        };
        let of = |row: &'static str| Mutation::new(MutationKind::Put, row, CellBuf::new(true));
        assert!(check_same_row(&condition, &[of("r"), of("r")]).is_ok());
        let fault = check_same_row(&condition, &[of("r"), of("s")]).unwrap_err();
        assert_eq!((fault.message.as_str(), fault.do_not_retry), ("Action's getRow must match", true));
    }
}
