//! Procedures in threads: what excludes each other waits, the rest goes on, and nobody waits for ever.

use super::*;

fn threaded() -> Rig {
    let clock = Arc::new(ManualClock::new(1_000_000));
    Rig::with(MemFs::with_clock(clock.clone()), clock, 1, &[], true).unwrap()
}

#[test]
fn many_clients_change_many_tables() {
    let rig = threaded();
    std::thread::scope(|scope| {
        for n in 0..6 {
            let rig = &rig;
            scope.spawn(move || {
                let name = format!("t{n}");
                rig.create(&plain(&name), &["m"]).unwrap();
                rig.put(&name, "a", "1");
                rig.disable(&name).unwrap();
                rig.enable(&name).unwrap();
                rig.split(&rig.regions(&name)[0].clone(), "c").unwrap();
                assert_eq!(rig.get(&name, "a").as_deref(), Some("1"));
                assert_eq!(rig.regions(&name).len(), 3);
            });
        }
    });
    rig.check();
    rig.master.stop();
}

#[test]
fn of_many_that_create_one_table_one_does() {
    let rig = threaded();
    let created: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| rig.create(&plain("t"), &["m"]))).collect();
        let outcomes = threads.into_iter().map(|t| t.join().unwrap());
        outcomes
            .map(|outcome| match outcome {
                Ok(()) => true,
                Err(e) => {
                    assert_eq!(e.class, crate::class::TABLE_EXISTS);
                    false
                }
            })
            .collect()
    });
    assert_eq!(created.iter().filter(|c| **c).count(), 1);
    rig.check();
    rig.master.stop();
    assert_eq!(class_of(rig.create(&plain("u"), &[])), "ServerNotRunningYetException");
}
