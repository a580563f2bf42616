//! How the stores of a family know their files (HBase: StoreFileTrackerFactory, MigrationStoreFileTracker).
//!
//! ```text
//! hbase.store.file-tracker.impl    DEFAULT | FILE | MIGRATION    of the family, or else of the table
//! hbase.store.file-tracker.migration.{src,dst}.impl              with MIGRATION
//! ```

use crate::table::FILE_TRACKER;
use crate::{FamilyDescriptor, TableDescriptor};

pub const MIGRATION_SOURCE: &str = "hbase.store.file-tracker.migration.src.impl";
pub const MIGRATION_TARGET: &str = "hbase.store.file-tracker.migration.dst.impl";
const PACKAGE: &str = "org.apache.hadoop.hbase.regionserver.storefiletracker.";

/// A tracker that can be used for long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackerKind {
    /// The directory is the list.
    Default,
    /// A file has the list.
    File,
}

impl TrackerKind {
    pub fn name(self) -> &'static str {
        match self {
            TrackerKind::Default => "DEFAULT",
            TrackerKind::File => "FILE",
        }
    }
}

/// The tracker of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileTracker {
    Plain(TrackerKind),
    /// On the way from one to the other: both are kept.
    Migration {
        from: TrackerKind,
        to: TrackerKind,
    },
}

/// None: the class is not known. Inner None: MIGRATION.
fn parse(name: &str) -> Option<Option<TrackerKind>> {
    match name.strip_prefix(PACKAGE) {
        Some("DefaultStoreFileTracker") => return Some(Some(TrackerKind::Default)),
        Some("FileBasedStoreFileTracker") => return Some(Some(TrackerKind::File)),
        Some("MigrationStoreFileTracker") => return Some(None),
        _ => {}
    }
    match name.to_ascii_uppercase().as_str() {
        "" | "DEFAULT" => Some(Some(TrackerKind::Default)),
        "FILE" => Some(Some(TrackerKind::File)),
        "MIGRATION" => Some(None),
        _ => None,
    }
}

/// The kind that somebody wants to change to; None: MIGRATION, or nothing known.
pub fn target(name: &str) -> Option<TrackerKind> {
    parse(name).flatten()
}

/// What the descriptors say of a family; an error names what this server does not know.
pub fn of_family(table: &TableDescriptor, family: &FamilyDescriptor) -> Result<FileTracker, String> {
    let setting = |key: &str| family.setting(key).or_else(|| table.setting(key));
    let name = setting(FILE_TRACKER).unwrap_or_default();
    let unknown = |name: &str| format!("Store file tracker {name} is not supported by this server");
    if let Some(kind) = parse(name).ok_or_else(|| unknown(name))? {
        return Ok(FileTracker::Plain(kind));
    }
    let side = |key: &str| {
        let name = setting(key).ok_or_else(|| format!("config {key} is not set"))?;
        let kind = parse(name).ok_or_else(|| unknown(name))?;
        kind.ok_or_else(|| format!("Should not specify {key} as MIGRATION because it can not be nested"))
    };
    let (from, to) = (side(MIGRATION_SOURCE)?, side(MIGRATION_TARGET)?);
    if from == to {
        return Err(format!("src and dst is the same: {}", from.name()));
    }
    Ok(FileTracker::Migration { from, to })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TableName;

    #[test]
    fn a_familys_setting_comes_before_the_tables() {
        let table = |settings: &[(&str, &str)]| {
            let table = TableDescriptor::new(TableName::parse("t").unwrap()).with_family(FamilyDescriptor::new("f"));
            settings.iter().fold(table, |table, (key, value)| table.with(key, value))
        };
        let of = |table: TableDescriptor| of_family(&table, table.family(b"f").unwrap());
        let (default, file) = (TrackerKind::Default, TrackerKind::File);
        assert_eq!(of(table(&[])), Ok(FileTracker::Plain(default)));
        assert_eq!(of(table(&[(FILE_TRACKER, "file")])), Ok(FileTracker::Plain(file)));
        let class = format!("{PACKAGE}FileBasedStoreFileTracker");
        assert_eq!(of(table(&[(FILE_TRACKER, &class)])), Ok(FileTracker::Plain(file)));
        let mut family = FamilyDescriptor::new("f");
        family.configuration.insert(FILE_TRACKER.to_string(), "DEFAULT".to_string());
        assert_eq!(of(table(&[(FILE_TRACKER, "FILE")]).with_family(family)), Ok(FileTracker::Plain(default)));
        let migration = |from: &str, to: &str| {
            of(table(&[(FILE_TRACKER, "MIGRATION"), (MIGRATION_SOURCE, from), (MIGRATION_TARGET, to)]))
        };
        assert_eq!(migration("FILE", "DEFAULT"), Ok(FileTracker::Migration { from: file, to: default }));
        assert_eq!(migration("FILE", "FILE").unwrap_err(), "src and dst is the same: FILE");
        assert!(migration("FILE", "MIGRATION").unwrap_err().ends_with("because it can not be nested"));
        assert!(of(table(&[(FILE_TRACKER, "MIGRATION")])).unwrap_err().ends_with("is not set"));
        assert!(of(table(&[(FILE_TRACKER, "org.example.T")])).unwrap_err().contains("org.example.T is not supported"));
    }
}
