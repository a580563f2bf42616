//! Many threads: exact increments, whole rows, in-order visibility, writers that may not wait.
#![allow(clippy::unwrap_used)]

mod rig;

use martite_cell::CellBuf;
use martite_hfile::{BlockRequest, BlockSource, HFileError, Reader, Step};
use martite_region::{Check, Condition, Durability, GetSpec, RegionError, WriteRequest};
use rig::{Rig, bytes, increment, put, script::comparator};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[test]
fn increments_from_many_threads_are_exact() {
    let rig = Rig::new();
    const THREADS: i64 = 8;
    const EACH: i64 = 200;
    std::thread::scope(|scope| {
        for t in 0..THREADS {
            let rig = &rig;
            scope.spawn(move || {
                for i in 0..EACH {
                    let row = format!("row{}", i % 3);
                    let m = vec![increment(&row, "f:n", 1), increment(&row, "g:n", t)];
                    rig.write(WriteRequest::atomic(m, None, 0)).unwrap();
                    if i == EACH / 2 && t % 4 == 0 {
                        rig.region.flush(None, "test").unwrap();
                    }
                }
            });
        }
    });
    let total = |rig: &Rig, column: &str| -> i64 {
        (0..3)
            .map(|r| {
                let row = rig.row(&format!("row{r}"));
                let value = row.split(' ').find_map(|c| c.strip_prefix(column)?.strip_prefix("=#")).unwrap();
                value.parse::<i64>().unwrap()
            })
            .sum()
    };
    assert_eq!((total(&rig, "f:n"), total(&rig, "g:n")), (THREADS * EACH, EACH * (0..THREADS).sum::<i64>()));
    let rig = rig.crash();
    assert_eq!((total(&rig, "f:n"), total(&rig, "g:n")), (THREADS * EACH, EACH * (0..THREADS).sum::<i64>()));
}

#[test]
fn only_one_of_many_wins_a_check() {
    let rig = Rig::new();
    rig.put("c", "f:a", b"0").unwrap();
    let wins = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (rig, wins) = (&rig, &wins);
            scope.spawn(move || {
                for round in 0..50 {
                    let check = Check::Value {
                        family: bytes("f"),
                        qualifier: bytes("a"),
                        op: martite_filter::CompareOp::Equal,
                        comparator: comparator(format!("{round}").as_bytes()),
                    };
                    let condition = Condition { row: bytes("c"), time_range: Default::default(), check };
                    let next = format!("{}", round + 1);
                    loop {
                        let written = rig.write(WriteRequest::atomic(
                            vec![put("c", "f:a", next.as_bytes())],
                            Some(Condition { row: bytes("c"), ..clone(&condition) }),
                            0,
                        ));
                        if written.unwrap().processed {
                            wins.fetch_add(1, Ordering::SeqCst);
                        }
                        let row = rig.row("c");
                        let now: i32 = row.split("f:a=").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
                        if now > round {
                            break;
                        }
                    }
                }
            });
        }
    });
    assert_eq!((wins.load(Ordering::SeqCst), rig.row("c").as_str()), (50, "f:a=50"));
}

fn clone(condition: &Condition) -> Condition {
    let check = match &condition.check {
        Check::Value { family, qualifier, op, comparator: c } => Check::Value {
            family: family.clone(),
            qualifier: qualifier.clone(),
            op: *op,
            comparator: comparator(c.value()),
        },
        Check::Filter(filter) => Check::Filter(filter.clone()),
    };
    Condition { row: condition.row.clone(), time_range: condition.time_range, check }
}

#[test]
fn readers_see_whole_rows_or_nothing() {
    let rig = Rig::new();
    let stop = AtomicBool::new(false);
    let seen = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..2)
            .map(|t| {
                let rig = &rig;
                scope.spawn(move || {
                    for i in 0..300u32 {
                        let value = format!("{t}-{i}");
                        let cells = ["f:a", "f:z", "g:a", "g:z"].map(|c| put("c", c, value.as_bytes()));
                        rig.clock.advance_ms(1);
                        if i % 2 == 0 {
                            rig.write(WriteRequest::batch(cells.into())).unwrap();
                        } else {
                            rig.write(WriteRequest::atomic(cells.into(), None, 0)).unwrap();
                        }
                        if i % 100 == 50 {
                            rig.region.flush(None, "test").unwrap();
                        }
                    }
                })
            })
            .collect();
        for _ in 0..3 {
            let (rig, stop, seen) = (&rig, &stop, &seen);
            scope.spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let cells = rig.get(&GetSpec::new("c")).unwrap();
                    let values: Vec<&[u8]> = cells.iter().map(|c| c.value).collect();
                    assert!(values.is_empty() || values.len() == 4, "{values:?}");
                    assert!(values.windows(2).all(|w| w[0] == w[1]), "torn row: {values:?}");
                    seen.fetch_add(values.len() as u64, Ordering::SeqCst);
                }
            });
        }
        writers.into_iter().for_each(|w| w.join().unwrap());
        stop.store(true, Ordering::SeqCst);
    });
    assert!(seen.load(Ordering::SeqCst) > 0);
}

/// A source whose cache is empty.
struct Nothing;

impl BlockSource for Nothing {
    fn get(&self, _: &Reader, _: &BlockRequest) -> Result<Option<Arc<martite_hfile::Block>>, HFileError> {
        Ok(None)
    }
    fn may_block(&self) -> bool {
        false
    }
}

#[test]
fn a_write_that_needs_a_block_is_given_again_and_done_once() {
    let rig = Rig::new();
    rig.write(WriteRequest::atomic(vec![increment("c", "f:n", 5)], None, 0)).unwrap();
    rig.region.flush(None, "test").unwrap();
    let mut first = increment("c", "f:n", 1);
    first.nonce = 3;
    let mut request = WriteRequest::atomic(vec![first], None, 1);
    for _ in 0..2 {
        assert!(matches!(rig.region.write(&mut request, &Nothing).unwrap(), Step::Need(_)));
    }
    let written = rig.begin(&mut request).unwrap();
    written.pending.wait().unwrap();
    let value = |cells: &CellBuf| cells.get(0).unwrap().value.to_vec();
    assert_eq!(value(&written.result.unwrap()), 6i64.to_be_bytes());
    assert_eq!(rig.row("c"), "f:n=#6");
    // Puts read nothing.
    let mut request = WriteRequest::batch(vec![put("c", "f:a", b"1")]);
    match rig.region.write(&mut request, &Nothing).unwrap() {
        Step::Ready(written) => written.pending.wait().unwrap(),
        Step::Need(block) => panic!("{block:?}"),
    }
}

#[test]
fn a_closed_region_serves_nothing_and_waits_for_nobody() {
    let rig = Rig::new();
    rig.put("c", "f:a", b"1").unwrap();
    rig.region.close(false).unwrap();
    rig.region.close(false).unwrap();
    let error = rig.put("c", "f:a", b"2").unwrap_err();
    assert!(matches!(error, RegionError::NotServing(_)), "{error:?}");
    assert!(error.to_string().starts_with("t,b,1."), "{error}");
    assert!(error.to_string().ends_with(" is closed"), "{error}");
    assert!(matches!(rig.get(&GetSpec::new("c")).unwrap_err(), RegionError::NotServing(_)));
    assert_eq!(rig.ctx.memstore_size.load(Ordering::SeqCst), 0);
}

#[test]
fn the_same_nonce_at_the_same_time_is_applied_once() {
    let rig = Rig::new();
    for nonce in 1..40u64 {
        let answers: Vec<Vec<u8>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let rig = &rig;
                    scope.spawn(move || {
                        let mut m = increment("c", "f:n", 1);
                        m.nonce = nonce;
                        let written = rig.write(WriteRequest::atomic(vec![m], None, 1)).unwrap();
                        written.result.unwrap().get(0).unwrap().value.to_vec()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert_eq!(answers, vec![(nonce as i64).to_be_bytes(); 4]);
    }
}

#[test]
fn a_write_is_seen_when_it_is_done_and_so_are_those_before_it() {
    let rig = Rig::new();
    let before = rig.region.read_point();
    let order = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let (sender, done) = std::sync::mpsc::channel();
    for i in 0..100u32 {
        let mut m = put("c", &format!("f:{i:03}"), b"1");
        m.durability =
            [Durability::SyncWal, Durability::AsyncWal, Durability::SkipWal, Durability::FsyncWal][i as usize % 4];
        let written = rig.begin(&mut WriteRequest::batch(vec![m])).unwrap();
        let (order, sender, region) = (order.clone(), sender.clone(), rig.region.clone());
        written.pending.on_done(move |result| {
            result.unwrap();
            order.lock().push((i, region.read_point()));
            sender.send(()).unwrap();
        });
    }
    (0..100).for_each(|_| done.recv().unwrap());
    // Who is told first is open: the log's thread tells some, and this one those that were done when it asked.
    let mut order = order.lock();
    order.sort();
    assert!(order.iter().enumerate().all(|(at, (i, _))| at as u32 == *i), "{order:?}");
    assert!(order.iter().all(|(i, read_point)| *read_point > before + u64::from(*i)), "from {before}: {order:?}");
    assert_eq!(rig.row("c").split(' ').count(), 100);
}

/// Prints how fast batches go into the memstore and the log; for people, with `--ignored --nocapture`.
#[test]
#[ignore = "a measurement, not a test"]
fn batches_of_a_thousand_puts() {
    let rig = Rig::new();
    let rows: Vec<String> = (0..1000).map(|i| format!("row{i:06}")).collect();
    for round in 0..5 {
        let mut requests: Vec<_> = (0..40)
            .map(|_| WriteRequest::batch(rows.iter().map(|row| put(row, "f:a", &[b'x'; 100])).collect()))
            .collect();
        rig.clock.advance_ms(1);
        let start = std::time::Instant::now();
        let mut pending = Vec::new();
        for request in &mut requests {
            pending.push(rig.begin(request).unwrap().pending);
        }
        let begun = start.elapsed();
        pending.into_iter().for_each(|p| p.wait().unwrap());
        eprintln!(
            "round {round}: {} ns per put begun, {} ns done",
            begun.as_nanos() / 40_000,
            start.elapsed().as_nanos() / 40_000
        );
        rig.region.flush(None, "bench").unwrap();
    }
}
