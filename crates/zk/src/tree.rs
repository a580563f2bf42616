//! [`Tree`]: the nodes, in memory, shared by the process that sets them and the sessions that read them.

use bytes::Bytes;
use martite_env::Clock;
use std::sync::Arc;

/// ZooKeeper's metadata of a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stat {
    pub czxid: i64,
    pub mzxid: i64,
    pub ctime_ms: i64,
    pub mtime_ms: i64,
    pub version: i32,
    pub cversion: i32,
    pub aversion: i32,
    pub ephemeral_owner: i64,
    pub data_length: i32,
    pub num_children: i32,
    pub pzxid: i64,
}

/// A node as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    pub data: Bytes,
    pub stat: Stat,
}

/// The tree. `/` and `/zookeeper` are always there.
pub struct Tree {}

impl Tree {
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Tree> {
        let _ = clock;
        todo!()
    }
    /// Makes the node (and those above it, empty) or changes its data; watches fire. An ephemeral node shows the
    /// process as its owner; it goes with the process.
    pub fn set(&self, path: &str, data: impl Into<Bytes>, ephemeral: bool) {
        let _ = (path, data.into(), ephemeral);
        todo!()
    }
    /// Removes the node and what is below; `false` if there was none.
    pub fn remove(&self, path: &str) -> bool {
        let _ = path;
        todo!()
    }
    pub fn get(&self, path: &str) -> Option<Node> {
        let _ = path;
        todo!()
    }
    /// Names below a node, sorted; `None` without the node.
    pub fn children(&self, path: &str) -> Option<Vec<String>> {
        let _ = path;
        todo!()
    }
}
