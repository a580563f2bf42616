//! A read-only ZooKeeper client: connects to one of a quorum, reads znodes, leaves.
//!
//! ```text
//! connect   0 | i64 zxid | i32 timeout | i64 session | buffer password | bool read-only
//! getData   xid 1, 2, … | 4 | string path | bool watch      →  header | buffer data | Stat
//! close     xid | -11
//! ```
//! Whoever wants to know where a cluster's servers are asks a few times an hour: no session is kept.

use crate::wire::{Code, Input, Output, op};
use bytes::{Bytes, BytesMut};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What a session is asked to last without a word, in ms; these last as long as a few reads.
const SESSION_TIMEOUT_MS: i32 = 30_000;
/// ZooKeeper's own limit (`jute.maxbuffer`).
const MAX_FRAME: usize = 1 << 20;

/// Why znodes could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ZkClientError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// ZooKeeper's own code.
    #[error("{path}: ZooKeeper's error {code}")]
    Refused { path: String, code: i32 },
    #[error("malformed answer: {0}")]
    Malformed(&'static str),
}

/// Reads znodes from the first server of the quorum that answers; `None` for those that are not there.
///
/// `servers`: `host:port` each. With nobody answering the error is the last server's.
pub async fn read(servers: &[String], paths: &[&str], timeout: Duration) -> Result<Vec<Option<Bytes>>, ZkClientError> {
    let mut last = ZkClientError::Io(io::Error::new(io::ErrorKind::InvalidInput, "an empty quorum"));
    for server in servers {
        match tokio::time::timeout(timeout, read_from(server, paths)).await {
            Ok(Ok(found)) => return Ok(found),
            Ok(Err(error)) => last = error,
            Err(_) => last = ZkClientError::TimedOut(timeout),
        }
    }
    Err(last)
}

async fn read_from(server: &str, paths: &[&str]) -> Result<Vec<Option<Bytes>>, ZkClientError> {
    let mut session = Session { socket: TcpStream::connect(server).await?, buf: BytesMut::new() };
    session.socket.set_nodelay(true)?;
    let mut out = Output::default();
    out.frame(|out| {
        out.i32(0);
        out.i64(0);
        out.i32(SESSION_TIMEOUT_MS);
        out.i64(0);
        out.buffer(&[0; 16]);
        out.bool(true);
    });
    for (xid, path) in (1..).zip(paths) {
        out.frame(|out| {
            out.i32(xid);
            out.i32(op::GET_DATA);
            out.buffer(path.as_bytes());
            out.bool(false);
        });
    }
    out.frame(|out| {
        out.i32(paths.len() as i32 + 1);
        out.i32(op::CLOSE_SESSION);
    });
    session.socket.write_all(&out.bytes).await?;
    let opened = session.frame().await?;
    let mut input = Input(&opened);
    let lasts_ms = input.i32().and_then(|_| input.i32()).map_err(|_| ZkClientError::Malformed("connect"))?;
    if lasts_ms <= 0 {
        return Err(ZkClientError::Malformed("the session was refused"));
    }
    let mut found = Vec::with_capacity(paths.len());
    for path in paths {
        found.push(value(&session.frame().await?, path)?);
    }
    Ok(found)
}

/// The data in an answer to getData.
fn value(frame: &[u8], path: &str) -> Result<Option<Bytes>, ZkClientError> {
    let short = |_| ZkClientError::Malformed("an answer that ends early");
    let mut input = Input(frame);
    let _xid = input.i32().map_err(short)?;
    let _zxid = input.i64().map_err(short)?;
    match input.i32().map_err(short)? {
        code if code == Code::Ok as i32 => Ok(Some(Bytes::copy_from_slice(input.buffer().map_err(short)?))),
        code if code == Code::NoNode as i32 => Ok(None),
        code => Err(ZkClientError::Refused { path: path.to_owned(), code }),
    }
}

struct Session {
    socket: TcpStream,
    buf: BytesMut,
}

impl Session {
    async fn frame(&mut self) -> Result<Bytes, ZkClientError> {
        loop {
            if let Some((len, _)) = self.buf.split_first_chunk::<4>() {
                let len = u32::from_be_bytes(*len) as usize;
                if len > MAX_FRAME {
                    return Err(ZkClientError::Malformed("a frame of more than a megabyte"));
                }
                if self.buf.len() >= 4 + len {
                    let mut frame = self.buf.split_to(4 + len).freeze();
                    return Ok(frame.split_off(4));
                }
            }
            if self.socket.read_buf(&mut self.buf).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tree, ZkOptions, ZkServer};
    use martite_env::ManualClock;
    use std::sync::Arc;

    #[tokio::test]
    async fn the_first_server_that_answers_is_read() {
        let tree = Tree::new(Arc::new(ManualClock::new(1000)));
        tree.set("/hbase/master", vec![7; 5000], true);
        let any = "127.0.0.1:0".parse().unwrap();
        let server = ZkServer::bind(any, tree, ZkOptions::default()).await.unwrap();
        // Nobody listens on the port of a socket that is gone.
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let quorum = [gone.to_string(), server.local_addr().to_string()];
        let patience = Duration::from_secs(10);
        let found = read(&quorum, &["/hbase/master", "/hbase/none"], patience).await.unwrap();
        assert_eq!(found, [Some(Bytes::from(vec![7; 5000])), None]);
        assert!(matches!(read(&quorum[..1], &["/"], patience).await, Err(ZkClientError::Io(_))));
        assert!(matches!(read(&[], &["/"], patience).await, Err(ZkClientError::Io(_))));
    }

    #[test]
    fn answers_are_checked() {
        let frame = |code: i32, data: &[u8]| {
            let mut out = Output::default();
            out.i32(1);
            out.i64(9);
            out.i32(code);
            out.buffer(data);
            out.bytes
        };
        assert_eq!(value(&frame(0, b"data"), "/a").unwrap(), Some(Bytes::from_static(b"data")));
        assert_eq!(value(&frame(-101, b""), "/a").unwrap(), None);
        assert_eq!(value(&frame(-102, b""), "/a").unwrap_err().to_string(), "/a: ZooKeeper's error -102");
        assert!(matches!(value(&frame(0, b"data")[..20], "/a"), Err(ZkClientError::Malformed(_))));
    }
}
