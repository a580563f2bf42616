//! [`Journal`]: the file of the index while the tier is in use, so that a server that is killed finds its blocks again.
//!
//! Entries are added behind each other (saved.rs) and not synced: the system keeps them when the server is killed, and what is
//! lost with the machine is a colder start. Once they are more than twice what they were, the file is written anew.

use martite_env::{FileSystem, FileWriter};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A shorter file is not written anew.
const SHORT_BYTES: u64 = 1 << 20;

pub(crate) struct Journal {
    fs: Arc<dyn FileSystem>,
    path: PathBuf,
    file: Box<dyn FileWriter>,
    /// Bytes of the file when it was written.
    whole_bytes: u64,
}

impl Journal {
    /// Replaces what is at `path`, by a rename: until then that is true enough.
    pub(crate) fn begin(fs: Arc<dyn FileSystem>, path: &Path, whole: &[u8]) -> io::Result<Journal> {
        let file = write(&*fs, path, whole)?;
        Ok(Journal { fs, path: path.to_owned(), file, whole_bytes: whole.len() as u64 })
    }

    pub(crate) fn add(&mut self, entries: &[u8]) -> io::Result<()> {
        self.file.write_all(entries)
    }

    /// It has grown so much that it should be written anew.
    pub(crate) fn is_long(&self) -> bool {
        self.file.position() > (2 * self.whole_bytes).max(SHORT_BYTES)
    }

    pub(crate) fn write_anew(&mut self, whole: &[u8]) -> io::Result<()> {
        self.file = write(&*self.fs, &self.path, whole)?;
        self.whole_bytes = whole.len() as u64;
        Ok(())
    }
}

fn write(fs: &dyn FileSystem, path: &Path, whole: &[u8]) -> io::Result<Box<dyn FileWriter>> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let new = PathBuf::from(new);
    match fs.remove_file(&new) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    let mut file = fs.create(&new)?;
    file.write_all(whole)?;
    fs.rename(&new, path)?;
    Ok(file)
}
