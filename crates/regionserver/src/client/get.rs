//! `ClientService.Get`: one row.

use crate::error::Fault;
use crate::{RegionServer, query, result};
use martite_cell::CellBuf;
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_region::Region;
use martite_rpc::{Call, Class};
use pb::Message;
use std::sync::Arc;

impl RegionServer {
    pub(crate) fn get(self: &Arc<Self>, call: Call) {
        self.stats.get.hit();
        let request = match pb::GetRequest::decode(call.param.clone()) {
            Ok(request) => request,
            Err(e) => return call.responder.fail(Fault::bad_message("GetRequest", e).into_exception()),
        };
        let region = match self.region(&request.region) {
            Ok(region) => region,
            Err(fault) => return call.responder.fail(fault.into_exception()),
        };
        let files = self.ctx.stores.files.clone();
        let mut cells = result::buffer(call.conn.codec);
        match self.read_get(&region, &request.get, &files.cache_only(), &mut cells) {
            Ok(Step::Ready(existence)) => answer(call, cells, existence),
            Err(fault) => call.responder.fail(fault.into_exception()),
            Ok(Step::Need(_)) => {
                let server = self.clone();
                self.pool.spawn_call(Class::Read, call, move |call| {
                    let mut cells = result::buffer(call.conn.codec);
                    loop {
                        match server.read_get(&region, &request.get, &files.blocking(), &mut cells) {
                            Ok(Step::Need(_)) => cells.clear(),
                            Ok(Step::Ready(existence)) => return answer(call, cells, existence),
                            Err(fault) => return call.responder.fail(fault.into_exception()),
                        }
                    }
                });
            }
        }
    }

    /// Reads one Get of a request of its own or of a multi. Some: the answer is whether the row exists.
    pub(crate) fn read_get(
        &self,
        region: &Arc<Region>,
        get: &pb::Get,
        src: &dyn BlockSource,
        cells: &mut CellBuf,
    ) -> Result<Step<Option<bool>>, Fault> {
        let spec = query::get(get, region)?;
        Ok(match region.get(&spec, src, cells)? {
            Step::Need(request) => Step::Need(request),
            Step::Ready(outcome) => Step::Ready(spec.exists_only.then_some(outcome.exists)),
        })
    }
}

fn answer(call: Call, cells: CellBuf, existence: Option<bool>) {
    // Clients before 1.3, and those that do not say, read a Get's cells from the message.
    let codec = call.conn.codec.filter(|_| call.conn.has_version(1, 3));
    let (result, block) = match (existence, codec) {
        (Some(exists), _) => (result::exists(exists), Vec::new()),
        (None, Some(codec)) => (result::in_block(cells.len()), result::block(cells, codec)),
        (None, None) => (result::inline(cells.iter()), Vec::new()),
    };
    call.responder.ok(&pb::GetResponse { result: Some(result) }, block);
}
