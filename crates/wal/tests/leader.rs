//! Callers that write the log themselves, because nobody waits for the disk.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod rig;

use martite_env::{Fault, FileSystem, MemFs, Op};
use martite_wal::{Ticket, Wal, WalError, WalOptions};
use rig::{R1, dir, edit, log, names, quiet, seqs};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Barrier};
use std::thread::{self, ThreadId};

const FIRST: &str = "server.1700000000000";

fn no_hsync() -> WalOptions {
    WalOptions { hsync: false, ..quiet() }
}

/// Where, and with what, the callback of an entry is called.
fn asked(wal: &Wal, ticket: Ticket) -> Receiver<(ThreadId, Result<(), WalError>)> {
    let (done, wait) = channel();
    wal.on_synced_here(ticket, Box::new(move |result| _ = done.send((thread::current().id(), result))));
    wait
}

fn append(wal: &Wal, seq: u64) -> Ticket {
    wal.append(&edit(&R1, seq)).unwrap()
}

#[test]
fn a_caller_writes_all_that_is_pending_and_is_told_at_once() {
    let fs = MemFs::new();
    let wal = log(&fs, no_hsync());
    append(&wal, 1);
    let told = asked(&wal, append(&wal, 2)).try_recv().unwrap();
    assert_eq!((told.0, told.1.is_ok()), (thread::current().id(), true));
    assert_eq!(seqs(&fs, &dir().join(FIRST)), [1, 2]);
    assert_eq!(wal.stats().syncs, 0);
    wal.close().unwrap();
    assert_eq!(seqs(&fs.crash(), &dir().join(FIRST)), [1, 2]);
}

#[test]
fn what_is_to_reach_the_disk_is_left_to_the_thread() {
    let here = thread::current().id();
    let fs = MemFs::new();
    let wal = log(&fs, quiet());
    let told = asked(&wal, append(&wal, 1)).recv().unwrap();
    assert!(told.0 != here && told.1.is_ok());
    assert_eq!(seqs(&fs.crash(), &dir().join(FIRST)), [1]);
}

#[test]
fn beside_a_forced_sync_nobody_leads() {
    let here = thread::current().id();
    let fs = MemFs::new();
    let wal = log(&fs, no_hsync());
    // The thread is held in a callback, so a forced sync waits for it.
    let gate = Arc::new(Barrier::new(2));
    let held = Arc::clone(&gate);
    wal.on_synced(append(&wal, 1), Box::new(move |_| _ = held.wait()));
    let forced = append(&wal, 2);
    let (done, wait) = channel();
    wal.on_forced(forced, Box::new(move |result| done.send(result.is_ok()).unwrap()));
    let third = asked(&wal, append(&wal, 3));
    gate.wait();
    assert_eq!(wait.recv(), Ok(true));
    let told = third.recv().unwrap();
    assert!(told.0 != here && told.1.is_ok());
    assert!(seqs(&fs.crash(), &dir().join(FIRST)).starts_with(&[1, 2]));
}

#[test]
fn nobody_leads_while_the_disk_is_behind() {
    let here = thread::current().id();
    let fs = MemFs::new();
    fs.set_behind(true);
    let wal = log(&fs, no_hsync());
    // The thread has looked at the disk by the time that it has written once.
    wal.sync(append(&wal, 1)).unwrap();
    for seq in 2..10 {
        let told = asked(&wal, append(&wal, seq)).recv().unwrap();
        assert!(told.0 != here && told.1.is_ok());
    }
}

#[test]
fn threads_that_lead_and_roll_lose_nothing_and_all_are_told() {
    let fs = MemFs::new();
    let wal = log(&fs, WalOptions { roll_size_bytes: 5_000, max_pending_bytes: 2_000, ..no_hsync() });
    let told = Arc::new(AtomicU64::new(0));
    thread::scope(|scope| {
        for at in 0..4u64 {
            let (wal, told) = (&wal, &told);
            scope.spawn(move || {
                for n in 1..=500 {
                    let ticket = append(wal, at * 1000 + n);
                    let told = Arc::clone(told);
                    let count = move |result: Result<(), WalError>| {
                        result.unwrap();
                        told.fetch_add(1, Ordering::Relaxed);
                    };
                    wal.on_synced_here(ticket, Box::new(count));
                }
            });
        }
    });
    wal.close().unwrap();
    assert_eq!(told.load(Ordering::Relaxed), 2000);
    assert!(wal.stats().rolls >= 3, "{} rolls", wal.stats().rolls);
    let all: Vec<u64> = names(&fs, &dir()).iter().flat_map(|name| seqs(&fs, &dir().join(name))).collect();
    for at in 0..4 {
        let own: Vec<u64> = all.iter().copied().filter(|seq| seq / 1000 == at).collect();
        assert_eq!(own, (1..=500).map(|n| at * 1000 + n).collect::<Vec<_>>(), "in its order");
    }
}

#[test]
fn a_write_that_fails_ends_the_log_for_all() {
    let fs = MemFs::new();
    let wal = log(&fs, no_hsync());
    let first = append(&wal, 1);
    assert!(asked(&wal, first).try_recv().unwrap().1.is_ok());
    fs.inject(Fault::Once { op: Op::Write, nth: 1 });
    let poisoned = |result: Result<(), WalError>| match result {
        Err(WalError::Poisoned(what)) => assert!(what.contains("injected failure"), "{what}"),
        other => panic!("{other:?}"),
    };
    poisoned(asked(&wal, append(&wal, 2)).try_recv().unwrap().1);
    poisoned(wal.append(&edit(&R1, 3)).map(drop));
    assert!(asked(&wal, first).try_recv().unwrap().1.is_ok(), "it was written before");
    poisoned(wal.close());
    assert_eq!(seqs(&fs, &dir().join(FIRST)), [1]);
}

#[test]
fn a_callback_that_panics_ends_the_log() {
    let fs = MemFs::new();
    let wal = log(&fs, no_hsync());
    wal.on_synced_here(append(&wal, 1), Box::new(|_| panic!("a bug in a callback, made for this test")));
    assert!(matches!(wal.append(&edit(&R1, 2)), Err(WalError::Poisoned(_))));
    assert!(matches!(wal.close(), Err(WalError::Poisoned(_))));
}

#[test]
fn the_last_owner_may_be_a_callback_on_its_own_thread() {
    let fs = MemFs::new();
    let wal = log(&fs, no_hsync());
    let ticket = append(&wal, 1);
    let owner = Arc::clone(&wal);
    wal.on_synced_here(ticket, Box::new(move |_| drop(owner)));
    drop(wal);
    assert_eq!(fs.list(&dir()).unwrap().len(), 1);
    assert_eq!(seqs(&fs.crash(), &dir().join(FIRST)), [1]);
}
