//! [`Services`]: what every call and every procedure works with.

use crate::catalog::{Catalog, RegionEntry};
use crate::namespaces::Namespaces;
use crate::quotas::Quotas;
use crate::rows::Rows;
use crate::snapshots::Snapshots;
use crate::store::MasterStore;
use crate::switches::{Switch, Switches};
use crate::{MasterError, RegionHost, Registry};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::system::TABLE_FAMILY;
use martite_catalog::{
    Layout, RegionInfo, RegionState, ServerName, TableDescriptor, TableName, TableState, files, meta_row,
};
use martite_config::Config;
use martite_env::{Clock, FileSystem};
use martite_region::RegionContext;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub(crate) struct Services {
    pub fs: Arc<dyn FileSystem>,
    pub layout: Layout,
    pub clock: Arc<dyn Clock>,
    pub config: Arc<Config>,
    pub host: Arc<dyn RegionHost>,
    pub registry: Arc<dyn Registry>,
    pub server_name: ServerName,
    pub info_port: u16,
    pub version: String,
    pub cluster_id: String,
    /// Regions that are opened or closed at once.
    pub parallel: usize,
    pub store: MasterStore,
    pub switches: Switches,
    pub meta: Box<dyn Rows>,
    pub catalog: Catalog,
    pub namespaces: Namespaces,
    pub quotas: Quotas,
    pub snapshots: Snapshots,
    pub last_ms: AtomicU64,
    pub stopping: AtomicBool,
}

impl Services {
    /// A timestamp for rows: the clock's, and higher than every one before, so that a later edit wins.
    pub fn now_ms(&self) -> u64 {
        let now = self.clock.now_ms();
        let next = |last: u64| Some(now.max(last + 1));
        match self.last_ms.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) {
            Ok(last) | Err(last) => now.max(last + 1),
        }
    }

    /// Timestamps from here on are higher than this one.
    pub fn advance_past(&self, ms: u64) {
        self.last_ms.fetch_max(ms, Ordering::AcqRel);
    }

    pub fn stop(&self) {
        self.stopping.store(true, Ordering::Release);
    }

    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    pub fn is_on(&self, switch: Switch) -> bool {
        self.switches.is_on(switch)
    }

    /// What regions are opened with, for the files of regions that are closed.
    pub fn region_context(&self) -> Result<Arc<RegionContext>, MasterError> {
        let meta = self.host.region(RegionInfo::meta().encoded_name());
        meta.map(|m| m.context().clone()).ok_or_else(|| MasterError::io("hbase:meta is not open"))
    }

    /// The region, or UnknownRegionException.
    pub fn region(&self, encoded: &str) -> Result<RegionEntry, MasterError> {
        self.catalog.region(encoded).ok_or_else(|| MasterError::unknown_region(encoded.as_bytes()))
    }

    /// Writes a table's state.
    pub fn set_table_state(&self, table: &TableName, state: TableState) -> Result<(), MasterError> {
        self.meta.apply(&[MetaEdit::table_state(table, state, self.now_ms())])?;
        self.catalog.set_state(table, state);
        Ok(())
    }

    /// Adds a table with its regions, closed, to hbase:meta.
    pub fn add_table_to_meta(
        &self,
        table: Arc<TableDescriptor>,
        regions: &[RegionInfo],
        state: TableState,
    ) -> Result<(), MasterError> {
        let now = self.now_ms();
        let mut edits = vec![MetaEdit::table_state(table.name(), state, now)];
        edits.extend(regions.iter().map(|r| new_region_row(r, &table, now)));
        self.meta.apply(&edits)?;
        self.catalog.put_table(table, state);
        for region in regions {
            self.catalog.put_region(RegionEntry::new(region.clone(), RegionState::Closed, now));
        }
        Ok(())
    }

    /// Removes the rows of regions; with `state`, the table's own row too.
    pub fn remove_from_meta(&self, table: &TableName, with_state: bool) -> Result<(), MasterError> {
        let now = self.now_ms();
        let regions = self.catalog.regions(table);
        let mut edits: Vec<MetaEdit> = regions.iter().map(|r| removed_region_row(&r.info, now)).collect();
        if with_state {
            edits.push(MetaEdit::new(table.as_bytes().to_vec(), now).delete_family(TABLE_FAMILY));
        }
        self.meta.apply(&edits)?;
        if with_state {
            self.catalog.remove_table(table);
        }
        for region in regions {
            self.catalog.remove_region(region.info.encoded_name());
        }
        Ok(())
    }

    /// Makes the directories of a new table.
    pub fn write_layout(&self, table: &TableDescriptor, regions: &[RegionInfo]) -> Result<(), MasterError> {
        let dir = self.layout.table_dir(table.name());
        files::write_table_descriptor(&*self.fs, &dir, table)?;
        for region in regions {
            files::create_region_dir(&*self.fs, &self.layout.region_dir(region), region)?;
        }
        Ok(())
    }

    /// Moves a table's files to the archive and removes its directory.
    pub fn archive_table(&self, table: &TableName) -> Result<(), MasterError> {
        let dir = self.layout.table_dir(table);
        for region in files::list_region_dirs(&*self.fs, &dir)? {
            self.archive_region_dir(&dir.join(region))?;
        }
        self.remove_dir(&dir)
    }

    /// Moves a region's files to the archive and removes its directory.
    pub fn archive_region(&self, info: &RegionInfo) -> Result<(), MasterError> {
        self.archive_region_dir(&self.layout.region_dir(info))
    }

    fn archive_region_dir(&self, dir: &Path) -> Result<(), MasterError> {
        for entry in self.list(dir)? {
            let is_family = entry.is_dir && !entry.name.starts_with('.') && !entry.name.starts_with("recovered.");
            if is_family {
                self.archive_family_dir(&dir.join(entry.name))?;
            }
        }
        self.remove_dir(dir)
    }

    /// Moves a family's files to the archive.
    pub fn archive_family_dir(&self, dir: &Path) -> Result<(), MasterError> {
        let names: Vec<String> = self.list(dir)?.into_iter().filter(|e| !e.is_dir).map(|e| e.name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let root = self.layout.root();
        martite_store::archive::archive_files(&*self.fs, root, dir, &names, self.now_ms())?;
        Ok(())
    }

    /// Removes a directory and what is in it, durably; no error if it is gone.
    pub fn remove_dir(&self, dir: &Path) -> Result<(), MasterError> {
        let failed = |e: std::io::Error| MasterError::io(format!("remove {}: {e}", dir.display()));
        match self.fs.remove_dir_all(dir) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(failed)?,
        }
        match dir.parent() {
            Some(parent) => self.fs.sync_dir(parent).map_err(failed),
            None => Ok(()),
        }
    }

    /// Moves a directory, durably; no error if it is not there any more.
    pub fn move_dir(&self, from: &Path, to: &Path) -> Result<(), MasterError> {
        let failed = |e: std::io::Error| MasterError::io(format!("move {} to {}: {e}", from.display(), to.display()));
        match self.fs.rename(from, to) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(failed(e)),
            _ => {}
        }
        let parents = [to, from].into_iter().filter_map(Path::parent);
        parents.into_iter().try_for_each(|dir| self.fs.sync_dir(dir)).map_err(failed)
    }

    /// What is in a directory; nothing if it is absent.
    pub fn list(&self, dir: &Path) -> Result<Vec<martite_env::DirEntry>, MasterError> {
        match self.fs.list(dir) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(|e| MasterError::io(format!("{}: {e}", dir.display()))),
        }
    }
}

/// The row of a region that was never opened, with columns for its replicas.
pub(crate) fn new_region_row(region: &RegionInfo, table: &TableDescriptor, now_ms: u64) -> MetaEdit {
    let edit = MetaEdit::region(region, now_ms).region_info(region).state(RegionState::Closed, 0);
    (1..table.region_replication()).fold(edit, MetaEdit::empty_location)
}

/// Deletes what the catalog family says about a region.
pub(crate) fn removed_region_row(region: &RegionInfo, now_ms: u64) -> MetaEdit {
    MetaEdit::new(meta_row::row_of(region), now_ms).delete_family(martite_catalog::system::CATALOG_FAMILY)
}
