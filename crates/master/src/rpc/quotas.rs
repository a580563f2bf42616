//! Quotas: not kept yet. What HBase answers when they are disabled is answered in any case.

use super::Call;
use crate::MasterError;
use martite_config::keys;
use martite_proto as pb;

fn refuse<T>(call: &Call<'_>) -> Result<T, MasterError> {
    if call.services.config.get(keys::QUOTA_ENABLED) {
        return Err(MasterError::unsupported(call.method));
    }
    Err(MasterError::do_not_retry("java.lang.UnsupportedOperationException: quota support disabled"))
}

pub fn set_quota(call: &Call<'_>, _: pb::SetQuotaRequest) -> Result<pb::SetQuotaResponse, MasterError> {
    refuse(call)
}

pub fn switch_rpc_throttle(
    call: &Call<'_>,
    _: pb::SwitchRpcThrottleRequest,
) -> Result<pb::SwitchRpcThrottleResponse, MasterError> {
    refuse(call)
}

pub fn is_rpc_throttle_enabled(
    call: &Call<'_>,
    _: pb::IsRpcThrottleEnabledRequest,
) -> Result<pb::IsRpcThrottleEnabledResponse, MasterError> {
    refuse(call)
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
