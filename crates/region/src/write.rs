//! Write: the entry of every mutation.

use crate::{Region, RegionError, WriteRequest, Written};
use martite_hfile::{BlockSource, Step};

impl Region {
    /// Writes. `Need` and `WouldBlock` change nothing that was not finished: give the same request again, with the block
    /// read or with a source that may block.
    pub fn write(&self, req: &mut WriteRequest, src: &dyn BlockSource) -> Result<Step<Written>, RegionError> {
        let _ = (req, src);
        todo!()
    }
}
