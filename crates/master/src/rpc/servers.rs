//! The servers of the cluster, of which there is one: it stops, and it cannot be taken out of service.

use super::Call;
use crate::MasterError;
use martite_proto as pb;

pub fn shutdown(call: &Call<'_>, _: pb::ShutdownRequest) -> Result<pb::ShutdownResponse, MasterError> {
    call.services.host.stop_process(&format!("shutdown by {}", call.caller.user));
    Ok(pb::ShutdownResponse {})
}

pub fn stop_master(call: &Call<'_>, _: pb::StopMasterRequest) -> Result<pb::StopMasterResponse, MasterError> {
    call.services.host.stop_process(&format!("stop_master by {}", call.caller.user));
    Ok(pb::StopMasterResponse {})
}

pub fn list_decommissioned(
    _: &Call<'_>,
    _: pb::ListDecommissionedRegionServersRequest,
) -> Result<pb::ListDecommissionedRegionServersResponse, MasterError> {
    Ok(pb::ListDecommissionedRegionServersResponse { server_name: Vec::new() })
}

pub fn decommission(
    call: &Call<'_>,
    req: pb::DecommissionRegionServersRequest,
) -> Result<pb::DecommissionRegionServersResponse, MasterError> {
    if req.server_name.is_empty() {
        return Ok(pb::DecommissionRegionServersResponse {});
    }
    let server = call.services.host.server_name();
    Err(MasterError::do_not_retry(format!("Unable to decommission '{server}': it is the only server")))
}

/// Nothing is out of service.
pub fn recommission(
    _: &Call<'_>,
    _: pb::RecommissionRegionServerRequest,
) -> Result<pb::RecommissionRegionServerResponse, MasterError> {
    Ok(pb::RecommissionRegionServerResponse {})
}

/// Answers the servers that could not be cleared: none.
pub fn clear_dead(_: &Call<'_>, _: pb::ClearDeadServersRequest) -> Result<pb::ClearDeadServersResponse, MasterError> {
    Ok(pb::ClearDeadServersResponse { server_name: Vec::new() })
}
