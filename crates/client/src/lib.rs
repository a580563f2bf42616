//! An async client for HBase 2 and for whatever speaks its protocol.
//!
//! ```text
//! Connection ── registry (ZooKeeper, or any server) ──▶ where the master and hbase:meta are
//!     │ ── hbase:meta ──▶ where the regions of a table are; remembered until a server says otherwise
//!     │ ── one pipelined connection per server and service
//!     ├─ Table: get, put, delete, append, increment, check_and_mutate, mutate_row, batch, scan
//!     └─ Admin: tables, regions, servers
//! ```
//!
//! ```no_run
//! use martite_client::{Connection, Get, Options, Put, Registry, Scan};
//!
//! # async fn example() -> Result<(), martite_client::Error> {
//! let connection = Connection::connect(Options::new(Registry::zookeeper("localhost:2181"))).await?;
//! let table = connection.table("users".parse()?);
//! table.put(Put::row("user1").column("f", "name", "Ann")).await?;
//! let row = table.get(Get::row("user1").column("f", "name")).await?;
//! assert_eq!(row.value("f", "name"), Some(&b"Ann"[..]));
//! let mut scanner = table.scan(Scan::new().prefix("user").limit(10));
//! while let Some(row) = scanner.next().await? {
//!     println!("{row:?}");
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod action;
pub mod admin;
mod append;
mod batch;
mod check;
pub mod cluster;
mod connection;
mod delete;
mod error;
mod exception;
#[cfg(test)]
mod fake;
mod get;
mod increment;
mod locate;
mod locations;
mod metrics;
mod mutation;
mod options;
mod pieces;
mod put;
mod registry;
mod retry;
mod row;
mod row_mutations;
mod scan;
mod scanner;
mod servers;
mod table;

pub use action::Action;
pub use admin::Admin;
pub use append::Append;
pub use batch::Outcome;
pub use check::CheckAndMutate;
pub use cluster::Cluster;
pub use connection::Connection;
pub use delete::Delete;
pub use error::Error;
pub use exception::Exception;
pub use get::Get;
pub use increment::Increment;
pub use locations::{Location, specifier};
pub use martite_proto as pb;
pub use metrics::ScanMetrics;
pub use options::Options;
pub use put::Put;
pub use registry::Registry;
pub use row::{Cells, Row};
pub use row_mutations::RowMutations;
pub use scan::Scan;
pub use scanner::Scanner;
pub use servers::resolve;
pub use table::Table;
