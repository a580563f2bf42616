//! HBase RPC: preamble, headers, frames, scheduling. Knows connections and calls, never a method's meaning.
//!
//! ```text
//! client ── preamble ── connection header ── frame frame frame ──▶  shard thread: one read, all its frames
//!                                                                      │ Handler::call(Call)
//!        ◀── one vectored write of all answers that are ready ──────────┤ Responder, at once …
//!                                                                      └ … or later, from any thread (Pool)
//! ```
//!
//! A connection lives on one shard, a thread that waits for sockets (`reactor`); as few of them are used as carry the load
//! (`balance`). A call is served on the thread that read it; what would block goes to the [`Pool`]. A connection with
//! nothing but calls of low priority is read on a thread that stands back (`place`); shards with nothing to do may go on with such work
//! (`aside`). The byte layout is drawn in `docs/formats/rpc.md`.
#![forbid(unsafe_code)]

mod aside;
mod balance;
pub mod call;
pub mod client;
pub mod connection;
pub mod counters;
mod direct;
pub mod exception;
pub mod format;
pub mod handler;
mod handshake;
pub mod header;
mod hop;
mod inbox;
mod link;
mod others;
mod outbox;
mod place;
pub mod pool;
mod reactor;
mod requests;
mod room;
mod scarcity;
mod seat;
pub mod server;
pub mod shards;
mod socket;
mod task;
mod times;
pub mod watch;
mod writer;

pub use call::{Call, Responder};
pub use connection::{ClientVersion, Connection};
pub use counters::Counters;
pub use direct::small_answers_leave;
pub use exception::Exception;
pub use handler::{GATHERED, Handler};
pub use link::closings;
pub use others::{on_network_thread, others_wait};
pub use outbox::{Piece, SMALL_CELLS};
pub use pool::{Class, ClassOptions, Job, Pool, PoolOptions, Position, Rest, stand_aside};
pub use server::{Server, ServerOptions};
pub use shards::Shards;
pub use watch::Watch;
