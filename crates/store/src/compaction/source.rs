//! [`CompactionSource`]: blocks for a compaction: read ahead, counted, and without displacing anybody's cached blocks.

use super::Throttle;
use crate::{Files, StoreError, files::read_range};
use martite_hfile::{Block, BlockRequest, BlockSource, FileId, HFileError, Reader};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    io,
    sync::Arc,
};

/// How much is read at once of each input.
const READ_AHEAD_BYTES: u64 = 256 << 10;

/// Blocks in the order of the files, with the throttle between them.
pub(super) struct CompactionSource<'a> {
    files: &'a Files,
    throttle: &'a dyn Throttle,
    every_bytes: u64,
    /// Bytes read and written since the throttle was asked.
    since: Cell<u64>,
    pub(super) read_bytes: Cell<u64>,
    cancelled: RefCell<Option<String>>,
    ends_piece: Cell<bool>,
    /// The piece of each file that was read last: its offset and bytes.
    ahead: RefCell<HashMap<FileId, (u64, Vec<u8>)>>,
}

impl<'a> CompactionSource<'a> {
    pub(super) fn new(files: &'a Files, throttle: &'a dyn Throttle, every_bytes: u64) -> CompactionSource<'a> {
        CompactionSource {
            files,
            throttle,
            every_bytes,
            since: Cell::new(0),
            read_bytes: Cell::new(0),
            cancelled: RefCell::default(),
            ends_piece: Cell::default(),
            ahead: RefCell::default(),
        }
    }

    /// Accounts for bytes; asks the throttle when enough have come together.
    pub(super) fn spend(&self, bytes: u64) -> Result<(), StoreError> {
        let since = self.since.get() + bytes;
        if since < self.every_bytes {
            self.since.set(since);
            return Ok(());
        }
        self.since.set(0);
        self.throttle.pause(since).map_err(|reason| {
            *self.cancelled.borrow_mut() = Some(reason.clone());
            StoreError::Cancelled(reason)
        })?;
        self.ends_piece.set(self.throttle.ends_piece());
        Ok(())
    }

    pub(super) fn throttle(&self) -> &'a dyn Throttle {
        self.throttle
    }

    /// Whether the throttle wants the piece under way to end; it is told so once.
    pub(super) fn ends_piece(&self) -> bool {
        self.ends_piece.take()
    }

    /// What an error of a scan over this source really was.
    pub(super) fn cause(&self, error: StoreError) -> StoreError {
        self.cancelled.borrow_mut().take().map_or(error, StoreError::Cancelled)
    }

    fn read(&self, reader: &Reader, request: &BlockRequest) -> Result<Arc<Block>, HFileError> {
        let (offset, len) = (request.offset, u64::from(request.len));
        let mut ahead = self.ahead.borrow_mut();
        let (start, bytes) = ahead.entry(request.file).or_default();
        let is_in = offset >= *start && offset.saturating_add(len) <= *start + bytes.len() as u64;
        if !is_in {
            let file = self.files.handle_of(request)?;
            let left = file.len().saturating_sub(offset);
            // A block that claims to be longer than the file is refused by read_range.
            *bytes = read_range(reader, &*file, offset, len.max(READ_AHEAD_BYTES.min(left)))?;
            *start = offset;
            self.read_bytes.set(self.read_bytes.get() + bytes.len() as u64);
        }
        let at = (offset - *start) as usize;
        Ok(Arc::new(reader.decode_block(offset, &bytes[at..at + len as usize])?))
    }
}

impl BlockSource for CompactionSource<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        // Here as well as after each cell written: a compaction that drops everything writes nothing.
        self.spend(u64::from(request.len)).map_err(|cancelled| HFileError::Io {
            file: reader.name().to_owned(),
            offset: request.offset,
            source: io::Error::new(io::ErrorKind::Interrupted, cancelled.to_string()),
        })?;
        match self.files.cache().peek(&(request.file, request.offset)) {
            Some(block) => Ok(Some(block)),
            None => self.read(reader, request).map(Some),
        }
    }
    fn may_block(&self) -> bool {
        true
    }
}
