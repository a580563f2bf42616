//! [`PointReader`]: Gets whose row lies in one block of one file, without merge and matcher.
//!
//! Most rows of most tables are like that: what was written long ago and compacted since. Where a row is, is decided as for a
//! scanner ([`super::prune`]); if only one file can have it, its cells are taken from the block as they lie. Whatever else
//! turns up (a memstore that has the row, a second file, markers, tags, versions, a row that goes on in another block) is left
//! to a [`super::StoreScanner`], which then needs not decide anew what to read.
//!
//! ```text
//! find    which file, and which of its blocks        looks at bloom filters and index
//! fetch   the block                                  at the cache's table and the block's head
//! locate  where in the block                         at the block's marks
//! read    the cells                                  at the cells
//! ```
//! Between two of these [`PointReader::prefetch`] asks for the memory that the next one looks at.

use super::prune::{Candidates, is_in_bloom, is_in_time};
use super::row_read::RowRead;
use super::run::MOST_OLDER;
use super::source::ready;
use super::{ReadView, StoreScan, StoreScanner};
use crate::{FamilyOptions, StoreError, StoreFile};
use bytes::Bytes;
use martite_cell::{CellType, LATEST_TIMESTAMP, Order, key};
use martite_hfile::{Block, BlockSource, BloomType, Leaves, PlainRules, Reader, RowCell, RowPlace, RowTaken, Step};
use std::sync::Arc;

/// Room for what follows the row in most keys.
const MOST_OF_KEY: usize = 64;

/// Reads rows of one store, as it was at one time.
pub struct PointReader {
    view: ReadView,
    family: Arc<FamilyOptions>,
    scan: StoreScan,
    /// Cells are judged by their timestamps and columns alone.
    is_plain: bool,
    /// Timestamps that are wanted.
    oldest: u64,
    newest: u64,
    /// One version of a column is all that is wanted.
    only_version: bool,
}

/// Where a row is, as far as that is known.
#[derive(Default)]
pub struct Lookup {
    /// The flat key that the read begins at.
    start: Vec<u8>,
    found: Found,
    /// Where in its block.
    cell: Option<RowCell>,
    /// Of the block that was got for it.
    block_bytes: u64,
    /// The file's bloom filter was left out: the block is probably in memory, and tells as well.
    unasked: bool,
}

#[derive(Default)]
enum Found {
    #[default]
    Unknown,
    /// In no file.
    Nowhere,
    /// A scanner is to read it.
    Elsewhere(Candidates),
    Place(usize, RowPlace),
    Block(usize, RowPlace, Arc<Block>),
}

/// How the read of a row ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointEnd {
    All,
    /// As many cells as may be.
    Enough,
    /// A scanner is to read it; nothing was appended.
    Elsewhere,
}

impl Lookup {
    /// Whether it is known that a scanner is to read the row.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.found, Found::Elsewhere(_))
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self.found, Found::Unknown)
    }

    /// Nothing is known any more.
    pub fn clear(&mut self) {
        (self.found, self.cell, self.block_bytes, self.unasked) = (Found::Unknown, None, 0, false);
    }
}

impl PointReader {
    /// For Gets like `scan`, whatever its row.
    pub fn new(view: ReadView, family: Arc<FamilyOptions>, scan: StoreScan) -> PointReader {
        let versions = scan.max_versions.min(family.max_versions);
        let is_plain = scan.is_get
            && !(scan.raw || family.new_version_behavior)
            && (scan.store_limit, scan.store_offset, family.order) == (-1, 0, Order::Default)
            && versions > 0;
        let (oldest, newest) = scan.time_range.bounds();
        let oldest = oldest.max(scan.oldest_unexpired(&family));
        PointReader { view, is_plain, oldest, newest, only_version: versions == 1, family, scan }
    }

    /// For the rows that are elsewhere; see [`Self::hand_over`].
    pub fn scanner(&self) -> StoreScanner {
        StoreScanner::closed(self.view.clone(), self.family.clone(), Arc::new(self.scan.clone()), false)
    }

    /// Has `scanner` read `row`.
    pub fn hand_over(&self, row: &Bytes, lookup: &Lookup, scanner: &mut StoreScanner) {
        let candidates = match &lookup.found {
            Found::Elsewhere(candidates) => *candidates,
            Found::Place(file, _) | Found::Block(file, ..) => Candidates::only(*file),
            Found::Unknown | Found::Nowhere => Candidates::all(&self.view),
        };
        scanner.restart_among(row.clone(), &candidates);
    }

    /// Finds the block that has to be read for `row`.
    pub fn find(
        &self,
        row: &[u8],
        lookup: &mut Lookup,
        leaves: &mut Leaves,
        src: &dyn BlockSource,
    ) -> Result<Step<()>, StoreError> {
        lookup.clear();
        if !self.is_plain || self.view.segments.iter().any(|segment| segment.holds_row(row)) {
            lookup.found = Found::Elsewhere(Candidates::all(&self.view));
            return Ok(Step::Ready(()));
        }
        let candidates = match self.only_file(row).filter(|_| !src.may_block()) {
            Some(only) => {
                lookup.unasked = true;
                Candidates::only(only)
            }
            None => ready!(self.candidates(row, src)?),
        };
        lookup.found = match candidates.only_one() {
            Some(at) if self.can_take(&self.view.files[at]) => {
                let reader = &self.view.files[at].reader;
                self.start_key(row, reader, &mut lookup.start);
                match ready!(reader.row_place(&lookup.start, leaves, src)?) {
                    Some(place) => Found::Place(at, place),
                    None => Found::Elsewhere(candidates),
                }
            }
            None if candidates.are_none() => Found::Nowhere,
            _ => Found::Elsewhere(candidates),
        };
        Ok(Step::Ready(()))
    }

    /// Whether the file has a reason to be asked about the row.
    fn may_hold(&self, file: &StoreFile, row: &[u8]) -> bool {
        is_in_time(file, &self.family, &self.scan) && file.covers_row(row)
    }

    /// The only file that has one.
    fn only_file(&self, row: &[u8]) -> Option<usize> {
        let mut files = self.view.files.iter().enumerate().filter(|(_, file)| self.may_hold(file, row));
        let first = files.next()?.0;
        files.next().is_none().then_some(first)
    }

    /// The files that the row can be in, or two of them.
    fn candidates(&self, row: &[u8], src: &dyn BlockSource) -> Result<Step<Candidates>, StoreError> {
        let mut candidates = Candidates::all(&self.view);
        while let Some(at) = candidates.left.checked_sub(1).filter(|_| !candidates.are_several()) {
            let file = &self.view.files[at];
            let may_hold = self.may_hold(file, row) && ready!(is_in_bloom(file, row, &self.scan, src)?);
            candidates.left = at;
            if may_hold {
                candidates.push(at);
            }
        }
        Ok(Step::Ready(candidates))
    }

    /// Whether its cells are as they lie.
    fn can_take(&self, file: &StoreFile) -> bool {
        !file.is_reference() && file.cell_seq_id().is_none_or(|seq_id| seq_id <= self.scan.read_point)
    }

    fn start_key(&self, row: &[u8], reader: &Reader, start: &mut Vec<u8>) {
        let (highest, maximum) = (LATEST_TIMESTAMP, CellType::Maximum as u8);
        start.clear();
        start.reserve(row.len() + MOST_OF_KEY);
        match self.scan.columns.as_ref().and_then(|columns| columns.first()) {
            // No marker of the whole family can come before.
            Some(column) if reader.delete_family_count() == Some(0) => {
                key::append_key(start, row, &self.family.name, column, highest, maximum);
            }
            _ => key::append_key(start, row, &[], &[], highest, maximum),
        }
    }

    /// Gets that block. `last`: a row that was fetched before, whose block may be the same.
    pub fn fetch(
        &self,
        lookup: &mut Lookup,
        last: Option<&Lookup>,
        src: &dyn BlockSource,
    ) -> Result<Step<()>, StoreError> {
        let Found::Place(at, place) = lookup.found else { return Ok(Step::Ready(())) };
        let block = match last.map(|last| &last.found) {
            Some(Found::Block(last_at, last, block)) if *last_at == at && last.is_same_block(&place) => block.clone(),
            _ => {
                let file = &self.view.files[at];
                match file.reader.row_block(&place, file.caches_data(self.scan.cache_blocks), src)? {
                    Step::Ready(block) => {
                        lookup.block_bytes = block.payload().len() as u64;
                        block
                    }
                    Step::Need(block) => {
                        let row = key::row(&lookup.start);
                        if !lookup.unasked || ready!(is_in_bloom(file, row, &self.scan, src)?) {
                            return Ok(Step::Need(block));
                        }
                        lookup.found = Found::Nowhere;
                        return Ok(Step::Ready(()));
                    }
                }
            }
        };
        lookup.found = Found::Block(at, place, block);
        Ok(Step::Ready(()))
    }

    /// Asks for the memory of what comes next.
    pub fn prefetch(&self, lookup: &Lookup, src: &dyn BlockSource) {
        match (&lookup.found, &lookup.cell) {
            (Found::Place(at, place), _) => self.view.files[*at].reader.announce_row_block(place, src),
            (Found::Block(_, _, block), None) => block.prefetch_marks(),
            (Found::Block(_, _, block), Some(cell)) => block.prefetch_row(cell),
            (Found::Unknown | Found::Nowhere | Found::Elsewhere(_), _) => {}
        }
    }

    /// Looks at the memory that a located row takes, before that is asked for.
    pub fn touch(&self, lookup: &Lookup) {
        if let (Found::Block(_, _, block), Some(cell)) = (&lookup.found, &lookup.cell) {
            block.touch_row(cell);
        }
    }

    /// Finds the place in the block that was fetched; the read can do without.
    pub fn locate(&self, lookup: &mut Lookup) {
        if let Found::Block(at, _, block) = &lookup.found {
            lookup.cell = Some(self.view.files[*at].reader.row_cell(&lookup.start, block));
        }
    }

    /// Appends the cells of the row, which was fetched.
    pub fn read(&self, lookup: &Lookup, read: &mut RowRead<'_>) -> PointEnd {
        let (at, place, block) = match &lookup.found {
            Found::Nowhere => return PointEnd::All,
            Found::Block(at, place, block) => (*at, place, block),
            Found::Unknown | Found::Elsewhere(_) | Found::Place(..) => return PointEnd::Elsewhere,
        };
        let mark = read.out.mark();
        let (cells_end, bytes_end) = read.ends();
        let rules = PlainRules {
            row_prefix: &lookup.start[..2 + key::row_len(&lookup.start)],
            oldest: self.oldest,
            newest: self.newest,
            other_times_pass: false,
            read_point: self.scan.read_point,
            bound: None,
            column: None,
            columns: self.scan.columns.as_deref().filter(|columns| !columns.is_empty()),
            most_older: if self.only_version { MOST_OLDER } else { 0 },
            most_cells: cells_end.saturating_sub(read.out.len()).max(1) as u64,
            bytes_end,
            goes_on: false,
        };
        let reader = &self.view.files[at].reader;
        let taken = reader.take_row((place, block, lookup.cell.as_ref()), &lookup.start, &rules, read.out);
        let is_told = match taken {
            RowTaken::All => true,
            // Cells that were passed over count for it, too.
            RowTaken::Enough => read.out.len() >= cells_end,
            RowTaken::Unknown => false,
        };
        if !is_told || read.is_too_big() {
            read.out.truncate(mark);
            return PointEnd::Elsewhere;
        }
        // A bloom filter would have spared the block.
        let is_spared = lookup.unasked && reader.bloom_type() != BloomType::None && read.out.mark() == mark;
        if !is_spared {
            read.block_bytes.set(read.block_bytes.get() + lookup.block_bytes);
        }
        if taken == RowTaken::All { PointEnd::All } else { PointEnd::Enough }
    }
}
