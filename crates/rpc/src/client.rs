//! [`Client`]: one connection to an HBase server, enough for tests and tools: simple authentication, any service.
//!
//! Calls are multiplexed: any number may be under way, and answers come in any order.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::{Buf, Bytes, BytesMut};
use martite_compress::StreamCodec;
use martite_proto::{
    CellBlockMeta, ConnectionHeader, Message, NameBytesPair, RequestHeader, ResponseHeader, UserInformation,
    VersionInfo,
};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;

use crate::format::{AUTH_SIMPLE, PREAMBLE_MAGIC, VERSION, varint};

/// Largest answer accepted.
const MAX_ANSWER: usize = 1 << 30;

/// What the connection header says.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    pub service: String,
    pub user: String,
    /// Java class of the cell block codec; `None` = cells as protobuf.
    pub codec: Option<String>,
    /// Java class of the cell block compressor.
    pub compressor: Option<String>,
    /// Version text, for example `2.6.4`; `None` = an old client.
    pub version: Option<String>,
}

impl ClientOptions {
    /// A 2.6 client with `KeyValueCodec`.
    pub fn new(service: &str) -> ClientOptions {
        ClientOptions {
            service: service.to_owned(),
            user: "martite".to_owned(),
            codec: Some("org.apache.hadoop.hbase.codec.KeyValueCodec".to_owned()),
            compressor: None,
            version: Some("2.6.4".to_owned()),
        }
    }

    /// Preamble and connection header.
    pub fn opening(&self) -> Vec<u8> {
        let header = ConnectionHeader {
            user_info: Some(UserInformation { effective_user: self.user.clone(), real_user: None }),
            service_name: Some(self.service.clone()),
            cell_block_codec_class: self.codec.clone(),
            cell_block_compressor_class: self.compressor.clone(),
            version_info: self.version.as_deref().map(version_info),
            ..ConnectionHeader::default()
        };
        let mut out = PREAMBLE_MAGIC.to_vec();
        out.extend_from_slice(&[VERSION, AUTH_SIMPLE]);
        out.extend_from_slice(&(header.encoded_len() as u32).to_be_bytes());
        out.extend_from_slice(&header.encode_to_vec());
        out
    }
}

fn version_info(text: &str) -> VersionInfo {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    VersionInfo {
        version: text.to_owned(),
        url: "martite".to_owned(),
        revision: "unknown".to_owned(),
        user: "martite".to_owned(),
        date: "unknown".to_owned(),
        src_checksum: "unknown".to_owned(),
        version_major: parts.next().flatten(),
        version_minor: parts.next().flatten(),
    }
}

/// What travels beside the message of a call.
#[derive(Debug, Clone, Default)]
pub struct CallOptions {
    pub priority: Option<u32>,
    pub timeout_ms: Option<u32>,
    pub attributes: Vec<(String, Bytes)>,
}

/// A successful answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub message: Bytes,
    /// Cell block in the connection codec's form, decompressed.
    pub cells: Bytes,
}

impl Answer {
    /// The message, decoded.
    pub fn decode<M: Message + Default>(&self) -> Result<M, ClientError> {
        M::decode(self.message.clone()).map_err(|e| ClientError::Malformed(e.to_string()))
    }
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("connection: {0}")]
    Io(#[from] io::Error),
    /// The connection ended before the answer came.
    #[error("connection closed")]
    Closed,
    /// The server's exception.
    #[error("{class}: {text}")]
    Remote {
        class: String,
        /// The whole `stack_trace` field.
        text: String,
        do_not_retry: bool,
        overloaded: bool,
        moved_to: Option<(String, u16)>,
    },
    #[error("malformed answer: {0}")]
    Malformed(String),
}

type Waiting = Mutex<Option<HashMap<u32, oneshot::Sender<Result<Answer, ClientError>>>>>;

/// One connection. Dropping it closes the connection.
#[derive(Debug)]
pub struct Client {
    writer: tokio::sync::Mutex<OwnedWriteHalf>,
    /// Calls under way; `None` once the connection is gone.
    waiting: Arc<Waiting>,
    next_id: AtomicU32,
    compressor: Option<StreamCodec>,
    reader: tokio::task::JoinHandle<()>,
}

impl Client {
    /// Connects, sends preamble and connection header.
    pub async fn connect(addr: SocketAddr, options: &ClientOptions) -> Result<Client, ClientError> {
        let mut socket = TcpStream::connect(addr).await?;
        socket.set_nodelay(true)?;
        socket.write_all(&options.opening()).await?;
        let (read, write) = socket.into_split();
        let waiting: Arc<Waiting> = Arc::new(Mutex::new(Some(HashMap::new())));
        let compressor = options.compressor.as_deref().and_then(StreamCodec::from_class);
        let reader = tokio::spawn(read_answers(read, waiting.clone(), compressor));
        Ok(Client { writer: tokio::sync::Mutex::new(write), waiting, next_id: AtomicU32::new(0), compressor, reader })
    }

    /// Calls `method` and waits for its answer. `cells` in the connection codec's form, uncompressed.
    pub async fn call<M: Message>(&self, method: &str, message: &M, cells: &[u8]) -> Result<Answer, ClientError> {
        self.call_with(method, &message.encode_to_vec(), cells, CallOptions::default()).await
    }

    /// Like [`Client::call`], with an encoded message and what else a request header can say.
    pub async fn call_with(
        &self,
        method: &str,
        message: &[u8],
        cells: &[u8],
        options: CallOptions,
    ) -> Result<Answer, ClientError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut block = Vec::new();
        let cells = match self.compressor {
            Some(compressor) if !cells.is_empty() => {
                compressor.compress(cells, &mut block).map_err(|e| ClientError::Malformed(e.to_string()))?;
                &block
            }
            _ => cells,
        };
        let frame = request_frame(id, method, message, cells, options);
        let (answer, answered) = oneshot::channel();
        match &mut *self.waiting.lock() {
            Some(waiting) => _ = waiting.insert(id, answer),
            None => return Err(ClientError::Closed),
        }
        let written = self.writer.lock().await.write_all(&frame).await;
        if let Err(e) = written {
            if let Some(waiting) = &mut *self.waiting.lock() {
                waiting.remove(&id);
            }
            return Err(e.into());
        }
        answered.await.unwrap_or(Err(ClientError::Closed))
    }

    /// Whether the connection is gone.
    pub fn is_closed(&self) -> bool {
        self.waiting.lock().is_none()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// A whole request frame.
pub fn request_frame(id: u32, method: &str, message: &[u8], cells: &[u8], options: CallOptions) -> Vec<u8> {
    let attribute = options.attributes.into_iter().map(|(name, value)| NameBytesPair { name, value: Some(value) });
    let header = RequestHeader {
        call_id: Some(id),
        method_name: Some(method.to_owned()),
        request_param: Some(true),
        cell_block_meta: (!cells.is_empty()).then_some(CellBlockMeta { length: Some(cells.len() as u32) }),
        priority: options.priority,
        timeout: options.timeout_ms,
        attribute: attribute.collect(),
        trace_info: None,
    };
    let mut frame = vec![0; 4];
    frame.extend_from_slice(&header.encode_length_delimited_to_vec());
    crate::format::put_varint(&mut frame, message.len() as u64);
    frame.extend_from_slice(message);
    frame.extend_from_slice(cells);
    let len = (frame.len() - 4) as u32;
    frame[..4].copy_from_slice(&len.to_be_bytes());
    frame
}

/// Decodes the content of an answer frame: its call id and what it says.
pub fn decode_answer(frame: Bytes, compressor: Option<StreamCodec>) -> (u32, Result<Answer, ClientError>) {
    let malformed = |what: &str| ClientError::Malformed(what.to_owned());
    let mut rest = frame;
    let header = match ResponseHeader::decode_length_delimited(&mut rest) {
        Ok(header) => header,
        Err(e) => return (u32::MAX, Err(malformed(&e.to_string()))),
    };
    let id = header.call_id.unwrap_or(0);
    if let Some(e) = header.exception {
        let moved_to = e.hostname.zip(e.port.and_then(|port| u16::try_from(port).ok()));
        let remote = ClientError::Remote {
            class: e.exception_class_name.unwrap_or_default(),
            text: e.stack_trace.unwrap_or_default(),
            do_not_retry: e.do_not_retry.unwrap_or(false),
            overloaded: e.server_overloaded.unwrap_or(false),
            moved_to,
        };
        return (id, Err(remote));
    }
    let Some((len, after)) = varint(&rest).map(|(len, after)| (len as usize, after.len())) else {
        return (id, Err(malformed("no message")));
    };
    rest.advance(rest.len() - after);
    if len > rest.len() {
        return (id, Err(malformed("the message ends after its frame")));
    }
    let message = rest.split_to(len);
    let cells_len = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
    if cells_len != rest.len() {
        return (id, Err(malformed("the cell block has not the length that the header says")));
    }
    let cells = match compressor.filter(|_| !rest.is_empty()).map(|c| c.decompress(&rest, MAX_ANSWER)) {
        None => rest,
        Some(Ok(plain)) => plain.into(),
        Some(Err(e)) => return (id, Err(malformed(&e.to_string()))),
    };
    (id, Ok(Answer { message, cells }))
}

async fn read_answers(mut socket: OwnedReadHalf, waiting: Arc<Waiting>, compressor: Option<StreamCodec>) {
    let mut buf = BytesMut::with_capacity(64 << 10);
    while matches!(socket.read_buf(&mut buf).await, Ok(1..)) {
        while let Some((len, _)) = buf.split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*len) as usize;
            if len > MAX_ANSWER {
                waiting.lock().take();
                return;
            }
            if buf.len() < 4 + len {
                break;
            }
            buf.advance(4);
            let (id, answer) = decode_answer(buf.split_to(len).freeze(), compressor);
            if let Some(waiting) = waiting.lock().as_mut().and_then(|waiting| waiting.remove(&id)) {
                let _ = waiting.send(answer);
            }
        }
        buf.reserve(64 << 10);
    }
    // Dropping the senders tells every waiting call.
    waiting.lock().take();
}
