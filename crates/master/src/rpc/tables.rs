//! Tables: create, delete, truncate, enable, disable, modify, flush.

use super::{Call, table};
use crate::procedure::{
    CreateTable, DeleteTable, DisableTable, EnableTable, FlushTable, ModifyFileTracker, ModifyTable, TruncateTable,
    check_split_keys, regions_of,
};
use crate::{MasterError, checks, class, file_tracker, space};
use martite_catalog::{TableDescriptor, TableName};
use martite_proto as pb;

pub fn create_table(call: &Call<'_>, req: pb::CreateTableRequest) -> Result<pb::CreateTableResponse, MasterError> {
    let answer = |id| Ok(pb::CreateTableResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = TableDescriptor::from_proto(&req.table_schema)?;
    call.services.namespaces.existing(table.name().namespace())?;
    let split_keys = check_split_keys(&req.split_keys)?;
    let regions = regions_of(table.name(), &split_keys, call.services.now_ms());
    checks::table(&call.services.config, &table)?;
    file_tracker::check_create(&table)?;
    if call.services.catalog.table(table.name()).is_some() {
        return Err(MasterError::table_exists(table.name()));
    }
    answer(call.submit(Box::new(CreateTable::new(&table, &regions)), req.nonce_group, req.nonce)?)
}

/// HBase's text when a table is in the wrong state already at the call.
fn name_only(error: MasterError, class: &str, table: &TableName) -> MasterError {
    if error.class == class { MasterError::new(class, table.as_str()) } else { error }
}

pub fn delete_table(call: &Call<'_>, req: pb::DeleteTableRequest) -> Result<pb::DeleteTableResponse, MasterError> {
    let answer = |id| Ok(pb::DeleteTableResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = table(&req.table_name)?;
    DeleteTable::check(call.services, &table)?;
    answer(call.submit(Box::new(DeleteTable::new(&table)), req.nonce_group, req.nonce)?)
}

pub fn truncate_table(
    call: &Call<'_>,
    req: pb::TruncateTableRequest,
) -> Result<pb::TruncateTableResponse, MasterError> {
    let answer = |id| Ok(pb::TruncateTableResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = table(&req.table_name)?;
    DeleteTable::check(call.services, &table).map_err(|e| name_only(e, class::TABLE_NOT_DISABLED, &table))?;
    let body = TruncateTable::new(&table, req.preserve_splits.unwrap_or(false));
    answer(call.submit(Box::new(body), req.nonce_group, req.nonce)?)
}

pub fn enable_table(call: &Call<'_>, req: pb::EnableTableRequest) -> Result<pb::EnableTableResponse, MasterError> {
    let answer = |id| Ok(pb::EnableTableResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = table(&req.table_name)?;
    space::check_enable(call.services, &table)?;
    // As in HBase, what else speaks against it is the procedure's failure, not the call's.
    answer(call.submit(Box::new(EnableTable::new(&table)), req.nonce_group, req.nonce)?)
}

pub fn disable_table(call: &Call<'_>, req: pb::DisableTableRequest) -> Result<pb::DisableTableResponse, MasterError> {
    let answer = |id| Ok(pb::DisableTableResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = table(&req.table_name)?;
    DisableTable::check(call.services, &table).map_err(|e| name_only(e, class::TABLE_NOT_ENABLED, &table))?;
    answer(call.submit(Box::new(DisableTable::new(&table)), req.nonce_group, req.nonce)?)
}

pub fn modify_table(call: &Call<'_>, req: pb::ModifyTableRequest) -> Result<pb::ModifyTableResponse, MasterError> {
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return Ok(pb::ModifyTableResponse { proc_id: Some(id) });
    }
    let name = table(&req.table_name)?;
    let table = TableDescriptor::from_proto(&req.table_schema)?;
    if *table.name() != name {
        return Err(MasterError::do_not_retry(format!("The descriptor of {} is for {}", name, table.name())));
    }
    let id = modify(call, table, req.reopen_regions.unwrap_or(true), (req.nonce_group, req.nonce))?;
    Ok(pb::ModifyTableResponse { proc_id: Some(id) })
}

/// Starts the change to a new descriptor, if it makes sense.
pub(super) fn modify(
    call: &Call<'_>,
    table: TableDescriptor,
    reopen: bool,
    nonce: (Option<u64>, Option<u64>),
) -> Result<u64, MasterError> {
    call.services.catalog.existing(table.name())?;
    checks::table(&call.services.config, &table)?;
    ModifyTable::check(call.services, &table, reopen)?;
    ModifyTable::check_migrated(call.services, &table)?;
    call.submit(Box::new(ModifyTable::new(&table, reopen)), nonce.0, nonce.1)
}

pub fn flush_table(call: &Call<'_>, req: pb::FlushTableRequest) -> Result<pb::FlushTableResponse, MasterError> {
    let answer = |id| Ok(pb::FlushTableResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = table(&req.table_name)?;
    FlushTable::check(call.services, &table, &req.column_family)?;
    answer(call.submit(Box::new(FlushTable::new(&table, req.column_family)), req.nonce_group, req.nonce)?)
}

pub fn modify_file_tracker(
    call: &Call<'_>,
    req: pb::ModifyTableStoreFileTrackerRequest,
) -> Result<pb::ModifyTableStoreFileTrackerResponse, MasterError> {
    let answer = |id| Ok(pb::ModifyTableStoreFileTrackerResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let body = ModifyFileTracker::new(call.services, &table(&req.table_name)?, None, &req.dst_sft)?;
    answer(call.submit(Box::new(body), req.nonce_group, req.nonce)?)
}
