//! [`Task`]: the life of one connection on its shard.
//!
//! ```text
//! run:  collect answers ─▶ write ─▶ read once ─▶ decode all, call the handler ─▶ collect … until nothing moves: rest
//! ```
//! It rests when the socket has nothing to read, or when the client does not take its answers; it is woken by the
//! socket or by a responder. Between two slices it may move to another thread (`place`). Source of the protocol: HBase
//! 2.6 RPC.

use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::{Buf, BytesMut};
use tokio::io::AsyncWrite;
use tokio::net::TcpStream;
use tokio::time::Sleep;

use crate::format::{FRAME_LEN, MAX_CONNECTION_HEADER, PREAMBLE_LEN};
use crate::handshake::{self, Preamble};
use crate::inbox::Inbox;
use crate::link::{Link, Mode};
use crate::outbox::{Exchange, Found};
use crate::pool::stand_aside;
use crate::requests::{Batch, Requests, SLICE, Stop};
use crate::writer::{Writer, head_buffer, recycle};

/// Reads in a row before other connections of the shard get their turn.
const MAX_ROUNDS: u32 = 4;
/// Bytes of a client that is being closed that are thrown away at most.
const LINGER_BYTES: u64 = 64 << 20;

#[derive(Debug)]
enum Phase {
    Preamble,
    /// One SASL token of a client that was told to go on without.
    IgnoreToken,
    Header,
    Open(Requests),
    /// Nothing more is understood: what is ready is sent, the rest thrown away.
    Closing {
        discarded: u64,
        shut: bool,
    },
}

/// What an attempt to read brought.
#[derive(Debug, PartialEq, Eq)]
enum Moved {
    No,
    Yes,
    End,
}

/// Why a task is no longer polled.
enum End {
    Closed(io::Result<()>),
    /// It belongs on another thread.
    Moves,
}

/// Takes the link out of the server's books, however its task ends.
#[derive(Debug)]
pub(crate) struct LinkGuard(pub Arc<Link>);

impl Drop for LinkGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

pub(crate) struct Task {
    socket: TcpStream,
    link: LinkGuard,
    inbox: Inbox,
    writer: Writer,
    phase: Phase,
    /// `inbox` holds whole frames that wait for room in the output.
    waiting_frames: bool,
    /// The frames at hand, or those that wait, came with a read at this time.
    received: Instant,
    /// Other connections of the shard get their turn.
    slice_over: bool,
    /// It runs on the thread that stands back.
    behind: bool,
    /// Ends the handshake or the lingering.
    timer: Option<Pin<Box<Sleep>>>,
    /// Reused to collect chunks.
    ready: Vec<Vec<u8>>,
}

impl Task {
    /// Must be called on the shard's runtime.
    pub fn new(socket: TcpStream, link: LinkGuard) -> Task {
        let timer = Some(Box::pin(tokio::time::sleep(link.0.server.options.handshake_timeout)));
        Task {
            socket,
            link,
            inbox: Inbox::default(),
            writer: Writer::default(),
            phase: Phase::Preamble,
            waiting_frames: false,
            received: Instant::now(),
            slice_over: false,
            behind: false,
            timer,
            ready: Vec::new(),
        }
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let exchange = Exchange { calls: 0, lend: Some(head_buffer()), into: &mut self.ready };
        let found = self.link.0.outbox.begin(cx.waker(), exchange);
        self.queue_ready(found);
        let mode = self.link.0.server.mode();
        if mode == Mode::Abort {
            return Poll::Ready(Ok(()));
        }
        self.slice_over = false;
        for round in 0.. {
            // In every round, because one may have set the timer.
            if self.time_is_up(cx) {
                return Poll::Ready(Ok(()));
            }
            let blocked = self.flush(cx)?;
            if self.link.0.outbox.has_held() && !self.link.0.is_clogged() {
                self.run_held();
            }
            if round == MAX_ROUNDS || self.slice_over {
                break;
            }
            let moved = if mode == Mode::Run { self.receive(cx)? } else { Moved::No };
            match moved {
                Moved::Yes => continue,
                Moved::End => return Poll::Ready(Ok(())),
                // Answers that come meanwhile are collected when the socket takes bytes again, and wake nobody.
                Moved::No if blocked => return Poll::Pending,
                Moved::No if mode == Mode::Drain && self.link.0.outbox.drain() => return Poll::Ready(Ok(())),
                Moved::No => {}
            }
            match self.link.0.outbox.rest() {
                Ok(lent) => {
                    lent.into_iter().for_each(recycle);
                    return Poll::Pending;
                }
                Err(_) => self.collect(0),
            }
        }
        // Unlike a plain wake-up, this lets the runtime look at the other sockets first.
        let _ = std::pin::pin!(tokio::task::yield_now()).poll(cx);
        Poll::Pending
    }

    /// Work that others gave; what a slice has no time for stays for the next.
    fn run_held(&mut self) {
        let began = Instant::now();
        let mut held = self.link.0.outbox.take_held().into_iter();
        for work in held.by_ref() {
            work.run();
            if began.elapsed() > SLICE {
                self.slice_over = true;
                break;
            }
        }
        self.link.0.outbox.put_back(held.collect());
    }

    fn time_is_up(&mut self, cx: &mut Context<'_>) -> bool {
        self.timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_ready())
    }

    /// Moves answers from the outbox to the writer. `calls` = calls handed out since the last time.
    fn collect(&mut self, calls: u32) {
        let found = self.link.0.outbox.take(Exchange { calls, lend: None, into: &mut self.ready });
        self.queue_ready(found);
    }

    fn queue_ready(&mut self, found: Found) {
        let mut ready = self.ready.drain(..);
        if found.written > 0
            && let Some(first) = ready.next()
        {
            self.writer.push_rest(first, found.written);
        }
        ready.for_each(|chunk| self.writer.push(chunk));
        if found.wants_direct {
            self.allow_direct();
        }
    }

    /// Without a descriptor to spare the task goes on writing all answers.
    fn allow_direct(&self) {
        match self.socket.as_fd().try_clone_to_owned() {
            Ok(socket) => self.link.0.outbox.allow_direct(socket.into()),
            Err(e) => tracing::debug!(peer = %self.link.0.peer, "large answers are not written directly: {e}"),
        }
    }

    /// Writes what there is. True if the socket takes no more.
    fn flush(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        if self.writer.is_empty() {
            return Ok(false);
        }
        let mut sent = 0;
        let polled = self.writer.poll_flush(&mut self.socket, cx, &mut sent);
        self.link.0.counters().sent_bytes.fetch_add(sent, Relaxed);
        self.link.0.unsent.store(self.writer.bytes(), Relaxed);
        match polled {
            Poll::Ready(result) => result.map(|()| false),
            Poll::Pending => Ok(true),
        }
    }

    /// Reads once, if the connection may, and acts on it.
    fn receive(&mut self, cx: &mut Context<'_>) -> io::Result<Moved> {
        if let Phase::Closing { shut, .. } = &mut self.phase {
            if self.writer.is_empty() && !*shut {
                *shut = true;
                ready_or(Pin::new(&mut self.socket).poll_shutdown(cx), Ok(()))?;
            }
        } else if self.writer.bytes() >= self.link.0.server.options.max_output_bytes {
            return Ok(Moved::No);
        } else if self.waiting_frames {
            let buf = self.inbox.take_kept();
            self.process(buf)?;
            return Ok(Moved::Yes);
        }
        match self.inbox.poll_read(&mut self.socket, cx) {
            Poll::Pending => Ok(Moved::No),
            Poll::Ready(Err(e)) => Err(e),
            Poll::Ready(Ok((buf, 0))) => {
                self.inbox.put_back(buf, 0);
                Ok(Moved::End)
            }
            Poll::Ready(Ok((buf, n))) => {
                self.link.0.counters().received_bytes.fetch_add(n as u64, Relaxed);
                self.process(buf)?;
                Ok(if matches!(self.phase, Phase::Closing { discarded: LINGER_BYTES.., .. }) {
                    Moved::End
                } else {
                    Moved::Yes
                })
            }
        }
    }

    fn process(&mut self, mut buf: BytesMut) -> io::Result<()> {
        let link = &self.link.0;
        let resumed = Instant::now();
        if !self.waiting_frames {
            self.received = resumed;
        }
        let mut batch = Batch {
            received: self.received,
            resumed,
            calls: 0,
            elsewhere: link.server.queued_elsewhere(link.shard),
            room: link.server.options.max_output_bytes.saturating_sub(self.writer.bytes()),
        };
        self.waiting_frames = false;
        let wanted = self.phases(&mut buf, &mut batch);
        if wanted.is_err() {
            buf.clear();
        }
        self.inbox.put_back(buf, *wanted.as_ref().unwrap_or(&0));
        self.link.0.counters().calls.fetch_add(u64::from(batch.calls), Relaxed);
        self.collect(batch.calls);
        wanted.map(drop)
    }

    /// Goes as far as the bytes lead. Returns how many bytes are wanted to go on.
    fn phases(&mut self, buf: &mut BytesMut, batch: &mut Batch) -> io::Result<usize> {
        loop {
            match &mut self.phase {
                Phase::Preamble => {
                    let Some(first) = buf.first_chunk::<PREAMBLE_LEN>() else { return Ok(PREAMBLE_LEN) };
                    let preamble = handshake::preamble(first, &self.link.0);
                    buf.advance(PREAMBLE_LEN);
                    self.enter(preamble);
                }
                Phase::IgnoreToken => match handshake_frame(buf)? {
                    Ok(_) => self.phase = Phase::Header,
                    Err(wanted) => return Ok(wanted),
                },
                Phase::Header => match handshake_frame(buf)? {
                    Ok(header) => self.open(header)?,
                    Err(wanted) => return Ok(wanted),
                },
                Phase::Open(requests) => match requests.decode(buf, batch) {
                    Stop::Need(wanted) => return Ok(wanted),
                    stop @ (Stop::Full | Stop::SliceEnd) => {
                        self.waiting_frames = true;
                        self.slice_over = stop == Stop::SliceEnd;
                        return Ok(0);
                    }
                    Stop::Close => self.enter_closing(),
                    Stop::Malformed(what) => return Err(io::Error::new(io::ErrorKind::InvalidData, what)),
                },
                Phase::Closing { discarded, .. } => {
                    *discarded += buf.len() as u64;
                    buf.clear();
                    return Ok(0);
                }
            }
        }
    }

    fn enter(&mut self, preamble: Preamble) {
        match preamble {
            Preamble::Header => self.phase = Phase::Header,
            Preamble::IgnoreToken(answer) => {
                self.writer.push(answer);
                self.phase = Phase::IgnoreToken;
            }
            Preamble::Again(answer) => self.writer.push(answer),
            Preamble::Close(answer) => {
                self.writer.push(answer);
                self.enter_closing();
            }
        }
    }

    fn enter_closing(&mut self) {
        self.phase = Phase::Closing { discarded: 0, shut: false };
        self.timer = Some(Box::pin(tokio::time::sleep(self.link.0.server.options.linger)));
    }

    fn open(&mut self, header: BytesMut) -> io::Result<()> {
        let link = &self.link.0;
        match handshake::connection(header.freeze(), link, &*link.server.handler) {
            Ok(connection) => {
                tracing::debug!(peer = %link.peer, service = connection.service, user = connection.user,
                    version = ?connection.version, "connection open");
                self.phase = Phase::Open(Requests::new(connection));
                self.timer = None;
                Ok(())
            }
            Err(e) => {
                link.server.exceptions.count(e.class());
                Err(io::Error::new(io::ErrorKind::InvalidData, e.to_string()))
            }
        }
    }
}

fn ready_or<T>(poll: Poll<T>, pending: T) -> T {
    match poll {
        Poll::Ready(value) => value,
        Poll::Pending => pending,
    }
}

/// Takes a frame of the handshake off `buf`; inner `Err` = bytes wanted.
fn handshake_frame(buf: &mut BytesMut) -> io::Result<Result<BytesMut, usize>> {
    let Some((len, _)) = buf.split_first_chunk::<FRAME_LEN>() else { return Ok(Err(FRAME_LEN)) };
    let len = u32::from_be_bytes(*len) as usize;
    if len > MAX_CONNECTION_HEADER {
        let what = format!("a frame of {len} bytes before the connection header");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    if buf.len() < FRAME_LEN + len {
        return Ok(Err(FRAME_LEN + len));
    }
    buf.advance(FRAME_LEN);
    Ok(Ok(buf.split_to(len)))
}

impl Task {
    /// On this thread until the connection ends, or goes on on another one.
    pub async fn live(mut self) {
        let end = std::future::poll_fn(|cx| self.poll(cx)).await;
        let peer = self.link.0.peer;
        match end {
            End::Moves => self.go_elsewhere(),
            End::Closed(Err(e)) if e.kind() == io::ErrorKind::InvalidData => {
                tracing::warn!(%peer, "connection closed: {e}");
            }
            End::Closed(Err(e)) => tracing::debug!(%peer, "connection lost: {e}"),
            End::Closed(Ok(())) => tracing::debug!(%peer, "connection closed"),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        if self.moves() {
            return Poll::Ready(End::Moves);
        }
        let polled = self.run(cx);
        if self.behind {
            stand_aside();
        }
        polled.map(End::Closed)
    }

    /// Whether it belongs on another thread. Timers stay with theirs.
    fn moves(&self) -> bool {
        self.link.0.place.is_behind() != self.behind
            && self.timer.is_none()
            && matches!(self.phase, Phase::Open(_))
            && self.link.0.server.mode() == Mode::Run
    }

    /// The other thread looks at the socket and at the outbox at once: what comes meanwhile is not missed, be it that nobody
    /// is woken for it.
    fn go_elsewhere(mut self) {
        self.behind = !self.behind;
        let link = self.link.0.clone();
        let Task { socket, link: guard, inbox, writer, phase, waiting_frames, received, behind, ready, .. } = self;
        // The socket has to leave this runtime.
        let socket = match socket.into_std() {
            Ok(socket) => socket,
            Err(e) => return tracing::warn!(peer = %link.peer, "connection lost on its way to another thread: {e}"),
        };
        link.runtime(behind).spawn(async move {
            match TcpStream::from_std(socket) {
                Ok(socket) => {
                    let (link, slice_over, timer) = (guard, false, None);
                    let task = Task {
                        socket,
                        link,
                        inbox,
                        writer,
                        phase,
                        waiting_frames,
                        received,
                        slice_over,
                        behind,
                        timer,
                        ready,
                    };
                    task.live().await;
                }
                Err(e) => tracing::warn!(peer = %guard.0.peer, "connection not registered: {e}"),
            }
        });
    }
}
