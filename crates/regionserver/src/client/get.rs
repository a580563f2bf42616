//! `ClientService.Get`: one row.

use crate::error::Fault;
use crate::fields::{Fields, Malformed, Value};
use crate::query::RowGet;
use crate::throttle::{Known, ONE_READ, PaidTogether, Ready, Toll, Turn, TurnOfMany, Work};
use crate::{RegionServer, query, result, times};
use bytes::{Bytes, BytesMut};
use martite_cell::CellBuf;
use martite_hfile::Step;
use martite_proto as pb;
use martite_quota::{Cost, Operation};
use martite_region::{GetOutcome, Getter, Region};
use martite_rpc::{Call, Class};
use pb::Message;
use std::sync::Arc;
use std::time::Instant;

/// A decoded request.
struct Get {
    region: Arc<Region>,
    /// Asked of a replica.
    stale: bool,
    wanted: RowGet,
}

const ONE_GET: (Operation, Cost) = (Operation::Get, ONE_READ);

/// A Get whose turn has come.
type Admitted = Ready<Get>;

impl Get {
    fn is_like(&self, other: &Get) -> bool {
        Arc::ptr_eq(&self.region, &other.region) && self.wanted.is_like(&other.wanted)
    }
}

impl Work for Get {
    const GATHERS: bool = true;

    fn keep(&mut self, _: &Arc<RegionServer>, call: &mut Call) {
        self.wanted.keep();
        call.param = Bytes::new();
    }

    /// Their rows lie in one piece of memory.
    fn keep_all(ready: &mut [Option<Admitted>], _: &Arc<RegionServer>) {
        let lie = || ready.iter().flatten().map(|one| &one.work.wanted.row);
        let mut rows = BytesMut::with_capacity(lie().map(Bytes::len).sum());
        lie().for_each(|row| rows.extend_from_slice(row));
        let mut rows = rows.freeze();
        for Ready { call, work, .. } in ready.iter_mut().flatten() {
            let row = rows.split_to(work.wanted.row.len());
            work.wanted.keep_with(row);
            call.param = Bytes::new();
        }
    }

    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll) {
        server.begin_get(call, toll, self);
    }

    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>) {
        match turn {
            Ok(()) => server.run_get(Ready { call, toll, work: self }, &mut []),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }

    fn go_on_together(server: &Arc<RegionServer>, ready: Vec<Option<Admitted>>, paid: Vec<PaidTogether>) {
        server.run_ready(ready, paid);
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
        let (mut ready, mut known) = (Vec::with_capacity(calls.len()), Known::default());
        let mut to_be_asked = Vec::new();
        for call in calls.drain(..) {
            match self.decode_get(&call.param) {
                Ok(get) => {
                    let mut toll = Toll::default();
                    match self.turn_of_many(&mut known, &call, &mut toll, &get.region, ONE_GET) {
                        TurnOfMany::Is(Turn::Now) => {}
                        TurnOfMany::IsToBeAsked => to_be_asked.push(ready.len()),
                        TurnOfMany::Is(turn) => {
                            self.take_turn(call, toll, get, turn);
                            continue;
                        }
                    }
                    ready.push(Some(Ready { call, toll, work: get }));
                }
                Err(fault) => call.responder.fail(fault.into_exception()),
            }
        }
        let paid = self.ask_together(&known, &mut ready, &to_be_asked, ONE_GET);
        self.run_ready(ready, paid);
    }

    /// By region, and otherwise in their order. They are large: to sort them themselves would move each more than once.
    fn run_ready(self: &Arc<Self>, mut ready: Vec<Option<Admitted>>, mut paid: Vec<PaidTogether>) {
        let began = (!paid.is_empty()).then(Instant::now);
        let region = |(place, get): (usize, &Option<Admitted>)| {
            get.as_ref().map(|get| (Arc::as_ptr(&get.work.region) as usize, place))
        };
        let mut order: Vec<(usize, usize)> = ready.iter().enumerate().filter_map(region).collect();
        order.sort_unstable();
        let mut order = &order[..];
        while let Some(first) = order.first().and_then(|(_, place)| ready[*place].as_ref()) {
            let is_alike = |get: &Admitted| get.work.is_like(&first.work);
            let count = order.iter().take_while(|(_, place)| ready[*place].as_ref().is_some_and(is_alike)).count();
            let (alike, rest) = order.split_at(count);
            order = rest;
            self.run_gets(&mut ready, alike, &mut paid);
        }
        if let Some(began) = began {
            PaidTogether::settle_all(paid, began);
        }
    }

    /// Those in `places` (behind the address of their region), which are alike.
    fn run_gets(self: &Arc<Self>, gets: &mut [Option<Admitted>], places: &[(usize, usize)], paid: &mut [PaidTogether]) {
        let alike = places.iter().filter_map(|(_, place)| gets[*place].as_ref());
        let Some(Get { region, wanted: first, .. }) = alike.clone().next().map(|first| &first.work) else { return };
        let (region, like) = (region.clone(), first.like.clone());
        let getter = if places.len() > 1 { Getter::new(&region, &like).ok() } else { None };
        let Some(mut getter) = getter else {
            return places
                .iter()
                .filter_map(|(_, place)| gets[*place].take())
                .for_each(|alone| self.run_get(alone, paid));
        };
        let src = self.ctx.stores.files.cache_only();
        getter.expect(alike.map(|admitted| &admitted.work.wanted.row), &src);
        for admitted in places.iter().filter_map(|(_, place)| gets[*place].take()) {
            self.stats.get.hit();
            let mut cells = result::row_buffer(admitted.call.conn.codec);
            let read = getter.get(&admitted.work.wanted.row, &src, &mut cells);
            self.end_get(admitted, cells, read.map_err(Fault::from), paid);
        }
    }

    #[inline]
    fn begin_get(self: &Arc<Self>, call: Call, mut toll: Toll, get: Get) {
        let turn = self.turn(&call, &mut toll, &get.region, ONE_GET);
        self.take_turn(call, toll, get, turn);
    }

    #[inline]
    fn take_turn(self: &Arc<Self>, call: Call, toll: Toll, get: Get, turn: Turn<'_>) {
        match turn {
            Turn::Now => self.run_get(Ready { call, toll, work: get }, &mut []),
            Turn::Refused(fault) => call.responder.fail(fault.into_exception()),
            Turn::Later(later) => later.park(self, call, toll, get),
        }
    }

    fn run_get(self: &Arc<Self>, admitted: Admitted, paid: &mut [PaidTogether]) {
        self.stats.get.hit();
        let mut cells = result::row_buffer(admitted.call.conn.codec);
        let Get { region, wanted, .. } = &admitted.work;
        let read = region.get_row(&wanted.row, &wanted.like, &self.ctx.stores.files.cache_only(), &mut cells);
        self.end_get(admitted, cells, read.map_err(Fault::from), paid);
    }

    /// Answers with what was read from memory, or reads on where that may block.
    #[inline]
    fn end_get(
        &self,
        admitted: Admitted,
        cells: CellBuf,
        read: Result<Step<GetOutcome>, Fault>,
        paid: &mut [PaidTogether],
    ) {
        let Ready { call, mut toll, work: get } = admitted;
        match read {
            Ok(Step::Ready(outcome)) => {
                toll.end(paid, cells.size_bytes());
                answer(call, &mut toll, &get, cells, outcome);
            }
            Err(fault) => {
                toll.end(paid, 0);
                call.responder.fail(fault.into_exception());
            }
            Ok(Step::Need(_)) => {
                toll.take_out(paid);
                toll.begin_anew();
                let files = self.ctx.stores.files.clone();
                self.pool.spawn_call(toll.class(Class::Read), call, move |call| {
                    let mut cells = result::buffer(call.conn.codec);
                    loop {
                        match get.region.get_row(&get.wanted.row, &get.wanted.like, &files.blocking(), &mut cells) {
                            Ok(Step::Need(_)) => cells.clear(),
                            Ok(Step::Ready(outcome)) => return answer(call, &mut toll, &get, cells, outcome),
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
                let (region, stale) = match specifier_parts(region) {
                    Ok(Some((kind, name))) => self.readable_named(kind, name)?,
                    _ => self.readable(&pb::RegionSpecifier::decode(param.slice_ref(region)).map_err(bad)?)?,
                };
                let wanted = query::decode_get(get, param, &region)?;
                Ok(Get { region, stale, wanted })
            }
            _ => {
                let request = pb::GetRequest::decode(param.clone()).map_err(bad)?;
                let (region, stale) = self.readable(&request.region)?;
                let wanted = query::get(&request.get, &region)?.into();
                Ok(Get { region, stale, wanted })
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

/// Kind and name of a RegionSpecifier.
fn specifier_parts(specifier: &[u8]) -> Result<Option<(i32, &[u8])>, Malformed> {
    let (mut kind, mut name) = (None, None);
    let mut fields = Fields::new(specifier);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(number)) => kind = Some(number as i32),
            (2, Value::Bytes(bytes)) => name = Some(bytes),
            _ => {}
        }
    }
    Ok(kind.zip(name))
}

fn answer(mut call: Call, toll: &mut Toll, get: &Get, cells: CellBuf, outcome: GetOutcome) {
    toll.settle(&get.region, cells.size_bytes());
    // Clients before 1.3, and those that do not say, read a Get's cells from the message.
    let codec = call.conn.codec.filter(|_| call.conn.has_version(1, 3));
    times::record(&get.region, &mut call.responder, |table| &table.get);
    if get.wanted.like.exists_only {
        let message = result::short_get_response(0, Some(outcome.exists), get.stale);
        return call.responder.ok_short(&message, Vec::new());
    }
    match codec {
        Some(codec) => {
            let message = result::short_get_response(cells.len(), None, get.stale);
            result::send_row(call.responder, &message, cells, codec);
        }
        None => {
            let result = pb::Result { stale: get.stale.then_some(true), ..result::inline(cells.iter()) };
            call.responder.ok(&pb::GetResponse { result: Some(result) }, Vec::new());
        }
    }
}
