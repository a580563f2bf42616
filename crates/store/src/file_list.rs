//! The list of a store's files, kept in a file of its own (HBase: FileBasedStoreFileTracker, StoreFileListFile).
//!
//! ```text
//! <family>/.filelist/f1.<ms>   and f2.<ms>, by turns: of the highest <ms> that can be read, the higher timestamp counts
//!
//! i32 length | StoreFileList { 1 timestamp, 2 { 1 name, 2 size } …, 3 version = 1 } | i32 CRC-32 of the message
//! ```
//!
//! One file `9c2b` of 7 bytes, at timestamp 5: `0000000e` length 14, `08 05` timestamp, `12 08` entry of 8 bytes
//! (`0a 04 39633262` name, `10 07` size), `18 01` version, `c535f271` checksum.
//!
//! A file that is in the family's directory but not in the list does not belong to the store. Each run of a server
//! writes under a new `<ms>`, so that one that should be dead cannot change what the next one reads.

use crate::StoreError;
use martite_env::FileSystem;
use martite_proto::{Message, StoreFileEntry, StoreFileList};
use std::io;
use std::path::{Path, PathBuf};

/// The directory of lists, in that of the family.
const DIR: &str = ".filelist";
/// Versions above this are refused: what they add could matter.
const VERSION: u64 = 1;
const MAX_BYTES: usize = 16 << 20;

/// How a store knows its files (`hbase.store.file-tracker.impl`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileTracker {
    /// DEFAULT: what is in the directory.
    #[default]
    Directory,
    /// FILE: what is in the list.
    List,
    /// MIGRATION from DEFAULT to FILE: what is in the directory; the list is written.
    ToList,
    /// MIGRATION from FILE to DEFAULT: what is in the list; what is not goes out of the directory.
    ToDirectory,
}

impl FileTracker {
    pub fn reads_list(self) -> bool {
        matches!(self, FileTracker::List | FileTracker::ToDirectory)
    }
    pub fn writes_list(self) -> bool {
        self != FileTracker::Directory
    }
}

/// A store file, as lists name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub size_bytes: u64,
}

/// The list of one store.
pub struct FileList {
    dir: PathBuf,
    /// The `<ms>` of what this run writes.
    run_ms: u64,
    /// 1 or 2: the file that is written next.
    next: u8,
    /// Of the newest list.
    timestamp: u64,
}

/// A list as it was read.
struct Loaded {
    run_ms: u64,
    number: u8,
    list: StoreFileList,
}

impl FileList {
    /// Reads the list of the family in `family_dir`; an absent one is empty.
    pub fn open(fs: &dyn FileSystem, family_dir: &Path, now_ms: u64) -> Result<(FileList, Vec<Listed>), StoreError> {
        let dir = family_dir.join(DIR);
        let Some(Loaded { run_ms, number, list }) = load(fs, &dir)? else {
            return Ok((FileList { dir, run_ms: now_ms, next: 1, timestamp: 0 }, Vec::new()));
        };
        let files = list.store_file.into_iter().map(|e| Listed { name: e.name, size_bytes: e.size }).collect();
        let (run_ms, timestamp) = (now_ms.max(run_ms + 1), list.timestamp);
        Ok((FileList { dir, run_ms, next: 3 - number, timestamp }, files))
    }

    /// Makes `files` the list, durably. After an error either list may be the one that the next start reads.
    pub fn write(&mut self, fs: &dyn FileSystem, files: &[Listed], now_ms: u64) -> Result<(), StoreError> {
        let timestamp = now_ms.max(self.timestamp + 1);
        let entry = |f: &Listed| StoreFileEntry { name: f.name.clone(), size: f.size_bytes };
        let store_file = files.iter().map(entry).collect();
        let bytes = encode(&StoreFileList { timestamp, store_file, version: Some(VERSION) });
        fs.create_dir_all(&self.dir).map_err(StoreError::io("create", &self.dir))?;
        let name = format!("f{}.{}", self.next, self.run_ms);
        let path = self.dir.join(&name);
        fs.write_atomic(&path, &bytes).map_err(StoreError::io("write", &path))?;
        (self.timestamp, self.next) = (timestamp, 3 - self.next);
        // Older lists only cost time when the store opens.
        if let Err(error) = self.remove_older(fs, &name) {
            tracing::debug!(%error, dir = %self.dir.display(), "older lists were not removed");
        }
        Ok(())
    }

    /// Not those of a later run: that one has taken over.
    fn remove_older(&self, fs: &dyn FileSystem, newest: &str) -> io::Result<()> {
        for entry in fs.list(&self.dir)? {
            if entry.name != newest && parse_name(&entry.name).is_some_and(|(run_ms, _)| run_ms <= self.run_ms) {
                fs.remove_file(&self.dir.join(entry.name))?;
            }
        }
        Ok(())
    }
}

/// Adds files to the list of a store that is not open: a new region's, while it is being made.
pub fn add_to_list(fs: &dyn FileSystem, family_dir: &Path, added: Vec<Listed>, now_ms: u64) -> Result<(), StoreError> {
    let (mut list, mut files) = FileList::open(fs, family_dir, now_ms)?;
    files.retain(|f| added.iter().all(|a| a.name != f.name));
    files.extend(added);
    list.write(fs, &files, now_ms)
}

/// `f1` or `f2`, with `.<ms>` or, before HBase 2.6, without.
fn parse_name(name: &str) -> Option<(u64, u8)> {
    let (first, run_ms) = match name.split_once('.') {
        Some((first, digits)) if digits.bytes().all(|b| b.is_ascii_digit()) => (first, digits.parse().ok()?),
        Some(_) => return None,
        None => (name, 0),
    };
    match first {
        "f1" => Some((run_ms, 1)),
        "f2" => Some((run_ms, 2)),
        _ => None,
    }
}

fn load(fs: &dyn FileSystem, dir: &Path) -> Result<Option<Loaded>, StoreError> {
    let entries = match fs.list(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(StoreError::io("list", dir))?,
    };
    let mut lists: Vec<(u64, u8, String)> = entries
        .into_iter()
        .filter(|entry| !entry.is_dir)
        .filter_map(|entry| parse_name(&entry.name).map(|(run_ms, number)| (run_ms, number, entry.name)))
        .collect();
    lists.sort_by(|a, b| b.cmp(a));
    for run in lists.chunk_by(|a, b| a.0 == b.0) {
        if run.len() > 2 {
            return Err(StoreError::corrupt(dir, format!("more than two lists of {}", run[0].0)));
        }
        let mut newest: Option<Loaded> = None;
        for (run_ms, number, name) in run {
            let path = dir.join(name);
            let bytes = fs.read(&path).map_err(StoreError::io("read", &path))?;
            let Some(list) = decode(&path, &bytes)? else { continue };
            if newest.as_ref().is_none_or(|n| n.list.timestamp <= list.timestamp) {
                newest = Some(Loaded { run_ms: *run_ms, number: *number, list });
            }
        }
        if newest.is_some() {
            return Ok(newest);
        }
    }
    Ok(None)
}

fn encode(list: &StoreFileList) -> Vec<u8> {
    let message = list.encode_to_vec();
    let mut bytes = (message.len() as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(&message);
    bytes.extend_from_slice(&crc32(&message).to_be_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, bytes) as u32
}

/// None: HBase was writing it when it crashed; the other one counts.
fn decode(path: &Path, bytes: &[u8]) -> Result<Option<StoreFileList>, StoreError> {
    let corrupt = |what: String| StoreError::corrupt(path, what);
    let Some((len, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let len = i32::from_be_bytes(*len);
    let len = usize::try_from(len).ok().filter(|len| (1..=MAX_BYTES).contains(len));
    let len = len.ok_or_else(|| corrupt("length of the list".into()))?;
    let Some((message, sum)) = rest.split_at_checked(len) else { return Ok(None) };
    let Some(sum) = sum.first_chunk::<4>() else { return Ok(None) };
    if u32::from_be_bytes(*sum) != crc32(message) {
        return Err(corrupt("checksum of the list".into()));
    }
    let list = StoreFileList::decode(message).map_err(|e| corrupt(e.to_string()))?;
    match list.version() {
        0..=VERSION => Ok(Some(list)),
        newer => Err(corrupt(format!("list of version {newer}, written by a newer HBase"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::MemFs;

    fn listed(names: &[&str]) -> Vec<Listed> {
        names.iter().map(|n| Listed { name: n.to_string(), size_bytes: 7 }).collect()
    }

    fn names(fs: &MemFs) -> Vec<String> {
        fs.list(Path::new("/f/.filelist")).unwrap().into_iter().map(|e| e.name).collect()
    }

    fn open(fs: &MemFs, now_ms: u64) -> Result<(FileList, Vec<Listed>), StoreError> {
        FileList::open(fs, Path::new("/f"), now_ms)
    }

    fn put(fs: &MemFs, name: &str, bytes: &[u8]) {
        fs.create_dir_all(Path::new("/f/.filelist")).unwrap();
        fs.write_atomic(&Path::new("/f/.filelist").join(name), bytes).unwrap();
    }

    fn list(timestamp: u64, names: &[&str]) -> Vec<u8> {
        let store_file = names.iter().map(|n| StoreFileEntry { name: n.to_string(), size: 7 }).collect();
        encode(&StoreFileList { timestamp, store_file, version: Some(1) })
    }

    #[test]
    fn the_worked_example() {
        let bytes: String = list(5, &["9c2b"]).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(bytes, "0000000e08051208".to_owned() + "0a0439633262" + "10071801" + "c535f271");
    }

    #[test]
    fn a_list_survives_its_store_and_takes_turns() {
        let fs = MemFs::new();
        let (mut first, files) = open(&fs, 100).unwrap();
        assert_eq!(files, []);
        first.write(&fs, &listed(&["a"]), 100).unwrap();
        assert_eq!(names(&fs), ["f1.100"]);
        first.write(&fs, &listed(&["a", "b"]), 100).unwrap();
        assert_eq!((names(&fs), first.timestamp), (vec!["f2.100".to_owned()], 101));
        let (mut second, files) = open(&fs, 50).unwrap();
        assert_eq!(files, listed(&["a", "b"]));
        second.write(&fs, &listed(&["c"]), 50).unwrap();
        assert_eq!((names(&fs), second.timestamp), (vec!["f1.101".to_owned()], 102));
        // The first one, which should be dead, changes nothing for the third.
        first.write(&fs, &listed(&["zombie"]), 200).unwrap();
        assert_eq!(open(&fs, 300).unwrap().1, listed(&["c"]));
    }

    #[test]
    fn the_newest_list_that_is_whole_counts() {
        let fs = MemFs::new();
        put(&fs, "f1", &list(900, &["before 2.6"]));
        assert_eq!(open(&fs, 1).unwrap().1, listed(&["before 2.6"]));
        put(&fs, "f1.10", &list(5, &["older"]));
        put(&fs, "f2.10", &list(6, &["newer"]));
        put(&fs, "f3.99", b"a stranger");
        put(&fs, "f1.x", b"a stranger");
        assert_eq!(open(&fs, 1).unwrap().1, listed(&["newer"]));
        let torn = list(7, &["torn"]);
        for len in [0, 3, 4, 10, torn.len() - 1] {
            put(&fs, "f1.10", &torn[..len]);
            assert_eq!(open(&fs, 1).unwrap().1, listed(&["newer"]), "{len}");
        }
        put(&fs, "f1.11", &torn[..9]);
        assert_eq!(open(&fs, 1).unwrap().1, listed(&["newer"]), "a run that wrote nothing whole does not count");
    }

    #[test]
    fn a_damaged_list_is_an_error() {
        let fs = MemFs::new();
        let good = list(7, &["9c2b"]);
        for at in 4..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            put(&fs, "f1.10", &bad);
            let error = open(&fs, 1).err().unwrap().to_string();
            assert_eq!(error, "corrupt /f/.filelist/f1.10: checksum of the list", "{at}");
        }
        put(&fs, "f1.10", b"\xff\xff\xff\xff");
        assert!(open(&fs, 1).is_err());
        put(&fs, "f1.10", &encode(&StoreFileList { timestamp: 1, store_file: Vec::new(), version: Some(2) }));
        assert!(open(&fs, 1).err().unwrap().to_string().contains("version 2"));
    }

    #[test]
    fn files_are_added_once() {
        let fs = MemFs::new();
        for _ in 0..2 {
            add_to_list(&fs, Path::new("/f"), listed(&["a", "b"]), 5).unwrap();
            add_to_list(&fs, Path::new("/f"), listed(&["b", "c"]), 5).unwrap();
        }
        assert_eq!(open(&fs, 1).unwrap().1, listed(&["a", "b", "c"]));
    }
}
