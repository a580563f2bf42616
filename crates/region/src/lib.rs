//! A region: a range of rows of one table, all families, on one server.
//!
//! ```text
//!            write: lock rows ── read old values ── seq + WAL append ── memstore ── unlock ──► Pending
//!                                                    (one short lock)                            │
//!            WAL thread:                                        synced ── read point passes ─────┴─► answer
//! ```
//!
//! What is promised here: a row's mutations are atomic over all families and in one order (row locks, one sequence id
//! per WAL edit); what is acknowledged is in the log; readers see whole edits or nothing (MVCC); after a crash at any
//! point, opening again replays what was acknowledged, once. The network and assignment are not known here.
#![forbid(unsafe_code)]

/// The value of a step that is ready; a step that needs a block is handed on to the caller.
macro_rules! ready_or_need {
    ($step:expr) => {
        match $step? {
            martite_hfile::Step::Ready(value) => value,
            martite_hfile::Step::Need(request) => return Ok(martite_hfile::Step::Need(request)),
        }
    };
}

mod append;
mod atomic;
mod batch;
mod bulk_load;
mod check;
mod close;
mod commit;
mod compact;
mod condition;
mod context;
mod current;
mod delete;
mod delta;
mod durability;
mod error;
mod family;
mod flush;
mod get;
mod increment;
mod load;
mod markers;
mod mvcc;
mod nonce;
mod off_peak;
mod open;
mod pending;
mod region;
mod replay;
mod request;
mod row_locks;
mod scan;
mod seq_file;
mod snapshot;
mod split;
mod times;
mod ttl;
mod write;

pub use bulk_load::Loaded;
pub use compact::Compacted;
pub use context::{RegionConfig, RegionContext, RegionEvents};
pub use durability::Durability;
pub use error::RegionError;
pub use family::family_options;
pub use flush::FlushOutcome;
pub use get::*;
pub use load::Load;
pub use mvcc::{Mvcc, ReadPoint};
pub use nonce::{GRACE_MS, Nonces};
pub use off_peak::{OffPeak, OffPeakTurn};
pub use pending::Pending;
pub use region::{Operation, Region};
pub use request::{Check, Condition, Mutation, MutationKind, WriteBody, WriteRequest, Written};
pub use scan::*;
pub use snapshot::{manifest_of_closed, missing_file, referred_regions, write_clone};
pub use split::{write_merge, write_split};
pub use times::TableTimes;
