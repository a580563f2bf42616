//! Background work that an administrator turns on, off, or runs now.

use super::{Call, listing};
use crate::catalog::TableEntry;
use crate::switches::Switch;
use crate::{MasterError, cleaner, janitor, normalizer};
use martite_proto as pb;

fn set(call: &Call<'_>, switch: Switch, on: bool) -> Result<bool, MasterError> {
    call.services.switches.set(&call.services.store, switch, on, call.services.now_ms())
}

/// One server is in balance.
pub fn balance(call: &Call<'_>, req: pb::BalanceRequest) -> Result<pb::BalanceResponse, MasterError> {
    let ran = call.services.is_on(Switch::Balancer) || req.dry_run.unwrap_or(false);
    Ok(pb::BalanceResponse { balancer_ran: ran, moves_calculated: Some(0), moves_executed: Some(0) })
}

pub fn set_balancer_running(
    call: &Call<'_>,
    req: pb::SetBalancerRunningRequest,
) -> Result<pb::SetBalancerRunningResponse, MasterError> {
    Ok(pb::SetBalancerRunningResponse { prev_balance_value: Some(set(call, Switch::Balancer, req.on)?) })
}

pub fn is_balancer_enabled(
    call: &Call<'_>,
    _: pb::IsBalancerEnabledRequest,
) -> Result<pb::IsBalancerEnabledResponse, MasterError> {
    Ok(pb::IsBalancerEnabledResponse { enabled: call.services.is_on(Switch::Balancer) })
}

pub fn normalize(call: &Call<'_>, req: pb::NormalizeRequest) -> Result<pb::NormalizeResponse, MasterError> {
    let wanted = listing::Wanted {
        names: &req.table_names,
        regex: req.regex.as_deref(),
        namespace: req.namespace.as_deref(),
        system: false,
    };
    let tables = listing::matching(call.services, &wanted)?;
    let is_wanted = |table: &TableEntry| tables.iter().any(|t| t.name() == table.name());
    Ok(pb::NormalizeResponse { normalizer_ran: normalizer::run(call.services, call.procedures, is_wanted)? })
}

pub fn set_normalizer_running(
    call: &Call<'_>,
    req: pb::SetNormalizerRunningRequest,
) -> Result<pb::SetNormalizerRunningResponse, MasterError> {
    Ok(pb::SetNormalizerRunningResponse { prev_normalizer_value: Some(set(call, Switch::Normalizer, req.on)?) })
}

pub fn is_normalizer_enabled(
    call: &Call<'_>,
    _: pb::IsNormalizerEnabledRequest,
) -> Result<pb::IsNormalizerEnabledResponse, MasterError> {
    Ok(pb::IsNormalizerEnabledResponse { enabled: call.services.is_on(Switch::Normalizer) })
}

fn switch_of(code: i32) -> Result<Switch, MasterError> {
    match pb::MasterSwitchType::try_from(code) {
        Ok(pb::MasterSwitchType::Split) => Ok(Switch::Split),
        Ok(pb::MasterSwitchType::Merge) => Ok(Switch::Merge),
        Err(_) => Err(MasterError::do_not_retry(format!("no switch has the number {code}"))),
    }
}

pub fn set_split_or_merge_enabled(
    call: &Call<'_>,
    req: pb::SetSplitOrMergeEnabledRequest,
) -> Result<pb::SetSplitOrMergeEnabledResponse, MasterError> {
    let mut prev_value = Vec::new();
    for code in req.switch_types {
        prev_value.push(set(call, switch_of(code)?, req.enabled)?);
    }
    Ok(pb::SetSplitOrMergeEnabledResponse { prev_value })
}

pub fn is_split_or_merge_enabled(
    call: &Call<'_>,
    req: pb::IsSplitOrMergeEnabledRequest,
) -> Result<pb::IsSplitOrMergeEnabledResponse, MasterError> {
    Ok(pb::IsSplitOrMergeEnabledResponse { enabled: call.services.is_on(switch_of(req.switch_type)?) })
}

pub fn run_catalog_scan(
    call: &Call<'_>,
    _: pb::RunCatalogScanRequest,
) -> Result<pb::RunCatalogScanResponse, MasterError> {
    Ok(pb::RunCatalogScanResponse { scan_result: Some(janitor::run(call.services)? as i32) })
}

pub fn enable_catalog_janitor(
    call: &Call<'_>,
    req: pb::EnableCatalogJanitorRequest,
) -> Result<pb::EnableCatalogJanitorResponse, MasterError> {
    Ok(pb::EnableCatalogJanitorResponse { prev_value: Some(set(call, Switch::CatalogJanitor, req.enable)?) })
}

pub fn is_catalog_janitor_enabled(
    call: &Call<'_>,
    _: pb::IsCatalogJanitorEnabledRequest,
) -> Result<pb::IsCatalogJanitorEnabledResponse, MasterError> {
    Ok(pb::IsCatalogJanitorEnabledResponse { value: call.services.is_on(Switch::CatalogJanitor) })
}

pub fn run_cleaner_chore(
    call: &Call<'_>,
    _: pb::RunCleanerChoreRequest,
) -> Result<pb::RunCleanerChoreResponse, MasterError> {
    cleaner::run(call.services)?;
    Ok(pb::RunCleanerChoreResponse { cleaner_chore_ran: true })
}

pub fn set_cleaner_chore_running(
    call: &Call<'_>,
    req: pb::SetCleanerChoreRunningRequest,
) -> Result<pb::SetCleanerChoreRunningResponse, MasterError> {
    Ok(pb::SetCleanerChoreRunningResponse { prev_value: Some(set(call, Switch::Cleaner, req.on)?) })
}

pub fn is_cleaner_chore_enabled(
    call: &Call<'_>,
    _: pb::IsCleanerChoreEnabledRequest,
) -> Result<pb::IsCleanerChoreEnabledResponse, MasterError> {
    Ok(pb::IsCleanerChoreEnabledResponse { value: call.services.is_on(Switch::Cleaner) })
}

pub fn switch_snapshot_cleanup(
    call: &Call<'_>,
    req: pb::SetSnapshotCleanupRequest,
) -> Result<pb::SetSnapshotCleanupResponse, MasterError> {
    Ok(pb::SetSnapshotCleanupResponse { prev_snapshot_cleanup: set(call, Switch::SnapshotCleanup, req.enabled)? })
}

pub fn is_snapshot_cleanup_enabled(
    call: &Call<'_>,
    _: pb::IsSnapshotCleanupEnabledRequest,
) -> Result<pb::IsSnapshotCleanupEnabledResponse, MasterError> {
    Ok(pb::IsSnapshotCleanupEnabledResponse { enabled: call.services.is_on(Switch::SnapshotCleanup) })
}
