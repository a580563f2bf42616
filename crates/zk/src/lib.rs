//! The embedded read-only ZooKeeper endpoint: what HBase clients need of ZooKeeper, served from a tree in memory.
//!
//! ```text
//!  server process ── set, remove ──► Tree ◄── read, watch ── ZkServer ◄── sessions of HBase clients, zkCli, scripts
//! ```
//!
//! Sessions, reads, watches and the four-letter words are ZooKeeper's; whatever would change the tree over the wire is
//! refused. Nothing is stored: the process sets the tree at start.
//!
//! [`client`] reads znodes of any ZooKeeper: how a native client finds a cluster.
//!
//! What is absent: writes over the wire, quorum. Source: HBase 2.6 `ZNodePaths`, ZooKeeper 3.8 `zookeeper.jute`.
#![forbid(unsafe_code)]

pub mod client;
mod connection;
mod request;
mod server;
mod session;
mod tree;
mod value;
mod wire;
mod words;

pub use server::{ZkOptions, ZkServer};
pub use tree::{Node, Stat, Tree};
pub use value::{
    backup_master_value, cluster_id_value, cluster_up_value, master_value, meta_location_value, namespace_value,
    node_content, node_value, region_server_value, table_state_value,
};
