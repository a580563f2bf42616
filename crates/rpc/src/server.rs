//! [`Server`]: a listening port, its connections and its limits.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::{Counters, Handler, Shards};

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
    /// Shortest timeout a client can ask for (`hbase.ipc.min.client.request.timeout`, 20 ms).
    pub min_call_timeout_ms: u32,
    /// How long `shutdown` waits for calls under way.
    pub shutdown_grace: Duration,
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
            min_call_timeout_ms: 20,
            shutdown_grace: Duration::from_secs(5),
        }
    }
}

/// A listening server.
pub struct Server {
    _private: (),
}

impl Server {
    /// Binds `addr` and starts accepting. Callable from any thread.
    pub fn bind(
        _addr: SocketAddr,
        _handler: Arc<dyn Handler>,
        _options: ServerOptions,
        _shards: Shards,
    ) -> io::Result<Server> {
        todo!()
    }
    pub fn local_addr(&self) -> SocketAddr {
        todo!()
    }
    pub fn counters(&self) -> Counters {
        todo!()
    }
    /// Stops accepting and reading, waits (bounded) for calls under way to be answered, closes all connections.
    pub async fn shutdown(&self) {
        todo!()
    }
}
