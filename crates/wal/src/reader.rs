//! [`WalReader`]: the entries of one file, ours or HBase's.

use crate::{Entry, WalError};
use martite_env::FileSystem;
use std::path::Path;

/// The end of a file that was being written when the machine stopped: never acknowledged, and not readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TornTail {
    /// Where the last whole entry ends.
    pub offset: u64,
    pub lost_bytes: u64,
}

/// Reads one file from front to back.
pub struct WalReader {}

impl WalReader {
    pub fn open(fs: &dyn FileSystem, path: &Path) -> Result<WalReader, WalError> {
        let _ = (fs, path);
        todo!()
    }
    /// The next entry; `None` at the end, where [`WalReader::torn_tail`] tells how the file ended.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Entry<'static>>, WalError> {
        todo!()
    }
    pub fn torn_tail(&self) -> Option<TornTail> {
        todo!()
    }
    /// Whether the file ends with a trailer: its writer closed it.
    pub fn is_closed(&self) -> bool {
        todo!()
    }
    /// Offset of the next entry.
    pub fn position(&self) -> u64 {
        todo!()
    }
}
