//! [`Record`]: what was done in the seconds that count: latencies of each operation, and what each second saw.

use crate::ycsb::measurement::{Name, Observe, Span, Status};
use hdrhistogram::Histogram;
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Latencies are kept in µs up to ten minutes.
const HIGHEST_US: u64 = 600_000_000;

/// Of the latencies of one operation.
#[derive(Debug, Clone)]
pub struct Operation {
    pub name: Name,
    pub latencies_ns: Histogram<u64>,
    pub failed: u64,
}

/// What ended in one second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Second {
    pub operations: u64,
    pub p99_us: Option<f64>,
}

#[derive(Debug)]
pub struct Record {
    /// None: it does not count yet, or no longer.
    window: Cell<Option<(Instant, Instant)>>,
    operations: RefCell<Vec<Operation>>,
    second: RefCell<Histogram<u64>>,
}

fn histogram(digits: u8) -> Histogram<u64> {
    Histogram::new_with_bounds(1_000, HIGHEST_US * 1000, digits).unwrap_or_else(|_| unreachable!("sound bounds"))
}

impl Record {
    pub fn new() -> Record {
        Record { window: Cell::new(None), operations: RefCell::default(), second: RefCell::new(histogram(2)) }
    }

    pub fn begin(&self, now: Instant, length: Duration) {
        self.window.set(Some((now, now + length)));
        self.second.borrow_mut().reset();
    }

    /// What ended since this was asked last.
    pub fn second(&self) -> Second {
        let mut second = self.second.borrow_mut();
        let operations = second.len();
        let p99_us = (operations > 0).then(|| second.value_at_quantile(0.99) as f64 / 1e3);
        second.reset();
        Second { operations, p99_us }
    }

    pub fn operations(&self) -> Vec<Operation> {
        let mut operations = self.operations.borrow().clone();
        operations.sort_by_key(|operation| operation.name);
        operations
    }

    fn add(&self, name: Name, status: Status, span: Span) {
        let counts = self.window.get().is_some_and(|(begin, end)| span.end >= begin && span.end < end);
        if !counts {
            return;
        }
        let mut operations = self.operations.borrow_mut();
        let at = operations.iter().position(|known| known.name == name).unwrap_or_else(|| {
            operations.push(Operation { name, latencies_ns: histogram(3), failed: 0 });
            operations.len() - 1
        });
        let ns = (span.end - span.begin).as_nanos() as u64;
        if status == Status::Ok {
            operations[at].latencies_ns.saturating_record(ns);
        } else {
            operations[at].failed += 1;
        }
        // A read-modify-write is a read and an update, which are there already.
        if name != Name::ReadModifyWrite {
            self.second.borrow_mut().saturating_record(ns);
        }
    }
}

impl Observe for Record {
    fn operation(&self, name: Name, status: Status, span: Span) {
        if name != Name::Cleanup {
            self.add(name, status, span);
        }
    }

    fn took(&self, name: Name, span: Span) {
        if name == Name::ReadModifyWrite {
            self.add(name, Status::Ok, span);
        }
    }

    fn verified(&self, _: Status, _: Span) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_in_the_window_counts() {
        let (record, begin) = (Record::new(), Instant::now());
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let span = |from: u64, to: u64| Span { intended: None, begin: at(from), end: at(to) };
        record.operation(Name::Read, Status::Ok, span(0, 1));
        record.begin(at(100), Duration::from_secs(1));
        record.operation(Name::Read, Status::Ok, span(0, 99));
        record.operation(Name::Read, Status::Ok, span(98, 108));
        record.operation(Name::Update, Status::Ok, span(108, 128));
        record.took(Name::ReadModifyWrite, span(98, 128));
        record.operation(Name::Read, Status::NotFound, span(108, 109));
        record.operation(Name::Cleanup, Status::Ok, span(108, 109));
        let second = record.second();
        assert_eq!(second.operations, 3);
        assert!(second.p99_us.is_some_and(|us| (19_800.0..20_300.0).contains(&us)), "{second:?}");
        assert_eq!(record.second(), Second::default());
        record.operation(Name::Read, Status::Ok, span(1098, 1100));
        let seen: Vec<_> = record.operations().iter().map(|o| (o.name, o.latencies_ns.len(), o.failed)).collect();
        assert_eq!(seen, [(Name::Read, 1, 1), (Name::Update, 1, 0), (Name::ReadModifyWrite, 1, 0)]);
    }
}
