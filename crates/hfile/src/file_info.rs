//! [`FileInfo`]: the key-value map of a file.

use std::collections::BTreeMap;

/// Facts about a file by name; unknown ones are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInfo {
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl FileInfo {
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.entries.get(key).map(Vec::as_slice)
    }
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|(k, v)| (k.as_slice(), v.as_slice()))
    }
}
