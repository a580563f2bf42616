//! [`Wire`]: a connection's socket with what was received and not yet judged, and what waits to be sent.

use crate::Error;
use martite_rpc::client::ClientOptions;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Bytes to read at a time.
pub const READ: usize = 256 << 10;
/// The same for who stands back.
const SHORT_READ: usize = 32 << 10;
/// Largest answer accepted.
const MAX_ANSWER: usize = 256 << 20;

pub struct Wire {
    socket: TcpStream,
    input: Vec<u8>,
    /// Bytes of `input` that are filled.
    filled: usize,
    /// Bytes to read at a time.
    at_once: usize,
    /// Requests, written here and then sent.
    pub output: Vec<u8>,
    /// Bytes of `output` that were sent.
    sent: usize,
}

impl Wire {
    /// Connects as a user.
    pub async fn connect(address: SocketAddr, user: &str) -> Result<Wire, Error> {
        let mut socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let options = ClientOptions { user: user.to_owned(), ..ClientOptions::new("ClientService") };
        socket.write_all(&options.opening()).await?;
        Ok(Wire {
            socket,
            input: vec![0; READ],
            filled: 0,
            at_once: READ,
            output: Vec::with_capacity(8 << 10),
            sent: 0,
        })
    }

    /// Reads in small pieces from now on: a kernel without preemption lets nobody else onto the processor until a system call
    /// ends.
    pub fn stand_back(&mut self) {
        self.at_once = SHORT_READ;
    }

    pub fn stands_back(&self) -> bool {
        self.at_once == SHORT_READ
    }

    /// Sends what waits until something is received. Both at once: a server that cannot send does not read either. May be dropped
    /// and called again.
    pub async fn exchange(&mut self) -> Result<(), Error> {
        let Wire { socket, input, filled, at_once, output, sent } = self;
        let (mut from, mut to) = socket.split();
        let end = input.len().min(*filled + *at_once);
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
                n = from.read(&mut input[*filled..end]) => match n? {
                    0 => return Err(Error::wrong("the server closed the connection")),
                    n => {
                        *filled += n;
                        return Ok(());
                    }
                },
            }
        }
    }

    /// Shows the answers that are whole, without their lengths, to `judge`, which may write more requests.
    pub fn answers(&mut self, mut judge: impl FnMut(&[u8], &mut Vec<u8>) -> Result<(), Error>) -> Result<(), Error> {
        let mut at = 0;
        while let Some((len, rest)) = self.input[at..self.filled].split_first_chunk::<4>() {
            let len = u32::from_be_bytes(*len) as usize;
            if len > MAX_ANSWER {
                return Err(Error::wrong(format!("an answer of {len} bytes")));
            }
            let Some(frame) = rest.get(..len) else { break };
            judge(frame, &mut self.output)?;
            at += 4 + len;
        }
        self.make_room(at);
        Ok(())
    }

    /// Forgets the bytes before `at`, and makes room for the whole of the answer that has begun.
    fn make_room(&mut self, at: usize) {
        // A large answer comes in many pieces: what is in its place stays there.
        if at > 0 {
            self.input.copy_within(at..self.filled, 0);
            self.filled -= at;
        }
        if let Some((len, _)) = self.input[..self.filled].split_first_chunk::<4>() {
            let len = 4 + (u32::from_be_bytes(*len) as usize).min(MAX_ANSWER);
            if len > self.input.len() {
                self.input.resize(len, 0);
            }
        }
    }
}
