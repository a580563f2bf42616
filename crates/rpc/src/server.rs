//! [`Server`]: a listening port, its connections and its limits.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::JoinHandle;

use crate::counters::ShardCounters;
use crate::link::{Link, Mode, ServerState};
use crate::task::{LinkGuard, Task};
use crate::times::MethodTimes;
use crate::{Counters, Handler, Shards, Watch};

/// Connections that the kernel may hold before they are accepted.
const BACKLOG: u32 = 4096;
/// Pause after an accept that failed, for example because there are no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long `shutdown` waits for connections to go once they are told to, whatever is under way.
const ABORT_WAIT: Duration = Duration::from_secs(1);

/// What the kernel may hold of a connection's answers before it can send them. Without a bound these are megabytes for a client that
/// reads slowly; they are counted nowhere, and have left the processor's caches by the time that they go.
const UNSENT_BYTES: u32 = 128 << 10;

/// Limits of a server. Defaults are HBase's where HBase has them.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Largest request frame (`hbase.ipc.max.request.size`, 256 MiB).
    pub max_request_bytes: usize,
    /// Sum of unanswered request bytes (`hbase.ipc.server.max.callqueue.size`, 1 GiB).
    pub max_queued_bytes: usize,
    /// Unanswered calls of all connections.
    pub max_queued_calls: usize,
    /// A connection whose client has not taken this many bytes of answers is not read from.
    pub max_output_bytes: usize,
    /// Largest decompressed request cell block.
    pub max_cell_block_bytes: usize,
    /// Connections beyond this are closed at once.
    pub max_connections: usize,
    /// Time for preamble and connection header.
    pub handshake_timeout: Duration,
    /// A client that is refused may still be writing: its bytes are thrown away for this long, or the answer that says
    /// why would be lost in a reset.
    pub linger: Duration,
    /// Shortest timeout a client can ask for (`hbase.ipc.min.client.request.timeout`, 20 ms).
    pub min_call_timeout_ms: u32,
    /// How long `shutdown` waits for calls under way.
    pub shutdown_grace: Duration,
    /// Methods whose times are counted each by itself; those of all others are counted together.
    pub timed_methods: &'static [&'static str],
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            max_request_bytes: 256 << 20,
            max_queued_bytes: 1 << 30,
            max_queued_calls: 50_000,
            max_output_bytes: 8 << 20,
            max_cell_block_bytes: 256 << 20,
            max_connections: 60_000,
            handshake_timeout: Duration::from_secs(60),
            linger: Duration::from_secs(2),
            min_call_timeout_ms: 20,
            shutdown_grace: Duration::from_secs(5),
            timed_methods: &[],
        }
    }
}

/// Bounds the unsent answers that the kernel holds of each of the listening socket's connections, where there is a way to.
fn bound_unsent(socket: &TcpSocket) {
    #[cfg(target_os = "linux")]
    if let Err(e) = socket2::SockRef::from(socket).set_tcp_notsent_lowat(UNSENT_BYTES) {
        tracing::info!(error = %e, "the kernel does not bound what waits to be sent (TCP_NOTSENT_LOWAT)");
    }
}

/// A listening server. Dropping it closes its port and its connections.
pub struct Server {
    state: Arc<ServerState>,
    shards: Shards,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

impl Server {
    /// Binds `addr` and starts accepting. Callable from any thread.
    pub fn bind(
        addr: SocketAddr,
        handler: Arc<dyn Handler>,
        options: ServerOptions,
        shards: Shards,
    ) -> io::Result<Server> {
        let runtime = shards.runtime();
        let entered = runtime.enter();
        let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        // Accepted sockets inherit these.
        socket.set_keepalive(true)?;
        socket.set_nodelay(true)?;
        bound_unsent(&socket);
        socket.bind(addr)?;
        let listener = socket.listen(BACKLOG)?;
        drop(entered);
        // With no room at all nothing would ever be read.
        let options = ServerOptions { max_output_bytes: options.max_output_bytes.max(1), ..options };
        let state = Arc::new(ServerState {
            handler,
            times: MethodTimes::new(options.timed_methods),
            options,
            local: listener.local_addr()?,
            shards: (0..shards.len()).map(|_| ShardCounters::default()).collect(),
            threads: shards.threads(),
            behind: shards.behind(),
            balance: shards.balance(),
            exceptions: Default::default(),
            accepted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            mode: AtomicUsize::new(Mode::Run as usize),
            links: Mutex::new(HashMap::new()),
            empty: tokio::sync::Notify::new(),
        });
        let acceptor = runtime.spawn(accept(listener, state.clone()));
        Ok(Server { state, shards, acceptor: Mutex::new(Some(acceptor)) })
    }

    pub fn local_addr(&self) -> SocketAddr {
        self.state.local
    }

    /// What the server has done so far.
    pub fn counters(&self) -> Counters {
        self.watch().counters()
    }

    /// For those who look at the server without owning it.
    pub fn watch(&self) -> Watch {
        Watch(self.state.clone())
    }

    /// Stops accepting and reading, waits (bounded) for calls under way to be answered, closes all connections.
    pub async fn shutdown(&self) {
        let acceptor = self.acceptor.lock().take();
        if let Some(acceptor) = acceptor {
            acceptor.abort();
            let _ = acceptor.await;
        }
        let state = self.state.clone();
        // There, because the caller's runtime may have no timers.
        let stopping = self.shards.runtime().spawn(async move {
            state.stop(Mode::Drain);
            if !all_gone(&state, state.options.shutdown_grace).await {
                state.stop(Mode::Abort);
                all_gone(&state, ABORT_WAIT).await;
            }
        });
        let _ = stopping.await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(acceptor) = self.acceptor.lock().take() {
            acceptor.abort();
        }
        self.state.stop(Mode::Abort);
    }
}

async fn all_gone(state: &ServerState, wait: Duration) -> bool {
    tokio::time::timeout(wait, async {
        loop {
            let mut told = std::pin::pin!(state.empty.notified());
            told.as_mut().enable();
            if state.links.lock().is_empty() {
                return;
            }
            told.await;
        }
    })
    .await
    .is_ok()
}

/// Accepts and hands each connection to the shard with the fewest, of those that are needed.
async fn accept(listener: TcpListener, state: Arc<ServerState>) {
    let mut next_id = 0;
    loop {
        let (socket, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(e) => {
                tracing::warn!("accept failed: {e}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if state.links.lock().len() >= state.options.max_connections {
            state.refused.fetch_add(1, Relaxed);
            continue;
        }
        state.accepted.fetch_add(1, Relaxed);
        let needed = state.shards.iter().enumerate().take(state.balance.needed());
        let shard = needed.min_by_key(|(_, s)| s.connections.load(Relaxed)).map_or(0, |(i, _)| i);
        next_id += 1;
        let link = Arc::new(Link::new(next_id, peer, shard, state.clone()));
        state.links.lock().insert(next_id, link.clone());
        let guard = LinkGuard(link);
        // It has to leave this runtime.
        match socket.into_std() {
            Ok(socket) => state.threads[shard].adopt(Task::new(socket, guard)),
            Err(e) => tracing::warn!(%peer, "connection not handed over: {e}"),
        }
    }
}
