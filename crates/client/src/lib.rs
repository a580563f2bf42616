//! A native client of any HBase: finds the regions of tables, administers tables. Connections are those of `martite-rpc`.
//!
//! ```text
//! host:port of any server ── registry ──▶ where hbase:meta is ── scan ──▶ regions of a table, and their servers
//! ```
#![forbid(unsafe_code)]

pub mod admin;
pub mod cluster;
pub mod error;
pub mod scan;

pub use admin::Admin;
pub use cluster::{Cluster, Location};
pub use error::Error;
