//! `GetServerInfo` and `StopServer`.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;

impl RegionServer {
    pub(crate) fn server_info(&self, _: &pb::GetServerInfoRequest) -> Result<pb::GetServerInfoResponse, Fault> {
        Ok(pb::GetServerInfoResponse {
            server_info: pb::ServerInfo {
                server_name: self.name.to_proto(),
                webui_port: (self.options.info_port > 0).then_some(self.options.info_port),
            },
        })
    }

    pub(crate) fn stop_server(&self, q: &pb::StopServerRequest) -> Result<pb::StopServerResponse, Fault> {
        tracing::info!(reason = q.reason, "asked to stop");
        self.link.stop(&q.reason);
        Ok(pb::StopServerResponse {})
    }
}
