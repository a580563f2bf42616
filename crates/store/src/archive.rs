//! The archive: where files go that no store needs any more; a cleaner deletes them once snapshots let go of them too.
//!
//! ```text
//! <root>/data/<ns>/<table>/<region>/<family>/<file>  ──▶  <root>/archive/data/<ns>/<table>/<region>/<family>/<file>
//! ```

use crate::StoreError;
use martite_env::FileSystem;
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// The directory in the archive that answers to a directory of a region or a family below `root`.
pub fn archive_dir(root: &Path, dir: &Path) -> Result<PathBuf, StoreError> {
    let below = dir
        .strip_prefix(root)
        .map_err(|_| StoreError::Invalid(format!("{} does not lie below {}", dir.display(), root.display())))?;
    Ok(root.join("archive").join(below))
}

/// Moves files of a family's directory to the archive, durably; one that is gone already is no error.
///
/// A file of the same name that is there already is set aside with `now_ms` after its name, as HBase does.
pub fn archive_files(
    fs: &dyn FileSystem,
    root: &Path,
    dir: &Path,
    names: &[&str],
    now_ms: u64,
) -> Result<(), StoreError> {
    if names.is_empty() {
        return Ok(());
    }
    let archive = archive_dir(root, dir)?;
    fs.create_dir_all(&archive).map_err(StoreError::io("create", &archive))?;
    for name in names {
        let (from, to) = (dir.join(name), archive.join(name));
        if !fs.exists(&from) {
            continue;
        }
        if fs.exists(&to) {
            let aside = archive.join(format!("{name}.{now_ms}"));
            fs.rename(&to, &aside).map_err(StoreError::io("set aside", &to))?;
        }
        match fs.rename(&from, &to) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(StoreError::io("archive", &from)(e)),
            _ => {}
        }
    }
    // The archive first: a crash in between leaves a file in both places, not in none.
    for dir in [archive.as_path(), dir] {
        fs.sync_dir(dir).map_err(StoreError::io("sync", dir))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::MemFs;
    use std::io::Write;

    fn write(fs: &MemFs, path: &str, bytes: &[u8]) {
        let mut file = fs.create(Path::new(path)).unwrap();
        file.write_all(bytes).unwrap();
        file.sync_data().unwrap();
        fs.sync_dir(Path::new(path).parent().unwrap()).unwrap();
    }

    #[test]
    fn files_move_to_the_same_place_below_the_archive_and_displace_older_ones() {
        let fs = MemFs::new();
        let (root, dir) = (Path::new("/h"), Path::new("/h/data/default/t/aa/f"));
        fs.create_dir_all(dir).unwrap();
        write(&fs, "/h/data/default/t/aa/f/01", b"old");
        archive_files(&fs, root, dir, &["01", "02"], 5).unwrap();
        write(&fs, "/h/data/default/t/aa/f/01", b"new");
        archive_files(&fs, root, dir, &["01"], 6).unwrap();
        let fs = fs.crash();
        assert!(fs.list(dir).unwrap().is_empty());
        assert_eq!(fs.read(Path::new("/h/archive/data/default/t/aa/f/01")).unwrap(), b"new");
        assert_eq!(fs.read(Path::new("/h/archive/data/default/t/aa/f/01.6")).unwrap(), b"old");
        assert!(archive_dir(root, Path::new("/elsewhere/f")).is_err());
    }
}
