//! Flush: the frozen part of the memstore becomes a store file.
//!
//! ```text
//! prepare_flush   freeze the active segment            (writers held off by the region, for a moment)
//! flush_to_tmp    segment ──▶ <region>/.tmp/<family>/<file>, synced and opened again to check it
//! commit_flush    rename into the family's directory, sync it, swap the file list, let the segment go
//! ```
//!
//! Readers see each cell at every moment: in the segment until the file list has the file, and never in both.

use crate::{
    CompactionKind, CompactionScan, CompactionScanner, ReadView, Segment, Store, StoreError,
    output::{NewFile, NewFileOptions, TmpFile},
};
use martite_hfile::StoreMeta;
use std::{path::PathBuf, sync::Arc};

/// A memstore snapshot waiting to be written.
pub struct FlushTicket {
    pub segment: Arc<Segment>,
    pub cells: u64,
    pub data_size_bytes: u64,
    pub heap_size_bytes: u64,
    /// Reads come as well as writes: the blocks of the file are probably wanted soon.
    pub is_read: bool,
}

/// A snapshot written to `<region>/.tmp/<family>/<name>` and checked; not yet visible. Without a file when no cell was
/// worth keeping. Removed when dropped.
pub struct FlushedFile {
    pub seq_id: u64,
    /// Where it is; None without a file, and once committed.
    pub tmp_path: Option<PathBuf>,
    /// Name of the new store file, for the flush marker in the log.
    pub name: Option<String>,
    /// Final path, once committed.
    pub path: Option<PathBuf>,
    pub cells: u64,
    pub size_bytes: u64,
    now_ms: u64,
    file: Option<TmpFile>,
}

impl Store {
    /// Freezes the memstore. The caller holds off writers of the region for this moment.
    /// If a flush was aborted before, this one writes what that one had frozen, and the caller flushes once more.
    pub fn prepare_flush(&self) -> FlushTicket {
        let segment = self.memstore().snapshot();
        FlushTicket {
            cells: segment.cell_count(),
            data_size_bytes: segment.data_size(),
            heap_size_bytes: segment.heap_size(),
            is_read: false,
            segment,
        }
    }

    /// Writes the snapshot to the region's `.tmp`, syncs it and opens it again to check it.
    /// `seq_id`: highest sequence id that the snapshot may hold; edits up to it will not be replayed.
    pub fn flush_to_tmp(
        &self,
        ticket: &FlushTicket,
        seq_id: u64,
        smallest_read_point: u64,
        now_ms: u64,
    ) -> Result<FlushedFile, StoreError> {
        self.check_doubt()?;
        let mut flushed =
            FlushedFile { seq_id, tmp_path: None, name: None, path: None, cells: 0, size_bytes: 0, now_ms, file: None };
        if ticket.segment.is_empty() {
            return Ok(flushed);
        }
        let options = NewFileOptions {
            compression: self.options().compression,
            include_tags: has_tags(&ticket.segment),
            include_mvcc: true,
            expected_keys: ticket.cells,
            now_ms,
            keep_bytes: self.room_for_flush(ticket),
        };
        let view = ReadView { segments: [ticket.segment.clone()].into_iter().collect(), files: Arc::default() };
        let scan = CompactionScan { kind: CompactionKind::Flush, smallest_read_point, now_ms, earliest_put_ms: 0 };
        let mut scanner = CompactionScanner::new(view, self.options().clone(), scan);
        let source = self.context().files.blocking();
        // Made with the first cell: an empty flush leaves no file.
        let mut out: Option<NewFile> = None;
        while let Some(cell) = super::compaction::next_cell(&mut scanner, &source)? {
            let file = match &mut out {
                Some(file) => file,
                None => out.insert(NewFile::create(self, &options)?),
            };
            file.append(&cell)?;
        }
        let Some(out) = out else { return Ok(flushed) };
        let (file, finished) = out.finish(StoreMeta { max_seq_id: Some(seq_id), ..StoreMeta::default() })?;
        flushed.cells = finished.entries;
        flushed.size_bytes = finished.file_size;
        flushed.tmp_path = Some(file.path().to_owned());
        flushed.name = Some(file.name().to_owned());
        flushed.file = Some(file);
        Ok(flushed)
    }

    /// Moves the file into the family's directory, adds it to the file list and lets the snapshot go.
    ///
    /// After an error the snapshot is still readable and the next flush writes it; unless the error is
    /// [`StoreError::InDoubt`], after which the server must stop.
    pub fn commit_flush(&self, ticket: FlushTicket, mut flushed: FlushedFile) -> Result<FlushedFile, StoreError> {
        let file = match flushed.file.take() {
            Some(file) => Some(Arc::new(file.commit(self, flushed.now_ms)?)),
            None => None,
        };
        flushed.tmp_path = None;
        flushed.path = file.as_ref().map(|f| f.path.clone());
        self.counters.count_flush(flushed.cells, flushed.size_bytes);
        self.add_flushed(file.as_ref(), flushed.now_ms)?;
        drop(ticket);
        Ok(flushed)
    }

    /// How much of a flush's file goes to the cache.
    fn room_for_flush(&self, ticket: &FlushTicket) -> u64 {
        let config = self.config();
        if self.options().cache_data_on_write || config.cache_data_on_write {
            return u64::MAX;
        }
        let cache = self.context().files.cache();
        // Not all of it: other stores may be flushed at the same time, and the blocks are in memory beside the memstore first.
        if config.keep_flushed && ticket.is_read {
            cache.capacity_bytes().saturating_sub(cache.usage_bytes()) / 2
        } else {
            0
        }
    }

    /// Gives up: the snapshot stays readable and the next flush writes it.
    pub fn abort_flush(&self, ticket: FlushTicket, flushed: Option<FlushedFile>) {
        drop((ticket, flushed));
    }
}

/// Files without tags have no place for them.
fn has_tags(segment: &Segment) -> bool {
    let mut scanner = segment.scanner();
    scanner.seek_to_first();
    while let Some(cell) = scanner.peek() {
        if !cell.tags.is_empty() {
            return true;
        }
        scanner.next();
    }
    false
}
