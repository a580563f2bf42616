//! Connections that have news at the same time: they are read and answered together, each by itself.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod echo;

use echo::{Frame, Raw, Running};
use martite_rpc::ServerOptions;
use martite_rpc::client::{CallOptions, request_frame};
use tokio::io::AsyncReadExt;

/// More than a thread takes at once.
const MANY: usize = 40;

fn frame(id: u32, message: &[u8]) -> Vec<u8> {
    request_frame(id, "Echo", message, b"", CallOptions::default())
}

/// A message of which the first bytes tell whose it is.
fn message(of: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| if i % 8 == 0 { of as u8 } else { i as u8 }).collect()
}

fn echoed(frame: &Frame) -> &[u8] {
    martite_rpc::format::varint(&frame.body).unwrap().1
}

/// Keeps the only network thread busy until the server's `release`.
async fn hold(running: &Running) -> Raw {
    let mut holder = running.opened().await;
    // So that its connection is known to the thread.
    holder.send(&frame(0, b"")).await;
    holder.frame().await;
    holder.send(&request_frame(1, "Hold", b"", b"", CallOptions::default())).await;
    running.until(|counters| counters.queued_calls == 1).await;
    holder
}

async fn opened(running: &Running, count: usize) -> Vec<Raw> {
    let mut all = Vec::new();
    for _ in 0..count {
        let mut raw = running.opened().await;
        raw.send(&frame(0, b"")).await;
        raw.frame().await;
        all.push(raw);
    }
    all
}

#[tokio::test]
async fn each_gets_its_own_answers_whatever_the_size_of_what_it_sent() {
    let running = Running::on(1, ServerOptions::default());
    let mut all = opened(&running, MANY).await;
    let mut holder = hold(&running).await;
    // Around what is read at once for one of many (4 KiB), and around a large frame (16 KiB), two calls each.
    let lens = [0, 100, 4090, 4096, 5000, 16 << 10, 20_000, 100_000];
    let len = |of: usize| lens[of % lens.len()];
    for (of, raw) in all.iter_mut().enumerate() {
        let calls = [frame(1, &message(of, len(of))), frame(2, &message(of, len(of + 1)))].concat();
        raw.send(&calls).await;
    }
    running.release.send(()).unwrap();
    holder.frame().await;
    for (of, raw) in all.iter_mut().enumerate() {
        for id in 1..=2 {
            let frame = raw.frame().await;
            assert_eq!(frame.header.call_id, Some(id));
            let wanted = message(of, len(of + id as usize - 1));
            assert!(echoed(&frame) == wanted, "connection {of}, call {id}");
        }
    }
}

#[tokio::test]
async fn the_next_piece_of_a_large_answer_waits_for_the_calls_of_others() {
    const LARGE: usize = 64 << 20;
    let running = Running::on(1, ServerOptions::default());
    let mut all = opened(&running, 2).await;
    let (mut other, mut reader) = (all.remove(1), all.remove(0));
    reader.send(&request_frame(1, "Big", LARGE.to_string().as_bytes(), b"", CallOptions::default())).await;
    let len = reader.0.read_u32().await.unwrap() as u64;
    let mut left_before = len;
    let mut waited = 0;
    for _ in 0..5 {
        let left = || running.server.counters().output_bytes;
        // As long as its socket takes more, some of it leaves with each turn.
        loop {
            let before = left();
            other.send(&frame(1, b"")).await;
            other.frame().await;
            if left() == before {
                break;
            }
        }
        let mut holder = hold(&running).await;
        let left = left();
        assert!((1..left_before).contains(&left), "{left} of {left_before}");
        // The socket takes more from now on.
        reader.read((left_before - left) as usize).await;
        left_before = left;
        other.send(&request_frame(2, "Hold", b"", b"", CallOptions::default())).await;
        let calls = running.server.counters().calls;
        running.release.send(()).unwrap();
        holder.frame().await;
        running.until(|counters| counters.calls > calls).await;
        waited += u32::from(running.server.counters().output_bytes == left);
        running.release.send(()).unwrap();
        other.frame().await;
    }
    // What is sent arrives at once, but for a loaded system.
    assert!(waited >= 3, "a piece came first, {waited} of 5 times not");
}

#[tokio::test]
async fn what_one_does_wrong_costs_the_others_nothing() {
    let running = Running::on(1, ServerOptions::default());
    let mut all = opened(&running, MANY).await;
    let mut holder = hold(&running).await;
    for (of, raw) in all.iter_mut().enumerate() {
        let whole = frame(1, &message(of, 300));
        match of % 5 {
            // The rest comes later.
            0 => raw.send(&whole[..100]).await,
            // The header is longer than its frame.
            1 => raw.send(&[0, 0, 0, 2, 5, 0]).await,
            _ => raw.send(&whole).await,
        }
    }
    // With a reset, before anything is read.
    let gone: Vec<Raw> = (0..MANY).rev().filter(|of| of % 5 == 2).map(|of| all.remove(of)).collect();
    for raw in gone {
        raw.0.set_zero_linger().unwrap();
    }
    running.release.send(()).unwrap();
    holder.frame().await;
    let left = (0..MANY).filter(|of| of % 5 != 2);
    for (of, raw) in left.zip(&mut all) {
        if of % 5 == 1 {
            assert!(raw.is_closed().await, "connection {of}");
            continue;
        }
        if of % 5 == 0 {
            raw.send(&frame(1, &message(of, 300))[100..]).await;
        }
        assert!(echoed(&raw.frame().await) == message(of, 300), "connection {of}");
    }
    running.until(|counters| counters.connections_open == 1 + 3 * MANY as u64 / 5).await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_holds_up_nobody() {
    let running = Running::on(1, ServerOptions::default());
    let mut all = opened(&running, 4).await;
    let mut deaf = all.pop().unwrap();
    // Small answers, more than its socket takes; the rest waits in the server.
    let calls: Vec<u8> = (0..6000).flat_map(|id| frame(id, &[7; 1000])).collect();
    let reader = tokio::spawn(async move {
        deaf.send(&calls).await;
        deaf
    });
    running.until(|counters| counters.output_bytes > 0).await;
    for round in 1..50 {
        for raw in &mut all {
            raw.send(&frame(round, &message(9, 500))).await;
        }
        for raw in &mut all {
            assert!(echoed(&raw.frame().await) == message(9, 500));
        }
    }
    // What it did not take was kept, in order.
    let mut deaf = reader.await.unwrap();
    for id in 0..6000 {
        assert_eq!(deaf.frame().await.header.call_id, Some(id));
    }
}
