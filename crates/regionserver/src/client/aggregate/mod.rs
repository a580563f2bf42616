//! AggregateService: what HBase's AggregationClient asks of each region, as an endpoint that is built in.
//!
//! A call reads its region as a scan does, by slices on the pool, and is charged as one: for the blocks that it went
//! through. The answers are those of HBase's AggregateImplementation, but for counts: rows that a filter leaves out, and
//! regions without any, never count in averages.

mod number;

use super::scan::{ON_POOL_TURN, next_on_pool};
use crate::error::Fault;
use crate::throttle::{self, Toll, Turn};
use crate::{RegionServer, query};
use bytes::Bytes;
use martite_filter::build;
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::{Cost, Operation};
use martite_region::{Region, RegionScanner, ScanEnd, ScanLimits, ScanOutput};
use martite_rpc::{Call, Class, Position, Rest, stand_aside};
use number::{Interpreter, Number};
use pb::Message;
use std::sync::Arc;
use std::time::Instant;

const SERVICE: &str = "AggregateService";
const ANSWER: &str = "org.apache.hadoop.hbase.protobuf.generated.AggregateProtos$AggregateResponse";
/// So many bytes of cells are looked at at once, and so many cells of the first slice.
const BATCH_BYTES: u64 = 256 << 10;
const FIRST_CELLS: u64 = 1_000;

/// Whether a call is for this service; names come with their package or without.
pub(super) fn is_aggregate(call: &pb::CoprocessorServiceCall) -> bool {
    call.service_name.rsplit('.').next() == Some(SERVICE)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Max,
    Min,
    Sum,
    RowNum,
    Avg,
    Std,
    Median,
}

impl Method {
    fn of(call: &pb::CoprocessorServiceCall, region: &Region) -> Result<Method, Fault> {
        Ok(match call.method_name.as_str() {
            "GetMax" => Method::Max,
            "GetMin" => Method::Min,
            "GetSum" => Method::Sum,
            "GetRowNum" => Method::RowNum,
            "GetAvg" => Method::Avg,
            "GetStd" => Method::Std,
            "GetMedian" => Method::Median,
            unknown => {
                return Err(Fault::unknown_protocol(format!(
                    "Unknown method {unknown} called on service {} in region {}",
                    call.service_name,
                    region.info().name_string()
                )));
            }
        })
    }
}

/// What was found so far.
struct Sums {
    method: Method,
    interpreter: Interpreter,
    /// Whether the cells of a second column are its weights.
    weighted: bool,
    best: Option<Number>,
    sum: Option<Number>,
    squares: Option<Number>,
    rows: u64,
    /// The row that was begun, and the sum of its values so far.
    row: Option<(Bytes, Option<Number>)>,
}

impl Sums {
    fn new(method: Method, interpreter: Interpreter, weighted: bool) -> Sums {
        Sums { method, interpreter, weighted, best: None, sum: None, squares: None, rows: 0, row: None }
    }

    /// The cells of one row, or of a part of it.
    fn take<'a>(&mut self, row: &[u8], values: impl Iterator<Item = &'a [u8]>, is_over: bool) -> Result<(), Fault> {
        if self.row.as_ref().is_some_and(|(begun, _)| begun != row) {
            self.end_row();
        }
        let (begun, mut sum) = self.row.take().unwrap_or_else(|| (Bytes::copy_from_slice(row), None));
        if self.method != Method::RowNum {
            for value in values {
                let Some(number) = self.interpreter.read(value)? else { continue };
                sum = Some(sum.map_or_else(|| number.clone(), |sum| sum.plus(&number)));
                self.compare(number);
            }
        }
        self.row = Some((begun, sum));
        if is_over {
            self.end_row();
        }
        Ok(())
    }

    fn compare(&mut self, number: Number) {
        let is_better = |best: &Number| match self.method {
            Method::Max => number.compare(best).is_gt(),
            Method::Min => number.compare(best).is_lt(),
            _ => false,
        };
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some(number);
        }
    }

    fn end_row(&mut self) {
        let Some((_, sum)) = self.row.take() else { return };
        self.rows += 1;
        let Some(sum) = sum else { return };
        let add = |to: &mut Option<Number>, number: Number| {
            *to = Some(to.as_ref().map_or_else(|| number.clone(), |before| before.plus(&number)));
        };
        if self.method == Method::Std {
            add(&mut self.squares, sum.squared());
        }
        add(&mut self.sum, sum);
    }

    fn answer(mut self) -> pb::AggregateResponse {
        self.end_row();
        let Sums { method, interpreter, best, sum, squares, rows, .. } = self;
        let rows = || Some(Bytes::copy_from_slice(&(rows as i64).to_be_bytes()));
        let messages = |numbers: &[Option<Number>]| numbers.iter().flatten().map(Number::to_message).collect();
        let (first_part, second_part) = match method {
            Method::Max | Method::Min => (messages(&[best]), None),
            Method::Sum => (messages(&[sum]), None),
            Method::RowNum => (rows().into_iter().collect(), None),
            Method::Avg | Method::Std if sum.is_none() => (Vec::new(), None),
            Method::Avg => (messages(&[sum]), rows()),
            Method::Std => (messages(&[sum, squares]), rows()),
            // HBase's interpreters look at no column: what it calls weights are all cells once more. Clients use the sums only to
            // find the region in which they look closer.
            Method::Median => {
                let sum = sum.unwrap_or_else(|| interpreter.zero()).to_message();
                let weights = if self.weighted { sum.clone() } else { interpreter.least() };
                (vec![sum, weights], None)
            }
        };
        pb::AggregateResponse { first_part, second_part, ..pb::AggregateResponse::default() }
    }
}

/// A call under way.
pub(super) struct Aggregation {
    scanner: RegionScanner,
    sums: Sums,
    out: ScanOutput,
    limits: ScanLimits,
    rows_scanned: u64,
    block_bytes: u64,
}

impl Aggregation {
    /// Opens the scan; nothing is read yet.
    pub(super) fn begin(region: &Arc<Region>, call: &pb::CoprocessorServiceCall) -> Result<Aggregation, Fault> {
        let method = Method::of(call, region)?;
        let request = pb::AggregateRequest::decode(call.request.clone())
            .map_err(|e| Fault::bad_message("AggregateRequest", e))?;
        let mut spec = query::scan(&request.scan, region)?;
        let columns = request.scan.column.first().map(|column| column.qualifier.len());
        let interpreter = match (method, columns) {
            (Method::RowNum, _) => Interpreter::Long,
            (_, None) => return Err(Fault::do_not_retry("the scan of an aggregate must name a column family")),
            (_, Some(_)) => Interpreter::of_class(&request.interpreter_class_name)?,
        };
        if method == Method::RowNum && spec.filter.is_none() && columns.unwrap_or(0) == 0 {
            spec.filter = Some(build::first_key_only());
        }
        let weighted = columns.is_some_and(|columns| columns > 1);
        let limits = ScanLimits {
            size_bytes: BATCH_BYTES,
            allow_partial: true,
            pause_after_cells: FIRST_CELLS,
            ..ScanLimits::default()
        };
        Ok(Aggregation {
            scanner: region.scanner(spec)?,
            sums: Sums::new(method, interpreter, weighted),
            out: ScanOutput::new(false),
            limits,
            rows_scanned: 0,
            block_bytes: 0,
        })
    }

    /// Reads on for a slice, which waits for blocks. Whether that was all.
    fn step(&mut self, src: &dyn BlockSource) -> Result<bool, Fault> {
        let state = match self.scanner.next_batch(&self.limits, &mut || false, src, &mut self.out)? {
            Step::Ready(state) if state.end != ScanEnd::Paused => state,
            Step::Ready(_) | Step::Need(_) => return Ok(false),
        };
        let out = std::mem::replace(&mut self.out, ScanOutput::new(false));
        self.rows_scanned += out.counters.rows_scanned;
        self.block_bytes += out.counters.block_bytes;
        let mut cells = out.cells.iter();
        for result in &out.results {
            let mut of_row = cells.by_ref().take(result.cells).peekable();
            let Some(row) = of_row.peek().map(|cell| cell.row()) else { continue };
            self.sums.take(row, of_row.map(|cell| cell.value), !result.partial)?;
        }
        Ok(!state.more_in_region || state.filter_done)
    }

    /// All of it at once.
    pub(super) fn run(mut self, src: &dyn BlockSource) -> Result<pb::NameBytesPair, Fault> {
        while !self.step(src)? {
            stand_aside();
        }
        Ok(self.answer())
    }

    fn answer(self) -> pb::NameBytesPair {
        let value = Some(self.sums.answer().encode_to_vec().into());
        pb::NameBytesPair { name: ANSWER.to_owned(), value }
    }

    fn settle(&self, toll: &mut Toll) {
        let (rows, bytes) = (self.out.counters.rows_scanned, self.out.counters.block_bytes);
        toll.settle_scan(self.scanner.region(), self.rows_scanned + rows, self.block_bytes + bytes);
    }
}

/// A call that waits for its turn. It is decoded anew: next to what it does that is nothing.
struct Waits;

impl throttle::Work for Waits {
    fn keep(&mut self, _: &Arc<RegionServer>, call: &mut Call) {
        call.param = Bytes::copy_from_slice(&call.param);
    }

    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll) {
        server.exec_service(call, toll);
    }

    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>) {
        let begun = turn.and_then(|()| {
            let request = super::service::decode(&call.param)?;
            Ok((server.region(&request.region)?, request))
        });
        match begun {
            Ok((region, request)) => server.run_aggregate(call, toll, &region, request),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }
}

/// What is left to do of a call.
struct Work {
    toll: Toll,
    region: pb::RegionSpecifier,
    aggregation: Aggregation,
}

impl RegionServer {
    pub(super) fn aggregate(self: &Arc<Self>, call: Call, mut toll: Toll, request: pb::CoprocessorServiceRequest) {
        let region = match self.region(&request.region) {
            Ok(region) => region,
            Err(fault) => return call.responder.fail(fault.into_exception()),
        };
        match self.turn(&call, &mut toll, &region, (Operation::Scan, Cost { reads: 1, ..Cost::default() })) {
            Turn::Now => self.run_aggregate(call, toll, &region, request),
            Turn::Refused(fault) => call.responder.fail(fault.into_exception()),
            Turn::Later(later) => later.park(self, call, toll, Waits),
        }
    }

    /// Its turn has come.
    fn run_aggregate(
        self: &Arc<Self>,
        call: Call,
        toll: Toll,
        region: &Arc<Region>,
        request: pb::CoprocessorServiceRequest,
    ) {
        self.stats.exec_service.hit();
        match Aggregation::begin(region, &request.call) {
            Err(fault) => call.responder.fail(fault.into_exception()),
            Ok(aggregation) => {
                let work = Work { toll, region: request.region, aggregation };
                self.aggregate_later(Position::New, call, Box::new(work));
            }
        }
    }

    fn aggregate_later(self: &Arc<Self>, position: Position, call: Call, work: Box<Work>) {
        let (server, class) = (self.clone(), work.toll.class(Class::Scan));
        self.pool.spawn_rest(class, position, Rest::OnPool, call, move |call| server.go_on_aggregating(call, work));
    }

    fn go_on_aggregating(self: &Arc<Self>, call: Call, mut work: Box<Work>) {
        let (files, turn_began) = (self.ctx.stores.files.clone(), Instant::now());
        loop {
            if call.conn.is_closed() || call.expired_at(Instant::now()) {
                return call.responder.discard();
            }
            let began = Instant::now();
            let stepped = work.aggregation.step(&files.blocking());
            work.aggregation.settle(&mut work.toll);
            match stepped {
                Err(fault) => return call.responder.fail(fault.into_exception()),
                Ok(true) => {
                    let response =
                        pb::CoprocessorServiceResponse { region: work.region, value: work.aggregation.answer() };
                    return call.responder.ok(&response, Vec::new());
                }
                Ok(false) => {}
            }
            let limits = &mut work.aggregation.limits;
            let (cells, crowd) = (limits.pause_after_cells, self.pool.crowd_of_scans());
            limits.pause_after_cells = next_on_pool(cells, began.elapsed(), crowd);
            if !work.toll.is_batch() {
                if self.pool.is_out_of_place() {
                    return self.aggregate_later(Position::First, call, work);
                }
                if turn_began.elapsed() >= ON_POOL_TURN && self.pool.keeps_scans_waiting() {
                    return self.aggregate_later(Position::Last, call, work);
                }
            }
            stand_aside();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(method: Method, weighted: bool) -> Sums {
        Sums::new(method, Interpreter::Long, weighted)
    }

    fn take(sums: &mut Sums, row: &str, values: &[i64], is_over: bool) {
        let values: Vec<_> = values.iter().map(|value| value.to_be_bytes()).collect();
        sums.take(row.as_bytes(), values.iter().map(|value| &value[..]), is_over).unwrap();
    }

    fn longs(parts: &[Bytes]) -> Vec<i64> {
        parts.iter().map(|part| pb::LongMsg::decode(part.clone()).unwrap().long_msg).collect()
    }

    fn answer(method: Method, rows: &[(&str, &[i64], bool)]) -> (Vec<i64>, Option<i64>) {
        let mut sums = sums(method, false);
        rows.iter().for_each(|(row, values, is_over)| take(&mut sums, row, values, *is_over));
        let pb::AggregateResponse { first_part, second_part, .. } = sums.answer();
        let count = second_part.map(|bytes| i64::from_be_bytes(bytes[..].try_into().unwrap()));
        (longs(&first_part), count)
    }

    #[test]
    fn each_method_has_its_answer() {
        let rows = [("a", &[3, 4][..], true), ("b", &[-5], true), ("c", &[2], true)];
        assert_eq!(answer(Method::Max, &rows), (vec![4], None));
        assert_eq!(answer(Method::Min, &rows), (vec![-5], None));
        assert_eq!(answer(Method::Sum, &rows), (vec![4], None));
        assert_eq!(answer(Method::Avg, &rows), (vec![4], Some(3)));
        assert_eq!(answer(Method::Std, &rows), (vec![4, 49 + 25 + 4], Some(3)));
        assert_eq!(answer(Method::Median, &rows), (vec![4, i64::MIN], None));
    }

    #[test]
    fn a_row_in_pieces_is_one() {
        // The last piece of a row may not know that it is the last.
        let rows =
            [("a", &[3][..], false), ("a", &[4], false), ("b", &[1], false), ("c", &[1], true), ("c", &[], false)];
        assert_eq!(answer(Method::Std, &rows[..4]), (vec![9, 49 + 1 + 1], Some(3)));
        let mut count = sums(Method::RowNum, false);
        rows[..4].iter().for_each(|(row, values, is_over)| take(&mut count, row, values, *is_over));
        assert_eq!(&count.answer().first_part[0][..], 3i64.to_be_bytes());
    }

    #[test]
    fn rows_without_numbers_count_as_rows_and_nothing_else() {
        let mut sums = sums(Method::Avg, false);
        sums.take(b"a", [&b"no number"[..]].into_iter(), true).unwrap();
        take(&mut sums, "b", &[8], true);
        let answer = sums.answer();
        assert_eq!((longs(&answer.first_part), answer.second_part.unwrap()[7]), (vec![8], 2));
    }

    #[test]
    fn of_nothing_there_is_no_answer_but_a_count() {
        for method in [Method::Max, Method::Min, Method::Sum, Method::Avg, Method::Std] {
            assert_eq!(answer(method, &[]), (vec![], None), "{method:?}");
        }
        assert_eq!(&sums(Method::RowNum, false).answer().first_part[0][..], 0i64.to_be_bytes());
        assert_eq!(answer(Method::Median, &[]), (vec![0, i64::MIN], None));
        let mut weighted = sums(Method::Median, true);
        take(&mut weighted, "a", &[5, 2], true);
        assert_eq!(longs(&weighted.answer().first_part), [7, 7]);
    }
}
