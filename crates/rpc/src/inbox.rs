//! [`Inbox`]: bytes from the socket, cut into frames.
//!
//! ```text
//! i32 length | length bytes | i32 length | …
//! ```
//! All connections of a thread read into one buffer, so an idle connection holds none. What remains of a read, the
//! beginning of a frame, is kept by the connection; a large frame is collected in a buffer of its own, which from some
//! megabytes on grows with the bytes that arrive, not with the length that was announced.

use std::cell::RefCell;
use std::io;

use bytes::BytesMut;

use crate::socket::Socket;

/// Size of the thread's read buffer.
const READ_BUFFER: usize = 64 << 10;
/// The thread's buffer is renewed when less room is left.
const MIN_ROOM: usize = 8 << 10;
/// Frames above this are collected in their own buffer.
const LARGE_FRAME: usize = 16 << 10;
/// The room that a large frame gets before any of it has come. Memory that was not written to yet costs nothing, moving what has
/// come into more room does.
const FIRST_ROOM: usize = 4 << 20;

thread_local! {
    static SHARED: RefCell<BytesMut> = RefCell::new(BytesMut::new());
}

#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The beginning of a frame, or whole frames that had to wait.
    kept: BytesMut,
    /// Bytes the first frame of `kept` needs, its length included, if known.
    wanted: usize,
    /// The buffer that is out belongs to this connection, not to the thread.
    own: bool,
}

impl Inbox {
    /// Whether the next read belongs into the buffer of a large frame.
    pub fn is_in_large_frame(&self) -> bool {
        self.wanted > LARGE_FRAME
    }

    /// Takes what was read already, and reads once more if there may be more; 0 bytes are the end of the stream, `None` is
    /// nothing now. Give the buffer back with [`Inbox::put_back`].
    pub fn read(&mut self, received: &[u8], socket: &mut Socket) -> io::Result<Option<(BytesMut, usize)>> {
        self.own = self.is_in_large_frame();
        let mut buf = if self.own { self.take_kept() } else { SHARED.take() };
        if self.own {
            // The first read of a huge frame must not allocate all that it announces.
            buf.reserve(self.wanted.saturating_sub(buf.len()).clamp(1, buf.len().max(FIRST_ROOM)));
        } else {
            if buf.capacity() < self.kept.len() + received.len() + MIN_ROOM {
                buf.reserve(self.kept.len() + received.len() + READ_BUFFER);
            }
            buf.extend_from_slice(&self.kept);
        }
        buf.extend_from_slice(received);
        let read = if received.is_empty() || socket.is_readable() { socket.receive(&mut buf) } else { Ok(None) };
        match read {
            Ok(read) if read.is_some() || !received.is_empty() => {
                self.kept = BytesMut::new();
                Ok(Some((buf, received.len() + read.unwrap_or(0))))
            }
            other => {
                if self.own {
                    self.kept = buf;
                } else {
                    buf.clear();
                    SHARED.set(buf);
                }
                other.map(|_| None)
            }
        }
    }

    /// Takes frames that had to wait. Give the buffer back with [`Inbox::put_back`].
    pub fn take_kept(&mut self) -> BytesMut {
        self.own = true;
        std::mem::take(&mut self.kept)
    }

    /// Takes back the buffer with what could not be used. `wanted` = bytes that the first frame in it needs.
    pub fn put_back(&mut self, mut buf: BytesMut, wanted: usize) {
        self.wanted = wanted;
        if !self.own {
            if !buf.is_empty() {
                self.kept = BytesMut::from(&buf[..]);
                buf.clear();
            }
            SHARED.set(buf);
        } else if !buf.is_empty() {
            self.kept = buf;
        }
    }
}
