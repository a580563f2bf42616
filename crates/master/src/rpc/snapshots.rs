//! Snapshots: taking, listing, deleting, and tables made of them.

use super::Call;
use crate::procedure::{CloneSnapshot, Copies, RestoreSnapshot, SnapshotTable, full_class};
use crate::snapshots::{self, text};
use crate::{MasterError, checks, class, file_tracker};
use martite_catalog::table::FILE_TRACKER;
use martite_catalog::{TableDescriptor, TableName, TableState, snapshot, table_name};
use martite_config::keys;
use martite_proto as pb;
use prost::Message;

/// UnsupportedOperationException, if the feature is off.
fn check_enabled(call: &Call<'_>) -> Result<(), MasterError> {
    if call.services.config.get(keys::SNAPSHOT_ENABLED) {
        return Ok(());
    }
    let text = "java.lang.UnsupportedOperationException: To use snapshots, You must add to the hbase-site.xml of the HBase \
                Master: 'hbase.snapshot.enabled' property with value 'true'.";
    Err(MasterError::do_not_retry(text))
}

fn illegal(text: &str) -> MasterError {
    MasterError::do_not_retry(format!("java.lang.IllegalArgumentException: {text}"))
}

/// The table that a request names; none of the system's.
fn table_of(snapshot: &pb::SnapshotDescription) -> Result<TableName, MasterError> {
    let name = snapshot.table.as_deref();
    let name = name.ok_or_else(|| illegal("Descriptor doesn't apply to a table, so we can't build it."))?;
    let table = TableName::parse(name)?;
    if table.is_system() { Err(illegal("System table snapshots are not allowed")) } else { Ok(table) }
}

pub fn snapshot(call: &Call<'_>, req: pb::SnapshotRequest) -> Result<pb::SnapshotResponse, MasterError> {
    check_enabled(call)?;
    // Who says no nonce asks for the end by the snapshot's name.
    let knows_procedures = req.nonce_group.is_some() && req.nonce.is_some();
    let timeout_ms = call.services.config.get(keys::SNAPSHOT_TIMEOUT);
    let answer = |id: u64| {
        let expected_timeout = i64::try_from(timeout_ms).unwrap_or(i64::MAX);
        Ok(pb::SnapshotResponse { expected_timeout, proc_id: knows_procedures.then_some(id as i64) })
    };
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let description = complete(call, req.snapshot)?;
    table_name::check_snapshot_name(&description.name)?;
    let table = table_of(&description)?;
    let _one = call.services.snapshots.asking();
    SnapshotTable::check(call.services, &table, &description.name)?;
    if under_way(call, &description.name) {
        let text = format!(
            "Rejected taking {} because we are already running another snapshot on the same table or with the same name",
            text(&description)
        );
        return Err(MasterError::new(class::SNAPSHOT_CREATION, text));
    }
    answer(call.submit(Box::new(SnapshotTable::new(&table, description)), req.nonce_group, req.nonce)?)
}

/// With what a request may leave to the server.
fn complete(call: &Call<'_>, asked: pb::SnapshotDescription) -> Result<pb::SnapshotDescription, MasterError> {
    let forever = i64::MAX / 1000;
    let default_ttl = i64::try_from(call.services.config.get(keys::SNAPSHOT_TTL)).unwrap_or(0);
    Ok(pb::SnapshotDescription {
        creation_time: asked.creation_time.filter(|ms| *ms != 0).or(i64::try_from(call.services.clock.now_ms()).ok()),
        ttl: asked.ttl.filter(|ttl| (1..=forever).contains(ttl)).or(Some(default_ttl)),
        version: asked.version.or(Some(snapshot::VERSION)),
        r#type: Some(asked.r#type() as i32),
        ..asked
    })
}

/// Whether a snapshot of that name is being taken.
fn under_way(call: &Call<'_>, name: &str) -> bool {
    let class = full_class(SnapshotTable::CLASS);
    let unfinished = call.procedures.list().into_iter().filter(|p| p.class_name == class).filter_map(|p| p.state_data);
    unfinished.filter_map(|state| SnapshotTable::decode(&state[..]).ok()).any(|procedure| procedure.name() == name)
}

pub fn get_completed_snapshots(
    call: &Call<'_>,
    _: pb::GetCompletedSnapshotsRequest,
) -> Result<pb::GetCompletedSnapshotsResponse, MasterError> {
    Ok(pb::GetCompletedSnapshotsResponse { snapshots: snapshots::all(call.services)? })
}

pub fn delete_snapshot(
    call: &Call<'_>,
    req: pb::DeleteSnapshotRequest,
) -> Result<pb::DeleteSnapshotResponse, MasterError> {
    check_enabled(call)?;
    tracing::info!(user = call.caller.user, snapshot = req.snapshot.name, "a snapshot is deleted");
    snapshots::delete(call.services, &req.snapshot.name)?;
    Ok(pb::DeleteSnapshotResponse {})
}

pub fn is_snapshot_done(
    call: &Call<'_>,
    req: pb::IsSnapshotDoneRequest,
) -> Result<pb::IsSnapshotDoneResponse, MasterError> {
    let unknown = |text: String| MasterError::new(class::UNKNOWN_SNAPSHOT, text);
    let asked = req.snapshot.ok_or_else(|| {
        unknown("No snapshot name passed in request, can't figure out which snapshot you want to check.".into())
    })?;
    table_name::check_snapshot_name(&asked.name)?;
    let done = !under_way(call, &asked.name);
    if done && !snapshots::exists(call.services, &asked.name) {
        let text =
            format!("Snapshot {} is not currently running or one of the known completed snapshots.", text(&asked));
        return Err(unknown(text));
    }
    Ok(pb::IsSnapshotDoneResponse { done: Some(done), snapshot: None })
}

/// Restores the snapshot's own table if the one that is named is there, and makes it otherwise, as HBase does.
pub fn restore_snapshot(
    call: &Call<'_>,
    req: pb::RestoreSnapshotRequest,
) -> Result<pb::RestoreSnapshotResponse, MasterError> {
    check_enabled(call)?;
    let answer = |proc_id| Ok(pb::RestoreSnapshotResponse { proc_id });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let services = call.services;
    let found = snapshots::existing(services, &req.snapshot.name)?;
    let target = table_of(&req.snapshot)?;
    let manifest = snapshots::manifest(services, &found.name)?;
    let own = TableDescriptor::from_proto(&manifest.table_schema)?;
    checks::table(&services.config, &own)?;
    snapshots::check_expired(services, &found)?;
    snapshots::check_files(services, &manifest)?;
    if services.catalog.table(&target).is_some() {
        let entry = services.catalog.existing(own.name())?;
        file_tracker::check_restore(&entry.descriptor, &own)?;
        if entry.state == TableState::Enabled {
            let name = own.name();
            return Err(MasterError::do_not_retry(format!(
                "java.lang.UnsupportedOperationException: Table '{name}' must be disabled in order to perform a restore operation."
            )));
        }
        return answer(call.submit(Box::new(RestoreSnapshot::new(found, &own)), req.nonce_group, req.nonce)?);
    }
    let table = renamed(manifest.table_schema.clone(), &target, req.custom_sft.as_deref())?;
    let copies = Copies::plan(&manifest, &target, services.now_ms())?;
    answer(call.submit(Box::new(CloneSnapshot::new(found, &table, copies)), req.nonce_group, req.nonce)?)
}

/// A snapshot's descriptor under another table's name, with another store file tracker if one is named.
fn renamed(
    mut schema: pb::TableSchema,
    name: &TableName,
    tracker: Option<&str>,
) -> Result<TableDescriptor, MasterError> {
    schema.table_name = Some(name.to_proto());
    let mut table = TableDescriptor::from_proto(&schema)?;
    if let Some(tracker) = tracker.filter(|tracker| !tracker.is_empty()) {
        table = table.with(FILE_TRACKER, tracker);
        let families: Vec<_> = table.families().cloned().collect();
        for mut family in families {
            family.configuration.remove(FILE_TRACKER);
            family.attributes.remove(FILE_TRACKER);
            table.set_family(family);
        }
    }
    Ok(table)
}
