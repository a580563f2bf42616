//! ClientMetaService and BootstrapNodeService: how clients find the cluster without ZooKeeper.

use crate::RegionServer;
use crate::error::Fault;
use martite_catalog::{RegionInfo, ServerName};
use martite_proto as pb;
use martite_rpc::Call;
use std::sync::Arc;

/// What the server knows of its cluster.
pub trait ClusterView: Send + Sync + 'static {
    fn cluster_id(&self) -> String;
    fn active_master(&self) -> Option<ServerName>;
    fn region_servers(&self) -> Vec<ServerName>;
    /// Where hbase:meta is, and the sequence number of its opening.
    fn meta_location(&self) -> Option<(ServerName, u64)>;
}

impl RegionServer {
    pub(crate) fn registry(self: &Arc<Self>, call: Call) {
        let cluster = &self.cluster;
        let servers = || cluster.region_servers().iter().map(ServerName::to_proto).collect::<Vec<_>>();
        let responder = call.responder;
        match call.method.as_ref() {
            "GetClusterId" => {
                responder.ok(&pb::GetClusterIdResponse { cluster_id: Some(cluster.cluster_id()) }, Vec::new())
            }
            "GetActiveMaster" => responder.ok(
                &pb::GetActiveMasterResponse { server_name: cluster.active_master().map(|m| m.to_proto()) },
                Vec::new(),
            ),
            "GetMasters" => {
                let master_servers = cluster
                    .active_master()
                    .map(|m| pb::GetMastersResponseEntry { server_name: m.to_proto(), is_active: true })
                    .into_iter()
                    .collect();
                responder.ok(&pb::GetMastersResponse { master_servers }, Vec::new());
            }
            "GetMetaRegionLocations" => {
                let meta_locations = cluster
                    .meta_location()
                    .map(|(server, seq)| pb::RegionLocation {
                        region_info: RegionInfo::meta().to_proto(),
                        server_name: Some(server.to_proto()),
                        seq_num: seq as i64,
                    })
                    .into_iter()
                    .collect();
                responder.ok(&pb::GetMetaRegionLocationsResponse { meta_locations }, Vec::new());
            }
            "GetBootstrapNodes" => {
                responder.ok(&pb::GetBootstrapNodesResponse { server_name: servers() }, Vec::new());
            }
            "GetAllBootstrapNodes" => {
                responder.ok(&pb::GetAllBootstrapNodesResponse { node: servers() }, Vec::new());
            }
            method => responder.fail(Fault::unsupported(&call.conn.service, method).into_exception()),
        }
    }
}
