//! [`Series`]: the average of each second, or of as much time as `timeseries.granularity` says.

use super::Window;
use crate::Error;
use crate::ycsb::export::Export;
use crate::ycsb::properties::Properties;
use std::time::Instant;

#[derive(Debug, Default)]
pub struct Series {
    granularity_ms: u64,
    start: Option<Instant>,
    /// Begin of the unit, in ms from the start, with what came in it.
    unit: u64,
    count: u64,
    sum_us: u64,
    units: Vec<(u64, f64)>,
    operations: u64,
    total_us: u64,
    least: Option<u64>,
    most: Option<u64>,
    pub window: Window,
}

impl Series {
    pub fn new(p: &Properties) -> Result<Series, Error> {
        let granularity_ms = p.number("timeseries.granularity", 1000)?;
        if granularity_ms == 0 {
            return Err(Error::Setup("the property timeseries.granularity must be above 0".to_owned()));
        }
        Ok(Series { granularity_ms, ..Series::default() })
    }

    pub fn record(&mut self, us: u64, now: Instant) {
        let start = *self.start.get_or_insert(now);
        let unit = now.saturating_duration_since(start).as_millis() as u64 / self.granularity_ms * self.granularity_ms;
        if unit > self.unit {
            self.end_unit();
            self.unit = unit;
        }
        self.count += 1;
        self.sum_us += us;
        self.operations += 1;
        self.total_us += us;
        self.least = Some(self.least.map_or(us, |least| least.min(us)));
        self.most = Some(self.most.map_or(us, |most| most.max(us)));
        self.window.add(us);
    }

    fn end_unit(&mut self) {
        let (sum, count) = (std::mem::take(&mut self.sum_us), std::mem::take(&mut self.count));
        self.units.push((self.unit, sum as f64 / count as f64));
    }

    pub fn export(&mut self, name: &str, out: &mut Export) {
        self.end_unit();
        out.whole(name, "Operations", self.operations);
        out.number(name, "AverageLatency(us)", self.total_us as f64 / self.operations as f64);
        out.signed(name, "MinLatency(us)", self.least.map_or(-1, |us| us as i64));
        out.signed(name, "MaxLatency(us)", self.most.map_or(-1, |us| us as i64));
    }

    pub fn export_values(&self, name: &str, out: &mut Export) {
        for (unit, average) in &self.units {
            out.number(name, &unit.to_string(), *average);
        }
    }
}
