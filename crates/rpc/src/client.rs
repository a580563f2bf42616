//! [`Client`]: one connection to an HBase server: simple authentication, any service.
//!
//! Calls are multiplexed: any number may be under way, and answers come in any order. Two tasks belong to a connection,
//! none to a call: what many callers send while one write is under way leaves in the next write.

mod calls;
mod frame;

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use martite_compress::StreamCodec;
use martite_proto::{ConnectionHeader, Message, UserInformation, VersionInfo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, Sleep};

pub use calls::PendingCall;
use calls::{Calls, Next, TICK};
pub use frame::{decode_answer, put_request, request_frame};

use crate::format::{AUTH_SIMPLE, PREAMBLE_MAGIC, VERSION};

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
    /// The answer did not come in time; the call may have been done.
    #[error("no answer in time")]
    TimedOut,
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

/// A write buffer of more bytes is given back after its write.
const MAX_KEPT: usize = 1 << 20;
/// Least room for a read.
const READ: usize = 64 << 10;

/// One connection. Dropping it closes the connection.
#[derive(Debug)]
pub struct Client {
    calls: Arc<Calls>,
    compressor: Option<StreamCodec>,
    tasks: [tokio::task::JoinHandle<()>; 2],
}

impl Client {
    /// Connects, sends preamble and connection header.
    pub async fn connect(addr: SocketAddr, options: &ClientOptions) -> Result<Client, ClientError> {
        let compressor = options.compressor.as_deref().and_then(StreamCodec::from_class);
        if let (Some(_), Some(class), None) = (&options.codec, &options.compressor, compressor) {
            return Err(ClientError::Io(io::Error::other(format!("the compressor {class} is not known"))));
        }
        let mut socket = TcpStream::connect(addr).await?;
        socket.set_nodelay(true)?;
        socket.write_all(&options.opening()).await?;
        let (read, write) = socket.into_split();
        let calls = Arc::new(Calls::default());
        let tasks = [
            tokio::spawn(read_answers(read, calls.clone(), compressor)),
            tokio::spawn(write_requests(write, calls.clone())),
        ];
        Ok(Client { calls, compressor, tasks })
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
        self.send(method, message, &[cells], &options, None)?.await
    }

    /// Sends a call, without waiting for anything: it leaves with the next write. The cell block is given in pieces.
    ///
    /// Without an answer within `limit` the call fails with [`ClientError::TimedOut`].
    pub fn send(
        &self,
        method: &str,
        message: &[u8],
        cells: &[&[u8]],
        options: &CallOptions,
        limit: Option<Duration>,
    ) -> Result<PendingCall, ClientError> {
        let packed = match self.compressor {
            Some(compressor) if cells.iter().any(|piece| !piece.is_empty()) => {
                let mut packed = Vec::new();
                let packing = compressor.compress(&cells.concat(), &mut packed);
                packing.map_err(|e| ClientError::Malformed(e.to_string()))?;
                Some(packed)
            }
            _ => None,
        };
        self.calls.begin(limit, |id, out| match &packed {
            Some(packed) => put_request(out, id, method, message, &[packed], options),
            None => put_request(out, id, method, message, cells, options),
        })
    }

    /// Whether the connection is gone.
    pub fn is_closed(&self) -> bool {
        self.calls.is_closed()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
        self.calls.close();
    }
}

/// Writes what callers leave, all of it at once; and looks after calls that take too long.
async fn write_requests(mut socket: OwnedWriteHalf, calls: Arc<Calls>) {
    let mut buf = Vec::new();
    let mut tick = pin!(tokio::time::sleep(TICK));
    loop {
        match calls.take(&mut buf) {
            Next::Closed => return,
            Next::Write => {
                let mut write = pin!(socket.write_all(&buf));
                let written = loop {
                    tokio::select! {
                        biased;
                        written = &mut write => break written.is_ok(),
                        useful = ticking(&calls, tick.as_mut()) => if !useful { break false },
                    }
                };
                if !written {
                    return calls.close();
                }
                buf.clear();
                buf.shrink_to(MAX_KEPT);
                continue;
            }
            Next::Idle { under_way: false } => {
                calls.work().await;
                tick.as_mut().reset(Instant::now() + TICK);
            }
            Next::Idle { under_way: true } => tokio::select! {
                biased;
                () = calls.work() => {}
                useful = ticking(&calls, tick.as_mut()) => match useful {
                    true => continue,
                    false => return calls.close(),
                },
            },
        }
        // Whoever is about to send can do so before the write.
        if calls.is_busy() {
            tokio::task::yield_now().await;
        }
    }
}

/// The next tick; false: the connection is of no use any more.
async fn ticking(calls: &Calls, mut tick: Pin<&mut Sleep>) -> bool {
    tick.as_mut().await;
    tick.reset(Instant::now() + TICK);
    calls.tick()
}

async fn read_answers(mut socket: OwnedReadHalf, calls: Arc<Calls>, compressor: Option<StreamCodec>) {
    let mut buf = BytesMut::with_capacity(READ);
    let (mut answers, mut wakers) = (Vec::new(), Vec::new());
    'reading: while matches!(socket.read_buf(&mut buf).await, Ok(1..)) {
        let mut room = READ;
        while let Some((len, _)) = buf.split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*len) as usize;
            if len > MAX_ANSWER {
                break 'reading;
            }
            if buf.len() < 4 + len {
                room = room.max(4 + len - buf.len());
                break;
            }
            buf.advance(4);
            answers.push(decode_answer(buf.split_to(len).freeze(), compressor));
        }
        calls.finish(&mut answers, &mut wakers);
        buf.reserve(room);
    }
    calls.close();
}
