//! Splitting: the entries of dead logs become `recovered.edits` files of their regions.
//!
//! ```text
//! WALs/<server>/a, b, c ──read──► per region, in memory ──► data/<ns>/<table>/<region>/recovered.edits/
//!                                                              <%019d first seq>.temp     written, synced
//!                                                              <%019d last seq>           renamed, directory synced
//! then: a, b, c ──► oldWALs/, the empty directory removed
//! ```
//!
//! The logs move only after all output is durable, so an interrupted split is run again from the logs that are left. The
//! second run may see fewer logs than the first and so produce a part of a file that is there already: then the two
//! are merged, and no entry is lost. Entries that end up in two files do no harm: replaying is idempotent.
//!
//! Of the markers (`METAFAMILY`) only those of compactions are kept, as HBase does it: the region finishes what was
//! committed. Source: HBase 2.6 `WALSplitter`, `AbstractRecoveredEditsOutputSink`, `WALSplitUtil`.

use crate::entry::Entry;
use crate::error::WalError;
use crate::format::{METAFAMILY, TRAILER, append_entry, crc32c, file_header};
use crate::reader::{TornTail, WalReader};
use bytes::Bytes;
use martite_cell::Codec;
use martite_env::FileSystem;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use tracing::warn;

/// Habits of a split.
#[derive(Debug, Clone)]
pub struct SplitOptions {
    /// Put damaged files into `<root>/corrupt`, keeping the entries before the damage, instead of failing.
    pub skip_corrupt: bool,
    /// Entries are gathered up to this many bytes before the largest region's are written out.
    pub buffer_bytes: usize,
}

impl Default for SplitOptions {
    fn default() -> SplitOptions {
        SplitOptions { skip_corrupt: false, buffer_bytes: 128 << 20 }
    }
}

/// What a split did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitReport {
    /// Log files read.
    pub logs: usize,
    pub entries: u64,
    /// Entries that were not written because the region had flushed them.
    pub flushed: u64,
    /// Markers that were not written.
    pub markers: u64,
    /// Entries of regions whose directory is gone: the table was dropped, or the region merged away.
    pub orphaned: u64,
    /// `recovered.edits` files, as they are named now.
    pub outputs: Vec<PathBuf>,
    pub torn: Vec<(PathBuf, TornTail)>,
    /// Damaged files, where they were put aside.
    pub corrupt: Vec<PathBuf>,
    /// Where the logs are now.
    pub archived: Vec<PathBuf>,
}

/// Splits all logs in `wal_dirs`: writes `<root>/data/<namespace>/<table>/<region>/recovered.edits/<%019d>`, then moves
/// the logs to `<root>/oldWALs` and removes the directories. `flushed` gives the highest sequence id that a region has
/// in its files in all families; entries up to it are left out. Run again after an interruption, it gives the same.
pub fn split_logs(
    fs: &dyn FileSystem,
    root: &Path,
    wal_dirs: &[PathBuf],
    flushed: &dyn Fn(&[u8]) -> Option<u64>,
) -> Result<SplitReport, WalError> {
    split_logs_with(fs, root, wal_dirs, flushed, &SplitOptions::default())
}

/// [`split_logs`] with options.
pub fn split_logs_with(
    fs: &dyn FileSystem,
    root: &Path,
    wal_dirs: &[PathBuf],
    flushed: &dyn Fn(&[u8]) -> Option<u64>,
    options: &SplitOptions,
) -> Result<SplitReport, WalError> {
    let mut split =
        Split { fs, root, flushed, options, report: SplitReport::default(), regions: BTreeMap::new(), held: 0 };
    let mut read = Vec::new();
    for dir in wal_dirs {
        for log in logs_of(fs, dir)? {
            let corrupt = split.read_log(&log)?;
            read.push((log, corrupt));
        }
    }
    split.write_all_regions()?;
    let Split { mut report, .. } = split;
    report.logs = read.len();
    put_away(fs, root, wal_dirs, read, &mut report)?;
    Ok(report)
}

/// The files of a directory in the order in which they were written; an absent directory has none.
fn logs_of(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<PathBuf>, WalError> {
    let mut names: Vec<String> = match fs.list(dir) {
        Ok(entries) => entries.into_iter().filter(|e| !e.is_dir).map(|e| e.name).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(WalError::io("list logs", e)),
    };
    // <prefix>.<timestamp>[.meta]: by time, not as text.
    names.sort_by_key(|name| {
        let stamp = name.trim_end_matches(".meta").rsplit('.').next().and_then(|s| s.parse::<u64>().ok());
        (stamp.unwrap_or(0), name.clone())
    });
    Ok(names.into_iter().map(|name| dir.join(name)).collect())
}

struct Split<'a> {
    fs: &'a dyn FileSystem,
    root: &'a Path,
    flushed: &'a dyn Fn(&[u8]) -> Option<u64>,
    options: &'a SplitOptions,
    report: SplitReport,
    regions: BTreeMap<Bytes, Region>,
    /// Bytes of entries in memory.
    held: usize,
}

/// What was found of one region.
struct Region {
    /// `None`: the region is gone.
    dir: Option<PathBuf>,
    flushed: Option<u64>,
    entries: Vec<Entry<'static>>,
    held: usize,
}

impl Split<'_> {
    /// Sorts the entries of one log by region. Returns whether it is damaged, which only `skip_corrupt` allows.
    fn read_log(&mut self, path: &Path) -> Result<bool, WalError> {
        let mut read = || {
            let mut reader = WalReader::open(self.fs, path)?;
            while let Some(entry) = reader.next()? {
                self.take(path, entry)?;
            }
            Ok(reader.torn_tail())
        };
        match read() {
            Ok(None) => Ok(false),
            Ok(Some(tail)) => {
                if tail.lost_bytes > 0 {
                    warn!(log = %path.display(), offset = tail.offset, lost_bytes = tail.lost_bytes, "torn tail");
                }
                self.report.torn.push((path.to_owned(), tail));
                Ok(false)
            }
            Err(e @ WalError::Corrupt { .. }) if self.options.skip_corrupt => {
                warn!(error = %e, "the log is damaged; its entries up to there are kept");
                Ok(true)
            }
            Err(e) => Err(e),
        }
    }

    fn take(&mut self, log: &Path, entry: Entry<'static>) -> Result<(), WalError> {
        self.report.entries += 1;
        if !self.regions.contains_key(&entry.region) {
            let dir = region_dir(self.root, &entry).ok_or_else(|| WalError::Corrupt {
                file: log.to_owned(),
                offset: 0,
                what: format!("region {} of table {}", entry.region.escape_ascii(), entry.table.escape_ascii()),
            })?;
            let dir = self.fs.exists(&dir).then_some(dir);
            let flushed = dir.is_some().then(|| (self.flushed)(&entry.region)).flatten();
            self.regions.insert(entry.region.clone(), Region { dir, flushed, entries: Vec::new(), held: 0 });
        }
        let Some(region) = self.regions.get_mut(&entry.region) else { return Ok(()) };
        if region.dir.is_none() {
            self.report.orphaned += 1;
        } else if region.flushed.is_some_and(|flushed| entry.seq <= flushed) {
            self.report.flushed += 1;
        } else if !is_kept(&entry) {
            self.report.markers += 1;
        } else {
            let size = entry.cells.len() + 256;
            region.held += size;
            self.held += size;
            region.entries.push(entry);
            if self.held > self.options.buffer_bytes {
                self.write_largest()?;
            }
        }
        Ok(())
    }

    fn write_largest(&mut self) -> Result<(), WalError> {
        let largest = self.regions.iter().max_by_key(|(_, r)| r.held).map(|(name, _)| name.clone());
        largest.map_or(Ok(()), |name| self.write_region(&name))
    }

    fn write_all_regions(&mut self) -> Result<(), WalError> {
        let names: Vec<Bytes> = self.regions.keys().cloned().collect();
        names.iter().try_for_each(|name| self.write_region(name))
    }

    /// Makes what is held of a region a durable file.
    fn write_region(&mut self, name: &Bytes) -> Result<(), WalError> {
        let Some(region) = self.regions.get_mut(name) else { return Ok(()) };
        let entries = std::mem::take(&mut region.entries);
        self.held -= std::mem::take(&mut region.held);
        let (Some(dir), false) = (&region.dir, entries.is_empty()) else { return Ok(()) };
        let dir = dir.join("recovered.edits");
        let path = write_recovered_edits(self.fs, &dir, entries)?;
        if !self.report.outputs.contains(&path) {
            self.report.outputs.push(path);
        }
        Ok(())
    }
}

/// Whether a region needs the entry again: not its own markers, but those of compactions.
fn is_kept(entry: &Entry<'_>) -> bool {
    let (mut edit, mut compaction) = (true, false);
    // The reader has checked the cells.
    let _checked = Codec::KeyValueWithTags.decode(&entry.cells, |cell| {
        edit &= cell.family() != METAFAMILY;
        compaction |= cell.family() == METAFAMILY && cell.qualifier() == b"HBASE::COMPACTION";
        Ok(())
    });
    edit || compaction
}

/// `None` if the names in the entry are no names: they become a path.
fn region_dir(root: &Path, entry: &Entry<'_>) -> Option<PathBuf> {
    let name = |bytes: &[u8]| {
        let good = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.') || *b >= 0x80;
        let fine = !bytes.is_empty() && bytes.iter().all(good) && bytes != b"." && bytes != b"..";
        fine.then(|| std::str::from_utf8(bytes).ok().map(str::to_owned)).flatten()
    };
    let (namespace, table) = match entry.table.iter().position(|b| *b == b':') {
        Some(colon) => (&entry.table[..colon], &entry.table[colon + 1..]),
        None => (&b"default"[..], &entry.table[..]),
    };
    Some(root.join("data").join(name(namespace)?).join(name(table)?).join(name(&entry.region)?))
}

/// Writes a file of edits, named by its highest sequence id, and makes it durable. Entries of a file of that name are
/// kept.
fn write_recovered_edits(
    fs: &dyn FileSystem,
    dir: &Path,
    mut entries: Vec<Entry<'static>>,
) -> Result<PathBuf, WalError> {
    let io = |e| WalError::io("write recovered edits", e);
    let highest = entries.iter().map(|e| e.seq).max().unwrap_or(0);
    let path = dir.join(format!("{highest:019}"));
    if fs.exists(&path) {
        let mut seen: BTreeSet<u64> = entries.iter().map(|e| e.seq).collect();
        let mut reader = WalReader::open(fs, &path)?;
        let mut missing = Vec::new();
        while let Some(entry) = reader.next()? {
            if seen.insert(entry.seq) {
                missing.push(entry);
            }
        }
        missing.append(&mut entries);
        entries = missing;
    }
    let lowest = entries.iter().map(|e| e.seq).min().unwrap_or(0);
    let salt = crc32c(path.as_os_str().as_encoded_bytes());
    let mut bytes = file_header(salt);
    for entry in &entries {
        append_entry(&mut bytes, salt, entry)?;
    }
    bytes.extend_from_slice(TRAILER);
    fs.create_dir_all(dir).map_err(io)?;
    let temp = dir.join(format!("{lowest:019}.temp"));
    match fs.remove_file(&temp) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io(e)),
        _ => {}
    }
    let mut file = fs.create(&temp).map_err(io)?;
    file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(io)?;
    fs.rename(&temp, &path).and_then(|()| fs.sync_dir(dir)).map_err(io)?;
    Ok(path)
}

/// Moves the logs out of the way, now that all of their entries are durable elsewhere.
fn put_away(
    fs: &dyn FileSystem,
    root: &Path,
    wal_dirs: &[PathBuf],
    logs: Vec<(PathBuf, bool)>,
    report: &mut SplitReport,
) -> Result<(), WalError> {
    let io = |e| WalError::io("archive log", e);
    let (old, aside) = (root.join("oldWALs"), root.join("corrupt"));
    let mut targets = BTreeSet::new();
    for (log, corrupt) in logs {
        let dir = if corrupt { &aside } else { &old };
        let Some(name) = log.file_name() else { continue };
        let target = dir.join(name);
        fs.create_dir_all(dir).map_err(io)?;
        fs.rename(&log, &target).map_err(io)?;
        targets.insert(dir);
        if corrupt { &mut report.corrupt } else { &mut report.archived }.push(target);
    }
    // The new names first: a crash in between must not lose both.
    for dir in targets {
        fs.sync_dir(dir).map_err(io)?;
    }
    for dir in wal_dirs {
        match fs.list(dir) {
            Ok(left) if left.is_empty() => {
                fs.remove_dir_all(dir).map_err(io)?;
                dir.parent().map_or(Ok(()), |parent| fs.sync_dir(parent)).map_err(io)?;
            }
            Ok(_) => fs.sync_dir(dir).map_err(io)?,
            Err(_) => {}
        }
    }
    Ok(())
}
