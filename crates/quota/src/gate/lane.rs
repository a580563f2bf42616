//! Lanes, the limiters that count for them, and who waits in them.

use super::{Operation, Several};
use crate::cost::{Amounts, CapacityUnits, Cost};
use crate::limiter::Limiter;
use crate::plan::{Key, Limit, Owner};
use std::collections::{BTreeSet, VecDeque};

/// The limiters of one owner.
#[derive(Debug)]
pub(super) struct Bucket {
    pub owner: Owner,
    pub limits: Vec<Counted>,
    pub waiting: BTreeSet<u32>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub limit: Limit,
    pub limiter: Limiter,
    /// The settings with which it came: calls that had passed before have not been charged.
    pub since: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Class {
    Reads = 0,
    Writes = 1,
    Both = 2,
}

#[derive(Debug)]
pub(super) struct Lane<T> {
    pub key: Key,
    /// Indices of buckets, and whether they hold calls back.
    pub path: Vec<(usize, bool)>,
    /// By those that came together.
    pub parked: VecDeque<Parked<T>>,
    /// How many they are.
    pub calls: usize,
    /// What the parked ones cost together.
    pub queued: Amounts,
    /// For each operation: what one read of it took.
    pub expected: [Expected; 4],
    /// The valid entry of `Gate::due`.
    pub scheduled: Option<(u64, u64)>,
    /// When it was served last, in numbers of calls served.
    pub turn: u64,
    /// Calls that have passed and are not settled.
    pub under_way: u32,
    pub used_ns: u64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Expected {
    pub rows: u64,
    pub read_bytes: u64,
    pub handler_ns: u64,
}

/// Calls that came together.
#[derive(Debug)]
pub(super) struct Parked<T> {
    pub item: T,
    pub held: Held,
    pub operation: Operation,
    /// What was expected of each when they counted among those that wait.
    pub expected: Expected,
    pub since_ns: u64,
    /// Counts those that were ever parked.
    pub serial: u64,
    pub deadline_ns: Option<u64>,
    /// Of each.
    pub cost: Cost,
}

/// What a user has parked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    pub calls: usize,
    pub bytes: usize,
}

impl Class {
    pub fn of(cost: &Cost) -> Class {
        match (cost.reads, cost.writes) {
            (_, 0) => Class::Reads,
            (0, _) => Class::Writes,
            _ => Class::Both,
        }
    }
}

impl<T: Several> Lane<T> {
    pub fn push(&mut self, parked: Parked<T>, units: CapacityUnits) {
        self.calls += parked.held.calls;
        self.queued.add(&parked.amounts(units));
        self.parked.push_back(parked);
    }

    /// Takes out the first calls, so many of those that came together, with what they held.
    pub fn pop(&mut self, calls: usize, units: CapacityUnits) -> Option<(T, Held)> {
        let mut first = self.parked.pop_front()?;
        self.leaves(&first, units);
        if calls >= first.held.calls {
            return Some((first.item, first.held));
        }
        let held = first.held.split(calls);
        let (item, others) = first.item.split(calls);
        if let Some(item) = others {
            let others = Parked { item, ..first };
            self.calls += others.held.calls;
            self.queued.add(&others.amounts(units));
            self.parked.push_front(others);
        }
        Some((item, held))
    }

    /// They are taken out.
    pub fn leaves(&mut self, parked: &Parked<T>, units: CapacityUnits) {
        self.calls -= parked.held.calls;
        self.queued.subtract(&parked.amounts(units));
    }

    /// A call of it passes, the `turn`th of all.
    pub fn charge(&mut self, turn: u64, buckets: &mut [Option<Bucket>], amounts: &Amounts, now_ns: u64) {
        (self.turn, self.under_way) = (turn, self.under_way + 1);
        for (bucket, holds) in &self.path {
            let Some(bucket) = buckets[*bucket].as_mut() else { continue };
            for Counted { limit, limiter, .. } in &mut bucket.limits {
                limiter.charge(amounts.get(limit.kind), now_ns);
                if !holds {
                    limiter.forgive(now_ns);
                }
            }
        }
    }

    /// What is known of a cost, and for the rest what those before it took.
    pub fn expected(&self, operation: Operation, known: Cost) -> Cost {
        self.expected[operation as usize].cost(operation, known)
    }

    /// What the first call takes is better known now.
    pub fn correct_first(&mut self, units: CapacityUnits) {
        if let Some(first) = self.parked.front_mut() {
            self.queued.subtract(&first.amounts(units));
            first.expected = self.expected[first.operation as usize];
            self.queued.add(&first.amounts(units));
        }
    }

    /// Seven parts of what was expected, one of what was.
    pub fn learn(&mut self, operation: Operation, cost: &Cost) {
        let expected = &mut self.expected[operation as usize];
        let step = |was: &mut u64, is: u64| *was = ((u128::from(*was) * 7 + u128::from(is)) / 8) as u64;
        step(&mut expected.rows, cost.rows);
        let of_one = if cost.reads > 1 { cost.read_bytes / cost.reads } else { cost.read_bytes };
        step(&mut expected.read_bytes, of_one);
        step(&mut expected.handler_ns, cost.handler_ns);
    }
}

impl Expected {
    pub fn cost(&self, operation: Operation, known: Cost) -> Cost {
        Cost {
            rows: known.rows.max(if operation == Operation::Scan { self.rows } else { 0 }),
            read_bytes: known.read_bytes.max(known.reads.saturating_mul(self.read_bytes)),
            handler_ns: self.handler_ns,
            ..known
        }
    }
}

impl<T> Parked<T> {
    pub fn of_each(&self) -> Cost {
        self.expected.cost(self.operation, self.cost)
    }

    pub fn amounts(&self, units: CapacityUnits) -> Amounts {
        self.of_each().amounts(units).times(self.held.calls as u64)
    }
}

impl Held {
    pub fn add(&mut self, more: Held) {
        self.calls += more.calls;
        self.bytes += more.bytes;
    }

    /// Takes out so many calls, with their share of the bytes.
    fn split(&mut self, calls: usize) -> Held {
        let calls = calls.min(self.calls);
        let bytes = self.bytes / self.calls.max(1) * calls;
        self.calls -= calls;
        self.bytes -= bytes;
        Held { calls, bytes }
    }
}

/// The limiters of these buckets that hold back who costs so much.
pub(super) fn holding<'b>(
    path: &'b [(usize, bool)],
    buckets: &'b [Option<Bucket>],
    amounts: &Amounts,
) -> impl Iterator<Item = (&'b Bucket, &'b Counted)> {
    let buckets = path.iter().filter(|(_, holds)| *holds).filter_map(|(b, _)| buckets[*b].as_ref());
    let limits = buckets.flat_map(|bucket| bucket.limits.iter().map(move |counted| (bucket, counted)));
    limits.filter(|(_, counted)| amounts.get(counted.limit.kind) > 0)
}

pub(super) fn are_due(path: &[(usize, bool)], buckets: &[Option<Bucket>], amounts: &Amounts, now_ns: u64) -> bool {
    holding(path, buckets, amounts).all(|(_, counted)| counted.limiter.is_due(now_ns))
}
