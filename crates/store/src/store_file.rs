//! One store file: an HFile, or the half of one that a reference names, with what the store needs to know about it.

use crate::{
    FamilyOptions, Files, Half, StoreError,
    files::{OpenFile, Uncached},
    name,
    reference::Resolved,
};
use bytes::Bytes;
use martite_cell::{CellBuf, CellRef, Order, key};
use martite_hfile::{
    BlockSource, HFileError, JudgeRules, Passed, PlainRules, PlainTaken, Reader, RefuseRows, RowJudge, Scanner,
    ShowCells, ShownPlain, Step, TakeRows, format::info,
};
use std::{
    cmp::{Ordering, Reverse},
    path::{Path, PathBuf},
    sync::Arc,
};

/// A store file that is open.
pub struct StoreFile {
    pub reader: Arc<Reader>,
    /// Where it lies in the family's directory (of a reference: the reference itself).
    pub path: PathBuf,
    pub half: Option<Half>,
    /// Highest sequence id in it; orders files, and for bulk-loaded ones is that of every cell.
    pub seq_id: u64,
    /// Its cells have no sequence id of their own: they take [`StoreFile::seq_id`].
    pub bulk_loaded: bool,
    pub major: bool,
    pub exclude_from_minor: bool,
    pub modified_ms: u64,
    name: String,
    /// Bulk-loaded, and its cells keep their own sequence ids (MOB compactions).
    keeps_seq_ids: bool,
    /// The family wants its data blocks cached.
    cache_data: bool,
    first_key: Option<Bytes>,
    last_key: Option<Bytes>,
    open: Arc<OpenFile>,
}

impl StoreFile {
    /// Opens what `name` in `dir` was resolved to. Reads the first block; caches nothing.
    pub fn open(
        files: &Arc<Files>,
        dir: &Path,
        name: &str,
        resolved: Resolved,
        modified_ms: u64,
        options: &FamilyOptions,
    ) -> Result<StoreFile, StoreError> {
        let open = files.open_first(&resolved.places)?;
        let reader = open.reader().clone();
        files.cache().file(reader.id()).set_in_memory(options.in_memory);
        let path = dir.join(name);
        if reader.entries() > 0 && reader.order() != options.order {
            let what = format!("sorted as {:?}, the family's order is {:?}", reader.order(), options.order);
            return Err(StoreError::corrupt(&path, what));
        }
        let is_true = |key| reader.file_info().get(key).is_some_and(|v| v == [0xff]);
        let in_name = name::bulk_load_seq_id(name);
        let bulk_loaded = in_name.is_some() || reader.bulk_load_time_ms().is_some();
        let keeps_seq_ids = bulk_loaded && is_true(info::SKIP_RESET_SEQ_ID);
        let is_top = resolved.half.as_ref().is_some_and(|h| h.top);
        // The top half counts as newer, in case the two meet again in one store (HBase does the same).
        let seq_id = in_name.filter(|_| bulk_loaded).or(reader.max_seq_id()).unwrap_or(0)
            + u64::from(is_top)
            + u64::from(keeps_seq_ids);
        let mut file = StoreFile {
            path,
            seq_id,
            bulk_loaded,
            major: reader.is_major_compaction(),
            exclude_from_minor: reader.excluded_from_minor_compaction(),
            modified_ms: if resolved.half.is_some() {
                reader.create_time_ms().unwrap_or(modified_ms)
            } else {
                modified_ms
            },
            name: name.to_owned(),
            keeps_seq_ids,
            cache_data: options.cache_data,
            first_key: None,
            last_key: None,
            half: resolved.half,
            reader,
            open,
        };
        file.find_ends(&Uncached { files })?;
        Ok(file)
    }

    /// First and last key that the half shows.
    fn find_ends(&mut self, src: &dyn BlockSource) -> Result<(), StoreError> {
        if self.reader.entries() == 0 {
            return Ok(());
        }
        let mut cursor = HalfScanner::new(Scanner::new(self.reader.clone(), false), self.half.clone(), self.order());
        ready(&self.reader, cursor.seek_to_first(src)?)?;
        self.first_key = cursor.peek().map(|c| Bytes::copy_from_slice(c.key));
        self.last_key = match &self.half {
            Some(half) if !half.top => {
                ready(&self.reader, cursor.seek_before(&half.split_key, src)?)?;
                cursor.peek().map(|c| Bytes::copy_from_slice(c.key))
            }
            // A top half that shows anything shows the end of the file.
            _ if self.first_key.is_some() => self.reader.last_key().map(Bytes::copy_from_slice),
            _ => None,
        };
        Ok(())
    }

    /// Its name in the family's directory.
    pub fn name(&self) -> &str {
        &self.name
    }
    pub fn order(&self) -> Order {
        self.reader.order()
    }
    /// A scanner over the visible half; sequence ids of bulk-loaded cells are filled in.
    /// `cache_blocks`: keep data blocks that it reads, if the family wants that too.
    pub fn scanner(self: &Arc<Self>, cache_blocks: bool) -> StoreFileScanner {
        let inner = Scanner::new(self.reader.clone(), self.caches_data(cache_blocks));
        StoreFileScanner {
            seq_id: self.cell_seq_id(),
            inner: HalfScanner::new(inner, self.half.clone(), self.order()),
            file: self.clone(),
        }
    }
    /// Whether a read that caches blocks (or not) keeps its data blocks.
    pub(crate) fn caches_data(&self, cache_blocks: bool) -> bool {
        cache_blocks && self.cache_data
    }
    /// The sequence id that all its cells take, if they have none of their own.
    pub fn cell_seq_id(&self) -> Option<u64> {
        (self.bulk_loaded && !self.keeps_seq_ids).then_some(self.seq_id)
    }
    /// Bytes of the HFile; references count whole, as HBase counts them.
    pub fn size_bytes(&self) -> u64 {
        self.reader.file_size()
    }
    pub fn is_reference(&self) -> bool {
        self.half.is_some()
    }
    /// Number of cells; about half of them for a reference.
    pub fn entries(&self) -> u64 {
        if self.is_reference() { self.reader.entries().div_ceil(2) } else { self.reader.entries() }
    }
    /// Smallest and largest timestamp, inclusive; None if the file has no cells or does not say.
    pub fn time_range(&self) -> Option<(u64, u64)> {
        self.reader.time_range()
    }
    /// Highest sequence id of a cell.
    pub fn max_mvcc(&self) -> u64 {
        self.cell_seq_id().unwrap_or_else(|| long(&self.reader, info::MAX_MEMSTORE_TS_KEY).unwrap_or(0))
    }
    /// Flat key of the first cell that the half shows.
    pub fn first_key(&self) -> Option<&Bytes> {
        self.first_key.as_ref()
    }
    pub fn last_key(&self) -> Option<&Bytes> {
        self.last_key.as_ref()
    }
    /// Whether `row` lies between first and last key; blooms are asked by the scanner.
    pub fn covers_row(&self, row: &[u8]) -> bool {
        self.overlaps_rows(row, Some(row))
    }
    /// Whether a row of `[first, last]` can be here; no last means to the end.
    pub fn overlaps_rows(&self, first: &[u8], last: Option<&[u8]>) -> bool {
        let (Some(low), Some(high)) = (&self.first_key, &self.last_key) else { return false };
        let order = self.order();
        order.rows(first, key::row(high)) != Ordering::Greater
            && last.is_none_or(|last| order.rows(last, key::row(low)) != Ordering::Less)
    }
    /// The open HFile; its blocks are cached under its id.
    pub fn open_file(&self) -> &Arc<OpenFile> {
        &self.open
    }

    /// The order of files in a store: oldest sequence id first; a larger file before a smaller one of the same age.
    pub(crate) fn age_order(&self) -> impl Ord + '_ {
        let bulk_time = self.reader.bulk_load_time_ms().unwrap_or(u64::MAX);
        (self.seq_id, Reverse(self.size_bytes()), bulk_time, &self.name)
    }
}

fn long(reader: &Reader, key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(reader.file_info().get(key)?.try_into().ok()?))
}

/// The value of a step from a source that may block.
pub(crate) fn ready<T>(reader: &Reader, step: Step<T>) -> Result<T, HFileError> {
    match step {
        Step::Ready(value) => Ok(value),
        Step::Need(request) => Err(HFileError::Io {
            file: reader.name().to_owned(),
            offset: request.offset,
            source: std::io::Error::other("the source did not wait for a block"),
        }),
    }
}

/// Moves over the cells of a [`StoreFile`] that its half shows. Same contract as [`Scanner`].
pub struct StoreFileScanner {
    inner: HalfScanner,
    /// What cells take for their sequence id, if they have none.
    seq_id: Option<u64>,
    file: Arc<StoreFile>,
}

impl StoreFileScanner {
    pub fn file(&self) -> &Arc<StoreFile> {
        &self.file
    }
    /// To the first cell at or after `key`.
    pub fn seek(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        self.inner.seek(key, src)
    }
    /// As [`StoreFileScanner::seek`], forward only; cheap when the key is near.
    pub fn reseek(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        self.inner.reseek(key, src)
    }
    /// To the last cell before `key`; false if there is none.
    pub fn seek_before(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        self.inner.seek_before(key, src)
    }
    /// See [`Scanner::to_row_before`]; halves seek.
    pub fn to_row_before(&mut self, row: &[u8]) -> bool {
        self.inner.half.is_none() && self.inner.inner.to_row_before(row)
    }
    pub fn seek_to_first(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        self.inner.seek_to_first(src)
    }
    pub fn next(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        self.inner.next(src)
    }
    /// See [`Scanner::aim`]; halves do not aim.
    pub fn aim(&mut self, key: &[u8], src: &dyn BlockSource) {
        if self.inner.half.is_none() {
            self.inner.inner.aim(key, src);
        }
    }
    /// See [`Scanner::aim_at_cell`].
    pub fn aim_at_cell(&self) {
        self.inner.inner.aim_at_cell();
    }
    /// See [`Scanner::keep_to_row`].
    pub fn keep_to_row(&mut self, row: &[u8]) {
        self.inner.inner.keep_to_row(row);
    }
    /// See [`Scanner::is_last_in_block`].
    #[inline]
    pub fn is_last_in_block(&self) -> bool {
        self.inner.inner.is_last_in_block()
    }
    /// See [`Scanner::forget`].
    pub fn forget(&mut self) {
        self.inner.inner.forget();
        self.inner.outside = false;
    }
    /// See [`Scanner::take_plain`]; halves take nothing.
    #[inline]
    pub fn take_plain<'s>(&'s mut self, rules: &PlainRules<'_>, out: &mut CellBuf) -> PlainTaken<'s> {
        if self.inner.half.is_some() { PlainTaken::NONE } else { self.inner.inner.take_plain(rules, out) }
    }
    /// See [`Scanner::show_plain`]; halves show nothing.
    #[inline]
    pub fn show_plain<'s>(
        &'s mut self,
        rules: &PlainRules<'_>,
        shows: &mut impl ShowCells,
        out: &mut CellBuf,
    ) -> ShownPlain<'s> {
        if self.inner.half.is_some() { ShownPlain::NONE } else { self.inner.inner.show_plain(rules, shows, out) }
    }
    /// See [`Scanner::block_is_before`].
    pub fn block_is_before(&self, row: &[u8]) -> bool {
        self.inner.inner.block_is_before(row)
    }

    /// See [`Scanner::pass_rows`]; halves pass nothing.
    #[inline]
    pub fn pass_rows(&mut self, most: usize, refuse: &mut impl RefuseRows) -> Passed {
        if self.inner.half.is_some() { Passed::default() } else { self.inner.inner.pass_rows(most, refuse) }
    }
    /// See [`Scanner::may_take_rows`]; not in halves.
    #[inline]
    pub fn may_take_rows(&self, of_several: bool) -> bool {
        self.inner.half.is_none() && self.inner.inner.may_take_rows(of_several)
    }
    /// See [`Scanner::take_rows`]; halves take nothing.
    #[inline]
    pub fn take_rows(
        &mut self,
        rules: JudgeRules<'_>,
        before: [Option<&[u8]>; 2],
        takes: &mut impl TakeRows,
        src: &dyn BlockSource,
    ) -> usize {
        if self.inner.half.is_some() { 0 } else { self.inner.inner.take_rows(rules, before, takes, src) }
    }
    /// See [`Scanner::pass_judged`]; halves pass nothing.
    #[inline]
    pub fn pass_judged(&mut self, rules: JudgeRules<'_>, judge: &mut impl RowJudge, src: &dyn BlockSource) -> usize {
        if self.inner.half.is_some() { 0 } else { self.inner.inner.pass_judged(rules, judge, src) }
    }
    /// The cell under the scanner; None before the first seek and at the end.
    #[inline]
    pub fn peek(&self) -> Option<CellRef<'_>> {
        let cell = self.inner.peek()?;
        match self.seq_id {
            None => Some(cell),
            Some(seq_id) => Some(CellRef { seq_id, ..cell }),
        }
    }
    /// The key of that cell.
    #[inline]
    pub fn peek_key(&self) -> Option<&[u8]> {
        self.inner.peek_key()
    }
    /// See [`Scanner::next_index_key`]; None for halves.
    pub fn next_index_key(&self) -> Option<&[u8]> {
        if self.inner.half.is_some() { None } else { self.inner.inner.next_index_key() }
    }
}

/// [`Scanner::seek`] or [`Scanner::reseek`].
type Seek = fn(&mut Scanner, &[u8], &dyn BlockSource) -> Result<Step<()>, HFileError>;

/// A scanner that does not leave its half.
struct HalfScanner {
    inner: Scanner,
    half: Option<Half>,
    order: Order,
    /// The inner scanner stands on the other side (or nowhere useful): there is no current cell.
    outside: bool,
}

impl HalfScanner {
    fn new(inner: Scanner, half: Option<Half>, order: Order) -> HalfScanner {
        HalfScanner { inner, half, order, outside: false }
    }

    #[inline]
    fn peek(&self) -> Option<CellRef<'_>> {
        if self.outside { None } else { self.inner.peek() }
    }

    #[inline]
    fn peek_key(&self) -> Option<&[u8]> {
        if self.outside { None } else { self.inner.peek_key() }
    }

    /// After a move: whether it left the half.
    #[inline]
    fn moved(&mut self, step: Step<()>) -> Step<()> {
        if let (Some(half), Step::Ready(())) = (&self.half, &step) {
            self.outside = self.inner.peek().is_some_and(|cell| !half.shows(self.order, cell.key));
        }
        step
    }

    fn seek(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        self.seek_with(key, src, Scanner::seek)
    }

    fn reseek(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        if self.outside && self.half.as_ref().is_some_and(|h| !h.top) {
            // Past the end of the bottom half: so is everything ahead.
            return Ok(Step::Ready(()));
        }
        self.seek_with(key, src, Scanner::reseek)
    }

    fn seek_with(&mut self, key: &[u8], src: &dyn BlockSource, seek: Seek) -> Result<Step<()>, HFileError> {
        let step = match &self.half {
            Some(half) if !half.shows(self.order, key) => {
                if !half.top {
                    self.outside = true;
                    return Ok(Step::Ready(()));
                }
                seek(&mut self.inner, &half.split_key, src)?
            }
            _ => seek(&mut self.inner, key, src)?,
        };
        Ok(self.moved(step))
    }

    fn seek_to_first(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        let step = match &self.half {
            Some(half) if half.top => self.inner.seek(&half.split_key, src)?,
            _ => self.inner.seek_to_first(src)?,
        };
        Ok(self.moved(step))
    }

    fn seek_before(&mut self, key: &[u8], src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        let Some(half) = &self.half else { return self.inner.seek_before(key, src) };
        let key = if half.top || half.shows(self.order, key) { key } else { &half.split_key };
        let found = match self.inner.seek_before(key, src)? {
            Step::Ready(found) => found,
            Step::Need(request) => return Ok(Step::Need(request)),
        };
        self.outside = !found || self.inner.peek().is_none_or(|cell| !half.shows(self.order, cell.key));
        Ok(Step::Ready(!self.outside))
    }

    #[inline]
    fn next(&mut self, src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        if self.outside {
            return Ok(Step::Ready(()));
        }
        let step = self.inner.next(src)?;
        Ok(self.moved(step))
    }
}
