//! `ClientService.Mutate`: one mutation, with or without a condition.

use crate::cells::CellCursor;
use crate::error::Fault;
use crate::throttle::{Toll, Turn};
use crate::{RegionServer, mutation, result, times};
use martite_cell::CellBuf;
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::{Cost, Operation};
use martite_region::{Check, Condition, Mutation, MutationKind, Region, RegionError, WriteBody, WriteRequest, Written};
use martite_rpc::{Call, Class, Responder};
use pb::Message;
use std::sync::Arc;

/// A decoded request.
struct Work {
    region: Arc<Region>,
    write: WriteRequest,
    /// Whether the answer carries `processed` (Put, Delete, and everything with a condition).
    answers_processed: bool,
    call: Call,
    toll: Toll,
}

impl RegionServer {
    pub(crate) fn mutate(self: &Arc<Self>, call: Call, toll: Toll) {
        let (region, write, answers_processed) = match self.decode_mutate(&call) {
            Err(fault) => return call.responder.fail(fault.into_exception()),
            Ok(decoded) => decoded,
        };
        if let Err(fault) = self.space.check(&region, &write) {
            return call.responder.fail(fault.into_exception());
        }
        let what = (Operation::Mutate, cost(&call, &write));
        let (call, toll) = match self.turn(call, toll, &region, what, Self::mutate) {
            Turn::Now(call, toll) => (call, toll),
            Turn::Refused(call, _, fault) => return call.responder.fail(fault.into_exception()),
            Turn::Parked => return,
        };
        self.stats.mutate.hit();
        let mut work = Work { region, write, answers_processed, call, toll };
        let files = self.ctx.stores.files.clone();
        match attempt(&mut work, &files.cache_only()) {
            Some(outcome) => answer((work.call, work.toll), work.region, work.answers_processed, outcome),
            None => self.mutate_on_pool(work),
        }
    }

    fn mutate_on_pool(self: &Arc<Self>, work: Work) {
        let files = self.ctx.stores.files.clone();
        let Work { region, mut write, answers_processed, call, toll } = work;
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

    fn decode_mutate(&self, call: &Call) -> Result<(Arc<Region>, WriteRequest, bool), Fault> {
        let request =
            pb::MutateRequest::decode(call.param.clone()).map_err(|e| Fault::bad_message("MutateRequest", e))?;
        let region = self.writable(&request.region)?;
        self.check_memstore_room(&region)?;
        let mut cells = CellCursor::new(call.cells.clone(), call.conn.codec)?;
        let one = mutation::decode(&request.mutation, &mut cells)?;
        let nonce_group = request.nonce_group.unwrap_or(0);
        let plain = matches!(one.kind, MutationKind::Put | MutationKind::Delete);
        Ok(match &request.condition {
            Some(condition) => {
                let condition = decode_condition(condition)?;
                check_same_row(&condition, std::slice::from_ref(&one))?;
                (region, WriteRequest::atomic(vec![one], Some(condition), nonce_group), true)
            }
            None if plain => (region, WriteRequest::batch(vec![one]), true),
            None => (region, WriteRequest::atomic(vec![one], None, nonce_group), false),
        })
    }
}

/// What a write takes, as far as its request says.
fn cost(call: &Call, write: &WriteRequest) -> Cost {
    let is_atomic = matches!(write.body, WriteBody::Atomic { .. });
    let reads = u64::from(is_atomic);
    Cost { reads, rows: reads, writes: 1, write_bytes: write_bytes(call) as u64, is_atomic, ..Cost::default() }
}

/// The bytes of what is written, in the cell block or, from clients without one, in the message.
pub(super) fn write_bytes(call: &Call) -> usize {
    if call.cells.is_empty() { call.param.len() } else { call.cells.len() }
}

/// None: it would block, call again on the pool.
fn attempt(work: &mut Work, src: &dyn BlockSource) -> Option<Result<Written, RegionError>> {
    match work.region.write(&mut work.write, src) {
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
    let Call { responder, conn, .. } = call;
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
        (None, _) => (None, Vec::new()),
        (Some(cells), Some(codec)) => {
            (Some(result::in_block(cells.len())), result::block(untagged(cells, codec), codec))
        }
        (Some(cells), None) => (Some(result::inline(cells.iter())), Vec::new()),
    };
    let response = pb::MutateResponse { result, processed: answers_processed.then_some(processed), metrics: None };
    written.pending.on_done(move |durable| {
        drop(toll);
        let mut responder = responder;
        times::record(&region, &mut responder, |table| &table.mutate);
        respond(responder, durable, &response, block);
    });
}

fn respond(responder: Responder, durable: Result<(), RegionError>, response: &pb::MutateResponse, block: Vec<u8>) {
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
