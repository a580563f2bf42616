//! The write-ahead log: HBase's protobuf WAL format, group commit, roll, archiving, reading and splitting.
//!
//! ```text
//!  region threads            Wal                          WAL thread                  WALs/<server>/<prefix>.<ts>
//!  append(entry) ── encode ──► pending buffer ─┐
//!  append(entry) ── encode ──► pending buffer ─┼─ take all ─► one write, one fdatasync ──► PWAL header entry entry …
//!  on_synced(ticket, f) ─────► waiting ────────┘                     │
//!                                    f(Ok) f(Ok) … in order ◄────────┘
//! ```
//!
//! Where entries need not reach the disk (`hbase.wal.hsync` false), a caller may write in the thread's place
//! ([`Wal::on_synced_here`]): that takes less than to wake the thread.
//!
//! The WAL thread never waits for more work: while it syncs, the next batch gathers by itself. A failed write or sync
//! poisons the log: every waiter and every later call gets the error, because nobody knows what is on the disk.
//!
//! What is absent: what a region is. The log sees names, sequence ids and bytes. The format is in [`format`](mod@format) and in
//! `docs/formats/wal.md`.
#![forbid(unsafe_code)]

mod accounting;
mod dictionary;
pub mod entry;
mod error;
pub mod format;
mod leader;
mod log;
mod options;
mod parse;
mod reader;
mod split;
mod tail;
mod writer;

pub use entry::{Entry, Scope};
pub use error::WalError;
pub use log::{FlushCandidate, Rolled, Ticket, Wal, WalStats};
pub use options::{WalContext, WalOptions};
pub use reader::{TornTail, WalReader};
pub use split::{SplitOptions, SplitReport, split_logs, split_logs_with};
