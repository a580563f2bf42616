//! Open store files and the block cache that they share; the two ways to get a block.
#![allow(clippy::todo)]

use crate::StoreError;
use martite_blockcache::BlockCache;
use martite_env::FileSystem;
use martite_hfile::{Block, BlockRequest, BlockSource, HFileError, Reader};
use std::{path::Path, sync::Arc};

/// Opens HFiles and owns their handles and the block cache; one per process.
pub struct Files {
    fs: Arc<dyn FileSystem>,
    cache: Arc<BlockCache<Block>>,
}

/// An HFile that is open; its blocks leave the cache when the last holder lets go.
pub struct OpenFile {}

impl Files {
    pub fn new(fs: Arc<dyn FileSystem>, cache: Arc<BlockCache<Block>>) -> Arc<Files> {
        Arc::new(Files { fs, cache })
    }
    /// Opens a file, or shares it if it is open already under this path.
    pub fn open(self: &Arc<Self>, _path: &Path) -> Result<Arc<OpenFile>, StoreError> {
        todo!()
    }
    pub fn fs(&self) -> &Arc<dyn FileSystem> {
        &self.fs
    }
    pub fn cache(&self) -> &Arc<BlockCache<Block>> {
        &self.cache
    }
    /// A source that answers from the cache only: what the network thread reads with.
    pub fn cache_only(&self) -> CacheOnly<'_> {
        CacheOnly { files: self }
    }
    /// A source that reads from disk what the cache does not have.
    pub fn blocking(&self) -> Blocking<'_> {
        Blocking { files: self }
    }
    /// Reads one block that a scan asked for into the cache (or finds it there).
    pub fn fetch(&self, _request: &BlockRequest) -> Result<Arc<Block>, HFileError> {
        todo!()
    }
}

impl OpenFile {
    pub fn reader(&self) -> &Arc<Reader> {
        todo!()
    }
}

#[derive(Clone, Copy)]
pub struct CacheOnly<'a> {
    files: &'a Files,
}

#[derive(Clone, Copy)]
pub struct Blocking<'a> {
    files: &'a Files,
}

impl BlockSource for CacheOnly<'_> {
    fn get(&self, _reader: &Reader, _request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        let _ = self.files;
        todo!()
    }
    fn may_block(&self) -> bool {
        false
    }
}

impl BlockSource for Blocking<'_> {
    fn get(&self, _reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        self.files.fetch(request).map(Some)
    }
    fn may_block(&self) -> bool {
        true
    }
}
