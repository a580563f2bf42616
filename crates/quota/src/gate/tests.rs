//! Calls that refund, ask together and are parked, beside the golden scripts.

use super::*;
use crate::{Kind, Settings};
use martite_proto as pb;

/// A table where everybody may read so many rows an hour.
fn plan(rows: u64) -> Plan {
    let quota =
        pb::TimedQuota { time_unit: pb::TimeUnit::Hours as i32, soft_limit: Some(rows), share: None, scope: None };
    let mut throttle = pb::Throttle::default();
    *Kind::ReadNumber.of_mut(&mut throttle) = Some(quota);
    let mut settings = Settings::default();
    settings.tables.insert("t".into(), pb::Quotas { throttle: Some(throttle), ..pb::Quotas::default() });
    Plan::new(Arc::new(settings), pb::Throttle::default())
}

#[test]
fn refunds_do_not_fill_the_order_of_those_who_wait() {
    const NOW_NS: u64 = 86_400_000_000_000;
    let bounds = Bounds { calls_per_user: 10, bytes_per_user: 1000 };
    let mut gate = Gate::new(plan(3_600_000), CapacityUnits::default(), bounds);
    let keys: Vec<Key> = (0..5).map(|i| Key { user: format!("u{i}").into(), table: "t".into() }).collect();
    let cost = Cost { reads: 1, rows: 1_000_000, ..Cost::default() };
    let request = |key| Request { key, operation: Operation::Scan, cost, calls: 1, size_bytes: 1, deadline_ns: None };
    let Answer::Passes(ticket) = gate.ask(&request(&keys[0]), NOW_NS) else { panic!("idle") };
    for key in &keys {
        let Answer::Waits(place) = gate.ask(&request(key), NOW_NS) else { panic!("it was used up") };
        gate.park(place, vec![()], NOW_NS);
    }
    let before = gate.next_due_ns();
    for _ in 0..500 {
        // Each gives back a second's worth of rows.
        gate.settle(&ticket, [Cost { rows: cost.rows - 1000, ..cost }], NOW_NS);
    }
    assert!(gate.due.len() <= 64 + 2 * keys.len() + keys.len(), "{}", gate.due.len());
    assert!(gate.next_due_ns() < before);
    let mut woken = Woken::default();
    assert!(!gate.wake(gate.next_due_ns().unwrap_or(0), |_| false, &mut woken, 2));
    assert_eq!(woken.pass.len(), 1);
}

/// What each of some calls is told, by groups that come together (calls, bytes of each, seconds until nobody waits), and which of them
/// pass in which second, in their order.
fn told(groups: &[(usize, usize, u64)], together: bool) -> (Vec<String>, Vec<(u64, usize)>) {
    const NOW_NS: u64 = 86_400_000_000_000;
    const SECOND: u64 = 1_000_000_000;
    let bounds = Bounds { calls_per_user: 6, bytes_per_user: 95 };
    // Two seconds for each row; what was saved is used up, and one call passes beyond it.
    let mut gate = Gate::new(plan(1800), CapacityUnits::default(), bounds);
    let key = Key { user: "u".into(), table: "t".into() };
    let request = |rows, calls, size_bytes, deadline_ns| {
        let cost = Cost { reads: 1, rows, ..Cost::default() };
        Request { key: &key, operation: Operation::Get, cost, calls, size_bytes: calls * size_bytes, deadline_ns }
    };
    assert!(matches!(gate.ask(&request(36, 1, 1, None), NOW_NS), Answer::Passes(_)));
    let mut told = Vec::new();
    for (calls, bytes, seconds) in groups {
        let (step, steps) = if together { (*calls, 1) } else { (1, *calls) };
        for _ in 0..steps {
            let request = request(1, step, *bytes, Some(NOW_NS + seconds * SECOND));
            let Some(Answers { passes, waits, refused }) = gate.ask_together(&request, NOW_NS) else {
                panic!("limited")
            };
            let passes = passes.map_or(0, |(calls, _)| calls);
            (0..passes).for_each(|_| told.push("passes".to_owned()));
            if let Some((calls, place)) = waits {
                let numbers = (told.len()..told.len() + calls).collect::<Vec<_>>();
                (0..calls).for_each(|_| told.push("waits".to_owned()));
                gate.park(place, numbers, NOW_NS);
            }
            told.extend(refused.iter().flat_map(|(calls, refusal)| vec![refusal.to_string(); *calls]));
        }
    }
    let mut passed = Vec::new();
    for second in 1..20 {
        let mut woken = Woken::default();
        assert!(!gate.wake(NOW_NS + second * SECOND, |_| false, &mut woken, 100));
        for Passed { item, calls, .. } in woken.pass {
            assert_eq!(item.len(), calls);
            passed.extend(item.into_iter().map(|number| (second, number)));
        }
    }
    assert_eq!((gate.parked(), gate.is_empty()), (0, false));
    (told, passed)
}

#[test]
fn calls_that_come_together_are_told_what_they_are_told_one_by_one() {
    let groups: [&[(usize, usize, u64)]; 5] = [
        &[(1, 10, 100), (1, 10, 100), (1, 10, 1), (1, 30, 100), (1, 40, 100), (1, 20, 100), (4, 1, 100)],
        &[(9, 10, 100)],
        &[(2, 10, 100), (7, 20, 100)],
        &[(2, 10, 100), (4, 10, 5), (2, 10, 100)],
        &[(3, 40, 100), (1, 1, 100)],
    ];
    for groups in groups {
        assert_eq!(told(groups, true), told(groups, false), "{groups:?}");
    }
    let (told, passed) = told(groups[0], true);
    let waits: Vec<usize> = (0..told.len()).filter(|n| told[*n] == "waits").collect();
    let passed: Vec<usize> = passed.into_iter().map(|(_, number)| number).collect();
    assert_eq!((&waits[..], &passed[..]), (&[1, 3, 4, 6, 7, 8][..], &[1, 3, 4, 6, 7, 8][..]), "{told:#?}");
    assert_eq!(told[0], "passes");
    assert!(told[2].contains("wait 4sec"), "too late: {}", told[2]);
    assert!(told[5].contains("3 calls wait"), "too many bytes: {}", told[5]);
    assert!(told[9].contains("6 calls wait"), "too many calls: {}", told[9]);
}

#[test]
fn some_of_those_who_came_together_pass_before_the_others() {
    const NOW_NS: u64 = 86_400_000_000_000;
    const SECOND: u64 = 1_000_000_000;
    let bounds = Bounds { calls_per_user: 100, bytes_per_user: 1000 };
    let mut gate = Gate::new(plan(1800), CapacityUnits::default(), bounds);
    let key = Key { user: "u".into(), table: "t".into() };
    let cost = Cost { reads: 1, rows: 1, ..Cost::default() };
    let request = Request { key: &key, operation: Operation::Get, cost, calls: 45, size_bytes: 450, deadline_ns: None };
    let Some(Answers { passes: Some((37, ticket)), waits: Some((8, place)), .. }) = gate.ask_together(&request, NOW_NS)
    else {
        panic!("36 were saved up, and one passes beyond them")
    };
    gate.park(place, (0..8).collect::<Vec<_>>(), NOW_NS);
    gate.settle(&ticket, [cost; 37], NOW_NS);
    let wake = |gate: &mut Gate<_>, seconds: u64| {
        let mut woken = Woken::default();
        assert!(!gate.wake(NOW_NS + seconds * SECOND, |_| false, &mut woken, 100));
        woken.pass.into_iter().flat_map(|passed| passed.item).collect::<Vec<usize>>()
    };
    assert_eq!((wake(&mut gate, 6), gate.parked()), (vec![0, 1, 2], 5));
    let [returned] = &gate.change(plan(1800), NOW_NS)[..] else { panic!("they came together") };
    assert_eq!((&returned.item[..], returned.calls, returned.size_bytes), (&[3, 4, 5, 6, 7][..], 5, 50));
    assert_eq!(gate.parked(), 0);
}

#[test]
fn who_waits_counts_with_what_it_holds() {
    const NOW_NS: u64 = 86_400_000_000_000;
    let bounds = Bounds { calls_per_user: 10, bytes_per_user: 100 };
    let mut gate = Gate::new(plan(1800), CapacityUnits::default(), bounds);
    let key = Key { user: "u".into(), table: "t".into() };
    let request = |rows, size_bytes| {
        let cost = Cost { reads: 1, rows, ..Cost::default() };
        Request { key: &key, operation: Operation::Multi, cost, calls: 1, size_bytes, deadline_ns: None }
    };
    assert!(matches!(gate.ask(&request(100, 1), NOW_NS), Answer::Passes(_)));
    let Answer::Waits(place) = gate.ask(&request(1, 10), NOW_NS) else { panic!("it was used up") };
    gate.park(place.holding(95), vec![()], NOW_NS);
    assert!(matches!(gate.ask(&request(1, 10), NOW_NS), Answer::Refused(_)), "95 and 10 are more than 100");
    let [returned] = &gate.change(plan(1800), NOW_NS)[..] else { panic!("one waits") };
    assert_eq!((returned.size_bytes, gate.parked()), (95, 0));
    assert!(matches!(gate.ask(&request(1, 10), NOW_NS), Answer::Waits(_)));
}
