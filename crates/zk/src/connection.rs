//! One connection: the handshake, then frames in, replies and events out, in order.
//!
//! ```text
//! "ruok"                                    an administrator: a few words, and the end
//! frame(connect) ──► reply(session) ──► frame ──► reply, frame ──► reply, … event …
//! ```

use crate::request::{After, answer};
use crate::server::Shared;
use crate::session::Held;
use crate::tree::WatcherId;
use crate::wire::{Decoded, Input, Output};
use crate::words;
use bytes::{Buf, BytesMut};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};

/// Replies are written when so many bytes have gathered, or when no request is waiting.
const WRITE_AT_BYTES: usize = 256 << 10;
/// A client that does not take its replies for so long is gone.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct Connection {
    pub shared: Arc<Shared>,
    pub stream: TcpStream,
    pub peer: SocketAddr,
}

/// What a client says first.
struct Hello {
    timeout: Duration,
    session: i64,
    password: Vec<u8>,
    /// Java and new clients send a byte more, and want one more back.
    with_read_only: bool,
}

impl Connection {
    /// Serves the connection until either side ends it.
    pub async fn run(mut self) -> io::Result<()> {
        let mut input = BytesMut::new();
        let patience = self.shared.options.max_session_timeout;
        let Ok(first) = timeout(patience, self.first_frame(&mut input)).await else { return Ok(()) };
        let Some(hello) = first? else { return Ok(()) };
        let Ok(hello) = hello else { return Ok(()) };
        let now = self.shared.tree.clock().monotonic();
        let held = self.shared.sessions.connect(hello.session, &hello.password, hello.timeout, now);
        self.welcome(&hello, held.as_ref()).await?;
        let Some(held) = held else { return Ok(()) };
        let notify = Arc::new(Notify::new());
        let id = self.shared.tree.attach(Arc::clone(&notify));
        let guard = Attached { shared: Arc::clone(&self.shared), id, held };
        self.serve(&guard, &notify, input).await
    }

    /// The first frame, decoded; `None` if there was a four-letter word instead, or nothing.
    async fn first_frame(&mut self, input: &mut BytesMut) -> io::Result<Option<Decoded<Hello>>> {
        loop {
            if let Some(word) = input.first_chunk::<4>() {
                if let Some(text) = words::answer(word, &self.shared, self.peer) {
                    timeout(WRITE_TIMEOUT, self.stream.write_all(text.as_bytes())).await??;
                    self.stream.shutdown().await?;
                    return Ok(None);
                }
                if let Some(frame) = self.cut_frame(input)? {
                    return Ok(Some(Hello::decode(&frame)));
                }
            }
            if self.stream.read_buf(input).await? == 0 {
                return Ok(None);
            }
        }
    }

    /// A whole frame from the front of what was read.
    fn cut_frame(&self, input: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        let Some(len) = input.first_chunk::<4>() else { return Ok(None) };
        let len = i32::from_be_bytes(*len);
        let limit = self.shared.options.max_frame_bytes;
        let len = usize::try_from(len).ok().filter(|len| *len <= limit).ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("a frame of {len} bytes, at most {limit}"))
        })?;
        if input.len() < 4 + len {
            return Ok(None);
        }
        input.advance(4);
        self.shared.counters.received.fetch_add(1, Ordering::Relaxed);
        Ok(Some(input.split_to(len)))
    }

    /// Tells the client its session; a timeout of 0 tells it that it has none.
    async fn welcome(&mut self, hello: &Hello, held: Option<&Held>) -> io::Result<()> {
        let mut out = Output::default();
        out.frame(|out| {
            out.i32(0);
            out.i32(held.map_or(0, |h| h.timeout.as_millis() as i32));
            out.i64(held.map_or(0, |h| h.id));
            out.buffer(&held.map_or([0; 16], |h| h.password));
            if hello.with_read_only {
                out.bool(false);
            }
        });
        self.send(out.bytes).await
    }

    async fn serve(&mut self, attached: &Attached, notify: &Notify, mut input: BytesMut) -> io::Result<()> {
        let held = &attached.held;
        let mut heard = Instant::now();
        loop {
            let (out, after) = self.answer_all(attached.id, &mut input)?;
            let waiting = out.len() >= WRITE_AT_BYTES;
            self.send(out).await?;
            match after {
                After::Continue if waiting => continue,
                After::Continue => {}
                After::EndSession => {
                    self.shared.sessions.end(held);
                    return self.stream.shutdown().await;
                }
                After::Disconnect => return self.stream.shutdown().await,
            }
            tokio::select! {
                read = timeout_at(heard + held.timeout, self.stream.read_buf(&mut input)) => match read {
                    Ok(Ok(0)) => return Ok(()),
                    Ok(read) => _ = read?,
                    Err(_) => {
                        self.shared.sessions.end(held);
                        return Ok(());
                    }
                },
                () = notify.notified() => {
                    // Not heard of the client: its time goes on.
                    self.send_events(attached.id).await?;
                    continue;
                }
                () = held.taken.notified() => return Ok(()),
            }
            heard = Instant::now();
        }
    }

    /// Answers the frames that are there, up to a bound of bytes.
    fn answer_all(&mut self, id: WatcherId, input: &mut BytesMut) -> io::Result<(Vec<u8>, After)> {
        let mut out = Output::default();
        let mut after = After::Continue;
        while after == After::Continue && out.bytes.len() < WRITE_AT_BYTES {
            let Some(frame) = self.cut_frame(input)? else { break };
            after = answer(&self.shared.tree, id, &frame, &mut out);
            self.shared.counters.sent.fetch_add(1, Ordering::Relaxed);
        }
        Ok((out.bytes, after))
    }

    async fn send_events(&mut self, id: WatcherId) -> io::Result<()> {
        let mut out = Output::default();
        let (events, ()) = self.shared.tree.serve(id, |_| ());
        events.iter().for_each(|event| out.event(event));
        self.shared.counters.sent.fetch_add(events.len() as u64, Ordering::Relaxed);
        self.send(out.bytes).await
    }

    async fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        timeout(WRITE_TIMEOUT, self.stream.write_all(&bytes)).await?
    }
}

impl Hello {
    fn decode(frame: &[u8]) -> Decoded<Hello> {
        let mut input = Input(frame);
        let (_protocol, _last_zxid_seen) = (input.i32()?, input.i64()?);
        let timeout = Duration::from_millis(input.i32()?.max(0) as u64);
        let (session, password) = (input.i64()?, input.buffer()?.to_vec());
        Ok(Hello { timeout, session, password, with_read_only: !input.is_empty() })
    }
}

/// What the end of the connection undoes, however it ends.
struct Attached {
    shared: Arc<Shared>,
    id: WatcherId,
    held: Held,
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.shared.tree.detach(self.id);
        self.shared.sessions.release(&self.held, self.shared.tree.clock().monotonic());
    }
}
