//! The master: tables, namespaces and regions, what becomes of them, and the procedures that change them.
//!
//! ```text
//! call("CreateTable", …) ─ check ─┐
//!                                 ▼                      master:store (own region, own log)
//!                       ┌──── procedure ──── step ──── state saved ──── step ──── … done, result kept
//!                       │        locks: namespace, table, region
//!                       ▼
//!        hbase:meta rows │ directories │ RegionHost: open, close, flush
//! ```
//!
//! A procedure's steps can be repeated: a crash between a step and the saving of its state runs the step again. At start
//! every unfinished procedure is finished or rolled back before the master serves.
//!
//! Never: client data, the network, which server a region is on (there is one; see [`RegionHost`]).
#![forbid(unsafe_code)]

mod assign;
mod catalog;
mod checks;
mod chores;
mod cleaner;
mod error;
mod file_tracker;
mod host;
mod janitor;
mod master;
mod namespaces;
mod normalizer;
mod overview;
mod procedure;
mod quotas;
mod rows;
mod rpc;
mod services;
mod snapshots;
mod space;
mod start;
mod store;
mod switches;
#[cfg(test)]
mod tests;

pub use checks::is_built_in;
pub use error::{MasterError, class};
pub use host::{NoRegistry, RegionHost, Registry};
pub use master::{Caller, Master, MasterContext};
pub use overview::{LockOverview, RegionOverview, SnapshotFiles, TableOverview};
