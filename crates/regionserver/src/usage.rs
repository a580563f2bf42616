//! [`Usage`]: what users under limits do, for those who look: calls, how long they waited for what, and what was refused.

use martite_catalog::TableName;
use martite_metrics::{Histogram, Snapshot};
use martite_proto as pb;
use martite_quota::{Key, Kind, Operation};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// Users and tables that are told apart; those that come later are counted together.
const MOST: usize = 1000;

/// By user and table.
#[derive(Default)]
pub struct Usage(Mutex<Known>);

#[derive(Default)]
struct Known {
    users: Map<Map<Arc<Who>>>,
    /// Users and tables in it.
    count: usize,
    others: Option<Arc<OfUser>>,
}

type Map<V> = HashMap<Arc<str>, V, foldhash::fast::RandomState>;

/// A user and a table.
pub(crate) struct Who {
    /// Their names for the gate.
    pub key: Key,
    pub table: TableName,
    pub usage: Arc<OfUser>,
}

/// One user's calls on one table.
#[derive(Default)]
pub struct OfUser {
    operations: [OfOperation; 4],
    refused: Mutex<BTreeMap<Kind, u64>>,
}

/// Times of one kind of call: together they are the time from the read that brought it until its answer was ready.
#[derive(Default)]
pub struct OfOperation {
    /// Until it was looked at.
    pub queue: Histogram,
    /// For its turn. Only calls that waited are in it.
    pub parked: Histogram,
    pub service: Histogram,
}

impl Usage {
    /// A user and a table; made known if they are new.
    pub(crate) fn of(&self, user: &str, table: &TableName) -> Arc<Who> {
        let mut known = self.0.lock();
        if let Some(who) = known.users.get(user).and_then(|tables| tables.get(table.as_str())) {
            return who.clone();
        }
        let key = Key { user: user.into(), table: table.as_str().into() };
        let who = |usage| Arc::new(Who { key: key.clone(), table: table.clone(), usage });
        if known.count >= MOST {
            return who(known.others.get_or_insert_default().clone());
        }
        let who = who(Arc::default());
        known.users.entry(key.user.clone()).or_default().insert(key.table.clone(), who.clone());
        known.count += 1;
        who
    }

    /// All that were ever under a limit.
    pub fn all(&self) -> Vec<(Key, Arc<OfUser>)> {
        let known = self.0.lock();
        let told_apart = known.users.values().flat_map(Map::values).map(|who| (who.key.clone(), who.usage.clone()));
        let others = || Key { user: "(others)".into(), table: "(any)".into() };
        let others = known.others.iter().map(|usage| (others(), usage.clone()));
        let mut all: Vec<_> = told_apart.chain(others).collect();
        drop(known);
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

impl OfUser {
    /// So many calls that all took the same.
    pub(crate) fn record(
        &self,
        calls: u64,
        operation: Operation,
        (queue, parked, service): (Duration, Duration, Duration),
    ) {
        let times = &self.operations[operation as usize];
        times.queue.record_many(queue, calls);
        times.service.record_many(service, calls);
        if !parked.is_zero() {
            times.parked.record_many(parked, calls);
        }
    }

    pub(crate) fn refuse(&self, kind: Kind, calls: usize) {
        *self.refused.lock().entry(kind).or_default() += calls as u64;
    }

    /// As the endpoint ThrottleUsageService tells it.
    pub(crate) fn report(&self, key: &Key, response: &mut pb::GetThrottleUsageResponse) {
        let (user, table) = (key.user.to_string(), key.table.to_string());
        for (operation, name) in OPERATIONS {
            let of = self.operation(operation);
            let service = of.service.snapshot();
            if service.count() > 0 {
                response.usage.push(pb::ThrottleUsage {
                    user: user.clone(),
                    table: table.clone(),
                    operation: name as i32,
                    queue: times(&of.queue.snapshot()),
                    parked: times(&of.parked.snapshot()),
                    service: times(&service),
                });
            }
        }
        for (kind, count) in self.refused() {
            let (user, table, r#type) = (user.clone(), table.clone(), kind as i32);
            response.refused.push(pb::ThrottleRefusals { user, table, r#type, count });
        }
    }

    pub fn operation(&self, operation: Operation) -> &OfOperation {
        &self.operations[operation as usize]
    }

    /// Calls that were answered with RpcThrottlingException, by the limit that would have been exceeded.
    pub fn refused(&self) -> Vec<(Kind, u64)> {
        self.refused.lock().iter().map(|(kind, count)| (*kind, *count)).collect()
    }
}

/// Where the protocol has its operations.
const OPERATIONS: [(Operation, pb::throttle_usage::Operation); 4] = [
    (Operation::Get, pb::throttle_usage::Operation::Get),
    (Operation::Scan, pb::throttle_usage::Operation::Scan),
    (Operation::Mutate, pb::throttle_usage::Operation::Mutate),
    (Operation::Multi, pb::throttle_usage::Operation::Multi),
];

fn times(snapshot: &Snapshot) -> pb::ThrottleUsageTimes {
    let us = |percent| snapshot.percentile_ns(percent) / 1000;
    pb::ThrottleUsageTimes {
        count: snapshot.count(),
        total_us: snapshot.sum_ns() / 1000,
        p50_us: us(50.0),
        p95_us: us(95.0),
        p99_us: us(99.0),
        p999_us: us(99.9),
        max_us: snapshot.max_ns() / 1000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_each_operation_that_was_made_and_each_refusal() {
        let usage = OfUser::default();
        usage.record(1, Operation::Scan, (Duration::ZERO, Duration::from_millis(5), Duration::from_micros(70)));
        usage.record(1, Operation::Scan, (Duration::ZERO, Duration::ZERO, Duration::from_micros(70)));
        usage.refuse(Kind::ReadSize, 1);
        let mut response = pb::GetThrottleUsageResponse::default();
        usage.report(&Key { user: "u".into(), table: "ns:t".into() }, &mut response);
        let [scan] = &response.usage[..] else { panic!("{response:?}") };
        assert_eq!((&*scan.user, &*scan.table, scan.operation()), ("u", "ns:t", pb::throttle_usage::Operation::Scan));
        assert_eq!((scan.queue.count, scan.parked.count, scan.service.count), (2, 1, 2));
        assert!(
            (4_900..5_100).contains(&scan.parked.p50_us) && (136..=140).contains(&scan.service.total_us),
            "{scan:?}"
        );
        let [refused] = &response.refused[..] else { panic!("{response:?}") };
        assert_eq!((refused.r#type(), refused.count), (pb::ThrottleType::ReadSize, 1));
    }

    #[test]
    fn users_beyond_the_most_are_counted_together() {
        let (usage, table) = (Usage::default(), TableName::parse("t").unwrap());
        for i in 0..MOST + 5 {
            let user = format!("u{i:05}");
            let who = usage.of(&user, &table);
            who.usage.record(1, Operation::Get, (Duration::ZERO, Duration::ZERO, Duration::from_micros(1)));
            who.usage.refuse(Kind::ReadNumber, 1);
            assert_eq!(who.key, Key { user: user.into(), table: "t".into() });
        }
        let all = usage.all();
        assert_eq!(all.len(), MOST + 1);
        let others = &all.iter().find(|(key, _)| &*key.user == "(others)").unwrap().1;
        assert_eq!(others.operation(Operation::Get).service.snapshot().count(), 5);
        assert_eq!(others.operation(Operation::Get).parked.snapshot().count(), 0);
        assert_eq!(others.refused(), [(Kind::ReadNumber, 5)]);
    }
}
