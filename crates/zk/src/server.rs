//! [`ZkServer`]: the listening side.

use crate::Tree;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Limits of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZkOptions {
    /// Session timeouts are negotiated into this range.
    pub min_session_timeout: Duration,
    pub max_session_timeout: Duration,
    /// A longer request closes its connection (`jute.maxbuffer`).
    pub max_frame_bytes: usize,
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

/// A bound endpoint; it stops when it is dropped.
pub struct ZkServer {}

impl ZkServer {
    /// Binds and serves in tasks of the current tokio runtime.
    pub async fn bind(addr: SocketAddr, tree: Arc<Tree>, options: ZkOptions) -> io::Result<ZkServer> {
        let _ = (addr, tree, options);
        todo!()
    }
    pub fn local_addr(&self) -> SocketAddr {
        todo!()
    }
    /// Stops listening and closes the connections.
    pub fn shutdown(&self) {
        todo!()
    }
}
