//! How connections begin: preambles, SASL clients, connection headers.

mod echo;

use std::time::Duration;

use echo::{Raw, Running, options};
use martite_proto::{ConnectionHeader, GetConnectionRegistryResponse, Message, NameBytesPair, VersionInfo};
use martite_rpc::ServerOptions;
use martite_rpc::client::{CallOptions, request_frame};

const MINUS_ONE: Option<u32> = Some(u32::MAX);

fn echo_frame(id: u32) -> Vec<u8> {
    request_frame(id, "Echo", b"hello", b"", CallOptions::default())
}

async fn echoes(raw: &mut Raw, id: u32) {
    raw.send(&echo_frame(id)).await;
    let frame = raw.frame().await;
    assert_eq!((frame.header.call_id, &*frame.body), (Some(id), &b"\x05hello"[..]));
}

#[tokio::test]
async fn the_registry_preamble_tells_the_cluster_id_and_closes() {
    let running = Running::start();
    let mut raw = running.raw().await;
    raw.send(b"Regist").await;
    let frame = raw.frame().await;
    assert_eq!(frame.header.call_id, MINUS_ONE);
    let answer = GetConnectionRegistryResponse::decode_length_delimited(frame.body).unwrap();
    assert_eq!(answer.cluster_id, "5f5d9a44-0001");
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn without_a_cluster_id_the_registry_preamble_is_refused_like_an_old_server_does() {
    let running = Running::of_cluster("", ServerOptions::default());
    let mut raw = running.raw().await;
    raw.send(b"Regist").await;
    let frame = raw.frame().await;
    assert_eq!(frame.class(), "org.apache.hadoop.hbase.ipc.FatalConnectionException");
    let text = format!("Expected HEADER=HBas but received HEADER=Regi from {}", raw.0.local_addr().unwrap());
    assert_eq!(frame.text(), text);
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn the_security_preamble_is_answered_and_the_connection_goes_on() {
    let running = Running::start();
    let mut raw = running.raw().await;
    raw.send(b"Securi").await;
    let frame = raw.frame().await;
    assert_eq!(frame.header.call_id, MINUS_ONE);
    assert_eq!(frame.class(), "org.apache.hadoop.hbase.ipc.SecurityNotEnabledException");
    assert_eq!(frame.text(), "security is not enabled");
    raw.send(&options().opening()).await;
    echoes(&mut raw, 3).await;
}

#[tokio::test]
async fn other_protocols_are_told_and_closed() {
    let running = Running::start();
    for (sent, shown) in [(&b"GET / HTTP/1.1\r\n\r\n"[..], "GET "), (b"\x00\x7f\\\xffxx", r"\x00\x7F\x5C\xFF")] {
        let mut raw = running.raw().await;
        raw.send(sent).await;
        let frame = raw.frame().await;
        assert_eq!(frame.header.call_id, MINUS_ONE);
        assert_eq!(frame.class(), "org.apache.hadoop.hbase.ipc.FatalConnectionException");
        assert!(frame.header.exception.as_ref().unwrap().do_not_retry());
        let expected = format!("Expected HEADER=HBas but received HEADER={shown} from 127.0.0.1:");
        assert!(frame.text().starts_with(&expected), "{}", frame.text());
        assert!(raw.is_closed().await);
    }
}

#[tokio::test]
async fn a_refusal_reaches_a_client_that_keeps_writing() {
    let running = Running::start();
    let mut raw = running.raw().await;
    raw.send(b"WRONG!").await;
    // More than the server reads in one go: closing at once would reset the connection and lose the answer.
    raw.send(&vec![0; 1 << 20]).await;
    assert_eq!(raw.frame().await.class(), "org.apache.hadoop.hbase.ipc.FatalConnectionException");
    assert!(raw.is_closed().await);
}

#[tokio::test]
async fn wrong_versions_and_unknown_authentication_are_told() {
    let running = Running::start();
    for (sent, class, text) in [
        (b"HBas\x01\x50", "WrongVersionException", "serverVersion=0, clientVersion=1, authMethod=80, authName=unknown"),
        (b"HBas\x00\xaa", "BadAuthException", "serverVersion=0, clientVersion=0, authMethod=-86, authName=unknown"),
    ] {
        let mut raw = running.raw().await;
        raw.send(sent).await;
        let frame = raw.frame().await;
        assert_eq!(frame.header.call_id, MINUS_ONE);
        assert_eq!(frame.class(), format!("org.apache.hadoop.hbase.ipc.{class}"));
        assert!(frame.text().starts_with(text), "{}", frame.text());
        assert!(raw.is_closed().await);
    }
}

#[tokio::test]
async fn a_sasl_client_is_sent_on_without_sasl() {
    let running = Running::start();
    for auth in [0x51, 0x52] {
        let mut raw = running.raw().await;
        // A Java client sends its first token with the preamble, before it knows.
        raw.send(&[b"HBas\x00", &[auth][..], &5u32.to_be_bytes(), b"token"].concat()).await;
        assert_eq!(raw.read(8).await, [0, 0, 0, 0, 0xff, 0xff, 0xff, 0xa8]);
        raw.send(&options().opening()[6..]).await;
        echoes(&mut raw, 9).await;
    }
}

#[tokio::test]
async fn bytes_may_come_one_by_one() {
    let running = Running::start();
    let mut raw = running.raw().await;
    raw.0.set_nodelay(true).unwrap();
    for byte in [options().opening(), echo_frame(1), echo_frame(2)].concat() {
        raw.send(&[byte]).await;
        tokio::task::yield_now().await;
    }
    for id in 1..=2 {
        let frame = raw.frame().await;
        assert_eq!((frame.header.call_id, &*frame.body), (Some(id), &b"\x05hello"[..]));
    }
}

#[tokio::test]
async fn headers_that_cannot_be_served_close_without_an_answer() {
    let running = Running::start();
    let codec = "org.apache.hadoop.hbase.codec.MessageCodec";
    let bad = [
        ("UnknownServiceException", ConnectionHeader { service_name: Some("NoService".into()), ..header() }),
        ("EmptyServiceNameException", ConnectionHeader { service_name: None, ..header() }),
        ("UnsupportedCellCodecException", ConnectionHeader { cell_block_codec_class: Some(codec.into()), ..header() }),
        (
            "UnsupportedCompressionCodecException",
            ConnectionHeader { cell_block_compressor_class: Some("a.B".into()), ..header() },
        ),
    ];
    for (class, header) in bad {
        let mut raw = running.raw().await;
        raw.send(&opening(&header)).await;
        assert!(raw.is_closed().await, "{class}");
        let counted = running.server.counters().exceptions;
        assert_eq!(counted.get(&format!("org.apache.hadoop.hbase.ipc.{class}")), Some(&1));
    }
    for garbage in [&b"HBas\x00\x50\x00\x00\x00\x04\xff\xff\xff\xff"[..], b"HBas\x00\x50\xff\xff\xff\xff"] {
        let mut raw = running.raw().await;
        raw.send(garbage).await;
        assert!(raw.is_closed().await);
    }
}

fn header() -> ConnectionHeader {
    ConnectionHeader {
        service_name: Some("ClientService".to_owned()),
        cell_block_codec_class: Some("org.apache.hadoop.hbase.codec.KeyValueCodec".to_owned()),
        ..ConnectionHeader::default()
    }
}

fn opening(header: &ConnectionHeader) -> Vec<u8> {
    [b"HBas\x00\x50", &(header.encoded_len() as u32).to_be_bytes()[..], &header.encode_to_vec()].concat()
}

#[tokio::test]
async fn a_call_knows_what_the_header_said() {
    let mut running = Running::start();
    let version = VersionInfo { version: "2.6.4-SNAPSHOT".to_owned(), ..VersionInfo::default() };
    let header = ConnectionHeader {
        user_info: Some(martite_proto::UserInformation {
            effective_user: "ann".to_owned(),
            real_user: Some("gateway".to_owned()),
        }),
        cell_block_compressor_class: Some(String::new()),
        version_info: Some(version),
        attribute: vec![NameBytesPair { name: "app".to_owned(), value: Some(b"shop"[..].into()) }],
        ..header()
    };
    let mut raw = running.raw().await;
    raw.send(&opening(&header)).await;
    raw.send(&request_frame(1, "Park", b"", b"", CallOptions::default())).await;
    let call = running.parked.recv().await.unwrap();
    assert_eq!((call.conn.service.as_str(), call.conn.user.as_str()), ("ClientService", "ann"));
    assert_eq!(call.conn.real_user.as_deref(), Some("gateway"));
    assert_eq!(call.conn.codec, Some(martite_cell::Codec::KeyValue));
    assert_eq!(call.conn.compressor, None);
    assert_eq!(call.conn.peer, raw.0.local_addr().unwrap());
    assert_eq!(call.conn.attributes, [("app".to_owned(), b"shop"[..].into())]);
    let version = call.conn.version.as_ref().unwrap();
    assert_eq!((version.major, version.minor, version.text.as_str()), (2, 6, "2.6.4-SNAPSHOT"));
    assert!(call.conn.has_version(1, 3) && !call.conn.has_version(2, 7));
    call.responder.discard();
}

#[tokio::test]
async fn who_says_nothing_is_closed() {
    let options = ServerOptions { handshake_timeout: Duration::from_millis(30), ..ServerOptions::default() };
    let running = Running::with(options);
    let (mut silent, mut slow) = (running.raw().await, running.raw().await);
    slow.send(b"HBas\x00\x50\x00\x00").await;
    let mut open = running.opened().await;
    echoes(&mut open, 1).await;
    assert!(silent.is_closed().await && slow.is_closed().await);
    echoes(&mut open, 2).await;
}

#[tokio::test]
async fn a_refused_client_that_stays_is_closed() {
    let running = Running::with(ServerOptions { linger: Duration::from_millis(30), ..ServerOptions::default() });
    let mut raw = running.raw().await;
    raw.send(b"WRONG!").await;
    assert_eq!(raw.frame().await.class(), "org.apache.hadoop.hbase.ipc.FatalConnectionException");
    // It neither reads on nor closes.
    running.until(|c| c.connections_open == 0).await;
    drop(raw);
}
