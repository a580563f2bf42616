//! The file that remembers a region's highest sequence id: `recovered.edits/<number>.seqid`, empty (HBase 2.6).
//!
//! A region that opens takes a higher number than any that it ever had, though its log may be gone and its files may
//! hold lower ones. Written at open and at close. Older HBase wrote `<number>_seqid`.

use crate::RegionError;
use martite_catalog::layout::RECOVERED_EDITS_DIR;
use martite_env::FileSystem;
use std::io::ErrorKind;
use std::path::Path;

const SUFFIX: &str = ".seqid";
const OLD_SUFFIX: &str = "_seqid";

fn number(name: &str) -> Option<u64> {
    name.strip_suffix(SUFFIX).or_else(|| name.strip_suffix(OLD_SUFFIX))?.parse().ok()
}

/// The number that the region's directory remembers.
pub(crate) fn read(fs: &dyn FileSystem, region_dir: &Path) -> Result<Option<u64>, RegionError> {
    Ok(list(fs, &region_dir.join(RECOVERED_EDITS_DIR))?.into_iter().map(|(seq, _)| seq).max())
}

/// Remembers a number, durably, and forgets older ones.
pub(crate) fn write(fs: &dyn FileSystem, region_dir: &Path, seq: u64) -> Result<(), RegionError> {
    let dir = region_dir.join(RECOVERED_EDITS_DIR);
    let old = list(fs, &dir)?;
    if let Some((newer, _)) = old.iter().find(|(other, _)| *other > seq) {
        return Err(RegionError::Corrupt(format!(
            "{}: the new max sequence id {seq} is less than the old max sequence id {newer}",
            dir.display()
        )));
    }
    let io = |e: std::io::Error| RegionError::io(dir.display(), &e);
    let name = format!("{seq}{SUFFIX}");
    if !old.iter().any(|(_, other)| *other == name) {
        fs.create_dir_all(&dir).map_err(io)?;
        match fs.create(&dir.join(&name)) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(io(e)),
            Ok(mut file) => file.sync_data().map_err(io)?,
            _ => {}
        }
        fs.sync_dir(&dir).map_err(io)?;
    }
    for (_, other) in old.into_iter().filter(|(_, other)| *other != name) {
        fs.remove_file(&dir.join(other)).map_err(io)?;
    }
    Ok(())
}

fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<(u64, String)>, RegionError> {
    match fs.list(dir) {
        Ok(entries) => {
            Ok(entries.into_iter().filter(|e| !e.is_dir).filter_map(|e| Some((number(&e.name)?, e.name))).collect())
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(RegionError::io(dir.display(), &e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::MemFs;

    #[test]
    fn the_highest_number_counts_and_numbers_never_fall() {
        let (fs, dir) = (MemFs::new(), Path::new("/r"));
        assert_eq!(read(&fs, dir).unwrap(), None);
        write(&fs, dir, 4).unwrap();
        fs.create(&dir.join("recovered.edits/3_seqid")).unwrap();
        assert_eq!(read(&fs, dir).unwrap(), Some(4));
        write(&fs, dir, 4).unwrap();
        write(&fs, dir, 17).unwrap();
        let names: Vec<_> = fs.list(&dir.join("recovered.edits")).unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(names, ["17.seqid"]);
        assert_eq!(
            write(&fs, dir, 5).unwrap_err().to_string(),
            "/r/recovered.edits: the new max sequence id 5 is less than the old max sequence id 17"
        );
        assert_eq!(read(&fs.crash(), dir).unwrap(), Some(17));
    }
}
