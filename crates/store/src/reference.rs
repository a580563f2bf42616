//! References: after a split each daughter reads one half of its parent's files, until compaction has rewritten it.
//!
//! ```text
//! parent  data/ns/t/5d41/f/9c2b          a ……… m | n ……… z
//! bottom  data/ns/t/aa01/f/9c2b.5d41     a ……… m             PBUF + Reference { splitkey: first on row "n", BOTTOM }
//! top     data/ns/t/bb02/f/9c2b.5d41               n ……… z   PBUF + Reference { splitkey: first on row "n", TOP }
//! ```
//!
//! The bytes of the bottom one, for split row `n`: `50425546` `PBUF`, `0a 0d` field 1 of 13 bytes,
//! `0001 6e 00 7fffffffffffffff ff` flat key, `10 01` field 2, BOTTOM. Before 0.96 a reference was a boolean byte (top)
//! and the key with a vint length; those are read too.

use crate::{
    Store, StoreError, StoreFile,
    archive::archive_dir,
    file_list::{Listed, add_to_list},
    name::StoreFileName,
};
use bytes::Bytes;
use martite_cell::{Order, key};
use martite_env::FileSystem;
use martite_proto::{Message, PBUF_MAGIC};
use std::{
    cmp::Ordering,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

/// References to references that are followed at most; HBase never makes any.
const MAX_DEPTH: usize = 4;

/// Which part of a file a store sees: `top` has the keys at and above the split key, bottom those below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Half {
    /// Flat key, first on its row.
    pub split_key: Bytes,
    pub top: bool,
}

impl Half {
    /// The rows from (`top`) or below `split_row`.
    pub fn at_row(split_row: &[u8], top: bool) -> Half {
        Half { split_key: key::first_on_row(split_row).into(), top }
    }
    /// Whether the half shows a cell of this flat key.
    #[inline]
    pub fn shows(&self, order: Order, key: &[u8]) -> bool {
        (order.keys(key, &self.split_key) == Ordering::Less) != self.top
    }
    pub fn split_row(&self) -> &[u8] {
        key::row(&self.split_key)
    }

    /// The form in reference files and in snapshots.
    pub fn to_proto(&self) -> martite_proto::Reference {
        use martite_proto::reference::Range;
        let range = if self.top { Range::Top } else { Range::Bottom };
        martite_proto::Reference { splitkey: self.split_key.clone(), range: range as i32 }
    }

    /// The same back, or why it is none.
    pub fn from_proto(message: &martite_proto::Reference) -> Result<Half, String> {
        let top = match message.range {
            0 => true,
            1 => false,
            other => return Err(format!("range {other}")),
        };
        Half::checked(message.splitkey.clone(), top)
    }

    fn checked(split_key: Bytes, top: bool) -> Result<Half, String> {
        key::check(&split_key).map_err(|e| e.to_string())?;
        Ok(Half { split_key, top })
    }

    /// What two halves of one file have in common: a half, nothing, or a part between (which no reference can name).
    fn and(&self, other: &Half, order: Order) -> Common {
        match (self.top, other.top, order.keys(&self.split_key, &other.split_key)) {
            (true, true, Ordering::Less) | (false, false, Ordering::Greater) => Common::Half(other.clone()),
            (true, true, _) | (false, false, _) => Common::Half(self.clone()),
            (true, false, Ordering::Less) | (false, true, Ordering::Greater) => Common::Between,
            (true, false, _) | (false, true, _) => Common::Nothing,
        }
    }
}

enum Common {
    Half(Half),
    Nothing,
    Between,
}

/// The content of a reference file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub half: Half,
}

impl Reference {
    /// The half below (`top` = false) or from (`top` = true) `split_row`.
    pub fn at_row(split_row: &[u8], top: bool) -> Reference {
        Reference { half: Half::at_row(split_row, top) }
    }

    /// The bytes of the reference file.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = PBUF_MAGIC.to_vec();
        bytes.extend(self.half.to_proto().encode_to_vec());
        bytes
    }

    pub fn decode(path: &Path, bytes: &[u8]) -> Result<Reference, StoreError> {
        let corrupt = |what: String| StoreError::corrupt(path, format!("reference: {what}"));
        let half = match bytes.strip_prefix(PBUF_MAGIC) {
            Some(body) => {
                let message = martite_proto::Reference::decode(body).map_err(|e| corrupt(e.to_string()))?;
                // A missing field reads as its default, TOP: a torn file must not become the other half.
                if message.encoded_len() != body.len() {
                    return Err(corrupt("a field is missing or unknown".into()));
                }
                Half::from_proto(&message)
            }
            None => {
                let (split_key, top) =
                    legacy(bytes).ok_or_else(|| corrupt("neither a message nor the old form".into()))?;
                Half::checked(split_key, top)
            }
        };
        Ok(Reference { half: half.map_err(corrupt)? })
    }
}

/// `| u8 top | vint length | key |`; a length over 127 has a first byte of -113 or -114 and one or two more.
fn legacy(bytes: &[u8]) -> Option<(Bytes, bool)> {
    let (&top, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (len, key) = match first as i8 {
        0..=127 => (first as usize, rest),
        -113 => (*rest.first()? as usize, &rest[1..]),
        -114 => (u16::from_be_bytes([*rest.first()?, *rest.get(1)?]) as usize, &rest[2..]),
        _ => return None,
    };
    (top <= 1 && key.len() == len).then(|| (Bytes::copy_from_slice(key), top == 1))
}

/// What a name in a family's directory leads to: the places where the HFile may be, and the half to read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub places: Vec<PathBuf>,
    pub half: Option<Half>,
}

/// Follows references and links from a name in `dir` (`<root>/data/<ns>/<table>/<region>/<family>`).
pub fn resolve(fs: &dyn FileSystem, root: &Path, dir: &Path, name: &str, order: Order) -> Result<Resolved, StoreError> {
    resolve_in(fs, root, &[dir.to_owned()], name, order, MAX_DEPTH)
}

fn resolve_in(
    fs: &dyn FileSystem,
    root: &Path,
    dirs: &[PathBuf],
    name: &str,
    order: Order,
    depth: usize,
) -> Result<Resolved, StoreError> {
    let path = dirs[0].join(name);
    let not_a_name = || StoreError::corrupt(&path, "not the name of a store file");
    let part_of = |dir: Option<&Path>| dir.and_then(Path::file_name).and_then(|n| n.to_str()).map(str::to_owned);
    match StoreFileName::parse(name).ok_or_else(not_a_name)? {
        StoreFileName::HFile => Ok(Resolved { places: dirs.iter().map(|d| d.join(name)).collect(), half: None }),
        StoreFileName::Link(link) => {
            let family = part_of(Some(&dirs[0])).ok_or_else(not_a_name)?;
            Ok(Resolved { places: link.locations(root, &family), half: None })
        }
        StoreFileName::Reference { file, region } => {
            if depth == 0 {
                return Err(StoreError::corrupt(&path, "references of references without end"));
            }
            let half = read_reference(fs, dirs, name)?.half;
            let family = part_of(Some(&dirs[0])).ok_or_else(not_a_name)?;
            // `dirs[0]` is in the table's directory even when the file itself has been archived.
            let table_dir = dirs[0].parent().and_then(Path::parent).ok_or_else(not_a_name)?;
            let target = table_dir.join(region).join(family);
            let archived = archive_dir(root, &target)?;
            let inner = resolve_in(fs, root, &[target, archived], file, order, depth - 1)?;
            let half = match inner.half {
                None => half,
                Some(outer) => match outer.and(&half, order) {
                    Common::Half(half) => half,
                    Common::Nothing | Common::Between => {
                        return Err(StoreError::corrupt(&path, "the reference and what it refers to do not nest"));
                    }
                },
            };
            Ok(Resolved { places: inner.places, half: Some(half) })
        }
    }
}

fn read_reference(fs: &dyn FileSystem, dirs: &[PathBuf], name: &str) -> Result<Reference, StoreError> {
    let mut missing = None;
    for dir in dirs {
        let path = dir.join(name);
        match fs.read(&path) {
            Ok(bytes) => return Reference::decode(&path, &bytes),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                missing.get_or_insert_with(|| StoreError::io("read", &path)(e));
            }
            Err(e) => return Err(StoreError::io("read", &path)(e)),
        }
    }
    Err(missing.unwrap_or_else(|| StoreError::Invalid(format!("no place to look for {name}"))))
}

/// Writes the references of one store of a closed parent into its daughters' directories (`<table>/<daughter>`).
///
/// A file that lies wholly on one side gets one reference, an empty file none. A file that is itself a reference is
/// referred to directly. Doing it again changes nothing. Returns the paths written.
pub fn split_files(
    fs: &dyn FileSystem,
    store: &Store,
    parent_encoded: &str,
    split_row: &[u8],
    bottom_region_dir: &Path,
    top_region_dir: &Path,
) -> Result<Vec<PathBuf>, StoreError> {
    let family = store.family_name();
    let mut written = Vec::new();
    for (top, region_dir) in [(false, bottom_region_dir), (true, top_region_dir)] {
        let dir = region_dir.join(family);
        fs.create_dir_all(&dir).map_err(StoreError::io("create", &dir))?;
        let half = Half::at_row(split_row, top);
        for file in store.files().iter() {
            if let Some(half) = half_of(file, &half, store.options().order)? {
                written.push(write_reference(fs, &dir, file, parent_encoded, half)?);
            }
        }
        list_references(fs, store, &dir, &written)?;
    }
    Ok(written)
}

/// Writes references to the files of one store of a closed parent into the directory of the region that it is merged
/// into: whole files, as the half from the parent's first row. Returns the paths written.
pub fn merge_files(
    fs: &dyn FileSystem,
    store: &Store,
    parent_encoded: &str,
    parent_start_row: &[u8],
    merged_region_dir: &Path,
) -> Result<Vec<PathBuf>, StoreError> {
    let dir = merged_region_dir.join(store.family_name());
    fs.create_dir_all(&dir).map_err(StoreError::io("create", &dir))?;
    let mut written = Vec::new();
    for file in store.files().iter().filter(|f| f.last_key().is_some()) {
        let whole = Half::at_row(parent_start_row, true);
        let half = file.half.clone().unwrap_or(whole);
        let path = dir.join(reference_name(file, parent_encoded));
        // Both daughters of a split refer to the same files: merged again, their references would have one name.
        if file.is_reference()
            && fs.exists(&path)
            && read_reference(fs, std::slice::from_ref(&dir), file.name())?.half != half
        {
            return Err(StoreError::Invalid(format!("{} has two halves here: compact first", path.display())));
        }
        written.push(write_reference(fs, &dir, file, parent_encoded, half)?);
    }
    list_references(fs, store, &dir, &written)?;
    Ok(written)
}

/// Lists the references in `dir`, if the new store will know its files by a list.
fn list_references(fs: &dyn FileSystem, store: &Store, dir: &Path, written: &[PathBuf]) -> Result<(), StoreError> {
    if !store.options().tracker.writes_list() {
        return Ok(());
    }
    let mut listed = Vec::new();
    for path in written.iter().filter(|path| path.parent() == Some(dir)) {
        let Some(name) = path.file_name().and_then(|n| n.to_str()) else { continue };
        let size_bytes = fs.len(path).map_err(StoreError::io("open", path))?;
        listed.push(Listed { name: name.to_owned(), size_bytes });
    }
    // No time is needed: whatever the new store writes is later.
    add_to_list(fs, dir, listed, 0)
}

/// What `wanted` of the file is left, None if nothing.
fn half_of(file: &Arc<StoreFile>, wanted: &Half, order: Order) -> Result<Option<Half>, StoreError> {
    let (Some(first), Some(last)) = (file.first_key(), file.last_key()) else { return Ok(None) };
    let outermost = if wanted.top { last } else { first };
    if !wanted.shows(order, outermost) {
        return Ok(None);
    }
    let Some(half) = &file.half else { return Ok(Some(wanted.clone())) };
    match half.and(wanted, order) {
        Common::Half(half) => Ok(Some(half)),
        Common::Nothing => Ok(None),
        Common::Between => Err(StoreError::Invalid(format!(
            "{} is half a file already: compact before splitting again",
            file.path.display()
        ))),
    }
}

fn reference_name(file: &StoreFile, parent_encoded: &str) -> String {
    if file.is_reference() { file.name().to_owned() } else { format!("{}.{parent_encoded}", file.name()) }
}

fn write_reference(
    fs: &dyn FileSystem,
    dir: &Path,
    file: &StoreFile,
    parent_encoded: &str,
    half: Half,
) -> Result<PathBuf, StoreError> {
    let path = dir.join(reference_name(file, parent_encoded));
    fs.write_atomic(&path, &Reference { half }.encode()).map_err(StoreError::io("write", &path))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_reference_are_hbases() {
        let bottom = Reference::at_row(b"n", false);
        let bytes = bottom.encode();
        let expected = b"PBUF\x0a\x0d\x00\x01n\x00\x7f\xff\xff\xff\xff\xff\xff\xff\xff\x10\x01";
        assert_eq!(bytes, expected);
        let path = Path::new("/x/9c.5d");
        assert_eq!(Reference::decode(path, &bytes).unwrap(), bottom);
        let top = Reference::at_row(b"row", true);
        assert_eq!(Reference::decode(path, &top.encode()).unwrap(), top);
        for cut in 0..bytes.len() {
            let error = Reference::decode(path, &bytes[..cut]).unwrap_err().to_string();
            assert!(error.contains("/x/9c.5d"), "{error}");
        }
    }

    #[test]
    fn the_old_form_is_read() {
        let key = key::first_on_row(b"n");
        let mut bytes = vec![1, key.len() as u8];
        bytes.extend(&key);
        assert_eq!(Reference::decode(Path::new("/x"), &bytes).unwrap(), Reference::at_row(b"n", true));
        let long = key::first_on_row(&[b'n'; 300]);
        let mut bytes = vec![0, -114i8 as u8];
        bytes.extend((long.len() as u16).to_be_bytes());
        bytes.extend(&long);
        assert_eq!(Reference::decode(Path::new("/x"), &bytes).unwrap(), Reference::at_row(&[b'n'; 300], false));
        bytes.pop();
        assert!(Reference::decode(Path::new("/x"), &bytes).is_err());
    }

    #[test]
    fn a_half_shows_its_side_of_the_split_key() {
        let k = |row: &str| key::flat_key(row.as_bytes(), b"f", b"q", 1, 4);
        let (bottom, top) = (Half::at_row(b"n", false), Half::at_row(b"n", true));
        for (row, below) in [("a", true), ("m\u{7f}", true), ("n", false), ("n0", false), ("z", false)] {
            assert_eq!(bottom.shows(Order::Default, &k(row)), below, "{row}");
            assert_eq!(top.shows(Order::Default, &k(row)), !below, "{row}");
        }
    }
}
