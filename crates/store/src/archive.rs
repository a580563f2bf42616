//! The archive: where files go that no store needs any more (`<root>/archive/data/<ns>/<table>/<region>/<family>/`).
#![allow(clippy::todo)]

use crate::StoreError;
use martite_env::FileSystem;
use std::path::{Path, PathBuf};

/// The directory in the archive that answers to a family's directory. Error if `dir` does not lie below `root`.
pub fn archive_dir(_root: &Path, _dir: &Path) -> Result<PathBuf, StoreError> {
    todo!()
}

/// Moves a file of a family's directory to the archive; a file that is gone already is no error.
pub fn archive_file(_fs: &dyn FileSystem, _root: &Path, _file: &Path, _now_ms: u64) -> Result<(), StoreError> {
    todo!()
}
