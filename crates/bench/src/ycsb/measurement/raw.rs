//! [`Raw`]: every latency with its time, as lines of CSV, and a summary.

use super::Window;
use crate::Error;
use crate::ycsb::export::Export;
use crate::ycsb::properties::Properties;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub struct Raw {
    /// Milliseconds since 1970, and microseconds.
    points: Vec<(i64, u64)>,
    file: Option<PathBuf>,
    no_summary: bool,
    pub window: Window,
}

/// Places in the sorted latencies that the summary has.
const PLACES: [(&str, f64); 8] = [
    ("p1", 0.01),
    ("p5", 0.05),
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
    ("p99.99", 0.9999),
];

impl Raw {
    pub fn new(p: &Properties) -> Raw {
        Raw {
            points: Vec::new(),
            file: p.get("measurement.raw.output_file").filter(|file| !file.is_empty()).map(PathBuf::from),
            no_summary: p.flag("measurement.raw.no_summary", false),
            window: Window::default(),
        }
    }

    pub fn record(&mut self, us: u64) {
        self.points.push((jiff::Timestamp::now().as_millisecond(), us));
        self.window.add(us);
    }

    fn write(&self, name: &str) -> Result<(), Error> {
        let mut text = format!("{name} latency raw data: op, timestamp(ms), latency(us)\n");
        for (ms, us) in &self.points {
            let _ = writeln!(text, "{name},{ms},{us}");
        }
        match &self.file {
            None => std::io::stdout().write_all(text.as_bytes())?,
            Some(path) => append(path, &text).map_err(Error::file(path))?,
        }
        Ok(())
    }

    pub fn export(&mut self, name: &str, out: &mut Export) -> Result<(), Error> {
        self.write(name)?;
        let count = self.points.len();
        out.whole(name, "Total Operations", count as u64);
        if count == 0 || self.no_summary {
            return Ok(());
        }
        let mut sorted: Vec<u64> = self.points.iter().map(|(_, us)| *us).collect();
        sorted.sort_unstable();
        out.signed(name, "Below is a summary of latency in microseconds:", -1);
        out.number(name, "Average", sorted.iter().sum::<u64>() as f64 / count as f64);
        out.whole(name, "Min", sorted[0]);
        out.whole(name, "Max", sorted[count - 1]);
        for (label, share) in PLACES {
            out.whole(name, label, sorted[(count as f64 * share) as usize]);
        }
        Ok(())
    }
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(text.as_bytes())
}
