//! AdminService: one module per method; all of it runs on the pool.

mod clear_region_block_cache;
mod compact_region;
mod flush_region;
mod get_region_info;
mod get_region_load;
mod get_store_file;
mod log_entries;
mod roll_wal_writer;
mod server_info;
mod space_quota_snapshots;

use crate::RegionServer;
use crate::error::Fault;
use bytes::Bytes;
use martite_proto as pb;
use martite_rpc::{Call, Class};
use pb::Message;
use std::sync::Arc;

/// The encoded answer of a method.
pub(crate) type Answer = Result<Vec<u8>, Fault>;

/// Decodes the parameter of a method and encodes its answer.
fn with<Q: Message + Default, A: Message>(param: &Bytes, run: impl FnOnce(Q) -> Result<A, Fault>) -> Answer {
    let name = std::any::type_name::<Q>();
    let request =
        Q::decode(param.clone()).map_err(|e| Fault::bad_message(name.rsplit("::").next().unwrap_or(name), e))?;
    run(request).map(|answer| answer.encode_to_vec())
}

impl RegionServer {
    pub(crate) fn admin(self: &Arc<Self>, call: Call) {
        let server = self.clone();
        self.pool.spawn_call(Class::Admin, call, move |call| match server.run_admin(&call.method, &call.param) {
            Ok(message) => call.responder.ok_encoded(message, Vec::new()),
            Err(fault) => call.responder.fail(fault.into_exception()),
        });
    }

    /// Blocking.
    pub fn run_admin(self: &Arc<Self>, method: &str, param: &Bytes) -> Answer {
        match METHODS.iter().find(|(name, _)| *name == method) {
            Some((_, answer)) => answer(self, param),
            None => Err(Fault::unsupported("AdminService", method)),
        }
    }
}

type Method = fn(&Arc<RegionServer>, &Bytes) -> Answer;

/// Every method that is answered.
pub(crate) const METHODS: &[(&str, Method)] = &[
    ("GetRegionInfo", |server, param| with(param, |q| server.get_region_info(&q))),
    ("GetStoreFile", |server, param| with(param, |q| server.get_store_file(&q))),
    ("GetOnlineRegion", |server, param| with(param, |q| server.get_online_region(&q))),
    ("FlushRegion", |server, param| with(param, |q| server.flush_one(&q))),
    ("CompactRegion", |server, param| with(param, |q| server.compact_region(&q))),
    ("CompactionSwitch", |server, param| with(param, |q| server.switch_compactions(&q))),
    ("ClearCompactionQueues", |server, param| with(param, |q| server.clear_compaction_queues(&q))),
    ("RollWALWriter", |server, param| with(param, |q| server.roll_wal_writer(&q))),
    ("GetServerInfo", |server, param| with(param, |q| server.server_info(&q))),
    ("StopServer", |server, param| with(param, |q| server.stop_server(&q))),
    ("UpdateConfiguration", |_, param| {
        with(param, |_: pb::UpdateConfigurationRequest| Ok(pb::UpdateConfigurationResponse {}))
    }),
    ("GetRegionLoad", |server, param| with(param, |q| server.get_region_load(&q))),
    ("ClearRegionBlockCache", |server, param| with(param, |q| server.clear_region_block_cache(&q))),
    ("GetSpaceQuotaSnapshots", |server, param| with(param, |q| server.space_quota_snapshots(&q))),
    ("GetCachedFilesList", |_, param| {
        with(param, |_: pb::GetCachedFilesListRequest| Ok(pb::GetCachedFilesListResponse { cached_files: Vec::new() }))
    }),
    ("GetSlowLogResponses", |_, param| with(param, slow_log)),
    ("GetLargeLogResponses", |_, param| with(param, slow_log)),
    ("ClearSlowLogsResponses", |_, param| {
        with(param, |_: pb::ClearSlowLogResponseRequest| Ok(pb::ClearSlowLogResponses { is_cleaned: false }))
    }),
    ("GetLogEntries", |server, param| with(param, |q| server.log_entries(&q))),
];

/// As with the slow log off.
fn slow_log(_: pb::SlowLogResponseRequest) -> Result<pb::SlowLogResponses, Fault> {
    Ok(pb::SlowLogResponses { slow_log_payloads: Vec::new() })
}

impl RegionServer {
    fn get_online_region(&self, _: &pb::GetOnlineRegionRequest) -> Result<pb::GetOnlineRegionResponse, Fault> {
        let region_info = self.online.infos().iter().map(|info| info.to_proto()).collect();
        Ok(pb::GetOnlineRegionResponse { region_info })
    }

    fn switch_compactions(&self, req: &pb::CompactionSwitchRequest) -> Result<pb::CompactionSwitchResponse, Fault> {
        Ok(pb::CompactionSwitchResponse { prev_state: self.background.switch_compactions(req.enabled) })
    }

    fn clear_compaction_queues(
        &self,
        _: &pb::ClearCompactionQueuesRequest,
    ) -> Result<pb::ClearCompactionQueuesResponse, Fault> {
        self.background.clear_compactions();
        Ok(pb::ClearCompactionQueuesResponse {})
    }
}
