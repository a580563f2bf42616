//! `ClientService.Get`: one row.

use crate::error::Fault;
use crate::fields::{Fields, Malformed, Value};
use crate::throttle::{ONE_READ, Toll, Turn, Work};
use crate::{RegionServer, keep, query, result, times};
use bytes::Bytes;
use martite_cell::CellBuf;
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::Operation;
use martite_region::{GetSpec, Region};
use martite_rpc::{Call, Class};
use pb::Message;
use std::sync::Arc;

/// A decoded request.
struct Get {
    region: Arc<Region>,
    /// Asked of a replica.
    stale: bool,
    spec: GetSpec,
}

impl Work for Get {
    fn keep(&mut self, _: &Arc<RegionServer>, call: &mut Call) {
        keep::get(&mut self.spec);
        call.param = Bytes::new();
    }

    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll) {
        server.begin_get(call, toll, self);
    }

    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>) {
        match turn {
            Ok(()) => server.run_get(call, toll, self),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }
}

impl RegionServer {
    pub(crate) fn get(self: &Arc<Self>, call: Call, toll: Toll) {
        match self.decode_get(&call.param) {
            Ok(get) => self.begin_get(call, toll, get),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }

    #[inline]
    fn begin_get(self: &Arc<Self>, call: Call, mut toll: Toll, get: Get) {
        match self.turn(&call, &mut toll, &get.region, (Operation::Get, ONE_READ)) {
            Turn::Now => self.run_get(call, toll, get),
            Turn::Refused(fault) => call.responder.fail(fault.into_exception()),
            Turn::Later(later) => later.park(self, call, toll, get),
        }
    }

    fn run_get(self: &Arc<Self>, call: Call, toll: Toll, get: Get) {
        let Get { region, stale, spec } = get;
        self.stats.get.hit();
        let files = self.ctx.stores.files.clone();
        let mut cells = result::row_buffer(call.conn.codec);
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

    fn decode_get(&self, param: &Bytes) -> Result<Get, Fault> {
        let bad = |e| Fault::bad_message("GetRequest", e);
        match parts(param) {
            Ok(Some((region, get))) => {
                let (region, stale) =
                    self.readable(&pb::RegionSpecifier::decode(param.slice_ref(region)).map_err(bad)?)?;
                let spec = query::decode_get(get, param, &region)?;
                Ok(Get { region, stale, spec })
            }
            _ => {
                let request = pb::GetRequest::decode(param.clone()).map_err(bad)?;
                let (region, stale) = self.readable(&request.region)?;
                let spec = query::get(&request.get, &region)?;
                Ok(Get { region, stale, spec })
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
        (None, Some(codec)) => (result::in_block(cells.len()), result::row_block(cells, codec)),
        (None, None) => (result::inline(cells.iter()), Vec::new()),
    };
    result.stale = stale.then_some(true);
    times::record(region, &mut call.responder, |table| &table.get);
    call.responder.ok(&pb::GetResponse { result: Some(result) }, block);
}
