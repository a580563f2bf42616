//! `GetLogEntries`: the slow log. It is off, as in HBase by default, and so always empty.

use crate::RegionServer;
use crate::error::Fault;
use martite_proto as pb;
use pb::Message;

impl RegionServer {
    pub(crate) fn log_entries(&self, q: &pb::LogRequest) -> Result<pb::LogEntry, Fault> {
        if !q.log_class_name.contains("SlowLogResponseRequest") {
            return Err(Fault::do_not_retry(format!("Invalid request params: {}", q.log_class_name)));
        }
        Ok(pb::LogEntry {
            log_class_name: "org.apache.hadoop.hbase.shaded.protobuf.generated.AdminProtos$SlowLogResponses".to_owned(),
            log_message: pb::SlowLogResponses::default().encode_to_vec().into(),
        })
    }
}
