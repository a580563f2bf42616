//! Space quotas: tables and namespaces are measured, judged, and the judgement is written to hbase:quota.
//!
//! ```text
//! sizes of store files ─ judge ─┬─ tables that hold no longer too much (DISABLE): enabled
//!                               ├─ column u:p of each table, durably ─ RegionHost::apply_space
//!                               └─ tables that hold too much (DISABLE): disabled
//! ```
//! Every `hbase.master.quotas.observer.chore.period`, and at once when a limit is set or removed. An observation that a
//! crash cuts short is made again.

use crate::procedure::{DisableTable, EnableTable, Executor, Procedure};
use crate::quotas::are_enabled;
use crate::services::Services;
use crate::snapshots;
use crate::{Caller, MasterError, class};
use martite_catalog::{RegionInfo, TableName, TableState, layout};
use martite_quota::space::{Sizes, Usage, Verdict, is_limited, judge};
use martite_store::{Store, name};
use std::collections::BTreeMap;

/// Measures and judges once.
pub(crate) fn observe(services: &Services, procedures: &Executor) -> Result<(), MasterError> {
    if !are_enabled(services) {
        return Ok(());
    }
    let _one_at_a_time = services.quotas.observing();
    let settings = services.quotas.settings();
    let any_limit = settings.tables.values().chain(settings.namespaces.values()).any(|quotas| quotas.space.is_some());
    if !any_limit && services.quotas.in_force().is_empty() && *services.quotas.verdict() == Verdict::default() {
        return Ok(());
    }
    let before = services.quotas.recorded(services)?;
    let mut sizes =
        Sizes { snapshots: before.snapshots, namespace_snapshots: before.namespace_snapshots, ..Sizes::default() };
    for table in services.catalog.tables() {
        let name = table.name().to_string();
        if is_limited(&settings, &name) {
            sizes.tables.insert(name, table_bytes(services, table.name())?);
        }
    }
    let verdict = judge(&settings, &sizes);
    let disables = |usages: &BTreeMap<String, Usage>, table: &str| usages.get(table).is_some_and(Usage::disables);
    for table in before.in_force.keys() {
        if disables(&before.in_force, table) && !disables(&verdict.in_force, table) {
            switch(services, procedures, table, TableState::Enabled);
        }
    }
    let disabled: Vec<String> = verdict.in_force.keys().filter(|t| disables(&verdict.in_force, t)).cloned().collect();
    services.quotas.record(services, verdict)?;
    for table in disabled {
        switch(services, procedures, &table, TableState::Disabled);
    }
    Ok(())
}

/// Enables or disables a table, unless it is so already. What fails is tried again by the next observation.
fn switch(services: &Services, procedures: &Executor, table: &str, wanted: TableState) {
    let Ok(name) = TableName::parse(table) else { return };
    let Some(entry) = services.catalog.table(&name).filter(|entry| entry.state != wanted) else { return };
    let body: Box<dyn Procedure> = match wanted {
        TableState::Disabled => Box::new(DisableTable::new(&name)),
        _ => Box::new(EnableTable::new(&name)),
    };
    tracing::info!(table, ?wanted, was = ?entry.state, "a space quota switches the table");
    let done = procedures.submit(body, &Caller::default(), (0, 0)).and_then(|id| procedures.wait(id));
    if let Err(error) = done {
        tracing::warn!(%error, table, ?wanted, "a space quota did not switch the table");
    }
}

/// Bytes of a table's store files.
fn table_bytes(services: &Services, table: &TableName) -> Result<u64, MasterError> {
    let mut bytes = 0;
    for region in services.catalog.live_regions(table) {
        bytes += match open_bytes(services, &region) {
            Some(open) => open,
            None => closed_bytes(services, &region)?,
        };
    }
    Ok(bytes)
}

fn open_bytes(services: &Services, region: &RegionInfo) -> Option<u64> {
    let region = services.host.region(region.encoded_name())?;
    let files = |store: &Store| store.files().iter().filter(|f| counts(f.name())).map(|f| f.size_bytes()).sum::<u64>();
    Some(region.stores().iter().map(|(_, store)| files(store)).sum())
}

/// What a link leads to counts where it is.
fn counts(file: &str) -> bool {
    name::link_of(file).is_none()
}

fn closed_bytes(services: &Services, region: &RegionInfo) -> Result<u64, MasterError> {
    let dir = services.layout.region_dir(region);
    let mut bytes = 0;
    for family in services.list(&dir)? {
        let is_family = family.is_dir && !family.name.starts_with('.') && family.name != layout::RECOVERED_EDITS_DIR;
        if is_family {
            let files = services.list(&dir.join(&family.name))?;
            bytes += files.iter().filter(|f| !f.is_dir && counts(&f.name)).map(|f| f.len).sum::<u64>();
        }
    }
    Ok(bytes)
}

/// Writes to hbase:quota what snapshots alone hold of tables that a space quota concerns.
pub(crate) fn measure_snapshots(services: &Services) -> Result<(), MasterError> {
    if !are_enabled(services) {
        return Ok(());
    }
    let Some(_kept) = services.snapshots.try_keep_files() else { return Ok(()) };
    let settings = services.quotas.settings();
    let sizes = snapshots::sizes(services, |table| is_limited(&settings, table.as_str()))?;
    services.quotas.record_snapshots(services, &sizes)
}

/// Bytes of the open regions of each table, with a limit or without.
pub(crate) fn sizes(services: &Services) -> BTreeMap<TableName, u64> {
    let mut sizes = BTreeMap::new();
    for entry in services.catalog.all_regions() {
        if let Some(bytes) = open_bytes(services, &entry.info) {
            *sizes.entry(entry.info.table().clone()).or_default() += bytes;
        }
    }
    sizes
}

/// Refuses to enable a table that its space quota has disabled.
pub(crate) fn check_enable(services: &Services, table: &TableName) -> Result<(), MasterError> {
    let usage = services.quotas.in_force().get(table.as_str()).copied();
    match usage.filter(Usage::disables) {
        Some(_) => {
            let text = format!("Enabling the table '{table}' is disallowed due to a violated space quota.");
            Err(MasterError::new(class::ACCESS_DENIED, text))
        }
        None => Ok(()),
    }
}
