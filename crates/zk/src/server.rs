//! [`ZkServer`]: the listening side.

use crate::connection::Connection;
use crate::session::Sessions;
use crate::tree::Tree;
use martite_env::{OsRandom, Random};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tracing::{debug, warn};

/// Limits of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZkOptions {
    /// Session timeouts are negotiated into this range.
    pub min_session_timeout: Duration,
    pub max_session_timeout: Duration,
    /// A longer request closes its connection (`jute.maxbuffer`).
    pub max_frame_bytes: usize,
    /// More connections than this are closed at once.
    pub max_connections: usize,
    pub max_sessions: usize,
}

impl Default for ZkOptions {
    fn default() -> ZkOptions {
        ZkOptions {
            min_session_timeout: Duration::from_secs(4),
            max_session_timeout: Duration::from_secs(90),
            max_frame_bytes: 1 << 20,
            max_connections: 10_000,
            max_sessions: 20_000,
        }
    }
}

/// What all connections share.
pub(crate) struct Shared {
    pub tree: Arc<Tree>,
    pub sessions: Sessions,
    pub options: ZkOptions,
    pub counters: Counters,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub received: AtomicU64,
    pub sent: AtomicU64,
    pub connections: AtomicUsize,
}

/// After a failed accept (no file descriptors left, as a rule) the listener rests.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// A bound endpoint; it stops when it is dropped.
pub struct ZkServer {
    addr: SocketAddr,
    stop: watch::Sender<bool>,
}

impl ZkServer {
    /// Binds, and serves in tasks of the current tokio runtime.
    pub async fn bind(addr: SocketAddr, tree: Arc<Tree>, options: ZkOptions) -> io::Result<ZkServer> {
        ZkServer::bind_with(addr, tree, options, Arc::new(OsRandom)).await
    }

    /// [`ZkServer::bind`], with luck for session ids and passwords.
    pub async fn bind_with(
        addr: SocketAddr,
        tree: Arc<Tree>,
        options: ZkOptions,
        random: Arc<dyn Random>,
    ) -> io::Result<ZkServer> {
        let listener = TcpListener::bind(addr).await?;
        let addr = listener.local_addr()?;
        let (min, max) = (options.min_session_timeout, options.max_session_timeout.max(options.min_session_timeout));
        let sessions = Sessions::new(random, min, max, options.max_sessions);
        let shared = Arc::new(Shared { tree, sessions, options, counters: Counters::default() });
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(sweep(Arc::clone(&shared), min / 2, stopped.clone()));
        tokio::spawn(accept(listener, shared, stopped));
        Ok(ZkServer { addr, stop })
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// Stops listening and closes the connections.
    pub fn shutdown(&self) {
        self.stop.send_replace(true);
    }
}

impl Drop for ZkServer {
    fn drop(&mut self) {
        self.shutdown();
    }
}

async fn stopped(mut stop: watch::Receiver<bool>) {
    // An error: the server was dropped.
    drop(stop.wait_for(|stop| *stop).await);
}

async fn sweep(shared: Arc<Shared>, every: Duration, stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(every.max(Duration::from_millis(10)));
    loop {
        tokio::select! {
            _ = ticks.tick() => shared.sessions.expire(shared.tree.clock().monotonic()),
            () = stopped(stop.clone()) => return,
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, stop: watch::Receiver<bool>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopped(stop.clone()) => return,
        };
        match accepted {
            Ok((stream, peer)) => welcome(stream, peer, &shared, &stop),
            Err(e) => {
                warn!(error = %e, "cannot accept ZooKeeper connections");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }
}

fn welcome(stream: TcpStream, peer: SocketAddr, shared: &Arc<Shared>, stop: &watch::Receiver<bool>) {
    let counted = Counted::new(shared);
    if shared.counters.connections.load(Ordering::Relaxed) > shared.options.max_connections {
        warn!(%peer, "too many ZooKeeper connections");
        return;
    }
    let stop = stop.clone();
    let connection = Connection { shared: Arc::clone(shared), stream, peer };
    tokio::spawn(async move {
        let _counted = counted;
        // Without this, a reply waits for the acknowledgement of the one before.
        drop(connection.stream.set_nodelay(true));
        tokio::select! {
            ended = connection.run() => if let Err(e) = ended {
                debug!(%peer, error = %e, "a ZooKeeper connection failed");
            },
            () = stopped(stop) => {}
        }
    });
}

/// Counts a connection for as long as it lives.
struct Counted(Arc<Shared>);

impl Counted {
    fn new(shared: &Arc<Shared>) -> Counted {
        shared.counters.connections.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(shared))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.counters.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
