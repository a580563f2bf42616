//! The tier below the memory: data blocks that had to leave the cache, in files on an SSD.
//!
//! ```text
//! memory ── evicted ──▶ queue, bounded ──▶ one thread ──▶ slab files          `offer`: no I/O, dropped when the queue is full
//! miss, on a thread that may wait ──▶ index ──▶ read, checksum, name ──▶ block    else the file itself is read
//!
//! slab    | segment | segment | segment | …     written one after the other, in a circle (segments.rs); what was read
//!                                               since is written again when its segment is emptied
//! index   in memory; what is in which segment in a file, too (saved.rs, journal.rs): for the next start
//! ```
//! Nothing here is the only copy of anything, so nothing is synced, and nothing is believed: a record says which block of
//! which file it is (record.rs), and one that does not, or is damaged, is a miss. Errors of the device that go on for too
//! long switch the tier off.

mod index;
mod journal;
mod record;
mod saved;
mod segments;
mod slab;
mod state;
#[cfg(test)]
mod tests;
mod writer;

use index::Index;
use journal::Journal;
use martite_env::{Clock, FileSystem, Random};
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use saved::Shape;
use segments::Segments;
use slab::Slab;
use state::State;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// What a file is called here: the same after a restart, another for every other file. See [`FileName::of`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileName(pub(crate) [u8; 16]);

/// A block of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub file: FileName,
    pub offset: u64,
}

/// What is kept of a value.
pub struct Image<'a> {
    /// Bytes of the block in its file.
    pub on_disk_size: u32,
    pub payload: &'a [u8],
}

/// Where the tier lies and how large it is.
#[derive(Debug, Clone)]
pub struct TierOptions {
    /// The slab files, each on a device of its own perhaps.
    pub paths: Vec<PathBuf>,
    /// Of all files together.
    pub capacity_bytes: u64,
    /// A larger block is not kept.
    pub segment_bytes: u32,
    /// Blocks that wait for being written.
    pub queue_bytes: u64,
    /// File for the index; None: the tier is empty after a restart.
    pub index: Option<PathBuf>,
    /// Errors without a success between them for so long switch the tier off.
    pub errors_tolerated: Duration,
}

/// Fewer segments than that would be emptied too often.
const FEWEST_SEGMENTS: u64 = 4;
const SMALLEST_SEGMENT: u64 = 256 << 10;
const LARGEST_SEGMENT: u64 = 8 << 20;
const QUEUE_BYTES: u64 = 16 << 20;
/// A stop does not wait longer for blocks in memory to be written.
const LONGEST_STOP: Duration = Duration::from_secs(10);

impl TierOptions {
    pub fn new(paths: Vec<PathBuf>, capacity_bytes: u64) -> TierOptions {
        TierOptions {
            paths,
            capacity_bytes,
            segment_bytes: (capacity_bytes / 64).clamp(SMALLEST_SEGMENT, LARGEST_SEGMENT) as u32,
            queue_bytes: QUEUE_BYTES,
            index: None,
            errors_tolerated: Duration::from_secs(60),
        }
    }
}

/// The outside world.
#[derive(Clone)]
pub struct TierContext {
    pub fs: Arc<dyn FileSystem>,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
}

/// Counters since the start, and the state of now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TierStats {
    pub hits: u64,
    pub misses: u64,
    /// Blocks written, those that were moved not among them.
    pub writes: u64,
    /// Blocks that had to make room.
    pub evictions: u64,
    /// Blocks that did not get in: the queue was full, or they are too large.
    pub dropped: u64,
    /// Records that were damaged or of another block.
    pub checksum_failures: u64,
    pub io_errors: u64,
    pub blocks: u64,
    pub used_bytes: u64,
    pub capacity_bytes: u64,
    pub queued_bytes: u64,
    /// Switched off after errors.
    pub is_off: bool,
}

/// A block that the tier has.
pub enum Found<V> {
    /// Not written yet.
    Value(Arc<V>),
    /// Its payload is `bytes[start..]`.
    Payload { bytes: Vec<u8>, start: usize },
}

/// The tier. Values are of the memory cache's kind; `view` shows what is to be kept of one.
pub struct Tier<V> {
    inner: Arc<Inner<V>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

pub(crate) struct Inner<V> {
    slab: Slab,
    state: Mutex<State<V>>,
    /// Something is to be written, or it is time to stop.
    work: Condvar,
    /// Everything is written.
    idle: Condvar,
    /// Names of the open files.
    names: RwLock<HashMap<u64, FileName, foldhash::fast::RandomState>>,
    view: for<'a> fn(&'a V) -> Image<'a>,
    options: TierOptions,
    ctx: TierContext,
}

/// A record may move while it is read; then it is looked up again.
const ATTEMPTS: usize = 3;

impl<V: Send + Sync + 'static> Tier<V> {
    /// Opens the files and starts the thread that writes.
    pub fn start(
        ctx: TierContext,
        options: TierOptions,
        view: for<'a> fn(&'a V) -> Image<'a>,
    ) -> io::Result<Arc<Tier<V>>> {
        let count = (options.capacity_bytes / u64::from(options.segment_bytes.max(1))).max(FEWEST_SEGMENTS);
        let count = u32::try_from(count).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let keep = options.index.is_some();
        let slab = Slab::open(&*ctx.fs, &options.paths, (count, options.segment_bytes), keep, &*ctx.random)?;
        let kept = options.index.as_deref().and_then(|path| read_index(&*ctx.fs, path, slab.shape()));
        let (segments, index) = kept.unwrap_or_else(|| (Segments::new(count, options.segment_bytes), Index::default()));
        let journal = options.index.as_deref().and_then(|path| {
            let whole = saved::whole(slab.shape(), &segments, &index);
            let failed = |error| tracing::warn!(%error, "index of the cache files cannot be written");
            Journal::begin(ctx.fs.clone(), path, &whole).map_err(failed).ok()
        });
        let inner = Arc::new(Inner {
            slab,
            state: Mutex::new(State::new(segments, index)),
            work: Condvar::new(),
            idle: Condvar::new(),
            names: RwLock::default(),
            view,
            options,
            ctx,
        });
        let of_thread = inner.clone();
        let writer = std::thread::Builder::new().name("ssd-tier".to_owned()).spawn(move || of_thread.run(journal))?;
        Ok(Arc::new(Tier { inner, writer: Mutex::new(Some(writer)) }))
    }

    /// From now on blocks of the open file `id` are those of `name`.
    pub fn open_file(&self, id: u64, name: FileName) {
        self.inner.names.write().insert(id, name);
    }

    /// The file is no longer open; `is_gone`: and never will be, so that its blocks leave.
    pub fn close_file(&self, id: u64, is_gone: bool) {
        let Some(name) = self.inner.names.write().remove(&id) else { return };
        if !is_gone {
            return;
        }
        let mut state = self.inner.lock();
        if state.remove_file(&name) && self.inner.options.index.is_some() {
            state.gone.push(name);
            self.inner.work.notify_one();
        }
    }

    /// The block at `offset` of an open file, with its size there. Reads from the device: not for threads that must not
    /// wait.
    pub fn get(&self, file: u64, offset: u64, on_disk_size: u32) -> Option<Found<V>> {
        let key = self.inner.key(file, offset)?;
        for _ in 0..ATTEMPTS {
            match self.inner.read(&key, on_disk_size) {
                Read::Found(found) => return Some(found),
                Read::Moved => continue,
                Read::Nothing => break,
            }
        }
        let mut state = self.inner.lock();
        state.stats.misses += u64::from(!state.is_off);
        None
    }

    /// What `get` gave was not the block after all.
    pub fn refuse(&self, file: u64, offset: u64) {
        let Some(key) = self.inner.key(file, offset) else { return };
        let mut state = self.inner.lock();
        state.stats.checksum_failures += 1;
        if let Some(place) = state.index.get(&key).map(|entry| entry.place) {
            state.remove_at(&key, place);
        }
    }

    /// A block that left the memory cache. Does not wait for the device. Whether it will be written.
    pub(crate) fn offer(&self, file: u64, offset: u64, value: &Arc<V>) -> bool {
        let Some(key) = self.inner.key(file, offset) else { return false };
        let bytes = ((self.inner.view)(value).payload.len() + record::HEADER_BYTES) as u64;
        let mut state = self.inner.lock();
        if state.is_off || state.is_stopping || state.index.get(&key).is_some() || state.pending.get(&key).is_some() {
            return false;
        }
        if bytes > u64::from(self.inner.options.segment_bytes)
            || state.pending.bytes() + bytes > self.inner.options.queue_bytes
        {
            state.stats.dropped += 1;
            return false;
        }
        state.pending.push(key, value.clone(), bytes);
        self.inner.work.notify_one();
        true
    }

    /// Takes blocks of files that are open until they are written: as many as half of the files has room for, so that they
    /// leave what is there alone, and for no longer than [`LONGEST_STOP`].
    pub(crate) fn take_all(&self, blocks: impl Iterator<Item = (u64, u64, Arc<V>)>) {
        let clock = &self.inner.ctx.clock;
        let begun = clock.monotonic();
        let (before, mut taken, mut unsettled) = (self.stats(), 0, 0);
        for (file, offset, value) in blocks {
            let late = clock.monotonic().saturating_sub(begun) > LONGEST_STOP;
            if taken > before.capacity_bytes / 2 || late || self.inner.lock().is_off {
                break;
            }
            let bytes = (self.inner.view)(&value).payload.len() as u64;
            if unsettled + bytes > self.inner.options.queue_bytes / 2 {
                self.settle();
                unsettled = 0;
            }
            if self.offer(file, offset, &value) {
                (taken, unsettled) = (taken + bytes, unsettled + bytes);
            }
        }
        self.settle();
        let blocks = self.stats().writes - before.writes;
        tracing::info!(blocks, "blocks in memory were written to the cache files");
    }

    pub fn stats(&self) -> TierStats {
        self.inner.lock().stats()
    }

    /// Waits until everything that was offered is written, and the journal knows which files are gone.
    pub fn settle(&self) {
        let mut state = self.inner.lock();
        while !state.is_settled() {
            self.inner.idle.wait(&mut state);
        }
    }

    /// Writes what waits, then the index, if there is a place for it. Nothing is taken afterwards.
    pub fn stop(&self) {
        if !self.end_writer() {
            return;
        }
        let stats = self.stats();
        tracing::info!(
            hits = stats.hits,
            misses = stats.misses,
            writes = stats.writes,
            evictions = stats.evictions,
            dropped = stats.dropped,
            checksum_failures = stats.checksum_failures,
            io_errors = stats.io_errors,
            used_bytes = stats.used_bytes,
            "cache files are closed"
        );
        let Some(path) = &self.inner.options.index else { return };
        if stats.is_off {
            return;
        }
        let blocks = self.inner.lock().index.blocks();
        match self.inner.ctx.fs.write_atomic(path, &self.inner.whole()) {
            Ok(()) => tracing::info!(path = %path.display(), blocks, "index of the cache files was written"),
            Err(error) => tracing::warn!(%error, "index of the cache files was not written: the next start is colder"),
        }
    }

    /// False: it had ended before.
    fn end_writer(&self) -> bool {
        self.inner.lock().is_stopping = true;
        self.inner.work.notify_all();
        self.writer.lock().take().map(JoinHandle::join).is_some()
    }
}

impl<V> Drop for Tier<V> {
    fn drop(&mut self) {
        self.inner.lock().is_stopping = true;
        self.inner.work.notify_all();
    }
}

/// What one look for a block came to.
enum Read<V> {
    Found(Found<V>),
    /// It is elsewhere now, or gone.
    Moved,
    Nothing,
}

impl<V> Inner<V> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock()
    }

    /// The index as its file has it.
    pub(crate) fn whole(&self) -> Vec<u8> {
        let state = self.lock();
        saved::whole(self.slab.shape(), &state.segments, &state.index)
    }

    fn key(&self, file: u64, offset: u64) -> Option<Key> {
        self.names.read().get(&file).map(|name| Key { file: *name, offset })
    }

    fn read(&self, key: &Key, on_disk_size: u32) -> Read<V> {
        let mut state = self.lock();
        if let Some(value) = state.pending.get(key).cloned() {
            state.stats.hits += 1;
            return Read::Found(Found::Value(value));
        }
        let Some(entry) = state.index.get(key).copied() else { return Read::Nothing };
        drop(state);
        let mut bytes = vec![0; entry.len as usize];
        let read = self.slab.read(entry.place, &mut bytes);
        let is_right = read.is_ok() && record::is_of(&bytes, key, on_disk_size);
        let mut state = self.lock();
        if let Err(error) = read {
            self.failed(&mut state, &error);
            state.remove_at(key, entry.place);
            return Read::Nothing;
        }
        state.failing_since = None;
        // Only what is still in its place was not written over while it was read.
        match state.index.get_mut(key).filter(|now| now.place == entry.place) {
            None => Read::Moved,
            Some(now) if is_right => {
                now.is_read = true;
                state.stats.hits += 1;
                Read::Found(Found::Payload { bytes, start: record::HEADER_BYTES })
            }
            Some(_) => {
                state.stats.checksum_failures += 1;
                state.remove_at(key, entry.place);
                Read::Nothing
            }
        }
    }

    /// Counts an error of the device; too long a row of them is the end.
    pub(crate) fn failed(&self, state: &mut State<V>, error: &io::Error) {
        state.stats.io_errors += 1;
        let now = self.ctx.clock.monotonic();
        let since = *state.failing_since.get_or_insert(now);
        if !state.is_off && now.saturating_sub(since) >= self.options.errors_tolerated {
            state.switch_off();
            self.idle.notify_all();
            let tolerated_ms = self.options.errors_tolerated.as_millis() as u64;
            tracing::error!(%error, tolerated_ms, "the cache files fail: blocks are read from the store files from now on");
        }
    }
}

/// Reads the index that the last run left.
fn read_index(fs: &dyn FileSystem, path: &Path, shape: &Shape) -> Option<(Segments, Index)> {
    let bytes = match fs.read(path) {
        Ok(bytes) => bytes,
        Err(error) => {
            tracing::info!(%error, "no index of the cache files: they are empty");
            return None;
        }
    };
    match saved::decode(&bytes, shape) {
        Ok((segments, index)) => {
            tracing::info!(path = %path.display(), blocks = index.blocks(), "index of the cache files was read");
            Some((segments, index))
        }
        Err(why) => {
            tracing::warn!(path = %path.display(), why, "index of the cache files is of no use: they are empty");
            None
        }
    }
}
