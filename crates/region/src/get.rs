//! Get: the cells of one row.
//!
//! The hottest path of all: no filter, no limits inside the row, so each family's store scanner is driven directly. With
//! a filter a Get is a scan of one row.

use crate::scan::{Counted, Piece, RowBounds, Rows};
use crate::{Operation, Region, RegionError};
use bytes::Bytes;
use martite_cell::{CellBuf, TimeRange, key};
use martite_filter::Filter;
use martite_hfile::{BlockSource, Leaves, Step};
use martite_proto as pb;
use martite_store::scan::{
    Lookup, PointEnd, PointReader, ReadView, RowLimits, RowRead, StoreEnd, StoreScan, StoreScanner,
};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One for each family that a read asks for, which is mostly one.
pub(crate) type Few<T> = SmallVec<[T; 1]>;

/// What a Get or Scan wants of one family.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FamilyColumns {
    pub family: Bytes,
    /// Qualifiers in any order; empty means the whole family.
    pub columns: Arc<[Bytes]>,
    /// Instead of the request's time range.
    pub time_range: Option<TimeRange>,
}

impl FamilyColumns {
    /// The whole family.
    pub fn whole(family: impl Into<Bytes>) -> FamilyColumns {
        FamilyColumns { family: family.into(), columns: Arc::default(), time_range: None }
    }
}

/// One Get.
#[derive(Debug, Clone)]
pub struct GetSpec {
    pub row: Bytes,
    /// Empty: all families.
    pub families: Arc<[FamilyColumns]>,
    pub max_versions: u32,
    pub time_range: TimeRange,
    pub filter: Option<pb::Filter>,
    /// Cells per family; -1: all.
    pub store_limit: i32,
    /// Cells of each family that are left out first.
    pub store_offset: u32,
    pub cache_blocks: bool,
    /// Only whether there is a cell: nothing is appended to the output.
    pub exists_only: bool,
    /// What the reader may see; None: what the region has committed. `u64::MAX`: everything (READ_UNCOMMITTED).
    pub read_point: Option<u64>,
    /// With a filter: families that it does not look at are read only for rows that it lets pass.
    pub load_on_demand: bool,
}

impl GetSpec {
    /// Whether the two differ in their rows only.
    pub fn is_like(&self, other: &GetSpec) -> bool {
        let GetSpec { row: _, families, max_versions, time_range, filter, .. } = self;
        let flags = |get: &GetSpec| (get.cache_blocks, get.exists_only, get.load_on_demand, get.read_point);
        (families, filter) == (&other.families, &other.filter)
            && (*max_versions, *time_range) == (other.max_versions, other.time_range)
            && (self.store_limit, self.store_offset) == (other.store_limit, other.store_offset)
            && flags(self) == flags(other)
    }

    /// The newest version of every column of the row.
    pub fn new(row: impl Into<Bytes>) -> GetSpec {
        GetSpec {
            row: row.into(),
            families: Arc::default(),
            max_versions: 1,
            time_range: TimeRange::ALL,
            filter: None,
            store_limit: -1,
            store_offset: 0,
            cache_blocks: true,
            exists_only: false,
            read_point: None,
            load_on_demand: true,
        }
    }
}

/// What a Get found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GetOutcome {
    /// Cells appended to the output.
    pub cells: usize,
    pub exists: bool,
    /// Bytes of the blocks that were read, from cache or disk, for quotas and metrics.
    pub block_bytes: u64,
}

/// What a read wants of one store of the region.
pub(crate) struct StoreRequest {
    /// Index of the store.
    pub store: usize,
    pub columns: Option<Arc<[Bytes]>>,
    pub time_range: Option<TimeRange>,
}

impl Region {
    /// Appends the row's cells to `out`. On `Need`, `out` is as it was: call again with a source that has the block.
    pub fn get(
        &self,
        get: &GetSpec,
        src: &dyn BlockSource,
        out: &mut CellBuf,
    ) -> Result<Step<GetOutcome>, RegionError> {
        self.get_row(&get.row, get, src, out)
    }

    /// The same for `row`, whatever row `like` is of.
    pub fn get_row(
        &self,
        row: &Bytes,
        like: &GetSpec,
        src: &dyn BlockSource,
        out: &mut CellBuf,
    ) -> Result<Step<GetOutcome>, RegionError> {
        let _operation = self.start_operation()?;
        let outcome = ready_or_need!(self.get_alone(row, like, src, out));
        self.counters.read_requests.fetch_add(1, Ordering::Relaxed);
        Ok(Step::Ready(outcome))
    }

    /// A Get that shares nothing with others. Inside an operation.
    fn get_alone(
        &self,
        row: &Bytes,
        get: &GetSpec,
        src: &dyn BlockSource,
        out: &mut CellBuf,
    ) -> Result<Step<GetOutcome>, RegionError> {
        self.check_row(row, "Get")?;
        if get.filter.is_some() {
            let (mut scan, requests, views) = self.plan_get(get)?;
            (scan.start_row, scan.stop_row) = (row.clone(), row.clone());
            return self
                .one_get(get, src, out, |read| self.read_filtered(requests, views, (&scan, get.load_on_demand), read));
        }
        let points = self.point_readers(get)?;
        let mut lookups: Few<Lookup> = points.iter().map(|_| Lookup::default()).collect();
        self.read_points(get, row, (&points, &mut lookups, &mut Leaves::default()), src, out, |at, lookup, read| {
            let mut scanner = points[at].scanner();
            points[at].hand_over(row, lookup, &mut scanner);
            self.read_store(&mut scanner, row, read)
        })
    }

    /// A Get without filter, of `row`, which may be read. What no point reader can tell, `scan` reads.
    fn read_points(
        &self,
        get: &GetSpec,
        row: &[u8],
        (points, lookups, leaves): (&[PointReader], &mut [Lookup], &mut Leaves),
        src: &dyn BlockSource,
        out: &mut CellBuf,
        mut scan: impl FnMut(usize, &Lookup, &mut RowRead<'_>) -> Result<Step<PointEnd>, RegionError>,
    ) -> Result<Step<GetOutcome>, RegionError> {
        for (point, lookup) in points.iter().zip(&mut *lookups) {
            if lookup.is_unknown() {
                ready_or_need!(point.find(row, lookup, leaves, src));
            }
            ready_or_need!(point.fetch(lookup, None, src));
        }
        self.one_get(get, src, out, |read| {
            for (at, (point, lookup)) in points.iter().zip(lookups).enumerate() {
                let end = match point.read(lookup, read) {
                    PointEnd::Elsewhere => ready_or_need!(scan(at, lookup, read)),
                    end => end,
                };
                if end == PointEnd::Enough {
                    break;
                }
            }
            Ok(Step::Ready(()))
        })
    }

    /// What a Get like `get` has to read, whatever its row, as of now.
    fn plan_get(&self, get: &GetSpec) -> Result<(StoreScan, Few<StoreRequest>, Few<ReadView>), RegionError> {
        let requests = self.store_requests(&get.families)?;
        let (read_point, views) = self.consistent_views(get.read_point, &requests);
        let scan = StoreScan {
            max_versions: get.max_versions,
            time_range: get.time_range,
            cache_blocks: get.cache_blocks,
            read_point,
            store_limit: get.store_limit,
            store_offset: get.store_offset,
            ..StoreScan::get(Bytes::new(), self.ctx.clock.now_ms())
        };
        Ok((scan, requests, views))
    }

    /// What every Get has around the reading itself.
    fn one_get(
        &self,
        get: &GetSpec,
        src: &dyn BlockSource,
        out: &mut CellBuf,
        run: impl FnOnce(&mut RowRead<'_>) -> Result<Step<()>, RegionError>,
    ) -> Result<Step<GetOutcome>, RegionError> {
        let mut filter = get.filter.as_ref().map(Filter::decode).transpose()?;
        let before = out.mark();
        let first = out.len();
        let block_bytes = Cell::new(0);
        let mut read = RowRead {
            limits: RowLimits {
                too_big_at: out.size_bytes().saturating_add(self.ctx.config.max_row_size_bytes as usize),
                // Without filter the first cell answers whether there is one.
                cells_end: if get.exists_only && filter.is_none() { first + 1 } else { usize::MAX },
                ..RowLimits::NONE
            },
            filter: filter.as_mut(),
            src: &Counted::new(src, &block_bytes),
            expired: &mut || false,
            discard: false,
            cells_scanned: 0,
            block_bytes: &block_bytes,
            scratch: &mut Vec::new(),
            out,
        };
        let result = run(&mut read);
        let cells = out.len() - first;
        let ready = matches!(result, Ok(Step::Ready(())));
        if !ready || get.exists_only {
            out.truncate(before);
        }
        ready_or_need!(result);
        Ok(Step::Ready(GetOutcome {
            cells: if get.exists_only { 0 } else { cells },
            exists: cells > 0,
            block_bytes: block_bytes.get(),
        }))
    }

    /// Readers for Gets like `like`, which has no filter, one for each family that they ask for.
    fn point_readers(&self, like: &GetSpec) -> Result<Few<PointReader>, RegionError> {
        let (scan, requests, views) = self.plan_get(like)?;
        let reader = |(request, view): (StoreRequest, ReadView)| {
            let options = self.stores[request.store].1.options().clone();
            PointReader::new(view, options, request.scan(scan.clone()))
        };
        Ok(requests.into_iter().zip(views).map(reader).collect())
    }

    /// Of one family.
    fn read_store(
        &self,
        scanner: &mut StoreScanner,
        row: &[u8],
        read: &mut RowRead<'_>,
    ) -> Result<Step<PointEnd>, RegionError> {
        ready_or_need!(scanner.open(read.src));
        // A family without the row stands at the next one.
        if !scanner.is_in_row(row) {
            return Ok(Step::Ready(PointEnd::All));
        }
        match ready_or_need!(scanner.next(read)) {
            StoreEnd::TooBig => {
                let max = self.ctx.config.max_row_size_bytes;
                Err(RegionError::RowTooBig(format!("Max row size allowed: {max}, but row is bigger than that")))
            }
            StoreEnd::Batch => Ok(Step::Ready(PointEnd::Enough)),
            _ => Ok(Step::Ready(PointEnd::All)),
        }
    }

    /// `read` brings a filter.
    fn read_filtered(
        &self,
        requests: Few<StoreRequest>,
        views: Few<ReadView>,
        (scan, on_demand): (&StoreScan, bool),
        read: &mut RowRead<'_>,
    ) -> Result<Step<()>, RegionError> {
        let bounds = RowBounds {
            order: self.stores.first().map(|(_, s)| s.options().order).unwrap_or_default(),
            reversed: false,
            include_stop: true,
            has_filter_row: read.filter.as_ref().is_some_and(|f| f.has_filter_row()),
            batch: usize::MAX,
            max_row_bytes: self.ctx.config.max_row_size_bytes as usize,
        };
        let mut families = Vec::with_capacity(requests.len());
        for (request, view) in requests.into_iter().zip(views) {
            let (store, scan) = (request.store, Arc::new(request.scan(scan.clone())));
            families.push(self.family_scanner(store, view, scan, read.filter.as_deref(), on_demand));
        }
        let mut rows = Rows::new(families, scan.stop_row.clone(), bounds, read.out);
        if let Piece::Result { .. } | Piece::Exhausted = ready_or_need!(rows.next_result(read)) {
            return Ok(Step::Ready(()));
        }
        Err(RegionError::DoNotRetry("a Get ended inside its row".into()))
    }

    /// The stores that a read of `families` concerns, in their order; a family that is named twice counts once.
    pub(crate) fn store_requests(&self, families: &[FamilyColumns]) -> Result<Few<StoreRequest>, RegionError> {
        if families.is_empty() {
            let all = (0..self.stores.len()).map(|store| StoreRequest { store, columns: None, time_range: None });
            return Ok(all.collect());
        }
        let mut requests = Few::with_capacity(families.len());
        for family in families {
            let store = self.check_family(&family.family)?;
            let columns = (!family.columns.is_empty()).then(|| sorted(&family.columns));
            requests.push(StoreRequest { store, columns, time_range: family.time_range });
        }
        if !requests.is_sorted_by_key(|r| r.store) {
            requests.sort_by_key(|r| r.store);
        }
        requests.dedup_by(|again, first| {
            if again.store != first.store {
                return false;
            }
            first.columns = match (first.columns.take(), again.columns.take()) {
                (Some(a), Some(b)) => Some(sorted(&[&a[..], &b[..]].concat().into())),
                (a, b) => a.or(b),
            };
            first.time_range = first.time_range.or(again.time_range);
            true
        });
        Ok(requests)
    }

    /// A read point, and views of the stores in which everything that it sees is still there.
    ///
    /// A flush drops versions that no reader can see; a Get does not register as a reader. So the views are taken
    /// after the read point, and taken again if that moved meanwhile: as long as it stands still, no flush can have
    /// dropped anything below it.
    fn consistent_views(&self, wanted: Option<u64>, requests: &[StoreRequest]) -> (u64, Few<ReadView>) {
        let views = || requests.iter().map(|r| self.stores[r.store].1.view()).collect();
        if let Some(read_point) = wanted {
            return (read_point, views());
        }
        let mut read_point = self.mvcc.read_point();
        for _ in 0..3 {
            let views = views();
            let now = self.mvcc.read_point();
            if now == read_point {
                return (read_point, views);
            }
            read_point = now;
        }
        let registered = self.mvcc.reader();
        (registered.seq(), views())
    }
}

/// Gets of one call that differ in their rows only: what one has opened serves the next. All of them see the region as
/// it was for the first. An operation: the region does not close before this is dropped.
///
/// A row that is not in the processor's caches is waited for again and again: in the cache's table, at the block, its
/// hints, the cell and its value. So rows are told some at a time, and take each step together: the processor waits for
/// several at once. And what other threads write too (the region's lock, its counters) is touched once for all.
pub struct Getter<'r> {
    region: &'r Region,
    _operation: Operation<'r>,
    like: &'r GetSpec,
    points: Few<PointReader>,
    /// For rows that are to be scanned, one for each of `points`; and their like for the row after that. None as long as
    /// there was no such row.
    scanners: Vec<StoreScanner>,
    ahead: Vec<StoreScanner>,
    /// `ahead` has been aimed at the row that comes next; bytes of the blocks that it read for that.
    aimed: Option<u64>,
    /// The rows that come next, and others kept for their allocations.
    expected: VecDeque<Expected>,
    spare: Vec<Expected>,
    leaves: Leaves,
    answered: u64,
}

/// The cells of so many rows are asked for at once: a processor has only so many lines under way.
const ROWS_AHEAD: usize = 3;

thread_local! {
    /// What the getters before this one had for their rows.
    static SPARE: RefCell<Vec<Expected>> = const { RefCell::new(Vec::new()) };
}
/// Longer rows are not kept for their memory.
const MOST_SPARE: usize = 512;

/// A row that is to come.
#[derive(Default)]
struct Expected {
    /// A copy, so that there is nobody to count.
    row: Vec<u8>,
    /// The region has it.
    is_readable: bool,
    /// For each of the readers.
    lookups: Vec<Lookup>,
}

impl Expected {
    /// Lets go of what was found; whether its memory is worth keeping.
    fn is_spare(&mut self) -> bool {
        self.lookups.iter_mut().for_each(Lookup::clear);
        self.row.capacity() <= MOST_SPARE
    }
}

impl<'r> Getter<'r> {
    /// So many rows are to be told at once: eight were slower by a little, more are not measured.
    pub const GROUP: usize = 16;

    /// For Gets that are like `like`, whatever its row.
    pub fn new(region: &'r Region, like: &'r GetSpec) -> Result<Getter<'r>, RegionError> {
        let operation = region.start_operation()?;
        let points = match like.filter {
            Some(_) => Few::new(),
            None => region.point_readers(like)?,
        };
        Ok(Getter {
            region,
            _operation: operation,
            like,
            points,
            scanners: Vec::new(),
            ahead: Vec::new(),
            aimed: None,
            expected: VecDeque::new(),
            spare: SPARE.take(),
            leaves: Leaves::keeping(),
            answered: 0,
        })
    }

    /// Tells that `rows` will be asked for, after those that were told before. What goes wrong here goes wrong again when
    /// they are, and is told then.
    pub fn expect<'b>(&mut self, rows: impl Iterator<Item = &'b Bytes>, src: &dyn BlockSource) {
        if self.like.filter.is_some() {
            return;
        }
        let first = self.expected.len();
        for row in rows {
            let mut coming = self.spare.pop().unwrap_or_default();
            coming.row.clear();
            coming.row.extend_from_slice(row);
            coming.lookups.resize_with(self.points.len(), Lookup::default);
            coming.is_readable = self.region.check_row(row, "Get").is_ok();
            for (point, lookup) in self.points.iter().zip(&mut coming.lookups) {
                lookup.clear();
                if coming.is_readable {
                    drop(point.find(row, lookup, &mut self.leaves, src));
                }
            }
            self.expected.push_back(coming);
        }
        let coming = &mut self.expected.make_contiguous()[first..];
        for (at, point) in self.points.iter().enumerate() {
            let prefetch = |rows: &[Expected]| rows.iter().for_each(|row| point.prefetch(&row.lookups[at], src));
            prefetch(coming);
            let mut last: Option<&mut Lookup> = None;
            for row in &mut *coming {
                let lookup = &mut row.lookups[at];
                drop(point.fetch(lookup, last.as_deref(), src));
                last = Some(lookup);
            }
            prefetch(coming);
            coming.iter_mut().for_each(|row| point.locate(&mut row.lookups[at]));
            // Each waits for its page's address; asked for one right after the other, they wait together.
            coming.iter().for_each(|row| point.touch(&row.lookups[at]));
            prefetch(&coming[..coming.len().min(ROWS_AHEAD)]);
        }
    }

    /// As [`Region::get`].
    pub fn get(
        &mut self,
        row: &Bytes,
        src: &dyn BlockSource,
        out: &mut CellBuf,
    ) -> Result<Step<GetOutcome>, RegionError> {
        let (region, like) = (self.region, self.like);
        if like.filter.is_some() {
            let outcome = ready_or_need!(region.get_alone(row, like, src, out));
            self.answered += 1;
            return Ok(Step::Ready(outcome));
        }
        let (mut wanted, was_expected) = self.take_expected(row);
        if !(was_expected && wanted.is_readable) {
            region.check_row(row, "Get")?;
        }
        if let Some(coming) = self.expected.get(ROWS_AHEAD - 1) {
            self.points.iter().zip(&coming.lookups).for_each(|(point, lookup)| point.prefetch(lookup, src));
        }
        let aimed = self.aimed.take().filter(|_| was_expected);
        if aimed.is_some() {
            std::mem::swap(&mut self.scanners, &mut self.ahead);
        }
        self.aim(src);
        let (points, scanners, ahead) = (&self.points, &mut self.scanners, &self.ahead);
        let lookups = (&points[..], &mut wanted.lookups[..], &mut self.leaves);
        let outcome = ready_or_need!(region.read_points(like, row, lookups, src, out, |at, lookup, read| {
            if scanners.is_empty() {
                scanners.extend(points.iter().map(PointReader::scanner));
            }
            if aimed.is_none() || !lookup.is_elsewhere() {
                points[at].hand_over(row, lookup, &mut scanners[at]);
            }
            region.read_store(&mut scanners[at], row, read)
        }));
        ahead.iter().for_each(StoreScanner::aim_at_cells);
        self.spare.push(wanted);
        self.answered += 1;
        Ok(Step::Ready(GetOutcome { block_bytes: outcome.block_bytes + aimed.unwrap_or(0), ..outcome }))
    }

    /// What is known of `row`; and whether it was expected.
    fn take_expected(&mut self, row: &Bytes) -> (Expected, bool) {
        if let Some(next) = self.expected.pop_front_if(|next| key::is_same(&next.row, row)) {
            return (next, true);
        }
        self.spare.extend(self.expected.drain(..));
        let mut wanted = self.spare.pop().unwrap_or_default();
        wanted.lookups.resize_with(self.points.len(), Lookup::default);
        wanted.lookups.iter_mut().for_each(Lookup::clear);
        (wanted, false)
    }

    /// Has the scanners of the row that comes next, if it is to be scanned, look where to.
    fn aim(&mut self, src: &dyn BlockSource) {
        // What is not known yet may turn out to be elsewhere, too.
        let is_known = |next: &&Expected| !next.lookups.iter().any(Lookup::is_unknown);
        let Some(next) = self.expected.front().filter(is_known) else { return };
        if !next.lookups.iter().any(Lookup::is_elsewhere) {
            return;
        }
        if self.ahead.is_empty() {
            self.ahead.extend(self.points.iter().map(PointReader::scanner));
        }
        let block_bytes = Cell::new(0);
        let src = Counted::new(src, &block_bytes);
        let readers = self.points.iter().zip(&next.lookups).zip(&mut self.ahead);
        let complete = readers.filter(|((_, lookup), _)| lookup.is_elsewhere()).all(|((point, lookup), scanner)| {
            point.hand_over(&Bytes::copy_from_slice(&next.row), lookup, scanner);
            matches!(scanner.aim(&src), Ok(Step::Ready(())))
        });
        self.aimed = complete.then(|| block_bytes.get());
    }
}

impl Drop for Getter<'_> {
    fn drop(&mut self) {
        let of_others = SPARE.take();
        let mut spare = std::mem::take(&mut self.spare);
        spare.extend(self.expected.drain(..).chain(of_others));
        spare.retain_mut(Expected::is_spare);
        spare.truncate(Self::GROUP);
        SPARE.set(spare);
        self.region.counters.read_requests.fetch_add(self.answered, Ordering::Relaxed);
    }
}

fn sorted(columns: &Arc<[Bytes]>) -> Arc<[Bytes]> {
    if columns.is_sorted_by(|a, b| a < b) {
        return columns.clone();
    }
    let mut columns = columns.to_vec();
    columns.sort();
    columns.dedup();
    columns.into()
}
