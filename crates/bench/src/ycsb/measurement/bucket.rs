//! [`Buckets`]: a bucket for each millisecond, YCSB's older histogram.

use super::Window;
use crate::Error;
use crate::ycsb::export::Export;
use crate::ycsb::properties::Properties;

#[derive(Debug, Default)]
pub struct Buckets {
    buckets: Vec<u64>,
    beyond: u64,
    operations: u64,
    total_us: u64,
    total_squared: f64,
    least: Option<u64>,
    most: Option<u64>,
    pub window: Window,
}

impl Buckets {
    pub fn new(p: &Properties) -> Result<Buckets, Error> {
        let buckets: usize = p.number("histogram.buckets", 1000)?;
        if buckets > 10_000_000 {
            return Err(Error::Setup(format!("the property histogram.buckets: {buckets} are too many")));
        }
        Ok(Buckets { buckets: vec![0; buckets], ..Buckets::default() })
    }

    pub fn record(&mut self, us: u64) {
        match self.buckets.get_mut((us / 1000) as usize) {
            Some(bucket) => *bucket += 1,
            None => self.beyond += 1,
        }
        self.operations += 1;
        self.total_us += us;
        self.total_squared += (us as f64) * (us as f64);
        self.least = Some(self.least.map_or(us, |least| least.min(us)));
        self.most = Some(self.most.map_or(us, |most| most.max(us)));
        self.window.add(us);
    }

    pub fn export(&self, name: &str, out: &mut Export) {
        let operations = self.operations as f64;
        let mean = self.total_us as f64 / operations;
        out.whole(name, "Operations", self.operations);
        out.number(name, "AverageLatency(us)", mean);
        out.number(name, "LatencyVariance(us)", self.total_squared / operations - mean * mean);
        out.signed(name, "MinLatency(us)", self.least.map_or(-1, |us| us as i64));
        out.signed(name, "MaxLatency(us)", self.most.map_or(-1, |us| us as i64));
        for (label, share) in [("95th", 0.95), ("99th", 0.99)] {
            let mut seen = 0;
            let reached = self.buckets.iter().position(|bucket| {
                seen += bucket;
                seen as f64 / operations >= share
            });
            if let Some(ms) = reached {
                out.whole(name, &format!("{label}PercentileLatency(us)"), ms as u64 * 1000);
            }
        }
    }

    pub fn export_values(&self, name: &str, out: &mut Export, verbose: bool) {
        if verbose {
            for (ms, count) in self.buckets.iter().enumerate() {
                out.whole(name, &ms.to_string(), *count);
            }
            out.whole(name, &format!(">{}", self.buckets.len()), self.beyond);
        }
    }
}
