//! A large answer goes into the socket on the thread that made it.
//!
//! ```text
//! pool thread: answer ─▶ connection rests? ─ yes ─▶ socket ─ what it does not take ─▶ outbox ─▶ connection's task
//!                                          └ no ──▶ outbox
//! ```
//! To copy it on the network thread takes as long as many Gets: that has other connections, and work of low priority is to be
//! paid for by the threads of low priority. What a network thread does aside (`aside`) it writes so itself, until others want something
//! of it.

use std::io::{ErrorKind, IoSlice, Write};
use std::net::TcpStream;

use crate::others::{on_network_thread, others_wait};

/// Cell blocks from this size on. Smaller ones cost less than the wake-up that they share with others.
pub(crate) const LARGE_CELLS: usize = 32 << 10;
/// Bytes of a system call, some 10 µs: until it ends, a kernel without preemption lets nobody else onto the processor. Of a network
/// thread half of that: others wait for nobody else. With that of all threads, clients had half as much again to do for large answers.
const AT_ONCE_ON_POOL: usize = 32 << 10;
pub(crate) const AT_ONCE: usize = 16 << 10;

/// Writes `head` and then `cells` as far as the socket, which does not block, takes them; on a network thread until others wait for
/// that, before it has begun, too: to make the answer took as long as to write a piece. Returns how far: an error is left to the connection's task, which finds it, too.
pub(crate) fn write(mut socket: &TcpStream, head: &[u8], cells: &[u8]) -> usize {
    let (mut sent, at_once) = (0, if on_network_thread() { AT_ONCE } else { AT_ONCE_ON_POOL });
    while sent < head.len() + cells.len() && !others_wait() {
        let (head, cells) = (&head[sent.min(head.len())..], &cells[sent.saturating_sub(head.len())..]);
        let parts = [IoSlice::new(head), IoSlice::new(&cells[..cells.len().min(at_once)])];
        match socket.write_vectored(&parts) {
            Ok(0) => break,
            Ok(n) => sent += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::others::{begin, note_connections};
    use std::cell::Cell;
    use std::io::Read;
    use std::net::TcpListener;

    #[test]
    fn others_that_wait_come_first_and_between_pieces() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let cells: Vec<u8> = (0..3 * AT_ONCE).map(|i| (i * 7 / 3) as u8).collect();
        let mut received = vec![0; 4 + cells.len()];
        note_connections(true);
        assert_eq!(write(&server, b"head", &cells), 0);
        note_connections(false);
        // Somebody comes while the second piece is written.
        let (poll, looks) = (mio::Poll::new().unwrap(), Cell::new(0));
        begin(poll.registry(), move || looks.replace(looks.get() + 1) >= 2);
        assert_eq!(write(&server, b"head", &cells), 4 + 2 * AT_ONCE);
        begin(poll.registry(), || false);
        assert_eq!(write(&server, b"", &cells[2 * AT_ONCE..]), AT_ONCE);
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
        assert_eq!(write(&server, b"head", &cells[..100]), 104);
        let sent = write(&server, b"head", &cells);
        assert!((100..cells.len()).contains(&sent), "{sent}");
        drop(server);
        let mut received = Vec::new();
        client.read_to_end(&mut received).unwrap();
        assert_eq!(received.len(), 104 + sent);
        assert!(received[..104] == [b"head", &cells[..100]].concat() && received[108..] == cells[..sent - 4]);
        drop(listener);
    }
}
