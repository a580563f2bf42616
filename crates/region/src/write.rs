//! Write: the entry of every mutation.

use crate::{Region, RegionError, WriteBody, WriteRequest, Written};
use martite_hfile::{BlockSource, Step};

impl Region {
    /// Writes. `Need` and the error `WouldBlock` leave nothing half done: give the same request again, with the block
    /// read or with a source that may block, and it goes on.
    ///
    /// The answer's `ops` are the results of a batch; an error is the whole request's.
    pub fn write(&self, req: &mut WriteRequest, src: &dyn BlockSource) -> Result<Step<Written>, RegionError> {
        let _operation = self.start_operation()?;
        self.check_writable()?;
        let WriteRequest { body, nonce_group, progress } = req;
        match body {
            WriteBody::Batch(mutations) => self.write_batch(mutations, progress, src),
            WriteBody::Atomic { mutations, conditions } => {
                self.write_atomic(mutations, conditions, *nonce_group, &mut progress.checked, src)
            }
        }
    }
}
