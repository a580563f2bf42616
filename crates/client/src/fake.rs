//! A cluster in a few lines, for tests: sockets that speak the protocol, hbase:meta as a list, everything else as the
//! test says.

use crate::{Connection, Options, Registry};
use bytes::{Buf, Bytes, BytesMut};
use martite_catalog::meta_row::MetaEdit;
use martite_catalog::{RegionInfo, RegionState, ServerName, TableName, TableState};
use martite_cell::{CellBuf, OwnedCell, order::compare_meta_rows};
use martite_proto as pb;
use martite_proto::Message;
use martite_rpc::format::put_varint;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a server does about a call.
pub(crate) enum Reply {
    Message(Vec<u8>, Vec<u8>),
    Exception {
        class: &'static str,
        text: String,
        do_not_retry: bool,
    },
    Silence,
    /// Ends the connection.
    Close,
}

impl Reply {
    pub fn ok<M: Message>(message: &M) -> Reply {
        Reply::Message(message.encode_to_vec(), Vec::new())
    }
    pub fn throw(class: &'static str, text: &str) -> Reply {
        let text = format!("{class}: {text}\n\tat org.apache.Nowhere.run(Nowhere.java:1)\n");
        Reply::Exception { class, text, do_not_retry: false }
    }
    pub fn fail(class: &'static str) -> Reply {
        Reply::Exception { class, text: format!("{class}: no"), do_not_retry: true }
    }
}

/// A call as a server sees it.
pub(crate) struct Call {
    pub method: String,
    pub message: Bytes,
    pub cells: Bytes,
    /// Calls of this method before this one, on all servers.
    pub before: usize,
    /// Number of the server.
    pub server: usize,
}

impl Call {
    pub fn decode<M: Message + Default>(&self) -> M {
        M::decode(self.message.clone()).unwrap()
    }
}

type Handler = dyn Fn(&Call) -> Reply + Send + Sync;

/// A region of the table `t` in hbase:meta.
#[derive(Clone)]
pub(crate) struct FakeRegion {
    pub start: &'static str,
    pub end: &'static str,
    pub server: usize,
    pub state: RegionState,
}

pub(crate) fn region(start: &'static str, end: &'static str, server: usize) -> FakeRegion {
    FakeRegion { start, end, server, state: RegionState::Open }
}

pub(crate) struct Fake {
    pub servers: Vec<ServerName>,
    pub regions: Mutex<Vec<FakeRegion>>,
    pub disabled: Mutex<bool>,
    /// Every call, by its method; scans of hbase:meta as `meta`.
    pub seen: Mutex<Vec<String>>,
    handler: Box<Handler>,
}

impl Fake {
    /// `servers` of them, and what they do about calls that are not about hbase:meta.
    pub async fn start(
        servers: usize,
        regions: Vec<FakeRegion>,
        handler: impl Fn(&Call) -> Reply + Send + Sync + 'static,
    ) -> Arc<Fake> {
        let mut listeners = Vec::new();
        for _ in 0..servers {
            listeners.push(TcpListener::bind("127.0.0.1:0").await.unwrap());
        }
        let name =
            |(i, l): (usize, &TcpListener)| ServerName::new("127.0.0.1", l.local_addr().unwrap().port(), i as i64 + 1);
        let fake = Arc::new(Fake {
            servers: listeners.iter().enumerate().map(name).collect(),
            regions: Mutex::new(regions),
            disabled: Mutex::new(false),
            seen: Mutex::default(),
            handler: Box::new(handler),
        });
        for (number, listener) in listeners.into_iter().enumerate() {
            let fake = fake.clone();
            tokio::spawn(async move {
                while let Ok((socket, _)) = listener.accept().await {
                    tokio::spawn(serve(fake.clone(), number, socket));
                }
            });
        }
        fake
    }

    /// Waits are short.
    pub fn options(&self) -> Options {
        let registry = Registry::rpc(&self.servers[0].address());
        let mut options = Options::new(registry).pause(Duration::from_millis(1)).retries(5);
        options.failed_server_expiry = Duration::ZERO;
        options
    }

    pub async fn connect(&self) -> Connection {
        Connection::connect(self.options()).await.unwrap()
    }

    pub fn count(&self, method: &str) -> usize {
        self.seen.lock().iter().filter(|seen| *seen == method).count()
    }

    fn reply(&self, server: usize, header: &pb::RequestHeader, message: Bytes, cells: Bytes) -> Reply {
        let method = header.method_name().to_owned();
        let meta = self.servers[0].to_proto();
        match method.as_str() {
            "GetClusterId" => return Reply::ok(&pb::GetClusterIdResponse { cluster_id: Some("id".to_owned()) }),
            "GetBootstrapNodes" => return Reply::ok(&pb::GetBootstrapNodesResponse { server_name: vec![meta] }),
            "GetActiveMaster" => return Reply::ok(&pb::GetActiveMasterResponse { server_name: Some(meta) }),
            "GetMetaRegionLocations" => {
                let region_info = RegionInfo::meta().to_proto();
                let meta_locations = vec![pb::RegionLocation { region_info, server_name: Some(meta), seq_num: 1 }];
                return Reply::ok(&pb::GetMetaRegionLocationsResponse { meta_locations });
            }
            _ => {}
        }
        let is_meta = |region: &pb::RegionSpecifier| region.value == RegionInfo::meta().name();
        if method == "Scan"
            && let Ok(request) = pb::ScanRequest::decode(message.clone())
            && request.region.as_ref().is_some_and(is_meta)
        {
            self.seen.lock().push("meta".to_owned());
            return self.scan_meta(&request);
        }
        if method == "Get" && pb::GetRequest::decode(message.clone()).is_ok_and(|request| is_meta(&request.region)) {
            return self.table_state();
        }
        let before = self.count(&method);
        self.seen.lock().push(method.clone());
        (self.handler)(&Call { method, message, cells, before, server })
    }

    fn table_state(&self) -> Reply {
        let state = if *self.disabled.lock() { TableState::Disabled } else { TableState::Enabled };
        let edit = MetaEdit::table_state(&table(), state, 1);
        let associated_cell_count = Some(edit.cells().len() as i32);
        let result = pb::Result { associated_cell_count, ..Default::default() };
        Reply::Message(pb::GetResponse { result: Some(result) }.encode_to_vec(), block(edit.cells()))
    }

    fn scan_meta(&self, request: &pb::ScanRequest) -> Reply {
        let scan = request.scan.clone().unwrap();
        let start = scan.start_row.clone().unwrap();
        let mut rows: Vec<(Bytes, Vec<OwnedCell>)> = Vec::new();
        for region in self.regions.lock().iter() {
            let info = info(region.start, region.end);
            let edit = MetaEdit::region(&info, 1).region_info(&info).state(region.state, 0);
            let edit = edit.location(&self.servers[region.server], 7, 0);
            rows.push((info.name().clone(), edit.cells().to_vec()));
        }
        rows.sort_by(|a, b| compare_meta_rows(&a.0, &b.0));
        if scan.reversed() {
            rows.reverse();
            rows.retain(|(name, _)| compare_meta_rows(name, &start).is_le());
        } else {
            rows.retain(|(name, _)| compare_meta_rows(name, &start).is_ge());
        }
        if !scan.include_start_row() {
            rows.retain(|(name, _)| *name != start);
        }
        rows.truncate(request.number_of_rows.unwrap_or(1) as usize);
        let response = pb::ScanResponse {
            cells_per_result: rows.iter().map(|(_, cells)| cells.len() as u32).collect(),
            more_results: Some(false),
            ..Default::default()
        };
        let cells: Vec<OwnedCell> = rows.into_iter().flat_map(|(_, cells)| cells).collect();
        Reply::Message(response.encode_to_vec(), block(&cells))
    }
}

pub(crate) fn table() -> TableName {
    TableName::parse("t").unwrap()
}

pub(crate) fn info(start: &'static str, end: &'static str) -> RegionInfo {
    RegionInfo::new(table(), start.as_bytes(), end.as_bytes(), 1)
}

pub(crate) fn block(cells: &[OwnedCell]) -> Vec<u8> {
    let mut block = CellBuf::new(false);
    cells.iter().for_each(|cell| block.push(&cell.as_ref()));
    block.into_bytes()
}

/// Cells of the column f:q, a value each.
pub(crate) fn cells(rows: &[&str]) -> Vec<OwnedCell> {
    rows.iter().map(|row| OwnedCell::put(row.as_bytes(), b"f", b"q", 1, row.as_bytes())).collect()
}

/// The answer to a Get: these cells.
pub(crate) fn got(cells: &[OwnedCell]) -> Reply {
    let result = pb::Result { associated_cell_count: Some(cells.len() as i32), ..Default::default() };
    Reply::Message(pb::GetResponse { result: Some(result) }.encode_to_vec(), block(cells))
}

async fn serve(fake: Arc<Fake>, number: usize, mut socket: TcpStream) {
    let mut buf = BytesMut::new();
    let mut opening = true;
    loop {
        while let Some(mut frame) = frame(&mut buf, opening) {
            if std::mem::take(&mut opening) {
                continue;
            }
            let header = pb::RequestHeader::decode_length_delimited(&mut frame).unwrap();
            let cells_len = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
            let cells = frame.split_off(frame.len() - cells_len);
            let len = pb::prost::decode_length_delimiter(&mut frame).unwrap();
            let message = frame.split_to(len);
            match answer(header.call_id(), fake.reply(number, &header, message, cells)) {
                Some(bytes) if bytes.is_empty() => {}
                Some(bytes) => {
                    if socket.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
                None => return,
            }
        }
        if !matches!(socket.read_buf(&mut buf).await, Ok(1..)) {
            return;
        }
    }
}

/// The next frame; the first one is the connection header, behind the preamble.
fn frame(buf: &mut BytesMut, opening: bool) -> Option<Bytes> {
    let skip = if opening { 6 } else { 0 };
    let len = buf.get(skip..skip + 4)?;
    let len = u32::from_be_bytes([len[0], len[1], len[2], len[3]]) as usize;
    if buf.len() < skip + 4 + len {
        return None;
    }
    buf.advance(skip + 4);
    Some(buf.split_to(len).freeze())
}

/// Bytes to write; none: the connection ends.
fn answer(call_id: u32, reply: Reply) -> Option<Vec<u8>> {
    let mut header = pb::ResponseHeader { call_id: Some(call_id), ..Default::default() };
    let mut body = Vec::new();
    match reply {
        Reply::Close => return None,
        Reply::Silence => return Some(Vec::new()),
        Reply::Exception { class, text, do_not_retry } => {
            header.exception = Some(pb::ExceptionResponse {
                exception_class_name: Some(class.to_owned()),
                stack_trace: Some(text),
                do_not_retry: Some(do_not_retry),
                ..Default::default()
            });
        }
        Reply::Message(message, cells) => {
            if !cells.is_empty() {
                header.cell_block_meta = Some(pb::CellBlockMeta { length: Some(cells.len() as u32) });
            }
            put_varint(&mut body, message.len() as u64);
            body.extend_from_slice(&message);
            body.extend_from_slice(&cells);
        }
    }
    let header = header.encode_length_delimited_to_vec();
    let mut out = ((header.len() + body.len()) as u32).to_be_bytes().to_vec();
    out.extend(header);
    out.extend(body);
    Some(out)
}
