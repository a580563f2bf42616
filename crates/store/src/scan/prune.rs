//! Which segments and files a scan has to read at all: by time, by keys, by bloom filter.

use super::source::{Source, ready};
use super::{ReadView, StoreScan};
use crate::{FamilyOptions, StoreError, StoreFile};
use martite_cell::TimeRange;
use martite_hfile::{BlockSource, BloomType, Step};
use std::sync::Arc;

/// With more columns than this, asking a ROWCOL filter about each one costs more than it saves.
const MAX_BLOOM_COLUMNS: usize = 8;

/// The files of a view that a Get has to read, as far as that is decided.
#[derive(Clone, Copy)]
pub(super) struct Candidates {
    /// Those that are not decided yet: `view.files[..left]`.
    pub left: usize,
    /// Those that may have the row; no more are decided than two that do.
    first: Option<usize>,
    second: Option<usize>,
}

impl Candidates {
    pub(super) fn all(view: &ReadView) -> Candidates {
        Candidates { left: view.files.len(), first: None, second: None }
    }

    /// No other than `file`.
    pub(super) fn only(file: usize) -> Candidates {
        Candidates { left: 0, first: Some(file), second: None }
    }

    pub(super) fn push(&mut self, file: usize) {
        let place = if self.first.is_none() { &mut self.first } else { &mut self.second };
        *place = Some(file);
    }

    pub(super) fn are_several(&self) -> bool {
        self.second.is_some()
    }

    /// Whether all are decided, and none was found.
    pub(super) fn are_none(&self) -> bool {
        self.left == 0 && self.first.is_none()
    }

    /// The one that was found when all were decided.
    pub(super) fn only_one(&self) -> Option<usize> {
        self.first.filter(|_| self.left == 0 && self.second.is_none())
    }
}

/// A choice that may be interrupted by a missing bloom block.
pub(super) struct Pruning {
    /// Files that are not decided yet: `view.files[..left]`.
    left: usize,
    pub(super) chosen: Vec<Source>,
}

impl Pruning {
    /// Segments are decided at once.
    pub(super) fn new(view: &ReadView, family: &FamilyOptions, scan: &StoreScan) -> Pruning {
        let (range, oldest) = (time_wanted(family, scan), oldest_wanted(family, scan));
        let mut chosen = Vec::with_capacity(view.segments.len() + view.files.len());
        for segment in view.segments.iter().filter(|s| s.may_hold(&range, oldest)) {
            let cells = if scan.is_get { segment.row_scanner(&scan.start_row) } else { Some(segment.scanner()) };
            let Some(cells) = cells else { continue };
            let mut source = Source::segment(cells, scan.read_point);
            source.starts_at_column = starts_at_column(scan, segment.has_family_markers());
            chosen.push(source);
        }
        Pruning { left: view.files.len(), chosen }
    }

    /// Of a Get, some of whose files are decided.
    pub(super) fn among(
        candidates: &Candidates,
        spare: &mut Vec<Source>,
        view: &ReadView,
        family: &FamilyOptions,
        scan: &StoreScan,
    ) -> Pruning {
        let mut pruning = Pruning::new(view, family, scan);
        pruning.left = candidates.left;
        for at in candidates.first.iter().chain(&candidates.second) {
            pruning.choose(&view.files[*at], spare, scan);
        }
        pruning
    }

    /// Sources in `spare` are used again.
    fn choose(&mut self, file: &Arc<StoreFile>, spare: &mut Vec<Source>, scan: &StoreScan) {
        let mut source = match spare.iter().position(|s| s.reads(file)) {
            Some(at) => spare.swap_remove(at).rewound(),
            None => Source::file(file, scan.read_point, scan.cache_blocks),
        };
        source.starts_at_column = starts_at_column(scan, file.reader.delete_family_count() != Some(0));
        if scan.is_get {
            source.keep_to_row(&scan.start_row);
        }
        self.chosen.push(source);
    }

    /// Decides the files, newest first.
    pub(super) fn run(
        &mut self,
        spare: &mut Vec<Source>,
        view: &ReadView,
        family: &FamilyOptions,
        scan: &StoreScan,
        src: &dyn BlockSource,
    ) -> Result<Step<()>, StoreError> {
        while let Some(file) = self.left.checked_sub(1).and_then(|at| view.files.get(at)) {
            if is_in_time(file, family, scan) && in_keys(file, scan) && ready!(in_bloom(file, scan, src)?) {
                self.choose(file, spare, scan);
            }
            self.left -= 1;
        }
        Ok(Step::Ready(()))
    }
}

/// Data outside of this range need not be read. By sequence id, newer versions count although they are not returned.
fn time_wanted(family: &FamilyOptions, scan: &StoreScan) -> TimeRange {
    if family.new_version_behavior { TimeRange::ALL } else { scan.time_range }
}

/// Data older than this need not be read. With MIN_VERSIONS expired cells may be wanted.
fn oldest_wanted(family: &FamilyOptions, scan: &StoreScan) -> u64 {
    if family.min_versions == 0 { scan.oldest_unexpired(family) } else { 0 }
}

/// A Get of named columns may begin at the first of them where no family marker can come before.
fn starts_at_column(scan: &StoreScan, has_family_markers: bool) -> bool {
    scan.is_get && !has_family_markers && !scan.raw && scan.columns.as_ref().is_some_and(|c| !c.is_empty())
}

pub(super) fn is_in_time(file: &StoreFile, family: &FamilyOptions, scan: &StoreScan) -> bool {
    let (range, oldest) = (time_wanted(family, scan), oldest_wanted(family, scan));
    file.time_range().is_none_or(|(min, max)| range.overlaps_inclusive(min, max) && max >= oldest)
}

fn in_keys(file: &StoreFile, scan: &StoreScan) -> bool {
    if scan.is_get {
        return file.covers_row(&scan.start_row);
    }
    // Reversed, the scan's smallest row is its stop row.
    let (low, high) = if scan.reversed { (&scan.stop_row, &scan.start_row) } else { (&scan.start_row, &scan.stop_row) };
    file.overlaps_rows(low, (!high.is_empty()).then_some(&high[..]))
}

fn in_bloom(file: &StoreFile, scan: &StoreScan, src: &dyn BlockSource) -> Result<Step<bool>, StoreError> {
    if scan.is_get {
        return is_in_bloom(file, &scan.start_row, scan, src);
    }
    match file.reader.bloom_type() {
        BloomType::RowPrefix(_) if !scan.reversed => {
            Ok(file.reader.may_contain_prefix_of(&scan.start_row, &scan.stop_row, src)?)
        }
        _ => Ok(Step::Ready(true)),
    }
}

/// What the file's bloom filter says to a Get of `row`.
pub(super) fn is_in_bloom(
    file: &StoreFile,
    row: &[u8],
    scan: &StoreScan,
    src: &dyn BlockSource,
) -> Result<Step<bool>, StoreError> {
    let reader = &file.reader;
    match reader.bloom_type() {
        BloomType::None => Ok(Step::Ready(true)),
        BloomType::RowCol => {
            let columns = scan.columns.as_deref().unwrap_or_default();
            if columns.is_empty() || columns.len() > MAX_BLOOM_COLUMNS {
                return Ok(Step::Ready(true));
            }
            for column in columns {
                if ready!(reader.may_contain_row_col(row, column, src)?) {
                    return Ok(Step::Ready(true));
                }
            }
            Ok(reader.may_contain_delete_family(row, src)?)
        }
        _ => Ok(reader.may_contain_row(row, src)?),
    }
}
