//! RPC: request headers as slices, and whole connections over a loopback socket.
//!
//! Input of `rpc-header`: a `RequestHeader` message. It must be read as prost reads it.
//! Input of `rpc`: `| opening | bytes of the client |`. Opening 0: none; 1 to 6: a sound preamble and connection header
//! come first, with one of the compressors; from 7 on: the bytes are cut into frames whose lengths are true.

use crate::mutate::Form;
use crate::target::{Budget, Target, no_words, words};
use crate::targets::cells::sample_block;
use crate::targets::peer;
use martite_cell::Codec;
use martite_proto as pb;
use martite_rpc::client::{CallOptions, ClientOptions, request_frame};
use martite_rpc::header::RequestHeader;
use martite_rpc::{Call, Exception, Handler, Server, ServerOptions, Shards};
use pb::Message;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub const HEADER: Target = Target {
    name: "rpc-header",
    run: run_header,
    seeds: header_seeds,
    words: no_words,
    form: Form::Proto(0),
    max_len: 4 << 10,
    budget: Budget { fixed_bytes: 16 << 10, per_byte: 256 },
    smoke: 15_000,
};

pub const CONNECTION: Target = Target {
    name: "rpc",
    run: run_connection,
    seeds: connection_seeds,
    words: names,
    form: Form::Binary,
    max_len: 16 << 10,
    // Read buffers, one decompressed cell block for each request, attributes of two bytes each.
    budget: Budget { fixed_bytes: 2 * (MAX_CELL_BLOCK + (4 << 20)), per_byte: 256 },
    smoke: 1_500,
};

const MAX_REQUEST: usize = 64 << 10;
const MAX_CELL_BLOCK: usize = 1 << 20;

fn run_header(input: &[u8]) {
    let ours = RequestHeader::decode(input);
    let theirs = pb::RequestHeader::decode(input);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!((ours.call_id, ours.priority, ours.timeout), (theirs.call_id, theirs.priority, theirs.timeout));
            assert_eq!(ours.method_name, theirs.method_name.as_deref());
            assert_eq!(ours.cell_block_meta, theirs.cell_block_meta.map(|m| m.length));
            assert_eq!((ours.request_param, ours.attributes.len()), (theirs.request_param, theirs.attribute.len()));
        }
        (Err(_), Err(_)) => {}
        // The trace stays undecoded.
        (Ok(ours), Err(e)) => assert!(ours.trace_info.is_some(), "prost refuses what is taken: {e}"),
        (Err(e), Ok(_)) => panic!("prost takes what is refused: {e}"),
    }
}

fn header_seeds() -> Vec<Vec<u8>> {
    let pair = |name: &str, value: &'static str| pb::NameBytesPair { name: name.into(), value: Some(value.into()) };
    let header = pb::RequestHeader {
        call_id: Some(7),
        trace_info: None,
        method_name: Some("Get".into()),
        request_param: Some(true),
        cell_block_meta: Some(pb::CellBlockMeta { length: Some(1000) }),
        priority: Some(100),
        timeout: Some(60_000),
        attribute: vec![pair("a", "b"), pair("", "")],
    };
    let trace = pb::RpctInfo { trace_id: Some(1), parent_id: None, headers: [("k".into(), "v".into())].into() };
    let traced = pb::RequestHeader { trace_info: Some(trace), ..header.clone() };
    vec![header.encode_to_vec(), traced.encode_to_vec()]
}

/// Answers with what it got, so that answers are compressed too.
struct Echo;

impl Handler for Echo {
    fn serves(&self, service: &str) -> bool {
        service == "ClientService"
    }
    fn cluster_id(&self) -> String {
        "cluster".to_owned()
    }
    fn call(&self, call: Call) {
        assert!(call.cells.len() <= MAX_CELL_BLOCK);
        match &*call.method {
            "Get" => call.responder.ok_encoded(call.param.to_vec(), call.cells.to_vec()),
            "Discard" => call.responder.discard(),
            "Drop" => drop(call.responder),
            other => call.responder.fail(Exception::unknown_method(other)),
        }
    }
}

struct Running {
    server: Server,
    _shards: Shards,
}

fn start() -> std::io::Result<Running> {
    let shards = Shards::start(1)?;
    let options = ServerOptions {
        max_request_bytes: MAX_REQUEST,
        max_cell_block_bytes: MAX_CELL_BLOCK,
        handshake_timeout: Duration::from_secs(60),
        ..ServerOptions::default()
    };
    let server = Server::bind(SocketAddr::from(([127, 0, 0, 1], 0)), Arc::new(Echo), options, shards.clone())?;
    Ok(Running { server, _shards: shards })
}

fn run_connection(input: &[u8]) {
    static RUNNING: OnceLock<std::io::Result<Running>> = OnceLock::new();
    let running = RUNNING.get_or_init(start).as_ref().unwrap_or_else(|e| panic!("no server: {e}"));
    let Some((opening, bytes)) = input.split_first() else { return };
    let _ = peer::talk(running.server.local_addr(), &said(*opening, bytes));
    peer::until("the end of a connection and of its calls", || {
        let counters = running.server.counters();
        counters.connections_open == 0 && counters.queued_calls == 0 && counters.queued_bytes == 0
    });
}

const COMPRESSORS: [Option<&str>; 6] = [
    None,
    Some("org.apache.hadoop.io.compress.GzipCodec"),
    Some("org.apache.hadoop.io.compress.SnappyCodec"),
    Some("org.apache.hadoop.io.compress.Lz4Codec"),
    Some("org.apache.hadoop.io.compress.ZStandardCodec"),
    Some("org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec"),
];

fn header(compressor: Option<&str>) -> ClientOptions {
    ClientOptions { compressor: compressor.map(str::to_owned), ..ClientOptions::new("ClientService") }
}

/// What the client says.
fn said(opening: u8, bytes: &[u8]) -> Vec<u8> {
    let kind = opening as usize % 13;
    let Some(compressor) = COMPRESSORS.get((kind + 5) % 6).filter(|_| kind > 0) else { return bytes.to_vec() };
    let mut out = header(*compressor).opening();
    if kind <= 6 {
        out.extend_from_slice(bytes);
        return out;
    }
    // `| u16 length | frame |`: a length that is too large takes the rest.
    let mut rest = bytes;
    while let Some((len, after)) = rest.split_first_chunk::<2>() {
        let (frame, after) = after.split_at((u16::from_be_bytes(*len) as usize).min(after.len()));
        out.extend_from_slice(&(frame.len() as u32).to_be_bytes());
        out.extend_from_slice(frame);
        rest = after;
    }
    out
}

fn connection_seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let kerberos = [&b"HBas\0\x51"[..], &[0, 0, 0, 2], b"to", &header(None).opening()[6..]].concat();
    for whole in [&header(COMPRESSORS[1]).opening()[..], b"Regist", b"Securi", &kerberos] {
        seeds.push([&[0], whole].concat());
    }
    for (i, compressor) in (1u8..).zip(COMPRESSORS) {
        let mut cells = sample_block(Codec::KeyValue);
        if let Some(codec) = compressor.and_then(martite_compress::StreamCodec::from_class) {
            let plain = std::mem::take(&mut cells);
            if codec.compress(&plain, &mut cells).is_err() {
                continue;
            }
        }
        let options =
            CallOptions { priority: Some(7), timeout_ms: Some(50), attributes: vec![("a".into(), "b".into())] };
        let frames = [
            request_frame(1, "Get", b"message", &cells, options),
            request_frame(2, "Discard", b"", b"", CallOptions::default()),
            request_frame(3, "Drop", b"more", b"", CallOptions::default()),
            request_frame(4, "Other", b"", b"", CallOptions::default()),
        ];
        seeds.push([&[i][..], &frames.concat()].concat());
        // Frames with lengths of two bytes in place of four.
        seeds.push([&[i + 6][..], &frames.map(|f| f[2..].to_vec()).concat()].concat());
    }
    seeds
}

fn names() -> Vec<Vec<u8>> {
    let mut names =
        words(&["HBas\0\x50", "HBas\0\x51", "HBas\0\x52", "Regist", "Securi", "ClientService", "Get", "Drop"]);
    names.extend(COMPRESSORS.iter().flatten().map(|class| class.as_bytes().to_vec()));
    names.extend(words(&["org.apache.hadoop.hbase.codec.KeyValueCodec", "\0\0\0\0"]));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_answered() {
        let running = start().expect("a server");
        for seed in connection_seeds().iter().skip(4) {
            let answer = peer::talk(running.server.local_addr(), &said(seed[0], &seed[1..])).expect("an answer");
            assert!(answer.len() > 100, "{} bytes for opening {}", answer.len(), seed[0]);
        }
        assert_eq!(running.server.counters().calls, 12 * 4);
        header_seeds().iter().for_each(|seed| assert!(RequestHeader::decode(seed).is_ok()));
    }
}
