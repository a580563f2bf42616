//! [`FileSystem`]: the few verbs that a store needs, with their durability spelled out.
//!
//! | verb | survives a crash of the machine once … |
//! |---|---|
//! | bytes written | [`FileWriter::sync_data`] returned |
//! | `create`, `rename`, `remove_*` (a directory entry) | [`FileSystem::sync_dir`] of the directory returned; both directories for a rename across |
//! | `create_dir_all` | it returned |
//! | `write_atomic` | it returned; before, the old content or none is there, never a mixture |
//!
//! Files are written once, from front to back, by one writer; but for a [`WriteAt`], whose bytes are written in place and
//! never promised to survive. Errors name the path.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, or bytes in memory, open for positional reads from any thread.
#[allow(clippy::len_without_is_empty)]
pub trait ReadAt: Send + Sync {
    /// Length in bytes when the file was opened.
    fn len(&self) -> u64;
    /// Fills `buf` from `offset`; `UnexpectedEof` if the file ends before.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()>;
}

/// A file of a fixed length that is written in place, from any thread. What of it survives a crash nobody knows: its
/// user must be able to tell.
pub trait WriteAt: ReadAt {
    /// Writes all of `bytes` from `offset`; `InvalidInput` if they would end after the file. After an error any part of
    /// them may be there.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
}

/// A new file that grows at its end. Writes are not buffered, unless the file is written directly: hand over large pieces.
pub trait FileWriter: io::Write + Send {
    /// Bytes written so far.
    fn position(&self) -> u64;
    /// Returns when everything written is durable. After an error nobody knows what is: do not try again.
    fn sync_data(&mut self) -> io::Result<()>;
    /// Takes away the zeros that a sync has put behind what was written ([`FileSystem::create_direct`]). Not durable by itself.
    fn trim(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Nothing more is written: returns when the file is durable, as long as what was written and no longer.
    fn finish(&mut self) -> io::Result<()> {
        self.sync_data()?;
        self.trim()?;
        self.sync_data()
    }
}

/// A file that is written directly grows by blocks of this size.
pub const DIRECT_BLOCK_BYTES: u64 = 4096;

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    pub name: String,
    pub is_dir: bool,
    /// Bytes; 0 for a directory.
    pub len: u64,
    pub modified_ms: u64,
}

/// A tree of files.
pub trait FileSystem: Send + Sync + 'static {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>>;
    /// A new file; `AlreadyExists` if there is one, `NotFound` without its directory.
    fn create(&self, path: &Path) -> io::Result<Box<dyn FileWriter>>;
    /// As [`FileSystem::create`], for a file of which the page cache need not keep what is written, where the system has a way
    /// around it. Writes may be small: they may be kept in memory until a sync. After that the file may end in zeros up to
    /// the end of a block ([`DIRECT_BLOCK_BYTES`]), until [`FileWriter::trim`] or [`FileWriter::finish`].
    fn create_direct(&self, path: &Path) -> io::Result<Box<dyn FileWriter>> {
        self.create(path)
    }
    /// A file to be written in place, of `len` bytes from now on: made if it is absent, else cut or filled with zeros.
    fn open_in_place(&self, path: &Path, len: u64) -> io::Result<Arc<dyn WriteAt>>;
    /// Moves a file (replacing a file at `to`) or a directory (`to` must be absent or an empty directory).
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    fn remove_dir_all(&self, path: &Path) -> io::Result<()>;
    /// `DirectoryNotEmpty` if something is in it.
    fn remove_empty_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes the directory and those above it, durably. No error if it is there.
    fn create_dir_all(&self, path: &Path) -> io::Result<()>;
    /// What is in a directory, sorted by name; `NotFound` if it is absent.
    fn list(&self, dir: &Path) -> io::Result<Vec<DirEntry>>;
    fn exists(&self, path: &Path) -> bool;
    /// Makes what is in a file durable, whoever wrote it.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Makes the directory's entries durable, as they are now.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Whether so many bytes are on their way to the disk that the system is about to make writers wait for them.
    fn is_behind(&self) -> bool {
        false
    }

    /// Length of a file in bytes.
    fn len(&self, path: &Path) -> io::Result<u64> {
        Ok(self.open(path)?.len())
    }
    /// The whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.open(path)?;
        let mut bytes = vec![0; file.len() as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }
    /// Makes `bytes` the content of the file, durably and all at once. One writer at a time per path.
    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let temp = temp_path(path)?;
        match self.remove_file(&temp) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut file = self.create(&temp)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        drop(file);
        self.rename(&temp, path)?;
        self.sync_dir(path.parent().unwrap_or(Path::new("")))
    }
}

/// `.<name>.tmp` beside the file: hidden from HBase's directory scans, which skip names that begin with a dot.
fn temp_path(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| at(path, io::ErrorKind::InvalidInput.into()))?;
    let mut temp = std::ffi::OsString::from(".");
    temp.push(name);
    temp.push(".tmp");
    Ok(path.with_file_name(temp))
}

/// The same error, naming the path.
pub(crate) fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Whether `bytes` at `offset` lie in a file of `len` bytes.
pub(crate) fn must_fit(bytes: &[u8], offset: u64, len: u64) -> io::Result<()> {
    match offset.checked_add(bytes.len() as u64) {
        Some(end) if end <= len => Ok(()),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{} bytes at offset {offset} of a file of {len}", bytes.len()),
        )),
    }
}

fn read_slice(bytes: &[u8], buf: &mut [u8], offset: u64) -> io::Result<()> {
    let from = usize::try_from(offset).ok().and_then(|start| bytes.get(start..)?.get(..buf.len()));
    match from {
        Some(from) => {
            buf.copy_from_slice(from);
            Ok(())
        }
        None => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("{} bytes at offset {offset} of {}", buf.len(), bytes.len()),
        )),
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        read_slice(self, buf, offset)
    }
}

impl ReadAt for &[u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        read_slice(self, buf, offset)
    }
}

impl<T: ReadAt + ?Sized> ReadAt for Arc<T> {
    fn len(&self) -> u64 {
        (**self).len()
    }
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        (**self).read_exact_at(buf, offset)
    }
}
