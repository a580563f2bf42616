//! [`Toll`]: what a call has been charged, and how it is settled when the call ends.

use super::Throttles;
use super::waiting::Asked;
use crate::usage::Who;
use martite_quota::{Cost, Gate, Priority, Ticket};
use martite_region::Region;
use martite_rpc::{Class, GATHERED};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a call has been charged, table by table. Dropped unsettled, it leaves what was known when the call began.
#[derive(Default)]
pub(crate) struct Toll {
    paid: Vec<Paid>,
    /// None: not asked yet, or nobody has set any.
    pub(super) priority: Option<Priority>,
}

/// What has been charged for one table. Settled when it is dropped.
pub(crate) struct Paid {
    throttles: Arc<Throttles>,
    who: Arc<Who>,
    /// Becomes what the call took.
    cost: Cost,
    ticket: Ticket,
    /// From the read that brought the call until it was looked at.
    queue: Duration,
    began: Instant,
    is_settled: bool,
}

impl Toll {
    /// The threads on which a call goes on that may block.
    pub fn class(&self, default: Class) -> Class {
        match self.priority {
            Some(Priority::Batch) => Class::Batch,
            Some(Priority::Online) => Class::Priority,
            _ => default,
        }
    }

    /// For a part of the same call.
    pub fn of_part(&self) -> Toll {
        Toll { priority: self.priority, paid: Vec::new() }
    }

    pub fn add(&mut self, paid: Paid) {
        // Mostly the only one.
        self.paid.reserve_exact(1);
        self.paid.push(paid);
    }

    /// It goes on only now.
    pub fn begin_anew(&mut self) {
        let now = Instant::now();
        self.paid.iter_mut().for_each(|paid| paid.began = now);
    }

    pub fn is_batch(&self) -> bool {
        self.priority == Some(Priority::Batch)
    }

    /// What the call read of a region's table.
    #[inline]
    pub fn settle(&mut self, region: &Region, read_bytes: usize) {
        if let Some(cost) = self.cost(region) {
            cost.read_bytes = read_bytes as u64;
        }
    }

    /// The same of a scan, which had not said how many rows it would look at.
    pub fn settle_scan(&mut self, region: &Region, rows: u64, read_bytes: u64) {
        if let Some(cost) = self.cost(region) {
            (cost.rows, cost.read_bytes) = (rows.max(1), read_bytes);
        }
    }

    #[inline]
    fn cost(&mut self, region: &Region) -> Option<&mut Cost> {
        let paid = self.paid.iter_mut().find(|paid| paid.who.table == *region.info().table());
        paid.map(|paid| &mut paid.cost)
    }

    /// Whether anything is to be settled.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.paid.is_empty()
    }

    /// Calls that were done together are over: each took its share of the time since they `began`.
    pub fn settle_together(mut tolls: Vec<Toll>, began: Instant) {
        let now = Instant::now();
        let share = now.saturating_duration_since(began) / u32::try_from(tolls.len()).unwrap_or(u32::MAX).max(1);
        let mut all: SmallVec<[&mut Paid; GATHERED]> = tolls.iter_mut().flat_map(|toll| &mut toll.paid).collect();
        let Some(throttles) = all.first().map(|paid| paid.throttles.clone()) else { return };
        // Those that came together and went on together have waited for the same time, too.
        for alike in all.chunk_by(|a, b| a.took_as_long(b)) {
            alike[0].record(alike.len() as u64, share);
        }
        throttles.settle(now, |gate, now_ns| all.iter_mut().for_each(|paid| paid.settle(share, gate, now_ns)));
    }
}

impl Paid {
    pub(super) fn new(asked: Asked, throttles: Arc<Throttles>, (ticket, cost): (Ticket, Cost), began: Instant) -> Paid {
        let Asked { who, queue } = asked;
        Paid { throttles, who, cost, ticket, queue, began, is_settled: false }
    }

    fn took_as_long(&self, other: &Paid) -> bool {
        let times = |paid: &Paid| (paid.ticket.operation, paid.queue, paid.ticket.parked_ns);
        Arc::ptr_eq(&self.who, &other.who) && times(self) == times(other)
    }

    fn record(&self, calls: u64, took: Duration) {
        let parked = Duration::from_nanos(self.ticket.parked_ns);
        self.who.usage.record(calls, self.ticket.operation, (self.queue, parked, took));
    }

    fn settle<T>(&mut self, took: Duration, gate: &mut Gate<T>, now_ns: u64) {
        self.is_settled = true;
        let handler_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        gate.settle(&self.ticket, Cost { handler_ns, ..self.cost }, now_ns);
    }
}

impl Drop for Paid {
    /// The call is over.
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let (now, throttles) = (Instant::now(), self.throttles.clone());
        let took = now.saturating_duration_since(self.began);
        self.record(1, took);
        throttles.settle(now, |gate, now_ns| self.settle(took, gate, now_ns));
    }
}
