//! [`NewFile`]: a store file being written, from `<region>/.tmp/<family>/` to its place in the family's directory.
//!
//! ```text
//! create ──▶ append … ──▶ finish: sync, open again, compare ──▶ commit: rename, sync the directory ──▶ a store file
//!                                                          └──▶ dropped: the file is removed
//! ```
//!
//! The page cache has nothing of it. So blocks may be kept as they are written, for the block cache: they enter it when the file
//! is in its place.
//!
//! After a crash before `commit` has returned there is the whole file or none; leftovers in `.tmp` go when the store opens.

use crate::{Store, StoreError, StoreFile, name, reference::Resolved};
use martite_blockcache::{BlockCache, Kind};
use martite_cell::CellRef;
use martite_env::{FileSystem, FileWriter};
use martite_hfile::{Block, BlockType, Compression, Finished, Reader, StoreMeta, Writer, WriterOptions, format::info};
use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

/// What differs between the files of a flush and of compactions.
#[derive(Debug, Clone)]
pub(crate) struct NewFileOptions {
    pub compression: Compression,
    pub include_tags: bool,
    pub include_mvcc: bool,
    pub expected_keys: u64,
    pub now_ms: u64,
    /// Blocks are kept for the cache as long as they are no more than this.
    pub keep_bytes: u64,
}

/// A file that is being written.
pub(crate) struct NewFile {
    writer: Writer<SyncedWriter>,
    file: TmpFile,
}

/// A finished, synced and checked file in `.tmp`; removed when dropped without [`TmpFile::commit`].
pub(crate) struct TmpFile {
    fs: Arc<dyn FileSystem>,
    name: String,
    path: PathBuf,
    committed: bool,
    /// For the cache: offset, and bytes as they are in the file.
    kept: Vec<(u64, Vec<u8>)>,
}

/// Syncs now and then, so that the last sync has little to do. It is given a whole block at a time.
struct SyncedWriter {
    file: Box<dyn FileWriter>,
    kept: Vec<(u64, Vec<u8>)>,
    /// So much more is kept.
    keep_bytes: u64,
    sync_every_bytes: u64,
    unsynced_bytes: u64,
}

impl Write for SyncedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.keep_bytes.checked_sub(bytes.len() as u64) {
            Some(left) => {
                self.kept.push((self.file.position(), bytes.to_vec()));
                self.keep_bytes = left;
            }
            None => self.keep_bytes = 0,
        }
        self.file.write_all(bytes)?;
        self.unsynced_bytes += bytes.len() as u64;
        if self.unsynced_bytes >= self.sync_every_bytes {
            self.unsynced_bytes = 0;
            self.file.sync_data()?;
        }
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile {
    pub(crate) fn create(store: &Store, options: &NewFileOptions) -> Result<NewFile, StoreError> {
        let (ctx, family) = (store.context(), store.options());
        let dir = store.tmp_dir();
        ctx.fs.create_dir_all(dir).map_err(StoreError::io("create", dir))?;
        let name = name::new_hfile(&*ctx.random);
        let path = dir.join(&name);
        let file = ctx.fs.create_direct(&path).map_err(StoreError::io("create", &path))?;
        let out = SyncedWriter {
            file,
            kept: Vec::new(),
            keep_bytes: options.keep_bytes,
            sync_every_bytes: ctx.config.sync_every_bytes.max(1),
            unsynced_bytes: 0,
        };
        let file = TmpFile { fs: ctx.fs.clone(), name, path, committed: false, kept: Vec::new() };
        let writer_options = WriterOptions {
            name: file.path.to_string_lossy().into_owned(),
            block_size: family.block_size,
            index_block_size: store.config().index_block_bytes,
            bloom_block_size: store.config().bloom_block_bytes,
            compression: options.compression,
            encoding: family.encoding,
            bloom: family.bloom,
            include_tags: options.include_tags,
            include_mvcc: options.include_mvcc,
            compress_tags: family.compress_tags,
            order: family.order,
            create_time_ms: options.now_ms,
            expected_keys: options.expected_keys,
            ..WriterOptions::default()
        };
        Ok(NewFile { writer: Writer::new(out, writer_options)?, file })
    }

    pub(crate) fn append(&mut self, cell: &CellRef<'_>) -> Result<(), StoreError> {
        Ok(self.writer.append(cell)?)
    }
    pub(crate) fn entries(&self) -> u64 {
        self.writer.entries()
    }
    /// Bytes written so far, the open block not included.
    pub(crate) fn position(&self) -> u64 {
        self.writer.position()
    }

    /// Writes the rest, syncs, and reads trailer, index and file info back.
    pub(crate) fn finish(self, meta: StoreMeta) -> Result<(TmpFile, Finished), StoreError> {
        let NewFile { mut writer, mut file } = self;
        // HBase 2.6 says of every store file whether it holds only what newer cells have replaced; ours never do.
        writer.append_file_info(info::HISTORICAL, &[0]);
        let max_seq_id = meta.max_seq_id;
        let (mut out, finished) = writer.finish(meta)?;
        out.file.finish().map_err(StoreError::io("sync", &file.path))?;
        file.kept = out.kept;
        drop(out.file);
        let bytes = file.fs.open(&file.path).map_err(StoreError::io("open", &file.path))?;
        let reader = Reader::open(0, &file.path.to_string_lossy(), &bytes)?;
        let (found, expected) = (
            (reader.entries(), reader.max_seq_id(), reader.last_key()),
            (finished.entries, max_seq_id, finished.last_key.as_deref()),
        );
        if found != expected {
            let what = format!("read back {found:?} of what was written, {expected:?}");
            return Err(StoreError::corrupt(&file.path, what));
        }
        Ok((file, finished))
    }
}

impl TmpFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Moves the file into the family's directory, durably, and opens it there. On an error no file is left behind;
    /// if even that cannot be told, the error is [`StoreError::InDoubt`] and the store refuses to flush and compact until
    /// it is opened again.
    pub(crate) fn commit(mut self, store: &Store, now_ms: u64) -> Result<StoreFile, StoreError> {
        let path = store.dir().join(&self.name);
        self.place(&path, store, now_ms).map_err(|error| match self.take_back(&path, store.dir()) {
            Ok(()) => error,
            Err(second) => store.doubt(path, format!("{error}; then: {second}")),
        })
    }

    fn place(&mut self, path: &Path, store: &Store, now_ms: u64) -> Result<StoreFile, StoreError> {
        self.fs.rename(&self.path, path).map_err(StoreError::io("move into place", &self.path))?;
        self.committed = true;
        self.fs.sync_dir(store.dir()).map_err(StoreError::io("sync", store.dir()))?;
        let resolved = Resolved { places: vec![path.to_owned()], half: None };
        let file = StoreFile::open(&store.context().files, store.dir(), &self.name, resolved, now_ms, store.options())?;
        self.fill_cache(&file, store.context().files.cache());
        Ok(file)
    }

    /// Gives the cache the blocks that were kept.
    fn fill_cache(&mut self, file: &StoreFile, cache: &BlockCache<Block>) {
        let blocks = cache.file(file.open_file().id());
        for (offset, bytes) in self.kept.drain(..) {
            let block = match file.reader.decode_block_vec(offset, bytes) {
                Ok(block) => block,
                // The trailer is none. Whatever else there may be is found when the block is read.
                Err(_) => continue,
            };
            let kind = match block.kind {
                BlockType::Data if file.caches_data(true) => Kind::Data,
                BlockType::LeafIndex | BlockType::IntermediateIndex => Kind::Index,
                BlockType::BloomChunk => Kind::Bloom,
                // Kept by the open file itself, or not wanted.
                _ => continue,
            };
            blocks.insert(offset, kind, Arc::new(block));
        }
    }

    /// Makes sure that the file is not in its place, even when moving it there failed.
    fn take_back(&self, path: &Path, dir: &Path) -> io::Result<()> {
        match self.fs.remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.fs.sync_dir(dir),
        }
    }
}

impl Drop for TmpFile {
    fn drop(&mut self) {
        if !self.committed {
            // What cannot be removed now goes when the store opens.
            let _ = self.fs.remove_file(&self.path);
        }
    }
}
