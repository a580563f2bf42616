//! ClientService: one module per method.

mod aggregate;
mod bulk_load;
mod get;
mod multi;
mod mutate;
mod scan;
mod service;

use crate::RegionServer;
use martite_rpc::Call;
use std::sync::Arc;

use crate::throttle::Toll;

type Method = fn(&Arc<RegionServer>, Call, Toll);

pub(crate) const GET: &str = "Get";

/// Every method that is answered.
pub(crate) const METHODS: &[(&str, Method)] = &[
    (GET, RegionServer::get),
    ("Mutate", RegionServer::mutate),
    ("Multi", RegionServer::multi),
    ("Scan", RegionServer::scan),
    ("BulkLoadHFile", RegionServer::bulk_load_hfile),
    ("PrepareBulkLoad", RegionServer::prepare_bulk_load),
    ("CleanupBulkLoad", RegionServer::cleanup_bulk_load),
    ("ExecService", RegionServer::exec_service),
    ("ExecRegionServerService", RegionServer::exec_region_server_service),
];

impl RegionServer {
    pub(crate) fn client(self: &Arc<Self>, call: Call) {
        match METHODS.iter().find(|(name, _)| *name == call.method.as_ref()) {
            Some((_, answer)) => answer(self, call, Toll::default()),
            None => crate::refuse(call),
        }
    }
}
