//! The small files of the root directory: `hbase.version`, `hbase.id`, `.tableinfo` and `.regioninfo`.
//!
//! A table's descriptor lives in `.tabledesc/.tableinfo.0000000003.512`: a sequence number that grows with each change,
//! and the length of the content, by which a half-written file is told. The highest whole file counts. Older names
//! lack the length, or both numbers.

use crate::layout::{LAYOUT_VERSION, REGION_INFO_FILE, TABLE_DESCRIPTOR_DIR, TABLE_INFO_PREFIX};
use crate::{CatalogError, Layout, RegionInfo, TableDescriptor, TableName, layout, with_magic, without_magic};
use martite_env::FileSystem;
use martite_proto::{self as pb, Message};
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Checks `hbase.version`, or writes it when the root directory is new.
pub fn check_version(fs: &dyn FileSystem, layout: &Layout) -> Result<(), CatalogError> {
    let path = layout.version_file();
    match read(fs, &path)? {
        None => {
            let content = pb::HBaseVersionFileContent { version: LAYOUT_VERSION.to_string() };
            fs.create_dir_all(layout.root()).map_err(|e| CatalogError::io(layout.root(), e))?;
            fs.write_atomic(&path, &with_magic(&content)).map_err(|e| CatalogError::io(&path, e))
        }
        Some(bytes) => {
            let what = path.display().to_string();
            let content = pb::HBaseVersionFileContent::decode(without_magic(&bytes, &what)?)
                .map_err(|e| CatalogError::malformed(&what, e))?;
            match content.version.as_str() {
                LAYOUT_VERSION => Ok(()),
                other => Err(CatalogError::malformed(
                    &what,
                    format!("layout version {other} is not supported, only {LAYOUT_VERSION} is"),
                )),
            }
        }
    }
}

/// The cluster's id from `hbase.id`, where `new_id` is written when the root directory is new.
pub fn cluster_id(
    fs: &dyn FileSystem,
    layout: &Layout,
    new_id: impl FnOnce() -> String,
) -> Result<String, CatalogError> {
    let path = layout.id_file();
    if let Some(bytes) = read(fs, &path)? {
        let what = path.display().to_string();
        let id = pb::ClusterId::decode(without_magic(&bytes, &what)?).map_err(|e| CatalogError::malformed(&what, e))?;
        return Ok(id.cluster_id);
    }
    let id = pb::ClusterId { cluster_id: new_id() };
    fs.create_dir_all(layout.root()).map_err(|e| CatalogError::io(layout.root(), e))?;
    fs.write_atomic(&path, &with_magic(&id)).map_err(|e| CatalogError::io(&path, e))?;
    Ok(id.cluster_id)
}

/// Sequence number and length in the name of a descriptor file; 0 for what an older name lacks.
pub fn parse_table_info_name(name: &str) -> Option<(u32, u64)> {
    let rest = name.strip_prefix(TABLE_INFO_PREFIX)?;
    if rest.is_empty() {
        return Some((0, 0));
    }
    let rest = rest.strip_prefix('.')?;
    match rest.split_once('.') {
        None => Some((rest.parse().ok()?, 0)),
        Some((sequence, length)) => Some((sequence.parse().ok()?, length.parse().ok()?)),
    }
}

/// The descriptor files of a table, the highest sequence number first.
fn table_info_files(fs: &dyn FileSystem, table_dir: &Path) -> Result<Vec<(u32, u64, String)>, CatalogError> {
    let dir = table_dir.join(TABLE_DESCRIPTOR_DIR);
    let mut files: Vec<(u32, u64, String)> = list(fs, &dir)?
        .into_iter()
        .filter(|e| !e.is_dir)
        .filter_map(|e| parse_table_info_name(&e.name).map(|(sequence, length)| (sequence, length, e.name)))
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    Ok(files)
}

/// The table's descriptor; None if there is no whole descriptor file.
pub fn read_table_descriptor(fs: &dyn FileSystem, table_dir: &Path) -> Result<Option<TableDescriptor>, CatalogError> {
    Ok(read_newest(fs, table_dir)?.map(|(_, table)| table))
}

fn read_newest(fs: &dyn FileSystem, table_dir: &Path) -> Result<Option<(u32, TableDescriptor)>, CatalogError> {
    let mut broken = None;
    for (sequence, length, name) in table_info_files(fs, table_dir)? {
        let path = table_dir.join(TABLE_DESCRIPTOR_DIR).join(&name);
        let Some(bytes) = read(fs, &path)? else { continue };
        // A shorter file was being written at a crash; its predecessor is still there and counts.
        if length > 0 && (bytes.len() as u64) < length {
            continue;
        }
        let bytes = if length > 0 { &bytes[..length as usize] } else { &bytes[..] };
        match TableDescriptor::from_bytes(bytes) {
            Ok(table) => return Ok(Some((sequence, table))),
            Err(e) => broken = broken.or(Some(CatalogError::malformed(path.display().to_string(), e))),
        }
    }
    broken.map_or(Ok(None), Err)
}

/// Writes the table's descriptor as the newest file and removes older ones; nothing if it is there already.
pub fn write_table_descriptor(
    fs: &dyn FileSystem,
    table_dir: &Path,
    table: &TableDescriptor,
) -> Result<(), CatalogError> {
    let newest = read_newest(fs, table_dir).unwrap_or(None);
    if newest.as_ref().is_some_and(|(_, current)| current == table) {
        return Ok(());
    }
    let dir = table_dir.join(TABLE_DESCRIPTOR_DIR);
    let io = |e| CatalogError::io(&dir, e);
    fs.create_dir_all(&dir).map_err(io)?;
    let old = table_info_files(fs, table_dir)?;
    let sequence = old.first().map_or(0, |(sequence, ..)| *sequence) + 1;
    let bytes = table.to_bytes();
    let path = dir.join(format!("{TABLE_INFO_PREFIX}.{sequence:010}.{}", bytes.len()));
    let mut file = fs.create(&path).map_err(|e| CatalogError::io(&path, e))?;
    file.write_all(&bytes).and_then(|()| file.sync_data()).map_err(|e| CatalogError::io(&path, e))?;
    drop(file);
    fs.sync_dir(&dir).map_err(io)?;
    for (.., name) in old {
        let path = dir.join(name);
        fs.remove_file(&path).map_err(|e| CatalogError::io(&path, e))?;
    }
    Ok(())
}

/// Makes a region's directory and its `.regioninfo`; nothing is changed if the file is there.
pub fn create_region_dir(fs: &dyn FileSystem, region_dir: &Path, info: &RegionInfo) -> Result<(), CatalogError> {
    fs.create_dir_all(region_dir).map_err(|e| CatalogError::io(region_dir, e))?;
    let path = region_dir.join(REGION_INFO_FILE);
    if fs.exists(&path) {
        return Ok(());
    }
    fs.write_atomic(&path, &info.to_delimited_bytes()).map_err(|e| CatalogError::io(&path, e))
}

/// What `.regioninfo` says; None if there is no such file.
pub fn read_region_info(fs: &dyn FileSystem, region_dir: &Path) -> Result<Option<RegionInfo>, CatalogError> {
    let path = region_dir.join(REGION_INFO_FILE);
    match read(fs, &path)? {
        None => Ok(None),
        Some(bytes) => RegionInfo::from_delimited_bytes(&bytes)
            .map(Some)
            .map_err(|e| CatalogError::malformed(path.display().to_string(), e)),
    }
}

/// Every table that has a directory, by name.
pub fn list_tables(fs: &dyn FileSystem, layout: &Layout) -> Result<Vec<TableName>, CatalogError> {
    let mut tables = Vec::new();
    for namespace in list(fs, &layout.data_dir())?.into_iter().filter(|e| e.is_dir) {
        for table in list(fs, &layout.namespace_dir(&namespace.name))?.into_iter().filter(|e| e.is_dir) {
            // Directories that HBase's rules do not allow as names are not tables.
            tables.extend(TableName::new(&namespace.name, &table.name));
        }
    }
    Ok(tables)
}

/// The encoded names of the regions that have a directory in a table's.
pub fn list_region_dirs(fs: &dyn FileSystem, table_dir: &Path) -> Result<Vec<String>, CatalogError> {
    Ok(list(fs, table_dir)?
        .into_iter()
        .filter(|e| e.is_dir && layout::is_region_dir_name(&e.name))
        .map(|e| e.name)
        .collect())
}

fn read(fs: &dyn FileSystem, path: &Path) -> Result<Option<Vec<u8>>, CatalogError> {
    match fs.read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(CatalogError::io(path, e)),
    }
}

fn list(fs: &dyn FileSystem, dir: &Path) -> Result<Vec<martite_env::DirEntry>, CatalogError> {
    match fs.list(dir) {
        Ok(entries) => Ok(entries),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(CatalogError::io(dir, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FamilyDescriptor;
    use martite_env::MemFs;

    fn table(ttl: &str) -> TableDescriptor {
        TableDescriptor::new(TableName::parse("ns:t").unwrap()).with_family(FamilyDescriptor::new("f").with("TTL", ttl))
    }

    #[test]
    fn version_and_id_are_written_once() {
        let (fs, layout) = (MemFs::new(), Layout::new("/hbase"));
        check_version(&fs, &layout).unwrap();
        check_version(&fs, &layout).unwrap();
        assert_eq!(fs.read(&layout.version_file()).unwrap(), b"PBUF\x0a\x018");
        assert_eq!(cluster_id(&fs, &layout, || "one".into()).unwrap(), "one");
        assert_eq!(cluster_id(&fs, &layout, || "two".into()).unwrap(), "one");
        fs.write_atomic(&layout.version_file(), b"PBUF\x0a\x019").unwrap();
        assert_eq!(
            check_version(&fs, &layout).unwrap_err().to_string(),
            "malformed /hbase/hbase.version: layout version 9 is not supported, only 8 is"
        );
    }

    #[test]
    fn descriptors_replace_their_predecessors() {
        let fs = MemFs::new();
        let dir = Layout::new("/hbase").table_dir(table("1").name());
        assert_eq!(read_table_descriptor(&fs, &dir).unwrap(), None);
        for ttl in ["1", "2", "2"] {
            write_table_descriptor(&fs, &dir, &table(ttl)).unwrap();
            assert_eq!(read_table_descriptor(&fs, &dir).unwrap(), Some(table(ttl)));
        }
        let names: Vec<_> = fs.list(&dir.join(".tabledesc")).unwrap().into_iter().map(|e| e.name).collect();
        assert_eq!(names, [format!(".tableinfo.0000000002.{}", table("2").to_bytes().len())]);
        assert_eq!(list_tables(&fs, &Layout::new("/hbase")).unwrap(), [table("1").name().clone()]);
    }

    #[test]
    fn a_half_written_descriptor_does_not_count() {
        let fs = MemFs::new();
        let dir = Layout::new("/hbase").table_dir(table("1").name());
        write_table_descriptor(&fs, &dir, &table("1")).unwrap();
        fs.create(&dir.join(".tabledesc/.tableinfo.0000000002.99")).unwrap().write_all(b"PBUF").unwrap();
        assert_eq!(read_table_descriptor(&fs, &dir).unwrap(), Some(table("1")));
        write_table_descriptor(&fs, &dir, &table("3")).unwrap();
        assert_eq!(read_table_descriptor(&fs, &dir).unwrap(), Some(table("3")));
    }

    #[test]
    fn descriptor_file_names_of_all_ages() {
        assert_eq!(parse_table_info_name(".tableinfo.0000000003.512"), Some((3, 512)));
        assert_eq!(parse_table_info_name(".tableinfo.0000000003"), Some((3, 0)));
        assert_eq!(parse_table_info_name(".tableinfo"), Some((0, 0)));
        assert_eq!(parse_table_info_name(".tableinfo.x"), None);
    }

    #[test]
    fn region_directories() {
        let (fs, layout) = (MemFs::new(), Layout::new("/hbase"));
        let region = RegionInfo::new(table("1").name().clone(), "a", "b", 7);
        let dir = layout.region_dir(&region);
        create_region_dir(&fs, &dir, &region).unwrap();
        create_region_dir(&fs, &dir, &region).unwrap();
        assert_eq!(read_region_info(&fs, &dir).unwrap(), Some(region.clone()));
        assert_eq!(list_region_dirs(&fs, &layout.table_dir(region.table())).unwrap(), [region.encoded_name()]);
        assert_eq!(read_region_info(&fs, Path::new("/nowhere")).unwrap(), None);
    }
}
