//! Quotas: the rows of hbase:quota, in memory, and what the region server is told of them.
//!
//! ```text
//! SetQuota, a switch, a table that goes ─ cell written, durably ─┐
//! start, hbase.quota.refresh.period ─────────────────────────────┴─ all rows read ─ RegionHost::apply_quotas ─ answered
//! ```
//!
//! One change at a time. The rows are read anew after each, for anybody may write them with a plain client.

use crate::rows::{HostRows, Row, Rows, value};
use crate::services::Services;
use crate::switches::Switch;
use crate::{MasterError, class};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::{TableName, to_string_binary};
use martite_cell::{CellRef, LATEST_TIMESTAMP, OwnedCell};
use martite_config::keys;
use martite_proto as pb;
use martite_quota::space::{self, Recorded, Usage, UsageCell, Verdict};
use martite_quota::table::{
    self, EXCEED_ROW, Owner, PRIORITY, SETTINGS, SETTINGS_FAMILY, SNAPSHOT_SIZE, SettingsCell, USAGE, USAGE_FAMILY,
    table_row,
};
use martite_quota::{Settings, change};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What is known of hbase:quota.
#[derive(Default)]
struct State {
    settings: Arc<Settings>,
    /// What tables with a space quota hold, as it is written in family u.
    in_force: Arc<BTreeMap<String, Usage>>,
    /// What the last observation of space found.
    verdict: Arc<Verdict>,
    /// When the rows were read; None: not since they last changed.
    read_ms: Option<u64>,
    /// How far the regions had been written then.
    read_point: u64,
}

#[derive(Default)]
pub(crate) struct Quotas {
    state: Mutex<State>,
    /// Held during an observation of space.
    observing: Mutex<()>,
}

/// Whether quotas are set and kept at all.
pub(crate) fn are_enabled(services: &Services) -> bool {
    services.config.get(keys::QUOTA_ENABLED)
}

impl Quotas {
    /// The settings that are in force.
    pub fn settings(&self) -> Arc<Settings> {
        self.state.lock().settings.clone()
    }

    /// What tables with a space quota hold, as the region server was told.
    pub fn in_force(&self) -> Arc<BTreeMap<String, Usage>> {
        self.state.lock().in_force.clone()
    }

    /// What the last observation of space found.
    pub fn verdict(&self) -> Arc<Verdict> {
        self.state.lock().verdict.clone()
    }

    /// Observations of space are made one after the other.
    pub fn observing(&self) -> MutexGuard<'_, ()> {
        self.observing.lock()
    }

    /// What family u says now.
    pub fn recorded(&self, services: &Services) -> Result<Recorded, MasterError> {
        let _unchanged = self.state.lock();
        Ok(recorded(&QuotaRows(services).all()?))
    }

    /// Writes what an observation found, where it differs, and puts it in force.
    pub fn record(&self, services: &Services, verdict: Verdict) -> Result<(), MasterError> {
        let mut state = self.state.lock();
        let rows = QuotaRows(services);
        let before = recorded(&rows.all()?).in_force;
        for (table, usage) in verdict.in_force.iter().filter(|(table, usage)| before.get(*table) != Some(usage)) {
            rows.apply(&table_row(table), |edit| edit.cell(USAGE_FAMILY, USAGE, &usage.to_bytes()))?;
        }
        for table in before.keys().filter(|table| !verdict.in_force.contains_key(*table)) {
            rows.apply(&table_row(table), |edit| edit.delete_column(USAGE_FAMILY, USAGE))?;
        }
        let changed = before != verdict.in_force;
        state.verdict = Arc::new(verdict);
        if changed { load(&mut state, services) } else { Ok(()) }
    }

    /// Writes what snapshots hold, by table and snapshot, and the sum of each namespace, where it differs from what is there.
    pub fn record_snapshots(
        &self,
        services: &Services,
        sizes: &HashMap<(TableName, String), u64>,
    ) -> Result<(), MasterError> {
        let _unchanged = self.state.lock();
        let mut wanted: BTreeMap<(Vec<u8>, Vec<u8>), u64> = BTreeMap::new();
        for ((table, snapshot), bytes) in sizes {
            wanted.insert((table_row(table.as_str()), [SNAPSHOT_SIZE, snapshot.as_bytes()].concat()), *bytes);
            let namespace = Owner::Namespace(table.namespace().to_owned()).row();
            *wanted.entry((namespace, SNAPSHOT_SIZE.to_vec())).or_default() += bytes;
        }
        let rows = QuotaRows(services);
        for row in rows.all()? {
            for cell in row.iter().map(OwnedCell::as_ref) {
                if cell.family() != USAGE_FAMILY || !cell.qualifier().starts_with(SNAPSHOT_SIZE) {
                    continue;
                }
                match wanted.remove(&(cell.row().to_vec(), cell.qualifier().to_vec())) {
                    None => rows.apply(cell.row(), |edit| edit.delete_column(USAGE_FAMILY, cell.qualifier()))?,
                    Some(bytes) => {
                        if Usage::from_bytes(cell.value).is_ok_and(|known| known.used_bytes == bytes) {
                            continue;
                        }
                        rows.apply(cell.row(), |edit| {
                            edit.cell(USAGE_FAMILY, cell.qualifier(), &space::snapshot_size(bytes))
                        })?;
                    }
                }
            }
        }
        for ((row, qualifier), bytes) in wanted {
            rows.apply(&row, |edit| edit.cell(USAGE_FAMILY, &qualifier, &space::snapshot_size(bytes)))?;
        }
        Ok(())
    }

    /// Reads all rows and puts them in force.
    pub fn load(&self, services: &Services) -> Result<(), MasterError> {
        load(&mut self.state.lock(), services)
    }

    /// Reads the rows if somebody has written any since, or the last reading is `hbase.quota.refresh.period` ago, or
    /// failed.
    pub fn refresh(&self, services: &Services) -> Result<(), MasterError> {
        if !are_enabled(services) {
            return Ok(());
        }
        let mut state = self.state.lock();
        let period = services.config.get(keys::QUOTA_REFRESH_PERIOD);
        let fresh = |read_ms: u64| services.clock.now_ms().saturating_sub(read_ms) < period;
        if state.read_ms.is_some_and(fresh) && state.read_point == QuotaRows(services).read_point() {
            return Ok(());
        }
        load(&mut state, services)
    }

    /// Puts the switch of `enable_rpc_throttle` in force.
    pub fn apply_switch(&self, services: &Services) {
        let state = self.state.lock();
        services.host.apply_quotas(state.settings.clone(), services.is_on(Switch::RpcThrottle));
    }

    /// Does what a SetQuota request says.
    pub fn change(&self, services: &Services, owner: &Owner, request: &pb::SetQuotaRequest) -> Result<(), MasterError> {
        let mut state = self.initialized(services)?;
        let rows = QuotaRows(services);
        let removed = if request.remove_all == Some(true) {
            true
        } else {
            let merged = change::merge(owner, rows.quotas(owner)?, request)?;
            if *owner == Owner::RegionServer(table::ALL_SERVERS.into()) && rows.exceed()? {
                change::check_exceed(merged.as_ref())?;
            }
            if let Some(quotas) = &merged {
                let value = table::encode(quotas);
                rows.apply(&owner.row(), |edit| edit.cell(SETTINGS_FAMILY, &owner.qualifier(), &value))?;
            }
            merged.is_none()
        };
        if removed {
            // Everything of a user goes only with `remove_all`: the last throttle takes no quotas in tables with it.
            let whole = request.remove_all == Some(true) && matches!(owner, Owner::User(_));
            rows.apply(&owner.row(), |edit| match whole {
                true => edit.delete_family(SETTINGS_FAMILY),
                false => edit.delete_column(SETTINGS_FAMILY, &owner.qualifier()),
            })?;
        }
        load(&mut state, services)
    }

    /// Turns the exceed-throttle switch; answers what it was.
    pub fn switch_exceed(&self, services: &Services, on: bool) -> Result<bool, MasterError> {
        let mut state = self.initialized(services)?;
        let rows = QuotaRows(services);
        let previous = rows.exceed()?;
        if previous != on {
            if on {
                let all = Owner::RegionServer(table::ALL_SERVERS.into());
                change::check_exceed(rows.quotas(&all)?.as_ref())?;
            }
            let value = table::encode_switch(on);
            rows.apply(EXCEED_ROW, |edit| edit.cell(SETTINGS_FAMILY, SETTINGS, &value))?;
            load(&mut state, services)?;
        }
        Ok(previous)
    }

    /// Removes the quotas of a table that is deleted, unless the configuration keeps them.
    pub fn remove_table(&self, services: &Services, name: &TableName) {
        if services.config.get(keys::QUOTA_REMOVE_WITH_TABLE) && *name != TableName::quota_table() {
            self.remove(services, &Owner::Table(name.to_string()));
        }
    }

    /// Removes the quotas of a namespace that is deleted.
    pub fn remove_namespace(&self, services: &Services, name: &str) {
        self.remove(services, &Owner::Namespace(name.to_string()));
    }

    /// What cannot be removed stays, and is said: a table must go also while hbase:quota is not open.
    fn remove(&self, services: &Services, owner: &Owner) {
        if !are_enabled(services) {
            return;
        }
        let mut state = self.state.lock();
        let rows = QuotaRows(services);
        let removed = rows.row(&owner.row()).and_then(|row| match row.is_empty() {
            true => Ok(()),
            false => {
                rows.apply(&owner.row(), |edit| edit.delete_family(SETTINGS_FAMILY).delete_family(USAGE_FAMILY))?;
                load(&mut state, services)
            }
        });
        if let Err(error) = removed {
            tracing::error!(%error, %owner, "the quotas of what is deleted were not removed");
        }
    }

    /// HBase's refusals before a change: quotas are off, or hbase:quota could not be read yet.
    fn initialized(&self, services: &Services) -> Result<MutexGuard<'_, State>, MasterError> {
        if !are_enabled(services) {
            return Err(MasterError::do_not_retry("java.lang.UnsupportedOperationException: quota support disabled"));
        }
        let mut state = self.state.lock();
        if state.read_ms.is_none()
            && let Err(error) = load(&mut state, services)
        {
            tracing::warn!(%error, "hbase:quota cannot be read");
            return Err(MasterError::io("Quota manager is uninitialized, please retry later."));
        }
        Ok(state)
    }
}

fn load(state: &mut State, services: &Services) -> Result<(), MasterError> {
    // A failure leaves the old settings in force, to be read again soon.
    state.read_ms = None;
    // Before the rows: what is written meanwhile is read again.
    state.read_point = QuotaRows(services).read_point();
    let rows = QuotaRows(services).all()?;
    let cells = rows.iter().flatten().map(OwnedCell::as_ref).filter(|c| c.family() == SETTINGS_FAMILY);
    let cells = cells.map(|c| SettingsCell { row: c.row(), qualifier: c.qualifier(), value: c.value });
    let (mut settings, skipped) = table::read(cells);
    for reason in skipped {
        tracing::warn!(%reason, "a quota is left out");
    }
    let is_priority = |c: &CellRef<'_>| c.family() == USAGE_FAMILY && c.qualifier() == PRIORITY;
    for cell in rows.iter().flatten().map(OwnedCell::as_ref).filter(is_priority) {
        if let Err(reason) = settings.add_priority(cell.row(), cell.value) {
            tracing::warn!(row = to_string_binary(cell.row()), reason, "a priority is left out");
        }
    }
    state.settings = Arc::new(settings);
    state.in_force = Arc::new(recorded(&rows).in_force);
    state.read_ms = Some(services.clock.now_ms());
    services.host.apply_quotas(state.settings.clone(), services.is_on(Switch::RpcThrottle));
    services.host.apply_space(state.in_force.clone());
    Ok(())
}

fn recorded(rows: &[Row]) -> Recorded {
    let mut recorded = Recorded::default();
    let is_usage = |c: &CellRef<'_>| c.family() == USAGE_FAMILY && c.qualifier() != PRIORITY;
    for cell in rows.iter().flatten().map(OwnedCell::as_ref).filter(is_usage) {
        let (row, qualifier) = (cell.row(), cell.qualifier());
        if let Err(reason) = recorded.add(&UsageCell { row, qualifier, value: cell.value }) {
            let (row, qualifier) = (to_string_binary(row), to_string_binary(qualifier));
            tracing::warn!(row, qualifier, reason, "a cell of hbase:quota's family u is left out");
        }
    }
    recorded
}

/// The rows of hbase:quota, whose regions may be many.
struct QuotaRows<'a>(&'a Services);

impl QuotaRows<'_> {
    /// Grows with every write.
    fn read_point(&self) -> u64 {
        let regions = self.0.catalog.live_regions(&TableName::quota_table());
        let open = regions.iter().filter_map(|r| self.0.host.region(r.encoded_name()));
        open.map(|region| region.read_point()).fold(0, u64::wrapping_add)
    }

    fn regions(&self) -> Vec<HostRows> {
        let regions = self.0.catalog.live_regions(&TableName::quota_table());
        let rows = |encoded: &str| HostRows { host: self.0.host.clone(), encoded: encoded.to_string() };
        regions.iter().map(|r| rows(r.encoded_name())).collect()
    }

    fn region_of(&self, row: &[u8]) -> Result<HostRows, MasterError> {
        let regions = self.0.catalog.live_regions(&TableName::quota_table());
        let region = regions.iter().find(|r| r.contains_row(row));
        let region = region.ok_or_else(|| MasterError::new(class::IO, "hbase:quota has no region"))?;
        Ok(HostRows { host: self.0.host.clone(), encoded: region.encoded_name().to_string() })
    }

    fn all(&self) -> Result<Vec<Row>, MasterError> {
        let regions = self.regions();
        if regions.is_empty() {
            return Err(MasterError::io("hbase:quota has no region"));
        }
        let mut rows = Vec::new();
        for region in regions {
            rows.extend(region.scan(None)?);
        }
        Ok(rows)
    }

    /// The cells of a row; none if it is not there.
    fn row(&self, row: &[u8]) -> Result<Row, MasterError> {
        self.region_of(row)?.row(row, false)
    }

    /// An owner's quotas as they are now. What cannot be read counts as nothing, so that a change can mend it.
    fn quotas(&self, owner: &Owner) -> Result<Option<pb::Quotas>, MasterError> {
        let row = self.row(&owner.row())?;
        let Some(bytes) = value(&row, SETTINGS_FAMILY, &owner.qualifier()) else { return Ok(None) };
        Ok(table::decode(bytes).map_err(|reason| tracing::warn!(%owner, reason, "a quota is replaced")).ok())
    }

    fn exceed(&self) -> Result<bool, MasterError> {
        let row = self.row(EXCEED_ROW)?;
        Ok(value(&row, SETTINGS_FAMILY, SETTINGS).is_some_and(|v| table::decode_switch(v) == Ok(true)))
    }

    /// Changes a row, durably; newer than all that is there, whatever the clock said when it was written.
    fn apply(&self, row: &[u8], change: impl FnOnce(MetaEdit) -> MetaEdit) -> Result<(), MasterError> {
        let region = self.region_of(row)?;
        let newest = region.row(row, true)?.iter().map(|c| c.as_ref().timestamp() + 1).max().unwrap_or(0);
        let at_ms = self.0.now_ms().max(newest).min(LATEST_TIMESTAMP - 1);
        region.apply(&[change(MetaEdit::new(row.to_vec(), at_ms))])
    }
}
