//! The znodes that clients look for, and what the RPC registries answer: both from the same facts.

use martite_catalog::ServerName;
use martite_proto as pb;
use martite_regionserver::ClusterView;
use martite_zk::Tree;
use parking_lot::Mutex;
use pb::region_state::State;
use std::sync::Arc;

/// What is known of this cluster of one process.
pub struct Nodes {
    tree: Arc<Tree>,
    base: String,
    facts: Mutex<Facts>,
}

#[derive(Default)]
struct Facts {
    cluster_id: String,
    master: Option<ServerName>,
    region_server: Option<ServerName>,
    meta: Option<(ServerName, u64)>,
}

impl Nodes {
    pub fn new(tree: Arc<Tree>, base: &str) -> Arc<Nodes> {
        let base = format!("/{}", base.trim_matches('/'));
        tree.set("/zookeeper", Vec::new(), false);
        tree.set(&base, Vec::new(), false);
        Arc::new(Nodes { tree, base, facts: Mutex::default() })
    }

    fn set(&self, name: &str, value: bytes::Bytes, ephemeral: bool) {
        self.tree.set(&format!("{}/{name}", self.base), value, ephemeral);
    }

    pub fn publish_cluster_id(&self, id: &str) {
        self.facts.lock().cluster_id = id.to_owned();
        self.set("hbaseid", martite_zk::cluster_id_value("master", id), false);
    }

    pub fn publish_region_server(&self, server: &ServerName) {
        self.facts.lock().region_server = Some(server.clone());
        self.set(&format!("rs/{server}"), martite_zk::region_server_value("regionserver", 0, None), true);
    }

    pub fn publish_master(&self, master: &ServerName) {
        self.facts.lock().master = Some(master.clone());
        self.set("backup-masters", bytes::Bytes::new(), false);
        self.set("master", martite_zk::master_value("master", master.to_proto(), 0), true);
        let now = martite_env::SystemClock;
        let started = format!("{}", martite_env::Clock::now_ms(&now));
        self.set("running", martite_zk::cluster_up_value("master", &started), false);
    }

    pub fn publish_meta(&self, server: &ServerName, open_seq: u64) {
        self.facts.lock().meta = Some((server.clone(), open_seq));
        let value = martite_zk::meta_location_value("master", server.to_proto(), State::Open);
        self.set("meta-region-server", value, false);
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
    fn meta_location(&self) -> Option<(ServerName, u64)> {
        self.facts.lock().meta.clone()
    }
}
