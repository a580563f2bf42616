//! Flush: the frozen part of the memstore becomes a store file.
#![allow(clippy::todo)]

use crate::{Segment, Store, StoreError};
use std::{path::PathBuf, sync::Arc};

/// A memstore snapshot waiting to be written.
pub struct FlushTicket {
    pub segment: Arc<Segment>,
    pub cells: u64,
    pub data_size_bytes: u64,
    pub heap_size_bytes: u64,
}

/// A snapshot written to `<region>/.tmp/<family>/<name>` and checked; not yet visible. Without a file when no cell was
/// worth keeping.
pub struct FlushedFile {
    pub seq_id: u64,
    pub tmp_path: Option<PathBuf>,
    /// Final path, once committed.
    pub path: Option<PathBuf>,
    pub cells: u64,
    pub size_bytes: u64,
}

impl Store {
    /// Freezes the memstore. The caller holds off writers of the region for this moment.
    /// A ticket that was aborted before is part of the next one.
    pub fn prepare_flush(&self) -> FlushTicket {
        todo!()
    }
    /// Writes the snapshot to the region's `.tmp`, syncs it and opens it again to check it.
    /// `seq_id`: highest sequence id that the snapshot may hold.
    pub fn flush_to_tmp(
        &self,
        _ticket: &FlushTicket,
        _seq_id: u64,
        _smallest_read_point: u64,
        _now_ms: u64,
    ) -> Result<FlushedFile, StoreError> {
        todo!()
    }
    /// Moves the file into the family's directory, adds it to the file list and lets the snapshot go.
    pub fn commit_flush(&self, _ticket: FlushTicket, _flushed: FlushedFile) -> Result<FlushedFile, StoreError> {
        todo!()
    }
    /// Gives up: the snapshot stays readable and the next flush takes it along.
    pub fn abort_flush(&self, _ticket: FlushTicket, _flushed: Option<FlushedFile>) {
        todo!()
    }
}
