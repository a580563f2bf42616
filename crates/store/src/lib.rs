//! One column family of a region: memstore, store files, scanners, flush, compaction.
//!
//! ```text
//!            MemStore                    store files, oldest sequence id first
//!   active ── snapshot ──flush──▶  [f1] [f2] [f3] ──compaction──▶ [f4]   (f1..f3 go to the archive)
//!      └─────────┴───── ReadView ─────┴────┴────┘  what one scanner reads; never changes under it
//! ```
//!
//! What is absent: row locks, the log and visibility (crate `region`); clocks and configuration: the time and every
//! option are arguments. Blocking happens only in [`files::Blocking`], flush and compaction.
#![deny(unsafe_code)]

pub mod archive;
pub mod compaction;
pub mod counters;
pub mod error;
pub mod file_list;
pub mod files;
pub mod flush;
pub mod link;
pub mod memstore;
pub mod name;
pub mod options;
mod output;
pub mod reference;
pub mod scan;
pub mod store;
pub mod store_file;

pub use compaction::{CompactionOutcome, CompactionPlan, CompactionRequest, Throttle, Unthrottled};
pub use counters::StoreCounters;
pub use error::StoreError;
pub use file_list::FileTracker;
pub use files::{Blocking, CacheOnly, Files, image_of};
pub use flush::{FlushTicket, FlushedFile};
pub use memstore::{MemStore, Segment};
pub use options::{FamilyOptions, KeepDeleted, StoreConfig, StoreOverrides};
pub use reference::{Half, Reference, split_files};
pub use scan::{CompactionKind, CompactionScan, CompactionScanner, ReadView, StoreScan, StoreScanner};
pub use store::{Store, StoreContext};
pub use store_file::{StoreFile, StoreFileScanner};
