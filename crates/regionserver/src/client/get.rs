//! `ClientService.Get`: one row.

use crate::error::Fault;
use crate::fields::{Fields, Malformed, Value};
use crate::throttle::{ONE_READ, Toll, Turn};
use crate::{RegionServer, query, result, times};
use bytes::Bytes;
use martite_cell::CellBuf;
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::Operation;
use martite_region::{GetSpec, Region};
use martite_rpc::{Call, Class};
use pb::Message;
use std::sync::Arc;

impl RegionServer {
    pub(crate) fn get(self: &Arc<Self>, call: Call, toll: Toll) {
        let (region, stale, spec) = match self.decode_get(&call.param) {
            Ok(decoded) => decoded,
            Err(fault) => return call.responder.fail(fault.into_exception()),
        };
        let (call, toll) = match self.turn(call, toll, &region, (Operation::Get, ONE_READ), Self::get) {
            Turn::Now(call, toll) => (call, toll),
            Turn::Refused(call, _, fault) => return call.responder.fail(fault.into_exception()),
            Turn::Parked => return,
        };
        self.stats.get.hit();
        let files = self.ctx.stores.files.clone();
        let mut cells = result::buffer(call.conn.codec);
        match read_get(&region, &spec, &files.cache_only(), &mut cells) {
            Ok(Step::Ready(existence)) => answer(call, toll, &region, cells, existence, stale),
            Err(fault) => call.responder.fail(fault.into_exception()),
            Ok(Step::Need(_)) => self.pool.spawn_call(toll.class(Class::Read), call, move |call| {
                let mut cells = result::buffer(call.conn.codec);
                loop {
                    match read_get(&region, &spec, &files.blocking(), &mut cells) {
                        Ok(Step::Need(_)) => cells.clear(),
                        Ok(Step::Ready(existence)) => return answer(call, toll, &region, cells, existence, stale),
                        Err(fault) => return call.responder.fail(fault.into_exception()),
                    }
                }
            }),
        }
    }

    fn decode_get(&self, param: &Bytes) -> Result<(Arc<Region>, bool, GetSpec), Fault> {
        let bad = |e| Fault::bad_message("GetRequest", e);
        match parts(param) {
            Ok(Some((region, get))) => {
                let (region, stale) =
                    self.readable(&pb::RegionSpecifier::decode(param.slice_ref(region)).map_err(bad)?)?;
                let spec = query::decode_get(get, param, &region)?;
                Ok((region, stale, spec))
            }
            _ => {
                let request = pb::GetRequest::decode(param.clone()).map_err(bad)?;
                let (region, stale) = self.readable(&request.region)?;
                let spec = query::get(&request.get, &region)?;
                Ok((region, stale, spec))
            }
        }
    }
}

type Parts<'a> = (&'a [u8], &'a [u8]);

/// Region and Get of a GetRequest.
fn parts(request: &[u8]) -> Result<Option<Parts<'_>>, Malformed> {
    let (mut region, mut get) = (None, None);
    let mut fields = Fields::new(request);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => region = Some(bytes),
            (2, Value::Bytes(bytes)) => get = Some(bytes),
            _ => {}
        }
    }
    Ok(region.zip(get))
}

/// Reads one Get, a request of its own or of a multi. Some: the answer is whether the row exists.
pub(super) fn read_get(
    region: &Region,
    spec: &GetSpec,
    src: &dyn BlockSource,
    cells: &mut CellBuf,
) -> Result<Step<Option<bool>>, Fault> {
    Ok(match region.get(spec, src, cells)? {
        Step::Need(request) => Step::Need(request),
        Step::Ready(outcome) => Step::Ready(spec.exists_only.then_some(outcome.exists)),
    })
}

fn answer(mut call: Call, mut toll: Toll, region: &Region, cells: CellBuf, existence: Option<bool>, stale: bool) {
    toll.settle(region, cells.size_bytes());
    // Clients before 1.3, and those that do not say, read a Get's cells from the message.
    let codec = call.conn.codec.filter(|_| call.conn.has_version(1, 3));
    let (mut result, block) = match (existence, codec) {
        (Some(exists), _) => (result::exists(exists), Vec::new()),
        (None, Some(codec)) => (result::in_block(cells.len()), result::block(cells, codec)),
        (None, None) => (result::inline(cells.iter()), Vec::new()),
    };
    result.stale = stale.then_some(true);
    times::record(region, &mut call.responder, |table| &table.get);
    call.responder.ok(&pb::GetResponse { result: Some(result) }, block);
}
