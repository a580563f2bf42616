//! Filters and comparators: decoded from a request, then asked about rows and cells of a scan.
//!
//! A scanner asks in this order, for each row: [`Filter::reset`], [`Filter::filter_all_remaining`],
//! [`Filter::filter_row_key`], for each cell [`Filter::filter_cell`] (and [`Filter::transform`] if it is included), then,
//! when [`Filter::has_filter_row`], [`Filter::filter_row_cells`] and [`Filter::filter_row`].
//! Semantics are those of HBase 2.6 `org.apache.hadoop.hbase.filter`; this crate sees no files and no sockets.
#![forbid(unsafe_code)]
#![allow(clippy::todo, unused_variables)]

use martite_cell::{CellBuf, CellRef, buf::Mark};
use martite_proto as pb;
use std::cmp::Ordering;

/// What is wrong with a filter or comparator of a request. The client must not retry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// No filter or comparator of this Java class is known.
    #[error("unknown filter or comparator class {0}")]
    Unknown(String),
    /// The serialized form cannot be read, lacks a field or has a value that makes no sense.
    #[error("malformed {class}: {reason}")]
    Malformed { class: String, reason: String },
}

/// What to do with the cell that was just shown, and where to go next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnCode {
    Include,
    IncludeAndNextCol,
    Skip,
    NextCol,
    NextRow,
    SeekNextUsingHint,
    IncludeAndSeekNextRow,
}

/// One decoded filter tree with its state; belongs to one scanner.
pub struct Filter(Box<dyn Send>);

impl Filter {
    pub fn decode(proto: &pb::Filter) -> Result<Filter, FilterError> {
        todo!()
    }
    /// Java class name without its package, for errors and logs.
    pub fn name(&self) -> &'static str {
        todo!()
    }
    /// To be called before each row.
    pub fn reset(&mut self) {
        todo!()
    }
    /// True: the scan is over.
    pub fn filter_all_remaining(&mut self) -> bool {
        todo!()
    }
    /// True: the whole row is left out.
    pub fn filter_row_key(&mut self, row: &[u8]) -> bool {
        todo!()
    }
    pub fn filter_cell(&mut self, cell: &CellRef<'_>) -> ReturnCode {
        todo!()
    }
    /// After `SeekNextUsingHint`: the flat key to seek to; None: the filter does not know, go on with the next cell.
    pub fn next_hint(&mut self, cell: &CellRef<'_>) -> Option<Vec<u8>> {
        todo!()
    }
    /// The cell to hand out in place of an included one; `scratch` holds new bytes if there are any.
    pub fn transform<'a>(&mut self, cell: CellRef<'a>, scratch: &'a mut Vec<u8>) -> CellRef<'a> {
        todo!()
    }
    /// Whether the filter judges whole rows: the scanner must then collect each row before it hands out any of it.
    pub fn has_filter_row(&self) -> bool {
        todo!()
    }
    /// Removes those of the row's collected cells (all since `from`) that the filter does not want.
    pub fn filter_row_cells(&mut self, row: &mut CellBuf, from: Mark) {
        todo!()
    }
    /// The same decision for one collected cell: whether it stays.
    pub fn keeps_row_cell(&mut self, cell: &CellRef<'_>) -> bool {
        todo!()
    }
    /// True: the row that was collected is left out.
    pub fn filter_row(&mut self) -> bool {
        todo!()
    }
    /// Whether the filter needs the family to judge a row.
    pub fn is_family_essential(&self, family: &[u8]) -> bool {
        todo!()
    }
    pub fn set_reversed(&mut self, reversed: bool) {
        todo!()
    }
    pub fn is_reversed(&self) -> bool {
        todo!()
    }
}

/// A comparator with its value.
#[derive(Debug)]
pub struct Comparator(());

impl Comparator {
    pub fn decode(proto: &pb::Comparator) -> Result<Comparator, FilterError> {
        todo!()
    }
    /// Java class name without its package.
    pub fn name(&self) -> &'static str {
        todo!()
    }
    /// The comparator's value, as far as it has one (checkAndMutate treats an empty one specially).
    pub fn value(&self) -> &[u8] {
        todo!()
    }
    /// The comparator's value against the cell's (HBase `compareTo`).
    pub fn compare(&self, cell_value: &[u8]) -> Ordering {
        todo!()
    }
}

/// The operator of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
    NoOp,
}

impl CompareOp {
    pub fn decode(proto: i32) -> Option<CompareOp> {
        todo!()
    }
    /// checkAndMutate's direction: whether "given value OP cell value" holds, from [`Comparator::compare`]'s answer.
    pub fn holds(self, compared: Ordering) -> bool {
        todo!()
    }
}
