//! [`Scan`]: which rows to read, and how.

use crate::get::query_methods;
use crate::mutation::{set_attribute, time_range};
use bytes::Bytes;
use martite_proto as pb;

/// Rows from a start to a stop, or the other way round.
///
/// ```
/// # use martite_client::Scan;
/// let newest_first = Scan::new().start("user1/9").stop("user1/").reversed(true).limit(10);
/// let all_of_one = Scan::new().prefix("user1/").family("f");
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scan {
    pub(crate) proto: pb::Scan,
    pub(crate) priority: Option<u32>,
    /// Rows; 0: all.
    pub(crate) limit: u32,
    pub(crate) caching: Option<u32>,
    pub(crate) allow_partials: bool,
    pub(crate) metrics: bool,
}

query_methods!(Scan);

impl Scan {
    pub fn new() -> Scan {
        Scan::default()
    }

    /// The first row; empty: the table's first, or reversed, its last.
    pub fn start(self, row: impl AsRef<[u8]>) -> Scan {
        self.start_at(row, true)
    }

    /// The row after which the scan begins.
    pub fn start_after(self, row: impl AsRef<[u8]>) -> Scan {
        self.start_at(row, false)
    }

    fn start_at(mut self, row: impl AsRef<[u8]>, inclusive: bool) -> Scan {
        self.proto.start_row = Some(Bytes::copy_from_slice(row.as_ref()));
        self.proto.include_start_row = Some(inclusive);
        self
    }

    /// The row before which the scan ends; empty: none.
    pub fn stop(self, row: impl AsRef<[u8]>) -> Scan {
        self.stop_at(row, false)
    }

    /// The last row.
    pub fn stop_after(self, row: impl AsRef<[u8]>) -> Scan {
        self.stop_at(row, true)
    }

    fn stop_at(mut self, row: impl AsRef<[u8]>, inclusive: bool) -> Scan {
        self.proto.stop_row = Some(Bytes::copy_from_slice(row.as_ref()));
        self.proto.include_stop_row = Some(inclusive);
        self
    }

    /// Rows that begin so.
    pub fn prefix(self, prefix: impl AsRef<[u8]>) -> Scan {
        let mut stop = prefix.as_ref().to_vec();
        // The first row after all that begin so: the last byte that can be greater is.
        while stop.last() == Some(&0xff) {
            stop.pop();
        }
        if let Some(last) = stop.last_mut() {
            *last += 1;
        }
        self.start(prefix).stop(stop)
    }

    /// From the greatest row to the least: `start` is the greater one then.
    pub fn reversed(mut self, reversed: bool) -> Scan {
        self.proto.reversed = Some(reversed);
        self
    }

    /// At most so many rows; 0: all.
    pub fn limit(mut self, rows: u32) -> Scan {
        self.limit = rows;
        self
    }

    /// At most so many rows in one call. Mostly [`Scan::max_result_bytes`] is what bounds a call.
    pub fn caching(mut self, rows: u32) -> Scan {
        self.caching = Some(rows);
        self
    }

    /// About so many bytes in one call.
    pub fn max_result_bytes(mut self, bytes: u64) -> Scan {
        self.proto.max_result_size = Some(bytes);
        self
    }

    /// At most so many cells at a time: rows with more come in several pieces; 0: rows come whole.
    pub fn batch(mut self, cells: u32) -> Scan {
        self.proto.batch_size = Some(cells).filter(|cells| *cells > 0);
        self
    }

    /// Rows come in pieces as servers send them, and no row need fit into memory.
    pub fn allow_partials(mut self, allow: bool) -> Scan {
        self.allow_partials = allow;
        self
    }

    /// How a server reads files: in passing, or for one place.
    pub fn read_type(mut self, kind: pb::scan::ReadType) -> Scan {
        self.proto.read_type = Some(kind as i32);
        self
    }

    /// Delete markers and what they hide are read, too.
    pub fn raw(self, raw: bool) -> Scan {
        self.attribute("_raw_", vec![if raw { 0xff } else { 0 }])
    }

    /// Servers count what they read: [`Scanner::metrics`](crate::Scanner::metrics).
    pub fn with_metrics(mut self, wanted: bool) -> Scan {
        self.metrics = wanted;
        self
    }

    pub(crate) fn is_reversed(&self) -> bool {
        self.proto.reversed()
    }
}
