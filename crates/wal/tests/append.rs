//! Appending, syncing, rolling and archiving, as the callers of a log see it.
#![allow(clippy::unwrap_used)]

mod rig;

use martite_env::{Fault, FileSystem, MemFs, Op};
use martite_wal::{WalError, WalOptions, WalReader};
use rig::{F, G, R1, R2, archive, dir, edit, entries, log, names, put, quiet, seqs, sized_edit};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

const FIRST: &str = "server.1700000000000";
const SECOND: &str = "server.1700000000001";

#[test]
fn a_reader_gets_back_what_was_appended() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    let written: Vec<_> = (1..=3).map(|seq| sized_edit(&R1, seq, &[F, G], seq as usize * 1000)).collect();
    let last = written.iter().map(|e| wal.append(e).unwrap()).last().unwrap();
    wal.sync(last).unwrap();
    let path = dir().join(FIRST);
    let mut reader = WalReader::open(&fs, &path).unwrap();
    assert!(!reader.is_closed() && reader.has_checksums());
    assert!(reader.next().unwrap().is_some());
    wal.close().unwrap();
    let read = entries(&fs, &path).unwrap();
    assert!(WalReader::open(&fs, &path).unwrap().is_closed());
    for (read, written) in read.iter().zip(&written) {
        assert_eq!(*read, martite_wal::Entry { families: (&[]).into(), ..written.clone() });
    }
    assert_eq!(read.len(), 3);
}

#[test]
fn everything_that_waits_shares_one_sync() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    let (done, waited) = channel();
    let before = fs.count(Op::Sync);
    // The thread is held in the first callback: the rest gathers meanwhile.
    let gate = Arc::new(Barrier::new(2));
    let held = Arc::clone(&gate);
    let first = wal.append(&edit(&R1, 1)).unwrap();
    wal.on_synced(first, Box::new(move |_| _ = held.wait()));
    for seq in 2..=10_001 {
        let done = done.clone();
        let ticket = wal.append(&edit(&R1, seq)).unwrap();
        wal.on_synced(ticket, Box::new(move |result| done.send((seq, result.is_ok())).unwrap()));
    }
    gate.wait();
    let answers: Vec<_> = waited.iter().take(10_000).collect();
    assert_eq!(answers, (2..=10_001).map(|seq| (seq, true)).collect::<Vec<_>>(), "in order");
    assert!(fs.count(Op::Sync) - before <= 3, "{} syncs", fs.count(Op::Sync) - before);
    assert_eq!(wal.stats().appends, 10_001);
}

#[test]
fn callbacks_run_in_the_order_of_tickets() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    let order = Arc::new(Mutex::new(Vec::new()));
    let gate = Arc::new(Barrier::new(2));
    let held = Arc::clone(&gate);
    let first = wal.append(&edit(&R1, 1)).unwrap();
    wal.on_synced(first, Box::new(move |_| _ = held.wait()));
    let tickets: Vec<_> = (2..6).map(|seq| wal.append(&edit(&R1, seq)).unwrap()).collect();
    for (at, ticket) in tickets.iter().enumerate().rev() {
        let order = Arc::clone(&order);
        wal.on_synced(*ticket, Box::new(move |_| order.lock().unwrap().push(at)));
    }
    gate.wait();
    wal.sync(tickets[3]).unwrap();
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3]);
}

#[test]
fn threads_that_append_at_once_lose_nothing() {
    let fs = MemFs::new();
    let wal = log(&fs, WalOptions { roll_size_bytes: 20_000, max_pending_bytes: 4_000, ..quiet() });
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let wal = &wal;
            scope.spawn(move || (1..=250).for_each(|n| _ = put(wal, &R1, thread * 1000 + n).unwrap()));
        }
    });
    wal.close_region(&R1).unwrap();
    wal.close().unwrap();
    let mut all: Vec<u64> = names(&fs, &archive()).iter().flat_map(|n| seqs(&fs, &archive().join(n))).collect();
    assert!(wal.stats().rolls >= 3, "{} rolls", wal.stats().rolls);
    assert_eq!(names(&fs, &dir()), [""; 0]);
    for thread in 0..4 {
        let own: Vec<u64> = all.iter().copied().filter(|seq| seq / 1000 == thread).collect();
        assert_eq!(own, (1..=250).map(|n| thread * 1000 + n).collect::<Vec<_>>(), "in its order");
    }
    all.dedup();
    assert_eq!(all.len(), 1000);
}

#[test]
fn an_entry_that_nobody_waits_for_is_written_and_synced_soon() {
    let fs = MemFs::new();
    let wal = log(&fs, WalOptions { async_delay: Duration::from_millis(2), ..WalOptions::default() });
    wal.append(&edit(&R1, 1)).unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    while fs.crash().read(&dir().join(FIRST)).unwrap().len() < 150 {
        assert!(std::time::Instant::now() < deadline, "still in memory");
        std::thread::yield_now();
    }
    assert_eq!(seqs(&fs.crash(), &dir().join(FIRST)), [1]);
    // The thread sleeps by now, or soon: an append wakes it.
    std::thread::sleep(Duration::from_millis(50));
    wal.append(&edit(&R1, 2)).unwrap();
    while seqs(&fs.crash(), &dir().join(FIRST)) != [1, 2] {
        assert!(std::time::Instant::now() < deadline, "still in memory");
        std::thread::yield_now();
    }
}

#[test]
fn a_log_that_grows_by_blocks_ends_where_its_last_entry_does_once_it_rests() {
    let fs = MemFs::new();
    fs.set_pads(true);
    let wal = log(&fs, WalOptions { async_delay: Duration::from_millis(2), ..WalOptions::default() });
    let deadline = std::time::Instant::now() + Duration::from_secs(20);
    for seq in 1..=3 {
        put(&wal, &R1, seq).unwrap();
        let written = wal.stats().current_size_bytes;
        while fs.len(&dir().join(FIRST)).unwrap() != written {
            assert!(std::time::Instant::now() < deadline, "still zeros at its end");
            std::thread::yield_now();
        }
    }
    wal.roll().unwrap();
    wal.close().unwrap();
    for name in [FIRST, SECOND] {
        let dir = if fs.exists(&dir().join(name)) { dir() } else { archive() };
        assert!(WalReader::open(&fs, &dir.join(name)).unwrap().is_closed(), "{name} ends with its trailer");
    }
}

#[test]
fn without_hsync_only_a_forced_sync_reaches_the_disk() {
    let fs = MemFs::new();
    let wal = log(&fs, WalOptions { hsync: false, ..quiet() });
    let before = fs.count(Op::Sync);
    let ticket = put(&wal, &R1, 1).unwrap();
    assert_eq!((fs.count(Op::Sync), seqs(&fs, &dir().join(FIRST))), (before, vec![1]));
    let (done, wait) = channel();
    wal.on_forced(ticket, Box::new(move |result| done.send(result.is_ok()).unwrap()));
    assert_eq!(wait.recv(), Ok(true));
    assert_eq!((fs.count(Op::Sync), seqs(&fs.crash(), &dir().join(FIRST))), (before + 1, vec![1]));
}

#[test]
fn a_file_goes_to_the_archive_when_all_its_regions_have_flushed() {
    let fs = MemFs::new();
    let wal = log(&fs, WalOptions { max_files: 1, ..quiet() });
    put(&wal, &R1, 1).unwrap();
    put(&wal, &R2, 1).unwrap();
    assert_eq!(wal.start_flush(&R1, &[F]), None);
    let rolled = wal.roll().unwrap();
    assert_eq!((rolled.old_file, rolled.new_file), (dir().join(FIRST), dir().join(SECOND)));
    put(&wal, &R1, 2).unwrap();
    wal.complete_flush(&R1, &[F]).unwrap();
    assert_eq!(names(&fs, &dir()), [FIRST, SECOND], "R2 has not flushed");
    assert_eq!(wal.lowest_unflushed(&R1, None), Some(2));
    let candidates = wal.flush_candidates();
    assert_eq!((candidates.len(), &candidates[0].region, &candidates[0].families[..]), (1, &R2, &[F][..]));
    wal.start_flush(&R2, &[F]);
    wal.abort_flush(&R2, &[F]);
    wal.roll().unwrap();
    assert_eq!(names(&fs, &dir()).len(), 3, "the flush failed");
    wal.start_flush(&R2, &[F]);
    wal.complete_flush(&R2, &[F]).unwrap();
    assert_eq!(names(&fs, &archive()), [FIRST]);
    assert_eq!(names(&fs.crash(), &dir())[0], SECOND, "durably");
    assert_eq!(seqs(&fs.crash(), &archive().join(FIRST)), [1, 1]);
    assert_eq!(wal.stats().files, 2);
}

#[test]
fn a_large_file_is_followed_by_another() {
    let fs = MemFs::new();
    let wal = log(&fs, WalOptions { roll_size_bytes: 1000, ..quiet() });
    for seq in 1..=20 {
        put(&wal, &R1, seq).unwrap();
    }
    wal.close().unwrap();
    let files = names(&fs, &dir());
    assert!(files.len() >= 3, "{files:?}");
    let all: Vec<u64> = files.iter().flat_map(|name| seqs(&fs, &dir().join(name))).collect();
    assert_eq!(all, (1..=20).collect::<Vec<_>>());
    assert!(files.iter().all(|name| WalReader::open(&fs, &dir().join(name)).unwrap().is_closed()));
    assert_eq!(wal.stats().size_bytes, fs.list(&dir()).unwrap().iter().map(|e| e.len).sum::<u64>());
}

#[test]
fn a_failed_sync_poisons_the_log() {
    for op in [Op::Sync, Op::Write] {
        let fs = MemFs::new();
        let wal = log(&fs, quiet());
        let first = put(&wal, &R1, 1).unwrap();
        fs.inject(Fault::Once { op, nth: 1 });
        let second = wal.append(&edit(&R1, 2)).unwrap();
        let poisoned = |result: Result<(), WalError>| match result {
            Err(WalError::Poisoned(what)) => assert!(what.contains("injected failure"), "{what}"),
            other => panic!("{other:?}"),
        };
        poisoned(wal.sync(second));
        poisoned(wal.append(&edit(&R1, 3)).map(drop));
        poisoned(wal.roll().map(drop));
        poisoned(wal.sync(second));
        assert!(wal.sync(first).is_ok(), "it was durable before");
        assert!(wal.stats().poisoned);
        poisoned(wal.close());
        assert_eq!(seqs(&fs.crash(), &dir().join(FIRST)), [1]);
    }
}

#[test]
fn a_callback_that_panics_poisons_the_log_and_nobody_waits_forever() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    let calls = Arc::new(AtomicU64::new(0));
    let gate = Arc::new(Barrier::new(2));
    let held = Arc::clone(&gate);
    let first = wal.append(&edit(&R1, 1)).unwrap();
    wal.on_synced(first, Box::new(move |_| _ = held.wait()));
    let (second, third) = (wal.append(&edit(&R1, 2)).unwrap(), wal.append(&edit(&R1, 3)).unwrap());
    wal.on_synced(second, Box::new(|_| panic!("a bug in a callback, made for this test")));
    let called = Arc::clone(&calls);
    wal.on_synced(third, Box::new(move |result| _ = called.fetch_add(result.is_ok().into(), Ordering::Relaxed)));
    gate.wait();
    assert!(matches!(wal.close(), Err(WalError::Poisoned(_))));
    assert_eq!(calls.load(Ordering::Relaxed), 1, "the entry was durable");
}

#[test]
fn a_roll_that_cannot_begin_a_file_leaves_the_log_as_it_is() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    put(&wal, &R1, 1).unwrap();
    fs.inject(Fault::Once { op: Op::Create, nth: 1 });
    assert!(matches!(wal.roll(), Err(WalError::Io { .. })));
    put(&wal, &R1, 2).unwrap();
    wal.roll().unwrap();
    put(&wal, &R1, 3).unwrap();
    assert_eq!(seqs(&fs, &dir().join(FIRST)), [1, 2]);
    assert_eq!(seqs(&fs, &dir().join(SECOND)), [3]);
}

#[test]
fn a_closed_log_refuses_and_keeps_unflushed_files() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    wal.append(&edit(&R1, 1)).unwrap();
    wal.close().unwrap();
    wal.close().unwrap();
    assert!(matches!(wal.append(&edit(&R1, 2)), Err(WalError::Closed)));
    assert!(matches!(wal.roll(), Err(WalError::Closed)));
    assert_eq!(seqs(&fs.crash(), &dir().join(FIRST)), [1], "close writes what nobody waited for");
    wal.close_region(&R1).unwrap();
    assert_eq!(names(&fs, &archive()), [FIRST]);
}

#[test]
fn bad_entries_are_refused_and_the_log_goes_on() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    let nameless = martite_wal::Entry { region: Default::default(), ..edit(&R1, 1) };
    assert!(matches!(wal.append(&nameless), Err(WalError::BadEntry(_))));
    put(&wal, &R1, 2).unwrap();
    assert_eq!(seqs(&fs, &dir().join(FIRST)), [2]);
}

#[test]
fn the_last_owner_may_be_a_callback() {
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    let ticket = wal.append(&edit(&R1, 1)).unwrap();
    let (done, wait) = channel();
    let (release, released) = channel::<()>();
    let owner = Arc::clone(&wal);
    wal.on_synced(
        ticket,
        Box::new(move |_| {
            released.recv().unwrap();
            drop(owner);
            done.send(()).unwrap();
        }),
    );
    drop(wal);
    release.send(()).unwrap();
    wait.recv().unwrap();
}
