//! The worked examples of `docs/formats/rpc.md` are what the code writes and reads.

mod echo;

use echo::{Raw, Running};
use martite_cell::{Codec, OwnedCell};
use martite_proto::{GetRequest, GetResponse, Message, ResponseHeader, Result as RowResult};
use martite_rpc::client::{ClientOptions, decode_answer, request_frame};
use martite_rpc::header::{RequestHeader, exception_frame};
use martite_rpc::{Exception, client::CallOptions};

/// The bytes of the page's hex blocks: pairs of hex digits up to the first two spaces after them.
fn blocks() -> Vec<Vec<u8>> {
    let page = include_str!("../../../docs/formats/rpc.md");
    let blocks = page.split("```hex\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let line = |line: &str| -> Vec<u8> {
        let hex = line.trim_start().split("  ").next().unwrap_or_default();
        hex.split(' ').map(|byte| u8::from_str_radix(byte, 16).expect(hex)).collect()
    };
    blocks.map(|block| block.lines().flat_map(line).collect()).collect()
}

#[test]
fn the_page_has_four_examples() {
    assert_eq!(blocks().len(), 4);
}

#[tokio::test]
async fn the_opening_is_what_a_client_writes_and_a_server_takes() {
    let options = ClientOptions { user: "ann".to_owned(), version: None, ..ClientOptions::new("ClientService") };
    assert_eq!(options.opening(), blocks()[0]);
    let running = Running::start();
    let mut raw: Raw = running.raw().await;
    raw.send(&blocks()[0]).await;
    raw.send(&request_frame(7, "Echo", b"", b"", CallOptions::default())).await;
    assert_eq!(raw.frame().await.header.call_id, Some(7));
}

#[test]
fn the_request_is_a_get() {
    let request = &blocks()[1];
    assert_eq!(u32::from_be_bytes([request[0], request[1], request[2], request[3]]) as usize, request.len() - 4);
    let header = RequestHeader::decode(&request[5..20]).unwrap();
    assert_eq!((header.call_id, header.method_name, header.timeout), (Some(7), Some("Get"), Some(60_000)));
    assert_eq!((header.request_param, header.priority), (Some(true), Some(0)));
    let get = GetRequest::decode_length_delimited(&request[20..]).unwrap();
    assert_eq!((&*get.region.value, &*get.get.row), (&b"t,,1"[..], &b"a"[..]));
    let options = CallOptions { priority: Some(0), timeout_ms: Some(60_000), ..CallOptions::default() };
    assert_eq!(&request_frame(7, "Get", &get.encode_to_vec(), b"", options), request);
}

#[test]
fn the_answer_carries_one_cell() {
    let frame = blocks().swap_remove(2);
    assert_eq!(u32::from_be_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize, frame.len() - 4);
    let (id, answer) = decode_answer(frame[4..].to_vec().into(), None);
    let answer = answer.unwrap();
    let result = RowResult { associated_cell_count: Some(1), stale: Some(false), ..RowResult::default() };
    assert_eq!((id, answer.decode::<GetResponse>().unwrap().result), (7, Some(result)));
    let mut cells = Vec::new();
    Codec::KeyValue.append(&mut cells, &OwnedCell::put(b"a", b"f", b"q", 1, b"v").as_ref());
    assert_eq!(answer.cells, cells);
}

#[test]
fn the_exception_is_java_text() {
    let exception = Exception::io("hi");
    let frame = exception_frame(7, &exception, exception.stack_trace());
    assert_eq!(frame, blocks()[3]);
    let header = ResponseHeader::decode_length_delimited(&frame[4..]).unwrap();
    assert_eq!(header.exception.unwrap().stack_trace().lines().next(), Some("java.io.IOException: hi"));
}
