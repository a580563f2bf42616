//! [`Scanner`]: the rows of a scan, region by region, each region's asked for in several calls.
//!
//! ```text
//! open region 1 ─▶ rows ─ next ─▶ rows ─ next ─▶ rows, the region has no more ─▶ open region 2 …
//!                         └ sent while the caller is still busy with the second half of the rows before
//! ```
//! What is lost (a region that moves, a server that ends, a lease) is opened again behind the last row that was handed
//! out, so that the caller sees each row once.

use crate::connection::{call_options, decoded};
use crate::exception::Reaction;
use crate::locations::Region;
use crate::metrics::ScanMetrics;
use crate::pieces::Pieces;
use crate::retry::Attempts;
use crate::row::{Block, Row};
use crate::{Error, Scan, Table};
use bytes::Bytes;
use martite_proto as pb;
use martite_rpc::client::{Answer, PendingCall};
use pb::Message;
use std::sync::Arc;
use std::time::Duration;

/// A scan under way. Dropping it ends it on the server, too.
///
/// ```no_run
/// # use martite_client::{Error, Scan, Table};
/// # async fn print(table: Table) -> Result<(), Error> {
/// let mut scanner = table.scan(Scan::new().prefix("user1/").family("f"));
/// while let Some(row) = scanner.next().await? {
///     println!("{:?}", row.value("f", "name"));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Scanner {
    table: Table,
    scan: Scan,
    pieces: Pieces,
    place: Place,
    flight: Option<Flight>,
    /// Rows of the last answer: when half of them are gone the next call is sent.
    answered: usize,
    metrics: ScanMetrics,
}

/// Where the scan is.
#[derive(Debug)]
enum Place {
    /// Before the region of the scan's start row.
    Closed,
    Open {
        region: Arc<Region>,
        scanner_id: u64,
        next_call_seq: u64,
    },
    /// There are no more rows.
    Done,
}

/// A call under way.
#[derive(Debug)]
struct Flight {
    region: Arc<Region>,
    pending: PendingCall,
    opens: bool,
    limit: Duration,
}

impl Scanner {
    pub(crate) fn new(table: Table, mut scan: Scan) -> Scanner {
        let options = table.connection.options();
        scan.proto.max_result_size.get_or_insert(options.scanner_max_result_bytes);
        scan.caching.get_or_insert(options.scanner_caching);
        scan.proto.caching = scan.caching;
        scan.proto.allow_partial_results = scan.allow_partials.then_some(true);
        let pieces = Pieces::new(&scan);
        Scanner {
            table,
            scan,
            pieces,
            place: Place::Closed,
            flight: None,
            answered: 0,
            metrics: ScanMetrics::default(),
        }
    }

    /// The next row; `None`: there are no more.
    ///
    /// The future may be dropped: no row is lost.
    pub async fn next(&mut self) -> Result<Option<Row>, Error> {
        loop {
            if let Some(row) = self.pieces.next() {
                if self.pieces.ready() * 2 <= self.answered {
                    self.prefetch();
                }
                return Ok(Some(row));
            }
            if matches!(self.place, Place::Done) {
                return Ok(None);
            }
            self.fetch().await?;
        }
    }

    /// All rows that are there without waiting, at least one; empty: there are no more.
    pub async fn next_rows(&mut self) -> Result<Vec<Row>, Error> {
        let Some(first) = self.next().await? else { return Ok(Vec::new()) };
        let mut rows = vec![first];
        rows.extend(std::iter::from_fn(|| self.pieces.next()));
        self.prefetch();
        Ok(rows)
    }

    /// All rows that are left.
    pub async fn collect(mut self) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }

    /// What was counted until now.
    pub fn metrics(&self) -> &ScanMetrics {
        &self.metrics
    }

    /// Gets some answer that brings the scan forward.
    async fn fetch(&mut self) -> Result<(), Error> {
        let table = self.table.clone();
        let options = table.connection.options();
        let mut attempts = Attempts::new(options, options.operation_timeout);
        loop {
            let error = match self.answer(attempts.limit(options.scanner_timeout)).await {
                Ok((flight, answer)) => return self.accept(&flight, answer),
                Err((error, region)) => (error, region),
            };
            let (error, region) = error;
            self.metrics.retried(&error);
            let reaction = match crate::retry::reaction(&error) {
                Reaction::Reopen => Reaction::Reopen,
                _ => region.map_or_else(|| crate::retry::reaction(&error), |region| table.learn(&region, &error)),
            };
            if !matches!(reaction, Reaction::Retry | Reaction::Overloaded | Reaction::Wait(_) | Reaction::Immediately) {
                self.reopen(&reaction);
            }
            attempts.after(error, &reaction).await?;
        }
    }

    /// The answer of the call under way, or of one that is sent now.
    async fn answer(&mut self, limit: Duration) -> Result<(Flight, Answer), (Error, Option<Arc<Region>>)> {
        if self.flight.is_none() {
            let region = self.region().await.map_err(|e| (e, None))?;
            self.send(region, limit).await?;
        }
        let Some(flight) = &mut self.flight else { return Err((Error::malformed("no call"), None)) };
        let answer = (&mut flight.pending).await;
        let Some(flight) = self.flight.take() else { return Err((Error::malformed("no call"), None)) };
        match answer {
            Ok(answer) => Ok((flight, answer)),
            Err(error) => Err((flight.region.peer.failed(error, "Scan", flight.limit), Some(flight.region))),
        }
    }

    async fn send(&mut self, region: Arc<Region>, limit: Duration) -> Result<(), (Error, Option<Arc<Region>>)> {
        let (message, opens) = self.request(&region);
        let options = call_options(limit, self.scan.priority);
        let sent = region.peer.send("Scan", &message, &[], &options, limit).await;
        let pending = sent.map_err(|e| (e, Some(region.clone())))?;
        self.flight = Some(Flight { region, pending, opens, limit });
        self.metrics.called();
        Ok(())
    }

    /// Sends the next call if that needs no waiting.
    fn prefetch(&mut self) {
        if self.flight.is_some() || self.pieces.is_full() {
            return;
        }
        let region = match &self.place {
            Place::Done => None,
            Place::Open { region, .. } => Some(region.clone()),
            Place::Closed => self.known_region(),
        };
        let Some(region) = region else { return };
        let limit = self.table.connection.options().scanner_timeout;
        let (message, opens) = self.request(&region);
        if let Some(pending) = region.peer.try_send("Scan", &message, &call_options(limit, self.scan.priority), limit) {
            self.flight = Some(Flight { region, pending, opens, limit });
            self.metrics.called();
        }
    }

    fn known_region(&self) -> Option<Arc<Region>> {
        let (row, before) = self.from();
        if before { self.table.regions.before(&row) } else { self.table.regions.of_row(&row) }
    }

    /// The region that the next call goes to.
    async fn region(&self) -> Result<Arc<Region>, Error> {
        if let Place::Open { region, .. } = &self.place {
            return Ok(region.clone());
        }
        let (row, before) = self.from();
        let (connection, regions) = (&self.table.connection, &self.table.regions);
        if before { connection.locate_before(regions, &row).await } else { connection.locate(regions, &row).await }
    }

    /// The row whose region comes next, and whether it is the region with the row before it.
    fn from(&self) -> (Bytes, bool) {
        let row = self.scan.proto.start_row.clone().unwrap_or_default();
        let before = self.scan.is_reversed() && (row.is_empty() || !self.scan.proto.include_start_row());
        (row, before)
    }

    /// The next call's message, and whether it opens a scanner.
    fn request(&self, region: &Region) -> (Vec<u8>, bool) {
        let left = self.pieces.rows_left();
        let mut rows = self.scan.caching.unwrap_or(1).max(1);
        if left > 0 && self.scan.proto.batch_size.is_none() && !self.scan.allow_partials {
            rows = rows.min(left);
        }
        let mut request = pb::ScanRequest {
            number_of_rows: Some(rows),
            client_handles_partials: Some(true),
            client_handles_heartbeats: Some(true),
            track_scan_metrics: self.scan.metrics.then_some(true),
            limit_of_rows: (left > 0).then_some(left),
            ..Default::default()
        };
        match &self.place {
            Place::Open { scanner_id, next_call_seq, .. } => {
                request.scanner_id = Some(*scanner_id);
                request.next_call_seq = Some(*next_call_seq);
                (request.encode_to_vec(), false)
            }
            _ => {
                let mut message = region.request(&self.scan.proto);
                // prost's own encoding of the other fields follows those two.
                request.encode_raw(&mut message);
                (message, true)
            }
        }
    }

    fn accept(&mut self, flight: &Flight, answer: Answer) -> Result<(), Error> {
        let response: pb::ScanResponse = decoded(&answer, "Scan")?;
        self.metrics.answered(&response, answer.cells.len(), flight.opens);
        if flight.opens {
            let scanner_id = response.scanner_id.unwrap_or(0);
            self.place = Place::Open { region: flight.region.clone(), scanner_id, next_call_seq: 0 };
            self.scan.proto.mvcc_read_point = response.mvcc_read_point;
        } else if let Place::Open { next_call_seq, .. } = &mut self.place {
            *next_call_seq += 1;
        }
        self.add_rows(&response, answer.cells)?;
        let region_ends = response.more_results_in_region == Some(false);
        if response.more_results == Some(false) || (region_ends && self.is_last(&flight.region)) {
            self.pieces.end_of_row();
            // Of a scan that the limit ended the server may still have the scanner open.
            self.close(region_ends);
            self.place = Place::Done;
        } else if region_ends {
            self.pieces.end_of_row();
            self.enter_next(&flight.region);
        }
        if self.pieces.is_full() {
            self.close(false);
            self.place = Place::Done;
        }
        self.answered = self.pieces.ready();
        Ok(())
    }

    fn add_rows(&mut self, response: &pb::ScanResponse, cells: Bytes) -> Result<(), Error> {
        let mut block = Block(cells);
        let stale = response.stale();
        for (at, count) in response.cells_per_result.iter().enumerate() {
            let partial = response.partial_flag_per_result.get(at).copied().unwrap_or(false);
            self.pieces.add(Row::from_block(&mut block, *count, partial, stale)?);
        }
        for result in &response.results {
            self.pieces.add(Row::from_proto(result, &mut block)?);
        }
        Ok(())
    }

    /// Whether no region after this one has rows of the scan.
    fn is_last(&self, region: &Region) -> bool {
        let proto = &self.scan.proto;
        let stop = proto.stop_row.as_deref().unwrap_or_default();
        let (start, end) = (&region.info().start_key()[..], &region.info().end_key()[..]);
        if self.scan.is_reversed() {
            start.is_empty() || (!stop.is_empty() && start <= stop)
        } else {
            let over = end > stop || (end == stop && !proto.include_stop_row());
            end.is_empty() || (!stop.is_empty() && over)
        }
    }

    fn enter_next(&mut self, region: &Region) {
        let reversed = self.scan.is_reversed();
        let info = region.info();
        let from = if reversed { info.start_key().clone() } else { info.end_key().clone() };
        self.scan.proto.start_row = Some(from);
        self.scan.proto.include_start_row = Some(!reversed);
        self.scan.proto.mvcc_read_point = None;
        self.pieces.enter_region();
        self.place = Place::Closed;
    }

    /// The scanner is lost: the next call opens another one where this one was.
    fn reopen(&mut self, reaction: &Reaction) {
        // A server that says it has no such scanner need not close it.
        if !matches!(reaction, Reaction::Reopen | Reaction::Fail) {
            self.close(false);
        }
        if let Some((row, inclusive)) = self.pieces.resume() {
            self.scan.proto.start_row = Some(row);
            self.scan.proto.include_start_row = Some(inclusive);
        }
        if !matches!(reaction, Reaction::Reopen) {
            // Another server counts otherwise.
            self.scan.proto.mvcc_read_point = None;
        }
        self.flight = None;
        self.place = Place::Closed;
    }

    /// Tells the server that no more is asked for; nobody waits for its answer.
    fn close(&mut self, closed_by_server: bool) {
        let Place::Open { region, scanner_id, .. } = &self.place else { return };
        if closed_by_server || *scanner_id == 0 {
            return;
        }
        let request = pb::ScanRequest {
            scanner_id: Some(*scanner_id),
            close_scanner: Some(true),
            number_of_rows: Some(0),
            ..Default::default()
        };
        let limit = self.table.connection.options().scanner_timeout;
        drop(region.peer.try_send("Scan", &request.encode_to_vec(), &call_options(limit, None), limit));
    }
}

impl Drop for Scanner {
    fn drop(&mut self) {
        self.close(false);
    }
}
