//! [`Connection`]: a cluster, as clients share it: tables, the master, any server.

use crate::exception::Reaction;
use crate::locations::{Location, Region, Regions};
use crate::registry::Directory;
use crate::retry::{Attempts, reaction};
use crate::servers::Servers;
use crate::{Admin, Error, Options, Table};
use martite_catalog::{ServerName, TableName};
use martite_env::random::{OsRandom, Random};
use martite_proto::Message;
use martite_rpc::client::{Answer, CallOptions};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A cluster. Cheap to clone; the last clone that goes closes the connections.
///
/// Everything in here is shared: one connection per server and service, one memory of where regions are. A program needs
/// one `Connection`, whatever the number of its tasks.
#[derive(Debug, Clone)]
pub struct Connection(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub options: Arc<Options>,
    pub servers: Servers,
    pub directory: Directory,
    pub meta: Arc<Regions>,
    tables: RwLock<HashMap<TableName, Arc<Regions>>>,
    master: Mutex<Option<ServerName>>,
    /// Tells this client's nonces from others'.
    pub nonce_group: u64,
    next_nonce: AtomicU64,
}

impl Connection {
    /// Finds the cluster: an error says that nobody answers at the registry's addresses.
    pub async fn connect(options: Options) -> Result<Connection, Error> {
        let connection = Connection::new(options)?;
        connection.cluster_id().await?;
        Ok(connection)
    }

    /// As [`Connection::connect`], without asking anybody yet.
    pub fn new(options: Options) -> Result<Connection, Error> {
        let known = ["KeyValueCodec", "KeyValueCodecWithTags"];
        if !known.iter().any(|name| options.codec == format!("org.apache.hadoop.hbase.codec.{name}")) {
            return Err(Error::Invalid(format!("the codec {:?} is not one of {known:?}", options.codec)));
        }
        let options = Arc::new(options);
        Ok(Connection(Arc::new(Shared {
            servers: Servers::new(options.clone()),
            directory: Directory::new(options.registry.clone()),
            meta: Arc::new(Regions::new(TableName::meta())),
            tables: RwLock::default(),
            master: Mutex::default(),
            nonce_group: OsRandom.u64(),
            next_nonce: AtomicU64::new(OsRandom.u64() >> 1),
            options,
        })))
    }

    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// A table; whether it is there shows when it is used.
    pub fn table(&self, name: TableName) -> Table {
        let regions = self.regions_of(&name);
        Table { connection: self.clone(), regions }
    }

    /// What administrators do.
    pub fn admin(&self) -> Admin {
        Admin::new(self.clone())
    }

    /// The cluster's id, a UUID.
    pub async fn cluster_id(&self) -> Result<String, Error> {
        let mut attempts = Attempts::new(self.options(), self.options().operation_timeout);
        loop {
            match self.0.directory.cluster_id(&self.0.servers, self.options()).await {
                Ok(id) => return Ok(id),
                Err(error) => {
                    let reaction = reaction(&error);
                    attempts.after(error, &reaction).await?;
                }
            }
        }
    }

    /// The master that is active now.
    pub async fn master(&self) -> Result<ServerName, Error> {
        if let Some(known) = self.0.master.lock().clone() {
            return Ok(known);
        }
        let master = self.0.directory.active_master(&self.0.servers, self.options()).await?;
        *self.0.master.lock() = Some(master.clone());
        Ok(master)
    }

    /// The server that has hbase:meta.
    pub async fn meta_server(&self) -> Result<ServerName, Error> {
        self.0.directory.meta_server(&self.0.servers, self.options()).await
    }

    /// Calls a method of the active master: finds it, and finds it again after it moved; waits for one that starts.
    ///
    /// Repeats the call after errors that pass by themselves, so that the request should have a nonce if it may not
    /// happen twice.
    pub async fn master_call<Q: Message, A: Message + Default>(
        &self,
        service: &'static str,
        method: &'static str,
        request: &Q,
    ) -> Result<A, Error> {
        let options = self.options();
        let message = request.encode_to_vec();
        let mut attempts = Attempts::new(options, options.operation_timeout);
        loop {
            let limit = attempts.limit(options.rpc_timeout);
            let error = match self.master().await {
                Ok(master) => match self.call_of(&master, service, method, &message, limit).await {
                    Ok(answer) => return decoded(&answer, method),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            // Whoever refuses, or is not there, may not be the master any more.
            *self.0.master.lock() = None;
            let reaction = match reaction(&error) {
                Reaction::Reopen => Reaction::Fail,
                other => other,
            };
            attempts.after(error, &reaction).await?;
        }
    }

    /// Calls a method of one server, for example of its `AdminService`. Repeats the call after errors that pass by
    /// themselves.
    pub async fn server_call<Q: Message, A: Message + Default>(
        &self,
        server: &ServerName,
        service: &'static str,
        method: &'static str,
        request: &Q,
    ) -> Result<A, Error> {
        let options = self.options();
        let message = request.encode_to_vec();
        let mut attempts = Attempts::new(options, options.operation_timeout);
        loop {
            let limit = attempts.limit(options.rpc_timeout);
            match self.call_of(server, service, method, &message, limit).await {
                Ok(answer) => return decoded(&answer, method),
                Err(error) => {
                    // The region is elsewhere: only the caller knows where to ask then.
                    let reaction = match reaction(&error) {
                        Reaction::Relocate if error.exception().is_some() => Reaction::Fail,
                        Reaction::Moved(..) | Reaction::Reopen => Reaction::Fail,
                        other => other,
                    };
                    attempts.after(error, &reaction).await?;
                }
            }
        }
    }

    async fn call_of(
        &self,
        server: &ServerName,
        service: &'static str,
        method: &'static str,
        message: &[u8],
        limit: Duration,
    ) -> Result<Answer, Error> {
        let peer = self.0.servers.peer(&server.address(), service);
        peer.call(method, message, &[], &call_options(limit, None), limit).await
    }

    pub(crate) fn regions_of(&self, name: &TableName) -> Arc<Regions> {
        if name.is_meta() {
            return self.0.meta.clone();
        }
        if let Some(known) = self.0.tables.read().get(name) {
            return known.clone();
        }
        let mut tables = self.0.tables.write();
        tables.entry(name.clone()).or_insert_with(|| Arc::new(Regions::new(name.clone()))).clone()
    }

    pub(crate) fn region_at(&self, location: Location) -> Arc<Region> {
        let peer = self.0.servers.peer(&location.server.address(), "ClientService");
        Arc::new(Region::new(location, peer))
    }

    pub(crate) fn nonce(&self) -> Option<u64> {
        // Zero would say that there is none.
        self.options().nonces.then(|| self.0.next_nonce.fetch_add(1, Ordering::Relaxed).max(1))
    }
}

pub(crate) fn call_options(limit: Duration, priority: Option<u32>) -> CallOptions {
    let timeout_ms = u32::try_from(limit.as_millis()).unwrap_or(i32::MAX as u32);
    CallOptions { priority, timeout_ms: Some(timeout_ms.min(i32::MAX as u32)), attributes: Vec::new() }
}

pub(crate) fn decoded<A: Message + Default>(answer: &Answer, method: &str) -> Result<A, Error> {
    A::decode(answer.message.clone()).map_err(|e| Error::malformed(format!("{method}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Reply};
    use martite_proto as pb;

    #[tokio::test]
    async fn a_master_that_starts_is_waited_for_and_one_that_refuses_is_not() {
        let fake = Fake::start(1, Vec::new(), |call| match (call.method.as_str(), call.before) {
            ("IsMasterRunning", 0) => Reply::throw("org.apache.hadoop.hbase.PleaseHoldException", "initializing"),
            ("IsMasterRunning", 1) => Reply::throw("org.apache.hadoop.hbase.ipc.ServerNotRunningYetException", "no"),
            ("IsMasterRunning", _) => Reply::ok(&pb::IsMasterRunningResponse { is_master_running: true }),
            _ => Reply::fail("org.apache.hadoop.hbase.TableExistsException"),
        })
        .await;
        let connection = fake.connect().await;
        let request = pb::IsMasterRunningRequest::default();
        let answer: pb::IsMasterRunningResponse =
            connection.master_call("MasterService", "IsMasterRunning", &request).await.unwrap();
        assert!(answer.is_master_running);
        assert_eq!(fake.count("IsMasterRunning"), 3);
        let refused: Result<pb::EmptyMsg, Error> =
            connection.master_call("MasterService", "CreateTable", &pb::EmptyMsg::default()).await;
        assert!(refused.unwrap_err().is("TableExistsException"));
        let refused: Result<pb::EmptyMsg, Error> =
            connection.server_call(&fake.servers[0], "AdminService", "FlushRegion", &pb::EmptyMsg::default()).await;
        assert!(refused.unwrap_err().is("TableExistsException"));
    }

    #[test]
    fn codecs_that_rows_are_not_kept_in_are_refused() {
        let mut options = Options::new(crate::Registry::rpc("localhost:1"));
        options.codec = "org.apache.hadoop.hbase.codec.CellCodec".to_owned();
        let error = Connection::new(options).unwrap_err().to_string();
        assert!(error.starts_with("the codec \"org.apache.hadoop.hbase.codec.CellCodec\" is not one of"), "{error}");
    }
}
