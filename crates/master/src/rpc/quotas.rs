//! Quotas: limits of users, tables, namespaces and region servers, and the switches of throttling.

use super::Call;
use crate::MasterError;
use crate::quotas::are_enabled;
use crate::switches::Switch;
use martite_proto as pb;
use martite_quota::change;

pub fn set_quota(call: &Call<'_>, req: pb::SetQuotaRequest) -> Result<pb::SetQuotaResponse, MasterError> {
    let table = match &req.table_name {
        Some(name) => Some(super::table(name)?.to_string()),
        None => None,
    };
    if are_enabled(call.services) {
        let owner = change::owner(&req, table)?;
        tracing::info!(user = call.caller.user, %owner, request = ?req, "set quota");
        call.services.quotas.change(call.services, &owner, &req)?;
        return Ok(pb::SetQuotaResponse {});
    }
    Err(MasterError::do_not_retry("java.lang.UnsupportedOperationException: quota support disabled"))
}

/// With quotas off, the switches are off and stay so.
pub fn switch_rpc_throttle(
    call: &Call<'_>,
    req: pb::SwitchRpcThrottleRequest,
) -> Result<pb::SwitchRpcThrottleResponse, MasterError> {
    let (services, on) = (call.services, req.rpc_throttle_enabled);
    if !are_enabled(services) {
        return Ok(pb::SwitchRpcThrottleResponse { previous_rpc_throttle_enabled: false });
    }
    let previous = services.switches.set(&services.store, Switch::RpcThrottle, on, services.now_ms())?;
    tracing::info!(user = call.caller.user, on, previous, "switch throttling");
    services.quotas.apply_switch(services);
    Ok(pb::SwitchRpcThrottleResponse { previous_rpc_throttle_enabled: previous })
}

pub fn is_rpc_throttle_enabled(
    call: &Call<'_>,
    _: pb::IsRpcThrottleEnabledRequest,
) -> Result<pb::IsRpcThrottleEnabledResponse, MasterError> {
    let on = are_enabled(call.services) && call.services.is_on(Switch::RpcThrottle);
    Ok(pb::IsRpcThrottleEnabledResponse { rpc_throttle_enabled: on })
}

pub fn switch_exceed_throttle_quota(
    call: &Call<'_>,
    req: pb::SwitchExceedThrottleQuotaRequest,
) -> Result<pb::SwitchExceedThrottleQuotaResponse, MasterError> {
    let (services, on) = (call.services, req.exceed_throttle_quota_enabled);
    let previous = are_enabled(services) && services.quotas.switch_exceed(services, on)?;
    tracing::info!(user = call.caller.user, on, previous, "switch exceeding of quotas");
    Ok(pb::SwitchExceedThrottleQuotaResponse { previous_exceed_throttle_quota_enabled: previous })
}

pub fn get_space_quota_region_sizes(
    _: &Call<'_>,
    _: pb::GetSpaceQuotaRegionSizesRequest,
) -> Result<pb::GetSpaceQuotaRegionSizesResponse, MasterError> {
    Ok(pb::GetSpaceQuotaRegionSizesResponse { sizes: Vec::new() })
}

pub fn get_quota_states(_: &Call<'_>, _: pb::GetQuotaStatesRequest) -> Result<pb::GetQuotaStatesResponse, MasterError> {
    Ok(pb::GetQuotaStatesResponse { table_snapshots: Vec::new(), ns_snapshots: Vec::new() })
}
