//! The cluster as a whole: its status, and what it can do.

use super::Call;
use crate::catalog::RegionEntry;
use crate::services::Services;
use crate::switches::Switch;
use crate::{MasterError, class};
use martite_catalog::{RegionState, TableState};
use martite_proto as pb;
use pb::Option as Part;

const ALL_PARTS: [Part; 14] = [
    Part::HbaseVersion,
    Part::ClusterId,
    Part::LiveServers,
    Part::DeadServers,
    Part::Master,
    Part::BackupMasters,
    Part::MasterCoprocessors,
    Part::RegionsInTransition,
    Part::BalancerOn,
    Part::MasterInfoPort,
    Part::ServersName,
    Part::TableToRegionsCount,
    Part::Tasks,
    Part::UnknownServers,
];

pub fn get_cluster_status(
    call: &Call<'_>,
    req: pb::GetClusterStatusRequest,
) -> Result<pb::GetClusterStatusResponse, MasterError> {
    // Clients of 1.x name no parts and want all; parts that a newer client names and this server does not know are left
    // out.
    let parts: Vec<Part> = if req.options.is_empty() {
        ALL_PARTS.to_vec()
    } else {
        req.options.iter().filter_map(|o| Part::try_from(*o).ok()).collect()
    };
    let services = call.services;
    let mut status = pb::ClusterStatus::default();
    for part in parts {
        match part {
            Part::HbaseVersion => {
                status.hbase_version = Some(pb::HBaseVersionFileContent { version: services.version.clone() });
            }
            Part::ClusterId => status.cluster_id = Some(pb::ClusterId { cluster_id: services.cluster_id.clone() }),
            // A server's tasks are part of its load.
            Part::LiveServers | Part::Tasks if status.live_servers.is_empty() => {
                status.live_servers = vec![pb::LiveServerInfo {
                    server: services.host.server_name().to_proto(),
                    server_load: services.host.server_load(),
                }];
            }
            Part::Master => status.master = Some(services.server_name.to_proto()),
            Part::RegionsInTransition => status.regions_in_transition = in_transition(services),
            Part::BalancerOn => status.balancer_on = Some(services.is_on(Switch::Balancer)),
            Part::MasterInfoPort => status.master_info_port = Some(i32::from(services.info_port)),
            Part::ServersName => status.servers_name = vec![services.host.server_name().to_proto()],
            Part::TableToRegionsCount => status.table_region_states_count = region_counts(services),
            Part::LiveServers | Part::Tasks => {}
            // There is one server, and no master in reserve.
            Part::DeadServers | Part::UnknownServers | Part::BackupMasters | Part::MasterCoprocessors => {}
        }
    }
    Ok(pb::GetClusterStatusResponse { cluster_status: status })
}

fn is_in_transition(entry: &RegionEntry) -> bool {
    use RegionState::{Closing, FailedClose, FailedOpen, Merging, MergingNew, Opening, Splitting, SplittingNew};
    matches!(
        entry.state,
        Opening | Closing | Splitting | SplittingNew | Merging | MergingNew | FailedOpen | FailedClose
    )
}

fn in_transition(services: &Services) -> Vec<pb::RegionInTransition> {
    let regions = services.catalog.all_regions().into_iter().filter(is_in_transition);
    let message = |entry: RegionEntry| pb::RegionInTransition {
        spec: pb::RegionSpecifier {
            r#type: pb::region_specifier::RegionSpecifierType::RegionName as i32,
            value: entry.info.name().clone(),
        },
        region_state: pb::RegionState {
            region_info: entry.info.to_proto(),
            state: entry.state.code(),
            stamp: Some(entry.since_ms),
        },
    };
    regions.map(message).collect()
}

/// As HBase counts: of a table that is disabled nothing, else what is neither open nor split is in transition.
fn region_counts(services: &Services) -> Vec<pb::TableRegionStatesCount> {
    let count = |table: &crate::catalog::TableEntry| {
        let is_disabled = matches!(table.state, TableState::Disabled | TableState::Disabling);
        let regions = if is_disabled { Vec::new() } else { services.catalog.regions(table.name()) };
        let of = |wanted| regions.iter().filter(|r| r.state == wanted).count() as u32;
        let (open_regions, split_regions) = (of(RegionState::Open), of(RegionState::Split));
        let total_regions = regions.len() as u32;
        pb::TableRegionStatesCount {
            table_name: table.name().to_proto(),
            region_states_count: pb::RegionStatesCount {
                open_regions,
                split_regions,
                closed_regions: of(RegionState::Closed),
                regions_in_transition: total_regions - open_regions - split_regions,
                total_regions,
            },
        }
    };
    services.catalog.tables().iter().map(count).collect()
}

pub fn is_master_running(
    _: &Call<'_>,
    _: pb::IsMasterRunningRequest,
) -> Result<pb::IsMasterRunningResponse, MasterError> {
    Ok(pb::IsMasterRunningResponse { is_master_running: true })
}

pub fn is_in_maintenance_mode(
    _: &Call<'_>,
    _: pb::IsInMaintenanceModeRequest,
) -> Result<pb::IsInMaintenanceModeResponse, MasterError> {
    Ok(pb::IsInMaintenanceModeResponse { in_maintenance_mode: false })
}

pub fn get_security_capabilities(
    _: &Call<'_>,
    _: pb::SecurityCapabilitiesRequest,
) -> Result<pb::SecurityCapabilitiesResponse, MasterError> {
    let simple = pb::security_capabilities_response::Capability::SimpleAuthentication as i32;
    Ok(pb::SecurityCapabilitiesResponse { capabilities: vec![simple] })
}

pub fn flush_master_store(
    call: &Call<'_>,
    _: pb::FlushMasterStoreRequest,
) -> Result<pb::FlushMasterStoreResponse, MasterError> {
    call.services.store.flush()?;
    Ok(pb::FlushMasterStoreResponse {})
}

/// Decisions of the balancer: with one server there are none.
pub fn get_log_entries(_: &Call<'_>, req: pb::LogRequest) -> Result<pb::LogEntry, MasterError> {
    let Some(simple) = ["BalancerDecisions", "BalancerRejections"].into_iter().find(|s| req.log_class_name.contains(s))
    else {
        return Err(MasterError::do_not_retry("Invalid request params"));
    };
    let class = format!("org.apache.hadoop.hbase.shaded.protobuf.generated.MasterProtos${simple}Response");
    Ok(pb::LogEntry { log_class_name: class, log_message: bytes::Bytes::new() })
}

pub fn exec_master_service(
    _: &Call<'_>,
    req: pb::CoprocessorServiceRequest,
) -> Result<pb::CoprocessorServiceResponse, MasterError> {
    let text =
        format!("No registered Master Coprocessor Endpoint found for {}. Has it been enabled?", req.call.service_name);
    Err(MasterError::new(class::UNKNOWN_PROTOCOL, text))
}
