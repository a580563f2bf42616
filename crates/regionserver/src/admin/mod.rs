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
        self.pool.spawn_call(Class::Admin, call, move |call| match server.run_admin(&call) {
            Ok(message) => call.responder.ok_encoded(message, Vec::new()),
            Err(fault) => call.responder.fail(fault.into_exception()),
        });
    }

    /// Blocking.
    fn run_admin(self: &Arc<Self>, call: &Call) -> Answer {
        match METHODS.iter().find(|(name, _)| *name == call.method.as_ref()) {
            Some((_, answer)) => answer(self, call),
            None => Err(Fault::unsupported("AdminService", &call.method)),
        }
    }
}

type Method = fn(&Arc<RegionServer>, &Call) -> Answer;

/// Every method that is answered.
pub(crate) const METHODS: &[(&str, Method)] = &[
    ("GetRegionInfo", |server, call| with(&call.param, |q| server.get_region_info(&q))),
    ("GetStoreFile", |server, call| with(&call.param, |q| server.get_store_file(&q))),
    ("GetOnlineRegion", |server, call| with(&call.param, |q| server.get_online_region(&q))),
    ("FlushRegion", |server, call| with(&call.param, |q| server.flush_one(&q))),
    ("CompactRegion", |server, call| with(&call.param, |q| server.compact_region(&call.conn.user, &q))),
    ("CompactionSwitch", |server, call| with(&call.param, |q| server.switch_compactions(&q))),
    ("ClearCompactionQueues", |server, call| with(&call.param, |q| server.clear_compaction_queues(&q))),
    ("RollWALWriter", |server, call| with(&call.param, |q| server.roll_wal_writer(&q))),
    ("GetServerInfo", |server, call| with(&call.param, |q| server.server_info(&q))),
    ("StopServer", |server, call| with(&call.param, |q| server.stop_server(&q))),
    ("UpdateConfiguration", |_, call| {
        with(&call.param, |_: pb::UpdateConfigurationRequest| Ok(pb::UpdateConfigurationResponse {}))
    }),
    ("GetRegionLoad", |server, call| with(&call.param, |q| server.get_region_load(&q))),
    ("ClearRegionBlockCache", |server, call| with(&call.param, |q| server.clear_region_block_cache(&q))),
    ("GetSpaceQuotaSnapshots", |server, call| with(&call.param, |q| server.space_quota_snapshots(&q))),
    ("GetCachedFilesList", |_, call| {
        with(&call.param, |_: pb::GetCachedFilesListRequest| {
            Ok(pb::GetCachedFilesListResponse { cached_files: Vec::new() })
        })
    }),
    ("GetSlowLogResponses", |_, call| with(&call.param, slow_log)),
    ("GetLargeLogResponses", |_, call| with(&call.param, slow_log)),
    ("ClearSlowLogsResponses", |_, call| {
        with(&call.param, |_: pb::ClearSlowLogResponseRequest| Ok(pb::ClearSlowLogResponses { is_cleaned: false }))
    }),
    ("GetLogEntries", |server, call| with(&call.param, |q| server.log_entries(&q))),
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
