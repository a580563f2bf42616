//! Open HFiles and the block cache that they share; the two ways to get a block.
//!
//! ```text
//! scanner ── get(block) ──▶ CacheOnly   in the cache, or "not here": the network thread never waits
//!                     └───▶ Blocking    in the cache, or read, decoded and kept; data from the tier on the SSD if it is there
//! ```
//!
//! A file has one identity ([`FileId`]) while it is open, whoever opened it: both daughters of a split share the blocks
//! of their parent's files. Its blocks leave the cache when the last holder lets go.

use crate::StoreError;
use martite_blockcache::tier::{FileName, Found, Image, Tier};
use martite_blockcache::{BlockCache, FileBlocks, Kind};
use martite_env::{FileSystem, ReadAt};
use martite_hfile::{Block, BlockKindHint, BlockRequest, BlockSource, FileId, HFileError, Reader};
use parking_lot::{Mutex, RwLock};
use std::{
    cell::RefCell,
    collections::HashMap,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

/// Largest block that is read in one piece; a larger length comes from damaged bytes.
const MAX_BLOCK_BYTES: u32 = 1 << 30;

/// Opens HFiles and owns their handles and the block cache; one per process.
pub struct Files {
    fs: Arc<dyn FileSystem>,
    root: PathBuf,
    cache: Arc<BlockCache<Block>>,
    next_id: AtomicU64,
    open: RwLock<HashMap<FileId, Handle>>,
    by_path: Mutex<HashMap<PathBuf, Weak<OpenFile>>>,
}

#[derive(Clone)]
struct Handle {
    reader: Arc<Reader>,
    file: Arc<dyn ReadAt>,
}

/// An HFile that is open.
pub struct OpenFile {
    files: Weak<Files>,
    path: PathBuf,
    handle: Handle,
}

impl Files {
    pub fn new(fs: Arc<dyn FileSystem>, cache: Arc<BlockCache<Block>>) -> Arc<Files> {
        Files::below(Path::new(""), fs, cache)
    }

    /// As `new`; in the cache's tier, files are called by their paths below `root`.
    pub fn below(root: &Path, fs: Arc<dyn FileSystem>, cache: Arc<BlockCache<Block>>) -> Arc<Files> {
        Arc::new(Files {
            fs,
            root: root.to_owned(),
            cache,
            next_id: AtomicU64::new(1),
            open: RwLock::new(HashMap::new()),
            by_path: Mutex::new(HashMap::new()),
        })
    }

    pub fn fs(&self) -> &Arc<dyn FileSystem> {
        &self.fs
    }
    pub fn cache(&self) -> &Arc<BlockCache<Block>> {
        &self.cache
    }

    /// Opens a file, or shares it if it is open already under this path.
    pub fn open(self: &Arc<Self>, path: &Path) -> Result<Arc<OpenFile>, StoreError> {
        if let Some(open) = self.by_path.lock().get(path).and_then(Weak::upgrade) {
            return Ok(open);
        }
        // Read without the lock: two may open the same file at once, then the first one stays.
        let file = self.fs.open(path).map_err(StoreError::io("open", path))?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let reader = Arc::new(Reader::open(id, &path.to_string_lossy(), &file)?);
        let handle = Handle { reader, file };
        let mut by_path = self.by_path.lock();
        if let Some(open) = by_path.get(path).and_then(Weak::upgrade) {
            return Ok(open);
        }
        self.open.write().insert(id, handle.clone());
        if let Some(tier) = self.cache.tier() {
            tier.open_file(id, self.name_in_tier(path, &handle.reader));
        }
        let open = Arc::new(OpenFile { files: Arc::downgrade(self), path: path.to_owned(), handle });
        by_path.insert(path.to_owned(), Arc::downgrade(&open));
        Ok(open)
    }

    /// What the tier calls a file: also after a restart, and after the root directory was moved as a whole.
    fn name_in_tier(&self, path: &Path, reader: &Reader) -> FileName {
        let below_root = path.strip_prefix(&self.root).unwrap_or(path);
        FileName::of(&below_root.to_string_lossy(), reader.file_size(), reader.create_time_ms().unwrap_or(0))
    }

    /// Opens the first of several places that has the file.
    pub fn open_first(self: &Arc<Self>, places: &[PathBuf]) -> Result<Arc<OpenFile>, StoreError> {
        let mut first_error = None;
        for path in places {
            match self.open(path) {
                Err(StoreError::Io { source, what, path }) if source.kind() == io::ErrorKind::NotFound => {
                    first_error.get_or_insert(StoreError::Io { source, what, path });
                }
                other => return other,
            }
        }
        Err(first_error.unwrap_or_else(|| StoreError::Invalid("no place to look for a file".into())))
    }

    /// A source that answers from the cache only: what the network thread reads with. One serves many reads.
    pub fn cache_only(&self) -> CacheOnly<'_> {
        CacheOnly { recent: RecentFiles::new(self) }
    }
    /// A source that reads from disk what the cache does not have.
    pub fn blocking(&self) -> Blocking<'_> {
        Blocking { recent: RecentFiles::new(self) }
    }

    /// Brings one block that a scan asked for into the cache, or finds it there.
    pub fn fetch(&self, request: &BlockRequest) -> Result<Arc<Block>, HFileError> {
        let reader = self.handle(request)?.reader;
        self.blocking().load(&reader, request)
    }

    /// Number of open files.
    pub fn open_count(&self) -> usize {
        self.open.read().len()
    }

    fn handle(&self, request: &BlockRequest) -> Result<Handle, HFileError> {
        self.open.read().get(&request.file).cloned().ok_or_else(|| HFileError::Io {
            file: format!("file {}", request.file),
            offset: request.offset,
            source: io::Error::new(io::ErrorKind::NotFound, "no longer open"),
        })
    }

    /// Reads and decodes a block; the cache is not asked.
    fn read(&self, reader: &Reader, request: &BlockRequest) -> Result<Arc<Block>, HFileError> {
        let file = self.handle(request)?.file;
        let bytes = read_range(reader, &*file, request.offset, u64::from(request.len))?;
        Ok(Arc::new(reader.decode_block(request.offset, &bytes)?))
    }

    /// A data block from the tier on the SSD.
    fn block_in_tier(tier: &Tier<Block>, reader: &Reader, request: &BlockRequest) -> Option<Arc<Block>> {
        match tier.get(request.file, request.offset, request.len)? {
            Found::Value(block) => Some(block),
            Found::Payload { bytes, start } => {
                let block = reader.restore_data_block(request.offset, request.len, bytes, start);
                let refuse = |error| {
                    tracing::warn!(%error, "a block in the cache files is none");
                    tier.refuse(request.file, request.offset);
                };
                block.map_err(refuse).ok().map(Arc::new)
            }
        }
    }

    /// A block that is not in memory: from the tier, or from the file.
    fn read_or_tier(&self, reader: &Reader, request: &BlockRequest) -> Result<Arc<Block>, HFileError> {
        let tier = self.cache.tier().filter(|_| request.kind == BlockKindHint::Data);
        match tier.and_then(|tier| Files::block_in_tier(tier, reader, request)) {
            Some(block) => Ok(block),
            None => self.read(reader, request),
        }
    }

    /// The file's handle, for those who read it in larger pieces.
    pub(crate) fn handle_of(&self, request: &BlockRequest) -> Result<Arc<dyn ReadAt>, HFileError> {
        Ok(self.handle(request)?.file)
    }
}

/// Reads `len` bytes at `offset`, which must lie in the file.
pub(crate) fn read_range(reader: &Reader, file: &dyn ReadAt, offset: u64, len: u64) -> Result<Vec<u8>, HFileError> {
    let end = offset.checked_add(len);
    if len > u64::from(MAX_BLOCK_BYTES) || end.is_none_or(|end| end > file.len()) {
        return Err(HFileError::Corrupt {
            file: reader.name().to_owned(),
            offset,
            reason: format!("a block of {len} bytes here would end after the file, which has {}", file.len()),
        });
    }
    let mut bytes = vec![0; len as usize];
    let io = |source| HFileError::Io { file: reader.name().to_owned(), offset, source };
    file.read_exact_at(&mut bytes, offset).map_err(io)?;
    Ok(bytes)
}

/// What the tier on the SSD keeps of a block.
pub fn image_of(block: &Block) -> Image<'_> {
    Image { on_disk_size: block.on_disk_size, payload: block.payload() }
}

impl OpenFile {
    pub fn reader(&self) -> &Arc<Reader> {
        &self.handle.reader
    }
    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
    pub fn id(&self) -> FileId {
        self.handle.reader.id()
    }
}

impl Drop for OpenFile {
    fn drop(&mut self) {
        let Some(files) = self.files.upgrade() else { return };
        let id = self.id();
        files.open.write().remove(&id);
        let mut by_path = files.by_path.lock();
        // Somebody may have opened the path anew since the last holder let go.
        if by_path.get(&self.path).is_some_and(|open| open.strong_count() == 0) {
            by_path.remove(&self.path);
        }
        drop(by_path);
        files.cache.close_file(id);
        if let Some(tier) = files.cache.tier() {
            // Compacted away: it is in the archive now.
            tier.close_file(id, !files.fs.exists(&self.path));
        }
    }
}

/// Blocks from the cache; see [`Files::cache_only`].
pub struct CacheOnly<'a> {
    recent: RecentFiles<'a>,
}

/// Blocks from cache or disk; see [`Files::blocking`].
pub struct Blocking<'a> {
    recent: RecentFiles<'a>,
}

/// The files that a reader asks about, looked up once.
struct RecentFiles<'a> {
    files: &'a Files,
    /// By the last digits of the file's id.
    known: RefCell<[Option<KnownFile>; RECENT_FILES]>,
}

type KnownFile = (FileId, Arc<FileBlocks<Block>>);

const RECENT_FILES: usize = 8;

impl<'a> RecentFiles<'a> {
    fn new(files: &'a Files) -> RecentFiles<'a> {
        RecentFiles { files, known: RefCell::default() }
    }

    /// Runs `run` with the file's blocks in the cache.
    #[inline]
    fn with<T>(&self, file: FileId, run: impl FnOnce(&Arc<FileBlocks<Block>>) -> T) -> T {
        let mut known = self.known.borrow_mut();
        let place = &mut known[file as usize % RECENT_FILES];
        if place.as_ref().is_none_or(|(id, _)| *id != file) {
            *place = None;
        }
        run(&place.get_or_insert_with(|| (file, self.files.cache.file(file))).1)
    }

    #[inline]
    fn announce(&self, request: &BlockRequest) {
        self.with(request.file, |blocks| blocks.announce(request.offset));
    }

    #[inline]
    fn at_hand(&self, request: &BlockRequest) -> Option<Arc<Block>> {
        self.with(request.file, |blocks| blocks.peek(request.offset))
    }
}

/// How the cache counts what was asked for.
fn kind(request: &BlockRequest) -> Kind {
    match request.kind {
        BlockKindHint::Data => Kind::Data,
        BlockKindHint::Index => Kind::Index,
        BlockKindHint::Bloom => Kind::Bloom,
        BlockKindHint::Meta => Kind::Meta,
    }
}

/// Blocks from cache or disk, leaving the cache as it is: for reading a file once.
#[derive(Clone, Copy)]
pub(crate) struct Uncached<'a> {
    pub(crate) files: &'a Files,
}

impl BlockSource for Uncached<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        match self.files.cache.peek(&(request.file, request.offset)) {
            Some(block) => Ok(Some(block)),
            None => self.files.read(reader, request).map(Some),
        }
    }
    fn may_block(&self) -> bool {
        true
    }
}

impl BlockSource for CacheOnly<'_> {
    #[inline]
    fn get(&self, _reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        Ok(self.recent.with(request.file, |blocks| blocks.get(request.offset, kind(request))))
    }
    #[inline]
    fn look_at(
        &self,
        _reader: &Reader,
        request: &BlockRequest,
        look: &mut dyn FnMut(&Block),
    ) -> Result<(), HFileError> {
        self.recent.with(request.file, |blocks| blocks.look_at(request.offset, kind(request), look));
        Ok(())
    }
    #[inline]
    fn announce(&self, request: &BlockRequest) {
        self.recent.announce(request);
    }
    #[inline]
    fn at_hand(&self, request: &BlockRequest) -> Option<Arc<Block>> {
        self.recent.at_hand(request)
    }
    fn may_block(&self) -> bool {
        false
    }
}

impl Blocking<'_> {
    fn load(&self, reader: &Reader, request: &BlockRequest) -> Result<Arc<Block>, HFileError> {
        let blocks = self.recent.with(request.file, Arc::clone);
        let read = || self.recent.files.read_or_tier(reader, request);
        if request.cache {
            return blocks.get_or_load(request.offset, kind(request), read);
        }
        blocks.get(request.offset, kind(request)).map_or_else(read, Ok)
    }
}

impl BlockSource for Blocking<'_> {
    fn get(&self, reader: &Reader, request: &BlockRequest) -> Result<Option<Arc<Block>>, HFileError> {
        self.load(reader, request).map(Some)
    }
    fn announce(&self, request: &BlockRequest) {
        self.recent.announce(request);
    }
    fn at_hand(&self, request: &BlockRequest) -> Option<Arc<Block>> {
        self.recent.at_hand(request)
    }
    fn may_block(&self) -> bool {
        true
    }
}
