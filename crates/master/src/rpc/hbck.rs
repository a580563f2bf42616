//! HbckService: repairs by hand (HBCK2).

use super::{Call, regions::region, table};
use crate::procedure::{Transit, TransitRegion};
use crate::{MasterError, janitor};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::{RegionState, TableState};
use martite_proto as pb;

/// What Assigns and Unassigns answer for a region that they cannot help.
const NO_PROCEDURE: u64 = u64::MAX;

pub fn set_table_state(
    call: &Call<'_>,
    req: pb::SetTableStateInMetaRequest,
) -> Result<pb::GetTableStateResponse, MasterError> {
    let table = table(&req.table_name)?;
    let before = call.services.catalog.existing(&table)?.state;
    let state = TableState::from_code(req.table_state.state)
        .ok_or_else(|| MasterError::do_not_retry(format!("no table state {}", req.table_state.state)))?;
    if table.is_meta() {
        return Err(MasterError::do_not_retry("hbase:meta is always enabled"));
    }
    call.services.set_table_state(&table, state)?;
    Ok(pb::GetTableStateResponse { table_state: before.to_proto() })
}

pub fn set_region_state(
    call: &Call<'_>,
    req: pb::SetRegionStateInMetaRequest,
) -> Result<pb::SetRegionStateInMetaResponse, MasterError> {
    let mut states = Vec::new();
    for wanted in req.states {
        let entry = region(call, &wanted.region_specifier)?;
        let state = RegionState::from_code(wanted.state)
            .ok_or_else(|| MasterError::do_not_retry(format!("no region state {}", wanted.state)))?;
        if entry.info.is_meta() {
            return Err(MasterError::do_not_retry("the state of hbase:meta's region is not in hbase:meta"));
        }
        // As in HBase, where nothing changes nothing is told.
        if entry.state == state {
            continue;
        }
        let edit = MetaEdit::region(&entry.info, call.services.now_ms());
        call.services.meta.apply(&[edit.state(state, entry.info.replica_id())])?;
        call.services.catalog.update_region(entry.info.encoded_name(), |r| r.state = state);
        states
            .push(pb::RegionSpecifierAndState { region_specifier: wanted.region_specifier, state: entry.state.code() });
    }
    Ok(pb::SetRegionStateInMetaResponse { states })
}

fn transit(call: &Call<'_>, specifiers: &[pb::RegionSpecifier], transit: Transit) -> Result<Vec<u64>, MasterError> {
    let mut ids = Vec::new();
    for specifier in specifiers {
        // As in HBase, of a region that nobody knows nothing is told.
        let Ok(entry) = region(call, specifier) else { continue };
        let may_move = !entry.info.is_meta() && entry.is_live();
        ids.push(if may_move {
            call.submit(Box::new(TransitRegion::new(&entry.info, transit)), None, None)?
        } else {
            NO_PROCEDURE
        });
    }
    Ok(ids)
}

pub fn assigns(call: &Call<'_>, req: pb::AssignsRequest) -> Result<pb::AssignsResponse, MasterError> {
    Ok(pb::AssignsResponse { pid: transit(call, &req.region, Transit::Assign)? })
}

pub fn unassigns(call: &Call<'_>, req: pb::UnassignsRequest) -> Result<pb::UnassignsResponse, MasterError> {
    Ok(pb::UnassignsResponse { pid: transit(call, &req.region, Transit::Unassign)? })
}

/// Procedures do not get stuck without end here; none is bypassed.
pub fn bypass_procedure(
    _: &Call<'_>,
    req: pb::BypassProcedureRequest,
) -> Result<pb::BypassProcedureResponse, MasterError> {
    Ok(pb::BypassProcedureResponse { bypassed: vec![false; req.proc_id.len()] })
}

/// A crash of the only server is recovered at its start.
pub fn schedule_server_crash(
    _: &Call<'_>,
    req: pb::ScheduleServerCrashProcedureRequest,
) -> Result<pb::ScheduleServerCrashProcedureResponse, MasterError> {
    Ok(pb::ScheduleServerCrashProcedureResponse { pid: vec![NO_PROCEDURE; req.server_name.len()] })
}

pub fn schedule_for_unknown_servers(
    _: &Call<'_>,
    _: pb::ScheduleScPsForUnknownServersRequest,
) -> Result<pb::ScheduleScPsForUnknownServersResponse, MasterError> {
    Ok(pb::ScheduleScPsForUnknownServersResponse { pid: Vec::new() })
}

/// Nothing can be inconsistent that a look would find; the answer says that none was taken.
pub fn run_hbck_chore(_: &Call<'_>, _: pb::RunHbckChoreRequest) -> Result<pb::RunHbckChoreResponse, MasterError> {
    Ok(pb::RunHbckChoreResponse { ran: false })
}

pub fn fix_meta(call: &Call<'_>, _: pb::FixMetaRequest) -> Result<pb::FixMetaResponse, MasterError> {
    janitor::run(call.services)?;
    Ok(pb::FixMetaResponse {})
}
