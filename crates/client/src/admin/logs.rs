//! Logs in the memory of servers: slow and large calls, decisions of the balancer.

use super::Admin;
use crate::Error;
use martite_catalog::ServerName;
use martite_proto as pb;
use pb::Message;
use pb::slow_log_response_request::{FilterByOperator, LogType};

/// The Java classes' package: a log is asked for by the class of its request.
const PACKAGE: &str = "org.apache.hadoop.hbase.shaded.protobuf.generated.";

/// Which of the region servers' logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    Slow,
    Large,
}

/// Which calls of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter {
    pub region: Option<String>,
    pub table: Option<String>,
    /// host:port
    pub client: Option<String>,
    pub user: Option<String>,
    /// Whether a call must meet all conditions, not only one.
    pub all_of_them: bool,
    pub limit: u32,
}

impl Default for LogFilter {
    fn default() -> LogFilter {
        LogFilter { region: None, table: None, client: None, user: None, all_of_them: false, limit: 10 }
    }
}

impl Admin {
    /// The latest slow or large calls that a server remembers.
    pub async fn slow_log(
        &self,
        server: &ServerName,
        kind: LogKind,
        filter: &LogFilter,
    ) -> Result<Vec<pb::SlowLogPayload>, Error> {
        let log_type = if kind == LogKind::Large { LogType::LargeLog } else { LogType::SlowLog };
        let operator = if filter.all_of_them { FilterByOperator::And } else { FilterByOperator::Or };
        let message = pb::SlowLogResponseRequest {
            region_name: filter.region.clone(),
            table_name: filter.table.clone(),
            client_address: filter.client.clone(),
            user_name: filter.user.clone(),
            limit: Some(filter.limit),
            filter_by_operator: Some(operator as i32),
            log_type: Some(log_type as i32),
        };
        let request = log_request("AdminProtos$SlowLogResponseRequest", &message);
        let answer: pb::LogEntry = self.server(server, "GetLogEntries", &request).await?;
        Ok(decoded::<pb::SlowLogResponses>(&answer)?.slow_log_payloads)
    }

    /// Whether the server's slow log was emptied.
    pub async fn clear_slow_log(&self, server: &ServerName) -> Result<bool, Error> {
        let answer: pb::ClearSlowLogResponses =
            self.server(server, "ClearSlowLogsResponses", &pb::ClearSlowLogResponseRequest {}).await?;
        Ok(answer.is_cleaned)
    }

    /// What the balancer decided lately.
    pub async fn balancer_decisions(&self, limit: u32) -> Result<Vec<pb::BalancerDecision>, Error> {
        let message = pb::BalancerDecisionsRequest { limit: Some(limit) };
        let request = log_request("MasterProtos$BalancerDecisionsRequest", &message);
        let answer: pb::LogEntry = self.master("GetLogEntries", &request).await?;
        Ok(decoded::<pb::BalancerDecisionsResponse>(&answer)?.balancer_decision)
    }

    /// Why the balancer did nothing lately.
    pub async fn balancer_rejections(&self, limit: u32) -> Result<Vec<pb::BalancerRejection>, Error> {
        let message = pb::BalancerRejectionsRequest { limit: Some(limit) };
        let request = log_request("MasterProtos$BalancerRejectionsRequest", &message);
        let answer: pb::LogEntry = self.master("GetLogEntries", &request).await?;
        Ok(decoded::<pb::BalancerRejectionsResponse>(&answer)?.balancer_rejection)
    }
}

fn log_request(class: &str, message: &impl Message) -> pb::LogRequest {
    let log_message = message.encode_to_vec().into();
    pb::LogRequest { log_class_name: format!("{PACKAGE}{class}"), log_message }
}

fn decoded<M: Message + Default>(answer: &pb::LogEntry) -> Result<M, Error> {
    let class = &answer.log_class_name;
    M::decode(answer.log_message.clone()).map_err(|error| Error::Malformed(format!("{class}: {error}")))
}
