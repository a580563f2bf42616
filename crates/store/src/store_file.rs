//! One store file: an HFile, or the half of one that a reference names, with what the store needs to know about it.
#![allow(clippy::todo)]

use crate::{Half, files::OpenFile};
use martite_cell::CellRef;
use martite_hfile::{BlockSource, HFileError, Reader, Scanner, Step};
use std::{path::PathBuf, sync::Arc};

/// A store file that is open.
pub struct StoreFile {
    pub reader: Arc<Reader>,
    /// Where it lies in the family's directory (of a reference: the reference itself).
    pub path: PathBuf,
    pub half: Option<Half>,
    /// Highest sequence id in it; orders files, and for bulk-loaded ones is that of every cell.
    pub seq_id: u64,
    /// Its cells have no sequence id of their own: they take [`StoreFile::seq_id`].
    pub bulk_loaded: bool,
    pub major: bool,
    pub exclude_from_minor: bool,
    pub modified_ms: u64,
    pub(crate) open: Arc<OpenFile>,
}

impl StoreFile {
    pub fn name(&self) -> &str {
        todo!()
    }
    /// A scanner over the visible half; sequence ids of bulk-loaded cells are filled in.
    pub fn scanner(self: &Arc<Self>, _cache_blocks: bool) -> StoreFileScanner {
        todo!()
    }
    /// Size that counts for this store: half of the file for a reference.
    pub fn size_bytes(&self) -> u64 {
        todo!()
    }
    pub fn is_reference(&self) -> bool {
        self.half.is_some()
    }
    pub fn entries(&self) -> u64 {
        todo!()
    }
    /// Smallest and largest timestamp, inclusive; None if the file has no cells or does not say.
    pub fn time_range(&self) -> Option<(u64, u64)> {
        todo!()
    }
    /// Whether the file can hold `row`, by its first and last key and its half; blooms are asked by the scanner.
    pub fn covers_row(&self, _row: &[u8]) -> bool {
        todo!()
    }
}

/// Moves over the cells of a [`StoreFile`] that its half shows. Same contract as [`Scanner`].
pub struct StoreFileScanner {
    file: Arc<StoreFile>,
    inner: Scanner,
}

impl StoreFileScanner {
    pub fn file(&self) -> &Arc<StoreFile> {
        &self.file
    }
    /// To the first cell at or after `key`.
    pub fn seek(&mut self, _key: &[u8], _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        let _ = &self.inner;
        todo!()
    }
    /// As [`StoreFileScanner::seek`], forward only; cheap when the key is near.
    pub fn reseek(&mut self, _key: &[u8], _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        todo!()
    }
    /// To the last cell before `key`; false if there is none.
    pub fn seek_before(&mut self, _key: &[u8], _src: &dyn BlockSource) -> Result<Step<bool>, HFileError> {
        todo!()
    }
    pub fn seek_to_first(&mut self, _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        todo!()
    }
    pub fn next(&mut self, _src: &dyn BlockSource) -> Result<Step<()>, HFileError> {
        todo!()
    }
    /// The cell under the scanner; None before the first seek and at the end.
    pub fn peek(&self) -> Option<CellRef<'_>> {
        todo!()
    }
}
