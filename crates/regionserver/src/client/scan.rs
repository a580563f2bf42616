//! `ClientService.Scan`: open, next, renew and close of a scanner, in any combination that clients send.
//!
//! A call works in slices: the first ones on the network thread, as long as blocks are in memory; the rest, or a block
//! that must be read, on the pool, and all of it there if the scanner's last call took long. The rules of the flags are
//! those of HBase 2.6 `RSRpcServices.scan`.

use crate::error::Fault;
use crate::scanners::{Hold, Lookup, OpenScanner, Opening, Scanners};
use crate::throttle::{self, Toll, Turn};
use crate::{RegionServer, query, result, times};
use bytes::Bytes;
use martite_cell::CellBlock;
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;
use martite_quota::{Cost, Operation};
use martite_region::{Region, RegionError, ScanEnd, ScanLimits, ScanOutput, ScanState};
use martite_rpc::{
    Call, Class, Pool, Position, Rest, on_network_thread, others_wait, small_answers_leave, stand_aside,
};
use pb::Message;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long a call may run on the network thread before it goes to the pool, if nobody waits for that thread.
const INLINE: Duration = Duration::from_micros(100);
/// Cells of a scanner's first slice on a network thread, if a filter looks at them, and if all are returned, which may be large; and
/// how long another slice is about.
const FIRST_INLINE_CELLS: u64 = 250;
const FIRST_RETURNED_CELLS: u64 = 32;
const INLINE_SLICE: Duration = Duration::from_micros(12);
/// How long it may if others wait for that thread: a short scan is to end there all the same. One whose filter refuses rows tends to
/// be long, and goes at once, as does one of low priority.
const INLINE_BEFORE_OTHERS: Duration = Duration::from_micros(40);
/// Cells of one slice of low priority on the pool.
const BATCH_SLICE_CELLS: u64 = 500;
/// About how long another slice is there. After each one others may run who wait for the processor: the system may let them wait until
/// its next tick, milliseconds. So many times as long where as many scans run for each processor: they make way for each other, too,
/// which is to be no more frequent than that. And cells of the first one, where none before it tells, of the shortest and of the longest.
const ON_POOL_SLICE: Duration = Duration::from_micros(100);
const FIRST_ON_POOL_CELLS: u64 = 1_000;
const ON_POOL_CELLS: std::ops::RangeInclusive<u64> = 50..=20_000;
/// How long one goes on there while others wait: most have ended then.
pub(super) const ON_POOL_TURN: Duration = Duration::from_millis(4);
/// How long one goes on at most on a network thread that has nothing else to do; and about how long a slice is there of one of low
/// priority, and of any while clients get small answers, for which they would wait so much longer.
const ASIDE: Duration = Duration::from_micros(200);
const SHORT_SLICE: Duration = Duration::from_micros(8);
/// After it found a block that is not in memory it stays on the pool for so long: more of that kind may follow.
const AFTER_BLOCKED: Duration = Duration::from_millis(10);
/// One that has found so many bytes to return is left to the pool, if no small answers leave.
const LARGE_ANSWER: usize = 8 << 10;
/// Cells of the first such slice; of the shortest and of the longest of any on a network thread.
const FIRST_ASIDE_CELLS: u64 = 10;
const INLINE_CELLS: std::ops::RangeInclusive<u64> = 4..=1_000;

/// One Scan call under way.
struct Work {
    request: pb::ScanRequest,
    scanner: Arc<OpenScanner>,
    limits: ScanLimits,
    out: ScanOutput,
    response: pb::ScanResponse,
    /// Knows after each step what the call has read: however it ends, it is charged for that.
    toll: Toll,
    /// Whether rows that a filter left out do not count in bytes.
    counts_results_only: bool,
    /// When a heartbeat is due, for clients that understand it.
    give_up: Option<Instant>,
    may_heartbeat: bool,
    close: bool,
    rows: u64,
    /// Cells of the next slice on a network thread, and on one of the pool.
    cells: u64,
    cells_on_pool: u64,
    /// How long it has gone on there since its turn came.
    turn: Duration,
    /// When a slice there last found a block that is not in memory.
    blocked: Option<Instant>,
    /// Put off by the time in the pool's queue.
    started: Instant,
}

impl Work {
    /// Whether it may go on on the network thread.
    fn may_stay(&self, pool: &Pool) -> bool {
        let makes_way = self.toll.is_batch() || self.out.counters.rows_filtered > 0;
        stays(self.started.elapsed(), makes_way, || pool.scans_wait() || others_wait())
    }

    fn rest(&self) -> Rest {
        // After a block that is not in memory more may follow.
        let may_block = self.blocked.is_some_and(|at| at.elapsed() <= AFTER_BLOCKED);
        if may_block {
            Rest::OnPool
        } else {
            rest(self.out.cells.size_bytes(), self.toll.is_batch(), small_answers_leave)
        }
    }

    /// The last slice, on a network thread, took so long.
    fn next_slice(&mut self, took: Duration) {
        let others_come = self.toll.is_batch() || small_answers_leave();
        let wanted = if others_come { SHORT_SLICE } else { INLINE_SLICE };
        self.cells_on_pool = first_on_pool(self.cells, took);
        self.cells = next_slice(self.cells, took, wanted, INLINE_CELLS);
    }
}

/// Where one goes on that has found so many bytes, its blocks being in memory. Large answers
/// are made and written with fewer turns by threads that nobody else calls; but clients who wait for small ones would wait for the slices of
/// such a thread, where no processor is left for it. Batch work is done aside all the same.
fn rest(bytes: usize, is_batch: bool, small_answers_leave: impl FnOnce() -> bool) -> Rest {
    let is_large = bytes > LARGE_ANSWER && !is_batch && !small_answers_leave();
    if is_large { Rest::OnPool } else { Rest::Anywhere }
}

/// Cells of a call's first slice on a network thread: as the call before on its scanner says, or as fits what rows may be.
fn first_cells(pace: Option<u64>, filters: bool, is_batch: bool) -> u64 {
    let cells = pace.unwrap_or(if filters { FIRST_INLINE_CELLS } else { FIRST_RETURNED_CELLS });
    if is_batch { cells.min(FIRST_ASIDE_CELLS) } else { cells }
}

/// The rule for a scan that has worked so long, and makes way for others at once or not. Whether others wait is asked if it matters
/// only.
fn stays(worked: Duration, makes_way: bool, others_wait: impl FnOnce() -> bool) -> bool {
    let is_brief = worked < INLINE_BEFORE_OTHERS && !makes_way;
    is_brief || worked < INLINE && !others_wait()
}

/// Cells of the first slice on the pool, after one of so many took so long on a network thread.
fn first_on_pool(cells: u64, took: Duration) -> u64 {
    fitting(cells, took, ON_POOL_SLICE).clamp(*ON_POOL_CELLS.start(), *ON_POOL_CELLS.end())
}

/// Cells of the next slice on the pool, where so many run for each processor, after one of so many took so long.
pub(super) fn next_on_pool(cells: u64, took: Duration, crowd: usize) -> u64 {
    next_slice(cells, took, ON_POOL_SLICE * crowd as u32, ON_POOL_CELLS)
}

/// Cells of the next slice, which is to take about `wanted`, after one of so many took so long.
fn next_slice(cells: u64, took: Duration, wanted: Duration, bounds: std::ops::RangeInclusive<u64>) -> u64 {
    fitting(cells, took, wanted).clamp(cells / 2, cells.saturating_mul(2)).clamp(*bounds.start(), *bounds.end())
}

/// Cells that take so long as is wanted, if so many took so long.
fn fitting(cells: u64, took: Duration, wanted: Duration) -> u64 {
    let cells = u128::from(cells) * wanted.as_nanos() / took.as_nanos().max(1);
    u64::try_from(cells).unwrap_or(u64::MAX)
}

/// What a request names.
enum Named {
    /// A region, to open a scanner on; a replica's answers are stale.
    Region(Arc<Region>, bool),
    Scanner(Arc<OpenScanner>),
    /// A scanner that has ended, which clients may not know yet.
    Ended,
}

/// A call that waits. It is decoded anew: next to what a scan does that is nothing, and the scanner may have gone.
struct Waits {
    /// Given back when its turn comes, or when nobody waits for it any more; meanwhile its lease stands still.
    scanner: Option<Hold>,
}

impl throttle::Work for Waits {
    fn keep(&mut self, _: &Arc<RegionServer>, call: &mut Call) {
        call.param = Bytes::copy_from_slice(&call.param);
    }

    fn begin(self, server: &Arc<RegionServer>, call: Call, toll: Toll) {
        drop(self.scanner);
        server.scan(call, toll);
    }

    fn go_on(self, server: &Arc<RegionServer>, call: Call, toll: Toll, turn: Result<(), Fault>) {
        drop(self.scanner);
        match turn.and_then(|()| server.decode_scan(&call)) {
            Ok((request, named)) => server.run_scan(call, toll, request, named),
            Err(fault) => call.responder.fail(fault.into_exception()),
        }
    }
}

enum Opened {
    /// Answer at once: nothing to scan.
    Answer(pb::ScanResponse),
    Work(Box<Work>),
}

impl RegionServer {
    pub(crate) fn scan(self: &Arc<Self>, call: Call, toll: Toll) {
        let (request, named) = match self.decode_scan(&call) {
            Ok(decoded) => decoded,
            Err(fault) => return call.responder.fail(fault.into_exception()),
        };
        if let Some((call, toll)) = self.turn_of_scan(call, toll, &request, &named) {
            self.run_scan(call, toll, request, named);
        }
    }

    /// Its turn has come.
    fn run_scan(self: &Arc<Self>, mut call: Call, toll: Toll, request: pb::ScanRequest, named: Named) {
        self.stats.scan.hit();
        if !is_short(&request) {
            call.responder.note_part();
        }
        let mut work = match self.open_work(&call, toll, request, named) {
            Err(fault) => return call.responder.fail(fault.into_exception()),
            Ok(Opened::Answer(response)) => return call.responder.ok(&response, Vec::new()),
            Ok(Opened::Work(work)) => work,
        };
        if work.rows == 0 {
            work.response.more_results_in_region = Some(true);
            return self.finish_scan(call, *work, None);
        }
        if work.scanner.state.lock().is_long {
            return self.scan_on_pool(Rest::Anywhere, call, work);
        }
        let files = self.ctx.stores.files.clone();
        let src = files.cache_only();
        // Others may have come while it was opened.
        if work.toll.is_batch() && others_wait() {
            return self.scan_on_pool(Rest::Anywhere, call, work);
        }
        let began = Instant::now();
        let stepped = loop {
            match slice(&mut work, &src) {
                Ok(Stepped::Paused) if work.may_stay(&self.pool) => {}
                stepped => break stepped,
            }
        };
        self.pool.note_scan_inline(began.elapsed());
        match stepped {
            Ok(Stepped::Ended(state)) => self.finish_scan(call, *work, Some(state)),
            Ok(Stepped::Paused | Stepped::Blocked) => self.scan_on_pool(work.rest(), call, work),
            Err(e) => self.fail_scan(call, &work, e),
        }
    }

    /// Queues it for the first time.
    fn scan_on_pool(self: &Arc<Self>, rest: Rest, mut call: Call, work: Box<Work>) {
        call.responder.note_part();
        let (pool, class) = (self.pool.clone(), work.toll.class(Class::Scan));
        pool.spawn_rest(class, Position::New, rest, call, self.rest_of_scan(work));
    }

    /// Queues what is left of it.
    fn go_on_later(self: &Arc<Self>, position: Position, call: Call, work: Box<Work>) {
        let class = if work.toll.is_batch() { Class::Batch } else { Class::Scan };
        self.pool.clone().spawn_rest(class, position, work.rest(), call, self.rest_of_scan(work));
    }

    /// What is left to do of a scan, on a thread of the pool, or on a network thread that has nothing else to do.
    fn rest_of_scan(self: &Arc<Self>, mut work: Box<Work>) -> impl FnOnce(Call) + Send + 'static {
        let server = self.clone();
        let mut abandoned = Abandoned { server: self.clone(), scanner: Some(work.scanner.clone()) };
        let queued = Instant::now();
        move |call| {
            // From here on the call itself ends the scanner or gives it back.
            abandoned.is_taken_up();
            work.started += queued.elapsed();
            if on_network_thread() { server.scan_aside(call, work) } else { server.scan_to_its_end(call, work) }
        }
    }

    fn scan_to_its_end(self: &Arc<Self>, call: Call, mut work: Box<Work>) {
        let files = self.ctx.stores.files.clone();
        let (stands_back, turn_began) = (work.toll.is_batch(), Instant::now());
        loop {
            work.limits.pause_after_cells = if stands_back { BATCH_SLICE_CELLS } else { work.cells_on_pool };
            if call.conn.is_closed() {
                return self.give_up_scan(call, &work);
            }
            let began = Instant::now();
            match step(&mut work, &files.blocking()) {
                Ok(Stepped::Ended(state)) => return self.finish_scan(call, *work, Some(state)),
                Ok(Stepped::Paused | Stepped::Blocked) if stands_back => {
                    if work.rest() == Rest::Anywhere && self.pool.is_in_the_way() {
                        return self.go_on_later(Position::First, call, work);
                    }
                    stand_aside();
                }
                Ok(Stepped::Paused | Stepped::Blocked) => {
                    let (cells, took) = (work.cells_on_pool, began.elapsed());
                    work.cells_on_pool = next_on_pool(cells, took, self.pool.crowd_of_scans());
                    if self.pool.is_out_of_place() {
                        return self.go_on_later(Position::First, call, work);
                    }
                    if turn_began.elapsed() >= ON_POOL_TURN && self.pool.keeps_scans_waiting() {
                        return self.go_on_later(Position::Last, call, work);
                    }
                    stand_aside();
                }
                Err(e) => return self.fail_scan(call, &work, e),
            }
        }
    }

    /// A piece of a scan, by a network thread: until somebody wants something of it.
    fn scan_aside(self: &Arc<Self>, call: Call, mut work: Box<Work>) {
        if call.conn.is_closed() {
            return self.give_up_scan(call, &work);
        }
        let (files, began) = (self.ctx.stores.files.clone(), Instant::now());
        loop {
            match slice(&mut work, &files.cache_only()) {
                Ok(Stepped::Ended(state)) => return self.finish_scan(call, *work, Some(state)),
                Err(e) => return self.fail_scan(call, &work, e),
                Ok(Stepped::Paused) if began.elapsed() < ASIDE && !others_wait() => {}
                Ok(Stepped::Paused | Stepped::Blocked) => break,
            }
        }
        work.turn += began.elapsed();
        let position = if work.turn >= ON_POOL_TURN && !work.toll.is_batch() && self.pool.scans_wait() {
            work.turn = Duration::ZERO;
            Position::Last
        } else {
            Position::First
        };
        self.go_on_later(position, call, work);
    }

    fn give_up_scan(&self, call: Call, work: &Work) {
        self.scanners.close(&work.scanner, true);
        call.responder.discard();
    }

    fn decode_scan(&self, call: &Call) -> Result<(pb::ScanRequest, Named), Fault> {
        let request = pb::ScanRequest::decode(call.param.clone()).map_err(|e| Fault::bad_message("ScanRequest", e))?;
        if request.scanner_id.is_none() && request.scan.is_none() {
            return Err(Fault::do_not_retry("Missing required input: scannerId or scan"));
        }
        let named = match (request.scanner_id, &request.region) {
            (Some(id), _) => match self.find_scanner(id, &request)? {
                Some(scanner) => Named::Scanner(scanner),
                None => Named::Ended,
            },
            (None, Some(region)) => {
                let (region, stale) = self.readable(region)?;
                Named::Region(region, stale)
            }
            (None, None) => return Err(Fault::do_not_retry("Missing required input: region")),
        };
        Ok((request, named))
    }

    /// None: the call waits, or was refused. What reads no rows is free.
    fn turn_of_scan(
        self: &Arc<Self>,
        call: Call,
        mut toll: Toll,
        request: &pb::ScanRequest,
        named: &Named,
    ) -> Option<(Call, Toll)> {
        if request.renew == Some(true) || rows_wanted(request) == 0 {
            return Some((call, toll));
        }
        let what = (Operation::Scan, Cost { reads: 1, ..Cost::default() });
        let (region, scanner) = match named {
            Named::Ended => return Some((call, toll)),
            Named::Region(region, _) => (region, None),
            Named::Scanner(scanner) => (&scanner.region, Some(scanner)),
        };
        match self.turn(&call, &mut toll, region, what) {
            Turn::Now => return Some((call, toll)),
            Turn::Refused(fault) => {
                if let Some(scanner) = scanner {
                    self.scanners.release(scanner);
                }
                call.responder.fail(fault.into_exception());
            }
            Turn::Later(later) => {
                let scanner = scanner.map(|scanner| Hold { server: self.clone(), scanner: scanner.clone() });
                later.park(self, call, toll, Waits { scanner });
            }
        }
        None
    }

    fn open_work(&self, call: &Call, toll: Toll, request: pb::ScanRequest, named: Named) -> Result<Opened, Fault> {
        let mut response = pb::ScanResponse { scanner_id: request.scanner_id, ..Default::default() };
        let scanner = match named {
            Named::Ended => return Ok(Opened::Answer(response)),
            Named::Scanner(scanner) => scanner,
            Named::Region(region, stale) => self.open_scanner(region, stale, &request, &mut response)?,
        };
        let checked = check_call_seq(&request, &scanner);
        if request.renew == Some(true) || checked.is_err() {
            self.scanners.release(&scanner);
            checked?;
            return Ok(Opened::Answer(response));
        }
        Ok(Opened::Work(Box::new(self.prepare(call, toll, request, scanner, response))))
    }

    /// The scanner of a `next`, its lease stopped. None: it has ended, which clients may not know yet.
    fn find_scanner(&self, id: u64, request: &pb::ScanRequest) -> Result<Option<Arc<OpenScanner>>, Fault> {
        let scanner = match self.scanners.find(id) {
            Lookup::Open(scanner) => scanner,
            Lookup::Closed { next_call_seq } => {
                return match request.next_call_seq {
                    Some(seq) if seq != next_call_seq + 1 => Err(Fault::out_of_order_next(format!(
                        "Expected nextCallSeq for closed request: {} But the nextCallSeq got from client: {seq}",
                        next_call_seq + 1
                    ))),
                    _ => Ok(None),
                };
            }
            Lookup::Unknown => {
                return Err(Fault::unknown_scanner(format!(
                    "Unknown scanner '{id}': the id is wrong, its lease expired (hbase.client.scanner.timeout.period), \
                     or the server was restarted"
                )));
            }
        };
        if !self.online.is_current(&scanner.region) {
            self.scanners.close(&scanner, true);
            return Err(Fault::not_serving(format!(
                "Region has changed on the scanner {id}: regionName={}",
                scanner.region.info().name_string()
            )));
        }
        if !self.scanners.acquire(&scanner) {
            return Err(Fault::lease(format!("lease '{id}' does not exist: another call is using the scanner")));
        }
        Ok(Some(scanner))
    }

    fn open_scanner(
        &self,
        region: Arc<Region>,
        stale: bool,
        request: &pb::ScanRequest,
        response: &mut pb::ScanResponse,
    ) -> Result<Arc<OpenScanner>, Fault> {
        let Some(scan) = &request.scan else {
            return Err(Fault::do_not_retry("Missing required input: scan"));
        };
        let spec = query::scan(scan, &region)?;
        let scanner = region.scanner(spec)?;
        response.mvcc_read_point = Some(scanner.read_point());
        response.ttl = Some(self.scanners.lease_ms());
        let open = self.scanners.open(Opening {
            region,
            scanner,
            max_result_size: scan.max_result_size.unwrap_or(0),
            batch: scan.batch_size.unwrap_or(0),
            needs_cursor: scan.need_cursor_result.unwrap_or(false),
            stale,
        });
        response.scanner_id = Some(open.id);
        Ok(open)
    }

    fn prepare(
        &self,
        call: &Call,
        toll: Toll,
        request: pb::ScanRequest,
        scanner: Arc<OpenScanner>,
        response: pb::ScanResponse,
    ) -> Work {
        let close = request.close_scanner.unwrap_or(false);
        let rows = rows_wanted(&request);
        let allow_partial = request.client_handles_partials.unwrap_or(false);
        let may_heartbeat = allow_partial && request.client_handles_heartbeats.unwrap_or(false);
        let server_max = self.options.max_result_bytes as u64;
        let size_bytes = match scanner.max_result_size {
            0 => server_max,
            asked => asked.min(server_max),
        };
        let limits = ScanLimits {
            results: rows,
            batch: scanner.batch,
            size_bytes,
            block_bytes: server_max,
            rows: request.limit_of_rows.unwrap_or(0),
            allow_partial,
            pause_after_cells: 0,
        };
        let give_up = may_heartbeat.then(|| call.received + self.scan_time_limit(call));
        let filters = request.scan.as_ref().is_some_and(|scan| scan.filter.is_some());
        let pace = scanner.state.lock().pace;
        let cells = first_cells(pace, filters, toll.is_batch());
        // On a network thread others would wait while a buffer that has doubled is copied. Where nobody does, it is not worth the memory.
        let at_once = if small_answers_leave() { size_bytes } else { 0 };
        let out = ScanOutput { cells: result::scan_buffer(call.conn.codec, at_once), ..ScanOutput::new(false) };
        Work {
            request,
            scanner,
            limits,
            out,
            response,
            toll,
            counts_results_only: self.options.quotas.use_result_size,
            give_up,
            may_heartbeat,
            close,
            rows,
            cells,
            cells_on_pool: FIRST_ON_POOL_CELLS,
            turn: Duration::ZERO,
            blocked: None,
            started: Instant::now(),
        }
    }

    /// Half of the shorter of lease and call timeout.
    fn scan_time_limit(&self, call: &Call) -> Duration {
        let lease = u64::from(self.scanners.lease_ms());
        let limit = match call.timeout_ms {
            0 => lease,
            timeout => lease.min(u64::from(timeout)),
        };
        Duration::from_millis((limit / 2).max(self.options.min_scan_time_limit_ms))
    }

    fn fail_scan(&self, call: Call, work: &Work, error: RegionError) {
        self.scanners.close(&work.scanner, true);
        let fault = Fault::from(error);
        let fault = if fault.do_not_retry || fault.class.ends_with("NotServingRegionException") {
            fault
        } else if call.conn.has_version(1, 4) {
            Fault::scanner_reset(format!("Scanner is closed on the server-side: {}", fault.text()))
        } else {
            Fault::unknown_scanner(format!("Scanner is closed on the server-side: {}", fault.text()))
        };
        call.responder.fail(fault.into_exception());
    }

    fn finish_scan(&self, mut call: Call, work: Work, state: Option<ScanState>) {
        let Work { request, scanner, out, mut response, toll, may_heartbeat, close, started, cells, .. } = work;
        let empty = out.results.is_empty();
        drop(toll);
        response.stale = scanner.stale.then_some(true);
        if let Some(state) = &state {
            response.more_results_in_region = Some(state.more_in_region);
            if state.end == ScanEnd::Rows || (state.filter_done && empty) {
                response.more_results = Some(false);
            }
            let nothing_yet = state.end == ScanEnd::Size && empty;
            if state.more_in_region && may_heartbeat && (state.end == ScanEnd::Time || nothing_yet) {
                response.heartbeat_message = Some(true);
                if scanner.needs_cursor {
                    response.cursor = state.cursor.clone().map(|row| pb::Cursor { row: Some(row) });
                }
            }
        }
        {
            let mut state = scanner.state.lock();
            (state.is_long, state.pace) = (started.elapsed() >= INLINE, Some(cells));
        }
        let more = *response.more_results.get_or_insert(true);
        if close || !more || response.more_results_in_region == Some(false) {
            self.scanners.close(&scanner, false);
            if request.scanner_id.is_none() {
                response.scanner_id = Some(Scanners::id_of_ended(&scanner));
            }
        } else if request.scanner_id.is_some() {
            self.scanners.release(&scanner);
        } else {
            self.scanners.add(scanner.clone());
        }
        if request.track_scan_metrics == Some(true) {
            response.scan_metrics = Some(metrics(&out, &call, started));
        }
        let block = fill(&mut response, out, call.conn.codec);
        times::record(&scanner.region, &mut call.responder, |table| &table.scan);
        call.responder.ok(&response, block);
    }
}

/// Whether its client wants but few rows, by this call. Else a small answer is the rest of a region, or the beginning of a scan.
fn is_short(request: &pb::ScanRequest) -> bool {
    request.scanner_id.is_none() && request.limit_of_rows.is_some_and(|rows| rows > 0)
}

/// Rows that a request asks for; 0: only to open, renew or close.
fn rows_wanted(request: &pb::ScanRequest) -> u64 {
    let close = request.close_scanner.unwrap_or(false);
    u64::from(request.number_of_rows.unwrap_or(u32::from(!close)))
}

/// Closes the scanner of a call that the pool dropped: its queue was full, or the client gave up.
struct Abandoned {
    server: Arc<RegionServer>,
    scanner: Option<Arc<OpenScanner>>,
}

impl Abandoned {
    /// Its call goes on.
    fn is_taken_up(&mut self) {
        self.scanner = None;
    }
}

impl Drop for Abandoned {
    fn drop(&mut self) {
        if let Some(scanner) = &self.scanner {
            self.server.scanners.close(scanner, true);
        }
    }
}

/// How a slice of a scan ended.
enum Stepped {
    Ended(ScanState),
    /// The slice is over.
    Paused,
    /// A block is not in memory.
    Blocked,
}

/// A slice on a network thread.
fn slice(work: &mut Work, src: &dyn BlockSource) -> Result<Stepped, RegionError> {
    work.limits.pause_after_cells = work.cells;
    let began = Instant::now();
    let stepped = step(work, src)?;
    match stepped {
        Stepped::Paused => work.next_slice(began.elapsed()),
        Stepped::Blocked => work.blocked = Some(Instant::now()),
        Stepped::Ended(_) => {}
    }
    Ok(stepped)
}

/// Scans on.
fn step(work: &mut Work, src: &dyn BlockSource) -> Result<Stepped, RegionError> {
    let give_up = work.give_up;
    let mut expired = || give_up.is_some_and(|at| Instant::now() >= at);
    let stepped = match work.scanner.state.lock().scanner.next_batch(&work.limits, &mut expired, src, &mut work.out) {
        Ok(Step::Need(_)) | Err(RegionError::WouldBlock) => Ok(Stepped::Blocked),
        Ok(Step::Ready(state)) if state.end == ScanEnd::Paused => Ok(Stepped::Paused),
        Ok(Step::Ready(state)) => Ok(Stepped::Ended(state)),
        Err(e) => Err(e),
    };
    let read_bytes = bytes_read(&work.out, work.counts_results_only);
    work.toll.settle_scan(&work.scanner.region, work.out.counters.rows_scanned, read_bytes);
    stepped
}

/// What a scan counts as having read: what it answers, or the blocks it went through where a filter left rows out.
fn bytes_read(out: &ScanOutput, results_only: bool) -> u64 {
    let answered = out.cells.size_bytes() as u64;
    let filtered = out.counters.rows_filtered > 0 && !results_only;
    if filtered { answered.max(out.counters.block_bytes) } else { answered }
}

fn check_call_seq(request: &pb::ScanRequest, scanner: &OpenScanner) -> Result<(), Fault> {
    let Some(seq) = request.next_call_seq else { return Ok(()) };
    scanner
        .next_call_seq
        .compare_exchange(seq, seq.wrapping_add(1), Ordering::AcqRel, Ordering::Acquire)
        .map(drop)
        .map_err(|expected| {
            Fault::out_of_order_next(format!(
                "Expected nextCallSeq: {expected} But the nextCallSeq got from client: {seq}; region={}",
                scanner.region.info().name_string()
            ))
        })
}

/// Puts the Results into the answer; what is returned is its cell block.
fn fill(response: &mut pb::ScanResponse, out: ScanOutput, codec: Option<martite_cell::Codec>) -> CellBlock {
    let Some(codec) = codec else {
        let mut cells = out.cells.iter();
        for mark in &out.results {
            let mut one = result::inline(cells.by_ref().take(mark.cells));
            one.partial = mark.partial.then_some(true);
            response.results.push(one);
        }
        return CellBlock::default();
    };
    response.cells_per_result = out.results.iter().map(|m| m.cells as u32).collect();
    response.partial_flag_per_result = out.results.iter().map(|m| m.partial).collect();
    result::block(out.cells, codec)
}

fn metrics(out: &ScanOutput, call: &Call, started: Instant) -> pb::ScanMetrics {
    let c = &out.counters;
    let pairs = [
        ("ROWS_SCANNED", c.rows_scanned),
        ("ROWS_FILTERED", c.rows_filtered),
        ("BLOCK_BYTES_SCANNED", c.block_bytes),
        ("FS_READ_TIME", 0),
        ("BYTES_READ_FROM_FS", 0),
        ("BYTES_READ_FROM_BLOCK_CACHE", c.block_bytes),
        ("BYTES_READ_FROM_MEMSTORE", 0),
        ("BLOCK_READ_OPS_COUNT", 0),
        ("RPC_SCAN_PROCESSING_TIME", started.elapsed().as_millis() as u64),
        ("RPC_SCAN_QUEUE_WAIT_TIME", started.duration_since(call.received).as_millis() as u64),
    ];
    pb::ScanMetrics {
        metrics: pairs
            .iter()
            .map(|(name, value)| pb::NameInt64Pair { name: Some((*name).to_owned()), value: Some(*value as i64) })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of a slice after some others, where a cell takes so many nanoseconds.
    fn settles_at(first: u64, next: impl Fn(u64, Duration) -> u64, cell_ns: u64) -> u64 {
        let slices =
            std::iter::successors(Some(first), |cells| Some(next(*cells, Duration::from_nanos(cells * cell_ns))));
        slices.take(12).last().unwrap()
    }

    #[test]
    fn slices_take_about_as_long_whatever_the_cells_are() {
        for (cell_ns, cells) in [(0, 1_000), (10, 800), (100, 80), (500, 16), (2_000, 4), (1_000_000, 4)] {
            let next = |cells, took| next_slice(cells, took, SHORT_SLICE, INLINE_CELLS);
            assert_eq!(settles_at(FIRST_ASIDE_CELLS, next, cell_ns), cells, "{cell_ns} ns");
        }
        for (cell_ns, cells) in [(0, 20_000), (20, 5_000), (150, 666), (2_000, 50), (1_000_000, 50)] {
            let next = |cells, took| next_on_pool(cells, took, 1);
            assert_eq!(settles_at(FIRST_ON_POOL_CELLS, next, cell_ns), cells, "{cell_ns} ns");
        }
        // As the slice before on a network thread says.
        let from_thread = |cells, micros| first_on_pool(cells, Duration::from_micros(micros));
        assert_eq!([from_thread(250, 3), from_thread(10, 20), from_thread(4, 1_000)], [8_333, 50, 50]);
        assert_eq!([from_thread(250, 25), from_thread(1_000, 0)], [1_000, 20_000]);
        // Eight scans for each processor.
        assert_eq!(settles_at(FIRST_ON_POOL_CELLS, |cells, took| next_on_pool(cells, took, 8), 150), 5_333);
    }

    #[test]
    fn a_scan_is_short_if_its_client_says_so() {
        let request = |scanner_id, limit_of_rows| pb::ScanRequest { scanner_id, limit_of_rows, ..Default::default() };
        assert!(is_short(&request(None, Some(10))));
        assert!(!is_short(&request(Some(1), Some(10))), "it goes on");
        assert!([None, Some(0)].iter().all(|rows| !is_short(&request(None, *rows))));
    }

    #[test]
    fn a_calls_first_slice_is_short_whatever_its_rows_are() {
        assert_eq!(first_cells(None, true, false), FIRST_INLINE_CELLS);
        assert_eq!(first_cells(None, false, false), FIRST_RETURNED_CELLS);
        assert_eq!([true, false].map(|filters| first_cells(Some(17), filters, false)), [17, 17]);
        assert_eq!([None, Some(1_000), Some(4)].map(|pace| first_cells(pace, true, true)), [10, 10, 4]);
    }

    #[test]
    fn a_large_answer_is_left_to_the_pool_if_no_small_ones_leave() {
        let of = |bytes, is_batch, small| rest(bytes, is_batch, || small);
        assert_eq!(of(LARGE_ANSWER + 1, false, false), Rest::OnPool);
        assert_eq!(of(LARGE_ANSWER + 1, false, true), Rest::Anywhere);
        let unasked = |bytes, is_batch| rest(bytes, is_batch, || panic!("asked in vain"));
        assert_eq!([unasked(LARGE_ANSWER, false), unasked(LARGE_ANSWER + 1, true)], [Rest::Anywhere; 2]);
    }

    #[test]
    fn a_scan_leaves_the_network_thread_sooner_if_others_wait() {
        let us = Duration::from_micros;
        let before_others = |worked, makes_way| stays(us(worked), makes_way, || true);
        assert!(before_others(39, false) && !before_others(40, false) && !before_others(0, true));
        let alone = |worked, makes_way| stays(us(worked), makes_way, || false);
        assert!([false, true].iter().all(|makes_way| alone(99, *makes_way) && !alone(100, *makes_way)));
        let unasked = |worked, makes_way| stays(us(worked), makes_way, || panic!("asked in vain"));
        assert!(unasked(39, false) && !unasked(100, true));
    }
}
