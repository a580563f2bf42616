//! [`Record`]: figures that belong together, under the names of both answers.

use martite_metrics::Snapshot;

/// Whether a figure only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Counter,
    Gauge,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// The attribute of the bean; empty: not among the beans.
    pub attribute: String,
    /// The series; empty: made of record and attribute as HBase makes it.
    pub series: String,
    pub labels: Vec<(&'static str, String)>,
    pub kind: Kind,
    pub value: f64,
}

/// A bean.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// `Master` or `RegionServer`.
    pub name: &'static str,
    pub sub: &'static str,
    pub hostname: String,
    /// What is no figure, of the bean alone.
    pub tags: Vec<(&'static str, String)>,
    pub figures: Vec<Figure>,
}

/// Percentiles as HBase calls them.
const PERCENTILES: [(&str, f64); 8] = [
    ("25th_percentile", 25.0),
    ("median", 50.0),
    ("75th_percentile", 75.0),
    ("90th_percentile", 90.0),
    ("95th_percentile", 95.0),
    ("98th_percentile", 98.0),
    ("99th_percentile", 99.0),
    ("99.9th_percentile", 99.9),
];

impl Record {
    pub fn new(name: &'static str, sub: &'static str, hostname: &str) -> Record {
        Record { name, sub, hostname: hostname.to_owned(), tags: Vec::new(), figures: Vec::new() }
    }

    pub fn tag(&mut self, name: &'static str, value: impl Into<String>) {
        self.tags.push((name, value.into()));
    }

    pub fn counter(&mut self, attribute: &str, value: u64) {
        self.push(Kind::Counter, attribute, "", &[], value as f64);
    }

    pub fn gauge(&mut self, attribute: &str, value: u64) {
        self.push(Kind::Gauge, attribute, "", &[], value as f64);
    }

    /// Of a hundred; nothing of nothing is 0.
    pub fn percent(&mut self, attribute: &str, part: u64, whole: u64) {
        let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
        self.push(Kind::Gauge, attribute, "", &[], percent);
    }

    pub fn push(&mut self, kind: Kind, attribute: &str, series: &str, labels: &[(&'static str, &str)], value: f64) {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.figures.push(Figure { attribute: attribute.to_owned(), series: series.to_owned(), labels, kind, value });
    }

    /// A histogram of times, in milliseconds with their fractions.
    pub fn times(&mut self, base: &str, times: &Snapshot) {
        self.labelled_times(base, "", &[], times);
    }

    /// As `times`, with a series of its own name.
    pub fn labelled_times(&mut self, base: &str, series: &str, labels: &[(&'static str, &str)], times: &Snapshot) {
        let ms = |ns: f64| ns / 1e6;
        let mut put = |kind, suffix: &str, value| {
            let series = if series.is_empty() { String::new() } else { format!("{series}_{suffix}") };
            self.push(kind, &format!("{base}_{suffix}"), &series, labels, value);
        };
        put(Kind::Counter, "num_ops", times.count() as f64);
        put(Kind::Gauge, "min", ms(times.min_ns() as f64));
        put(Kind::Gauge, "max", ms(times.max_ns() as f64));
        put(Kind::Gauge, "mean", ms(times.mean_ns()));
        for (suffix, percent) in PERCENTILES {
            put(Kind::Gauge, suffix, ms(times.percentile_ns(percent) as f64));
        }
    }
}
