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
    pub fn run_admin(&self, method: &str, param: &Bytes) -> Answer {
        match method {
            "GetRegionInfo" => with(param, |q| self.get_region_info(&q)),
            "GetStoreFile" => with(param, |q| self.get_store_file(&q)),
            "GetOnlineRegion" => with(param, |_: pb::GetOnlineRegionRequest| {
                Ok(pb::GetOnlineRegionResponse {
                    region_info: self.online.infos().iter().map(|info| info.to_proto()).collect(),
                })
            }),
            "FlushRegion" => with(param, |q| self.flush_one(&q)),
            "CompactRegion" => with(param, |q| self.compact_region(&q)),
            "CompactionSwitch" => with(param, |q: pb::CompactionSwitchRequest| {
                Ok(pb::CompactionSwitchResponse { prev_state: self.background.switch_compactions(q.enabled) })
            }),
            "ClearCompactionQueues" => with(param, |_: pb::ClearCompactionQueuesRequest| {
                self.background.clear_compactions();
                Ok(pb::ClearCompactionQueuesResponse {})
            }),
            "RollWALWriter" => with(param, |q| self.roll_wal_writer(&q)),
            "GetServerInfo" => with(param, |q| self.server_info(&q)),
            "StopServer" => with(param, |q| self.stop_server(&q)),
            "UpdateConfiguration" => {
                with(param, |_: pb::UpdateConfigurationRequest| Ok(pb::UpdateConfigurationResponse {}))
            }
            "GetRegionLoad" => with(param, |q| self.get_region_load(&q)),
            "ClearRegionBlockCache" => with(param, |q| self.clear_region_block_cache(&q)),
            "GetSpaceQuotaSnapshots" => with(param, |_: pb::GetSpaceQuotaSnapshotsRequest| {
                Ok(pb::GetSpaceQuotaSnapshotsResponse { snapshots: Vec::new() })
            }),
            "GetCachedFilesList" => with(param, |_: pb::GetCachedFilesListRequest| {
                Ok(pb::GetCachedFilesListResponse { cached_files: Vec::new() })
            }),
            "GetSlowLogResponses" | "GetLargeLogResponses" => {
                with(param, |_: pb::SlowLogResponseRequest| Ok(pb::SlowLogResponses { slow_log_payloads: Vec::new() }))
            }
            "ClearSlowLogsResponses" => {
                with(param, |_: pb::ClearSlowLogResponseRequest| Ok(pb::ClearSlowLogResponses { is_cleaned: false }))
            }
            "GetLogEntries" => with(param, |q| self.log_entries(&q)),
            _ => Err(Fault::unsupported("AdminService", method)),
        }
    }
}
