//! Quotas: limits of users, tables, namespaces and region servers, and the switches of throttling.

use super::Call;
use crate::quotas::are_enabled;
use crate::switches::Switch;
use crate::{MasterError, space};
use martite_catalog::TableName;
use martite_proto as pb;
use martite_quota::change;
use martite_quota::space::Usage;
use std::collections::BTreeMap;

pub fn set_quota(call: &Call<'_>, req: pb::SetQuotaRequest) -> Result<pb::SetQuotaResponse, MasterError> {
    let table = match &req.table_name {
        Some(name) => Some(super::table(name)?.to_string()),
        None => None,
    };
    if are_enabled(call.services) {
        let owner = change::owner(&req, table)?;
        tracing::info!(user = call.caller.user, %owner, request = ?req, "set quota");
        call.services.quotas.change(call.services, &owner, &req)?;
        let concerns_space = req.space_limit.is_some() || req.remove_all == Some(true);
        if concerns_space && let Err(error) = space::observe(call.services, call.procedures) {
            tracing::warn!(%error, %owner, "the space quota is set; it counts from the next observation on");
        }
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
    call: &Call<'_>,
    _: pb::GetSpaceQuotaRegionSizesRequest,
) -> Result<pb::GetSpaceQuotaRegionSizesResponse, MasterError> {
    use pb::get_space_quota_region_sizes_response::RegionSizes;
    let sizes = if are_enabled(call.services) { space::sizes(call.services) } else { BTreeMap::new() };
    let size = |(table, bytes): (TableName, u64)| RegionSizes { table_name: Some(table.to_proto()), size: Some(bytes) };
    Ok(pb::GetSpaceQuotaRegionSizesResponse { sizes: sizes.into_iter().map(size).collect() })
}

pub fn get_quota_states(
    call: &Call<'_>,
    _: pb::GetQuotaStatesRequest,
) -> Result<pb::GetQuotaStatesResponse, MasterError> {
    use pb::get_quota_states_response::{NamespaceQuotaSnapshot, TableQuotaSnapshot};
    let verdict = call.services.quotas.verdict();
    let mut table_snapshots = Vec::new();
    for (table, usage) in &verdict.tables {
        let table_name = Some(TableName::parse(table)?.to_proto());
        table_snapshots.push(TableQuotaSnapshot { table_name, snapshot: Some(usage.to_proto()) });
    }
    let of_namespace = |(name, usage): (&String, &Usage)| NamespaceQuotaSnapshot {
        namespace: Some(name.clone()),
        snapshot: Some(usage.to_proto()),
    };
    let ns_snapshots = verdict.namespaces.iter().map(of_namespace).collect();
    Ok(pb::GetQuotaStatesResponse { table_snapshots, ns_snapshots })
}
