//! Master and region server of one process, as each sees the other.

use crate::exit;
use martite_catalog::{RegionInfo, ServerName, TableDescriptor};
use martite_master::{Master, RegionHost};
use martite_proto as pb;
use martite_quota::Settings;
use martite_quota::space::Usage;
use martite_region::Region;
use martite_regionserver::{MasterLink, RegionServer};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, mpsc};

/// Why the process ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// As asked: flush, close, go.
    Stop(String),
    /// The log cannot be written: go at once, the next start recovers.
    Abort(String),
}

impl End {
    pub fn exit_code(&self) -> Option<u8> {
        match self {
            End::Stop(_) => None,
            End::Abort(_) => Some(exit::ABORTED),
        }
    }
}

/// The region server, for the master.
pub struct Host {
    pub regions: Arc<RegionServer>,
    pub ends: mpsc::Sender<End>,
}

impl RegionHost for Host {
    fn server_name(&self) -> ServerName {
        self.regions.name.clone()
    }
    fn open_region(&self, info: &RegionInfo, table: &Arc<TableDescriptor>) -> Result<u64, String> {
        self.regions.open_region(info, table).map_err(|e| e.to_string())
    }
    fn close_region(&self, encoded: &str) -> Result<(), String> {
        self.regions.close_region(encoded).map_err(|e| e.to_string())
    }
    fn region(&self, encoded: &str) -> Option<Arc<Region>> {
        self.regions.online.by_encoded(encoded)
    }
    fn set_replicas(&self, encoded: &str, count: i32) {
        self.regions.online.set_replicas(encoded, count);
    }
    fn server_load(&self) -> pb::ServerLoad {
        self.regions.server_load()
    }
    fn online_regions(&self) -> Vec<RegionInfo> {
        self.regions.online.infos()
    }
    fn apply_quotas(&self, settings: Arc<Settings>, throttling: bool) {
        self.regions.apply_quotas(settings, throttling);
    }
    fn apply_space(&self, in_force: Arc<BTreeMap<String, Usage>>) {
        self.regions.apply_space(in_force);
    }
    fn stop_process(&self, reason: &str) {
        // The receiver is gone only when the process ends anyway.
        let _ = self.ends.send(End::Stop(reason.to_owned()));
    }
    fn abort(&self, reason: &str) {
        let _ = self.ends.send(End::Abort(reason.to_owned()));
    }
}

/// The master, for the region server; it starts after it.
pub struct Link {
    pub master: Arc<OnceLock<Arc<Master>>>,
    pub ends: mpsc::Sender<End>,
}

impl MasterLink for Link {
    fn request_split(&self, encoded: &str) {
        let Some(master) = self.master.get() else { return };
        match master.request_split(encoded) {
            Ok(procedure) => tracing::info!(region = encoded, procedure, "split asked for"),
            Err(e) => tracing::debug!(region = encoded, error = %e, "split refused"),
        }
    }
    fn abort(&self, reason: &str) {
        let _ = self.ends.send(End::Abort(reason.to_owned()));
    }
    fn stop(&self, reason: &str) {
        let _ = self.ends.send(End::Stop(reason.to_owned()));
    }
}
