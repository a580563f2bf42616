//! The methods of MasterService and HbckService. A flat table: name, and the function that answers.

mod access;
mod cluster;
mod columns;
mod hbck;
mod listing;
mod namespaces;
mod procedures;
mod quotas;
mod regions;
mod replication;
mod servers;
mod snapshots;
mod switches;
mod tables;

use crate::procedure::{Executor, Procedure};
use crate::services::Services;
use crate::{Caller, MasterError};
use martite_catalog::TableName;
use martite_proto as pb;
use prost::Message;

/// A call that is being answered.
pub(crate) struct Call<'a> {
    pub services: &'a Services,
    pub procedures: &'a Executor,
    pub method: &'a str,
    pub caller: &'a Caller,
}

impl Call<'_> {
    /// Submits a procedure on behalf of the caller.
    fn submit(&self, body: Box<dyn Procedure>, group: Option<u64>, nonce: Option<u64>) -> Result<u64, MasterError> {
        tracing::info!(user = self.caller.user, method = self.method, class = body.class(), "procedure");
        self.procedures.submit(body, self.caller, (group.unwrap_or(0), nonce.unwrap_or(0)))
    }

    /// The procedure that an earlier copy of this request started.
    fn repeated(&self, group: Option<u64>, nonce: Option<u64>) -> Option<u64> {
        self.procedures.known((group.unwrap_or(0), nonce.unwrap_or(0)))
    }
}

/// A table's name in a request.
fn table(name: &pb::TableName) -> Result<TableName, MasterError> {
    Ok(TableName::from_proto(name)?)
}

fn answer<Q: Message + Default, R: Message>(
    call: &Call<'_>,
    param: &[u8],
    method: impl Fn(&Call<'_>, Q) -> Result<R, MasterError>,
) -> Result<Vec<u8>, MasterError> {
    let request =
        Q::decode(param).map_err(|e| MasterError::do_not_retry(format!("{}: malformed request: {e}", call.method)))?;
    Ok(method(call, request)?.encode_to_vec())
}

pub(crate) fn dispatch(call: &Call<'_>, service: &str, param: &[u8]) -> Result<Vec<u8>, MasterError> {
    if call.services.is_stopping() {
        return Err(MasterError::stopping());
    }
    let Some(tables) = tables_of(service) else {
        return Err(MasterError::unsupported(&format!("{service}.{}", call.method)));
    };
    match tables.iter().flat_map(|table| table.iter()).find(|(name, _)| *name == call.method) {
        Some((_, answer)) => answer(call, param),
        None => Err(MasterError::unsupported(call.method)),
    }
}

/// The methods of a service that are answered; with those that HBase refuses, too, when a feature is off.
pub(crate) fn methods(service: &str) -> Vec<&'static str> {
    tables_of(service).into_iter().flatten().flat_map(|table| table.iter()).map(|(name, _)| *name).collect()
}

/// The methods among them whose only answer is a refusal in HBase's words.
pub(crate) fn refused_methods() -> Vec<&'static str> {
    REFUSALS.iter().map(|(name, _)| *name).collect()
}

type Method = fn(&Call<'_>, &[u8]) -> Result<Vec<u8>, MasterError>;
type Table = &'static [(&'static str, Method)];

fn tables_of(service: &str) -> Option<&'static [Table]> {
    match service {
        "MasterService" | "" => Some(&[SCHEMA, ADMINISTRATION, RECORDS, REFUSALS]),
        "HbckService" => Some(&[HBCK]),
        _ => None,
    }
}

macro_rules! methods {
    ($($name:literal => $function:path,)*) => { &[$(($name, |call, param| answer(call, param, $function)),)*] };
}

/// Tables, families, namespaces: changing and listing them.
const SCHEMA: Table = methods! {
    "CreateTable" => tables::create_table,
    "DeleteTable" => tables::delete_table,
    "truncateTable" => tables::truncate_table,
    "EnableTable" => tables::enable_table,
    "DisableTable" => tables::disable_table,
    "ModifyTable" => tables::modify_table,
    "FlushTable" => tables::flush_table,
    "ModifyTableStoreFileTracker" => tables::modify_file_tracker,
    "AddColumn" => columns::add_column,
    "ModifyColumn" => columns::modify_column,
    "DeleteColumn" => columns::delete_column,
    "ModifyColumnStoreFileTracker" => columns::modify_file_tracker,
    "CreateNamespace" => namespaces::create_namespace,
    "ModifyNamespace" => namespaces::modify_namespace,
    "DeleteNamespace" => namespaces::delete_namespace,
    "GetNamespaceDescriptor" => namespaces::get_namespace_descriptor,
    "ListNamespaceDescriptors" => namespaces::list_namespace_descriptors,
    "ListNamespaces" => namespaces::list_namespaces,
    "ListTableDescriptorsByNamespace" => namespaces::list_table_descriptors,
    "ListTableNamesByNamespace" => namespaces::list_table_names,
    "GetTableDescriptors" => listing::get_table_descriptors,
    "GetTableNames" => listing::get_table_names,
    "ListTableDescriptorsByState" => listing::list_table_descriptors_by_state,
    "ListTableNamesByState" => listing::list_table_names_by_state,
    "GetTableState" => listing::get_table_state,
    "GetSchemaAlterStatus" => listing::get_schema_alter_status,
};

/// Regions, servers, background work.
const ADMINISTRATION: Table = methods! {
    "MoveRegion" => regions::move_region,
    "AssignRegion" => regions::assign_region,
    "UnassignRegion" => regions::unassign_region,
    "OfflineRegion" => regions::offline_region,
    "SplitRegion" => regions::split_region,
    "MergeTableRegions" => regions::merge_table_regions,
    "TruncateRegion" => regions::truncate_region,
    "getLastMajorCompactionTimestamp" => regions::last_major_compaction,
    "getLastMajorCompactionTimestampForRegion" => regions::last_major_compaction_of_region,
    "GetClusterStatus" => cluster::get_cluster_status,
    "IsMasterRunning" => cluster::is_master_running,
    "IsMasterInMaintenanceMode" => cluster::is_in_maintenance_mode,
    "getSecurityCapabilities" => cluster::get_security_capabilities,
    "FlushMasterStore" => cluster::flush_master_store,
    "GetLogEntries" => cluster::get_log_entries,
    "ExecMasterService" => cluster::exec_master_service,
    "Balance" => switches::balance,
    "SetBalancerRunning" => switches::set_balancer_running,
    "IsBalancerEnabled" => switches::is_balancer_enabled,
    "Normalize" => switches::normalize,
    "SetNormalizerRunning" => switches::set_normalizer_running,
    "IsNormalizerEnabled" => switches::is_normalizer_enabled,
    "SetSplitOrMergeEnabled" => switches::set_split_or_merge_enabled,
    "IsSplitOrMergeEnabled" => switches::is_split_or_merge_enabled,
    "RunCatalogScan" => switches::run_catalog_scan,
    "EnableCatalogJanitor" => switches::enable_catalog_janitor,
    "IsCatalogJanitorEnabled" => switches::is_catalog_janitor_enabled,
    "RunCleanerChore" => switches::run_cleaner_chore,
    "SetCleanerChoreRunning" => switches::set_cleaner_chore_running,
    "IsCleanerChoreEnabled" => switches::is_cleaner_chore_enabled,
    "SwitchSnapshotCleanup" => switches::switch_snapshot_cleanup,
    "IsSnapshotCleanupEnabled" => switches::is_snapshot_cleanup_enabled,
    "Shutdown" => servers::shutdown,
    "StopMaster" => servers::stop_master,
    "ListDecommissionedRegionServers" => servers::list_decommissioned,
    "DecommissionRegionServers" => servers::decommission,
    "RecommissionRegionServer" => servers::recommission,
    "ClearDeadServers" => servers::clear_dead,
};

/// Procedures, and what is kept beside tables: snapshots, quotas, peers, permissions.
const RECORDS: Table = methods! {
    "getProcedureResult" => procedures::get_procedure_result,
    "AbortProcedure" => procedures::abort_procedure,
    "GetProcedures" => procedures::get_procedures,
    "GetLocks" => procedures::get_locks,
    "ExecProcedure" => procedures::exec_procedure,
    "ExecProcedureWithRet" => procedures::exec_procedure,
    "IsProcedureDone" => procedures::is_procedure_done,
    "Snapshot" => snapshots::snapshot,
    "IsSnapshotDone" => snapshots::is_snapshot_done,
    "RestoreSnapshot" => snapshots::restore_snapshot,
    "DeleteSnapshot" => snapshots::delete_snapshot,
    "GetCompletedSnapshots" => snapshots::get_completed_snapshots,
    "SetQuota" => quotas::set_quota,
    "SwitchExceedThrottleQuota" => quotas::switch_exceed_throttle_quota,
    "SwitchRpcThrottle" => quotas::switch_rpc_throttle,
    "IsRpcThrottleEnabled" => quotas::is_rpc_throttle_enabled,
    "GetSpaceQuotaRegionSizes" => quotas::get_space_quota_region_sizes,
    "GetQuotaStates" => quotas::get_quota_states,
    "RemoveReplicationPeer" => replication::remove_peer,
    "EnableReplicationPeer" => replication::enable_peer,
    "DisableReplicationPeer" => replication::disable_peer,
    "GetReplicationPeerConfig" => replication::get_peer_config,
    "UpdateReplicationPeerConfig" => replication::update_peer_config,
    "ListReplicationPeers" => replication::list_peers,
    "IsReplicationPeerEnabled" => replication::is_peer_enabled,
    "ReplicationPeerModificationSwitch" => replication::modification_switch,
    "GetReplicationPeerModificationProcedures" => replication::modification_procedures,
    "IsReplicationPeerModificationEnabled" => replication::is_modification_enabled,
    "GetUserPermissions" => access::get_user_permissions,
    "HasUserPermissions" => access::has_user_permissions,
};

/// What HBase answers when the feature is off.
const REFUSALS: Table = methods! {
    "Grant" => access::grant,
    "Revoke" => access::revoke,
};

const HBCK: Table = methods! {
    "SetTableStateInMeta" => hbck::set_table_state,
    "SetRegionStateInMeta" => hbck::set_region_state,
    "Assigns" => hbck::assigns,
    "Unassigns" => hbck::unassigns,
    "BypassProcedure" => hbck::bypass_procedure,
    "ScheduleServerCrashProcedure" => hbck::schedule_server_crash,
    "ScheduleSCPsForUnknownServers" => hbck::schedule_for_unknown_servers,
    "RunHbckChore" => hbck::run_hbck_chore,
    "FixMeta" => hbck::fix_meta,
};
