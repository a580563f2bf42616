//! Procedures as clients see them: results, lists, locks, and the older "global" procedures by signature.

use super::Call;
use crate::MasterError;
use crate::procedure::{FlushTable, Resource};
use martite_catalog::TableName;
use martite_proto as pb;
use pb::get_procedure_result_response::State;

/// The older way to flush a table.
const FLUSH_SIGNATURE: &str = "flush-table-proc";
/// How long a client may wait for such a procedure.
const EXPECTED_TIMEOUT_MS: i64 = 60_000;

pub fn get_procedure_result(
    call: &Call<'_>,
    req: pb::GetProcedureResultRequest,
) -> Result<pb::GetProcedureResultResponse, MasterError> {
    let none = pb::GetProcedureResultResponse { state: State::NotFound as i32, ..Default::default() };
    let Some(info) = call.procedures.get(req.proc_id, true) else { return Ok(none) };
    let state = if info.finished { State::Finished } else { State::Running };
    let (exception, result) = if info.finished { (info.proto.exception, info.proto.result) } else { (None, None) };
    Ok(pb::GetProcedureResultResponse {
        state: state as i32,
        submitted_time: Some(info.proto.submitted_time),
        last_update: Some(info.proto.last_update),
        result,
        exception,
    })
}

/// Procedures go through: none can be aborted.
pub fn abort_procedure(_: &Call<'_>, _: pb::AbortProcedureRequest) -> Result<pb::AbortProcedureResponse, MasterError> {
    Ok(pb::AbortProcedureResponse { is_procedure_aborted: false })
}

pub fn get_procedures(call: &Call<'_>, _: pb::GetProceduresRequest) -> Result<pb::GetProceduresResponse, MasterError> {
    Ok(pb::GetProceduresResponse { procedure: call.procedures.list().into_iter().map(listed).collect() })
}

/// Our saved states mean nothing to a client.
fn listed(mut procedure: pb::Procedure) -> pb::Procedure {
    procedure.state_data = None;
    procedure
}

pub fn get_locks(call: &Call<'_>, _: pb::GetLocksRequest) -> Result<pb::GetLocksResponse, MasterError> {
    let lock = call.procedures.list_locks().into_iter().map(|(resource, exclusive, owners, waiting)| {
        let (resource_type, name) = match resource {
            Resource::Namespace(name) => (pb::LockedResourceType::Namespace, name),
            Resource::Table(table) => (pb::LockedResourceType::Table, table.to_string()),
            Resource::Region(encoded) => (pb::LockedResourceType::Region, encoded.to_string()),
        };
        let lock_type = if exclusive { pb::LockType::Exclusive } else { pb::LockType::Shared };
        pb::LockedResource {
            resource_type: resource_type as i32,
            resource_name: Some(name),
            lock_type: lock_type as i32,
            shared_lock_count: Some(if exclusive { 0 } else { owners.len() as i32 }),
            exclusive_lock_owner_procedure: owners.into_iter().next().filter(|_| exclusive).map(listed),
            waiting_procedures: waiting.into_iter().map(listed).collect(),
        }
    });
    Ok(pb::GetLocksResponse { lock: lock.collect() })
}

fn check_signature(procedure: &pb::ProcedureDescription) -> Result<(), MasterError> {
    if procedure.signature == FLUSH_SIGNATURE {
        return Ok(());
    }
    Err(MasterError::do_not_retry(format!("The procedure is not registered: {}", procedure.signature)))
}

/// Flushes a table, and answers when that is done.
pub fn exec_procedure(
    call: &Call<'_>,
    req: pb::ExecProcedureRequest,
) -> Result<pb::ExecProcedureResponse, MasterError> {
    check_signature(&req.procedure)?;
    let table = TableName::parse(req.procedure.instance.as_deref().unwrap_or_default())?;
    let setting = req.procedure.configuration.iter().find(|pair| pair.name == "family");
    let families: Vec<bytes::Bytes> = setting
        .map(|pair| pair.value.split(',').filter(|f| !f.is_empty()).map(|f| f.to_string().into()).collect())
        .unwrap_or_default();
    FlushTable::check(call.services, &table, &families)?;
    let id = call.submit(Box::new(FlushTable::new(&table, families)), None, None)?;
    call.procedures.wait(id)?;
    Ok(pb::ExecProcedureResponse { expected_timeout: Some(EXPECTED_TIMEOUT_MS), return_data: None })
}

pub fn is_procedure_done(
    _: &Call<'_>,
    req: pb::IsProcedureDoneRequest,
) -> Result<pb::IsProcedureDoneResponse, MasterError> {
    check_signature(&req.procedure.unwrap_or_default())?;
    Ok(pb::IsProcedureDoneResponse { done: Some(true), snapshot: None })
}
