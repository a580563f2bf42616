//! `ClientService.Get`: one row.

use crate::error::Fault;
use crate::fields::{Fields, Malformed, Value};
use crate::throttle::{ONE_READ, Toll, Turn, Work};
use crate::{RegionServer, keep, query, result, times};
use bytes::Bytes;
use martite_cell::CellBuf;
use martite_hfile::Step;
use martite_proto as pb;
use martite_quota::Operation;
use martite_region::{GetOutcome, GetSpec, Getter, Region};
use martite_rpc::{Call, Class};
use pb::Message;
use std::sync::Arc;
use std::time::Instant;

/// A decoded request.
struct Get {
    region: Arc<Region>,
    /// Asked of a replica.
    stale: bool,
    spec: GetSpec,
}

/// A Get whose turn has come.
struct Admitted {
    call: Call,
    toll: Toll,
    get: Get,
}

impl Admitted {
    fn is_like(&self, other: &Admitted) -> bool {
        Arc::ptr_eq(&self.get.region, &other.get.region) && self.get.spec.is_like(&other.get.spec)
    }
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
            Ok(()) => server.run_get(Admitted { call, toll, get: self }),
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

    /// Several Gets. Those of a region that differ in their rows only are read together (see [`Getter`]).
    pub(crate) fn gets(self: &Arc<Self>, calls: &mut Vec<Call>) {
        let mut ready = Vec::with_capacity(calls.len());
        for call in calls.drain(..) {
            match self.decode_get(&call.param) {
                Ok(get) => self.admit_get(call, Toll::default(), get, |admitted| ready.push(admitted)),
                Err(fault) => call.responder.fail(fault.into_exception()),
            }
        }
        ready.sort_by_cached_key(|admitted| Arc::as_ptr(&admitted.get.region) as usize);
        let mut ready = ready.into_iter();
        while let Some(first) = ready.as_slice().first() {
            let alike = ready.as_slice().iter().take_while(|admitted| admitted.is_like(first)).count();
            let mut alike = ready.by_ref().take(alike);
            if alike.len() > 1 {
                self.run_gets(alike.collect());
            } else if let Some(alone) = alike.next() {
                self.run_get(alone);
            }
        }
    }

    /// Gets that are alike.
    fn run_gets(self: &Arc<Self>, gets: Vec<Admitted>) {
        let Some(first) = gets.first() else { return };
        let (region, like) = (first.get.region.clone(), first.get.spec.clone());
        let Ok(mut getter) = Getter::new(&region, &like) else {
            return gets.into_iter().for_each(|admitted| self.run_get(admitted));
        };
        let src = self.ctx.stores.files.cache_only();
        let limited = gets.iter().any(|admitted| !admitted.toll.is_empty()).then(Instant::now);
        getter.expect(gets.iter().map(|admitted| &admitted.get.spec.row), &src);
        // What is done for all is a part of the time of each.
        let share = limited.map(|began| began.elapsed() / gets.len() as u32);
        for mut admitted in gets {
            if let Some(share) = share {
                admitted.toll.begin_anew(share);
            }
            self.stats.get.hit();
            let mut cells = result::row_buffer(admitted.call.conn.codec);
            let read = getter.get(&admitted.get.spec.row, &src, &mut cells);
            self.end_get(admitted, cells, read.map_err(Fault::from));
        }
    }

    #[inline]
    fn begin_get(self: &Arc<Self>, call: Call, toll: Toll, get: Get) {
        self.admit_get(call, toll, get, |admitted| self.run_get(admitted));
    }

    /// Unless it is refused, or waits, `then` has it: a returned one would be copied, half a kilobyte.
    #[inline]
    fn admit_get(self: &Arc<Self>, call: Call, mut toll: Toll, get: Get, then: impl FnOnce(Admitted)) {
        match self.turn(&call, &mut toll, &get.region, (Operation::Get, ONE_READ)) {
            Turn::Now => then(Admitted { call, toll, get }),
            Turn::Refused(fault) => call.responder.fail(fault.into_exception()),
            Turn::Later(later) => later.park(self, call, toll, get),
        }
    }

    fn run_get(self: &Arc<Self>, admitted: Admitted) {
        self.stats.get.hit();
        let mut cells = result::row_buffer(admitted.call.conn.codec);
        let Get { region, spec, .. } = &admitted.get;
        let read = region.get(spec, &self.ctx.stores.files.cache_only(), &mut cells);
        self.end_get(admitted, cells, read.map_err(Fault::from));
    }

    /// Answers with what was read from memory, or reads on where that may block.
    fn end_get(&self, admitted: Admitted, cells: CellBuf, read: Result<Step<GetOutcome>, Fault>) {
        let Admitted { call, toll, get } = admitted;
        match read {
            Ok(Step::Ready(outcome)) => answer(call, toll, &get, cells, outcome),
            Err(fault) => call.responder.fail(fault.into_exception()),
            Ok(Step::Need(_)) => {
                let files = self.ctx.stores.files.clone();
                self.pool.spawn_call(toll.class(Class::Read), call, move |call| {
                    let mut cells = result::buffer(call.conn.codec);
                    loop {
                        match get.region.get(&get.spec, &files.blocking(), &mut cells) {
                            Ok(Step::Need(_)) => cells.clear(),
                            Ok(Step::Ready(outcome)) => return answer(call, toll, &get, cells, outcome),
                            Err(e) => return call.responder.fail(Fault::from(e).into_exception()),
                        }
                    }
                });
            }
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

fn answer(mut call: Call, mut toll: Toll, get: &Get, cells: CellBuf, outcome: GetOutcome) {
    toll.settle(&get.region, cells.size_bytes());
    // Clients before 1.3, and those that do not say, read a Get's cells from the message.
    let codec = call.conn.codec.filter(|_| call.conn.has_version(1, 3));
    let (mut result, block) = match codec {
        _ if get.spec.exists_only => (result::exists(outcome.exists), Vec::new()),
        Some(codec) => (result::in_block(cells.len()), result::row_block(cells, codec)),
        None => (result::inline(cells.iter()), Vec::new()),
    };
    result.stale = get.stale.then_some(true);
    times::record(&get.region, &mut call.responder, |table| &table.get);
    call.responder.ok(&pb::GetResponse { result: Some(result) }, block);
}
