//! Replay: edits that were in the log of a dead server come back from `recovered.edits`.
//!
//! A file is named by the highest sequence id in it (19 digits) and holds WAL entries of this region. An edit of a family
//! is skipped if the family's files have it: if its number is not above their highest. What was replayed is flushed,
//! and only then the files are removed: a crash in between replays again, and skips.
//!
//! The memstores may have to be flushed before all is replayed. Such a flush says "everything up to n is in files", so
//! it waits for a place where that is true: no later file may begin at or below n, and within a file the numbers must
//! rise (they may not, when several servers had the region).

use crate::{Region, RegionError, markers};
use martite_catalog::layout::RECOVERED_EDITS_DIR;
use martite_cell::CellBuf;
use martite_wal::{Entry, WalError, WalReader};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// One file to replay.
struct EditsFile {
    path: PathBuf,
    /// Smallest number in it; None if it has no entry.
    first_seq: Option<u64>,
    /// Its numbers rise: the memstores may be flushed in the middle.
    rises: bool,
}

/// What was done so far.
#[derive(Default)]
struct Replay {
    /// Highest number seen.
    max_seq: u64,
    applied: u64,
    skipped: u64,
}

impl Region {
    /// Replays all files and removes them. The highest number seen, 0 without any.
    pub(crate) fn replay_recovered_edits(&self) -> Result<u64, RegionError> {
        let paths = self.edits_files()?;
        if paths.is_empty() {
            return Ok(0);
        }
        // What the files of the stores hold now decides what is skipped, also after flushes on the way.
        let flushed: Vec<u64> = self.stores.iter().map(|(_, store)| store.max_seq_id()).collect();
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            files.push(match self.inspect(&path) {
                Ok((first_seq, rises)) => EditsFile { path, first_seq, rises },
                Err(error) => {
                    self.set_aside(&path, error)?;
                    EditsFile { path, first_seq: None, rises: false }
                }
            });
        }
        let mut replay = Replay::default();
        for at in 0..files.len() {
            // Up to here a flush may say that everything is in files.
            let complete_below = files[at + 1..].iter().filter_map(|f| f.first_seq).min().unwrap_or(u64::MAX);
            match self.replay_file(&files[at], &flushed, complete_below, &mut replay) {
                Err(error @ (RegionError::Corrupt(_) | RegionError::Io(_))) => {
                    self.set_aside(&files[at].path, error)?;
                }
                other => other?,
            }
        }
        if replay.applied > 0 {
            self.flush_replayed(replay.max_seq)?;
        }
        tracing::info!(region = %self.info.encoded_name(), files = files.len(), applied = replay.applied,
            skipped = replay.skipped, max_seq = replay.max_seq, "replayed recovered edits");
        self.remove_edits(&files)?;
        Ok(replay.max_seq)
    }

    /// The files, by the number in their names.
    fn edits_files(&self) -> Result<Vec<PathBuf>, RegionError> {
        let dir = self.dir.join(RECOVERED_EDITS_DIR);
        let entries = match self.ctx.fs.list(&dir) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(|e| RegionError::io(dir.display(), &e))?,
        };
        let mut files: Vec<(u64, PathBuf)> = Vec::new();
        for entry in entries.into_iter().filter(|e| !e.is_dir) {
            // A minus sign was allowed in old HBase. Other names: being written, set aside, remembered numbers.
            let digits = entry.name.strip_prefix('-').unwrap_or(&entry.name);
            if let Ok(seq) = digits.parse() {
                files.push((seq, dir.join(&entry.name)));
            }
        }
        files.sort();
        Ok(files.into_iter().map(|(_, path)| path).collect())
    }

    /// The smallest number of a file, and whether its numbers rise.
    fn inspect(&self, path: &Path) -> Result<(Option<u64>, bool), RegionError> {
        if self.ctx.fs.len(path).map_err(|e| RegionError::io(path.display(), &e))? == 0 {
            return Ok((None, false));
        }
        let mut reader = WalReader::open(&*self.ctx.fs, path).map_err(damaged)?;
        let (mut smallest, mut last, mut rises) = (None, 0, true);
        while let Some(entry) = reader.next().map_err(damaged)? {
            smallest = Some(smallest.map_or(entry.seq, |s: u64| s.min(entry.seq)));
            rises &= entry.seq > last;
            last = entry.seq;
        }
        Ok((smallest, rises))
    }

    /// Puts a damaged file aside if the configuration says so; else its error stops the opening.
    fn set_aside(&self, path: &Path, error: RegionError) -> Result<(), RegionError> {
        if !self.ctx.config.skip_bad_edits {
            return Err(error);
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", self.ctx.clock.now_ms()));
        let aside = path.with_file_name(name);
        tracing::error!(%error, aside = %aside.display(), "recovered edits are damaged; set aside");
        self.ctx.fs.rename(path, &aside).map_err(|e| RegionError::io(path.display(), &e))
    }

    fn replay_file(
        &self,
        file: &EditsFile,
        flushed: &[u64],
        complete_below: u64,
        replay: &mut Replay,
    ) -> Result<(), RegionError> {
        if file.first_seq.is_none() {
            return Ok(());
        }
        let mut reader = WalReader::open(&*self.ctx.fs, &file.path).map_err(damaged)?;
        while let Some(entry) = reader.next().map_err(damaged)? {
            self.replay_entry(&entry, flushed, replay)?;
            if file.rises {
                self.flush_if_full(replay.max_seq, complete_below)?;
            }
        }
        if let Some(torn) = reader.torn_tail() {
            tracing::warn!(file = %file.path.display(), ?torn, "recovered edits end in the middle of an entry");
        }
        self.flush_if_full(replay.max_seq, complete_below)
    }

    fn flush_if_full(&self, seq: u64, complete_below: u64) -> Result<(), RegionError> {
        let full = self.account_memstore() > self.settings.flush_size_bytes;
        if full && seq < complete_below { self.flush_replayed(seq) } else { Ok(()) }
    }

    fn replay_entry(&self, entry: &Entry<'_>, flushed: &[u64], replay: &mut Replay) -> Result<(), RegionError> {
        self.ctx.nonces.report_from_log(entry.nonce_group, entry.nonce, entry.write_time_ms);
        replay.max_seq = replay.max_seq.max(entry.seq);
        let seq = if entry.orig_seq > 0 { entry.orig_seq } else { entry.seq };
        let cells = CellBuf::from_block(entry.cells.to_vec(), true)
            .map_err(|e| RegionError::Corrupt(format!("recovered edit {} of {self:?}: {e}", entry.seq)))?;
        for mut cell in cells.iter() {
            let at = self.store_index(cell.family());
            // Another region's edits: those of a parent, brought over by a tool.
            let foreign = entry.region != self.wal_name && !self.info.contains_row(cell.row());
            match at {
                Some(at) if !foreign && entry.seq > flushed[at] => {
                    cell.seq_id = seq;
                    self.stores[at].1.memstore().add_all([cell], entry.write_time_ms);
                    replay.applied += 1;
                }
                None if cell.family() != markers::FAMILY => {
                    tracing::warn!(?cell, region = ?self, "no family for a recovered edit");
                    replay.skipped += 1;
                }
                _ => replay.skipped += 1,
            }
        }
        Ok(())
    }

    /// Removes what was replayed.
    fn remove_edits(&self, files: &[EditsFile]) -> Result<(), RegionError> {
        let dir = self.dir.join(RECOVERED_EDITS_DIR);
        for file in files {
            match self.ctx.fs.remove_file(&file.path) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(RegionError::io(file.path.display(), &e)),
                _ => {}
            }
        }
        self.ctx.fs.sync_dir(&dir).map_err(|e| RegionError::io(dir.display(), &e))
    }
}

/// An error of a recovered file is not one of the log that is being written.
fn damaged(error: WalError) -> RegionError {
    match error {
        WalError::Io { .. } => RegionError::Io(error.to_string()),
        _ => RegionError::Corrupt(error.to_string()),
    }
}
