//! [`RegionScanner`]: a scan of one region, batch by batch (HBase: RegionScannerImpl and the loop of RSRpcServices.scan).

use super::limits::{ResultMark, ScanEnd, ScanLimits, ScanOutput, ScanState};
use super::{Counted, FamilyScanner, Piece, RowBounds, Rows, ScanSpec, TakeRoom};
use crate::get::StoreRequest;
use crate::{ReadPoint, Region, RegionError};
use bytes::Bytes;
use martite_cell::CellBuf;
use martite_filter::Filter;
use martite_hfile::{BlockSource, Step};
use martite_store::ReadView;
use martite_store::scan::{RowLimits, RowRead, StoreEnd, StoreScan, StoreScanner};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Room for the first Result; by that it is told how much more is wanted.
const FIRST_BYTES: usize = 2 << 10;
const FIRST_CELLS: usize = 16;

/// Rows of one region.
pub struct RegionScanner {
    region: Arc<Region>,
    rows: Rows,
    /// Index of each family's store in the region, and how it is scanned.
    scans: Vec<(usize, Arc<StoreScan>)>,
    filter: Option<Filter>,
    has_filter_row: bool,
    read_point: u64,
    /// Keeps flushes from dropping what the scanner can see.
    _registered: Option<ReadPoint>,
    /// Row of the last Result, if that was partial.
    partial_row: Option<Bytes>,
    /// Complete rows of this batch.
    complete_rows: u32,
    scratch: Vec<u8>,
}

impl Region {
    /// Opens a scanner; nothing is read yet.
    pub fn scanner(self: &Arc<Self>, spec: ScanSpec) -> Result<RegionScanner, RegionError> {
        let _operation = self.start_operation()?;
        let mut filter = spec.filter.as_ref().map(Filter::decode).transpose()?;
        if let Some(filter) = &mut filter {
            filter.set_reversed(spec.reversed);
            if spec.raw {
                filter.mind_cells();
            }
        }
        let registered = match spec.read_point {
            None => Some(self.mvcc.reader()),
            Some(u64::MAX) => None,
            Some(point) => Some(self.mvcc.reader_at(point)),
        };
        let read_point = registered.as_ref().map_or(u64::MAX, ReadPoint::seq);
        let scan = StoreScan {
            columns: None,
            max_versions: spec.max_versions,
            time_range: spec.time_range,
            start_row: spec.start_row.clone(),
            include_start: spec.include_start,
            stop_row: spec.stop_row.clone(),
            include_stop: spec.include_stop,
            reversed: spec.reversed,
            raw: spec.raw,
            is_get: spec.is_get(),
            cache_blocks: spec.cache_blocks,
            now_ms: self.ctx.clock.now_ms(),
            read_point,
            store_limit: spec.store_limit,
            store_offset: spec.store_offset,
        };
        let requests = self.store_requests(&spec.families)?;
        if spec.raw && requests.iter().any(|r| r.columns.is_some()) {
            return Err(RegionError::DoNotRetry("Cannot specify any column for a raw scan".into()));
        }
        let scans: Vec<_> = requests.into_iter().map(|r| (r.store, Arc::new(r.scan(scan.clone())))).collect();
        let has_filter_row = filter.as_ref().is_some_and(Filter::has_filter_row);
        let bounds = RowBounds {
            order: self.stores.first().map(|(_, s)| s.options().order).unwrap_or_default(),
            reversed: spec.reversed,
            include_stop: spec.include_stop,
            has_filter_row,
            batch: usize::MAX,
            max_row_bytes: self.ctx.config.max_row_size_bytes as usize,
        };
        // Reversed, a joined family could not be brought back to the row: then every family is read at once.
        let on_demand = spec.load_on_demand && !spec.reversed;
        let families = scans.iter().map(|(store, scan)| {
            let view = self.stores[*store].1.view();
            self.family_scanner(*store, view, scan.clone(), filter.as_ref(), on_demand)
        });
        let rows = Rows::new(families.collect(), spec.stop_row.clone(), bounds, &CellBuf::new(false));
        Ok(RegionScanner {
            region: self.clone(),
            rows,
            scans,
            has_filter_row,
            filter,
            read_point,
            _registered: registered,
            partial_row: None,
            complete_rows: 0,
            scratch: Vec::new(),
        })
    }

    pub(crate) fn family_scanner(
        &self,
        store: usize,
        view: ReadView,
        scan: Arc<StoreScan>,
        filter: Option<&Filter>,
        on_demand: bool,
    ) -> FamilyScanner {
        let (name, store) = &self.stores[store];
        let essential = !on_demand || filter.is_none_or(|f| f.is_family_essential(name));
        let scanner =
            StoreScanner::with_filter(view, store.options().clone(), scan, filter.is_some_and(Filter::minds_cells));
        FamilyScanner { scanner, essential }
    }
}

impl RegionScanner {
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }
    pub fn read_point(&self) -> u64 {
        self.read_point
    }
    /// Whether the filter wants nothing any more.
    pub fn filter_done(&mut self) -> bool {
        self.filter.as_mut().is_some_and(|f| f.filter_all_remaining())
    }

    /// Appends Results until a limit is reached. `expired` is asked every 10,000 cells and between rows, when time may
    /// have passed. On `Need`, call again with the same output.
    pub fn next_batch(
        &mut self,
        limits: &ScanLimits,
        expired: &mut dyn FnMut() -> bool,
        src: &dyn BlockSource,
        out: &mut ScanOutput,
    ) -> Result<Step<ScanState>, RegionError> {
        let region = self.region.clone();
        let _operation = region.start_operation()?;
        if out.results.is_empty() && out.cells.is_empty() {
            self.complete_rows = 0;
            out.cells.reserve(FIRST_BYTES, FIRST_CELLS);
            self.rows.begin_result(&out.cells);
            self.follow_flushes();
        }
        let batch = usize::try_from(limits.batch).ok().filter(|b| *b > 0).unwrap_or(usize::MAX);
        // Only clients that take partial Results understand an answer without any.
        let block_bytes_end = if limits.allow_partial { or_max(limits.block_bytes) } else { u64::MAX };
        self.rows.begin_call(batch, block_bytes_end);

        let block_bytes = Cell::new(out.counters.block_bytes);
        let counted = Counted::new(src, &block_bytes);
        let mut filter = self.filter.take();
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut read = RowRead {
            out: &mut out.cells,
            filter: filter.as_mut(),
            src: &counted,
            expired,
            limits: self.row_limits(limits),
            discard: false,
            cells_scanned: 0,
            block_bytes: &block_bytes,
            scratch: &mut scratch,
        };
        let results_before = out.results.len();
        let end = self.run(limits, &mut read, &mut out.results);
        out.counters.cells_scanned += read.cells_scanned;
        out.counters.block_bytes = block_bytes.get();
        out.counters.blocks += counted.blocks.get();
        let filtered = std::mem::take(&mut self.rows.rows_filtered);
        out.counters.rows_filtered += filtered;
        out.counters.rows_scanned += std::mem::take(&mut self.rows.rows_scanned);
        self.filter = filter;
        self.scratch = scratch;
        let counters = &region.counters;
        counters.read_requests.fetch_add((out.results.len() - results_before) as u64, Ordering::Relaxed);
        counters.filtered_read_requests.fetch_add(filtered, Ordering::Relaxed);

        let end = ready_or_need!(end);
        let more_in_region = !self.rows.is_done() || end == ScanEnd::Size;
        if !more_in_region && let Some(last) = out.results.last_mut() {
            last.partial = false;
        }
        let filter_done = self.filter_done();
        let row = self.rows.row();
        let cursor = (!row.is_empty()).then(|| Bytes::copy_from_slice(row));
        Ok(Step::Ready(ScanState { end, more_in_region, filter_done, cursor }))
    }

    fn row_limits(&self, limits: &ScanLimits) -> RowLimits {
        let mut in_row = RowLimits { pause_at: or_max(limits.pause_after_cells), ..RowLimits::NONE };
        if limits.allow_partial && !self.has_filter_row {
            in_row.bytes_end = or_max(limits.size_bytes) as usize;
            in_row.block_bytes_end = or_max(limits.block_bytes);
            in_row.timed = true;
        }
        in_row
    }

    fn run(
        &mut self,
        limits: &ScanLimits,
        read: &mut RowRead<'_>,
        results: &mut Vec<ResultMark>,
    ) -> Result<Step<ScanEnd>, RegionError> {
        loop {
            let piece = match self.take_rows(limits, read, results) {
                Some(limit) => limit,
                None => ready_or_need!(self.rows.next_result(read)),
            };
            let partial = match piece {
                Piece::Result { partial } => partial,
                Piece::Limit(StoreEnd::Time) => return Ok(Step::Ready(ScanEnd::Time)),
                Piece::Limit(_) => return Ok(Step::Ready(ScanEnd::Size)),
                Piece::Paused => return Ok(Step::Ready(ScanEnd::Paused)),
                Piece::Exhausted => return Ok(Step::Ready(ScanEnd::Exhausted)),
            };
            if self.ends_with_partial_row(limits) {
                self.rows.drop_result(read);
                return Ok(Step::Ready(ScanEnd::Rows));
            }
            let rows_end = self.count_row(limits, partial);
            results.push(ResultMark { cells: self.rows.result_cells(read), partial });
            if results.len() == 1 {
                reserve(limits, read.out, results);
            }
            self.rows.begin_result(read.out);
            let filter_done = read.filter.as_deref_mut().is_some_and(|f| f.filter_all_remaining());
            if filter_done {
                self.rows.finish();
            }
            if rows_end {
                return Ok(Step::Ready(ScanEnd::Rows));
            }
            let over = |limit: u64, now: u64| limit > 0 && now >= limit;
            let full = over(limits.size_bytes, read.out.size_bytes() as u64) || self.rows.has_read_enough(read);
            // As HBase: where a size limit may end a row early, nobody looks whether a row follows.
            let may_end_early = limits.allow_partial && !self.has_filter_row && !filter_done;
            if full && (may_end_early || !self.rows.is_done()) {
                return Ok(Step::Ready(ScanEnd::Size));
            }
            if self.rows.is_done() {
                return Ok(Step::Ready(ScanEnd::Exhausted));
            }
            if over(limits.results, results.len() as u64) {
                return Ok(Step::Ready(ScanEnd::Results));
            }
            if self.rows.is_late(read) {
                return Ok(Step::Ready(ScanEnd::Time));
            }
            if read.cells_scanned >= read.limits.pause_at {
                return Ok(Step::Ready(ScanEnd::Paused));
            }
        }
    }

    /// Rows that can be taken without a question about each of them; perhaps a limit is reached then. The first row of an answer is none of
    /// them: by it the others' memory is reserved.
    #[inline]
    fn take_rows(
        &mut self,
        limits: &ScanLimits,
        read: &mut RowRead<'_>,
        results: &mut Vec<ResultMark>,
    ) -> Option<Piece> {
        let of_several = read.filter.as_ref().is_some_and(|filter| filter.takes_first_cells());
        if results.is_empty() || self.partial_row.is_some() || !self.rows.may_take_rows(of_several) {
            return None;
        }
        let results_left = or_max(limits.results).saturating_sub(results.len() as u64);
        let rows_left = or_max(u64::from(limits.rows)).saturating_sub(u64::from(self.complete_rows));
        let room = TakeRoom {
            results: results_left.min(rows_left).saturating_sub(1) as usize,
            bytes_end: or_max(limits.size_bytes) as usize,
        };
        let before = results.len();
        let limit = self.rows.take_rows(read, room, results);
        self.complete_rows += (results.len() - before) as u32;
        limit
    }

    /// Whether the row that a partial Result left open was the last one wanted: it is complete now that another follows.
    fn ends_with_partial_row(&mut self, limits: &ScanLimits) -> bool {
        if self.partial_row.take_if(|last| *last != self.rows.row()).is_none() {
            return false;
        }
        self.complete_rows += 1;
        limits.rows > 0 && self.complete_rows >= limits.rows
    }

    /// Counts complete rows. True when there are enough.
    fn count_row(&mut self, limits: &ScanLimits, partial: bool) -> bool {
        let row = self.rows.row();
        self.partial_row = partial.then(|| Bytes::copy_from_slice(row));
        if !partial {
            self.complete_rows += 1;
        }
        limits.rows > 0 && self.complete_rows >= limits.rows
    }

    /// After a flush or compaction: goes on with the new files, so that memory and old files can be let go.
    fn follow_flushes(&mut self) {
        if !self.rows.is_between_rows() {
            return;
        }
        let is_old = |(family, (store, _)): (&FamilyScanner, &(usize, Arc<StoreScan>))| {
            let store = &self.region.stores[*store].1;
            family.scanner.view().is_outdated(&store.view())
        };
        if !self.rows.families.iter().zip(&self.scans).any(is_old) {
            return;
        }
        let Some(next) = self.rows.next_row().map(Bytes::copy_from_slice) else { return };
        let mut families = Vec::with_capacity(self.scans.len());
        for ((store, scan), family) in self.scans.iter().zip(&self.rows.families) {
            let scan = StoreScan { start_row: next.clone(), include_start: true, ..StoreScan::clone(scan) };
            let view = self.region.stores[*store].1.view();
            let fresh = self.region.family_scanner(*store, view, Arc::new(scan), self.filter.as_ref(), false);
            families.push(FamilyScanner { essential: family.essential, ..fresh });
        }
        self.rows.exchange(families);
    }
}

/// Room for the Results to come, if they are all as the first one, or a little larger: rows' keys may differ in length.
fn reserve(limits: &ScanLimits, out: &mut CellBuf, results: &mut Vec<ResultMark>) {
    const MOST_BYTES: usize = 128 << 10;
    let wanted = or_max(limits.results).min(or_max(u64::from(limits.rows)));
    let most = MOST_BYTES.min(or_max(limits.size_bytes) as usize) / out.size_bytes().max(1);
    let more = usize::try_from(wanted).unwrap_or(usize::MAX).min(most).saturating_sub(1);
    results.reserve(more);
    let bytes = more * out.own_bytes();
    out.reserve(bytes + bytes / 16, more * out.len());
}

/// Zero means "no limit".
fn or_max(limit: u64) -> u64 {
    if limit == 0 { u64::MAX } else { limit }
}

impl StoreRequest {
    /// This family's part of a read.
    pub(crate) fn scan(self, of: StoreScan) -> StoreScan {
        StoreScan { columns: self.columns, time_range: self.time_range.unwrap_or(of.time_range), ..of }
    }
}
