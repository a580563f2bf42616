//! Filters and comparators: decoded from a request, then asked about rows and cells of a scan.
//!
//! A scanner asks in this order, for each row: [`Filter::filter_all_remaining`], [`Filter::filter_row_key`], for each
//! cell [`Filter::filter_all_remaining`] again (true: this family is done for the whole scan), [`Filter::filter_cell`]
//! and, if it is included, [`Filter::transform`]. At the end of a row that has cells, a filter that
//! [`Filter::has_filter_row`] is asked for [`Filter::filter_row_cells`] and, if cells are left, [`Filter::filter_row`];
//! any other filter only for [`Filter::filter_row`]. Then [`Filter::reset`], after skipped rows too. A comparison that
//! cannot be made (a comparator of numbers meets something else) ends the scan and waits in [`Filter::failure`].
//!
//! ```text
//! proto::Filter{name, bytes} --decode.rs--> Filter( Box<dyn Evaluate> ) --+-- filters/prefix.rs
//!                                                                        +-- filters/list_and.rs --+-- filters/row.rs
//!                                                                                                  +-- ...
//! ```
//! A client makes the message with [`build`], or out of a line of HBase's filter language with [`language::parse`].
//!
//! Semantics are those of HBase 2.6 `org.apache.hadoop.hbase.filter`; this crate sees no files and no sockets.
#![forbid(unsafe_code)]

pub mod build;
mod comparator;
mod compare;
mod decode;
mod error;
mod evaluate;
mod filter;
mod filters;
pub mod language;
mod required;
mod return_code;
#[cfg(test)]
mod scan_model;

pub use comparator::{Comparator, comparator_classes};
pub use compare::CompareOp;
pub use decode::{MAX_DEPTH, filter_classes};
pub use error::FilterError;
pub use evaluate::NextRow;
pub use filter::Filter;
pub use return_code::ReturnCode;
