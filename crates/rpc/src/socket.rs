//! [`Socket`]: a connection's socket, and what is known of it without asking the system.

use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::BytesMut;
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

/// Bytes of one system call, which lets nobody else run until all are copied.
const MOST_AT_ONCE: usize = 256 << 10;

#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    /// It may have something to read, take something: nothing else was heard.
    readable: bool,
    writable: bool,
    /// The client sends nothing more: the end of the stream is still to be read, whatever was.
    hung_up: bool,
}

impl Socket {
    /// `stream` does not block.
    pub fn new(stream: std::net::TcpStream) -> Socket {
        Socket { stream: TcpStream::from_std(stream), readable: true, writable: true, hung_up: false }
    }

    pub fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(&mut self.stream, token, Interest::READABLE | Interest::WRITABLE)
    }

    pub fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        registry.deregister(&mut self.stream)
    }

    /// The system has news. An error is found by reading.
    pub fn heard(&mut self, event: &Event) {
        self.hung_up |= event.is_read_closed();
        self.readable |= event.is_readable() || self.hung_up || event.is_error();
        self.writable |= event.is_writable() || event.is_write_closed() || event.is_error();
    }

    pub fn is_readable(&self) -> bool {
        self.readable
    }

    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// It took less than it was given.
    pub fn took_less(&mut self) {
        self.writable = false;
    }

    /// Reads once into the spare room; `None`: there is nothing now.
    pub fn receive(&mut self, buffer: &mut BytesMut) -> io::Result<Option<usize>> {
        loop {
            let room = (buffer.capacity() - buffer.len()).min(MOST_AT_ONCE);
            let outcome = martite_env::socket::receive(self.stream.as_fd(), buffer, room);
            if !matches!(&outcome, Err(e) if e.kind() == ErrorKind::Interrupted) {
                return self.received(room, outcome);
            }
        }
    }

    /// What a read into `room` bytes says. One that leaves room is the last, until there is news.
    pub fn received(&mut self, room: usize, outcome: io::Result<usize>) -> io::Result<Option<usize>> {
        match outcome {
            Ok(n) => {
                self.readable = n == 0 || n == room || self.hung_up;
                Ok(Some(n))
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(None)
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// For who writes.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Tells the client that nothing more comes. One that is gone does not need to hear it.
    pub fn shut(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }
}
