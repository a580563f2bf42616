//! [`Writer`]: chunks on their way into the socket, many per system call.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Write};
use std::ops::Deref;

use bytes::Bytes;
use martite_cell::CellBlock;

/// Chunks per system call.
const MAX_SLICES: usize = 64;
/// Written buffers of this capacity serve again for the heads of later answers.
const RECYCLED: std::ops::RangeInclusive<usize> = 256..=32 << 10;
/// Buffers kept per network thread.
const MAX_RECYCLED: usize = 64;

thread_local! {
    static RECYCLE: std::cell::RefCell<Vec<Vec<u8>>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Bytes to be written.
#[derive(Debug)]
pub(crate) enum Chunk {
    Own(Vec<u8>),
    /// A part of what others hold, too.
    Shared(Bytes),
}

impl Deref for Chunk {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Chunk::Own(bytes) => bytes,
            Chunk::Shared(bytes) => bytes,
        }
    }
}

/// A cell block in one chunk; in several, if cells are lent to it.
pub(crate) fn chunks(cells: CellBlock) -> impl Iterator<Item = Chunk> {
    let (own, pieces) = match cells.into_own() {
        Ok(own) => (Some(Chunk::Own(own)), None),
        Err(cells) => (None, Some(cells.into_pieces().map(Chunk::Shared))),
    };
    own.into_iter().chain(pieces.into_iter().flatten())
}

/// An empty buffer for heads, used before if possible.
pub(crate) fn head_buffer() -> Vec<u8> {
    RECYCLE.with_borrow_mut(Vec::pop).unwrap_or_else(|| Vec::with_capacity(2 << 10))
}

/// Takes a buffer back.
pub(crate) fn recycle(chunk: Chunk) {
    if let Chunk::Own(mut chunk) = chunk
        && RECYCLED.contains(&chunk.capacity())
    {
        RECYCLE.with_borrow_mut(|kept| {
            if kept.len() < MAX_RECYCLED {
                chunk.clear();
                kept.push(chunk);
            }
        });
    }
}

#[derive(Debug, Default)]
pub(crate) struct Writer {
    chunks: VecDeque<Chunk>,
    /// Bytes of the first chunk that are written already.
    written: usize,
    bytes: usize,
}

impl Writer {
    pub fn of(chunks: impl IntoIterator<Item = Chunk>) -> Writer {
        let mut writer = Writer::default();
        chunks.into_iter().for_each(|chunk| writer.push(chunk));
        writer
    }
    /// Bytes not yet written.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    pub fn push(&mut self, chunk: Chunk) {
        if chunk.is_empty() {
            return recycle(chunk);
        }
        self.bytes += chunk.len();
        self.chunks.push_back(chunk);
    }

    /// A chunk of which the first bytes have left already; before it there is none.
    pub fn push_rest(&mut self, chunk: Chunk, written: usize) {
        debug_assert!(self.is_empty() && written < chunk.len());
        self.push(chunk);
        self.written = written;
        self.bytes -= written;
    }

    /// What is left: chunks, and the bytes of the first that are written already.
    pub fn into_rest(self) -> (impl Iterator<Item = Chunk>, usize) {
        (self.chunks.into_iter(), self.written)
    }

    /// All that there is, if it is one piece.
    pub fn only(&self) -> Option<&[u8]> {
        if self.chunks.len() == 1 { self.chunks.front().map(|chunk| &chunk[self.written..]) } else { None }
    }

    /// Writes `most` bytes, or until all is written, or until the socket takes no more; the bytes written are added to `sent`. False
    /// if it takes no more.
    pub fn flush(&mut self, mut socket: impl Write, mut most: usize, sent: &mut u64) -> io::Result<bool> {
        while !self.is_empty() && most > 0 {
            let outcome = if let Some(only) = self.only() {
                socket.write(&only[..only.len().min(most)])
            } else {
                let mut slices = [IoSlice::new(&[]); MAX_SLICES];
                let (mut skip, mut room, mut count) = (self.written, most, 0);
                for (slice, chunk) in slices.iter_mut().zip(&self.chunks) {
                    let bytes = &chunk[skip..][..room.min(chunk.len() - skip)];
                    *slice = IoSlice::new(bytes);
                    (skip, room, count) = (0, room - bytes.len(), count + 1);
                    if room == 0 {
                        break;
                    }
                }
                socket.write_vectored(&slices[..count])
            };
            match outcome {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => {
                    *sent += n as u64;
                    most -= n;
                    self.advance(n);
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// The first `n` bytes have left.
    pub fn advance(&mut self, n: usize) {
        self.bytes -= n;
        self.written += n;
        while let Some(first) = self.chunks.front()
            && self.written >= first.len()
        {
            self.written -= first.len();
            if let Some(done) = self.chunks.pop_front() {
                recycle(done);
            }
        }
        if self.chunks.is_empty() && self.chunks.capacity() > MAX_SLICES {
            self.chunks = VecDeque::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes `step` bytes per call, then says that it is full.
    struct Narrow {
        step: usize,
        taken: Vec<u8>,
        full: bool,
    }

    impl Write for Narrow {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.full = !self.full;
            if self.full {
                return Err(ErrorKind::WouldBlock.into());
            }
            let n = self.step.min(buf.len());
            self.taken.extend_from_slice(&buf[..n]);
            Ok(n)
        }
        fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
            let all: Vec<u8> = bufs.iter().flat_map(|b| b.iter().copied()).collect();
            self.write(&all)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_socket_that_takes_little_gets_all_bytes_in_order() {
        for (step, most) in [(1, usize::MAX), (3, 1000), (7, 5), (1000, 1), (1000, 7), (1000, usize::MAX)] {
            let mut writer = Writer::default();
            let mut expected = Vec::new();
            for i in 0..100u8 {
                let chunk = vec![i; usize::from(i % 5)];
                expected.extend_from_slice(&chunk);
                writer.push(if i % 2 == 0 { Chunk::Own(chunk) } else { Chunk::Shared(chunk.into()) });
            }
            let mut socket = Narrow { step, taken: Vec::new(), full: false };
            let mut sent = 0;
            while !writer.is_empty() {
                let before = sent;
                writer.flush(&mut socket, most, &mut sent).unwrap();
                assert!(sent - before <= most as u64);
            }
            assert_eq!(socket.taken, expected);
            assert_eq!((writer.bytes(), sent), (0, expected.len() as u64));
        }
    }
}
