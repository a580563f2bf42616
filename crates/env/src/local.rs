//! [`LocalFs`]: the machine's file system.
//!
//! Reads are `pread`, syncs are `fdatasync` (which also writes the new length of a file that grew), directories are
//! synced by `fsync` of the directory itself: on ext4 and XFS a created or renamed name is durable only after that. Logs
//! and store files are written past the page cache (`blocks.rs`).

use crate::fs::{DirEntry, FileSystem, FileWriter, ReadAt, WriteAt, at, must_fit};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// The machine's file system; paths are used as they are given.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalFs;

struct LocalFile {
    file: File,
    path: PathBuf,
    len: u64,
}

impl ReadAt for LocalFile {
    fn len(&self) -> u64 {
        self.len
    }
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, offset).map_err(|e| at(&self.path, e))
    }
}

impl WriteAt for LocalFile {
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        must_fit(bytes, offset, self.len)
            .and_then(|()| self.file.write_all_at(bytes, offset))
            .map_err(|e| at(&self.path, e))
    }
}

struct LocalWriter {
    file: File,
    path: PathBuf,
    position: u64,
}

impl Write for LocalWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.file.write(bytes) {
            Ok(n) => {
                self.position += n as u64;
                Ok(n)
            }
            // `write_all` retries on this kind, so it must stay what it is.
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Err(e),
            Err(e) => Err(at(&self.path, e)),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FileWriter for LocalWriter {
    fn position(&self) -> u64 {
        self.position
    }
    fn sync_data(&mut self) -> io::Result<()> {
        self.file.sync_data().map_err(|e| at(&self.path, e))
    }
}

/// Writers wait from the middle between the two thresholds on (`balance_dirty_pages`); four fifths of that are near.
fn is_behind(vmstat: &str) -> bool {
    let pages = |name: &str| {
        let value = vmstat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.parse::<u64>().ok()
    };
    let dirty = pages("nr_dirty").zip(pages("nr_writeback"));
    let thresholds = pages("nr_dirty_background_threshold").zip(pages("nr_dirty_threshold"));
    dirty.zip(thresholds).is_some_and(|((dirty, writeback), (low, high))| (dirty + writeback) * 5 >= (low + high) * 2)
}

impl FileSystem for LocalFs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let named = |e| at(path, e);
        let file = File::open(path).map_err(named)?;
        let meta = file.metadata().map_err(named)?;
        if meta.is_dir() {
            return Err(named(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Arc::new(LocalFile { file, path: path.to_owned(), len: meta.len() }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn FileWriter>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|e| at(path, e))?;
        Ok(Box::new(LocalWriter { file, path: path.to_owned(), position: 0 }))
    }

    #[cfg(target_os = "linux")]
    fn create_direct(&self, path: &Path) -> io::Result<Box<dyn FileWriter>> {
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|e| at(path, e))?;
        Ok(Box::new(crate::blocks::BlockWriter::new(file, path)))
    }

    fn open_in_place(&self, path: &Path, len: u64) -> io::Result<Arc<dyn WriteAt>> {
        let named = |e| at(path, e);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(named)?;
        if file.metadata().map_err(named)?.len() != len {
            file.set_len(len).map_err(named)?;
        }
        Ok(Arc::new(LocalFile { file, path: path.to_owned(), len }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
            .map_err(|e| io::Error::new(e.kind(), format!("rename {} to {}: {e}", from.display(), to.display())))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path).map_err(|e| at(path, e))
    }

    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path).map_err(|e| at(path, e))
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        File::open(path).and_then(|file| file.sync_all()).map_err(|e| at(path, e))
    }

    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path).map_err(|e| at(path, e))
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        if path.as_os_str().is_empty() || path.is_dir() {
            return Ok(());
        }
        let parent = path.parent().unwrap_or(Path::new(""));
        self.create_dir_all(parent)?;
        match fs::create_dir(path) {
            Ok(()) => self.sync_dir(parent),
            // Someone else was faster, and syncs it; sync too, so that ours is durable when we return.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => self.sync_dir(parent),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(at(path, io::ErrorKind::NotADirectory.into())),
            Err(e) => Err(at(path, e)),
        }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        let named = |e| at(dir, e);
        let mut entries = Vec::new();
        for entry in fs::read_dir(dir).map_err(named)? {
            let entry = entry.map_err(named)?;
            let meta = match fs::metadata(entry.path()) {
                Ok(meta) => meta,
                // Removed since the directory was read, or a link to nowhere.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(at(&entry.path(), e)),
            };
            let modified = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
            entries.push(DirEntry {
                name: entry.file_name().to_string_lossy().into_owned(),
                is_dir: meta.is_dir(),
                len: if meta.is_dir() { 0 } else { meta.len() },
                modified_ms: modified.map_or(0, |d| d.as_millis() as u64),
            });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        File::open(dir).and_then(|d| d.sync_all()).map_err(|e| at(dir, e))
    }

    /// Linux: near the point from which on writers are put to sleep. Elsewhere this is not known.
    fn is_behind(&self) -> bool {
        fs::read_to_string("/proc/vmstat").is_ok_and(|vmstat| is_behind(&vmstat))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        fs::metadata(path).map(|m| m.len()).map_err(|e| at(path, e))
    }
}

#[cfg(test)]
mod tests {
    use super::is_behind;

    #[test]
    fn writers_wait_before_a_threshold_is_reached() {
        let vmstat = |dirty: u64, writeback: u64| {
            format!(
                "nr_free_pages 7\nnr_dirty {dirty}\nnr_writeback {writeback}\nnr_writeback_temp 99999\n\
                 nr_dirty_threshold 2000\nnr_dirty_background_threshold 1000\n"
            )
        };
        assert!(!is_behind(&vmstat(0, 0)) && !is_behind(&vmstat(600, 599)));
        assert!(is_behind(&vmstat(600, 600)) && is_behind(&vmstat(1200, 0)) && is_behind(&vmstat(0, 5000)));
        assert!(!is_behind("nr_dirty 5000\n"), "not a system that tells");
    }
}
