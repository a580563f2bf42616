//! The RPC services of HBase 2.6 and their methods, by name: the `.proto` files here have the messages only.

/// A service, and its methods with white space between them, in the order of HBase.
pub const SERVICES: &[(&str, &str)] = &[
    (
        "ClientService",
        "Get Mutate Scan BulkLoadHFile PrepareBulkLoad CleanupBulkLoad ExecService ExecRegionServerService Multi",
    ),
    (
        "AdminService",
        "GetRegionInfo GetStoreFile GetOnlineRegion OpenRegion WarmupRegion CloseRegion FlushRegion \
         CompactionSwitch CompactRegion ReplicateWALEntry Replay RollWALWriter GetServerInfo StopServer \
         UpdateFavoredNodes UpdateConfiguration GetRegionLoad ClearCompactionQueues ClearRegionBlockCache \
         GetSpaceQuotaSnapshots ExecuteProcedures GetSlowLogResponses GetLargeLogResponses ClearSlowLogsResponses \
         GetLogEntries GetCachedFilesList",
    ),
    (
        "MasterService",
        "GetSchemaAlterStatus GetTableDescriptors ListTableDescriptorsByState GetTableNames ListTableNamesByState \
         GetClusterStatus IsMasterRunning AddColumn DeleteColumn ModifyColumn MoveRegion MergeTableRegions \
         AssignRegion UnassignRegion OfflineRegion SplitRegion TruncateRegion DeleteTable truncateTable \
         EnableTable DisableTable ModifyTable FlushTable CreateTable Shutdown StopMaster IsMasterInMaintenanceMode \
         Balance SetBalancerRunning IsBalancerEnabled SetSplitOrMergeEnabled IsSplitOrMergeEnabled Normalize \
         SetNormalizerRunning IsNormalizerEnabled RunCatalogScan EnableCatalogJanitor IsCatalogJanitorEnabled \
         RunCleanerChore SetCleanerChoreRunning IsCleanerChoreEnabled ExecMasterService Snapshot \
         GetCompletedSnapshots DeleteSnapshot IsSnapshotDone RestoreSnapshot SwitchSnapshotCleanup \
         IsSnapshotCleanupEnabled ExecProcedure ExecProcedureWithRet IsProcedureDone ModifyNamespace \
         CreateNamespace DeleteNamespace GetNamespaceDescriptor ListNamespaceDescriptors \
         ListTableDescriptorsByNamespace ListTableNamesByNamespace GetTableState SetQuota \
         getLastMajorCompactionTimestamp getLastMajorCompactionTimestampForRegion getProcedureResult \
         getSecurityCapabilities AbortProcedure GetProcedures GetLocks AddReplicationPeer RemoveReplicationPeer \
         EnableReplicationPeer DisableReplicationPeer GetReplicationPeerConfig UpdateReplicationPeerConfig \
         ListReplicationPeers IsReplicationPeerEnabled ReplicationPeerModificationSwitch \
         GetReplicationPeerModificationProcedures IsReplicationPeerModificationEnabled \
         ListDecommissionedRegionServers DecommissionRegionServers RecommissionRegionServer \
         GetSpaceQuotaRegionSizes GetQuotaStates ClearDeadServers SwitchRpcThrottle IsRpcThrottleEnabled \
         SwitchExceedThrottleQuota Grant Revoke GetUserPermissions HasUserPermissions ListNamespaces GetLogEntries \
         ModifyTableStoreFileTracker ModifyColumnStoreFileTracker FlushMasterStore",
    ),
    (
        "HbckService",
        "SetTableStateInMeta SetRegionStateInMeta Assigns Unassigns BypassProcedure ScheduleServerCrashProcedure \
         ScheduleSCPsForUnknownServers RunHbckChore FixMeta",
    ),
    ("ClientMetaService", "GetClusterId GetActiveMaster GetMasters GetMetaRegionLocations GetBootstrapNodes"),
    ("ConnectionRegistryService", "GetConnectionRegistry"),
    ("BootstrapNodeService", "GetAllBootstrapNodes"),
    ("LockService", "RequestLock LockHeartbeat"),
    (
        "RegionServerStatusService",
        "RegionServerStartup RegionServerReport ReportRSFatalError GetLastFlushedSequenceId \
         ReportRegionStateTransition ReportRegionSpaceUse ReportProcedureDone ReportFileArchival \
         GetLiveRegionServers",
    ),
];
