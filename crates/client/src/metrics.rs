//! [`ScanMetrics`]: what a scan cost, by HBase's names.

use crate::Error;
use martite_proto as pb;
use std::collections::BTreeMap;

/// Counters of a scan, by the names of HBase's `ScanMetrics`: those of the client, and those that servers send if
/// [`Scan::with_metrics`](crate::Scan::with_metrics) asks for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanMetrics(BTreeMap<String, i64>);

impl ScanMetrics {
    /// A counter; one that nobody has counted is 0.
    pub fn get(&self, name: &str) -> i64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// All counters by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    fn add(&mut self, name: &str, value: i64) {
        match self.0.get_mut(name) {
            Some(sum) => *sum += value,
            None => _ = self.0.insert(name.to_owned(), value),
        }
    }

    pub(crate) fn called(&mut self) {
        self.add("RPC_CALLS", 1);
    }

    pub(crate) fn retried(&mut self, error: &Error) {
        self.add("RPC_RETRIES", 1);
        if error.is("NotServingRegionException") {
            self.add("NOT_SERVING_REGION_EXCEPTION", 1);
        }
    }

    pub(crate) fn answered(&mut self, response: &pb::ScanResponse, cells_bytes: usize, opened: bool) {
        if opened {
            self.add("REGIONS_SCANNED", 1);
        }
        self.add("BYTES_IN_RESULTS", cells_bytes as i64);
        for pair in response.scan_metrics.iter().flat_map(|metrics| &metrics.metrics) {
            if let (Some(name), Some(value)) = (&pair.name, pair.value) {
                self.add(name, value);
            }
        }
    }
}
