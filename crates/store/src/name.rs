//! Names of store files (HBase 2.6: StoreFileInfo, HFileLink).
//!
//! ```text
//! 9c2b…e1                       an HFile: lower-case hex, most often 32 digits
//! 9c2b…e1_SeqId_42_             an HFile that was bulk-loaded under sequence id 42
//! 9c2b…e1.5d41…92               a reference to that file of region 5d41…92 of the same table and family
//! t=5d41…92-9c2b…e1             a link to that file of region 5d41…92 of table t (ns=t=… outside namespace default)
//! t=5d41…92-9c2b…e1.77aa…03     a reference to such a link, which lies in region 77aa…03
//! ```

use martite_env::Random;
use std::path::{Path, PathBuf};

const SEQ_ID_MARKER: &str = "_SeqId_";

/// What a name in a family's directory stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreFileName<'a> {
    HFile,
    /// `file` of the same family in `region`; it may itself be a link or a reference.
    Reference {
        file: &'a str,
        region: &'a str,
    },
    Link(HFileLink<'a>),
}

/// A file of another table or region, under its own name there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HFileLink<'a> {
    pub namespace: &'a str,
    pub table: &'a str,
    pub region: &'a str,
    pub hfile: &'a str,
}

impl StoreFileName<'_> {
    /// None for a name that no store file has.
    pub fn parse(name: &str) -> Option<StoreFileName<'_>> {
        if is_hfile(name) {
            return Some(StoreFileName::HFile);
        }
        if let Some((file, region)) = name.rsplit_once('.')
            && is_hex(region)
            && StoreFileName::parse(file).is_some()
        {
            return Some(StoreFileName::Reference { file, region });
        }
        HFileLink::parse(name).map(StoreFileName::Link)
    }
}

/// The encoded name of the region whose file a reference is to.
pub fn referred_region(name: &str) -> Option<&str> {
    match StoreFileName::parse(name)? {
        StoreFileName::Reference { region, .. } => Some(region),
        _ => None,
    }
}

/// The link that a name is, or refers to.
pub fn link_of(name: &str) -> Option<HFileLink<'_>> {
    match StoreFileName::parse(name)? {
        StoreFileName::HFile => None,
        StoreFileName::Link(link) => Some(link),
        StoreFileName::Reference { file, .. } => link_of(file),
    }
}

/// The name of the HFile that a name leads to, through links and references; None for a name that no store file has.
pub fn hfile_of(name: &str) -> Option<&str> {
    match StoreFileName::parse(name)? {
        StoreFileName::HFile => Some(name),
        StoreFileName::Link(link) => Some(link.hfile),
        StoreFileName::Reference { file, .. } => hfile_of(file),
    }
}

impl<'a> HFileLink<'a> {
    pub fn parse(name: &'a str) -> Option<HFileLink<'a>> {
        let (full_table, file) = name.rsplit_once('=')?;
        let (region, hfile) = file.split_once('-')?;
        let (namespace, table) = full_table.split_once('=').unwrap_or(("default", full_table));
        let sound = |s: &str| !s.is_empty() && !s.contains(['=', '/', ':']) && s != "." && s != "..";
        (sound(namespace) && sound(table) && is_hex(region) && is_hfile(hfile)).then_some(HFileLink {
            namespace,
            table,
            region,
            hfile,
        })
    }

    /// Where the file may be, most likely place first: its table, the archive, a table being made or dropped.
    pub fn locations(&self, root: &Path, family: &str) -> Vec<PathBuf> {
        ["", "archive", ".tmp", "mobdir"]
            .iter()
            .map(|place| {
                let mut path = root.to_owned();
                path.extend([place, "data", self.namespace, self.table, self.region, family, self.hfile]);
                path
            })
            .collect()
    }
}

fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Whether this is the name of an HFile itself.
pub fn is_hfile(name: &str) -> bool {
    let digits = name.find('_').map_or(name, |at| &name[..at]);
    let suffix = &name[digits.len()..];
    let sound_suffix = suffix.is_empty()
        || suffix == "_del"
        || suffix
            .strip_prefix(SEQ_ID_MARKER)
            .and_then(|s| s.strip_suffix('_'))
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    is_hex(digits) && sound_suffix
}

/// The sequence id in the name of a bulk-loaded file, or of a reference or link to one.
pub fn bulk_load_seq_id(name: &str) -> Option<u64> {
    let at = name.find(SEQ_ID_MARKER)? + SEQ_ID_MARKER.len();
    name[at..].split('_').next()?.parse().ok()
}

/// A new name: the digits of a random (version 4) UUID.
pub fn new_hfile(random: &dyn Random) -> String {
    let high = random.u64() & !0xf000 | 0x4000;
    let low = random.u64() & !(0xc << 60) | 0x8 << 60;
    format!("{high:016x}{low:016x}")
}

/// The name of a file bulk-loaded under `seq_id`.
pub fn bulk_loaded(hfile: &str, seq_id: u64) -> String {
    format!("{hfile}{SEQ_ID_MARKER}{seq_id}_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use martite_env::SeededRandom;

    #[test]
    fn every_kind_of_name_is_told_apart() {
        use StoreFileName::*;
        let parse = StoreFileName::parse;
        assert_eq!(parse("9c2b01"), Some(HFile));
        assert_eq!(parse("9c2b01_SeqId_42_"), Some(HFile));
        assert_eq!(parse("9c2b01_del"), Some(HFile));
        assert_eq!(parse("9c2b01.5d41"), Some(Reference { file: "9c2b01", region: "5d41" }));
        assert_eq!(parse("9c2b01_SeqId_42_.5d41"), Some(Reference { file: "9c2b01_SeqId_42_", region: "5d41" }));
        let link = HFileLink { namespace: "default", table: "a.b", region: "5d41", hfile: "9c2b" };
        assert_eq!(parse("a.b=5d41-9c2b"), Some(Link(link.clone())));
        assert_eq!(parse("n=a.b=5d41-9c2b"), Some(Link(HFileLink { namespace: "n", ..link })));
        assert_eq!(parse("n=a.b=5d41-9c2b.77aa"), Some(Reference { file: "n=a.b=5d41-9c2b", region: "77aa" }));
        assert_eq!(parse("9c.aa.bb"), Some(Reference { file: "9c.aa", region: "bb" }));
        let names = ["9c2b", "9c2b.5d41", "n=a.b=5d41-9c2b", "n=a.b=5d41-9c2b.77aa", ".tabledesc"];
        assert_eq!(names.map(hfile_of), [Some("9c2b"), Some("9c2b"), Some("9c2b"), Some("9c2b"), None]);
        assert_eq!(link_of("n=a.b=5d41-9c2b.77aa").map(|link| link.table), Some("a.b"));
        assert_eq!(link_of("9c2b.5d41"), None);
        assert_eq!(["9c2b.5d41", "9c2b"].map(referred_region), [Some("5d41"), None]);
        for bad in ["", ".9c2b.tmp", "9C2B", "9c2b_SeqId__", "9c2b_SeqId_x_", "9c2b.", "x.5d41", "=5d41-9c", "..=5d-9c"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_link_is_looked_for_in_table_and_archive() {
        let link = HFileLink::parse("n=t=5d41-9c2b").unwrap();
        let places = link.locations(Path::new("/r"), "f");
        assert_eq!(places[0], Path::new("/r/data/n/t/5d41/f/9c2b"));
        assert_eq!(places[1], Path::new("/r/archive/data/n/t/5d41/f/9c2b"));
    }

    #[test]
    fn new_names_are_version_4_uuids_and_bulk_names_carry_their_sequence_id() {
        let name = new_hfile(&SeededRandom::new(7));
        assert_eq!(name.len(), 32);
        assert_eq!(&name[12..13], "4");
        assert!(["8", "9", "a", "b"].contains(&&name[16..17]));
        assert!(is_hfile(&name));
        assert_eq!(bulk_load_seq_id(&bulk_loaded(&name, 42)), Some(42));
        assert_eq!(bulk_load_seq_id(&name), None);
        assert_eq!(bulk_load_seq_id("9c_SeqId_7_.aa"), Some(7));
    }
}
