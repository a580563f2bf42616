//! What a server refuses or holds back: huge frames, full queues, readers that do not read, too many connections.

mod echo;

use std::time::Duration;

use echo::{Running, options};
use martite_rpc::ServerOptions;
use martite_rpc::client::{CallOptions, Client, ClientError, request_frame};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn frame(id: u32, method: &str, message: &[u8]) -> Vec<u8> {
    request_frame(id, method, message, b"", CallOptions::default())
}

#[tokio::test]
async fn a_huge_frame_is_refused_with_its_call_id_before_it_is_read() {
    let running = Running::with(ServerOptions { max_request_bytes: 1 << 20, ..Default::default() });
    for (version, class) in [
        (Some("2.6.4"), "org.apache.hadoop.hbase.exceptions.RequestTooBigException"),
        (Some("1.2.0"), "org.apache.hadoop.hbase.DoNotRetryIOException"),
        (None, "org.apache.hadoop.hbase.DoNotRetryIOException"),
    ] {
        let mut header = options();
        header.version = version.map(str::to_owned);
        let mut raw = running.raw().await;
        raw.send(&header.opening()).await;
        let huge = frame(77, "Echo", &vec![0; 2 << 20]);
        raw.send(&huge[..30]).await;
        let refused = raw.frame().await;
        assert_eq!((refused.header.call_id, refused.class()), (Some(77), class));
        assert!(refused.text().contains("is greater than max allowed 1048576"), "{}", refused.text());
        // The client may finish writing; then it sees the end.
        let _ = raw.0.write_all(&huge[30..]).await;
        assert!(raw.is_closed().await);
    }
    let mut raw = running.opened().await;
    raw.send(&frame(1, "Echo", &vec![0; 1 << 19])).await;
    assert_eq!(raw.frame().await.header.call_id, Some(1));
}

#[tokio::test]
async fn an_announced_length_is_not_believed() {
    let running = Running::start();
    let mut raws = Vec::new();
    // 100 x 250 MiB announced, a few bytes sent: the server must not have allocated 25 GB to go on.
    for _ in 0..100 {
        let mut raw = running.opened().await;
        raw.send(&[&(250u32 << 20).to_be_bytes()[..], &[0; 20_000]].concat()).await;
        raws.push(raw);
    }
    let client = running.client().await;
    client.call_with("Echo", b"", b"", CallOptions::default()).await.unwrap();
    running.until(|c| c.received_bytes > 100 * 20_000).await;
    // Address space, because memory that is allocated and not touched is not resident.
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmPeak:")).unwrap();
    let peak_kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kb < 16 << 20, "{peak_kb} kB at the peak");
}

#[tokio::test]
async fn queues_that_are_full_refuse_calls() {
    let running = Running::with(ServerOptions { max_queued_calls: 3, ..Default::default() });
    let (mut one, mut two) = (running.opened().await, running.opened().await);
    one.send(&[frame(1, "Park", b""), frame(2, "Park", b"")].concat()).await;
    running.until(|c| c.queued_calls == 2).await;
    two.send(&[frame(3, "Park", b""), frame(4, "Park", b"")].concat()).await;
    let refused = two.frame().await;
    assert_eq!(refused.header.call_id, Some(4));
    assert_eq!(refused.class(), "org.apache.hadoop.hbase.CallQueueTooBigException");
    let exception = refused.header.exception.as_ref().unwrap();
    assert!(exception.server_overloaded() && !exception.do_not_retry());

    let running = Running::with(ServerOptions { max_queued_bytes: 100_000, ..Default::default() });
    let mut raw = running.opened().await;
    raw.send(&[frame(1, "Park", &[0; 60_000]), frame(2, "Park", &[0; 60_000]), frame(3, "Echo", b"")].concat()).await;
    let refused = raw.frame().await;
    assert_eq!(refused.header.call_id, Some(2));
    assert!(refused.text().contains("hbase.ipc.server.max.callqueue.size"), "{}", refused.text());
    assert_eq!(raw.frame().await.header.call_id, Some(3));
}

/// Asks for `calls` answers of `ANSWER` bytes without reading them, checks that the server holds few of them, then
/// reads all.
#[allow(clippy::unwrap_used, reason = "a test fails by it")]
async fn does_not_hold_answers(method: &'static str, calls: u32, answers_made_at_once: usize) -> u64 {
    const ANSWER: usize = 100_000;
    let max_output_bytes = 1 << 20;
    let running = Running::with(ServerOptions { max_output_bytes, ..Default::default() });
    let (mut reader, mut writer) = running.opened().await.0.into_split();
    let sender = tokio::spawn(async move {
        for id in 0..calls {
            writer.write_all(&frame(id, method, ANSWER.to_string().as_bytes())).await.unwrap();
        }
        writer
    });
    running.until(|c| c.output_bytes >= max_output_bytes as u64).await;
    let other = running.client().await;
    for _ in 0..1000 {
        other.call_with("Echo", b"others go on", b"", CallOptions::default()).await.unwrap();
        let held = running.server.counters().output_bytes;
        assert!(held <= (max_output_bytes + answers_made_at_once * (ANSWER + 100)) as u64, "{held}");
    }
    let handed_out = running.server.counters().calls;
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..calls {
        let len = reader.read_u32().await.unwrap() as usize;
        let mut answer = vec![0; len];
        reader.read_exact(&mut answer).await.unwrap();
        let (id, answer) = martite_rpc::client::decode_answer(answer.into(), None);
        assert_eq!(answer.unwrap().cells.len(), ANSWER);
        seen.insert(id);
    }
    assert_eq!(seen.len(), calls as usize);
    sender.await.unwrap();
    running.until(|c| c.output_bytes == 0 && c.queued_calls == 0).await;
    handed_out
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_from() {
    // All of 300 MB has been asked for, or the requests wait in the sockets.
    let handed_out = does_not_hold_answers("Big", 3000, 1).await;
    assert!(handed_out < 3000, "it stopped reading");
}

#[tokio::test]
async fn the_pool_makes_no_answers_for_a_client_that_does_not_read() {
    does_not_hold_answers("BigInPool", 900, 4).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_kernel_holds_little_for_a_client_that_does_not_read() {
    const ANSWER: u64 = 8 << 20;
    let running = Running::start();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut raw = echo::Raw(socket.connect(running.addr()).await.unwrap());
    raw.send(&options().opening()).await;
    raw.send(&frame(1, "Big", ANSWER.to_string().as_bytes())).await;
    running.until(|c| c.sent_bytes > 0 && c.output_bytes > 0).await;
    let other = running.client().await;
    for _ in 0..1000 {
        other.call_with("Echo", b"", b"", CallOptions::default()).await.unwrap();
        let counters = running.server.counters();
        assert!(counters.sent_bytes < 1 << 20 && counters.output_bytes > ANSWER - (1 << 20), "{counters:?}");
    }
    assert!(raw.frame().await.body.len() as u64 > ANSWER);
}

#[tokio::test]
async fn work_held_for_a_client_ends_with_it() {
    let running = Running::with(ServerOptions { max_output_bytes: 1 << 20, ..Default::default() });
    let mut raw = running.opened().await;
    raw.send(&(0..500).flat_map(|id| frame(id, "BigInPool", b"100000")).collect::<Vec<_>>()).await;
    running.until(|c| c.output_bytes >= 1 << 20).await;
    drop(raw);
    running.until(|c| c.connections_open == 0 && c.queued_calls == 0).await;
}

#[tokio::test]
async fn two_thousand_connections_are_served() {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find_map(|l| l.strip_prefix("Max open files")).unwrap();
    let files: usize = files.split_whitespace().next().unwrap().parse().unwrap();
    // Both ends are in this process.
    let count = 2000.min((files - 100) / 2);
    let running = Running::start();
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(running.client().await);
    }
    for round in 0..3u8 {
        for (i, client) in clients.iter().enumerate() {
            let message = [round, i as u8];
            let answer = client.call_with("Echo", &message, b"", CallOptions::default()).await.unwrap();
            assert_eq!(answer.message, message[..]);
        }
    }
    let counters = running.server.counters();
    assert_eq!((counters.connections_open, counters.calls), (count as u64, 3 * count as u64));
    drop(clients);
    running.until(|c| c.connections_open == 0).await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed() {
    let running = Running::with(ServerOptions { max_connections: 2, ..Default::default() });
    let (_one, _two) = (running.opened().await, running.opened().await);
    running.until(|c| c.connections_open == 2).await;
    assert!(running.raw().await.is_closed().await);
    assert_eq!(running.server.counters().connections_refused, 1);
}

#[tokio::test]
async fn shutdown_answers_what_is_under_way() {
    let mut running = Running::start();
    let client = running.client().await;
    let server = running.server.clone();
    let mut answered = std::pin::pin!(client.call_with("Park", b"last", b"", CallOptions::default()));
    let call = tokio::select! {
        call = running.parked.recv() => call.unwrap(),
        _ = &mut answered => panic!("parked"),
    };
    let idle = running.client().await;
    idle.call_with("Echo", b"", b"", CallOptions::default()).await.unwrap();
    let stopping = tokio::spawn(async move { server.shutdown().await });
    running.until(|c| c.connections_open == 1).await;
    assert!(!stopping.is_finished());
    call.responder.ok_encoded(call.param.to_vec(), Vec::new());
    assert_eq!(answered.await.unwrap().message, b"last"[..]);
    stopping.await.unwrap();
    assert_eq!(running.server.counters().connections_open, 0);
    assert!(matches!(Client::connect(running.addr(), &options()).await, Err(ClientError::Io(_))));
}

#[tokio::test]
async fn shutdown_does_not_wait_for_ever() {
    let shutdown_grace = Duration::from_millis(20);
    let mut running = Running::with(ServerOptions { shutdown_grace, ..Default::default() });
    let mut raw = running.opened().await;
    raw.send(&frame(1, "Park", b"")).await;
    let call = running.parked.recv().await.unwrap();
    running.server.shutdown().await;
    assert!(call.conn.is_closed() && raw.is_closed().await);
    assert_eq!(running.server.counters().connections_open, 0);
}

#[tokio::test]
async fn a_discarded_call_lets_shutdown_end() {
    let mut running = Running::start();
    let mut raw = running.opened().await;
    raw.send(&frame(1, "Park", b"")).await;
    let call = running.parked.recv().await.unwrap();
    let server = running.server.clone();
    let stopping = tokio::spawn(async move { server.shutdown().await });
    call.responder.discard();
    stopping.await.unwrap();
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn a_dropped_server_closes_everything() {
    let running = Running::start();
    let mut raw = running.opened().await;
    raw.send(&frame(1, "Echo", b"")).await;
    raw.frame().await;
    let addr = running.addr();
    drop(running);
    assert!(raw.is_closed().await);
    // The port has a thread of its own.
    while tokio::net::TcpStream::connect(addr).await.is_ok() {}
}
