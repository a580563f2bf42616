//! [`Measurements`]: what each operation took, under the names and in the units of YCSB.
//!
//! ```text
//! READ, UPDATE, INSERT, SCAN, READ-MODIFY-WRITE, CLEANUP …      microseconds from its start (measurement.interval=op)
//! READ-FAILED                                                  an operation that failed, unless its status has a name of its own
//! Intended-READ                                                from when it was due (both; with intended alone: READ)
//! ```

mod bucket;
mod hdr;
mod raw;
mod series;

use super::export::Export;
use super::java::place_in_map;
use super::properties::Properties;
use crate::Error;
use bucket::Buckets;
use hdr::Hdr;
use raw::Raw;
use series::Series;
use std::cell::RefCell;
use std::time::Instant;

/// How an operation of a binding ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Ok,
    Error,
    /// There is no such record.
    NotFound,
    /// It went well, but the record is not as it must be.
    UnexpectedState,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "OK",
            Status::Error => "ERROR",
            Status::NotFound => "NOT_FOUND",
            Status::UnexpectedState => "UNEXPECTED_STATE",
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
    Cleanup,
    Verify,
    ScanLatencyPerRecord,
}

impl Name {
    pub fn text(self) -> &'static str {
        match self {
            Name::Read => "READ",
            Name::Update => "UPDATE",
            Name::Insert => "INSERT",
            Name::Scan => "SCAN",
            Name::ReadModifyWrite => "READ-MODIFY-WRITE",
            Name::Cleanup => "CLEANUP",
            Name::Verify => "VERIFY",
            Name::ScanLatencyPerRecord => "SCAN-LATENCY-PER-RECORD",
        }
    }
}

/// When an operation was due, began and ended.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    /// None: when it began.
    pub intended: Option<Instant>,
    pub begin: Instant,
    pub end: Instant,
}

/// Who is told of operations as they end.
pub trait Observe {
    /// An operation of the binding ended.
    fn operation(&self, name: Name, status: Status, span: Span);
    /// Something else took so long.
    fn took(&self, name: Name, span: Span);
    /// A check that is no operation of the binding.
    fn verified(&self, status: Status, span: Span);
}

/// What measures one name.
enum Kind {
    Hdr(Hdr),
    Buckets(Buckets),
    Series(Series),
    Raw(Raw),
}

impl Kind {
    fn record(&mut self, us: u64) {
        match self {
            Kind::Hdr(hdr) => hdr.record(us),
            Kind::Buckets(buckets) => buckets.record(us),
            Kind::Series(series) => series.record(us, Instant::now()),
            Kind::Raw(raw) => raw.record(us),
        }
    }
}

/// One or two that measure the same, and how often each status came.
struct One {
    kinds: Vec<(String, Kind)>,
    statuses: Vec<(Status, u64)>,
}

impl One {
    fn status(&mut self, status: Status) {
        match self.statuses.iter_mut().find(|(seen, _)| *seen == status) {
            Some((_, count)) => *count += 1,
            None => self.statuses.push((status, 1)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interval {
    Operation,
    Intended,
    Both,
}

/// Which kinds measure each name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Hdr,
    Histogram,
    HdrAndHistogram,
    HdrAndRaw,
    Series,
    Raw,
}

/// Names with what measures them; the few names are looked through in order.
type Ones = Vec<(String, One)>;

pub struct Measurements {
    properties: Properties,
    interval: Interval,
    kind: Type,
    percentiles: Vec<f64>,
    each_error: bool,
    tracked_errors: Vec<String>,
    ones: RefCell<(Ones, Ones)>,
}

impl Measurements {
    pub fn new(p: &Properties) -> Result<Measurements, Error> {
        let unknown = |name: &str, value: &str| Error::Setup(format!("the property {name}: {value:?} is not known"));
        let interval = match p.text("measurement.interval", "op") {
            "op" => Interval::Operation,
            "intended" => Interval::Intended,
            "both" => Interval::Both,
            other => return Err(unknown("measurement.interval", other)),
        };
        let kind = match p.text("measurementtype", "hdrhistogram") {
            "hdrhistogram" => Type::Hdr,
            "histogram" => Type::Histogram,
            "hdrhistogram+histogram" => Type::HdrAndHistogram,
            "hdrhistogram+raw" => Type::HdrAndRaw,
            "timeseries" => Type::Series,
            "raw" => Type::Raw,
            other => return Err(unknown("measurementtype", other)),
        };
        for name in ["hdrhistogram.fileoutput", "measurement.trackjvm"] {
            if p.flag(name, false) {
                return Err(Error::Setup(format!("the property {name}=true: there is no such output here")));
            }
        }
        // Once, so that what is wrong is told before the run.
        Buckets::new(p)?;
        Series::new(p)?;
        let tracked = p.text("latencytrackederrors", "").split(',').map(str::to_owned);
        Ok(Measurements {
            interval,
            kind,
            percentiles: hdr::percentiles(p)?,
            each_error: p.flag("reportlatencyforeacherror", false),
            tracked_errors: tracked.collect(),
            properties: p.clone(),
            ones: RefCell::default(),
        })
    }

    fn measure(&self, name: &str, span: Span) {
        let mut ones = self.ones.borrow_mut();
        let us = |since: Instant| span.end.saturating_duration_since(since).as_micros() as u64;
        if self.interval != Interval::Intended {
            self.record(&mut ones.0, name, name, us(span.begin));
        }
        if self.interval != Interval::Operation {
            let due = us(span.intended.unwrap_or(span.begin));
            let shown = if self.interval == Interval::Both { &format!("Intended-{name}") } else { name };
            self.record(&mut ones.1, name, shown, due);
        }
    }

    fn record(&self, ones: &mut Ones, name: &str, shown: &str, us: u64) {
        for (_, kind) in &mut self.one(ones, name, shown).kinds {
            kind.record(us);
        }
    }

    fn one<'a>(&self, ones: &'a mut Ones, name: &str, shown: &str) -> &'a mut One {
        let at = ones.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            ones.push((name.to_owned(), self.new_one(shown)));
            ones.len() - 1
        });
        &mut ones[at].1
    }

    fn new_one(&self, shown: &str) -> One {
        let hdr = || Kind::Hdr(Hdr::new(&self.percentiles));
        // Were they wrong, `new` had said so.
        let buckets = || Kind::Buckets(Buckets::new(&self.properties).unwrap_or_default());
        let series = || Kind::Series(Series::new(&self.properties).unwrap_or_default());
        let raw = || Kind::Raw(Raw::new(&self.properties));
        let kinds = match self.kind {
            Type::Hdr => vec![(shown.to_owned(), hdr())],
            Type::Histogram => vec![(shown.to_owned(), buckets())],
            Type::HdrAndHistogram => vec![(format!("Hdr{shown}"), hdr()), (format!("Bucket{shown}"), buckets())],
            Type::HdrAndRaw => vec![(format!("Hdr{shown}"), hdr()), (format!("Raw{shown}"), raw())],
            Type::Series => vec![(shown.to_owned(), series())],
            Type::Raw => vec![(shown.to_owned(), raw())],
        };
        One { kinds, statuses: Vec::new() }
    }

    fn status(&self, name: &str, status: Status) {
        let mut ones = self.ones.borrow_mut();
        let (ordinary, intended) = &mut *ones;
        let ones = if self.interval == Interval::Intended { intended } else { ordinary };
        self.one(ones, name, name).status(status);
    }

    /// What a status line says of the time since the one before, in the order in which YCSB has it.
    pub fn summary(&self) -> String {
        let mut ones = self.ones.borrow_mut();
        let (ordinary, intended) = &mut *ones;
        let mut out = String::new();
        for ones in [&mut *ordinary, &mut *intended] {
            ones.sort_by_key(|(name, _)| place_in_map(name));
        }
        for (_, one) in ordinary.iter_mut().chain(intended) {
            let parts = one.kinds.iter_mut().map(|(shown, kind)| match kind {
                Kind::Hdr(hdr) => hdr.summary(shown),
                Kind::Buckets(buckets) => buckets.window.summary(shown),
                Kind::Series(series) => series.window.summary(shown),
                Kind::Raw(raw) => raw.window.raw_summary(shown),
            });
            out += &parts.collect::<Vec<_>>().join("\n");
            out.push(' ');
        }
        out
    }

    /// Everything, in the order in which YCSB has it.
    pub fn export(&self, out: &mut Export) -> Result<(), Error> {
        let mut ones = self.ones.borrow_mut();
        let (ordinary, intended) = &mut *ones;
        for ones in [ordinary, intended] {
            ones.sort_by_key(|(name, _)| place_in_map(name));
            for (_, one) in ones {
                let mut statuses = std::mem::take(&mut one.statuses);
                for (shown, kind) in &mut one.kinds {
                    match kind {
                        Kind::Hdr(hdr) => hdr.export(shown, out),
                        Kind::Buckets(buckets) => buckets.export(shown, out),
                        Kind::Series(series) => series.export(shown, out),
                        Kind::Raw(raw) => raw.export(shown, out)?,
                    }
                    // Of two that measure the same the first has the statuses.
                    for (status, count) in statuses.drain(..) {
                        out.whole(shown, &format!("Return={}", status.name()), count);
                    }
                    match kind {
                        Kind::Hdr(hdr) => hdr.export_values(shown, out, self.is_verbose()),
                        Kind::Buckets(buckets) => buckets.export_values(shown, out, self.is_verbose()),
                        Kind::Series(series) => series.export_values(shown, out),
                        Kind::Raw(_) => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn is_verbose(&self) -> bool {
        self.properties.flag("measurement.histogram.verbose", false)
    }
}

impl Observe for Measurements {
    fn operation(&self, name: Name, status: Status, span: Span) {
        let text = name.text();
        if status == Status::Ok {
            self.measure(text, span);
        } else {
            let named = self.each_error || self.tracked_errors.iter().any(|error| error == status.name());
            self.measure(&format!("{text}-{}", if named { status.name() } else { "FAILED" }), span);
        }
        if name != Name::Cleanup {
            self.status(text, status);
        }
    }

    fn took(&self, name: Name, span: Span) {
        self.measure(name.text(), span);
    }

    fn verified(&self, status: Status, span: Span) {
        self.measure(Name::Verify.text(), span);
        self.status(Name::Verify.text(), status);
    }
}

/// Sums since the last status line.
#[derive(Debug, Default)]
struct Window {
    operations: u64,
    total_us: u64,
}

impl Window {
    fn add(&mut self, us: u64) {
        self.operations += 1;
        self.total_us += us;
    }

    fn take_average(&mut self) -> Option<(u64, f64)> {
        let Window { operations, total_us } = std::mem::take(self);
        (operations > 0).then(|| (operations, total_us as f64 / operations as f64))
    }

    fn summary(&mut self, name: &str) -> String {
        let average = self.take_average();
        average
            .map_or_else(String::new, |(_, us)| format!("[{name} AverageLatency(us)={}]", super::java::two_digits(us)))
    }

    fn raw_summary(&mut self, name: &str) -> String {
        let average = self.take_average();
        average.map_or_else(String::new, |(n, us)| format!("{name} count: {n}, average latency(us): {us:.2}"))
    }
}

#[cfg(test)]
mod tests;
