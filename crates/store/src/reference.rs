//! References: after a split each daughter reads one half of its parent's files.
#![allow(clippy::todo)]

use crate::{Store, StoreError};
use bytes::Bytes;
use martite_env::FileSystem;
use std::path::{Path, PathBuf};

/// Which part of a file a store sees: `top` has the keys at and above the split key, bottom those below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Half {
    /// Flat key, first on its row.
    pub split_key: Bytes,
    pub top: bool,
}

/// The content of a reference file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub half: Half,
}

impl Reference {
    /// The half below (`top` = false) or from (`top` = true) `split_row`.
    pub fn at_row(_split_row: &[u8], _top: bool) -> Reference {
        todo!()
    }
    /// The bytes of the reference file: `PBUF` + protobuf.
    pub fn encode(&self) -> Vec<u8> {
        todo!()
    }
    pub fn decode(_path: &Path, _bytes: &[u8]) -> Result<Reference, StoreError> {
        todo!()
    }
}

/// A region directory that receives references: `<root>/data/<ns>/<table>/<daughter>`.
pub struct Daughter {
    pub region_dir: PathBuf,
    pub top: bool,
}

/// Writes the references of one store of a closed parent into its daughters' family directories, where needed: a file
/// that lies wholly on one side gets one reference. Files of references refer to what those refer to.
/// Returns the paths written.
pub fn split_files(
    _fs: &dyn FileSystem,
    _store: &Store,
    _parent_encoded: &str,
    _split_row: &[u8],
    _bottom_region_dir: &Path,
    _top_region_dir: &Path,
) -> Result<Vec<PathBuf>, StoreError> {
    todo!()
}

/// Writes references to every file of `store` into another region's directory: how a merged region gets its parents'
/// files (HBase: a top reference from the parent's first row).
pub fn merge_files(
    _fs: &dyn FileSystem,
    _store: &Store,
    _parent_encoded: &str,
    _parent_start_row: &[u8],
    _merged_region_dir: &Path,
) -> Result<Vec<PathBuf>, StoreError> {
    todo!()
}
