//! Close a region.

use crate::{Region, RegionError};

impl Region {
    /// Stops operations, flushes (unless `abort`), writes the close marker. Scanners that are open find NotServing at
    /// their next call. Closing twice is closing once.
    pub fn close(&self, abort: bool) -> Result<(), RegionError> {
        let _ = abort;
        todo!()
    }
}
