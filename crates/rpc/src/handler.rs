//! [`Handler`]: what a server does with the calls that its connections read.

use std::sync::Arc;
use std::time::Instant;

use crate::{Call, Pool};

/// Serves calls. One handler serves all connections of a server.
pub trait Handler: Send + Sync + 'static {
    /// Whether a connection may name this service (`ClientService`, `AdminService`, …) in its header.
    fn serves(&self, service: &str) -> bool;

    /// The cluster id, for the `Regist` preamble; empty while it is not known.
    fn cluster_id(&self) -> String;

    /// Takes one call. Runs on the network thread, so it must not block; it answers through `call.responder`, at once
    /// or later, from any thread. A responder that is dropped unused answers with an internal error.
    fn call(&self, call: Call);

    /// Whether calls like this one are better taken several at a time, by [`Handler::calls`].
    fn gathers(&self, _: &Call) -> bool {
        false
    }

    /// Takes calls of one read, at most [`GATHERED`], which follow each other and each of which `gathers`; as
    /// [`Handler::call`] otherwise. Those that are left in `calls` are given to [`Handler::call`].
    fn calls(&self, _: &mut Vec<Call>) {}

    /// A network thread has answered what it had read, as far as that was done at once, and looks for more: what is due may go
    /// on. Called so often that it should mostly return at once; not by the thread that stands back behind all others.
    fn between_reads(&self, _now: Instant) {}

    /// The pool whose scans and work of low priority network threads may do a little of while they have nothing to do
    /// ([`Pool::spawn_aside`], [`Pool::spawn_rest`]).
    fn pool(&self) -> Option<&Arc<Pool>> {
        None
    }
}

/// So many calls are gathered at most.
pub const GATHERED: usize = 16;
