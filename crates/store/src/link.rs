//! Links: empty files that lead to a file of another table, and what keeps that file from being deleted.
//!
//! ```text
//! data/ns/clone/77aa/f/t=5d41-9c2b                                     the link, in the clone's region 77aa
//! archive/data/default/t/5d41/f/.links-9c2b/77aa.ns=clone              the back reference, beside where 9c2b will be archived
//! ```
//! A back reference is made before its link and goes after it: while there is one, the cleaner leaves the file.

use crate::{
    StoreError,
    archive::archive_dir,
    file_list::{Listed, add_to_list},
    name::{HFileLink, StoreFileName},
    reference::Reference,
};
use martite_env::FileSystem;
use std::{
    fmt,
    io::ErrorKind,
    path::{Path, PathBuf},
};

const BACK_REFERENCES: &str = ".links-";

impl fmt::Display for HFileLink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HFileLink { namespace, table, region, hfile } = self;
        match *namespace {
            "default" => write!(f, "{table}={region}-{hfile}"),
            _ => write!(f, "{namespace}={table}={region}-{hfile}"),
        }
    }
}

/// The file of a family that a name in a snapshot stands for, to be linked to from elsewhere.
pub struct Linked<'a> {
    pub link: HFileLink<'a>,
    /// Half of it only; with the region that was split or merged.
    pub part: Option<(&'a Reference, String)>,
}

impl<'a> Linked<'a> {
    /// What `name`, a file of `region` of a table, leads to. `reference`: what it says, if it is one.
    pub fn new(
        (namespace, table, region): (&'a str, &'a str, &'a str),
        name: &'a str,
        reference: Option<&'a Reference>,
    ) -> Result<Linked<'a>, StoreError> {
        let invalid = |what: &str| StoreError::Invalid(format!("{namespace}:{table}, region {region}, {name}: {what}"));
        match StoreFileName::parse(name).ok_or_else(|| invalid("not the name of a store file"))? {
            StoreFileName::HFile => {
                Ok(Linked { link: HFileLink { namespace, table, region, hfile: name }, part: None })
            }
            StoreFileName::Link(link) => Ok(Linked { link, part: None }),
            StoreFileName::Reference { file, region: parent } => {
                let reference = reference.ok_or_else(|| invalid("what the reference says is missing"))?;
                let whole = Linked::new((namespace, table, parent), file, None)?;
                Ok(Linked { part: Some((reference, parent.to_owned())), ..whole })
            }
        }
    }

    /// The name under which it is found elsewhere.
    pub fn name(&self) -> String {
        match &self.part {
            None => self.link.to_string(),
            Some((_, parent)) => format!("{}.{parent}", self.link),
        }
    }

    /// Makes the file in `dir` (`<root>/data/<ns>/<table>/<region>/<family>`), after its back reference. Doing it twice is
    /// doing it once. The directory is to be synced.
    pub fn write(&self, fs: &dyn FileSystem, root: &Path, dir: &Path) -> Result<Listed, StoreError> {
        let (family, owner) = owner_of(root, dir)?;
        let back = back_references(root, &family, &self.link);
        fs.create_dir_all(&back).map_err(StoreError::io("create", &back))?;
        write_once(fs, &back.join(owner), &[])?;
        fs.sync_dir(&back).map_err(StoreError::io("sync", &back))?;
        let name = self.name();
        let bytes = self.part.as_ref().map(|(reference, _)| reference.encode()).unwrap_or_default();
        write_once(fs, &dir.join(&name), &bytes)?;
        Ok(Listed { name, size_bytes: bytes.len() as u64 })
    }

    /// Whether the file is there, wherever it is now.
    pub fn is_there(&self, fs: &dyn FileSystem, root: &Path, family: &str) -> bool {
        self.link.locations(root, family).iter().any(|path| fs.exists(path))
    }
}

/// Writes the files of a family's directory, which is made, and its list if the store knows its files by one.
pub fn write_links(
    fs: &dyn FileSystem,
    root: &Path,
    dir: &Path,
    files: &[Linked<'_>],
    with_list: bool,
) -> Result<(), StoreError> {
    fs.create_dir_all(dir).map_err(StoreError::io("create", dir))?;
    let listed: Vec<Listed> = files.iter().map(|file| file.write(fs, root, dir)).collect::<Result<_, _>>()?;
    fs.sync_dir(dir).map_err(StoreError::io("sync", dir))?;
    // No time is needed: whatever the new store writes is later.
    if with_list { add_to_list(fs, dir, listed, 0) } else { Ok(()) }
}

fn write_once(fs: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    if !bytes.is_empty() {
        return fs.write_atomic(path, bytes).map_err(StoreError::io("write", path));
    }
    match fs.create(path) {
        Ok(mut file) => file.sync_data().map_err(StoreError::io("write", path)),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(StoreError::io("create", path)(e)),
    }
}

/// The directory of the back references to a file.
fn back_references(root: &Path, family: &str, link: &HFileLink<'_>) -> PathBuf {
    let HFileLink { namespace, table, region, hfile } = link;
    let mut dir = root.join("archive").join("data");
    dir.extend([namespace, table, region, family]);
    dir.join(format!("{BACK_REFERENCES}{hfile}"))
}

/// The family, and the name that a region has in back references.
fn owner_of(root: &Path, dir: &Path) -> Result<(String, String), StoreError> {
    let invalid = || StoreError::Invalid(format!("{} is not the directory of a family", dir.display()));
    let below = dir.strip_prefix(root).map_err(|_| invalid())?;
    let parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    match parts[..] {
        ["data", "default", table, region, family] => Ok((family.to_owned(), format!("{region}.{table}"))),
        ["data", namespace, table, region, family] => Ok((family.to_owned(), format!("{region}.{namespace}={table}"))),
        _ => Err(invalid()),
    }
}

/// The file that the back references in a directory of the archive are about.
pub fn linked_file(dir_name: &str) -> Option<&str> {
    dir_name.strip_prefix(BACK_REFERENCES)
}

/// Whether a back reference in the archive still counts: the region has a link to the file, or a reference to one, in its own
/// place or in the archive. `archived`: the directory of the file.
pub fn is_in_use(
    fs: &dyn FileSystem,
    root: &Path,
    archived: &Path,
    hfile: &str,
    back_reference: &str,
) -> Result<bool, StoreError> {
    let invalid = || StoreError::Invalid(format!("{} is not a directory of the archive", archived.display()));
    let below = archived.strip_prefix(root.join("archive")).map_err(|_| invalid())?;
    let parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    let ["data", namespace, table, region, family] = parts[..] else { return Err(invalid()) };
    // What nobody of HBase wrote is left alone.
    let Some((owner, owner_table)) = back_reference.split_once('.') else { return Ok(true) };
    let (owner_namespace, owner_table) = owner_table.split_once('=').unwrap_or(("default", owner_table));
    let link = HFileLink { namespace, table, region, hfile }.to_string();
    let mut dir = root.join("data");
    dir.extend([owner_namespace, owner_table, owner, family]);
    // In the order in which it goes from one to the other.
    for dir in [dir.clone(), archive_dir(root, &dir)?] {
        let entries = match fs.list(&dir) {
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            other => other.map_err(StoreError::io("list", &dir))?,
        };
        let leads_there =
            |name: &str| name.strip_prefix(&link).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        if entries.iter().any(|entry| leads_there(&entry.name)) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::MemFs;

    fn names(fs: &MemFs, dir: &str) -> Vec<String> {
        fs.list(Path::new(dir)).map(|entries| entries.into_iter().map(|e| e.name).collect()).unwrap_or_default()
    }

    #[test]
    fn links_and_references_to_links_have_back_references_that_count_while_they_are_there() {
        let (fs, root) = (MemFs::new(), Path::new("/h"));
        let half = Reference::at_row(b"m", true);
        let source = ("default", "t", "5d41");
        let files = [
            Linked::new(source, "9c2b", None).unwrap(),
            Linked::new(source, "n=u=aa-01", None).unwrap(),
            Linked::new(source, "02.5d40", Some(&half)).unwrap(),
        ];
        let dir = Path::new("/h/data/ns/clone/77aa/f");
        for _ in 0..2 {
            write_links(&fs, root, dir, &files, false).unwrap();
        }
        let fs = fs.crash();
        assert_eq!(names(&fs, "/h/data/ns/clone/77aa/f"), ["n=u=aa-01", "t=5d40-02.5d40", "t=5d41-9c2b"]);
        let back = "77aa.ns=clone";
        assert_eq!(names(&fs, "/h/archive/data/default/t/5d41/f/.links-9c2b"), [back]);
        assert_eq!(names(&fs, "/h/archive/data/n/u/aa/f/.links-01"), [back]);
        assert_eq!(names(&fs, "/h/archive/data/default/t/5d40/f/.links-02"), [back]);
        let in_use = |fs: &MemFs, dir: &str, hfile: &str| is_in_use(fs, root, Path::new(dir), hfile, back).unwrap();
        assert!(in_use(&fs, "/h/archive/data/default/t/5d41/f", "9c2b"));
        assert!(in_use(&fs, "/h/archive/data/default/t/5d40/f", "02"), "by a reference");
        crate::archive::archive_files(&fs, root, dir, &["t=5d41-9c2b"], 1).unwrap();
        assert!(in_use(&fs, "/h/archive/data/default/t/5d41/f", "9c2b"), "the link is in the archive");
        fs.remove_file(Path::new("/h/archive/data/ns/clone/77aa/f/t=5d41-9c2b")).unwrap();
        assert!(!in_use(&fs, "/h/archive/data/default/t/5d41/f", "9c2b"));
        assert!(in_use(&fs, "/h/archive/data/n/u/aa/f", "01"));
        let none = Linked::new(source, "02.5d40", None).err().unwrap().to_string();
        assert!(none.contains("02.5d40: what the reference says is missing"), "{none}");
    }
}
