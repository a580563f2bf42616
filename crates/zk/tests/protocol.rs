//! The wire, byte by byte, as HBase's clients and gohbase speak it.
#![allow(clippy::unwrap_used)]

use martite_env::{ManualClock, SeededRandom};
use martite_zk::{Tree, ZkOptions, ZkServer, node_value};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A clock that begins at 1000 ms: the first transaction is `1000 << 16`.
const ZXID: i64 = 1000 << 16;

struct Rig {
    tree: Arc<Tree>,
    clock: Arc<ManualClock>,
    server: ZkServer,
}

async fn rig() -> Rig {
    rig_with(ZkOptions::default()).await
}

async fn rig_with(options: ZkOptions) -> Rig {
    let clock = Arc::new(ManualClock::new(1000));
    let tree = Tree::new(clock.clone());
    tree.set("/hbase/master", "m", true);
    tree.set("/hbase/hbaseid", "id", false);
    let random = Arc::new(SeededRandom::new(1));
    let server = ZkServer::bind_with("127.0.0.1:0".parse().unwrap(), tree.clone(), options, random).await.unwrap();
    Rig { tree, clock, server }
}

struct Client {
    stream: TcpStream,
    session: i64,
    password: Vec<u8>,
    timeout_ms: i32,
}

fn bytes(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn string(s: &str) -> Vec<u8> {
    bytes(&[&(s.len() as i32).to_be_bytes(), s.as_bytes()])
}

impl Rig {
    async fn stream(&self) -> TcpStream {
        TcpStream::connect(self.server.local_addr()).await.unwrap()
    }
    async fn client(&self) -> Client {
        self.resume(0, &[0; 16], 10_000).await
    }
    async fn resume(&self, session: i64, password: &[u8], timeout_ms: i32) -> Client {
        let mut client = Client { stream: self.stream().await, session: 0, password: vec![], timeout_ms: 0 };
        let hello = [&[0; 12][..], &timeout_ms.to_be_bytes(), &session.to_be_bytes()].concat();
        client.send(&bytes(&[&hello, &(password.len() as i32).to_be_bytes(), password, &[0]])).await;
        let reply = client.frame().await;
        assert_eq!((reply.len(), &reply[..4], reply[36]), (37, &[0; 4][..], 0), "protocol 0, not read-only");
        client.timeout_ms = i32::from_be_bytes(reply[4..8].try_into().unwrap());
        client.session = i64::from_be_bytes(reply[8..16].try_into().unwrap());
        assert_eq!(reply[16..20], 16i32.to_be_bytes());
        client.password = reply[20..36].to_vec();
        client
    }
}

impl Client {
    async fn send(&mut self, body: &[u8]) {
        let framed = bytes(&[&(body.len() as i32).to_be_bytes(), body]);
        self.stream.write_all(&framed).await.unwrap();
    }
    async fn request(&mut self, xid: i32, op: i32, body: &[u8]) {
        self.send(&bytes(&[&xid.to_be_bytes(), &op.to_be_bytes(), body])).await;
    }
    async fn frame(&mut self) -> Vec<u8> {
        let mut frame = vec![0; self.stream.read_i32().await.unwrap() as usize];
        self.stream.read_exact(&mut frame).await.unwrap();
        frame
    }
    /// xid, zxid above the tree's first one, error, rest.
    async fn reply(&mut self) -> (i32, i64, i32, Vec<u8>) {
        let frame = self.frame().await;
        let zxid = i64::from_be_bytes(frame[4..12].try_into().unwrap());
        let zxid = if zxid == -1 { -1 } else { zxid - ZXID };
        let (xid, code) = (frame[..4].try_into().unwrap(), frame[12..16].try_into().unwrap());
        (i32::from_be_bytes(xid), zxid, i32::from_be_bytes(code), frame[16..].to_vec())
    }
    async fn call(&mut self, xid: i32, op: i32, body: &[u8]) -> (i32, Vec<u8>) {
        self.request(xid, op, body).await;
        let (got, _, code, rest) = self.reply().await;
        assert_eq!(got, xid);
        (code, rest)
    }
    async fn is_closed(&mut self) -> bool {
        match self.stream.read(&mut [0]).await {
            Ok(n) => n == 0,
            Err(e) => e.kind() == ErrorKind::ConnectionReset,
        }
    }
}

fn watched(path: &str) -> Vec<u8> {
    bytes(&[&string(path), &[1]])
}

fn unwatched(path: &str) -> Vec<u8> {
    bytes(&[&string(path), &[0]])
}

fn event(kind: i32, path: &str) -> (i32, i64, i32, Vec<u8>) {
    (-1, -1, 0, bytes(&[&kind.to_be_bytes(), &3i32.to_be_bytes(), &string(path)]))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[tokio::test]
async fn the_handshake_of_java_and_of_go() {
    let rig = rig().await;
    let mut java = rig.client().await;
    assert!(java.session > 0 && java.password != [0; 16] && java.timeout_ms == 10_000);
    // Go leaves the last byte out, and wants none back.
    let mut go = Client { stream: rig.stream().await, session: 0, password: vec![], timeout_ms: 0 };
    go.send(&bytes(&[&[0; 12], &500i32.to_be_bytes(), &[0; 8], &16i32.to_be_bytes(), &[0; 16]])).await;
    let reply = go.frame().await;
    assert_eq!((reply.len(), &reply[4..8]), (36, &4000i32.to_be_bytes()[..]));
    assert_eq!(java.call(1, 4, &unwatched("/hbase/hbaseid")).await.0, 0);
}

#[tokio::test]
async fn reads_are_answered_byte_for_byte() {
    let rig = rig().await;
    let mut client = rig.client().await;
    client.request(7, 4, &unwatched("/hbase/master")).await;
    let (xid, zxid, code, rest) = client.reply().await;
    assert_eq!((xid, zxid, code), (7, 4, 0));
    let stat = format!(
        "{:016x}{:016x}{:016x}{:016x}{:08x}{:08x}{:08x}{:016x}{:08x}{:08x}{:016x}",
        ZXID + 3,
        ZXID + 3,
        1000,
        1000,
        0,
        0,
        0,
        1,
        1,
        0,
        ZXID + 3
    );
    assert_eq!(hex(&rest), format!("00000001{}{stat}", hex(b"m")));
    assert_eq!(client.call(8, 3, &unwatched("/hbase/master")).await, (0, rest[5..].to_vec()));
    assert_eq!(client.call(9, 3, &unwatched("/hbase/none")).await, (-101, vec![]));
    assert_eq!(client.call(10, 4, &unwatched("/none")).await, (-101, vec![]));
    let names = bytes(&[&2i32.to_be_bytes(), &string("hbaseid"), &string("master")]);
    assert_eq!(client.call(11, 8, &unwatched("/hbase")).await, (0, names.clone()));
    let (code, rest) = client.call(12, 12, &unwatched("/hbase")).await;
    assert_eq!((code, rest.len(), &rest[..names.len()]), (0, names.len() + 68, &names[..]));
    let (code, rest) = client.call(13, 6, &string("/hbase")).await;
    let acl = bytes(&[&1i32.to_be_bytes(), &1i32.to_be_bytes(), &string("world"), &string("anyone")]);
    assert_eq!((code, rest.len(), &rest[..acl.len()]), (0, acl.len() + 68, &acl[..]));
    assert_eq!(client.call(14, 9, &string("/hbase")).await, (0, string("/hbase")));
    assert_eq!(client.call(15, 104, &string("/")).await, (0, 4i32.to_be_bytes().to_vec()));
    assert_eq!(client.call(-2, 11, &[]).await, (0, vec![]));
    assert_eq!(client.call(-4, 100, &bytes(&[&[0; 4], &string("digest"), &string("u:p")])).await, (0, vec![]));
}

#[tokio::test]
async fn what_is_not_served_is_refused_with_zookeepers_codes() {
    let rig = rig().await;
    let mut client = rig.client().await;
    for op in [1, 2, 5, 7, 13, 14, 15, 16, 19, 20, 21] {
        assert_eq!(client.call(op, op, &string("/hbase/x")).await, (-119, vec![]), "op {op}: not read-only");
    }
    for op in [17, 18, 103, 106, 999] {
        assert_eq!(client.call(op, op, &string("/hbase")).await, (-6, vec![]), "op {op}: unimplemented");
    }
    for path in ["", "hbase", "/hbase/", "//hbase", "/hbase/../hbase"] {
        assert_eq!(client.call(1, 3, &unwatched(path)).await, (-8, vec![]), "{path}: bad arguments");
    }
    assert_eq!(rig.tree.children("/hbase").unwrap(), ["hbaseid", "master"]);
    assert_eq!(client.call(1, 4, &[0, 0, 0, 9, b'/']).await, (-5, vec![]), "cut off");
    assert!(client.is_closed().await);
    let mut client = rig.client().await;
    assert_eq!(client.call(1, 102, &string("token")).await, (-115, vec![]));
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn replies_come_in_the_order_of_requests() {
    let rig = rig().await;
    let mut client = rig.client().await;
    let mut all = Vec::new();
    for xid in 1..=5000i32 {
        let body = bytes(&[&xid.to_be_bytes(), &4i32.to_be_bytes(), &unwatched("/hbase/hbaseid")]);
        all.extend(bytes(&[&(body.len() as i32).to_be_bytes(), &body]));
    }
    let (mut read, mut write) = client.stream.into_split();
    let writer = tokio::spawn(async move {
        write.write_all(&all).await.unwrap();
        write
    });
    for xid in 1..=5000 {
        let mut frame = vec![0; read.read_i32().await.unwrap() as usize];
        read.read_exact(&mut frame).await.unwrap();
        assert_eq!(frame[..4], i32::to_be_bytes(xid));
    }
    client.stream = writer.await.unwrap().reunite(read).unwrap();
    assert_eq!(client.call(-2, 11, &[]).await, (0, vec![]));
}

#[tokio::test]
async fn watches_fire_once_and_before_replies_that_show_the_change() {
    let rig = rig().await;
    let mut client = rig.client().await;
    client.call(1, 4, &watched("/hbase/master")).await;
    client.call(2, 3, &watched("/hbase/running")).await;
    client.call(3, 8, &watched("/hbase")).await;
    rig.tree.set("/hbase/master", "n", true);
    assert_eq!(client.reply().await, event(3, "/hbase/master"));
    rig.tree.set("/hbase/running", "", false);
    rig.tree.remove("/hbase/running");
    let (code, rest) = client.call_after_events(4, 4, &unwatched("/hbase/master"), 2).await;
    assert_eq!((code, &rest[..5]), (0, &[0, 0, 0, 1, b'n'][..]));
    // Nobody is told twice.
    rig.tree.set("/hbase/master", "o", true);
    assert_eq!(client.call(5, 3, &unwatched("/hbase/running")).await.0, -101);
}

impl Client {
    /// A call whose reply comes after so many events.
    async fn call_after_events(&mut self, xid: i32, op: i32, body: &[u8], events: usize) -> (i32, Vec<u8>) {
        self.request(xid, op, body).await;
        for _ in 0..events {
            assert_eq!(self.reply().await.0, -1);
        }
        let (got, _, code, rest) = self.reply().await;
        assert_eq!(got, xid);
        (code, rest)
    }
}

#[tokio::test]
async fn a_client_that_comes_back_hears_what_it_missed() {
    let rig = rig().await;
    let first = rig.client().await;
    let seen = rig.tree.get("/hbase/hbaseid").unwrap().stat.mzxid;
    let mut client = rig.resume(first.session, &first.password, 10_000).await;
    assert_eq!(client.session, first.session);
    rig.tree.set("/hbase/master", "new", true);
    rig.tree.set("/hbase/rs", "", false);
    let list = |paths: &[&str]| {
        bytes(&[&(paths.len() as i32).to_be_bytes(), &paths.iter().flat_map(|p| string(p)).collect::<Vec<_>>()])
    };
    let data = list(&["/hbase/master", "/hbase/hbaseid", "/hbase/gone"]);
    let body = bytes(&[&seen.to_be_bytes(), &data, &list(&["/hbase/rs", "/hbase/later"]), &list(&["/hbase", "/"])]);
    client.request(-8, 101, &body).await;
    let (mut events, mut acknowledged) = (Vec::new(), false);
    while events.len() < 4 || !acknowledged {
        match client.reply().await {
            (-8, _, 0, rest) if rest.is_empty() => acknowledged = true,
            other => events.push(other),
        }
    }
    let missed = [event(3, "/hbase/master"), event(2, "/hbase/gone"), event(1, "/hbase/rs"), event(4, "/hbase")];
    assert_eq!(events, missed);
    // What had not changed is watched: data of hbaseid, the birth of later, children of the root.
    assert_eq!(rig.tree.watch_count(), 3);
    rig.tree.set("/hbase/later", "", false);
    assert_eq!(client.reply().await, event(1, "/hbase/later"));
    client.request(-8, 105, &bytes(&[&body, &list(&[]), &list(&["/hbase"])])).await;
    assert_eq!(client.reply().await.2, -6, "persistent watches");
}

#[tokio::test]
async fn sessions_end_by_close_by_silence_and_by_expiry() {
    let options = ZkOptions { min_session_timeout: Duration::from_millis(50), ..ZkOptions::default() };
    let rig = rig_with(options).await;
    let mut closing = rig.client().await;
    assert_eq!(closing.call(3, -11, &[]).await, (0, vec![]));
    assert!(closing.is_closed().await);
    let refused = rig.resume(closing.session, &closing.password, 10_000).await;
    assert_eq!((refused.session, refused.timeout_ms, refused.password), (0, 0, vec![0; 16]));
    let mut silent = rig.resume(0, &[0; 16], 50).await;
    assert!(silent.is_closed().await);
    assert_eq!(rig.resume(silent.session, &silent.password, 50).await.session, 0);
    let mut first = rig.client().await;
    let second = rig.resume(first.session, &first.password, 10_000).await;
    assert!(first.is_closed().await, "the session has moved");
    assert_eq!(second.session, first.session);
    let (session, password) = (second.session, second.password.clone());
    drop(second);
    // The server notices the end of the connection at its own pace; the clock stands, so the session lives.
    let third = rig.resume(session, &password, 10_000).await;
    assert_eq!(third.session, session);
    drop(third);
    while rig.resume(session, &[1; 16], 10_000).await.session != 0 {}
    loop {
        rig.clock.advance_ms(10_001);
        let probe = rig.resume(session, &password, 10_000).await;
        if probe.session == 0 {
            break;
        }
    }
}

#[tokio::test]
async fn frames_have_a_limit_and_so_have_connections() {
    let rig = rig_with(ZkOptions { max_connections: 2, max_frame_bytes: 100, ..ZkOptions::default() }).await;
    let mut client = rig.client().await;
    let mut second = rig.stream().await;
    let mut third = rig.stream().await;
    assert_eq!(third.read(&mut [0]).await.unwrap_or(0), 0, "closed at once");
    client.stream.write_all(&101i32.to_be_bytes()).await.unwrap();
    assert!(client.is_closed().await);
    second.write_all(&(-1i32).to_be_bytes()).await.unwrap();
    assert_eq!(second.read(&mut [0]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn four_letter_words_are_answered_in_plain_text() {
    let rig = rig().await;
    let mut answers = Vec::new();
    for word in ["ruok", "stat", "srvr", "mntr", "isro", "cons"] {
        let mut stream = rig.stream().await;
        stream.write_all(word.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        answers.push(text);
    }
    assert_eq!((&answers[0][..], &answers[4][..]), ("imok", "rw"));
    assert!(
        answers[1].starts_with("Zookeeper version: 3.8.4-martite-") && answers[1].contains("\nClients:\n /127.0.0.1:")
    );
    assert!(answers[1].contains("\nMode: standalone\nNode count: 5\n"), "{}", answers[1]);
    assert!(answers[2].contains("\nZxid: 0x3e80004\n"), "{}", answers[2]);
    assert!(answers[3].contains("\nzk_znode_count\t5\n"), "{}", answers[3]);
    assert_eq!(answers[5], "cons is not executed because it is not in the whitelist.\n");
}

#[tokio::test]
async fn hundreds_of_sessions_watch_one_node() {
    let rig = rig().await;
    let mut clients = Vec::new();
    for _ in 0..300 {
        let mut client = rig.client().await;
        assert_eq!(client.call(1, 4, &watched("/hbase/master")).await.0, 0);
        clients.push(client);
    }
    assert_eq!(rig.tree.watch_count(), 300);
    rig.tree.set("/hbase/master", "other", true);
    for client in &mut clients {
        assert_eq!(client.reply().await, event(3, "/hbase/master"));
    }
    drop(clients);
    let mut probe = rig.client().await;
    while rig.tree.watch_count() > 0 {
        probe.call(-2, 11, &[]).await;
    }
}

#[tokio::test]
async fn a_stopped_server_closes_its_connections() {
    let rig = rig().await;
    let mut client = rig.client().await;
    rig.server.shutdown();
    assert!(client.is_closed().await);
    while let Ok(mut stream) = TcpStream::connect(rig.server.local_addr()).await {
        assert_eq!(stream.read(&mut [0]).await.unwrap_or(0), 0);
    }
}

#[test]
fn a_node_value_has_the_frame_that_gohbase_wants() {
    let value = node_value("master:16000", b"\x0a\x00");
    assert_eq!(hex(&value), format!("ff00000014{}{}504255460a00", hex(b"master:16000"), "00".repeat(8)));
}
