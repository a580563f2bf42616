//! [`Wire`]: a connection's socket with what was received and not yet judged, and what waits to be sent.
//!
//! ```text
//! socket ──▶ a room of the thread ──▶ answers, begun ──▶ what is left: little is kept by the connection and the room goes
//!            (what was kept before it)                                to the next one that reads; much keeps the room
//! ```
//! With a room for each of 75 connections, and answers that are put together, the processor's caches would hold none of them.

use crate::Error;
use martite_rpc::client::ClientOptions;
use parking_lot::Mutex;
use rustix::net::RecvFlags;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::ReadHalf;

/// Bytes to read at a time.
pub const READ: usize = 256 << 10;
/// The same for who stands back.
const SHORT_READ: usize = 32 << 10;
/// The same for who wants to know what answers there are, not what is in their cells, and what it lets pass at a time.
const HEAD_READ: usize = 1 << 10;
const SKIPPED: usize = 64 << 10;
/// Largest answer accepted.
const MAX_ANSWER: usize = 256 << 20;
/// What a connection keeps without a room: the beginning of an answer and a cell that is cut.
const KEPT: usize = 4 << 10;

/// Rooms that the connections of a thread receive in; the one used last is the next.
#[derive(Clone, Default)]
pub struct Rooms(Arc<Mutex<Vec<Vec<u8>>>>);

pub struct Wire {
    socket: TcpStream,
    input: Input,
    /// Requests, written here and then sent.
    pub output: Vec<u8>,
    /// Bytes of `output` that were sent.
    sent: usize,
    stands_back: bool,
}

/// What was received and is not judged.
struct Input {
    rooms: Rooms,
    /// Of a room, or what was kept.
    bytes: Vec<u8>,
    /// So many of `bytes` are filled.
    filled: usize,
    /// Bytes of the answer that has begun which were judged before the rest came: they are not here any more.
    taken: usize,
    /// Bytes to read at a time.
    at_once: usize,
    /// Whether cells of answers that are not whole are left unread.
    skims: bool,
    /// Bytes of the answer that has begun which have not come and are to be left unread.
    to_skip: usize,
}

impl Wire {
    /// Connects as a user.
    pub async fn connect(address: SocketAddr, user: &str, rooms: Rooms) -> Result<Wire, Error> {
        let mut socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let options = ClientOptions { user: user.to_owned(), ..ClientOptions::new("ClientService") };
        socket.write_all(&options.opening()).await?;
        let input = Input { rooms, bytes: Vec::new(), filled: 0, taken: 0, at_once: READ, skims: false, to_skip: 0 };
        Ok(Wire { socket, input, output: Vec::with_capacity(8 << 10), sent: 0, stands_back: false })
    }

    /// Reads in small pieces from now on: a kernel without preemption lets nobody else onto the processor until a system call
    /// ends.
    pub fn stand_back(&mut self) {
        self.stands_back = true;
        self.input.at_once = self.input.at_once.min(SHORT_READ);
    }

    pub fn stands_back(&self) -> bool {
        self.stands_back
    }

    /// Leaves in the kernel from now on what follows of cells that [`Wire::begun`] saw the first of: to copy and to look at what nobody
    /// asks about would keep others of the thread waiting.
    pub fn skim(&mut self) {
        self.input.at_once = HEAD_READ;
        self.input.skims = true;
    }

    /// Sends what waits until something is received. Both at once: a server that cannot send does not read either. May be dropped
    /// and called again.
    pub async fn exchange(&mut self) -> Result<(), Error> {
        let Wire { socket, input, output, sent, .. } = self;
        let (mut from, mut to) = socket.split();
        loop {
            tokio::select! {
                biased;
                n = to.write(&output[*sent..]), if *sent < output.len() => {
                    *sent += n?;
                    if *sent == output.len() {
                        output.clear();
                        *sent = 0;
                    }
                }
                n = poll_fn(|context| input.receive(&mut from, context)) => match n? {
                    0 => return Err(Error::wrong("the server closed the connection")),
                    _ => return Ok(()),
                },
            }
        }
    }

    /// Shows the answers that are whole, without their lengths, to `judge`, which may write more requests. Of the first, so many bytes
    /// as the second argument says were judged before and left out. To be followed by [`Wire::begun`].
    pub fn answers(
        &mut self,
        mut judge: impl FnMut(&[u8], usize, &mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Wire { input, output, .. } = self;
        let mut at = 0;
        while let Some((len, rest)) = input.bytes[at..input.filled].split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*len) as usize;
            if len > MAX_ANSWER {
                return Err(Error::wrong(format!("an answer of {len} bytes")));
            }
            let Some(frame) = len.checked_sub(input.taken).and_then(|len| rest.get(..len)) else { break };
            at += 4 + frame.len();
            judge(frame, std::mem::take(&mut input.taken), output)?;
        }
        input.take_out(0..at);
        Ok(())
    }

    /// Shows what is there of the answer that has begun, without its length, to `judge`, which tells what of it is judged and can go.
    pub fn begun(&mut self, judge: impl FnOnce(&[u8]) -> Result<Range<usize>, Error>) -> Result<(), Error> {
        let Wire { input, .. } = self;
        if let Some((len, part)) = input.bytes[..input.filled].split_first_chunk::<4>() {
            let (len, here) = (u32::from_be_bytes(*len) as usize, part.len());
            let judged = judge(part)?;
            if input.skims && !judged.is_empty() {
                input.to_skip = len.saturating_sub(input.taken + here);
            }
            input.taken += judged.len();
            input.take_out(judged.start + 4..judged.end + 4);
        }
        input.give_back();
        Ok(())
    }
}

impl Input {
    /// Bytes received; 0 at the end.
    fn receive(&mut self, from: &mut ReadHalf<'_>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.to_skip > 0 {
            return self.skip(from.as_ref(), context);
        }
        self.make_room();
        let mut free = ReadBuf::new(&mut self.bytes[self.filled..][..self.at_once]);
        let outcome = Pin::new(from).poll_read(context, &mut free);
        let n = free.filled().len();
        self.filled += n;
        if n == 0 {
            self.give_back();
        }
        outcome.map_ok(|()| n)
    }

    /// Lets bytes pass without a copy of them.
    fn skip(&mut self, from: &TcpStream, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.make_room();
        let most = self.to_skip.min(SKIPPED);
        loop {
            ready!(from.poll_read_ready(context))?;
            // What is there stays as it was; the kernel wants to know for how much there would be room.
            let unused = &mut self.bytes[self.filled..][..most];
            let skip = || Ok(rustix::net::recv(from, unused, RecvFlags::TRUNC)?.1);
            match from.try_io(Interest::READABLE, skip) {
                Ok(n) => {
                    self.to_skip -= n;
                    self.taken += n;
                    return Poll::Ready(Ok(n));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
    }

    /// Room for what is read at once, behind what is there.
    fn make_room(&mut self) {
        let needed = self.filled + if self.to_skip > 0 { SKIPPED } else { self.at_once };
        if self.bytes.len() < needed && self.filled <= KEPT {
            let mut room = self.rooms.0.lock().pop().unwrap_or_else(|| vec![0; KEPT + READ]);
            room[..self.filled].copy_from_slice(&self.bytes[..self.filled]);
            self.bytes = room;
        } else if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }

    fn give_back(&mut self) {
        if self.filled <= KEPT && self.bytes.len() > KEPT {
            let kept = self.bytes[..self.filled].to_vec();
            let room = std::mem::replace(&mut self.bytes, kept);
            self.rooms.0.lock().push(room);
        }
    }

    fn take_out(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.bytes.copy_within(range.end..self.filled, range.start);
            self.filled -= range.len();
        }
    }
}
