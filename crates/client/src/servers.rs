//! [`Servers`]: one connection per server and service, made when it is needed and made again when it is lost.

use crate::{Error, Options};
use arc_swap::ArcSwapOption;
use martite_rpc::client::{Answer, CallOptions, Client, ClientError, ClientOptions, PendingCall};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// All connections.
#[derive(Debug)]
pub(crate) struct Servers {
    options: Arc<Options>,
    peers: RwLock<HashMap<(String, &'static str), Arc<Peer>>>,
}

impl Servers {
    pub fn new(options: Arc<Options>) -> Servers {
        Servers { options, peers: RwLock::default() }
    }

    /// A service of the server at `host:port`.
    pub fn peer(&self, address: &str, service: &'static str) -> Arc<Peer> {
        let key = (address.to_owned(), service);
        if let Some(peer) = self.peers.read().get(&key) {
            return peer.clone();
        }
        let new = || Peer {
            address: address.to_owned(),
            service,
            options: self.options.clone(),
            current: ArcSwapOption::empty(),
            connecting: tokio::sync::Mutex::default(),
        };
        self.peers.write().entry(key).or_insert_with(|| Arc::new(new())).clone()
    }
}

/// One service of one server.
#[derive(Debug)]
pub(crate) struct Peer {
    pub address: String,
    service: &'static str,
    options: Arc<Options>,
    current: ArcSwapOption<Client>,
    /// Held by the one who connects; the last failure.
    connecting: tokio::sync::Mutex<Option<Failure>>,
}

#[derive(Debug)]
struct Failure {
    at: Instant,
    error: String,
}

impl Peer {
    /// Calls and waits for the answer, for as long as `limit`.
    pub async fn call(
        &self,
        method: &'static str,
        message: &[u8],
        cells: &[&[u8]],
        options: &CallOptions,
        limit: Duration,
    ) -> Result<Answer, Error> {
        let pending = self.send(method, message, cells, options, limit).await?;
        pending.await.map_err(|e| self.failed(e, method, limit))
    }

    /// Sends; connects before that if need be.
    pub async fn send(
        &self,
        method: &'static str,
        message: &[u8],
        cells: &[&[u8]],
        options: &CallOptions,
        limit: Duration,
    ) -> Result<PendingCall, Error> {
        // Nothing was sent over a connection that turns out to be closed: it is made again, once.
        if let Some(client) = &*self.current.load() {
            match client.send(method, message, cells, options, Some(limit)) {
                Err(ClientError::Closed) => {}
                sent => return sent.map_err(|e| self.failed(e, method, limit)),
            }
        }
        let client = self.connect(limit).await?;
        client.send(method, message, cells, options, Some(limit)).map_err(|e| self.failed(e, method, limit))
    }

    /// Sends over the connection that is there; none: the caller has to wait for one.
    pub fn try_send(
        &self,
        method: &str,
        message: &[u8],
        options: &CallOptions,
        limit: Duration,
    ) -> Option<PendingCall> {
        let client = self.current.load();
        client.as_ref()?.send(method, message, &[], options, Some(limit)).ok()
    }

    pub fn failed(&self, error: ClientError, method: &'static str, limit: Duration) -> Error {
        Error::of_call(error, &self.address, method, limit)
    }

    /// The connection, made by one of all those who want it.
    async fn connect(&self, limit: Duration) -> Result<Arc<Client>, Error> {
        let mut last = self.connecting.lock().await;
        if let Some(client) = self.current.load_full()
            && !client.is_closed()
        {
            return Ok(client);
        }
        let refused = |error: String| Error::Connection {
            server: self.address.clone(),
            source: ClientError::Io(std::io::Error::other(error)),
        };
        if let Some(failure) = &*last
            && failure.at.elapsed() < self.options.failed_server_expiry
        {
            return Err(refused(failure.error.clone()));
        }
        let limit = limit.min(self.options.connect_timeout);
        let connected = match tokio::time::timeout(limit, self.connected()).await {
            Ok(Ok(client)) => Ok(Arc::new(client)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no connection within {} ms", limit.as_millis())),
        };
        match connected {
            Ok(client) => {
                *last = None;
                self.current.store(Some(client.clone()));
                Ok(client)
            }
            Err(error) => {
                *last = Some(Failure { at: Instant::now(), error: error.clone() });
                Err(refused(error))
            }
        }
    }

    async fn connected(&self) -> Result<Client, ClientError> {
        let address = resolve(&self.address).await.map_err(|e| ClientError::Io(std::io::Error::other(e)))?;
        let options = ClientOptions {
            user: self.options.user.clone(),
            codec: Some(self.options.codec.clone()),
            compressor: self.options.compressor.clone(),
            ..ClientOptions::new(self.service)
        };
        Client::connect(address, &options).await
    }
}

/// The address of host:port, of IPv4 if there is one.
pub async fn resolve(address: &str) -> Result<SocketAddr, Error> {
    let failed = |reason: String| Error::Address { address: address.to_owned(), reason };
    let found: Vec<SocketAddr> = tokio::net::lookup_host(address).await.map_err(|e| failed(e.to_string()))?.collect();
    let ipv4 = found.iter().copied().find(SocketAddr::is_ipv4);
    ipv4.or(found.first().copied()).ok_or_else(|| failed("has no address".to_owned()))
}
