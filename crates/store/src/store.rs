//! [`Store`]: the memstore and the files of one family of a region.
//!
//! Opening a store finishes what a crash interrupted: leftovers of unfinished files are removed, and files that a finished
//! compaction has rewritten (the new file names them) go to the archive.

use crate::{
    FamilyOptions, FileTracker, Files, MemStore, ReadView, StoreConfig, StoreError, StoreFile, Throttle,
    archive::archive_files,
    counters::{Counters, StoreCounters},
    file_list::{FileList, Listed},
    name::{self, StoreFileName},
    reference::{Resolved, resolve},
    store_file::ready,
};
use bytes::Bytes;
use martite_cell::key;
use martite_env::{FileSystem, Random};
use parking_lot::{Mutex, RwLock};
use std::{
    cmp::Ordering,
    collections::HashSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What stores share.
pub struct StoreContext {
    pub fs: Arc<dyn FileSystem>,
    pub files: Arc<Files>,
    /// For file names.
    pub random: Arc<dyn Random>,
    /// The HBase root directory: the archive lies below it.
    pub root: PathBuf,
    pub config: StoreConfig,
}

/// One family of a region.
pub struct Store {
    ctx: Arc<StoreContext>,
    dir: PathBuf,
    family_name: String,
    tmp_dir: PathBuf,
    options: Arc<FamilyOptions>,
    /// The server's options, with those of the family in their place.
    config: StoreConfig,
    memstore: MemStore,
    /// Oldest first. Held for reading while a view is taken, so that a flush is in the view once.
    files: RwLock<Arc<Vec<Arc<StoreFile>>>>,
    /// Names of the files that compactions are reading.
    pub(crate) compacting: Arc<Mutex<HashSet<String>>>,
    /// Replaced files that somebody still reads; archived when the last reader is gone.
    compacted: Mutex<Vec<Arc<StoreFile>>>,
    /// Held while the files change: one change at a time. None: the directory is the list.
    list: Mutex<Option<FileList>>,
    /// Where a file may be that is not in the list, or a list that is not the one here; and why.
    doubt: Mutex<Option<(PathBuf, String)>>,
    pub(crate) counters: Counters,
}

impl Store {
    /// Opens the family's directory, `<root>/data/<ns>/<table>/<region>/<family>` (made if absent).
    pub fn open(
        ctx: Arc<StoreContext>,
        dir: PathBuf,
        options: Arc<FamilyOptions>,
        now_ms: u64,
    ) -> Result<Store, StoreError> {
        let invalid = || StoreError::Invalid(format!("{} is not the directory of a family", dir.display()));
        let family_name = dir.file_name().and_then(|n| n.to_str()).ok_or_else(invalid)?.to_owned();
        let tmp_dir = dir.parent().ok_or_else(invalid)?.join(".tmp").join(&family_name);
        match ctx.fs.remove_dir_all(&tmp_dir) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(StoreError::io("clear", &tmp_dir)(e)),
            _ => {}
        }
        ctx.fs.create_dir_all(&dir).map_err(StoreError::io("create", &dir))?;
        let (files, list) = open_files(&ctx, &dir, &options, now_ms)?;
        Ok(Store {
            memstore: MemStore::new(options.order),
            files: RwLock::new(Arc::new(files)),
            compacting: Arc::default(),
            compacted: Mutex::default(),
            list: Mutex::new(list),
            doubt: Mutex::default(),
            counters: Counters::default(),
            config: ctx.config.overridden(&options.overrides),
            ctx,
            dir,
            family_name,
            tmp_dir,
            options,
        })
    }

    pub fn memstore(&self) -> &MemStore {
        &self.memstore
    }
    /// What a scanner that starts now reads.
    pub fn view(&self) -> ReadView {
        let files = self.files.read();
        ReadView { segments: self.memstore.segments(), files: files.clone() }
    }
    pub fn options(&self) -> &Arc<FamilyOptions> {
        &self.options
    }
    pub fn context(&self) -> &Arc<StoreContext> {
        &self.ctx
    }
    pub fn config(&self) -> &StoreConfig {
        &self.config
    }
    pub fn dir(&self) -> &Path {
        &self.dir
    }
    /// Name of the family, as directories have it.
    pub fn family_name(&self) -> &str {
        &self.family_name
    }
    pub(crate) fn tmp_dir(&self) -> &Path {
        &self.tmp_dir
    }
    /// Highest sequence id in the files; edits up to it need no replay.
    pub fn max_seq_id(&self) -> u64 {
        self.files().iter().map(|f| f.seq_id).max().unwrap_or(0)
    }
    /// Highest sequence id of any cell in the files.
    pub fn max_mvcc(&self) -> u64 {
        self.files().iter().map(|f| f.max_mvcc()).max().unwrap_or(0)
    }
    pub fn files(&self) -> Arc<Vec<Arc<StoreFile>>> {
        self.files.read().clone()
    }
    pub fn file_count(&self) -> usize {
        self.files.read().len()
    }
    pub fn size_bytes(&self) -> u64 {
        self.files().iter().map(|f| f.size_bytes()).sum()
    }
    pub fn largest_file_bytes(&self) -> u64 {
        self.files().iter().map(|f| f.size_bytes()).max().unwrap_or(0)
    }
    pub fn has_references(&self) -> bool {
        self.files().iter().any(|f| f.is_reference())
    }
    /// More files than [`StoreConfig::blocking_files`]: flushes should wait.
    pub fn has_too_many_files(&self) -> bool {
        self.file_count() > self.config.blocking_files
    }

    /// The row that halves the largest file; None if the store cannot be split: it is empty, has references, or its
    /// largest file is all one row.
    pub fn split_point(&self) -> Result<Option<Bytes>, StoreError> {
        let files = self.files();
        if files.iter().any(|f| f.is_reference()) {
            return Ok(None);
        }
        let Some(largest) = files.iter().rev().max_by_key(|f| f.size_bytes()) else { return Ok(None) };
        let (Some(first), Some(last)) = (largest.first_key(), largest.last_key()) else { return Ok(None) };
        let Some(middle) = largest.reader.mid_key(&self.ctx.files.blocking())? else { return Ok(None) };
        let row = key::row(&middle);
        let is_end = |end: &[u8]| self.options.order.rows(row, key::row(end)) == Ordering::Equal;
        Ok((!is_end(first) && !is_end(last)).then(|| Bytes::copy_from_slice(row)))
    }

    pub fn counters(&self) -> StoreCounters {
        let mut c = self.counters.read();
        c.memstore_data_bytes = self.memstore.data_size();
        c.memstore_heap_bytes = self.memstore.heap_size();
        c.add_files(&self.files());
        c
    }

    /// Adds an HFile as a bulk-loaded store file with sequence id `seq_id`; moves it into the family's directory.
    pub fn bulk_load(&self, hfile: &Path, seq_id: u64, now_ms: u64) -> Result<Arc<StoreFile>, StoreError> {
        let fs = &self.ctx.fs;
        let name = name::bulk_loaded(&name::new_hfile(&*self.ctx.random), seq_id);
        let path = self.dir.join(&name);
        fs.rename(hfile, &path).map_err(StoreError::io("move into place", hfile))?;
        fs.sync_dir(&self.dir).map_err(StoreError::io("sync", &self.dir))?;
        let resolved = Resolved { places: vec![path.clone()], half: None };
        let opened = StoreFile::open(&self.ctx.files, &self.dir, &name, resolved, now_ms, &self.options);
        match opened {
            Ok(file) => {
                let file = Arc::new(file);
                self.swap(&[], Some(&file), now_ms, || ())?;
                Ok(file)
            }
            Err(e) => {
                // Not readable: back to where it came from.
                fs.rename(&path, hfile).map_err(StoreError::io("move back", &path))?;
                Err(e)
            }
        }
    }

    /// Puts the flushed file in the place of the snapshot.
    pub(crate) fn add_flushed(&self, file: Option<&Arc<StoreFile>>, now_ms: u64) -> Result<(), StoreError> {
        self.swap(&[], file, now_ms, || self.memstore.drop_snapshot())
    }

    /// Takes `old` out of the file list and puts `new` in; `also` happens at the same moment for views. After an error
    /// nothing has changed here, but the list that the next start reads may be either.
    pub(crate) fn swap(
        &self,
        old: &[Arc<StoreFile>],
        new: Option<&Arc<StoreFile>>,
        now_ms: u64,
        also: impl FnOnce(),
    ) -> Result<(), StoreError> {
        let mut list = self.list.lock();
        let is_old = |file: &Arc<StoreFile>| old.iter().any(|o| Arc::ptr_eq(o, file));
        let mut next: Vec<_> = self.files.read().iter().filter(|f| !is_old(f)).chain(new).cloned().collect();
        next.sort_by(|a, b| a.age_order().cmp(&b.age_order()));
        if let Some(list) = list.as_mut().filter(|_| new.is_some() || !old.is_empty()) {
            list.write(&*self.ctx.fs, &listed(&next), now_ms)
                .map_err(|e| self.doubt(self.dir.clone(), e.to_string()))?;
        }
        let mut files = self.files.write();
        *files = Arc::new(next);
        also();
        drop(files);
        self.compacted.lock().extend(old.iter().cloned());
        Ok(())
    }

    /// Names of replaced files that are not archived yet.
    pub(crate) fn unarchived(&self) -> HashSet<String> {
        self.compacted.lock().iter().map(|f| f.name().to_owned()).collect()
    }

    /// Number of replaced files that somebody still reads.
    pub fn unarchived_count(&self) -> usize {
        self.compacted.lock().len()
    }

    /// Archives replaced files that no reader holds any more; called after compactions, and now and then.
    /// Returns how many.
    pub fn archive_compacted(&self, now_ms: u64) -> Result<usize, StoreError> {
        let mut compacted = self.compacted.lock();
        // Only this list has them, and its lock is held: nobody can begin to read one.
        let (free, read): (Vec<_>, Vec<_>) = compacted.drain(..).partition(|f| Arc::strong_count(f) == 1);
        *compacted = read;
        let names: Vec<_> = free.iter().map(|f| f.name()).collect();
        let archived = archive_files(&*self.ctx.fs, &self.ctx.root, &self.dir, &names, now_ms);
        if archived.is_err() {
            compacted.extend(free);
            return archived.map(|()| 0);
        }
        Ok(free.len())
    }

    /// Takes files out whose newest cell has expired (not the newest file: it carries the highest sequence id).
    pub(crate) fn drop_expired(&self, now_ms: u64) -> Result<usize, StoreError> {
        let Some(ttl_ms) = self.options.file_ttl_ms().filter(|_| self.options.delete_expired_files) else {
            return Ok(0);
        };
        let expired_before_ms = now_ms.saturating_sub(ttl_ms);
        let files = self.files();
        let compacting = self.compacting.lock();
        let expired: Vec<_> = files[..files.len().saturating_sub(1)]
            .iter()
            .filter(|f| f.time_range().is_some_and(|(_, max)| max < expired_before_ms))
            .filter(|f| !compacting.contains(f.name()))
            .cloned()
            .collect();
        if !expired.is_empty() {
            self.swap(&expired, None, now_ms, || ())?;
        }
        Ok(expired.len())
    }

    /// Whether the blocks of its files are to be in the cache before anybody asks for them.
    pub fn wants_prefetch(&self) -> bool {
        self.options().prefetch_on_open || self.config().prefetch_on_open
    }

    /// Brings the blocks of all files into the cache, newest file first, as far as there is room. Blocking.
    pub fn prefetch(&self, throttle: &dyn Throttle) -> Result<(), StoreError> {
        let cache = self.ctx.files.cache();
        for file in self.files().iter().rev() {
            let room = cache.capacity_bytes().saturating_sub(cache.usage_bytes());
            if file.reader.total_uncompressed_bytes() > room {
                tracing::debug!(file = file.name(), room, "no room in the cache to prefetch it");
                continue;
            }
            self.cache_whole(file, throttle)?;
        }
        Ok(())
    }

    /// Reads a file once, to have its blocks in the cache.
    pub(crate) fn cache_whole(&self, file: &Arc<StoreFile>, throttle: &dyn Throttle) -> Result<(), StoreError> {
        let source = self.ctx.files.blocking();
        let mut scanner = file.scanner(true);
        let (mut bytes, step) = (0, self.config().throttle_every_bytes);
        ready(&file.reader, scanner.seek_to_first(&source)?)?;
        while let Some(cell) = scanner.peek() {
            bytes += (cell.key.len() + cell.value.len()) as u64;
            if bytes >= step {
                throttle.pause(std::mem::take(&mut bytes)).map_err(StoreError::Cancelled)?;
            }
            ready(&file.reader, scanner.next(&source)?)?;
        }
        Ok(())
    }

    /// Files may be there that are not in the list, or the other way round: compacting without them could bring deleted
    /// cells back when they appear.
    pub(crate) fn doubt(&self, path: PathBuf, why: String) -> StoreError {
        *self.doubt.lock() = Some((path.clone(), why.clone()));
        StoreError::InDoubt { path, why }
    }
    /// Refuses when a file is in doubt.
    pub(crate) fn check_doubt(&self) -> Result<(), StoreError> {
        match &*self.doubt.lock() {
            None => Ok(()),
            Some((path, why)) => Err(StoreError::InDoubt { path: path.clone(), why: why.clone() }),
        }
    }
}

fn listed(files: &[Arc<StoreFile>]) -> Vec<Listed> {
    files.iter().map(|f| Listed { name: f.name().to_owned(), size_bytes: f.size_bytes() }).collect()
}

/// Opens the store's files, oldest first, and the list that names them if there is one.
fn open_files(
    ctx: &StoreContext,
    dir: &Path,
    options: &FamilyOptions,
    now_ms: u64,
) -> Result<(Vec<Arc<StoreFile>>, Option<FileList>), StoreError> {
    let fs = &*ctx.fs;
    if !options.tracker.writes_list() {
        let (files, _) = open_directory(ctx, dir, options, None)?;
        return Ok((archive_rewritten(ctx, dir, files, now_ms)?, None));
    }
    let (mut list, names) = FileList::open(fs, dir, now_ms)?;
    let names: HashSet<String> = names.into_iter().map(|f| f.name).collect();
    let wanted = Some(&names).filter(|_| options.tracker.reads_list());
    let (opened, unlisted) = open_directory(ctx, dir, options, wanted)?;
    let files = archive_rewritten(ctx, dir, opened, now_ms)?;
    archive_unlisted(ctx, dir, options, (&files, &unlisted), now_ms)?;
    if files.len() != names.len() || files.iter().any(|f| !names.contains(f.name())) {
        list.write(fs, &listed(&files), now_ms)?;
    }
    Ok((files, Some(list)))
}

/// Opens every store file of the directory, or of those only the `wanted` ones; the others' names come back.
fn open_directory(
    ctx: &StoreContext,
    dir: &Path,
    options: &FamilyOptions,
    wanted: Option<&HashSet<String>>,
) -> Result<(Vec<Arc<StoreFile>>, Vec<String>), StoreError> {
    let (mut files, mut unlisted) = (Vec::new(), Vec::new());
    for entry in ctx.fs.list(dir).map_err(StoreError::io("list", dir))? {
        let path = dir.join(&entry.name);
        if entry.is_dir {
            continue;
        }
        if entry.name.starts_with('.') {
            if entry.name.ends_with(".tmp") {
                ctx.fs.remove_file(&path).map_err(StoreError::io("remove", &path))?;
            }
            continue;
        }
        let is_wanted = wanted.is_none_or(|names| names.contains(&entry.name));
        match StoreFileName::parse(&entry.name) {
            None => {
                tracing::warn!(path = %path.display(), "not the name of a store file: left alone");
                continue;
            }
            Some(_) if !is_wanted => {
                unlisted.push(entry.name);
                continue;
            }
            Some(StoreFileName::HFile | StoreFileName::Reference { .. }) if entry.len == 0 => {
                tracing::warn!(path = %path.display(), "store file without content: left alone");
                continue;
            }
            Some(_) => {}
        }
        let resolved = resolve(&*ctx.fs, &ctx.root, dir, &entry.name, options.order)?;
        let file = StoreFile::open(&ctx.files, dir, &entry.name, resolved, entry.modified_ms, options)?;
        files.push(Arc::new(file));
    }
    let is_open = |name: &String| files.iter().any(|f| f.name() == name);
    if let Some(missing) = wanted.into_iter().flatten().find(|name| !is_open(name)) {
        return Err(StoreError::corrupt(&dir.join(missing), "is in the list of store files, but not there"));
    }
    files.sort_by(|a, b| a.age_order().cmp(&b.age_order()));
    Ok((files, unlisted))
}

/// Archives what a crash left in the directory and the list does not name: what a listed file has rewritten, and, if the
/// directory is to be the list from now on, everything. The rest costs only space.
fn archive_unlisted(
    ctx: &StoreContext,
    dir: &Path,
    options: &FamilyOptions,
    (files, unlisted): (&[Arc<StoreFile>], &[String]),
    now_ms: u64,
) -> Result<(), StoreError> {
    let rewritten: HashSet<String> = files.iter().flat_map(|f| f.reader.compacted_inputs()).collect();
    let all = options.tracker == FileTracker::ToDirectory;
    let (gone, left): (Vec<&str>, Vec<&str>) =
        unlisted.iter().map(String::as_str).partition(|name| all || rewritten.contains(*name));
    for name in left {
        tracing::warn!(path = %dir.join(name).display(), "not in the list of store files: left alone");
    }
    archive_files(&*ctx.fs, &ctx.root, dir, &gone, now_ms)
}

/// Archives files that a finished compaction replaced but, because of a crash or a reader, did not archive.
fn archive_rewritten(
    ctx: &StoreContext,
    dir: &Path,
    files: Vec<Arc<StoreFile>>,
    now_ms: u64,
) -> Result<Vec<Arc<StoreFile>>, StoreError> {
    let rewritten: HashSet<String> =
        files.iter().filter(|f| !f.is_reference()).flat_map(|f| f.reader.compacted_inputs()).collect();
    let (old, kept): (Vec<_>, Vec<_>) = files.into_iter().partition(|f| rewritten.contains(f.name()));
    let names: Vec<_> = old.iter().map(|f| f.name()).collect();
    archive_files(&*ctx.fs, &ctx.root, dir, &names, now_ms)?;
    Ok(kept)
}
