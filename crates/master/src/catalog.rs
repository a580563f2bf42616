//! [`Catalog`]: what hbase:meta and the descriptor files say, in memory. Who changes these writes there first, then here.

use crate::MasterError;
use bytes::Bytes;
use martite_catalog::{MetaRegion, RegionInfo, RegionState, ServerName, TableDescriptor, TableName, TableState};
use parking_lot::RwLock;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A region as the master knows it.
#[derive(Debug, Clone)]
pub(crate) struct RegionEntry {
    pub info: RegionInfo,
    pub state: RegionState,
    pub server: Option<ServerName>,
    /// −1: never opened.
    pub open_seq_num: i64,
    pub split: Option<(RegionInfo, RegionInfo)>,
    pub merged: Vec<(Bytes, RegionInfo)>,
    /// When the state began.
    pub since_ms: u64,
}

impl RegionEntry {
    pub fn new(info: RegionInfo, state: RegionState, now_ms: u64) -> RegionEntry {
        RegionEntry { info, state, server: None, open_seq_num: -1, split: None, merged: Vec::new(), since_ms: now_ms }
    }

    /// A row of hbase:meta. A region without a state has not been opened yet.
    pub fn of_meta(row: MetaRegion, now_ms: u64) -> RegionEntry {
        RegionEntry {
            state: row.state.unwrap_or(RegionState::Offline),
            server: row.server,
            open_seq_num: row.open_seq_num,
            split: row.split,
            merged: row.merged,
            since_ms: now_ms,
            info: row.info,
        }
    }

    /// Whether the region serves rows, or should: not a split parent, not merged away.
    pub fn is_live(&self) -> bool {
        !self.info.is_split_parent()
            && !matches!(self.state, RegionState::Split | RegionState::Merged)
            && self.info.replica_id() == 0
    }
}

#[derive(Debug, Clone)]
pub(crate) struct TableEntry {
    pub descriptor: Arc<TableDescriptor>,
    pub state: TableState,
}

impl TableEntry {
    pub fn name(&self) -> &TableName {
        self.descriptor.name()
    }
}

/// Start key, id and replica: the order of a table's regions.
type Place = (Bytes, u64, i32);

#[derive(Default)]
struct Inner {
    tables: BTreeMap<TableName, TableEntry>,
    regions: BTreeMap<TableName, BTreeMap<Place, RegionEntry>>,
    by_encoded: HashMap<Arc<str>, (TableName, Place)>,
}

#[derive(Default)]
pub(crate) struct Catalog {
    inner: RwLock<Inner>,
}

fn place(info: &RegionInfo) -> Place {
    (info.start_key().clone(), info.region_id(), info.replica_id())
}

impl Catalog {
    pub fn table(&self, table: &TableName) -> Option<TableEntry> {
        self.inner.read().tables.get(table).cloned()
    }

    /// The table, or TableNotFoundException.
    pub fn existing(&self, table: &TableName) -> Result<TableEntry, MasterError> {
        self.table(table).ok_or_else(|| MasterError::table_not_found(table))
    }

    /// Every table, by name.
    pub fn tables(&self) -> Vec<TableEntry> {
        self.inner.read().tables.values().cloned().collect()
    }

    pub fn put_table(&self, descriptor: Arc<TableDescriptor>, state: TableState) {
        let name = descriptor.name().clone();
        self.inner.write().tables.insert(name, TableEntry { descriptor, state });
    }

    pub fn set_state(&self, table: &TableName, state: TableState) {
        if let Some(entry) = self.inner.write().tables.get_mut(table) {
            entry.state = state;
        }
    }

    /// Forgets the table and its regions.
    pub fn remove_table(&self, table: &TableName) {
        let mut inner = self.inner.write();
        inner.tables.remove(table);
        for entry in inner.regions.remove(table).unwrap_or_default().into_values() {
            inner.by_encoded.remove(entry.info.encoded_name());
        }
    }

    /// A table's regions in order, split parents included.
    pub fn regions(&self, table: &TableName) -> Vec<RegionEntry> {
        self.inner.read().regions.get(table).map(|r| r.values().cloned().collect()).unwrap_or_default()
    }

    /// The regions that cover the table.
    pub fn live_regions(&self, table: &TableName) -> Vec<RegionInfo> {
        self.regions(table).into_iter().filter(RegionEntry::is_live).map(|r| r.info).collect()
    }

    pub fn all_regions(&self) -> Vec<RegionEntry> {
        self.inner.read().regions.values().flat_map(|r| r.values().cloned()).collect()
    }

    pub fn region(&self, encoded: &str) -> Option<RegionEntry> {
        let inner = self.inner.read();
        let (table, place) = inner.by_encoded.get(encoded)?;
        inner.regions.get(table)?.get(place).cloned()
    }

    pub fn put_region(&self, entry: RegionEntry) {
        let mut inner = self.inner.write();
        let (table, place) = (entry.info.table().clone(), place(&entry.info));
        inner.by_encoded.insert(entry.info.encoded_name_arc().clone(), (table.clone(), place.clone()));
        inner.regions.entry(table).or_default().insert(place, entry);
    }

    pub fn update_region(&self, encoded: &str, change: impl FnOnce(&mut RegionEntry)) {
        let mut inner = self.inner.write();
        let Some((table, place)) = inner.by_encoded.get(encoded).cloned() else { return };
        if let Some(entry) = inner.regions.get_mut(&table).and_then(|r| r.get_mut(&place)) {
            change(entry);
        }
    }

    pub fn remove_region(&self, encoded: &str) {
        let mut inner = self.inner.write();
        let Some((table, place)) = inner.by_encoded.remove(encoded) else { return };
        if let Some(regions) = inner.regions.get_mut(&table) {
            regions.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_found_by_name_and_listed_in_order() {
        let catalog = Catalog::default();
        let table = TableName::parse("t").unwrap();
        let region = |s: &'static str, e: &'static str| RegionInfo::new(table.clone(), s.as_bytes(), e.as_bytes(), 1);
        catalog.put_table(Arc::new(TableDescriptor::new(table.clone())), TableState::Enabled);
        for (s, e) in [("m", ""), ("", "m")] {
            catalog.put_region(RegionEntry::new(region(s, e), RegionState::Open, 0));
        }
        assert_eq!(catalog.live_regions(&table), [region("", "m"), region("m", "")]);
        let encoded = region("m", "").encoded_name().to_string();
        catalog.update_region(&encoded, |r| {
            r.info = r.info.with_flags(true, true);
            r.state = RegionState::Split;
        });
        assert_eq!(catalog.live_regions(&table), [region("", "m")]);
        assert!(catalog.region(&encoded).unwrap().info.is_split_parent());
        catalog.remove_region(&encoded);
        assert_eq!(catalog.regions(&table).len(), 1);
        catalog.remove_table(&table);
        assert!(catalog.all_regions().is_empty() && catalog.existing(&table).is_err());
    }
}
