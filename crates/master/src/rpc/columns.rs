//! Families of a table: add, modify, delete.

use super::{Call, table, tables::modify};
use crate::procedure::ModifyFileTracker;
use crate::{MasterError, class};
use martite_catalog::{FamilyDescriptor, TableDescriptor};
use martite_proto as pb;

fn current(call: &Call<'_>, name: &pb::TableName) -> Result<TableDescriptor, MasterError> {
    Ok((*call.services.catalog.existing(&table(name)?)?.descriptor).clone())
}

fn invalid(text: String) -> MasterError {
    MasterError::new(class::INVALID_FAMILY, text)
}

pub fn add_column(call: &Call<'_>, req: pb::AddColumnRequest) -> Result<pb::AddColumnResponse, MasterError> {
    let answer = |id| Ok(pb::AddColumnResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = current(call, &req.table_name)?;
    let family = FamilyDescriptor::from_proto(&req.column_families)?;
    if table.family(family.name()).is_some() {
        return Err(invalid(format!(
            "Column family '{}' in table '{}' already exists so cannot be added",
            family.name_string(),
            table.name()
        )));
    }
    answer(modify(call, table.with_family(family), true, (req.nonce_group, req.nonce))?)
}

pub fn modify_column(call: &Call<'_>, req: pb::ModifyColumnRequest) -> Result<pb::ModifyColumnResponse, MasterError> {
    let answer = |id| Ok(pb::ModifyColumnResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let table = current(call, &req.table_name)?;
    let family = FamilyDescriptor::from_proto(&req.column_families)?;
    if table.family(family.name()).is_none() {
        return Err(invalid(format!("Family '{}' does not exist, so it cannot be modified", family.name_string())));
    }
    answer(modify(call, table.with_family(family), true, (req.nonce_group, req.nonce))?)
}

pub fn delete_column(call: &Call<'_>, req: pb::DeleteColumnRequest) -> Result<pb::DeleteColumnResponse, MasterError> {
    let answer = |id| Ok(pb::DeleteColumnResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let mut table = current(call, &req.table_name)?;
    let name = String::from_utf8_lossy(&req.column_name).into_owned();
    if table.remove_family(&req.column_name).is_none() {
        return Err(invalid(format!("Family '{name}' does not exist, so it cannot be deleted")));
    }
    if table.family_count() == 0 {
        return Err(invalid(format!(
            "Family '{name}' is the only column family in the table, so it cannot be deleted"
        )));
    }
    answer(modify(call, table, true, (req.nonce_group, req.nonce))?)
}

pub fn modify_file_tracker(
    call: &Call<'_>,
    req: pb::ModifyColumnStoreFileTrackerRequest,
) -> Result<pb::ModifyColumnStoreFileTrackerResponse, MasterError> {
    let answer = |id| Ok(pb::ModifyColumnStoreFileTrackerResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let body = ModifyFileTracker::new(call.services, &table(&req.table_name)?, Some(req.family), &req.dst_sft)?;
    answer(call.submit(Box::new(body), req.nonce_group, req.nonce)?)
}
