//! Get: the cells of one row.
#![allow(clippy::todo)]

use crate::{Region, RegionError};
use bytes::Bytes;
use martite_cell::{CellBuf, TimeRange};
use martite_hfile::{BlockSource, Step};
use martite_proto as pb;

/// What a Get or Scan wants of one family.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FamilyColumns {
    pub family: Bytes,
    /// Qualifiers in any order; empty means the whole family.
    pub columns: Vec<Bytes>,
    /// Instead of the request's time range.
    pub time_range: Option<TimeRange>,
}

impl FamilyColumns {
    /// The whole family.
    pub fn whole(family: impl Into<Bytes>) -> FamilyColumns {
        FamilyColumns { family: family.into(), columns: Vec::new(), time_range: None }
    }
}

/// One Get.
#[derive(Debug, Clone)]
pub struct GetSpec {
    pub row: Bytes,
    /// Empty: all families.
    pub families: Vec<FamilyColumns>,
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
}

impl GetSpec {
    /// The newest version of every column of the row.
    pub fn new(row: impl Into<Bytes>) -> GetSpec {
        GetSpec {
            row: row.into(),
            families: Vec::new(),
            max_versions: 1,
            time_range: TimeRange::ALL,
            filter: None,
            store_limit: -1,
            store_offset: 0,
            cache_blocks: true,
            exists_only: false,
            read_point: None,
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

impl Region {
    /// Appends the row's cells to `out`. On `Need`, `out` is as it was: call again with a source that has the block.
    pub fn get(
        &self,
        _get: &GetSpec,
        _src: &dyn BlockSource,
        _out: &mut CellBuf,
    ) -> Result<Step<GetOutcome>, RegionError> {
        todo!()
    }
}
