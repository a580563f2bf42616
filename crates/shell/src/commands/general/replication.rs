//! `status 'replication'`: what servers ship to other clusters, and what they take in.

use crate::language::Value;
use martite_proto as pb;

/// Milliseconds as java.util.Date prints them.
fn date(ms: u64) -> String {
    let at = jiff::Timestamp::from_millisecond(ms as i64).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.to_zoned(jiff::tz::TimeZone::system()).strftime("%a %b %d %H:%M:%S %Z %Y").to_string()
}

/// What a server takes in.
pub fn sink(sink: &pb::ReplicationLoadSink) -> String {
    let started = sink.timestamp_started.unwrap_or(0);
    let applied = sink.time_stamps_of_last_applied_op;
    let mut text = format!("      SINK: TimeStampStarted={started}");
    if applied == started {
        text.push_str(", Waiting for OPs... ");
    } else {
        let age = sink.age_of_last_applied_op;
        text.push_str(&format!(", AgeOfLastAppliedOp={age}, TimeStampsOfLastAppliedOp={}", date(applied)));
    }
    text
}

/// What a server ships, by peer and queue.
pub fn sources(sources: &[pb::ReplicationLoadSource]) -> String {
    let mut text = "       SOURCE:".to_owned();
    let mut peer = None;
    for source in sources {
        if peer.replace(&source.peer_id) != Some(&source.peer_id) {
            text.push_str(&format!(" PeerID={}", source.peer_id));
        }
        let kind = if source.recovered() { "Recovered Queue: " } else { "Normal Queue: " };
        text.push_str(&format!("\n         {kind}{}", source.queue_id()));
        if !source.running() {
            text.push_str("\n           No Reader/Shipper threads runnning yet.");
            continue;
        }
        match source.time_stamp_of_last_shipped_op {
            0 => text.push_str("\n           No Ops shipped since last restart"),
            shipped => text.push_str(&format!(
                "\n           AgeOfLastShippedOp={}, TimeStampOfLastShippedOp={}",
                source.age_of_last_shipped_op,
                date(shipped)
            )),
        }
        text.push_str(&format!(
            ", SizeOfLogQueue={}, EditsReadFromLogQueue={}, OpsShippedToTarget={}",
            source.size_of_log_queue,
            source.edits_read(),
            source.o_ps_shipped()
        ));
        if source.edits_since_restart() {
            let next = date(source.time_stamp_of_next_to_replicate());
            text.push_str(&format!(", TimeStampOfNextToReplicate={next}"));
        } else {
            text.push_str(", No edits for this source since it started");
        }
        text.push_str(&format!(", Replication Lag={}", Value::Integer(source.replication_lag as i64).inspect()));
    }
    text
}
