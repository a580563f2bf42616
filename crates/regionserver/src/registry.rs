//! ClientMetaService and BootstrapNodeService: how clients find the cluster without ZooKeeper.

use crate::RegionServer;
use martite_catalog::{RegionInfo, ServerName};
use martite_proto as pb;
use martite_rpc::{Call, Responder};

/// Where hbase:meta and all its replicas are open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaLocation {
    pub server: ServerName,
    pub open_seq_num: u64,
    /// The region itself included.
    pub replicas: i32,
}

impl MetaLocation {
    fn to_protos(&self) -> Vec<pb::RegionLocation> {
        let location = |id| pb::RegionLocation {
            region_info: RegionInfo::meta().with_replica_id(id).to_proto(),
            server_name: Some(self.server.to_proto()),
            seq_num: self.open_seq_num as i64,
        };
        (0..self.replicas).map(location).collect()
    }
}

/// What the server knows of its cluster.
pub trait ClusterView: Send + Sync + 'static {
    fn cluster_id(&self) -> String;
    fn active_master(&self) -> Option<ServerName>;
    fn region_servers(&self) -> Vec<ServerName>;
    /// Where hbase:meta is.
    fn meta_location(&self) -> Option<MetaLocation>;
}

type Method = fn(&dyn ClusterView, Responder);

pub(crate) const CLIENT_META: &[(&str, Method)] = &[
    ("GetClusterId", |cluster, responder| {
        responder.ok(&pb::GetClusterIdResponse { cluster_id: Some(cluster.cluster_id()) }, Vec::new());
    }),
    ("GetActiveMaster", |cluster, responder| {
        let server_name = cluster.active_master().map(|m| m.to_proto());
        responder.ok(&pb::GetActiveMasterResponse { server_name }, Vec::new());
    }),
    ("GetMasters", |cluster, responder| {
        let entry = |m: ServerName| pb::GetMastersResponseEntry { server_name: m.to_proto(), is_active: true };
        let master_servers = cluster.active_master().map(entry).into_iter().collect();
        responder.ok(&pb::GetMastersResponse { master_servers }, Vec::new());
    }),
    ("GetMetaRegionLocations", |cluster, responder| {
        let meta_locations = cluster.meta_location().map(|meta| meta.to_protos()).unwrap_or_default();
        responder.ok(&pb::GetMetaRegionLocationsResponse { meta_locations }, Vec::new());
    }),
    ("GetBootstrapNodes", |cluster, responder| {
        responder.ok(&pb::GetBootstrapNodesResponse { server_name: servers(cluster) }, Vec::new());
    }),
];

pub(crate) const BOOTSTRAP_NODE: &[(&str, Method)] = &[("GetAllBootstrapNodes", |cluster, responder| {
    responder.ok(&pb::GetAllBootstrapNodesResponse { node: servers(cluster) }, Vec::new());
})];

fn servers(cluster: &dyn ClusterView) -> Vec<pb::ServerName> {
    cluster.region_servers().iter().map(ServerName::to_proto).collect()
}

impl RegionServer {
    pub(crate) fn registry(&self, call: Call, methods: &[(&str, Method)]) {
        match methods.iter().find(|(name, _)| *name == call.method.as_ref()) {
            Some((_, answer)) => answer(&*self.cluster, call.responder),
            None => crate::refuse(call),
        }
    }
}
