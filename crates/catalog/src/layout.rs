//! [`Layout`]: where everything lies below HBase's root directory (HBase 2.6).
//!
//! ```text
//! hbase.version  hbase.id
//! data/<namespace>/<table>/.tabledesc/.tableinfo.<seq>.<length>
//! data/<namespace>/<table>/<encoded region>/.regioninfo
//!                                          /<family>/<store file>
//!                                          /.tmp  /recovered.edits  /.splits  /.merges
//! archive/data/<namespace>/<table>/<encoded region>/<family>/<store file>
//! WALs/<server>/<log>   oldWALs/<log>   corrupt/   staging/   .tmp/   .hbase-snapshot/   mobdir/
//! MasterData/{data,WALs,archive}
//! ```

use crate::{RegionInfo, ServerName, TableName};
use std::path::{Path, PathBuf};

pub const DATA_DIR: &str = "data";
pub const ARCHIVE_DIR: &str = "archive";
pub const TABLE_DESCRIPTOR_DIR: &str = ".tabledesc";
pub const TABLE_INFO_PREFIX: &str = ".tableinfo";
pub const REGION_INFO_FILE: &str = ".regioninfo";
pub const TEMP_DIR: &str = ".tmp";
pub const RECOVERED_EDITS_DIR: &str = "recovered.edits";
pub const WALS_DIR: &str = "WALs";
pub const OLD_WALS_DIR: &str = "oldWALs";
pub const VERSION_FILE: &str = "hbase.version";
pub const ID_FILE: &str = "hbase.id";
/// What a log directory's name ends in once its server is known to be dead.
pub const SPLITTING_SUFFIX: &str = "-splitting";
/// The version of the layout (HBase: FILE_SYSTEM_VERSION).
pub const LAYOUT_VERSION: &str = "8";

/// Paths below a root directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
    wal_root: PathBuf,
}

impl Layout {
    pub fn new(root: impl Into<PathBuf>) -> Layout {
        let root = root.into();
        Layout { wal_root: root.clone(), root }
    }

    /// With logs elsewhere (hbase.wal.dir).
    pub fn with_wal_root(root: impl Into<PathBuf>, wal_root: impl Into<PathBuf>) -> Layout {
        Layout { root: root.into(), wal_root: wal_root.into() }
    }

    /// The layout of the master's own region, below the same root.
    pub fn master_data(&self) -> Layout {
        Layout { root: self.root.join("MasterData"), wal_root: self.wal_root.join("MasterData") }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }
    pub fn wal_root(&self) -> &Path {
        &self.wal_root
    }
    pub fn version_file(&self) -> PathBuf {
        self.root.join(VERSION_FILE)
    }
    pub fn id_file(&self) -> PathBuf {
        self.root.join(ID_FILE)
    }
    /// `data`, the directory of all namespaces.
    pub fn data_dir(&self) -> PathBuf {
        self.root.join(DATA_DIR)
    }
    pub fn namespace_dir(&self, namespace: &str) -> PathBuf {
        self.data_dir().join(namespace)
    }
    pub fn table_dir(&self, table: &TableName) -> PathBuf {
        self.namespace_dir(table.namespace()).join(table.qualifier())
    }
    pub fn region_dir(&self, info: &RegionInfo) -> PathBuf {
        self.table_dir(info.table()).join(info.encoded_name())
    }
    pub fn family_dir(&self, info: &RegionInfo, family: &str) -> PathBuf {
        self.region_dir(info).join(family)
    }
    /// `.tmp`, where tables are made before they move to their place and go when they are deleted.
    pub fn temp_dir(&self) -> PathBuf {
        self.root.join(TEMP_DIR)
    }
    /// The table's directory below [`Layout::temp_dir`].
    pub fn temp_table_dir(&self, table: &TableName) -> PathBuf {
        self.temp_dir().join(DATA_DIR).join(table.namespace()).join(table.qualifier())
    }
    pub fn archive_dir(&self) -> PathBuf {
        self.root.join(ARCHIVE_DIR)
    }
    pub fn archive_table_dir(&self, table: &TableName) -> PathBuf {
        self.archive_dir().join(DATA_DIR).join(table.namespace()).join(table.qualifier())
    }
    pub fn archive_region_dir(&self, info: &RegionInfo) -> PathBuf {
        self.archive_table_dir(info.table()).join(info.encoded_name())
    }
    pub fn archive_family_dir(&self, info: &RegionInfo, family: &str) -> PathBuf {
        self.archive_region_dir(info).join(family)
    }
    /// `WALs`, the directory of all servers' logs.
    pub fn wals_dir(&self) -> PathBuf {
        self.wal_root.join(WALS_DIR)
    }
    pub fn server_wals_dir(&self, server: &ServerName) -> PathBuf {
        self.wals_dir().join(server.to_string())
    }
    pub fn old_wals_dir(&self) -> PathBuf {
        self.wal_root.join(OLD_WALS_DIR)
    }
    pub fn recovered_edits_dir(&self, info: &RegionInfo) -> PathBuf {
        self.region_dir(info).join(RECOVERED_EDITS_DIR)
    }
    pub fn snapshots_dir(&self) -> PathBuf {
        self.root.join(".hbase-snapshot")
    }
    pub fn snapshot_dir(&self, name: &str) -> PathBuf {
        self.snapshots_dir().join(name)
    }
    /// Where snapshots are made, and go when they are deleted.
    pub fn working_snapshots_dir(&self) -> PathBuf {
        self.snapshots_dir().join(TEMP_DIR)
    }
    pub fn working_snapshot_dir(&self, name: &str) -> PathBuf {
        self.working_snapshots_dir().join(name)
    }
    pub fn staging_dir(&self) -> PathBuf {
        self.root.join("staging")
    }
    pub fn corrupt_dir(&self) -> PathBuf {
        self.root.join("corrupt")
    }
    pub fn mob_dir(&self) -> PathBuf {
        self.root.join("mobdir")
    }
}

/// Whether a name in a table's directory can be a region's: an encoded name, or meta's number.
pub fn is_region_dir_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 32 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_hbases() {
        let layout = Layout::new("/hbase");
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let table = TableName::parse("ns:t").unwrap();
        assert_eq!(text(layout.table_dir(&table)), "/hbase/data/ns/t");
        assert_eq!(text(layout.region_dir(&RegionInfo::meta())), "/hbase/data/hbase/meta/1588230740");
        assert_eq!(text(layout.archive_table_dir(&table)), "/hbase/archive/data/ns/t");
        assert_eq!(text(layout.temp_table_dir(&table)), "/hbase/.tmp/data/ns/t");
        let server = ServerName::new("h", 1, 2);
        assert_eq!(text(layout.server_wals_dir(&server)), "/hbase/WALs/h,1,2");
        assert_eq!(
            text(layout.master_data().region_dir(&RegionInfo::master_store())),
            "/hbase/MasterData/data/master/store/1595e783b53d99cd5eef43b6debb2682"
        );
        assert_eq!(text(Layout::with_wal_root("/hbase", "/wal").master_data().wals_dir()), "/wal/MasterData/WALs");
    }
}
