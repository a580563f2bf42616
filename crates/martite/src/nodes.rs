//! The znodes that clients look for, and what the RPC registries answer: both from the same facts.

use martite_catalog::ServerName;
use martite_env::Clock;
use martite_master::Registry;
use martite_proto as pb;
use martite_regionserver::{ClusterView, MetaLocation};
use martite_zk::Tree;
use parking_lot::Mutex;
use pb::region_state::State;
use std::sync::Arc;

/// What is known of this cluster of one process.
pub struct Nodes {
    tree: Arc<Tree>,
    base: String,
    facts: Mutex<Facts>,
    clock: Arc<dyn Clock>,
}

#[derive(Default)]
struct Facts {
    cluster_id: String,
    master: Option<ServerName>,
    region_server: Option<ServerName>,
    meta: Option<MetaLocation>,
}

impl Nodes {
    pub fn new(tree: Arc<Tree>, base: &str, clock: Arc<dyn Clock>) -> Arc<Nodes> {
        let base = format!("/{}", base.trim_matches('/'));
        tree.set("/zookeeper", Vec::new(), false);
        tree.set(&base, Vec::new(), false);
        Arc::new(Nodes { tree, base, facts: Mutex::default(), clock })
    }

    fn set(&self, name: &str, value: bytes::Bytes, ephemeral: bool) {
        self.tree.set(&format!("{}/{name}", self.base), value, ephemeral);
    }

    /// A region server that lives.
    pub fn publish_server(&self, server: &ServerName, info_port: u32) {
        self.facts.lock().region_server = Some(server.clone());
        let value = martite_zk::region_server_value("regionserver", info_port as i32, None);
        self.set(&format!("rs/{server}"), value, true);
    }

    /// Nothing serves any more.
    pub fn withdraw(&self) {
        let server = {
            let mut facts = self.facts.lock();
            facts.meta = None;
            facts.master = None;
            facts.region_server.take()
        };
        self.tree.remove(&format!("{}/master", self.base));
        if let Some(server) = server {
            self.tree.remove(&format!("{}/rs/{server}", self.base));
        }
    }
}

/// The node of a replica of hbase:meta.
fn meta_node(replica_id: i32) -> String {
    if replica_id == 0 { "meta-region-server".into() } else { format!("meta-region-server-{replica_id}") }
}

impl Registry for Nodes {
    fn publish_cluster_id(&self, id: &str) {
        self.facts.lock().cluster_id = id.to_owned();
        self.set("hbaseid", martite_zk::cluster_id_value("master", id), false);
    }

    fn publish_master(&self, master: &ServerName) {
        self.facts.lock().master = Some(master.clone());
        self.set("backup-masters", bytes::Bytes::new(), false);
        self.set("master", martite_zk::master_value("master", master.to_proto(), 0), true);
        let started = self.clock.now_ms().to_string();
        self.set("running", martite_zk::cluster_up_value("master", &started), false);
    }

    fn publish_meta(&self, server: &ServerName, open_seq_num: u64, replicas: i32) {
        let meta = MetaLocation { server: server.clone(), open_seq_num, replicas };
        let before = self.facts.lock().meta.replace(meta).map_or(0, |meta| meta.replicas);
        let value = martite_zk::meta_location_value("master", server.to_proto(), State::Open);
        for id in 0..replicas {
            self.set(&meta_node(id), value.clone(), false);
        }
        for id in replicas..before {
            self.tree.remove(&format!("{}/{}", self.base, meta_node(id)));
        }
    }

    fn publish_namespace(&self, name: &str, descriptor: &[u8]) {
        self.set(&format!("namespace/{name}"), martite_zk::namespace_value("master", descriptor), false);
    }

    fn withdraw_namespace(&self, name: &str) {
        self.tree.remove(&format!("{}/namespace/{name}", self.base));
    }
}

impl ClusterView for Nodes {
    fn cluster_id(&self) -> String {
        self.facts.lock().cluster_id.clone()
    }
    fn active_master(&self) -> Option<ServerName> {
        self.facts.lock().master.clone()
    }
    fn region_servers(&self) -> Vec<ServerName> {
        self.facts.lock().region_server.iter().cloned().collect()
    }
    fn meta_location(&self) -> Option<MetaLocation> {
        self.facts.lock().meta.clone()
    }
}
