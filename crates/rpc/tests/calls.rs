//! Calls over one connection: answers in any order, exceptions, malformed frames, compression, disconnects.

mod echo;

use std::time::Duration;

use bytes::Bytes;
use echo::{Running, options};
use martite_proto::{ConnectionHeader, Message, RequestHeader};
use martite_rpc::client::{CallOptions, Client, ClientError, request_frame};
use martite_rpc::{Call, GATHERED, SMALL_CELLS, ServerOptions, others_wait};

fn frame(id: u32, method: &str, message: &[u8]) -> Vec<u8> {
    request_frame(id, method, message, b"", CallOptions::default())
}

/// A frame made by hand.
fn frame_of(header: &RequestHeader, rest: &[u8]) -> Vec<u8> {
    let header = header.encode_length_delimited_to_vec();
    let len = (header.len() + rest.len()) as u32;
    [&len.to_be_bytes()[..], &header, rest].concat()
}

fn echo_header(id: u32) -> RequestHeader {
    RequestHeader {
        call_id: Some(id),
        method_name: Some("Echo".to_owned()),
        request_param: Some(true),
        ..RequestHeader::default()
    }
}

fn remote(error: ClientError) -> (String, String, bool) {
    match error {
        ClientError::Remote { class, text, do_not_retry, .. } => (class, text, do_not_retry),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn message_and_cells_come_back_whole_whatever_their_size() {
    let running = Running::start();
    let client = running.client().await;
    for message_len in [0, 1, 127, 128, 4096, 4097, 70_000, 3 << 20] {
        for cells_len in [0, 1, 300, 20_000, 5 << 20] {
            let (message, cells) = (vec![1; message_len], vec![2; cells_len]);
            let answer = client.call_with("Echo", &message, &cells, CallOptions::default()).await.unwrap();
            assert!(answer.message == message && answer.cells == cells, "{message_len} {cells_len}");
        }
    }
    let counters = running.server.counters();
    assert_eq!((counters.calls, counters.queued_calls, counters.queued_bytes), (40, 0, 0));
    assert!(counters.sent_bytes > 40 << 20 && counters.received_bytes > 40 << 20);
}

#[tokio::test]
async fn an_empty_message_is_written_with_its_length() {
    let running = Running::start();
    let mut raw = running.opened().await;
    raw.send(&frame(300, "Echo", b"")).await;
    // total 5: header of 3 bytes (call_id 300), message of 0 bytes
    assert_eq!(raw.read(9).await, [0, 0, 0, 5, 3, 0x08, 0xac, 0x02, 0]);
}

#[tokio::test]
async fn calls_of_one_write_are_all_answered_in_order() {
    let running = Running::start();
    let mut raw = running.opened().await;
    let many: Vec<u8> = (0..5000u32).flat_map(|i| frame(i, "Echo", &i.to_be_bytes())).collect();
    raw.send(&many).await;
    for i in 0..5000u32 {
        let answer = raw.frame().await;
        assert_eq!(answer.header.call_id, Some(i));
        assert_eq!(answer.body[1..], i.to_be_bytes());
    }
}

/// Sends calls in one write, each a method and a message; their answers, None for an exception.
async fn at_once(raw: &mut echo::Raw, calls: &[(&str, &[u8])]) -> Vec<Option<String>> {
    let frames: Vec<u8> = (0..).zip(calls).flat_map(|(id, (method, message))| frame(id, method, message)).collect();
    raw.send(&frames).await;
    let mut answers = vec![None; calls.len()];
    for _ in calls {
        let answer = raw.frame().await;
        let id = answer.header.call_id.unwrap_or_default() as usize;
        answers[id] =
            answer.header.exception.is_none().then(|| String::from_utf8_lossy(&answer.body[1..]).into_owned());
    }
    answers
}

#[tokio::test]
async fn calls_that_gather_are_taken_together() {
    let running = Running::start();
    let mut raw = running.opened().await;
    // The connection is open, so that what comes next comes with one read.
    let said = |text: &str| Some(text.to_owned());
    assert_eq!(at_once(&mut raw, &[("Gather", b"")]).await, [said("alone")]);

    let (gather, left, other) = (("Gather", &b""[..]), ("Gather", &b"left"[..]), ("Echo", &b"other"[..]));
    let answers = at_once(&mut raw, &[gather; GATHERED + 3]).await;
    assert_eq!(answers[..GATHERED], vec![said("16"); GATHERED]);
    assert_eq!(answers[GATHERED..], vec![said("3"); 3]);

    // Those that stand together, and no others.
    let mixed = [gather, gather, other, gather, other, other, gather, left, gather];
    let answers = at_once(&mut raw, &mixed).await;
    let wanted = ["2", "2", "other", "1", "other", "other", "3", "alone", "3"].map(said);
    assert_eq!(answers, wanted);

    // A panic costs those that it was given, and nobody else.
    let mut calls = vec![gather; GATHERED + 2];
    calls[3].1 = b"panic";
    calls[10].1 = b"left";
    let answers = at_once(&mut raw, &calls).await;
    assert_eq!(answers[..3], vec![said("16"); 3]);
    assert_eq!(answers[3], None);
    assert_eq!(answers[10], said("alone"));
    assert_eq!(answers[GATHERED..], vec![said("2"); 2]);
    let counters = running.server.counters();
    assert_eq!((counters.queued_calls, counters.queued_bytes), (0, 0));
}

#[tokio::test]
async fn parked_calls_are_answered_in_any_order_from_any_thread() {
    let mut running = Running::start();
    let client = std::sync::Arc::new(running.client().await);
    let mut waiting = Vec::new();
    let mut parked: Vec<Call> = Vec::new();
    for i in 0..50u8 {
        let client = client.clone();
        waiting.push(tokio::spawn(async move {
            client.call_with("Park", &[i], b"", CallOptions::default()).await.unwrap().message
        }));
        parked.push(running.parked.recv().await.unwrap());
    }
    assert_eq!(running.server.counters().queued_calls, 50);
    // Others overtake.
    let echoed = client.call_with("Echo", b"first", b"", CallOptions::default()).await.unwrap();
    assert_eq!(echoed.message, b"first"[..]);
    std::thread::spawn(move || {
        for call in parked.into_iter().rev() {
            call.responder.ok_encoded(call.param.to_vec(), Vec::new());
        }
    });
    for (i, waiting) in waiting.into_iter().enumerate() {
        assert_eq!(waiting.await.unwrap(), [i as u8][..]);
    }
    running.until(|c| c.queued_calls == 0 && c.queued_bytes == 0).await;
}

#[tokio::test]
async fn exceptions_carry_class_text_and_flags() {
    let running = Running::start();
    let client = running.client().await;
    let failed = client.call_with("Fail", b"", b"", CallOptions::default()).await.unwrap_err();
    let (class, text, do_not_retry) = remote(failed);
    assert_eq!(class, "org.apache.hadoop.hbase.DoNotRetryIOException");
    assert_eq!(text.lines().next(), Some("org.apache.hadoop.hbase.DoNotRetryIOException: as asked"));
    assert!(text.lines().nth(1).unwrap().starts_with("\tat ") && do_not_retry);

    match client.call_with("Move", b"", b"", CallOptions::default()).await.unwrap_err() {
        ClientError::Remote { moved_to, do_not_retry, .. } => {
            assert_eq!((moved_to, do_not_retry), (Some(("host.example".to_owned(), 16020)), false));
        }
        other => panic!("{other:?}"),
    }
    let unknown = remote(client.call_with("NoSuch", b"", b"", CallOptions::default()).await.unwrap_err());
    assert!(unknown.1.contains("java.lang.UnsupportedOperationException: NoSuch"), "{}", unknown.1);
    let counted = running.server.counters().exceptions;
    assert_eq!(counted.get("org.apache.hadoop.hbase.DoNotRetryIOException"), Some(&2));
}

#[tokio::test]
async fn a_panic_or_a_forgotten_call_is_answered_and_the_connection_goes_on() {
    let running = Running::start();
    let client = running.client().await;
    for method in ["Panic", "Forget"] {
        let (class, text, do_not_retry) =
            remote(client.call_with(method, b"", b"", CallOptions::default()).await.unwrap_err());
        assert_eq!((class.as_str(), do_not_retry), ("java.io.IOException", false), "{text}");
    }
    client.call_with("Echo", b"", b"", CallOptions::default()).await.unwrap();
    running.until(|c| c.queued_calls == 0).await;
}

#[tokio::test]
async fn a_discarded_call_gets_no_answer() {
    let running = Running::start();
    let mut raw = running.opened().await;
    raw.send(&[frame(1, "Discard", b""), frame(2, "Echo", b"")].concat()).await;
    assert_eq!(raw.frame().await.header.call_id, Some(2));
    running.until(|c| c.queued_calls == 0).await;
}

#[tokio::test]
async fn requests_that_contradict_themselves_fail_alone() {
    let running = Running::start();
    let mut raw = running.opened().await;
    let with_cells = |length| {
        let cell_block_meta = Some(martite_proto::CellBlockMeta { length: Some(length) });
        RequestHeader { cell_block_meta, ..echo_header(7) }
    };
    let no_param = RequestHeader { request_param: None, ..echo_header(7) };
    for (bad, said) in [
        (frame_of(&no_param, b"\x00"), "Invalid request header: "),
        (frame_of(&echo_header(7), b""), "Unable to read call parameter: "),
        (frame_of(&echo_header(7), b"\x05abc"), "Unable to read call parameter: "),
        (frame_of(&echo_header(7), &[0xff; 20]), "Unable to read call parameter: "),
        (frame_of(&with_cells(4), b"\x00abc"), "Unable to read call parameter: "),
        (frame_of(&with_cells(u32::MAX), b"\x00abc"), "Unable to read call parameter: "),
    ] {
        raw.send(&[bad, frame(8, "Echo", b"")].concat()).await;
        let failed = raw.frame().await;
        assert_eq!(failed.header.call_id, Some(7));
        assert_eq!(failed.class(), "org.apache.hadoop.hbase.DoNotRetryIOException");
        assert!(failed.text().contains(said), "{}", failed.text());
        assert_eq!(raw.frame().await.header.call_id, Some(8));
    }
}

#[tokio::test]
async fn cells_without_a_codec_fail() {
    let running = Running::start();
    let mut header = echo::options();
    header.codec = None;
    header.compressor = Some("unknown.but.not.looked.At".to_owned());
    let client = Client::connect(running.addr(), &header).await.unwrap();
    let failed = remote(client.call_with("Echo", b"", b"cell", CallOptions::default()).await.unwrap_err());
    assert!(failed.1.contains("without a cell codec"), "{}", failed.1);
    client.call_with("Echo", b"", b"", CallOptions::default()).await.unwrap();
}

#[tokio::test]
async fn frames_without_a_readable_header_close_the_connection() {
    let running = Running::start();
    for bad in [&b"\x00\x00\x00\x00"[..], b"\x00\x00\x00\x02\x09\x08", b"\x00\x00\x00\x03\x02\x1a\x07"] {
        let mut raw = running.opened().await;
        raw.send(bad).await;
        assert!(raw.is_closed().await, "{bad:?}");
    }
}

#[tokio::test]
async fn a_call_knows_its_header() {
    let mut running = Running::start();
    let mut raw = running.opened().await;
    let options = CallOptions {
        priority: Some(200),
        timeout_ms: Some(1),
        attributes: vec![("who".to_owned(), Bytes::from_static(b"me"))],
    };
    let sent = request_frame(5, "Park", b"pp", b"cc", options);
    raw.send(&[sent.clone(), frame(6, "Park", b"")].concat()).await;
    let (call, next) = (running.parked.recv().await.unwrap(), running.parked.recv().await.unwrap());
    assert_eq!((call.id, &*call.method, &*call.param, &*call.cells), (5, "Park", &b"pp"[..], &b"cc"[..]));
    assert_eq!((call.priority, call.timeout_ms, call.size_bytes as usize), (Some(200), 20, sent.len()));
    assert_eq!(call.attributes, [("who".to_owned(), Bytes::from_static(b"me"))]);
    assert_eq!(call.deadline(), Some(call.received + Duration::from_millis(20)));
    assert_eq!((next.priority, next.timeout_ms, next.deadline(), next.expired()), (None, 0, None, false));
    while !call.expired() {
        tokio::task::yield_now().await;
    }
    assert!(call.received.elapsed() >= Duration::from_millis(20) && call.responder.is_connected());
    call.responder.discard();
    next.responder.discard();
}

#[tokio::test]
async fn a_parked_call_notices_that_its_client_is_gone() {
    let mut running = Running::start();
    let mut raw = running.opened().await;
    raw.send(&[frame(1, "Park", b""), frame(2, "Park", b"")].concat()).await;
    let (one, two) = (running.parked.recv().await.unwrap(), running.parked.recv().await.unwrap());
    assert!(one.responder.is_connected() && !one.expired());
    drop(raw);
    while one.responder.is_connected() {
        tokio::task::yield_now().await;
    }
    assert!(one.expired() && two.conn.is_closed());
    running.until(|c| c.connections_open == 0 && c.queued_calls == 2).await;
    one.responder.ok_encoded(vec![0; 1 << 20], vec![0; 1 << 20]);
    drop(two);
    running.until(|c| c.queued_calls == 0 && c.queued_bytes == 0 && c.output_bytes == 0).await;
}

#[tokio::test]
async fn cell_blocks_are_compressed_both_ways() {
    let running = Running::start();
    for class in ["GzipCodec", "DefaultCodec", "SnappyCodec", "Lz4Codec", "ZStandardCodec"] {
        let mut header = options();
        header.compressor = Some(format!("org.apache.hadoop.io.compress.{class}"));
        let client = Client::connect(running.addr(), &header).await.unwrap();
        let before = running.server.counters();
        let cells = vec![42; 1 << 20];
        let answer = client.call_with("Echo", b"m", &cells, CallOptions::default()).await.unwrap();
        assert!(answer.message == b"m"[..] && answer.cells == cells, "{class}");
        let empty = client.call_with("Echo", b"m", b"", CallOptions::default()).await.unwrap();
        assert!(empty.cells.is_empty());
        let after = running.server.counters();
        assert!(after.received_bytes - before.received_bytes < 100_000, "{class}");
        assert!(after.sent_bytes - before.sent_bytes < 100_000, "{class}");
    }
}

#[tokio::test]
async fn cells_that_are_copied_arrive_as_others_do() {
    let running = Running::start();
    for compressor in [None, Some("org.apache.hadoop.io.compress.GzipCodec".to_owned())] {
        let mut header = options();
        header.compressor = compressor;
        let client = Client::connect(running.addr(), &header).await.unwrap();
        for bytes in [0, 1, SMALL_CELLS, SMALL_CELLS + 1, 1 << 20] {
            let (cells, what) = (vec![42; bytes], format!("{bytes} {:?}", header.compressor));
            let answer = client.call_with("EchoCopied", b"m", &cells, CallOptions::default()).await.unwrap();
            assert!(answer.message == b"m"[..] && answer.cells == cells, "{what}");
        }
    }
}

#[tokio::test]
async fn cell_blocks_that_do_not_decompress_within_the_limit_fail_alone() {
    let limits = martite_rpc::ServerOptions { max_cell_block_bytes: 1 << 20, ..Default::default() };
    let running = Running::with(limits);
    let mut header = options();
    header.compressor = Some("org.apache.hadoop.io.compress.GzipCodec".to_owned());
    let client = Client::connect(running.addr(), &header).await.unwrap();
    let bomb = vec![0; (1 << 20) + 1];
    let failed = remote(client.call_with("Echo", b"", &bomb, CallOptions::default()).await.unwrap_err());
    assert!(failed.1.contains("Unable to decompress the cell block"), "{}", failed.1);
    let answer = client.call_with("Echo", b"", &bomb[1..], CallOptions::default()).await.unwrap();
    assert_eq!(answer.cells.len(), 1 << 20);

    let mut raw = running.raw().await;
    raw.send(&header.opening()).await;
    raw.send(&request_frame(4, "Echo", b"", b"not gzip at all", CallOptions::default())).await;
    assert!(raw.frame().await.text().contains("Unable to decompress the cell block"));
}

#[tokio::test]
async fn a_connection_serves_one_service_with_the_oldest_header() {
    let running = Running::start();
    let header = ConnectionHeader { service_name: Some("ClientService".to_owned()), ..ConnectionHeader::default() };
    let bytes = header.encode_to_vec();
    let mut raw = running.raw().await;
    raw.send(&[b"HBas\x00\x50", &(bytes.len() as u32).to_be_bytes()[..], &bytes].concat()).await;
    raw.send(&frame(1, "Echo", b"x")).await;
    assert_eq!(raw.frame().await.body, b"\x01x"[..]);
}

#[tokio::test]
async fn pool_calls_are_answered_whatever_happens_to_them() {
    use martite_rpc::{Class, Pool, PoolOptions};
    let mut running = Running::start();
    let mut options = PoolOptions::new(2);
    options.classes[Class::Scan as usize].max_queued = 0;
    let pool = Pool::new(options).unwrap();
    let mut raw = running.opened().await;
    let timeout = CallOptions { timeout_ms: Some(20), ..CallOptions::default() };
    raw.send(&(0..4).flat_map(|id| frame(id, "Park", b"")).collect::<Vec<_>>()).await;
    raw.send(&request_frame(4, "Park", b"", b"", timeout)).await;
    let mut next = async || running.parked.recv().await.unwrap();
    let (ok, panics, refused, dropped, late) = (next().await, next().await, next().await, next().await, next().await);
    while !late.expired() {
        tokio::task::yield_now().await;
    }
    pool.spawn_call(Class::Read, late, |_| unreachable!());
    pool.spawn_call(Class::Read, panics, |_call| panic!("as asked"));
    assert_eq!(raw.frame().await.class(), "java.io.IOException");
    pool.spawn_call(Class::Scan, refused, |_| unreachable!());
    assert_eq!(raw.frame().await.class(), "org.apache.hadoop.hbase.CallQueueTooBigException");
    pool.spawn_call(Class::Write, ok, |call| call.responder.ok_encoded(b"done".to_vec(), Vec::new()));
    assert_eq!(raw.frame().await.body, b"\x04done"[..]);
    drop(pool);
    drop(dropped);
    assert_eq!(raw.frame().await.header.call_id, Some(3));
    running.until(|c| c.queued_calls == 0).await;
}

#[tokio::test]
async fn large_answers_of_other_threads_and_small_ones_do_not_mix() {
    const LENS: [usize; 6] = [1, 31 << 10, 33 << 10, 100_000, 1 << 20, 9 << 20];
    let running = Running::start();
    let client = std::sync::Arc::new(running.client().await);
    let mut sent = 0;
    for round in 0..20usize {
        let calls: Vec<_> = (0..12)
            .map(|nth| {
                let (client, len) = (client.clone(), LENS[(nth + round) % LENS.len()] + nth);
                let method = if nth % 3 == 0 { "Echo" } else { "BigInPool" };
                let message = len.to_string().into_bytes();
                tokio::spawn(async move {
                    let answer = client.call_with(method, &message, b"", CallOptions::default()).await.unwrap();
                    match method {
                        "Echo" => assert_eq!((answer.message, answer.cells.len()), (message.into(), 0)),
                        _ => assert!(answer.cells.len() == len && answer.cells.iter().all(|b| *b == 7), "{len}"),
                    }
                    answer.cells.len()
                })
            })
            .collect();
        for call in calls {
            sent += call.await.unwrap();
        }
    }
    // The last answer may be there before the thread that sent it has said so.
    running.until(|c| c.queued_calls == 0).await;
    let counters = running.server.counters();
    assert_eq!(counters.calls, 240);
    assert!((sent..sent + 240 * 100).contains(&(counters.sent_bytes as usize)), "{sent} {}", counters.sent_bytes);
}

#[tokio::test]
async fn a_busy_connection_leaves_its_thread_to_others() {
    // One network thread. Each call takes 100 us of it, so the batch takes a second; another connection is answered
    // while calls of that batch still wait.
    let running = Running::on(1, Default::default());
    let mut busy = running.opened().await;
    let mut other = running.opened().await;
    other.send(&frame(0, "Echo", b"")).await;
    other.frame().await;
    busy.send(&(0..2000).flat_map(|id| frame(id, "Burn", b"")).collect::<Vec<_>>()).await;
    running.until(|c| c.calls > 1).await;
    other.send(&frame(1, "Echo", b"")).await;
    assert_eq!(other.frame().await.header.call_id, Some(1));
    let served = running.server.counters().calls;
    assert!(served < 1000, "{served} calls came first");
    for id in 0..2000 {
        assert_eq!(busy.frame().await.header.call_id, Some(id));
    }
}

#[tokio::test]
async fn work_that_comes_later_runs_on_the_network_thread_and_its_answers_go_out() {
    let mut running = Running::start();
    let client = running.client().await;
    let (client, mut calls) = (std::sync::Arc::new(client), tokio::task::JoinSet::new());
    for i in 0..100u8 {
        let client = client.clone();
        calls.spawn(async move { client.call_with("Park", &[i], b"", CallOptions::default()).await.unwrap().message });
    }
    for _ in 0..100 {
        let call = running.parked.recv().await.unwrap();
        let conn = call.conn.clone();
        // Not from a network thread, while the connection rests or reads.
        let give = move || {
            conn.run_soon(vec![Box::new(move || {
                assert!(std::thread::current().name().is_some_and(|name| name.starts_with("net-")));
                call.responder.ok_encoded(call.param.to_vec(), Vec::new());
            })]);
        };
        std::thread::spawn(give).join().unwrap();
    }
    let mut answers: Vec<u8> = calls.join_all().await.into_iter().flatten().collect();
    answers.sort_unstable();
    assert_eq!(answers, (0..100).collect::<Vec<u8>>());
}

#[tokio::test]
async fn a_connection_of_low_priority_is_read_behind_all_others_until_another_call_comes() {
    let running = Running::on_processors(None);
    let client = running.client().await;
    let ask = async |what: &str| {
        let answer = client.call_with("Where", what.as_bytes(), b"", CallOptions::default()).await.unwrap();
        String::from_utf8(answer.message.to_vec()).unwrap()
    };
    for round in 0..3 {
        let mut asked = 0;
        while ask("low").await != "net-behind" {
            asked += 1;
            assert!(asked < 1000, "round {round}");
        }
        assert!(asked > 10, "round {round}: after {asked}");
        // The thread gets what others leave: on a busy machine each of these takes long.
        for _ in 0..10 {
            assert_eq!(ask("low").await, "net-behind");
        }
        // The call that finds it there, and then it is where it was.
        assert_eq!(ask("").await, "net-behind");
        assert_ne!(ask("").await, "net-behind");
    }
    // Bytes that came while it moved are not lost.
    let mut all = tokio::task::JoinSet::new();
    let client = std::sync::Arc::new(client);
    for i in 0..5000 {
        let (client, low) = (client.clone(), if i % 500 == 499 { "" } else { "low" });
        all.spawn(async move { client.call_with("Where", low.as_bytes(), b"", CallOptions::default()).await.is_ok() });
    }
    assert!(all.join_all().await.into_iter().all(|ok| ok));
    running.until(|c| c.queued_calls == 0).await;
}

#[tokio::test]
async fn what_is_due_goes_on_between_reads_but_not_on_the_thread_that_stands_back() {
    let running = Running::on_processors(None);
    let (behind, other) = (std::sync::Arc::new(running.client().await), running.client().await);
    let ask = async |client: &Client, method: &str, message: &[u8]| {
        let answer = client.call_with(method, message, b"", CallOptions::default()).await.unwrap();
        String::from_utf8(answer.message.to_vec()).unwrap()
    };
    // With nothing else to wake the thread.
    assert!(ask(&other, "Later", b"").await.starts_with("net-"));
    while ask(&behind, "Where", b"low").await != "net-behind" {}
    let later = tokio::spawn(async move { ask(&behind, "Later", b"").await });
    while !later.is_finished() {
        ask(&other, "Echo", b"").await;
    }
    assert_ne!(later.await.unwrap(), "net-behind");
}

#[tokio::test]
async fn network_threads_do_what_is_of_low_priority_while_they_have_nothing_to_do() {
    let mut running = Running::on(1, ServerOptions::default());
    let client = std::sync::Arc::new(running.client().await);
    let ask = |method: &'static str, message: &'static [u8]| {
        let client = client.clone();
        tokio::spawn(async move {
            let answer = client.call_with(method, message, b"", CallOptions::default()).await.unwrap();
            String::from_utf8(answer.message.to_vec()).unwrap()
        })
    };
    // Nobody else is there to do it, and nothing wakes the thread that has just made way for other threads of the machine.
    let hold = ask("HoldBehind", b"");
    running.until(|c| c.queued_calls == 1).await;
    for _ in 0..20 {
        assert!(ask("Aside", b"").await.unwrap().starts_with("net-"));
    }
    // It hears of those who call, and of answers that other threads have made.
    let linger = ask("AsideLinger", b"");
    running.lingers.acquire().await.unwrap().forget();
    ask("Echo", b"").await.unwrap();
    assert!(linger.await.unwrap().starts_with("net-"));
    let park = ask("Park", b"");
    let parked = running.parked.recv().await.unwrap();
    let linger = ask("AsideLinger", b"");
    running.lingers.acquire().await.unwrap().forget();
    parked.responder.ok_encoded(Vec::new(), Vec::new());
    park.await.unwrap();
    assert!(linger.await.unwrap().starts_with("net-"));
    running.release.send(()).unwrap();
    hold.await.unwrap();
    // What may block is left to the thread that stands back, though network threads come by. Either may take it first.
    loop {
        let hold = ask("HoldBehind", b"");
        let on = ask("Aside", b"on");
        for _ in 0..10 {
            ask("Echo", b"").await.unwrap();
        }
        running.release.send(()).unwrap();
        hold.await.unwrap();
        let names = on.await.unwrap();
        assert!(names.ends_with("batch-0 "), "{names}");
        if names.starts_with("net-") {
            return;
        }
    }
}

/// On one processor the network thread is a host, but for while others want the processor: what is asked for comes once they do not.
#[tokio::test]
async fn a_host_reads_what_is_of_low_priority_and_leaves_it_to_others_when_it_has_no_time() {
    let running = Running::on_processors(Some(1));
    let client = std::sync::Arc::new(running.client().await);
    let ask = async |method: &str, message: &[u8]| {
        let answer = client.call_with(method, message, b"", CallOptions::default()).await.unwrap();
        String::from_utf8(answer.message.to_vec()).unwrap()
    };
    // More in a row than lead a connection elsewhere, and again after it was there.
    for _ in 0..2 {
        let mut row = 0;
        while row < 200 {
            row = if ask("Where", b"low").await == "net-0" { row + 1 } else { 0 };
        }
        let mut row = 0;
        while row < 200 {
            row = if ask("Aside", b"").await == "net-0" { row + 1 } else { 0 };
        }
        // Until it has something to do all the time, which comes first.
        let other = running.client().await;
        let busy = tokio::spawn(async move {
            loop {
                let send = |_| other.send("Burn", b"", &[b""], &CallOptions::default(), None).unwrap();
                let burns: Vec<_> = (0..300).map(send).collect();
                for burn in burns {
                    burn.await.unwrap();
                }
            }
        });
        while ask("Aside", b"").await == "net-0" {}
        busy.abort();
        let _ = busy.await;
    }
    // A call of another priority finds the connection there, and is answered.
    ask("Where", b"").await;
    assert_eq!(ask("Where", b"").await, "net-0");
    running.until(|c| c.queued_calls == 0).await;
}

/// It does so with scans, too, but for what may block.
#[tokio::test]
async fn a_host_goes_on_with_scans_that_nobody_else_has_time_for() {
    let running = Running::on_processors(Some(1));
    let client = running.client().await;
    loop {
        let names = client.call_with("AsideScan", b"", b"", CallOptions::default()).await.unwrap().message;
        let names = String::from_utf8(names.to_vec()).unwrap();
        let threads: Vec<&str> = names.split_whitespace().collect();
        assert!(threads.last().unwrap().starts_with("scan-"), "{names}");
        if threads[0] == "net-0" {
            assert_eq!(threads.len(), 2, "{names}");
            return;
        }
    }
}

/// A host writes large answers of low priority in pieces, between which others may come.
#[tokio::test]
async fn a_large_answer_by_a_host_is_whole_whoever_comes_meanwhile() {
    let running = Running::on_processors(Some(1));
    let client = running.client().await;
    let other = running.client().await;
    let busy = tokio::spawn(async move {
        while other.call_with("Echo", b"", b"", CallOptions::default()).await.is_ok() {
            tokio::task::yield_now().await;
        }
    });
    let cells: Vec<u8> = (0..3usize << 20).map(|i| (i * 7 / 3) as u8).collect();
    for len in [33 << 10, 100_000, cells.len()] {
        for method in ["Echo", "AsideEcho"] {
            // Until a host had it before and after.
            let mut hosted = 0;
            while hosted < 20 {
                let before = client.call_with("Where", b"low", b"", CallOptions::default()).await.unwrap();
                let answer = client.call_with(method, b"all", &cells[..len], CallOptions::default()).await.unwrap();
                assert!(answer.message[..] == b"all"[..] && answer.cells[..] == cells[..len], "{method} of {len}");
                let after = client.call_with("Where", b"low", b"", CallOptions::default()).await.unwrap();
                hosted += usize::from(before.message[..] == b"net-0"[..] && after.message[..] == b"net-0"[..]);
            }
        }
    }
    busy.abort();
}

#[tokio::test]
async fn a_call_that_works_on_hears_of_others() {
    let mut running = Running::on(1, ServerOptions::default());
    let one = std::sync::Arc::new(running.client().await);
    let linger = || {
        let one = one.clone();
        tokio::spawn(async move { one.call_with("Linger", b"", b"", CallOptions::default()).await.map(drop) })
    };
    let first = linger();
    running.lingers.acquire().await.unwrap().forget();
    // A connection that opens.
    let other = running.client().await;
    first.await.unwrap().unwrap();
    other.call_with("Echo", b"", b"", CallOptions::default()).await.unwrap();
    // A call of another connection, and an answer that another thread has made.
    let second = linger();
    running.lingers.acquire().await.unwrap().forget();
    let park = other.send("Park", b"", &[b""], &CallOptions::default(), None).unwrap();
    let parked = running.parked.recv().await.unwrap();
    second.await.unwrap().unwrap();
    let third = linger();
    running.lingers.acquire().await.unwrap().forget();
    parked.responder.ok_encoded(Vec::new(), Vec::new());
    park.await.unwrap();
    third.await.unwrap().unwrap();
    // The connection's own calls, before it and after it, and what comes in while it works.
    let mut raw = running.opened().await;
    for calls in [["Linger", "Echo"], ["Echo", "Linger"]] {
        raw.send(&[frame(1, calls[0], b""), frame(2, calls[1], b"")].concat()).await;
        raw.frame().await;
        raw.frame().await;
    }
    raw.send(&frame(1, "Linger", b"")).await;
    raw.send(&frame(2, "Echo", b"")).await;
    raw.frame().await;
    raw.frame().await;
    assert!(!others_wait(), "this is no network thread");
}

#[tokio::test]
async fn work_for_a_connection_that_is_gone_is_dropped() {
    let mut running = Running::start();
    let mut raw = running.opened().await;
    raw.send(&frame(1, "Park", b"")).await;
    let call = running.parked.recv().await.unwrap();
    drop(raw);
    while !call.conn.is_closed() {
        tokio::task::yield_now().await;
    }
    let (conn, alive) = (call.conn.clone(), std::sync::Arc::new(()));
    let held = alive.clone();
    conn.run_soon(vec![Box::new(move || drop((held, call)))]);
    assert_eq!(std::sync::Arc::strong_count(&alive), 1);
}

#[tokio::test]
async fn a_late_answer_goes_to_nobody_else() {
    let mut running = Running::start();
    let client = running.client().await;
    let limit = Some(std::time::Duration::from_millis(300));
    let late = client.send("Park", b"late", &[b""], &CallOptions::default(), limit).unwrap();
    while !late.is_ready() {
        client.call_with("Echo", b"other", b"", CallOptions::default()).await.unwrap();
    }
    assert!(matches!(late.await, Err(ClientError::TimedOut)));
    let parked = running.parked.recv().await.unwrap();
    let param = parked.param.to_vec();
    parked.responder.ok_encoded(param, Vec::new());
    for i in 0..100u8 {
        let echoed = client.call_with("Echo", &[i], b"", CallOptions::default()).await.unwrap();
        assert_eq!(echoed.message, [i][..]);
    }
    // A caller that went away counts as little.
    drop(client.send("Echo", b"nobody", &[b""], &CallOptions::default(), None).unwrap());
    let echoed = client.call_with("Echo", b"somebody", b"", CallOptions::default()).await.unwrap();
    assert_eq!((echoed.message, client.is_closed()), (b"somebody"[..].into(), false));
}

#[tokio::test]
async fn a_connection_on_which_nothing_comes_is_given_up() {
    let mut running = Running::start();
    let client = running.client().await;
    let limit = Some(std::time::Duration::from_millis(20));
    let silent = client.send("Park", b"", &[b""], &CallOptions::default(), limit).unwrap();
    let other = client.send("Park", b"", &[b""], &CallOptions::default(), None).unwrap();
    let _parked = (running.parked.recv().await.unwrap(), running.parked.recv().await.unwrap());
    assert!(matches!(silent.await, Err(ClientError::TimedOut)));
    assert!(matches!(other.await, Err(ClientError::Closed)));
    assert!(client.is_closed());
    let refused = client.call_with("Echo", b"", b"", CallOptions::default()).await;
    assert!(matches!(refused, Err(ClientError::Closed)));
}

#[tokio::test]
async fn a_compressor_that_is_not_known_is_refused() {
    let running = Running::start();
    let mut options = echo::options();
    options.compressor = Some("a.B".to_owned());
    let refused = Client::connect(running.addr(), &options).await.unwrap_err();
    assert_eq!(refused.to_string(), "connection: the compressor a.B is not known");
}
