//! The lock of a data folder: one server at a time. The file holds the server's process id, for `martite stop`.

use crate::{Failure, exit};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Held as long as the server runs; the operating system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

fn lock_path(folder: &Path) -> PathBuf {
    folder.join(".martite.lock")
}

/// Takes the lock, or says who has it.
pub fn take(folder: &Path) -> Result<FolderLock, Failure> {
    let path = lock_path(folder);
    let what = path.display().to_string();
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|e| Failure::of(&what, e))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = read_pid(&mut file).map_or("another server".to_owned(), |pid| format!("process {pid}"));
            return Err(Failure::new(exit::LOCKED, format!("{} is in use by {holder}", folder.display())));
        }
        Err(TryLockError::Error(e)) => return Err(Failure::of(&what, e)),
    }
    let write = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())?;
        file.flush()
    };
    write(&mut file).map_err(|e| Failure::of(&what, e))?;
    Ok(FolderLock { _file: file })
}

/// The process that holds the folder's lock; None if nobody does.
pub fn holder(folder: &Path) -> Result<Option<i32>, Failure> {
    let path = lock_path(folder);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Failure::of(&path.display().to_string(), e)),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => read_pid(&mut file)
            .map(Some)
            .ok_or_else(|| Failure::new(exit::FAILED, format!("{} does not hold a process id", path.display()))),
        Err(TryLockError::Error(e)) => Err(Failure::of(&path.display().to_string(), e)),
    }
}

fn read_pid(file: &mut File) -> Option<i32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
