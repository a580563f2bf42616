//! [`Master`]: what the binary starts, asks and stops.

use crate::procedure::Executor;
use crate::services::Services;
use crate::{MasterError, RegionHost, Registry, chores::Chores, procedure, rpc, start};
use bytes::Bytes;
use martite_catalog::{Layout, ServerName};
use martite_config::Config;
use martite_env::{Clock, FileSystem, Random};
use std::sync::Arc;

/// What a master is given.
pub struct MasterContext {
    pub fs: Arc<dyn FileSystem>,
    pub layout: Layout,
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub config: Arc<Config>,
    pub host: Arc<dyn RegionHost>,
    pub registry: Arc<dyn Registry>,
    /// The name under which the master's port is reached.
    pub server_name: ServerName,
    /// HTTP port; 0: none.
    pub info_port: u16,
    /// The version of HBase that clients are told.
    pub version: String,
    /// False (tests): procedures run in the thread that asks for them, and no chore runs by itself.
    pub threads: bool,
}

/// Who calls.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    pub user: String,
    /// Major and minor, as the connection header has them.
    pub client_version: Option<(u32, u32)>,
}

/// The master of a cluster of one server.
pub struct Master {
    services: Arc<Services>,
    procedures: Arc<Executor>,
    chores: Chores,
}

impl Master {
    /// Makes the root directory, or loads what is there; recovers what a crash left, assigns every region, and serves.
    /// Blocks until all that is done.
    pub fn start(ctx: MasterContext) -> Result<Arc<Master>, MasterError> {
        let threads = ctx.threads;
        let (services, procedures) = start::start(ctx)?;
        let chores = if threads { Chores::start(&services, &procedures) } else { Chores::none() };
        Ok(Arc::new(Master { services, procedures, chores }))
    }

    /// Answers a method of MasterService, HbckService, LockService or RegionServerStatusService. Blocks: not for the
    /// network thread.
    pub fn call(&self, service: &str, method: &str, param: &[u8], caller: &Caller) -> Result<Vec<u8>, MasterError> {
        let call = rpc::Call { services: &self.services, procedures: &self.procedures, method, caller };
        rpc::dispatch(&call, service, param)
    }

    /// The methods of a service that are answered, and those among them whose only answer is a refusal as HBase's.
    pub fn methods(service: &str) -> (Vec<&'static str>, Vec<&'static str>) {
        (rpc::methods(service), rpc::refused_methods())
    }

    /// Asks for a split of a region at its middle, as the region server does when a region is large; answers the
    /// procedure's id.
    pub fn request_split(&self, encoded: &str) -> Result<u64, MasterError> {
        let body = procedure::split_region(&self.services, encoded, None)?;
        self.procedures.submit(body, &Caller::default(), (0, 0))
    }

    /// Blocks until a procedure is done; its result, or its failure.
    pub fn wait(&self, proc_id: u64) -> Result<Bytes, MasterError> {
        self.procedures.wait(proc_id)
    }

    pub(crate) fn services(&self) -> &Services {
        &self.services
    }
    pub(crate) fn procedures(&self) -> &Executor {
        &self.procedures
    }

    pub fn cluster_id(&self) -> &str {
        &self.services.cluster_id
    }

    /// What tables and namespaces with a space quota held when they were measured last.
    pub fn space_usage(&self) -> Arc<martite_quota::space::Verdict> {
        self.services.quotas.verdict()
    }

    /// Runs every background duty once.
    pub fn run_chores(&self) {
        crate::chores::run_all(&self.services, &self.procedures);
    }

    /// Stops threads, finishes the procedures that are running, and closes the master's own store. Regions stay open:
    /// closing them is the host's duty, before or after.
    pub fn stop(&self) {
        self.services.stop();
        self.chores.stop();
        self.procedures.stop();
        self.services.store.close();
    }
}
