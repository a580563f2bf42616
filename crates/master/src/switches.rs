//! The switches that an administrator turns: kept in the master's store under HBase's names and messages.

use crate::MasterError;
use crate::store::MasterStore;
use martite_catalog::with_magic;
use martite_proto::{self as pb, Message};
use parking_lot::Mutex;
use std::collections::BTreeMap;

/// A switch. All are on until somebody turns them off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Switch {
    Balancer,
    Normalizer,
    SnapshotCleanup,
    Split,
    Merge,
    /// HBase forgets these two at a restart; so do we.
    CatalogJanitor,
    Cleaner,
    ReplicationPeerModification,
    /// HBase keeps this one in ZooKeeper.
    RpcThrottle,
}

impl Switch {
    pub(crate) const ALL: [Switch; 9] = [
        Switch::Balancer,
        Switch::Normalizer,
        Switch::SnapshotCleanup,
        Switch::Split,
        Switch::Merge,
        Switch::CatalogJanitor,
        Switch::Cleaner,
        Switch::ReplicationPeerModification,
        Switch::RpcThrottle,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Switch::Balancer => "Balancer",
            Switch::Normalizer => "Normalizer",
            Switch::SnapshotCleanup => "Snapshot cleanup",
            Switch::Split => "Splits",
            Switch::Merge => "Merges",
            Switch::CatalogJanitor => "Catalog janitor",
            Switch::Cleaner => "Cleaner",
            Switch::ReplicationPeerModification => "Replication peer modification",
            Switch::RpcThrottle => "RPC throttle",
        }
    }

    /// The row in master:store; None: not kept.
    fn row(self) -> Option<&'static str> {
        match self {
            Switch::Balancer => Some("load_balancer_on"),
            Switch::Normalizer => Some("region_normalizer_on"),
            Switch::SnapshotCleanup => Some("snapshot_cleanup_enabled"),
            Switch::Split => Some("split_enabled"),
            Switch::Merge => Some("merge_enabled"),
            Switch::ReplicationPeerModification => Some("replication_peer_modification_on"),
            Switch::RpcThrottle => Some("rpc_throttle_on"),
            Switch::CatalogJanitor | Switch::Cleaner => None,
        }
    }

    fn encode(self, on: bool) -> Vec<u8> {
        match self {
            Switch::Balancer => with_magic(&pb::LoadBalancerState { balancer_on: Some(on) }),
            Switch::Normalizer => with_magic(&pb::RegionNormalizerState { normalizer_on: Some(on) }),
            Switch::SnapshotCleanup => with_magic(&pb::SnapshotCleanupState { snapshot_cleanup_enabled: on }),
            _ => with_magic(&pb::SwitchState { enabled: Some(on) }),
        }
    }

    /// A message that says nothing means on, except where HBase's default is false.
    fn decode(self, bytes: &[u8]) -> Result<bool, prost::DecodeError> {
        let body = bytes.strip_prefix(pb::PBUF_MAGIC).unwrap_or(bytes);
        Ok(match self {
            Switch::Balancer => pb::LoadBalancerState::decode(body)?.balancer_on.unwrap_or(false),
            Switch::Normalizer => pb::RegionNormalizerState::decode(body)?.normalizer_on.unwrap_or(false),
            Switch::SnapshotCleanup => pb::SnapshotCleanupState::decode(body)?.snapshot_cleanup_enabled,
            _ => pb::SwitchState::decode(body)?.enabled.unwrap_or(false),
        })
    }
}

/// The positions of all switches.
pub(crate) struct Switches(Mutex<BTreeMap<Switch, bool>>);

impl Switches {
    pub fn load(store: &MasterStore) -> Result<Switches, MasterError> {
        let mut positions = BTreeMap::new();
        for switch in Switch::ALL {
            let Some(row) = switch.row() else { continue };
            if let Some(bytes) = store.state(row)? {
                let on = switch.decode(&bytes).map_err(|e| MasterError::io(format!("master:store, {row}: {e}")))?;
                positions.insert(switch, on);
            }
        }
        Ok(Switches(Mutex::new(positions)))
    }

    pub fn is_on(&self, switch: Switch) -> bool {
        self.0.lock().get(&switch).copied().unwrap_or(true)
    }

    /// Turns a switch and answers what it was.
    pub fn set(&self, store: &MasterStore, switch: Switch, on: bool, now_ms: u64) -> Result<bool, MasterError> {
        let mut positions = self.0.lock();
        if let Some(row) = switch.row() {
            store.set_state(row, &switch.encode(on), now_ms)?;
        }
        Ok(positions.insert(switch, on).unwrap_or(true))
    }
}
