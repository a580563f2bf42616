//! Bulk load: HFiles that others wrote become files of the region.
//!
//! ```text
//! looked at: family, ends ─ made durable ─ flush: number N ─ moved to <family>/<name>_SeqId_N_ ─ marker in the log
//! ```
//! All edits up to N are in files then, so that a file under N does not make replay pass over edits that are in memory only. A crash
//! leaves a file where it was or in its store. One of another file system is copied, and removed there once it is loaded.

use crate::{Region, RegionError};
use bytes::Bytes;
use martite_catalog::layout::TEMP_DIR;
use martite_catalog::to_string_binary;
use martite_cell::key;
use martite_env::FileSystem;
use martite_store::name::new_hfile;
use martite_store::reference::Resolved;
use martite_store::{Store, StoreError, StoreFile};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are copied at once.
const PIECE_BYTES: u64 = 1 << 20;

/// A file that was loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub family: Bytes,
    pub name: String,
    pub size_bytes: u64,
}

impl Region {
    /// Loads HFiles, by family; with `copy` they stay where they are, too. All are looked at before the first is touched. None: one
    /// has rows of other regions.
    pub fn bulk_load(&self, files: &[(Bytes, PathBuf)], copy: bool) -> Result<Option<Vec<Loaded>>, RegionError> {
        let _operation = self.start_operation()?;
        for (family, path) in files {
            let store = &self.stores[self.check_family(family)?].1;
            if !self.fits(store, family, path)? {
                return Ok(None);
            }
        }
        for (_, path) in files {
            // Whoever wrote it may have left it to the page cache.
            self.ctx.fs.sync_file(path).map_err(|e| RegionError::io(path.display(), &e))?;
        }
        let seq = self.flush_to_a_number()?;
        let mut loaded = Vec::with_capacity(files.len());
        for (family, path) in files {
            let store = &self.stores[self.check_family(family)?].1;
            let file = self.take_over(store, path, seq, copy)?;
            let (name, size_bytes) = (file.name().to_owned(), file.size_bytes());
            loaded.push(Loaded { family: family.clone(), name, size_bytes });
        }
        let marker = self.mark_bulk_load(seq, &loaded)?;
        self.mvcc.wait(marker)?;
        tracing::info!(region = %self.info.encoded_name(), files = loaded.len(), seq, "bulk loaded");
        if let Some(events) = &self.ctx.events {
            events.flushed(self);
        }
        Ok(Some(loaded))
    }

    /// Whether all rows of a file are the region's.
    fn fits(&self, store: &Store, family: &Bytes, path: &Path) -> Result<bool, RegionError> {
        let resolved = Resolved { places: vec![path.to_owned()], half: None };
        let (dir, options) = (store.dir(), store.options());
        let file = StoreFile::open(&self.ctx.stores.files, dir, "bulk load", resolved, 0, options)?;
        let refuse = |what: String| RegionError::DoNotRetry(format!("{}: {what}", path.display()));
        let (Some(first), Some(last)) = (file.first_key(), file.last_key()) else {
            return Err(refuse("First key can not be null".into()));
        };
        for key in [first, last] {
            if key::family(key) != family {
                let (found, wanted) = (to_string_binary(key::family(key)), to_string_binary(family));
                return Err(refuse(format!("has cells of family {found}, is to be loaded into {wanted}")));
            }
        }
        let fits = [first, last].iter().all(|key| self.info.contains_row(key::row(key)));
        if !fits {
            let region = self.info.name_string();
            tracing::warn!(file = %path.display(), region, "Bulk load file does not fit inside the region");
        }
        Ok(fits)
    }

    /// Makes a file one of the store's.
    fn take_over(&self, store: &Store, path: &Path, seq: u64, copy: bool) -> Result<Arc<StoreFile>, RegionError> {
        let (fs, now_ms) = (&*self.ctx.fs, self.ctx.clock.now_ms());
        // It is loaded: that it is not where it was any more may be known later.
        let gone = |outcome: io::Result<()>| {
            if let Err(error) = outcome {
                tracing::warn!(path = %path.display(), %error, "a file that was loaded may be where it was, too");
            }
        };
        if !copy {
            match store.bulk_load(path, seq, now_ms) {
                Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::CrossesDevices => {}
                Err(error) => return Err(self.tell(error)),
                Ok(file) => {
                    gone(fs.sync_dir(path.parent().unwrap_or(path)));
                    return Ok(file);
                }
            }
        }
        let failed = |e: io::Error| RegionError::io(path.display(), &e);
        let dir = self.dir.join(TEMP_DIR).join(store.family_name());
        fs.create_dir_all(&dir).map_err(failed)?;
        let copied = dir.join(new_hfile(&*self.ctx.stores.random));
        copy_file(fs, path, &copied).map_err(failed)?;
        let file = store.bulk_load(&copied, seq, now_ms).map_err(|error| self.tell(error))?;
        if !copy {
            gone(fs.remove_file(path));
        }
        Ok(file)
    }

    /// Flushes everything; all edits up to the number that is answered, which no edit has, are in files.
    fn flush_to_a_number(&self) -> Result<u64, RegionError> {
        loop {
            let outcome = self.flush_stores(None, "before a bulk load")?;
            if outcome.flushed {
                return Ok(outcome.seq_id);
            }
            let _no_writes = self.updates.write();
            if self.stores.iter().all(|(_, store)| store.memstore().cell_count() == 0) {
                let (seq, _) = self.append(None)?;
                self.mvcc.complete(seq);
                return Ok(seq);
            }
        }
    }
}

fn copy_file(fs: &dyn FileSystem, from: &Path, to: &Path) -> io::Result<()> {
    let file: Arc<dyn martite_env::ReadAt> = fs.open(from)?;
    let mut out = fs.create_direct(to)?;
    let mut piece = Vec::new();
    let mut at = 0;
    while at < file.len() {
        piece.resize((file.len() - at).min(PIECE_BYTES) as usize, 0);
        file.read_exact_at(&mut piece, at)?;
        out.write_all(&piece)?;
        at += piece.len() as u64;
    }
    out.finish()
}
