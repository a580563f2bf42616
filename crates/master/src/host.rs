//! What the master needs of the world: [`RegionHost`], who opens regions, and [`Registry`], where clients look.

use bytes::Bytes;
use martite_catalog::{RegionInfo, ServerName, TableDescriptor};
use martite_proto as pb;
use martite_quota::Settings;
use martite_quota::space::Usage;
use martite_region::Region;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The region server, as the master of the same process sees it. Calls may block; they come from the master's threads
/// and from whoever calls [`crate::Master::call`].
pub trait RegionHost: Send + Sync + 'static {
    fn server_name(&self) -> ServerName;
    /// Opens a region and answers its opening's sequence number; opening an open region answers the same again.
    fn open_region(&self, info: &RegionInfo, table: &Arc<TableDescriptor>) -> Result<u64, String>;
    /// Closes a region, flushing it; no error if it is not open.
    fn close_region(&self, encoded: &str) -> Result<(), String>;
    fn region(&self, encoded: &str) -> Option<Arc<Region>>;
    /// Lets an open region be read under `count` names, its own included; opening does this as the descriptor says.
    fn set_replicas(&self, _encoded: &str, _count: i32) {}
    /// The server's numbers, with those of each region.
    fn server_load(&self) -> pb::ServerLoad;
    fn online_regions(&self) -> Vec<RegionInfo>;

    /// Flushes families of an open region, or all of them.
    fn flush_region(&self, encoded: &str, families: &[Bytes]) -> Result<(), String> {
        let region = self.region(encoded).ok_or_else(|| format!("{encoded} is not open"))?;
        let families = if families.is_empty() { None } else { Some(families) };
        region.flush(families, "requested by the master").map(|_| ()).map_err(|e| e.to_string())
    }
    /// The quotas that count from now on; `throttling` = the switch of `enable_rpc_throttle`. Called at start and after
    /// each change, before the change is answered.
    fn apply_quotas(&self, _settings: Arc<Settings>, _throttling: bool) {}
    /// What tables with a space quota hold, and whose writes are refused from now on.
    fn apply_space(&self, _in_force: Arc<BTreeMap<String, Usage>>) {}
    /// Ends the whole process in an orderly way (shutdown, stop_master); returns at once.
    fn stop_process(&self, reason: &str) {
        tracing::warn!(reason, "nobody is there to stop the process");
    }
    /// Something that nobody can repair happened, such as a log that cannot be written: end the process now.
    fn abort(&self, reason: &str) {
        tracing::error!(reason, "nobody is there to end the process");
    }
}

/// Where clients learn who serves: ZooKeeper's znodes, and the connection registry.
pub trait Registry: Send + Sync + 'static {
    fn publish_cluster_id(&self, id: &str);
    /// The active master.
    fn publish_master(&self, master: &ServerName);
    /// Where hbase:meta and all its replicas, `replicas` with itself, are.
    fn publish_meta(&self, server: &ServerName, open_seq_num: u64, replicas: i32);
    /// A namespace, new or changed, and its descriptor as hbase:namespace has it.
    fn publish_namespace(&self, _name: &str, _descriptor: &[u8]) {}
    fn withdraw_namespace(&self, _name: &str) {}
}

/// A registry that tells nobody.
pub struct NoRegistry;

impl Registry for NoRegistry {
    fn publish_cluster_id(&self, _: &str) {}
    fn publish_master(&self, _: &ServerName) {}
    fn publish_meta(&self, _: &ServerName, _: u64, _: i32) {}
}
