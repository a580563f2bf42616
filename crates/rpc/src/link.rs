//! [`Link`]: what the task of a connection shares with responders and with the server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use std::collections::HashMap;

use crate::balance::Balance;
use crate::counters::{ExceptionCounters, ShardCounters};
use crate::outbox::Outbox;
use crate::place::Place;
use crate::reactor::Remote;
use crate::times::MethodTimes;
use crate::{Handler, ServerOptions};

static CLOSINGS: AtomicU64 = AtomicU64::new(0);

/// Connections of all servers of the process that were closed so far: who keeps calls need not look at each of them again and
/// again.
pub fn closings() -> u64 {
    CLOSINGS.load(Ordering::Acquire)
}

/// How far a server has been told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    Run = 0,
    /// Read nothing more, answer what is under way, close.
    Drain = 1,
    Abort = 2,
}

/// What all connections of a server share.
pub(crate) struct ServerState {
    pub handler: Arc<dyn Handler>,
    pub options: ServerOptions,
    pub local: SocketAddr,
    pub shards: Vec<ShardCounters>,
    /// The threads of the shards, and the one that stands back.
    pub threads: Vec<Remote>,
    pub behind: Remote,
    pub balance: Arc<Balance>,
    pub exceptions: ExceptionCounters,
    pub times: MethodTimes,
    pub accepted: AtomicU64,
    pub refused: AtomicU64,
    pub mode: AtomicUsize,
    pub links: Mutex<HashMap<u64, Arc<Link>>>,
    /// Told when the last connection is gone.
    pub empty: tokio::sync::Notify,
}

impl ServerState {
    pub fn mode(&self) -> Mode {
        match self.mode.load(Ordering::Acquire) {
            0 => Mode::Run,
            1 => Mode::Drain,
            _ => Mode::Abort,
        }
    }

    /// Tells every connection. A later mode is never taken back.
    pub fn stop(&self, mode: Mode) {
        self.mode.fetch_max(mode as usize, Ordering::AcqRel);
        let links: Vec<_> = self.links.lock().values().cloned().collect();
        for link in links {
            link.outbox.force_wake();
        }
    }

    /// Unanswered calls and their bytes on all shards but one.
    pub fn queued_elsewhere(&self, shard: usize) -> (u64, u64) {
        let others = self.shards.iter().enumerate().filter(|(i, _)| *i != shard).map(|(_, s)| s.queued());
        others.fold((0, 0), |(calls, bytes), (c, b)| (calls + c, bytes + b))
    }
}

/// The shared part of one connection.
pub(crate) struct Link {
    pub id: u64,
    pub peer: SocketAddr,
    /// Changes when the connection moves to another thread for good.
    shard: AtomicUsize,
    pub outbox: Outbox,
    pub place: Place,
    /// Bytes that the task holds for a socket that does not take them.
    pub unsent: AtomicUsize,
    pub closed: AtomicBool,
    pub server: Arc<ServerState>,
}

impl Link {
    /// A new connection of a shard.
    pub fn new(id: u64, peer: SocketAddr, shard: usize, server: Arc<ServerState>) -> Link {
        server.shards[shard].connections.fetch_add(1, Ordering::Relaxed);
        Link {
            id,
            peer,
            shard: AtomicUsize::new(shard),
            outbox: Outbox::default(),
            place: Place::default(),
            unsent: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            server,
        }
    }

    #[inline]
    pub fn shard(&self) -> usize {
        self.shard.load(Ordering::Relaxed)
    }

    /// For the thread that has the connection, which goes to the one returned.
    pub fn move_to(&self, shard: usize) -> &Remote {
        let from = self.shard.swap(shard, Ordering::Relaxed);
        self.server.shards[from].connections.fetch_sub(1, Ordering::Relaxed);
        self.server.shards[shard].connections.fetch_add(1, Ordering::Relaxed);
        &self.server.threads[shard]
    }

    #[inline]
    pub fn counters(&self) -> &ShardCounters {
        &self.server.shards[self.shard()]
    }

    #[inline]
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether the client has not taken more answers than it may owe.
    #[inline]
    pub fn is_clogged(&self) -> bool {
        self.outbox.bytes() + self.unsent.load(Ordering::Relaxed) > self.server.options.max_output_bytes
    }

    /// The thread on which the connection belongs.
    pub fn thread(&self, behind: bool) -> &Remote {
        if behind { &self.server.behind } else { &self.server.threads[self.shard()] }
    }

    /// The socket is gone.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        CLOSINGS.fetch_add(1, Ordering::AcqRel);
        self.outbox.close();
        self.counters().connections.fetch_sub(1, Ordering::Relaxed);
        let mut links = self.server.links.lock();
        links.remove(&self.id);
        if links.is_empty() {
            self.server.empty.notify_waiters();
        }
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("id", &self.id).field("peer", &self.peer).finish_non_exhaustive()
    }
}
