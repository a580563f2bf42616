//! A large answer goes into the socket on the thread that made it.
//!
//! ```text
//! pool thread: answer ─▶ connection rests? ─ yes ─▶ socket ─ what it does not take ─▶ outbox ─▶ connection's task
//!                                          └ no ──▶ outbox
//! ```
//! To copy it on the network thread takes as long as many Gets: that has other connections, and work of low priority is to be
//! paid for by the threads of low priority. What a network thread does aside (`aside`) it writes so itself, until others want something
//! of it.

use std::net::TcpStream;

use crate::others::{on_network_thread, others_wait};
use crate::writer::Writer;

/// Cell blocks from this size on. Smaller ones cost less than the wake-up that they share with others.
pub(crate) const LARGE_CELLS: usize = 32 << 10;
/// Bytes of a system call, some 10 µs: until it ends, a kernel without preemption lets nobody else onto the processor. Of a network
/// thread half of that: others wait for nobody else. With that of all threads, clients had half as much again to do for large answers.
const AT_ONCE_ON_POOL: usize = 32 << 10;
pub(crate) const AT_ONCE: usize = 16 << 10;

/// Writes `answer` as far as the socket, which does not block, takes it; on a network thread until others wait for
/// that, before it has begun, too: to make the answer took as long as to write a piece. Returns how far: an error is left to the connection's task, which finds it, too.
pub(crate) fn write(socket: &TcpStream, answer: &mut Writer) -> usize {
    let (mut sent, at_once) = (0, if on_network_thread() { AT_ONCE } else { AT_ONCE_ON_POOL });
    while !answer.is_empty() && !others_wait() {
        if !matches!(answer.flush(socket, at_once, &mut sent), Ok(true)) {
            break;
        }
    }
    sent as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::{begin, note_connections};
    use crate::writer::Chunk;
    use std::cell::Cell;
    use std::io::Read;
    use std::net::TcpListener;

    fn answer(cells: &[u8]) -> Writer {
        Writer::of([b"head", cells].map(|chunk| Chunk::Own(chunk.to_vec())))
    }

    #[test]
    fn others_that_wait_come_first_and_between_pieces() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let cells: Vec<u8> = (0..3 * AT_ONCE).map(|i| (i * 7 / 3) as u8).collect();
        let mut received = vec![0; 4 + cells.len()];
        let mut answer = answer(&cells);
        note_connections(true);
        assert_eq!(write(&server, &mut answer), 0);
        note_connections(false);
        // Somebody comes while the second piece is written.
        let (poll, looks) = (mio::Poll::new().unwrap(), Cell::new(0));
        begin(poll.registry(), move || looks.replace(looks.get() + 1) >= 2);
        assert_eq!(write(&server, &mut answer), 2 * AT_ONCE);
        begin(poll.registry(), || false);
        assert_eq!(write(&server, &mut answer), AT_ONCE + 4);
        client.read_exact(&mut received).unwrap();
        assert!(received[..4] == *b"head" && received[4..] == cells);
    }

    #[test]
    fn writes_until_the_socket_is_full_and_tells_how_far() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let cells: Vec<u8> = (0..64usize << 20).map(|i| (i * 7 / 3) as u8).collect();
        assert_eq!(write(&server, &mut answer(&cells[..100])), 104);
        let mut answer = answer(&cells);
        let sent = write(&server, &mut answer);
        assert_eq!(answer.bytes(), 4 + cells.len() - sent);
        assert!((100..cells.len()).contains(&sent), "{sent}");
        drop(server);
        let mut received = Vec::new();
        client.read_to_end(&mut received).unwrap();
        assert_eq!(received.len(), 104 + sent);
        assert!(received[..104] == [b"head", &cells[..100]].concat() && received[108..] == cells[..sent - 4]);
        drop(listener);
    }
}
