//! A large answer goes into the socket on the thread that made it.
//!
//! ```text
//! pool thread: answer ─▶ connection rests? ─ yes ─▶ socket ─ what it does not take ─▶ outbox ─▶ connection's task
//!                                          └ no ──▶ outbox
//! ```
//! To copy it on the network thread takes as long as many Gets: that has other connections, and work of low priority is to be
//! paid for by the threads of low priority. It leaves in pieces, larger ones if no small answers left of late: their clients would wait
//! for the end of such a piece. What a network thread does aside (`aside`) it writes so itself, until others want something
//! of it.

use std::net::TcpStream;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::others::{on_network_thread, others_wait};
use crate::writer::Writer;

/// Cell blocks from this size on. Smaller ones cost less than the wake-up that they share with others.
pub(crate) const LARGE_CELLS: usize = 32 << 10;
/// Bytes of a system call, some 10 µs: until it ends, a kernel without preemption lets nobody else onto the processor. Of a network
/// thread half of that: others wait for nobody else. With that of all threads, clients had half as much again to do for large answers.
const AT_ONCE_ON_POOL: usize = 32 << 10;
pub(crate) const AT_ONCE: usize = 16 << 10;
/// And where no client waits for a small answer: with 32 KiB a scan that returns a tenth of its rows took a tenth more CPU.
const AT_ONCE_ALONE: usize = 128 << 10;

/// Those of this process: all of its servers share the machine.
pub(crate) static SMALL: LazyLock<SmallAnswers> = LazyLock::new(SmallAnswers::new);

/// Whether answers leave that are not large, nor to calls that are parts of longer work ([`crate::Responder::note_part`]): for so long after
/// one, more are to be expected.
#[derive(Debug)]
pub(crate) struct SmallAnswers {
    came: AtomicBool,
    origin: Instant,
    /// In microseconds.
    until: AtomicU64,
}

const LATELY: Duration = Duration::from_millis(20);

impl SmallAnswers {
    fn new() -> SmallAnswers {
        SmallAnswers { came: AtomicBool::new(false), origin: Instant::now(), until: AtomicU64::new(0) }
    }

    /// One leaves.
    #[inline]
    pub fn note(&self) {
        if !self.came.load(Relaxed) {
            self.came.store(true, Relaxed);
        }
    }

    /// Whether any came of late. It is looked so rarely that those who note it seldom have to write.
    pub fn are_expected(&self, now: Instant) -> bool {
        let micros = |at: Instant| at.saturating_duration_since(self.origin).as_micros() as u64;
        let (now_us, until) = (micros(now), self.until.load(Relaxed));
        if micros(now + LATELY / 2) < until {
            return true;
        }
        if self.came.load(Relaxed) && self.came.swap(false, Relaxed) {
            self.until.store(micros(now + LATELY), Relaxed);
            return true;
        }
        now_us < until
    }
}

/// Whether clients get small answers of late: they would wait for the end of anything long on the threads that make those.
pub fn small_answers_leave() -> bool {
    SMALL.are_expected(Instant::now())
}

/// Bytes of the next system call.
fn piece(on_network_thread: bool, small_answers: impl FnOnce() -> bool) -> usize {
    match on_network_thread {
        true => AT_ONCE,
        false if small_answers() => AT_ONCE_ON_POOL,
        false => AT_ONCE_ALONE,
    }
}

/// Writes `answer` as far as the socket, which does not block, takes it; on a network thread until others wait for
/// that, before it has begun, too: to make the answer took as long as to write a piece. Returns how far: an error is left to the connection's task, which finds it, too.
pub(crate) fn write(socket: &TcpStream, answer: &mut Writer) -> usize {
    let mut sent = 0;
    while !answer.is_empty() && !others_wait() {
        let at_once = piece(on_network_thread(), small_answers_leave);
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
    fn pieces_are_small_while_small_answers_leave() {
        let (small, now) = (SmallAnswers::new(), Instant::now());
        let at = |part: u32| now + LATELY * part / 4;
        assert!(!small.are_expected(now));
        small.note();
        assert!([0, 1, 2, 3].iter().all(|part| small.are_expected(at(*part))) && !small.are_expected(at(4)));
        small.note();
        assert!(small.are_expected(at(5)));
        small.note();
        assert!(small.are_expected(at(6)) && small.came.load(Relaxed), "known without looking");
        assert!(small.are_expected(at(8)) && !small.came.load(Relaxed));
        assert!(small.are_expected(at(11)) && !small.are_expected(at(12)));
        let pieces =
            [(true, false), (true, true), (false, true), (false, false)].map(|(on, small)| piece(on, || small));
        assert_eq!(pieces, [AT_ONCE, AT_ONCE, AT_ONCE_ON_POOL, AT_ONCE_ALONE]);
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
