//! [`Counters`]: what a server has done, for metrics and pages.

use std::collections::BTreeMap;

/// A snapshot of a server's counters.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counters {
    pub connections_open: u64,
    pub connections_accepted: u64,
    pub received_bytes: u64,
    pub sent_bytes: u64,
    /// Calls handed to the handler.
    pub calls: u64,
    /// Calls not answered yet, and their bytes.
    pub queued_calls: u64,
    pub queued_bytes: u64,
    /// Answers not yet taken by the clients.
    pub output_bytes: u64,
    /// Exceptions answered, by Java class.
    pub exceptions: BTreeMap<String, u64>,
}
