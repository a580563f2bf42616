//! Snapshots: what a table had at one time, as the names of its files (HBase 2.6, layout version 2).
//!
//! ```text
//! .hbase-snapshot/<name>/.snapshotinfo    SnapshotDescription      both without PBUF before them
//!                       /data.manifest    SnapshotDataManifest
//! .hbase-snapshot/.tmp/<name>/…           the same while it is being made; it is moved when it is whole
//! ```

use crate::{CatalogError, Layout};
use martite_env::FileSystem;
use martite_proto::{self as pb, Message};
use std::io::ErrorKind;
use std::path::Path;

pub const INFO_FILE: &str = ".snapshotinfo";
pub const MANIFEST_FILE: &str = "data.manifest";
/// The version of the layout, and of each region's part of the manifest.
pub const VERSION: i32 = 2;

/// The names of all that are whole.
pub fn list_names(fs: &dyn FileSystem, layout: &Layout) -> Result<Vec<String>, CatalogError> {
    let dir = layout.snapshots_dir();
    match fs.list(&dir) {
        Ok(entries) => {
            Ok(entries.into_iter().filter(|e| e.is_dir && !e.name.starts_with('.')).map(|e| e.name).collect())
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(CatalogError::io(&dir, e)),
    }
}

/// What was asked for, and when; None without the file.
pub fn read_description(fs: &dyn FileSystem, dir: &Path) -> Result<Option<pb::SnapshotDescription>, CatalogError> {
    read(fs, &dir.join(INFO_FILE))
}

/// The descriptor of the table, and the files of each region; None without the file.
pub fn read_manifest(fs: &dyn FileSystem, dir: &Path) -> Result<Option<pb::SnapshotDataManifest>, CatalogError> {
    read(fs, &dir.join(MANIFEST_FILE))
}

pub fn write_description(
    fs: &dyn FileSystem,
    dir: &Path,
    description: &pb::SnapshotDescription,
) -> Result<(), CatalogError> {
    fs.create_dir_all(dir).map_err(|e| CatalogError::io(dir, e))?;
    write(fs, &dir.join(INFO_FILE), description)
}

pub fn write_manifest(
    fs: &dyn FileSystem,
    dir: &Path,
    manifest: &pb::SnapshotDataManifest,
) -> Result<(), CatalogError> {
    write(fs, &dir.join(MANIFEST_FILE), manifest)
}

fn read<M: Message + Default>(fs: &dyn FileSystem, path: &Path) -> Result<Option<M>, CatalogError> {
    match fs.read(path) {
        Ok(bytes) => {
            let decoded = M::decode(&bytes[..]);
            decoded.map(Some).map_err(|e| CatalogError::malformed(path.display().to_string(), e))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(CatalogError::io(path, e)),
    }
}

fn write(fs: &dyn FileSystem, path: &Path, message: &impl Message) -> Result<(), CatalogError> {
    fs.write_atomic(path, &message.encode_to_vec()).map_err(|e| CatalogError::io(path, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::MemFs;

    #[test]
    fn whole_snapshots_are_listed_and_read() {
        let (fs, layout) = (MemFs::new(), Layout::new("/hbase"));
        assert!(list_names(&fs, &layout).unwrap().is_empty());
        let description = pb::SnapshotDescription { name: "s".into(), version: Some(VERSION), ..Default::default() };
        let dir = layout.working_snapshot_dir("s");
        write_description(&fs, &dir, &description).unwrap();
        assert!(list_names(&fs, &layout).unwrap().is_empty(), "it is being made");
        fs.rename(&dir, &layout.snapshot_dir("s")).unwrap();
        assert_eq!(list_names(&fs, &layout).unwrap(), ["s"]);
        assert_eq!(read_description(&fs, &layout.snapshot_dir("s")).unwrap(), Some(description));
        assert_eq!(read_manifest(&fs, &layout.snapshot_dir("s")).unwrap(), None);
        assert_eq!(fs.read(Path::new("/hbase/.hbase-snapshot/s/.snapshotinfo")).unwrap(), b"\x0a\x01s\x28\x02");
    }
}
