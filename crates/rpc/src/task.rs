//! [`Task`]: one connection on its network thread.
//!
//! ```text
//! step:    collect answers ─▶ read once ─▶ decode all, call the handler ─▶ collect answers
//! write:   at once, or together with other connections' (`reactor`)
//! finish:  again ─ there may be more to read   rest ─ nothing moves   end
//! ```
//! It rests when the socket has nothing to read, or when the client does not take its answers; it is woken by the
//! socket or by a responder. Between two steps it may move to another thread (`place`). Source of the protocol: HBase
//! 2.6 RPC.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Waker;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};

use crate::direct::{AT_ONCE, small_answers_leave};
use crate::format::{FRAME_LEN, MAX_CONNECTION_HEADER, PREAMBLE_LEN};
use crate::handshake::{self, Preamble};
use crate::inbox::Inbox;
use crate::link::{Link, Mode};
use crate::others;
use crate::outbox::{Exchange, Found};
use crate::requests::{Batch, Requests, SLICE, Stop};
use crate::socket::Socket;
use crate::writer::{Chunk, Writer, head_buffer, recycle};

/// Bytes of a client that is being closed that are thrown away at most.
const LINGER_BYTES: u64 = 64 << 20;
/// After so many long steps in a row a guest is left to the thread that stands back, for so long: one may be the machine's.
const LONG_STEPS: u8 = 3;
const NO_GUEST: Duration = Duration::from_secs(1);
/// Answers up to this leave together with those of other connections.
const SMALL_OUTPUT: usize = 16 << 10;

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

/// How a step leaves the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Until the socket or a responder wakes it.
    Rest,
    /// There is more to do.
    Again,
    Closed,
}

/// What was read before a step.
pub(crate) type Received<'a> = io::Result<&'a [u8]>;

/// Takes the link out of the server's books, however its task ends.
#[derive(Debug)]
pub(crate) struct LinkGuard(pub Arc<Link>);

impl Drop for LinkGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

pub(crate) struct Task {
    pub socket: Socket,
    link: LinkGuard,
    inbox: Inbox,
    writer: Writer,
    phase: Phase,
    /// `inbox` holds whole frames that wait for room in the output, or for the next step.
    waiting_frames: bool,
    /// The frames at hand, or those that wait, came with a read at this time.
    received: Instant,
    /// The client closed its side, or a limit is reached.
    ended: bool,
    /// Ends the handshake or the lingering.
    deadline: Option<Instant>,
    /// Its last steps as a guest that were long, and what came of them.
    long_steps: u8,
    no_guest_until: Option<Instant>,
    /// Reused to collect chunks.
    ready: Vec<Chunk>,
}

impl Task {
    /// `stream` does not block.
    pub fn new(stream: std::net::TcpStream, link: LinkGuard) -> Task {
        let now = Instant::now();
        let deadline = Some(now + link.0.server.options.handshake_timeout);
        Task {
            socket: Socket::new(stream),
            link,
            inbox: Inbox::default(),
            writer: Writer::default(),
            phase: Phase::Preamble,
            waiting_frames: false,
            received: now,
            ended: false,
            deadline,
            long_steps: 0,
            no_guest_until: None,
            ready: Vec::new(),
        }
    }

    pub fn link(&self) -> &Arc<Link> {
        &self.link.0
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether it has nothing but work of low priority.
    pub fn is_low(&self) -> bool {
        self.link.0.place.is_behind()
    }

    /// Whether it has that, in short pieces.
    pub fn is_guest(&self, now: Instant) -> bool {
        self.is_low() && self.may_move() && self.no_guest_until.is_none_or(|until| until <= now)
    }

    /// A step as a guest was long, or not. True if it is no guest for some time after it.
    pub fn was_guest(&mut self, long: bool, now: Instant) -> bool {
        self.long_steps = if long { self.long_steps + 1 } else { 0 };
        if self.long_steps < LONG_STEPS {
            return false;
        }
        (self.long_steps, self.no_guest_until) = (0, Some(now + NO_GUEST));
        true
    }

    /// Whether the calling thread has others that come before it.
    fn is_guest_here(&self) -> bool {
        others::is_host() && self.is_low()
    }

    /// Whether the last step has left something that the socket may take.
    pub fn has_rest(&self) -> bool {
        !self.writer.is_empty() && self.socket.is_writable()
    }

    /// Whether it may go on on another thread. Deadlines stay with theirs.
    pub fn may_move(&self) -> bool {
        self.deadline.is_none() && matches!(self.phase, Phase::Open(_)) && self.link.0.server.mode() == Mode::Run
    }

    /// Whether the next step may be given what others read for it, a few KiB.
    pub fn is_read_along(&self) -> bool {
        self.may_receive() && self.socket.is_readable() && !self.waiting_frames && !self.inbox.is_in_large_frame()
    }

    /// Whether the connection may read, or go on with what was read, now.
    fn may_receive(&self) -> bool {
        self.link.0.server.mode() == Mode::Run
            && (self.writer.bytes() < self.link.0.server.options.max_output_bytes
                || matches!(self.phase, Phase::Closing { .. }))
            && (self.waiting_frames || self.socket.is_readable())
    }

    /// Collects, reads once and decodes. What is to be written is small ([`Task::small_output`]), or is written already as far
    /// as the socket takes it; of a guest a piece, the rest of which is for the next steps.
    pub fn step(&mut self, waker: &Waker, received: Option<Received<'_>>) -> io::Result<()> {
        let exchange = Exchange { calls: 0, lend: Some(head_buffer()), into: &mut self.ready };
        let found = self.link.0.outbox.begin(waker, exchange);
        self.queue_ready(found);
        if self.link.0.server.mode() == Mode::Abort {
            self.ended = true;
            return Ok(());
        }
        if received.is_none() && self.has_rest() {
            return self.flush();
        }
        if self.link.0.outbox.has_held() {
            self.flush()?;
            if !self.link.0.is_clogged() {
                self.run_held();
                self.collect(0);
            }
        }
        if received.is_some() || self.may_receive() {
            self.receive(received)?;
        }
        if self.small_output().is_none() { self.flush() } else { Ok(()) }
    }

    /// What is to be written, if that is little.
    pub fn small_output(&self) -> Option<(BorrowedFd<'_>, &[u8])> {
        let bytes = self.writer.only().filter(|bytes| self.socket.is_writable() && bytes.len() <= SMALL_OUTPUT)?;
        Some((self.socket.as_fd(), bytes))
    }

    /// The small output was written, with this outcome.
    pub fn sent(&mut self, outcome: io::Result<usize>) -> io::Result<()> {
        match outcome {
            Ok(n) => {
                self.link.0.counters().sent_bytes.fetch_add(n as u64, Relaxed);
                self.writer.advance(n);
                self.link.0.unsent.store(self.writer.bytes(), Relaxed);
            }
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
        self.flush()
    }

    /// After its output was written, as far as the socket takes it.
    pub fn finish(&mut self) -> Next {
        let mode = self.link.0.server.mode();
        if self.ended || mode == Mode::Abort {
            return Next::Closed;
        }
        if let Phase::Closing { shut, .. } = &mut self.phase
            && self.writer.is_empty()
            && !*shut
        {
            *shut = true;
            self.socket.shut();
        }
        if self.may_receive() {
            return Next::Again;
        }
        if !self.writer.is_empty() {
            // Answers that come meanwhile are collected when the socket takes bytes again, and wake nobody.
            return if self.has_rest() { Next::Again } else { Next::Rest };
        }
        if mode == Mode::Drain && self.link.0.outbox.drain() {
            return Next::Closed;
        }
        match self.link.0.outbox.rest() {
            Ok(lent) => {
                lent.into_iter().for_each(recycle);
                Next::Rest
            }
            Err(_) => Next::Again,
        }
    }

    /// Work that others gave; what a slice has no time for stays for the next.
    fn run_held(&mut self) {
        let began = Instant::now();
        let mut held = self.link.0.outbox.take_held().into_iter();
        for work in held.by_ref() {
            work.run();
            if began.elapsed() > SLICE {
                break;
            }
        }
        self.link.0.outbox.put_back(held.collect());
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

    /// Writes what there is, as far as the socket takes it; not all at once if others would wait for the end of that.
    fn flush(&mut self) -> io::Result<()> {
        if self.writer.is_empty() || !self.socket.is_writable() {
            self.link.0.unsent.store(self.writer.bytes(), Relaxed);
            return Ok(());
        }
        let mut sent = 0;
        let most = most_at_once(self.writer.bytes(), self.is_guest_here(), small_answers_leave);
        let outcome = self.writer.flush(self.socket.stream(), most, &mut sent);
        self.link.0.counters().sent_bytes.fetch_add(sent, Relaxed);
        self.link.0.unsent.store(self.writer.bytes(), Relaxed);
        if !outcome? {
            self.socket.took_less();
        }
        Ok(())
    }

    /// Reads once and acts on it.
    fn receive(&mut self, received: Option<Received<'_>>) -> io::Result<()> {
        if self.waiting_frames {
            let buf = self.inbox.take_kept();
            return self.process(buf);
        }
        let received = match received {
            Some(Ok([])) => {
                self.ended = true;
                return Ok(());
            }
            Some(received) => received?,
            None => &[],
        };
        match self.inbox.read(received, &mut self.socket)? {
            None => Ok(()),
            Some((buf, 0)) => {
                self.inbox.put_back(buf, 0);
                self.ended = true;
                Ok(())
            }
            Some((buf, n)) => {
                self.link.0.counters().received_bytes.fetch_add(n as u64, Relaxed);
                self.process(buf)?;
                self.ended = matches!(self.phase, Phase::Closing { discarded: LINGER_BYTES.., .. });
                Ok(())
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
            elsewhere: link.server.queued_elsewhere(link.shard()),
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
                    Stop::Full | Stop::SliceEnd => {
                        self.waiting_frames = true;
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
                self.writer.push(Chunk::Own(answer));
                self.phase = Phase::IgnoreToken;
            }
            Preamble::Again(answer) => self.writer.push(Chunk::Own(answer)),
            Preamble::Close(answer) => {
                self.writer.push(Chunk::Own(answer));
                self.enter_closing();
            }
        }
    }

    fn enter_closing(&mut self) {
        self.phase = Phase::Closing { discarded: 0, shut: false };
        self.deadline = Some(Instant::now() + self.link.0.server.options.linger);
    }

    fn open(&mut self, header: BytesMut) -> io::Result<()> {
        let link = &self.link.0;
        match handshake::connection(header.freeze(), link, &*link.server.handler) {
            Ok(connection) => {
                tracing::debug!(peer = %link.peer, service = connection.service, user = connection.user,
                    version = ?connection.version, "connection open");
                self.phase = Phase::Open(Requests::new(connection));
                self.deadline = None;
                Ok(())
            }
            Err(e) => {
                link.server.exceptions.count(e.class());
                Err(io::Error::new(io::ErrorKind::InvalidData, e.to_string()))
            }
        }
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
    /// The connection is over. `lost`: what ended it, if it did not end by itself.
    pub fn close(self, lost: Option<io::Error>) {
        let peer = self.link.0.peer;
        match lost {
            Some(e) if e.kind() == io::ErrorKind::InvalidData => tracing::warn!(%peer, "connection closed: {e}"),
            Some(e) => tracing::debug!(%peer, "connection lost: {e}"),
            None => tracing::debug!(%peer, "connection closed"),
        }
    }
}

/// How much leaves with one step, of so many bytes that are to be written: of a guest a piece, and of others too while clients wait for
/// small answers, and would for the end of a system call (two megabytes take 0.4 ms).
fn most_at_once(bytes: usize, is_guest: bool, small_answers_leave: impl FnOnce() -> bool) -> usize {
    if is_guest || bytes > AT_ONCE && small_answers_leave() { AT_ONCE } else { usize::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_leaves_in_pieces_while_others_wait_for_little() {
        assert_eq!(
            [most_at_once(AT_ONCE + 1, false, || true), most_at_once(AT_ONCE + 1, false, || false)],
            [AT_ONCE, usize::MAX]
        );
        let unasked = |bytes, is_guest| most_at_once(bytes, is_guest, || panic!("asked in vain"));
        assert_eq!([unasked(AT_ONCE, false), unasked(1, true)], [usize::MAX, AT_ONCE]);
    }
}
