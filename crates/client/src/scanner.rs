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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Call, Fake, Reply, block, cells, region};
    use martite_cell::OwnedCell;
    use parking_lot::Mutex;

    /// An answer of these rows, each of so many cells, and what is said about more.
    fn rows(rows: &[(&str, usize, bool)], more_in_region: bool, more: bool) -> Reply {
        let mut all: Vec<OwnedCell> = Vec::new();
        let mut response = pb::ScanResponse {
            scanner_id: Some(77),
            more_results: Some(more),
            more_results_in_region: Some(more_in_region),
            mvcc_read_point: Some(5),
            ..Default::default()
        };
        for (row, count, partial) in rows {
            response.cells_per_result.push(*count as u32);
            response.partial_flag_per_result.push(*partial);
            let (row, from) = row.split_once('/').unwrap_or((row, "0"));
            let from: usize = from.parse().unwrap();
            let cell = |i| OwnedCell::put(row.as_bytes(), b"f", format!("q{i}").as_bytes(), 1, row.as_bytes());
            all.extend((from..from + count).map(cell));
        }
        Reply::Message(response.encode_to_vec(), block(&all))
    }

    /// What the calls asked: `open row`, `next seq`, `close`.
    fn asked(call: &Call) -> String {
        let request: pb::ScanRequest = call.decode();
        let mut said = match &request.scan {
            Some(scan) => {
                let include = if scan.include_start_row() { "" } else { " after" };
                let start = scan.start_row.clone().unwrap_or_default();
                format!("open{include} {}", String::from_utf8_lossy(&start)).trim_end().to_owned()
            }
            None if request.close_scanner() => "close".to_owned(),
            None => format!("next {}", request.next_call_seq()),
        };
        if request.limit_of_rows() > 0 {
            said += &format!(" limit {}", request.limit_of_rows());
        }
        said
    }

    async fn scanned(
        regions: Vec<fake::FakeRegion>,
        scan: Scan,
        answer: impl Fn(&str, usize) -> Reply + Send + Sync + 'static,
    ) -> (Result<Vec<String>, Error>, Vec<String>) {
        let log = Arc::new(Mutex::new(Vec::new()));
        let seen = log.clone();
        let fake = Fake::start(1, regions, move |call| {
            let said = asked(call);
            seen.lock().push(said.clone());
            answer(&said, call.before)
        })
        .await;
        let mut scanner = fake.connect().await.table(fake::table()).scan(scan);
        let mut rows = Vec::new();
        let ended = loop {
            match scanner.next().await {
                Ok(Some(row)) => {
                    let partial = if row.is_partial() { "+" } else { "" };
                    rows.push(format!("{}:{}{partial}", String::from_utf8_lossy(row.row()), row.len()));
                }
                Ok(None) => break Ok(rows),
                Err(error) => break Err(error),
            }
        };
        drop(scanner);
        tokio::task::yield_now().await;
        let log = log.lock().clone();
        (ended, log)
    }

    #[tokio::test]
    async fn regions_follow_each_other() {
        let three = vec![region("", "g", 0), region("g", "p", 0), region("p", "", 0)];
        let (got, log) = scanned(three.clone(), Scan::new(), |said, _| match said {
            "open" => rows(&[("a", 1, false), ("b", 2, false)], true, true),
            "next 0" => rows(&[("c", 1, false)], false, true),
            "open g" => rows(&[], false, true),
            "open p" => rows(&[("z", 1, false)], false, true),
            other => panic!("{other}"),
        })
        .await;
        assert_eq!(got.unwrap(), ["a:1", "b:2", "c:1", "z:1"]);
        assert_eq!(log, ["open", "next 0", "open g", "open p"]);
        let (got, log) = scanned(three, Scan::new().reversed(true).stop("h"), |said, _| match said {
            "open" => rows(&[("z", 1, false)], false, true),
            "open after p" => rows(&[("i", 1, false)], false, true),
            other => panic!("{other}"),
        })
        .await;
        assert_eq!(
            (got.unwrap(), log),
            (vec!["z:1".to_owned(), "i:1".to_owned()], vec!["open".to_owned(), "open after p".to_owned()])
        );
    }

    #[tokio::test]
    async fn parts_become_rows() {
        let answer = |said: &str, _| match said {
            "open" => rows(&[("a", 2, true)], true, true),
            "next 0" => rows(&[("a/2", 2, true)], true, true),
            // The row was complete after all.
            "next 1" => rows(&[("b", 1, false), ("c", 3, true)], true, true),
            "next 2" => rows(&[("c/3", 1, false), ("d", 1, true)], false, true),
            other => panic!("{other}"),
        };
        let one = || vec![region("", "", 0)];
        let (got, _) = scanned(one(), Scan::new(), answer).await;
        assert_eq!(got.unwrap(), ["a:4", "b:1", "c:4", "d:1"]);
        let (got, _) = scanned(one(), Scan::new().allow_partials(true), answer).await;
        assert_eq!(got.unwrap(), ["a:2+", "a:2+", "b:1", "c:3+", "c:1", "d:1+"]);
        let (got, _) = scanned(one(), Scan::new().batch(3), answer).await;
        assert_eq!(got.unwrap(), ["a:3+", "a:1", "b:1", "c:3+", "c:1", "d:1"]);
    }

    #[tokio::test]
    async fn a_lost_scanner_goes_on_behind_the_last_row() {
        let lost = "org.apache.hadoop.hbase.UnknownScannerException";
        let one = || vec![region("", "", 0)];
        let (got, log) = scanned(one(), Scan::new(), move |said, before| match (said, before) {
            ("open", _) => rows(&[("a", 1, false), ("b", 2, true)], true, true),
            ("next 0", 1) => Reply::fail(lost),
            ("open after a", _) => rows(&[("b", 3, false)], true, true),
            ("next 0", _) => rows(&[], false, false),
            other => panic!("{other:?}"),
        })
        .await;
        assert_eq!(got.unwrap(), ["a:1", "b:3"]);
        assert_eq!(log, ["open", "next 0", "open after a", "next 0"]);
        // What was handed out of a row is not handed out again.
        let (got, log) = scanned(one(), Scan::new().allow_partials(true), move |said, before| match (said, before) {
            ("open", _) => rows(&[("a", 2, true)], true, true),
            ("next 0", 1) => Reply::fail("org.apache.hadoop.hbase.exceptions.ScannerResetException"),
            ("open a", _) => rows(&[("a", 3, true)], true, true),
            ("next 0", _) => rows(&[("a/3", 1, false)], false, false),
            other => panic!("{other:?}"),
        })
        .await;
        assert_eq!(got.unwrap(), ["a:2+", "a:1+", "a:1"]);
        assert_eq!(log, ["open", "next 0", "open a", "next 0"]);
    }

    #[tokio::test]
    async fn a_region_that_leaves_is_found_again_and_the_scanner_closed() {
        let gone = "org.apache.hadoop.hbase.NotServingRegionException";
        let (got, log) = scanned(vec![region("", "", 0)], Scan::new(), move |said, before| match (said, before) {
            ("open", _) => rows(&[("a", 1, false)], true, true),
            ("next 0", 1) => Reply::throw(gone, "split"),
            ("close", _) => rows(&[], false, false),
            ("open after a", _) => rows(&[("b", 1, false)], false, false),
            other => panic!("{other:?}"),
        })
        .await;
        assert_eq!(got.unwrap(), ["a:1", "b:1"]);
        assert_eq!(log, ["open", "next 0", "close", "open after a"]);
    }

    #[tokio::test]
    async fn busy_servers_are_asked_the_same_again_and_heartbeats_are_no_end() {
        let busy = "org.apache.hadoop.hbase.CallQueueTooBigException";
        let (got, log) = scanned(vec![region("", "", 0)], Scan::new(), move |said, before| match (said, before) {
            ("open", _) => rows(&[], true, true),
            ("next 0", 1) => Reply::throw(busy, "full"),
            ("next 0", _) => rows(&[], true, true),
            ("next 1", _) => rows(&[("a", 1, false)], false, false),
            other => panic!("{other:?}"),
        })
        .await;
        assert_eq!(got.unwrap(), ["a:1"]);
        assert_eq!(log, ["open", "next 0", "next 0", "next 1"]);
    }

    #[tokio::test]
    async fn a_limit_ends_the_scan() {
        let two = || vec![region("", "g", 0), region("g", "", 0)];
        let (got, log) = scanned(two(), Scan::new().limit(3), |said, _| match said {
            "open limit 3" => rows(&[("a", 1, false)], false, true),
            "open g limit 2" => rows(&[("h", 1, false), ("i", 1, false)], true, false),
            other => panic!("{other}"),
        })
        .await;
        assert_eq!(got.unwrap(), ["a:1", "h:1", "i:1"]);
        assert_eq!(log[..2], ["open limit 3", "open g limit 2"]);
        // A server that knows no limits is told to stop.
        let (got, log) = scanned(two(), Scan::new().limit(1), |said, _| match said {
            "open limit 1" => rows(&[("a", 1, false), ("b", 1, false)], true, true),
            "close" => rows(&[], false, false),
            other => panic!("{other}"),
        })
        .await;
        assert_eq!(got.unwrap(), ["a:1"]);
        assert!(log.len() <= 2, "{log:?}");
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_an_error() {
        let (got, _) = scanned(vec![region("", "", 0)], Scan::new(), |_, _| {
            Reply::fail("org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException")
        })
        .await;
        assert!(got.unwrap_err().is("NoSuchColumnFamilyException"));
        let (got, _) = scanned(vec![region("", "", 0)], Scan::new(), |_, _| {
            let response = pb::ScanResponse { cells_per_result: vec![9], ..Default::default() };
            Reply::Message(response.encode_to_vec(), block(&cells(&["a"])))
        })
        .await;
        assert!(matches!(got, Err(Error::Malformed(_))), "{got:?}");
    }
}
