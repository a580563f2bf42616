//! Every port serves every service: this hands calls to the part that knows them.

use martite_master::{Caller, Master};
use martite_regionserver::{Fault, RegionServer};
use martite_rpc::{Call, Class, Exception, Handler, Pool};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Set up before the ports are known; the parts follow as they start.
pub struct Dispatch {
    pub pool: Arc<Pool>,
    pub cluster_id: OnceLock<String>,
    pub regions: OnceLock<Arc<RegionServer>>,
    pub master: OnceLock<Arc<Master>>,
}

impl Dispatch {
    pub fn new(pool: Arc<Pool>) -> Arc<Dispatch> {
        Arc::new(Dispatch { pool, cluster_id: OnceLock::new(), regions: OnceLock::new(), master: OnceLock::new() })
    }

    fn call_master(&self, call: Call) {
        let Some(master) = self.master.get().cloned() else {
            let fault = Fault::please_hold("Master is initializing");
            return call.responder.fail(fault.into_exception());
        };
        self.pool.spawn_call(Class::Admin, call, move |call| {
            let caller = Caller {
                user: call.conn.user.clone(),
                client_version: call.conn.version.as_ref().map(|v| (v.major, v.minor)),
            };
            match master.call(&call.conn.service, &call.method, &call.param, &caller) {
                Ok(message) => call.responder.ok_encoded(message, Vec::new()),
                Err(e) => call.responder.fail(Exception {
                    class: e.class.into(),
                    message: e.message,
                    do_not_retry: e.do_not_retry,
                    overloaded: false,
                    moved_to: None,
                }),
            }
        });
    }
}

impl Handler for Dispatch {
    fn serves(&self, service: &str) -> bool {
        RegionServer::serves(service)
            || matches!(service, "MasterService" | "RegionServerStatusService" | "LockService" | "HbckService")
    }

    fn cluster_id(&self) -> String {
        self.cluster_id.get().cloned().unwrap_or_default()
    }

    fn call(&self, call: Call) {
        if !RegionServer::serves(&call.conn.service) {
            return self.call_master(call);
        }
        match self.regions.get() {
            Some(regions) => regions.call(call),
            None => call.responder.fail(Fault::not_running_yet("Server is not running yet").into_exception()),
        }
    }

    fn gathers(&self, call: &Call) -> bool {
        RegionServer::gathers(call)
    }

    fn calls(&self, calls: &mut Vec<Call>) {
        if let Some(regions) = self.regions.get() {
            regions.calls(calls);
        }
    }

    fn between_reads(&self, now: Instant) {
        if let Some(regions) = self.regions.get() {
            regions.between_reads(now);
        }
    }

    fn pool(&self) -> Option<&Arc<Pool>> {
        self.regions.get().map(|regions| regions.pool())
    }
}
