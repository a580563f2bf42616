//! Reading what a row holds now, under its lock.

use crate::{GetSpec, Region};
use bytes::Bytes;

impl Region {
    /// A Get that sees everything in the memstores: under the row's lock nothing of the row is half there, and what is
    /// not in the synced log yet comes before the write that is about to be made. If the log fails, both are lost.
    pub(crate) fn current_row(&self, row: &Bytes) -> GetSpec {
        GetSpec { read_point: Some(u64::MAX), ..GetSpec::new(row.clone()) }
    }
}
