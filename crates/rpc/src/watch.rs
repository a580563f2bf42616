//! [`Watch`]: what a server has done, for metrics and pages.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use martite_metrics::CallSnapshot;

use crate::Counters;
use crate::counters::ShardCounters;
use crate::link::ServerState;

/// A view of a server. Cheap to clone; it does not keep the port open.
#[derive(Clone)]
pub struct Watch(pub(crate) Arc<ServerState>);

impl Watch {
    /// What the server has done so far.
    pub fn counters(&self) -> Counters {
        let state = &self.0;
        let sum = |of: fn(&ShardCounters) -> u64| state.shards.iter().map(of).sum();
        let (open, output) = {
            let links = state.links.lock();
            let output = links.values().map(|l| (l.outbox.bytes() + l.unsent.load(Relaxed)) as u64).sum();
            (links.len() as u64, output)
        };
        Counters {
            connections_open: open,
            connections_accepted: state.accepted.load(Relaxed),
            connections_refused: state.refused.load(Relaxed),
            received_bytes: sum(|s| s.received_bytes.load(Relaxed)),
            sent_bytes: sum(|s| s.sent_bytes.load(Relaxed)),
            calls: sum(|s| s.calls.load(Relaxed)),
            queued_calls: sum(|s| s.queued().0),
            queued_bytes: sum(|s| s.queued().1),
            output_bytes: output,
            exceptions: state.exceptions.snapshot(),
        }
    }

    /// Times of the answered calls by method, as `ServerOptions::timed_methods` has them; of all others under "".
    pub fn times(&self) -> Vec<(&'static str, CallSnapshot)> {
        self.0.times.snapshots()
    }
}
