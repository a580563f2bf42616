//! [`Hdr`]: a histogram of three digits, which YCSB has by default.

use crate::Error;
use crate::ycsb::export::Export;
use crate::ycsb::java::two_digits;
use crate::ycsb::properties::Properties;
use hdrhistogram::Histogram;

pub struct Hdr {
    total: Histogram<u64>,
    /// Since the last status line.
    interval: Histogram<u64>,
    percentiles: Vec<f64>,
}

/// Percentiles that are reported.
pub fn percentiles(p: &Properties) -> Result<Vec<f64>, Error> {
    let text = p.text("hdrhistogram.percentiles", "50,95,99");
    let wrong = || {
        Error::Setup(format!("the property hdrhistogram.percentiles: {text:?} is not a list of numbers from 0 to 100"))
    };
    let parsed = text.split(',').map(|p| p.trim().parse().ok().filter(|p| (0.0..=100.0).contains(p)).ok_or_else(wrong));
    parsed.collect()
}

/// A histogram that grows; YCSB's latencies are 31 bits of microseconds.
fn histogram() -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 1_000_000, 3).unwrap_or_else(|_| unreachable!("sound bounds"));
    histogram.auto(true);
    histogram
}

impl Hdr {
    pub fn new(percentiles: &[f64]) -> Hdr {
        Hdr { total: histogram(), interval: histogram(), percentiles: percentiles.to_vec() }
    }

    #[inline]
    pub fn record(&mut self, us: u64) {
        // It grows: nothing is beyond it.
        let _ = self.interval.record(us.min(i32::MAX as u64));
    }

    fn gather(&mut self) {
        let _ = self.total.add(&self.interval);
    }

    pub fn summary(&mut self, name: &str) -> String {
        self.gather();
        let h = &self.interval;
        let at = |percent: f64| h.value_at_quantile(percent / 100.0);
        let line = format!(
            "[{name}: Count={}, Max={}, Min={}, Avg={}, 50={}, 90={}, 99={}, 99.9={}, 99.99={}]",
            h.len(),
            h.max(),
            h.min(),
            two_digits(h.mean()),
            at(50.0),
            at(90.0),
            at(99.0),
            at(99.9),
            at(99.99)
        );
        self.interval.reset();
        line
    }

    pub fn export(&mut self, name: &str, out: &mut Export) {
        self.gather();
        self.interval.reset();
        let h = &self.total;
        out.whole(name, "Operations", h.len());
        out.number(name, "AverageLatency(us)", h.mean());
        out.whole(name, "MinLatency(us)", h.min());
        out.whole(name, "MaxLatency(us)", h.max());
        for percent in &self.percentiles {
            let value = h.value_at_quantile(percent / 100.0);
            out.whole(name, &format!("{}PercentileLatency(us)", ordinal(*percent)), value);
        }
    }

    pub fn export_values(&self, name: &str, out: &mut Export, verbose: bool) {
        if verbose {
            for value in self.total.iter_recorded() {
                let upto = value.value_iterated_to();
                out.number(name, &upto.to_string(), value.count_at_value() as f64);
            }
        }
    }
}

/// `95th`, `1st`; what is not whole stands alone: `99.9`.
fn ordinal(percent: f64) -> String {
    if percent.fract() != 0.0 {
        return crate::ycsb::java::double(percent);
    }
    let whole = percent as u64;
    let end = match (whole % 100, whole % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{whole}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ordinal() {
        let cases = [(50.0, "50th"), (1.0, "1st"), (92.0, "92nd"), (3.0, "3rd"), (11.0, "11th"), (99.9, "99.9")];
        for (percent, want) in cases {
            assert_eq!(ordinal(percent), want);
        }
        let mut p = Properties::default();
        assert_eq!(percentiles(&p).unwrap(), [50.0, 95.0, 99.0]);
        p.set("hdrhistogram.percentiles", "50, 99.9");
        assert_eq!(percentiles(&p).unwrap(), [50.0, 99.9]);
        p.set("hdrhistogram.percentiles", "50,x");
        assert!(percentiles(&p).unwrap_err().to_string().contains("\"50,x\""));
    }

    #[test]
    fn intervals_begin_anew_and_the_whole_has_all() {
        let mut hdr = Hdr::new(&[50.0]);
        for us in [10, 20, 30] {
            hdr.record(us);
        }
        assert!(hdr.summary("READ").starts_with("[READ: Count=3, Max=30, Min=10, Avg=20, 50=20, 90=30,"));
        hdr.record(5_000_000);
        assert!(hdr.summary("READ").starts_with("[READ: Count=1, Max=5001"), "three digits");
        let mut out = Export::text();
        hdr.export("READ", &mut out);
        assert!(out.finish().starts_with("[READ], Operations, 4\n"));
    }
}
