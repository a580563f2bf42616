//! The cluster and its servers: status, starts and stops, dead and decommissioned servers, logs rolled, caches cleared.

use super::Admin;
use crate::Error;
use martite_catalog::{RegionInfo, ServerName, TableName};
use martite_proto as pb;

pub use pb::Option as Status;

impl Admin {
    /// What the master knows of the cluster: the parts in `parts`, or all if there are none.
    pub async fn cluster_status(&self, parts: &[Status]) -> Result<pb::ClusterStatus, Error> {
        let request = pb::GetClusterStatusRequest { options: parts.iter().map(|&part| part as i32).collect() };
        let answer: pb::GetClusterStatusResponse = self.master("GetClusterStatus", &request).await?;
        Ok(answer.cluster_status)
    }

    /// The active master, as it calls itself.
    pub async fn active_master(&self) -> Result<ServerName, Error> {
        let status = self.cluster_status(&[Status::Master]).await?;
        let name = status.master.ok_or_else(|| Error::Unknown("no master is active".to_owned()))?;
        Ok(ServerName::from_proto(&name)?)
    }

    pub async fn backup_masters(&self) -> Result<Vec<ServerName>, Error> {
        servers(&self.cluster_status(&[Status::BackupMasters]).await?.backup_masters)
    }

    /// The region servers that live.
    pub async fn region_servers(&self) -> Result<Vec<ServerName>, Error> {
        servers(&self.cluster_status(&[Status::ServersName]).await?.servers_name)
    }

    pub async fn dead_servers(&self) -> Result<Vec<ServerName>, Error> {
        servers(&self.cluster_status(&[Status::DeadServers]).await?.dead_servers)
    }

    /// Servers that hbase:meta names and nobody knows.
    pub async fn unknown_servers(&self) -> Result<Vec<ServerName>, Error> {
        servers(&self.cluster_status(&[Status::UnknownServers]).await?.unknown_servers)
    }

    /// Forgets dead servers; answers those that could not be forgotten.
    pub async fn clear_dead_servers(&self, dead: &[ServerName]) -> Result<Vec<ServerName>, Error> {
        let request = pb::ClearDeadServersRequest { server_name: protos(dead) };
        let answer: pb::ClearDeadServersResponse = self.master("ClearDeadServers", &request).await?;
        servers(&answer.server_name)
    }

    pub async fn decommissioned_servers(&self) -> Result<Vec<ServerName>, Error> {
        let request = pb::ListDecommissionedRegionServersRequest {};
        let answer: pb::ListDecommissionedRegionServersResponse =
            self.master("ListDecommissionedRegionServers", &request).await?;
        servers(&answer.server_name)
    }

    /// No region goes to these servers any more; `offload`: those that are there leave.
    pub async fn decommission_servers(&self, names: &[ServerName], offload: bool) -> Result<(), Error> {
        let request = pb::DecommissionRegionServersRequest { server_name: protos(names), offload };
        let _: pb::DecommissionRegionServersResponse = self.master("DecommissionRegionServers", &request).await?;
        Ok(())
    }

    /// Takes a server back, and moves regions, named by their encoded names, to it.
    pub async fn recommission_server(&self, server: &ServerName, encoded_regions: &[String]) -> Result<(), Error> {
        let region = encoded_regions.iter().map(|name| super::by_encoded_name(name)).collect();
        let request = pb::RecommissionRegionServerRequest { server_name: server.to_proto(), region };
        let _: pb::RecommissionRegionServerResponse = self.master("RecommissionRegionServer", &request).await?;
        Ok(())
    }

    /// How many regions of a table have each state.
    pub async fn region_states(&self, table: &TableName) -> Result<Option<pb::RegionStatesCount>, Error> {
        let counts = self.cluster_status(&[Status::TableToRegionsCount]).await?.table_region_states_count;
        let of_table =
            |count: &pb::TableRegionStatesCount| TableName::from_proto(&count.table_name).ok().as_ref() == Some(table);
        Ok(counts.into_iter().find(of_table).map(|count| count.region_states_count))
    }

    /// Stops the whole cluster.
    pub async fn shutdown(&self) -> Result<(), Error> {
        let _: pb::ShutdownResponse = self.master("Shutdown", &pb::ShutdownRequest {}).await?;
        Ok(())
    }

    /// Stops the active master.
    pub async fn stop_master(&self) -> Result<(), Error> {
        let _: pb::StopMasterResponse = self.master("StopMaster", &pb::StopMasterRequest {}).await?;
        Ok(())
    }

    /// Stops a region server; the reason goes into its log.
    pub async fn stop_region_server(&self, server: &ServerName, reason: &str) -> Result<(), Error> {
        let request = pb::StopServerRequest { reason: reason.to_owned() };
        let _: pb::StopServerResponse = self.server(server, "StopServer", &request).await?;
        Ok(())
    }

    pub async fn is_in_maintenance_mode(&self) -> Result<bool, Error> {
        let answer: pb::IsInMaintenanceModeResponse =
            self.master("IsMasterInMaintenanceMode", &pb::IsInMaintenanceModeRequest {}).await?;
        Ok(answer.in_maintenance_mode)
    }

    /// A server, a master too, reads its configuration again.
    pub async fn update_configuration(&self, server: &ServerName) -> Result<(), Error> {
        let request = pb::UpdateConfigurationRequest {};
        let _: pb::UpdateConfigurationResponse = self.server(server, "UpdateConfiguration", &request).await?;
        Ok(())
    }

    /// All servers read their configuration again: the region servers, the master, its backups.
    pub async fn update_configuration_everywhere(&self) -> Result<(), Error> {
        let status = self.cluster_status(&[Status::ServersName, Status::Master, Status::BackupMasters]).await?;
        for name in servers(&status.servers_name)? {
            self.update_configuration(&name).await?;
        }
        for master in status.master.iter().chain(&status.backup_masters) {
            self.update_configuration(&ServerName::from_proto(master)?).await?;
        }
        Ok(())
    }

    /// Begins a new log file; answers the encoded names of regions that should be flushed so that an old one can go.
    pub async fn roll_wal_writer(&self, server: &ServerName) -> Result<Vec<String>, Error> {
        let answer: pb::RollWalWriterResponse =
            self.server(server, "RollWALWriter", &pb::RollWalWriterRequest {}).await?;
        Ok(answer.region_to_flush.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// A server's own name and the port of its web pages.
    pub async fn server_info(&self, server: &ServerName) -> Result<(ServerName, Option<u32>), Error> {
        let answer: pb::GetServerInfoResponse =
            self.server(server, "GetServerInfo", &pb::GetServerInfoRequest {}).await?;
        Ok((ServerName::from_proto(&answer.server_info.server_name)?, answer.server_info.webui_port))
    }

    /// The regions that a server has open.
    pub async fn regions_on(&self, server: &ServerName) -> Result<Vec<RegionInfo>, Error> {
        let answer: pb::GetOnlineRegionResponse =
            self.server(server, "GetOnlineRegion", &pb::GetOnlineRegionRequest {}).await?;
        answer.region_info.iter().map(|info| Ok(RegionInfo::from_proto(info)?)).collect()
    }

    /// The figures of the regions on a server, of one table or of all.
    pub async fn region_loads(
        &self,
        server: &ServerName,
        table: Option<&TableName>,
    ) -> Result<Vec<pb::RegionLoad>, Error> {
        let request = pb::GetRegionLoadRequest { table_name: table.map(TableName::to_proto) };
        let answer: pb::GetRegionLoadResponse = self.server(server, "GetRegionLoad", &request).await?;
        Ok(answer.region_loads)
    }

    /// Empties queues of compactions, `long` or `short`.
    pub async fn clear_compaction_queues(&self, server: &ServerName, queues: &[&str]) -> Result<(), Error> {
        let request =
            pb::ClearCompactionQueuesRequest { queue_name: queues.iter().map(|&queue| queue.to_owned()).collect() };
        let _: pb::ClearCompactionQueuesResponse = self.server(server, "ClearCompactionQueues", &request).await?;
        Ok(())
    }

    /// Drops a table's blocks from the caches of all servers; the figures are sums.
    pub async fn clear_block_cache(&self, table: &TableName) -> Result<pb::CacheEvictionStats, Error> {
        let mut total = pb::CacheEvictionStats {
            evicted_blocks: Some(0),
            bytes_evicted: Some(0),
            max_cache_size: Some(0),
            exception: Vec::new(),
        };
        for (server, regions) in self.regions_by_server(table).await? {
            let region = regions.iter().map(super::by_name).collect();
            let request = pb::ClearRegionBlockCacheRequest { region };
            let answer: pb::ClearRegionBlockCacheResponse =
                self.server(&server, "ClearRegionBlockCache", &request).await?;
            let add = |sum: &mut Option<i64>, more: Option<i64>| *sum = Some(sum.unwrap_or(0) + more.unwrap_or(0));
            add(&mut total.evicted_blocks, answer.stats.evicted_blocks);
            add(&mut total.bytes_evicted, answer.stats.bytes_evicted);
            add(&mut total.max_cache_size, answer.stats.max_cache_size);
            total.exception.extend(answer.stats.exception);
        }
        Ok(total)
    }

    /// Flushes the master's own store.
    pub async fn flush_master_store(&self) -> Result<(), Error> {
        let _: pb::FlushMasterStoreResponse = self.master("FlushMasterStore", &pb::FlushMasterStoreRequest {}).await?;
        Ok(())
    }
}

pub(super) fn servers(names: &[pb::ServerName]) -> Result<Vec<ServerName>, Error> {
    names.iter().map(|name| Ok(ServerName::from_proto(name)?)).collect()
}

pub(super) fn protos(names: &[ServerName]) -> Vec<pb::ServerName> {
    names.iter().map(ServerName::to_proto).collect()
}
