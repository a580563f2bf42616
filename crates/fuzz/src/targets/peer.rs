//! A client of bytes: says what it has, hears the answer out.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// A server that does not end the connection by then hangs.
const PATIENCE: Duration = Duration::from_secs(8);
/// An answer of more bytes is not read on.
const MOST_ANSWER: u64 = 64 << 20;

/// Sends everything, closes its side, and reads until the server closes. An error: the server did not take it all,
/// which is its right.
pub fn talk(server: SocketAddr, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // The answers of what was sent are few and small, so nobody waits for the other here.
    let sent = stream.write_all(bytes).and_then(|()| stream.shutdown(Shutdown::Write));
    let mut answer = Vec::new();
    match stream.take(MOST_ANSWER).read_to_end(&mut answer) {
        Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            panic!("the server neither answers nor closes the connection")
        }
        read => read.and(sent).map(|()| answer),
    }
}

/// Waits until something that another thread does has come true.
pub fn until(what: &str, is_true: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_true() {
        assert!(began.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::yield_now();
    }
}
