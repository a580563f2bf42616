//! Quotas: settings are not kept yet, only the switch of throttling. Without them HBase's refusal is answered.

use super::Call;
use crate::MasterError;
use crate::switches::Switch;
use martite_config::keys;
use martite_proto as pb;

fn check_enabled(call: &Call<'_>) -> Result<(), MasterError> {
    if call.services.config.get(keys::QUOTA_ENABLED) {
        return Ok(());
    }
    Err(MasterError::do_not_retry("java.lang.UnsupportedOperationException: quota support disabled"))
}

fn refuse<T>(call: &Call<'_>) -> Result<T, MasterError> {
    check_enabled(call)?;
    Err(MasterError::unsupported(call.method))
}

pub fn set_quota(call: &Call<'_>, _: pb::SetQuotaRequest) -> Result<pb::SetQuotaResponse, MasterError> {
    refuse(call)
}

pub fn switch_rpc_throttle(
    call: &Call<'_>,
    req: pb::SwitchRpcThrottleRequest,
) -> Result<pb::SwitchRpcThrottleResponse, MasterError> {
    check_enabled(call)?;
    let services = call.services;
    let on = req.rpc_throttle_enabled;
    let previous = services.switches.set(&services.store, Switch::RpcThrottle, on, services.now_ms())?;
    Ok(pb::SwitchRpcThrottleResponse { previous_rpc_throttle_enabled: previous })
}

pub fn is_rpc_throttle_enabled(
    call: &Call<'_>,
    _: pb::IsRpcThrottleEnabledRequest,
) -> Result<pb::IsRpcThrottleEnabledResponse, MasterError> {
    check_enabled(call)?;
    Ok(pb::IsRpcThrottleEnabledResponse { rpc_throttle_enabled: call.services.is_on(Switch::RpcThrottle) })
}

pub fn switch_exceed_throttle_quota(
    call: &Call<'_>,
    _: pb::SwitchExceedThrottleQuotaRequest,
) -> Result<pb::SwitchExceedThrottleQuotaResponse, MasterError> {
    refuse(call)
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
