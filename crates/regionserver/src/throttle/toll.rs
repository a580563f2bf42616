//! [`Toll`]: what a call has been charged, and how it is settled when the call ends.

use super::Throttles;
use super::waiting::Asked;
use crate::usage::Who;
use martite_quota::{Cost, Gate, Priority, Several, Ticket};
use martite_region::Region;
use martite_rpc::Class;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a call has been charged, table by table. Dropped unsettled, it leaves what was known when the call began.
#[derive(Default)]
pub(crate) struct Toll {
    paid: Vec<Paid>,
    /// It was charged with others that it goes on with: the place of what they have paid.
    together: Option<u8>,
    /// None: not asked yet, or nobody has set any.
    pub(super) priority: Option<Priority>,
}

/// On what terms calls have passed.
#[derive(Clone)]
struct Terms {
    throttles: Arc<Throttles>,
    who: Arc<Who>,
    ticket: Ticket,
    /// From the read that brought them until they were looked at.
    queue: Duration,
}

/// What has been charged for one table. Settled when it is dropped.
pub(crate) struct Paid {
    terms: Terms,
    /// Becomes what the call took.
    cost: Cost,
    began: Instant,
}

/// What has been charged for calls that passed together. Settled when all have gone on.
pub(crate) struct PaidTogether {
    terms: Terms,
    /// What was known of each.
    cost: Cost,
    /// How many are to be settled by this.
    calls: usize,
    /// Bytes that those have read that are over.
    over: Vec<u64>,
    began: Instant,
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
        Toll { priority: self.priority, paid: Vec::new(), together: None }
    }

    pub fn add(&mut self, paid: Paid) {
        // Mostly the only one.
        self.paid.reserve_exact(1);
        self.paid.push(paid);
    }

    /// It was charged with others, in the place of what they have paid.
    pub(super) fn is_paid_by(&mut self, place: usize) {
        self.together = u8::try_from(place).ok();
    }

    /// So many others come before what was paid for it.
    pub(super) fn is_behind(&mut self, others: usize) {
        self.together = self.together.and_then(|place| u8::try_from(usize::from(place) + others).ok());
    }

    /// It goes on without the others.
    pub fn take_out(&mut self, paid: &mut [PaidTogether]) {
        let together = self.together.take().and_then(|place| paid.get_mut(usize::from(place)));
        if let Some(paid) = together.and_then(PaidTogether::one) {
            self.add(paid);
        }
    }

    /// It is over, as those that it went on with will be soon.
    #[inline]
    pub fn end(&mut self, paid: &mut [PaidTogether], read_bytes: usize) {
        let together = self.together.take().and_then(|place| paid.get_mut(usize::from(place)));
        if let Some(PaidTogether { calls, over, .. }) = together {
            over.reserve_exact(*calls - over.len());
            over.push(read_bytes as u64);
        }
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
        let paid = self.paid.iter_mut().find(|paid| paid.terms.who.table == *region.info().table());
        paid.map(|paid| &mut paid.cost)
    }

    /// Whether anything is to be settled.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.paid.is_empty() && self.together.is_none()
    }
}

impl Terms {
    fn new(asked: Asked, throttles: Arc<Throttles>, ticket: Ticket) -> Terms {
        let Asked { who, queue } = asked;
        Terms { throttles, who, ticket, queue }
    }

    /// So many calls took so long each.
    fn record(&self, calls: usize, took: Duration) {
        let parked = Duration::from_nanos(self.ticket.parked_ns);
        self.who.usage.record(calls as u64, self.ticket.operation, (self.queue, parked, took));
    }
}

/// What a call took that has taken so long.
fn with_time(cost: Cost, took: Duration) -> Cost {
    Cost { handler_ns: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), ..cost }
}

impl Paid {
    pub(super) fn new(asked: Asked, throttles: Arc<Throttles>, (ticket, cost): (Ticket, Cost), began: Instant) -> Paid {
        Paid { terms: Terms::new(asked, throttles, ticket), cost, began }
    }
}

impl PaidTogether {
    pub(super) fn new(
        asked: Asked,
        throttles: Arc<Throttles>,
        (ticket, cost, calls): (Ticket, Cost, usize),
        began: Instant,
    ) -> PaidTogether {
        PaidTogether { terms: Terms::new(asked, throttles, ticket), cost, calls, over: Vec::new(), began }
    }

    /// What one of them has paid that is not over and is settled by itself.
    pub fn one(&mut self) -> Option<Paid> {
        self.calls = self.calls.checked_sub(1).filter(|left| *left >= self.over.len())?;
        let PaidTogether { ref terms, cost, began, .. } = *self;
        Some(Paid { terms: terms.clone(), cost, began })
    }

    /// Calls that were done together are over: each took its share of the time since they `began`.
    pub fn settle_all(mut all: Vec<PaidTogether>, began: Instant) {
        let now = Instant::now();
        let calls = all.iter().map(|paid| paid.calls).sum::<usize>();
        let share = now.saturating_duration_since(began) / u32::try_from(calls).unwrap_or(u32::MAX).max(1);
        let Some(throttles) = all.first().map(|paid| paid.terms.throttles.clone()) else { return };
        all.iter().for_each(|paid| paid.terms.record(paid.calls, share));
        throttles.settle(now, |gate, now_ns| all.iter_mut().for_each(|paid| paid.settle(share, gate, now_ns)));
    }

    fn settle<T: Several>(&mut self, took: Duration, gate: &mut Gate<T>, now_ns: u64) {
        let (each, calls) = (with_time(self.cost, took), std::mem::take(&mut self.calls));
        // Of those that are not over it is not known.
        let read = self.over.drain(..).chain(std::iter::repeat(each.read_bytes)).take(calls);
        gate.settle(&self.terms.ticket, read.map(|read_bytes| Cost { read_bytes, ..each }), now_ns);
    }
}

impl Drop for PaidTogether {
    fn drop(&mut self) {
        if self.calls > 0 {
            let (now, throttles) = (Instant::now(), self.terms.throttles.clone());
            let took = now.saturating_duration_since(self.began);
            self.terms.record(self.calls, took);
            throttles.settle(now, |gate, now_ns| self.settle(took, gate, now_ns));
        }
    }
}

impl Drop for Paid {
    /// The call is over.
    fn drop(&mut self) {
        let (now, Terms { throttles, ticket, .. }) = (Instant::now(), &self.terms);
        let took = now.saturating_duration_since(self.began);
        self.terms.record(1, took);
        throttles.settle(now, |gate, now_ns| gate.settle(ticket, [with_time(self.cost, took)], now_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::QuotaOptions;
    use martite_catalog::TableName;
    use martite_proto as pb;
    use martite_quota::{Answers, Kind, Operation, Request, Settings};

    #[test]
    fn calls_that_passed_together_are_each_settled_once() {
        let throttles = Throttles::new(QuotaOptions::default());
        let hourly = |limit| pb::TimedQuota {
            time_unit: pb::TimeUnit::Hours as i32,
            soft_limit: Some(limit),
            share: None,
            scope: None,
        };
        let mut throttle = pb::Throttle::default();
        *Kind::ReadSize.of_mut(&mut throttle) = Some(hourly(1_000_000));
        let mut settings = Settings::default();
        settings.tables.insert("t".into(), pb::Quotas { throttle: Some(throttle), ..pb::Quotas::default() });
        throttles.change(Arc::new(settings), true);

        let who = throttles.usage.of("u", &TableName::parse("t").unwrap());
        let request = Request {
            key: &who.key,
            operation: Operation::Get,
            cost: crate::throttle::ONE_READ,
            calls: 5,
            size_bytes: 500,
            deadline_ns: None,
        };
        let answers = throttles.state.lock().gate.ask_together(&request, throttles.now_ns());
        let Some(Answers { passes: Some((5, ticket)), .. }) = answers else { panic!("nothing was read yet") };
        let (asked, began) = (Asked { who: who.clone(), queue: Duration::ZERO }, Instant::now());
        let paid = PaidTogether::new(asked, throttles.clone(), (ticket, request.cost, 5), began);
        let mut paid = vec![paid];
        let mut tolls: [Toll; 5] = std::array::from_fn(|_| Toll::default());
        tolls.iter_mut().for_each(|toll| toll.is_paid_by(0));

        let recorded = || who.usage.operation(Operation::Get).service.snapshot().count();
        tolls[0].end(&mut paid, 300_000);
        tolls[1].end(&mut paid, 400_000);
        // The third reads from the disk, the fourth is forgotten, the fifth ends twice.
        tolls[2].take_out(&mut paid);
        assert!(!tolls[2].is_empty() && tolls[0].is_empty());
        tolls[4].end(&mut paid, 600_000);
        tolls[4].end(&mut paid, 600_000);
        assert_eq!(recorded(), 0);
        PaidTogether::settle_all(paid, began);
        assert_eq!(recorded(), 4);
        drop(tolls);
        assert_eq!(recorded(), 5);

        let mut state = throttles.state.lock();
        let [(_, _, owed)] = state.gate.owed(throttles.now_ns())[..] else { panic!("one limit") };
        // Of 1,300,000 bytes 20,000 had been saved up; each second since gives back 278.
        assert!((1_200_000..=1_280_000).contains(&owed), "{owed}");
        state.gate.change(martite_quota::Plan::off(), throttles.now_ns());
        let later_ns = throttles.now_ns() + 7_200_000_000_000;
        state.gate.sweep(later_ns, |_| false);
        assert!(state.gate.is_empty(), "none is under way");
    }
}
