//! [`Registry`]: where a cluster says who its master is and where hbase:meta is.

use crate::servers::Servers;
use crate::{Error, Options};
use martite_catalog::ServerName;
use martite_proto as pb;
use martite_rpc::client::CallOptions;
use parking_lot::Mutex;
use pb::Message;
use std::time::Duration;
use tokio::time::Instant;

/// Answers of a ZooKeeper are waited for so long (`zookeeper.registry.async.get.timeout`).
const ZOOKEEPER_TIMEOUT: Duration = Duration::from_secs(10);
/// Other servers to ask are looked for so often (`hbase.client.bootstrap.refresh_interval_secs`).
const REFRESH: Duration = Duration::from_secs(300);

/// How a cluster is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Registry {
    /// ZooKeeper, the default of HBase 2.
    ZooKeeper { quorum: Vec<String>, parent: String },
    /// Any masters and region servers, the default of HBase 3.
    Rpc { servers: Vec<String> },
}

impl Registry {
    /// `host:port,host:port`, and if the cluster's znode is not `/hbase`, that one behind it: `host:port/other`.
    pub fn zookeeper(quorum: &str) -> Registry {
        let (hosts, parent) = match quorum.split_once('/') {
            Some((hosts, parent)) => (hosts, format!("/{parent}")),
            None => (quorum, "/hbase".to_owned()),
        };
        Registry::ZooKeeper { quorum: addresses(hosts, 2181), parent }
    }

    /// `host:port,host:port` of masters or region servers; without a port, the master's 16000.
    pub fn rpc(servers: &str) -> Registry {
        Registry::Rpc { servers: addresses(servers, 16000) }
    }

    /// The same with another znode.
    #[must_use]
    pub fn parent(self, znode: &str) -> Registry {
        match self {
            Registry::ZooKeeper { quorum, .. } => Registry::ZooKeeper { quorum, parent: znode.to_owned() },
            rpc => rpc,
        }
    }
}

/// As HBase 3 writes it (`hbase+zk://host:2181/hbase`, `hbase+rpc://host:16000`); without a scheme, ZooKeeper.
impl std::str::FromStr for Registry {
    type Err = Error;

    fn from_str(text: &str) -> Result<Registry, Error> {
        let registry = match text.split_once("://") {
            Some(("hbase+rpc", servers)) => Registry::rpc(servers.trim_end_matches('/')),
            Some(("hbase+zk", quorum)) => Registry::zookeeper(quorum),
            None => Registry::zookeeper(text),
            Some((scheme, _)) => return Err(Error::Invalid(format!("{text}: there is no registry {scheme}"))),
        };
        match &registry {
            Registry::ZooKeeper { quorum: none, .. } | Registry::Rpc { servers: none } if none.is_empty() => {
                Err(Error::Invalid(format!("{text:?} names no server")))
            }
            _ => Ok(registry),
        }
    }
}

fn addresses(list: &str, port: u16) -> Vec<String> {
    let with_port = |host: &str| if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") };
    list.split(',').map(str::trim).filter(|host| !host.is_empty()).map(with_port).collect()
}

/// The registry at work.
#[derive(Debug)]
pub(crate) struct Directory {
    registry: Registry,
    /// Of the RPC registry: servers that are up, as they said themselves.
    alive: Mutex<Alive>,
}

#[derive(Debug, Default)]
struct Alive {
    servers: Vec<String>,
    asked: Option<Instant>,
}

impl Directory {
    pub fn new(registry: Registry) -> Directory {
        Directory { registry, alive: Mutex::default() }
    }

    pub async fn cluster_id(&self, servers: &Servers, options: &Options) -> Result<String, Error> {
        match &self.registry {
            Registry::ZooKeeper { .. } => {
                let id: Option<pb::ClusterId> = self.znode("hbaseid").await?;
                id.map(|id| id.cluster_id).ok_or_else(|| unknown("the cluster's id is not known"))
            }
            Registry::Rpc { .. } => {
                let request = pb::GetClusterIdRequest::default();
                let answer: pb::GetClusterIdResponse = self.ask(servers, options, "GetClusterId", &request).await?;
                answer.cluster_id.ok_or_else(|| unknown("the cluster's id is not known"))
            }
        }
    }

    pub async fn active_master(&self, servers: &Servers, options: &Options) -> Result<ServerName, Error> {
        let name = match &self.registry {
            Registry::ZooKeeper { .. } => self.znode("master").await?.map(|master: pb::Master| master.master),
            Registry::Rpc { .. } => {
                let request = pb::GetActiveMasterRequest::default();
                let answer: pb::GetActiveMasterResponse =
                    self.ask(servers, options, "GetActiveMaster", &request).await?;
                answer.server_name
            }
        };
        Ok(ServerName::from_proto(&name.ok_or_else(|| unknown("no master is active"))?)?)
    }

    pub async fn meta_server(&self, servers: &Servers, options: &Options) -> Result<ServerName, Error> {
        let name = match &self.registry {
            Registry::ZooKeeper { .. } => {
                self.znode("meta-region-server").await?.map(|meta: pb::MetaRegionServer| meta.server)
            }
            Registry::Rpc { .. } => {
                let request = pb::GetMetaRegionLocationsRequest::default();
                let answer: pb::GetMetaRegionLocationsResponse =
                    self.ask(servers, options, "GetMetaRegionLocations", &request).await?;
                answer.meta_locations.into_iter().find_map(|location| location.server_name)
            }
        };
        Ok(ServerName::from_proto(&name.ok_or_else(|| unknown("hbase:meta is on no server"))?)?)
    }

    /// A znode below the parent; `None`: there is none.
    async fn znode<M: Message + Default>(&self, name: &str) -> Result<Option<M>, Error> {
        let Registry::ZooKeeper { quorum, parent } = &self.registry else {
            return Err(unknown("no ZooKeeper"));
        };
        let path = format!("{parent}/{name}");
        let read = martite_zk::client::read(quorum, &[&path], ZOOKEEPER_TIMEOUT).await;
        let failed = |reason: String| Error::Unknown(format!("ZooKeeper {}: {reason}", quorum.join(",")));
        let Some(value) = read.map_err(|e| failed(e.to_string()))?.into_iter().next().flatten() else {
            return Ok(None);
        };
        if value.is_empty() {
            return Ok(None);
        }
        let content = martite_zk::node_content(&value).ok_or_else(|| Error::malformed(format!("{path}: no PBUF")))?;
        M::decode(content).map(Some).map_err(|e| Error::malformed(format!("{path}: {e}")))
    }

    /// Asks one server after the other until one answers.
    async fn ask<Q: Message, A: Message + Default>(
        &self,
        servers: &Servers,
        options: &Options,
        method: &'static str,
        request: &Q,
    ) -> Result<A, Error> {
        self.refresh(servers, options).await;
        let mut last = unknown("no server to ask");
        for server in self.candidates() {
            match call(servers, options, &server, method, request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Servers known to be up, and then those that were named at first.
    fn candidates(&self) -> Vec<String> {
        let mut all = self.alive.lock().servers.clone();
        if let Registry::Rpc { servers } = &self.registry {
            all.extend(servers.iter().cloned());
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|server| seen.insert(server.clone()));
        all
    }

    async fn refresh(&self, servers: &Servers, options: &Options) {
        {
            let mut alive = self.alive.lock();
            if alive.asked.is_some_and(|at| at.elapsed() < REFRESH) {
                return;
            }
            alive.asked = Some(Instant::now());
        }
        for server in self.candidates() {
            let request = pb::GetBootstrapNodesRequest::default();
            let answer: Result<pb::GetBootstrapNodesResponse, Error> =
                call(servers, options, &server, "GetBootstrapNodes", &request).await;
            // Servers that do not know the method are as good as the others.
            if let Ok(answer) = answer {
                let nodes = answer.server_name.iter().filter_map(|name| ServerName::from_proto(name).ok());
                self.alive.lock().servers = nodes.map(|name| name.address()).collect();
                return;
            }
        }
    }
}

async fn call<Q: Message, A: Message + Default>(
    servers: &Servers,
    options: &Options,
    server: &str,
    method: &'static str,
    request: &Q,
) -> Result<A, Error> {
    let limit = options.rpc_timeout;
    let call_options = CallOptions { timeout_ms: Some(limit.as_millis() as u32), ..CallOptions::default() };
    let peer = servers.peer(server, "ClientMetaService");
    let answer = peer.call(method, &request.encode_to_vec(), &[], &call_options, limit).await?;
    answer.decode().map_err(|e| peer.failed(e, method, limit))
}

fn unknown(what: &str) -> Error {
    Error::Unknown(what.to_owned())
}
