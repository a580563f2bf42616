//! Single regions: move, assign, unassign, split, merge, truncate.

use super::{Call, table};
use crate::catalog::RegionEntry;
use crate::procedure::{Transit, TransitRegion, TruncateRegion, merge_regions, split_region as split};
use crate::{MasterError, class};
use bytes::Bytes;
use martite_catalog::{RegionInfo, RegionState, ServerName, TableState};
use martite_proto as pb;

/// The region that a request names, by full or encoded name.
pub(super) fn region(call: &Call<'_>, specifier: &pb::RegionSpecifier) -> Result<RegionEntry, MasterError> {
    let unknown = || MasterError::unknown_region(&specifier.value);
    let by_name = pb::region_specifier::RegionSpecifierType::RegionName as i32;
    if specifier.r#type == by_name {
        let encoded = martite_catalog::region_info::encoded_name(&specifier.value);
        if let Some(entry) = call.services.catalog.region(&encoded) {
            return Ok(entry);
        }
    }
    // Tools give either name under either type.
    let encoded = std::str::from_utf8(&specifier.value).map_err(|_| unknown())?;
    call.services.catalog.region(encoded).ok_or_else(unknown)
}

/// How HBase names a region whose state is not what was expected.
fn describe(entry: &RegionEntry) -> String {
    let location = entry.server.as_ref().map_or("null".to_string(), ServerName::to_string);
    format!(
        "state={}, location={location}, table={}, region={}",
        entry.state.name(),
        entry.info.table(),
        entry.info.encoded_name()
    )
}

fn check_state(call: &Call<'_>, entry: &RegionEntry, expected: &[RegionState]) -> Result<(), MasterError> {
    if !expected.contains(&entry.state) {
        let text = format!("Unexpected state for {}", describe(entry));
        return Err(MasterError::new(class::DO_NOT_RETRY_REGION, text));
    }
    let table = call.services.catalog.existing(entry.info.table())?;
    if matches!(table.state, TableState::Disabled | TableState::Disabling) {
        return Err(MasterError::do_not_retry(format!("{} is disabled for {}", table.name(), describe(entry))));
    }
    Ok(())
}

fn refuse_meta(entry: &RegionEntry, what: &str) -> Result<(), MasterError> {
    if entry.info.is_meta() {
        return Err(MasterError::do_not_retry(format!("{what} hbase:meta is not supported by this server")));
    }
    Ok(())
}

fn transit(call: &Call<'_>, entry: &RegionEntry, transit: Transit) -> Result<u64, MasterError> {
    call.submit(Box::new(TransitRegion::new(&entry.info, transit)), None, None)
}

/// There is one server: a region stays where it is.
pub fn move_region(call: &Call<'_>, req: pb::MoveRegionRequest) -> Result<pb::MoveRegionResponse, MasterError> {
    region(call, &req.region)?;
    if let Some(name) = &req.dest_server_name {
        let destination = ServerName::from_proto(name)?;
        if destination != call.services.host.server_name() {
            return Err(MasterError::do_not_retry(format!("Server {destination} is not online")));
        }
    }
    Ok(pb::MoveRegionResponse {})
}

pub fn assign_region(call: &Call<'_>, req: pb::AssignRegionRequest) -> Result<pb::AssignRegionResponse, MasterError> {
    let entry = region(call, &req.region)?;
    check_state(call, &entry, &[RegionState::Closed, RegionState::Offline, RegionState::FailedOpen])?;
    let id = transit(call, &entry, Transit::Assign)?;
    call.procedures.wait(id)?;
    Ok(pb::AssignRegionResponse {})
}

pub fn unassign_region(
    call: &Call<'_>,
    req: pb::UnassignRegionRequest,
) -> Result<pb::UnassignRegionResponse, MasterError> {
    let entry = region(call, &req.region)?;
    refuse_meta(&entry, "Closing")?;
    check_state(call, &entry, &[RegionState::Open])?;
    let id = transit(call, &entry, Transit::Unassign)?;
    call.procedures.wait(id)?;
    Ok(pb::UnassignRegionResponse {})
}

/// Forgets where a region is, in memory only, as HBase.
pub fn offline_region(
    call: &Call<'_>,
    req: pb::OfflineRegionRequest,
) -> Result<pb::OfflineRegionResponse, MasterError> {
    let entry = region(call, &req.region)?;
    refuse_meta(&entry, "Offlining")?;
    call.services.catalog.update_region(entry.info.encoded_name(), |r| r.state = RegionState::Offline);
    Ok(pb::OfflineRegionResponse {})
}

pub fn split_region(
    call: &Call<'_>,
    req: pb::SplitTableRegionRequest,
) -> Result<pb::SplitTableRegionResponse, MasterError> {
    let answer = |id| Ok(pb::SplitTableRegionResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let parent = RegionInfo::from_proto(&req.region_info)?;
    let row = req.split_row.filter(|row| !row.is_empty());
    let body = split(call.services, parent.encoded_name(), row)?;
    answer(call.submit(body, req.nonce_group, req.nonce)?)
}

pub fn merge_table_regions(
    call: &Call<'_>,
    req: pb::MergeTableRegionsRequest,
) -> Result<pb::MergeTableRegionsResponse, MasterError> {
    let answer = |id| Ok(pb::MergeTableRegionsResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let parents: Result<Vec<RegionInfo>, MasterError> =
        req.region.iter().map(|specifier| Ok(region(call, specifier)?.info)).collect();
    let body = merge_regions(call.services, parents?, req.forcible.unwrap_or(false))?;
    answer(call.submit(body, req.nonce_group, req.nonce)?)
}

pub fn truncate_region(
    call: &Call<'_>,
    req: pb::TruncateRegionRequest,
) -> Result<pb::TruncateRegionResponse, MasterError> {
    let answer = |id| Ok(pb::TruncateRegionResponse { proc_id: Some(id) });
    if let Some(id) = call.repeated(req.nonce_group, req.nonce) {
        return answer(id);
    }
    let region = RegionInfo::from_proto(&req.region_info)?;
    TruncateRegion::check(call.services, &region)?;
    answer(call.submit(Box::new(TruncateRegion::new(&region)), req.nonce_group, req.nonce)?)
}

fn major_compactions(call: &Call<'_>, wanted: impl Fn(&Bytes) -> bool) -> impl Iterator<Item = u64> {
    let loads = call.services.host.server_load().region_loads;
    let times = loads.into_iter().filter(|l| wanted(&l.region_specifier.value));
    times.map(|l| l.last_major_compaction_ts.unwrap_or(0)).collect::<Vec<_>>().into_iter()
}

pub fn last_major_compaction(
    call: &Call<'_>,
    req: pb::MajorCompactionTimestampRequest,
) -> Result<pb::MajorCompactionTimestampResponse, MasterError> {
    let names: Vec<Bytes> =
        call.services.catalog.regions(&table(&req.table_name)?).iter().map(|r| r.info.name().clone()).collect();
    let oldest = major_compactions(call, |name| names.contains(name)).min().unwrap_or(0);
    Ok(pb::MajorCompactionTimestampResponse { compaction_timestamp: oldest as i64 })
}

pub fn last_major_compaction_of_region(
    call: &Call<'_>,
    req: pb::MajorCompactionTimestampForRegionRequest,
) -> Result<pb::MajorCompactionTimestampResponse, MasterError> {
    let time = major_compactions(call, |name| *name == req.region.value).max().unwrap_or(0);
    Ok(pb::MajorCompactionTimestampResponse { compaction_timestamp: time as i64 })
}
