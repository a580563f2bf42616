//! Load: the rows of hbase:meta and the descriptor files become the catalog in memory.

use crate::catalog::RegionEntry;
use crate::services::Services;
use crate::{MasterError, checks};
use martite_catalog::meta_row::{self, MetaRow};
use martite_catalog::{RegionInfo, RegionState, TableDescriptor, TableName, TableState, files};
use martite_cell::OwnedCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(super) fn load(services: &Services, meta: Arc<TableDescriptor>, open_seq_num: u64) -> Result<(), MasterError> {
    services.advance_past(services.meta.newest_ms()?);
    let now = services.now_ms();
    put_meta(services, meta, open_seq_num, now);
    let mut states: BTreeMap<TableName, TableState> = BTreeMap::new();
    let mut with_regions: BTreeSet<TableName> = BTreeSet::new();
    for row in services.meta.scan(None)? {
        match meta_row::decode(row.iter().map(OwnedCell::as_ref)) {
            Ok(MetaRow::Region(region)) => {
                with_regions.insert(region.info.table().clone());
                services.catalog.put_region(RegionEntry::of_meta(*region, now));
            }
            Ok(MetaRow::Table(table, state)) => {
                states.insert(table, state);
            }
            Ok(MetaRow::Other) => {}
            Err(error) => tracing::error!(%error, "a row of hbase:meta is left out"),
        }
    }
    // Before 2.0 tables had no state in hbase:meta.
    for table in &with_regions {
        if !states.contains_key(table) && !table.is_meta() {
            services.set_table_state(table, TableState::Enabled)?;
            states.insert(table.clone(), TableState::Enabled);
        }
    }
    for (table, state) in states.into_iter().filter(|(table, _)| !table.is_meta()) {
        match files::read_table_descriptor(&*services.fs, &services.layout.table_dir(&table))? {
            Some(descriptor) => {
                for class in checks::foreign_coprocessors(&descriptor) {
                    tracing::warn!(%table, class, "the table's coprocessor is not built in and does not run");
                }
                services.catalog.put_table(Arc::new(descriptor), state);
            }
            None => tracing::error!(%table, "the table has no descriptor file and is left out"),
        }
    }
    Ok(())
}

/// hbase:meta does not describe itself.
fn put_meta(services: &Services, table: Arc<TableDescriptor>, open_seq_num: u64, now_ms: u64) {
    services.catalog.put_table(table, TableState::Enabled);
    let mut region = RegionEntry::new(RegionInfo::meta(), RegionState::Open, now_ms);
    region.server = Some(services.host.server_name());
    region.open_seq_num = open_seq_num as i64;
    services.catalog.put_region(region);
}
