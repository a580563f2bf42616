//! [`TimedFs`]: the file system of the store files, with the time of every read counted.

use martite_env::{DirEntry, FileSystem, FileWriter, ReadAt, WriteAt, disk_time};
use martite_metrics::Histogram;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub struct TimedFs {
    pub inner: Arc<dyn FileSystem>,
    pub reads: Arc<Histogram>,
}

struct TimedFile {
    inner: Arc<dyn ReadAt>,
    reads: Arc<Histogram>,
}

impl ReadAt for TimedFile {
    fn len(&self) -> u64 {
        self.inner.len()
    }
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let (outcome, took) = disk_time::timed(|| self.inner.read_exact_at(buf, offset));
        self.reads.record(took);
        outcome
    }
}

impl FileSystem for TimedFs {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        Ok(Arc::new(TimedFile { inner: self.inner.open(path)?, reads: self.reads.clone() }))
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn FileWriter>> {
        self.inner.create(path)
    }
    fn open_in_place(&self, path: &Path, len: u64) -> io::Result<Arc<dyn WriteAt>> {
        self.inner.open_in_place(path, len)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_file(path)
    }
    fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_dir_all(path)
    }
    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_file(path)
    }
    fn remove_empty_dir(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_empty_dir(path)
    }
    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.inner.create_dir_all(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>> {
        self.inner.list(dir)
    }
    fn exists(&self, path: &Path) -> bool {
        self.inner.exists(path)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }
    fn len(&self, path: &Path) -> io::Result<u64> {
        self.inner.len(path)
    }
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.inner.read(path)
    }
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_atomic(path, bytes)
    }
}
