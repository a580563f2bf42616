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
    let request = |key| Request { key, operation: Operation::Scan, cost, size_bytes: 1, deadline_ns: None };
    let Answer::Passes(ticket) = gate.ask(&request(&keys[0]), NOW_NS) else { panic!("idle") };
    for key in &keys {
        let Answer::Waits(place) = gate.ask(&request(key), NOW_NS) else { panic!("it was used up") };
        gate.park(place, (), NOW_NS);
    }
    let before = gate.next_due_ns();
    for _ in 0..500 {
        // Each gives back a second's worth of rows.
        gate.settle(&ticket, Cost { rows: cost.rows - 1000, ..cost }, NOW_NS);
    }
    assert!(gate.due.len() <= 64 + 2 * keys.len() + keys.len(), "{}", gate.due.len());
    assert!(gate.next_due_ns() < before);
    let mut woken = Woken::default();
    assert!(!gate.wake(gate.next_due_ns().unwrap_or(0), |()| false, &mut woken, 2));
    assert_eq!(woken.pass.len(), 1);
}

/// What each of some calls is told, and which of them pass later, in their order.
fn told(together: bool) -> (Vec<String>, Vec<usize>) {
    const NOW_NS: u64 = 86_400_000_000_000;
    const SECOND: u64 = 1_000_000_000;
    let bounds = Bounds { calls_per_user: 6, bytes_per_user: 95 };
    // Two seconds for each row; one call has used up what was saved.
    let mut gate = Gate::new(plan(1800), CapacityUnits::default(), bounds);
    let key = Key { user: "u".into(), table: "t".into() };
    let request = |rows, size_bytes, deadline_ns| {
        let cost = Cost { reads: 1, rows, ..Cost::default() };
        Request { key: &key, operation: Operation::Get, cost, size_bytes, deadline_ns }
    };
    assert!(matches!(gate.ask(&request(37, 1, None), NOW_NS), Answer::Passes(_)));
    let calls = [(10, 100), (10, 100), (10, 1), (30, 100), (40, 100), (20, 100), (1, 100), (1, 100), (1, 100)];
    let calls = calls.map(|(bytes, seconds)| request(1, bytes, Some(NOW_NS + seconds * SECOND)));
    let (mut told, mut waiting) = (Vec::new(), Vec::new());
    let mut note = |answer: Answer| {
        let (text, place) = match answer {
            Answer::Waits(place) => ("waits".to_owned(), Some(place)),
            Answer::Refused(refusal) => (refusal.to_string(), None),
            other => (format!("{other:?}"), None),
        };
        told.push(text);
        place.map(|place| (place, told.len() - 1))
    };
    if together {
        gate.ask_alike(calls.into_iter(), NOW_NS, |answer| waiting.extend(note(answer)));
        waiting.into_iter().for_each(|(place, number)| gate.park(place, number, NOW_NS));
    } else {
        for call in &calls {
            if let Some((place, number)) = note(gate.ask(call, NOW_NS)) {
                gate.park(place, number, NOW_NS);
            }
        }
    }
    let mut woken = Woken::default();
    for second in 1..20 {
        assert!(!gate.wake(NOW_NS + second * SECOND, |_| false, &mut woken, 100));
    }
    (told, woken.pass.into_iter().map(|passed| passed.item).collect())
}

#[test]
fn calls_that_ask_together_are_told_what_they_are_told_one_by_one() {
    let (told, passed) = told(true);
    assert_eq!((told.clone(), passed.clone()), self::told(false));
    let waits: Vec<usize> = (0..told.len()).filter(|n| told[*n] == "waits").collect();
    assert_eq!((&waits[..], &passed[..]), (&[0, 1, 3, 4, 6, 7][..], &[0, 1, 3, 4, 6, 7][..]), "{told:#?}");
    assert!(told[2].contains("wait 6sec"), "too late: {}", told[2]);
    assert!(told[5].contains("4 calls wait"), "too many bytes: {}", told[5]);
    assert!(told[8].contains("6 calls wait"), "too many calls: {}", told[8]);
}

#[test]
fn who_waits_counts_with_what_it_holds() {
    const NOW_NS: u64 = 86_400_000_000_000;
    let bounds = Bounds { calls_per_user: 10, bytes_per_user: 100 };
    let mut gate = Gate::new(plan(1800), CapacityUnits::default(), bounds);
    let key = Key { user: "u".into(), table: "t".into() };
    let request = |rows, size_bytes| {
        let cost = Cost { reads: 1, rows, ..Cost::default() };
        Request { key: &key, operation: Operation::Multi, cost, size_bytes, deadline_ns: None }
    };
    assert!(matches!(gate.ask(&request(100, 1), NOW_NS), Answer::Passes(_)));
    let Answer::Waits(place) = gate.ask(&request(1, 10), NOW_NS) else { panic!("it was used up") };
    gate.park(place.holding(95), (), NOW_NS);
    assert!(matches!(gate.ask(&request(1, 10), NOW_NS), Answer::Refused(_)), "95 and 10 are more than 100");
    let [returned] = &gate.change(plan(1800), NOW_NS)[..] else { panic!("one waits") };
    assert_eq!((returned.size_bytes, gate.parked()), (95, 0));
    assert!(matches!(gate.ask(&request(1, 10), NOW_NS), Answer::Waits(_)));
}
