//! [`Outbox`]: the answers of one connection on their way from whoever made them to the network thread.
//!
//! ```text
//! Responder ─ push ─▶ chunks: [ heads and small messages of several answers ][ cells ][ heads … ][ cells ]
//!                                            └ one vectored write by the connection's task ┘
//! ```
//! A cell block stays in the buffer in which it was made, and large cells where they were read; heads, small messages and small cell blocks share a chunk.
//! While the task runs (`awake`) nobody wakes it: it collects everything before it rests, so a batch of calls costs one
//! wake-up and one write. While it rests, a large answer is written by who made it (`direct`); what others bring
//! meanwhile waits for that.

use crate::direct::{self, LARGE_CELLS};
use crate::writer::{Chunk, Writer, chunks, head_buffer};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::Waker;

use martite_cell::CellBlock;
use parking_lot::Mutex;

/// A chunk of heads is not grown beyond this; a message above [`LARGE_MESSAGE`] gets its own chunk.
const HEAD_CHUNK: usize = 16 << 10;
const LARGE_MESSAGE: usize = 4 << 10;
/// A cell block up to this is copied behind its head: that costs less than one more slice to write (measured with
/// `echo_bench`: 2.7 to 2.5 us a request at 64 x 1, 0.38 to 0.30 at 1 x 32).
pub const SMALL_CELLS: usize = 2 << 10;
/// Places for chunks that a resting connection keeps.
const IDLE_CHUNKS: usize = 8;

/// What the task gives and takes when it looks into the outbox.
pub(crate) struct Exchange<'a> {
    /// Calls handed out since the last time.
    pub calls: u32,
    /// An empty buffer for the heads to come.
    pub lend: Option<Vec<u8>>,
    /// Where the ready chunks go; lent ones that stayed empty come along.
    pub into: &'a mut Vec<Chunk>,
}

/// What the task found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Bytes of the first chunk that have left already.
    pub written: usize,
    /// Large answers are made for this connection: [`Outbox::allow_direct`] would spare the task writing them.
    pub wants_direct: bool,
}

/// There is something to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotEmpty;

/// Work for the network thread of a connection.
pub trait Piece: Send {
    /// Keep it short.
    fn run(self: Box<Self>);
}

impl<F: FnOnce() + Send> Piece for F {
    fn run(self: Box<Self>) {
        self();
    }
}

pub(crate) type Held = Box<dyn Piece>;

#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Bytes in `state.chunks`, readable without the lock.
    bytes: AtomicUsize,
    /// Whether `state.held` has something, readable without the lock.
    has_held: AtomicBool,
}

#[derive(Default)]
struct State {
    chunks: Vec<Chunk>,
    /// The last chunk holds heads and may grow.
    open: bool,
    /// The task runs or was woken.
    awake: bool,
    /// Work for the task; it waits until the client has taken its answers.
    held: Vec<Held>,
    /// Nothing is sent any more.
    closed: bool,
    /// Wake the task when a call ends without an answer, too.
    draining: bool,
    /// Calls handed out and not yet ended. Below zero while the calls of a batch end before they are added.
    unanswered: i64,
    waker: Option<Waker>,
    /// The socket once more, for large answers.
    direct: Option<Arc<TcpStream>>,
    /// There was a large answer and no such socket.
    wants_direct: bool,
    /// Someone writes an answer into it: nobody else may write.
    writing: bool,
    /// Bytes of the first chunk that have left already.
    written: usize,
}

impl Outbox {
    /// Appends a small part made by `write`, then `cells` as they lie, and ends one call. Returns the bytes that have
    /// left already.
    #[inline]
    pub fn push(&self, write: impl FnOnce(&mut Vec<u8>), cells: CellBlock) -> usize {
        let mut state = self.state.lock();
        state.unanswered -= 1;
        if state.closed {
            return 0;
        }
        if let Some(socket) = self.direct(&mut state, cells.len()) {
            drop(state);
            let mut head = Vec::new();
            write(&mut head);
            return self.write_direct(&socket, Writer::of([Chunk::Own(head)].into_iter().chain(chunks(cells))));
        }
        let mut added = 0;
        let (small, large) =
            if cells.len() > SMALL_CELLS { (Vec::new(), Some(cells)) } else { (cells.into_bytes(), None) };
        if state.open
            && let Some(Chunk::Own(last)) = state.chunks.last_mut()
            && last.len() < HEAD_CHUNK
        {
            added -= last.len() as isize;
            write(last);
            last.extend_from_slice(&small);
            added += last.len() as isize;
        } else {
            let mut head = Vec::new();
            if state.open {
                // Behind a full one several are likely to follow: a buffer that grows with each is moved several times.
                head = head_buffer();
                head.reserve(HEAD_CHUNK + SMALL_CELLS + LARGE_MESSAGE);
            }
            write(&mut head);
            head.extend_from_slice(&small);
            added += head.len() as isize;
            state.chunks.push(Chunk::Own(head));
            state.open = true;
        }
        if let Some(cells) = large {
            added += cells.len() as isize;
            state.chunks.extend(chunks(cells));
            state.open = false;
        }
        self.bytes.store(self.bytes.load(Relaxed).saturating_add_signed(added), Relaxed);
        self.wake(state);
        0
    }

    /// The socket, if who made an answer of so many bytes is to write it; it is theirs then.
    #[inline]
    fn direct(&self, state: &mut State, bytes: usize) -> Option<Arc<TcpStream>> {
        if bytes < LARGE_CELLS || state.awake || state.writing || self.bytes() > 0 {
            return None;
        }
        let socket = state.direct.clone();
        (state.writing, state.wants_direct) = (socket.is_some(), socket.is_none());
        socket
    }

    fn write_direct(&self, socket: &TcpStream, mut answer: Writer) -> usize {
        let sent = direct::write(socket, &mut answer);
        let mut state = self.state.lock();
        state.writing = false;
        if state.closed {
            return sent;
        }
        let left = answer.bytes();
        if left > 0 {
            let (rest, written) = answer.into_rest();
            state.written = written;
            state.chunks.splice(..0, rest);
            self.bytes.store(self.bytes.load(Relaxed) + left, Relaxed);
        }
        if self.bytes.load(Relaxed) > 0 || !state.held.is_empty() || state.draining {
            self.wake(state);
        }
        sent
    }

    /// From now on threads that make large answers may write them; `socket` does not block.
    pub fn allow_direct(&self, socket: TcpStream) {
        let mut state = self.state.lock();
        if !state.closed {
            state.direct = Some(Arc::new(socket));
        }
    }

    /// Whether a message of this size is worth a chunk of its own, encoded outside the lock.
    pub fn is_large(message_len: usize) -> bool {
        message_len > LARGE_MESSAGE
    }

    /// Appends whole chunks, and ends one call. Returns the bytes that have left already.
    pub fn push_chunks(&self, chunks: impl IntoIterator<Item = Chunk>) -> usize {
        let answer = Writer::of(chunks);
        let mut state = self.state.lock();
        state.unanswered -= 1;
        if state.closed {
            return 0;
        }
        if let Some(socket) = self.direct(&mut state, answer.bytes()) {
            drop(state);
            return self.write_direct(&socket, answer);
        }
        self.bytes.store(self.bytes.load(Relaxed) + answer.bytes(), Relaxed);
        state.chunks.extend(answer.into_rest().0);
        state.open = false;
        self.wake(state);
        0
    }

    /// Ends a call that gets no answer.
    pub fn end_call(&self) {
        let mut state = self.state.lock();
        state.unanswered -= 1;
        if state.draining {
            self.wake(state);
        }
    }

    fn wake(&self, mut state: parking_lot::MutexGuard<'_, State>) {
        if !state.awake && !state.writing {
            state.awake = true;
            let waker = state.waker.clone();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// The task starts to run: from now on nobody needs to wake it.
    pub fn begin(&self, waker: &Waker, exchange: Exchange<'_>) -> Found {
        let mut state = self.state.lock();
        state.awake = true;
        match &state.waker {
            Some(w) if w.will_wake(waker) => {}
            _ => state.waker = Some(waker.clone()),
        }
        self.exchange(state, exchange)
    }

    /// Takes what is there.
    pub fn take(&self, exchange: Exchange<'_>) -> Found {
        self.exchange(self.state.lock(), exchange)
    }

    fn exchange(&self, mut state: parking_lot::MutexGuard<'_, State>, exchange: Exchange<'_>) -> Found {
        state.unanswered += i64::from(exchange.calls);
        if state.writing {
            // What is here comes after that.
            exchange.into.extend(exchange.lend.map(Chunk::Own));
            return Found::default();
        }
        exchange.into.append(&mut state.chunks);
        state.open = false;
        if let Some(head) = exchange.lend {
            state.chunks.push(Chunk::Own(head));
            state.open = true;
        }
        self.bytes.store(0, Relaxed);
        Found { written: std::mem::take(&mut state.written), wants_direct: std::mem::take(&mut state.wants_direct) }
    }

    /// The task, which has sent all it took, wants to rest. `Err` if there is something to send or held work to do:
    /// go on. A lent head comes back.
    pub fn rest(&self) -> Result<Option<Chunk>, NotEmpty> {
        let mut state = self.state.lock();
        if !state.held.is_empty() || (self.bytes.load(Relaxed) > 0 && !state.writing) {
            return Err(NotEmpty);
        }
        if state.writing {
            // Who writes wakes the task for what came meanwhile.
            state.awake = false;
            return Ok(None);
        }
        let lent = state.chunks.pop();
        if state.chunks.capacity() > IDLE_CHUNKS {
            state.chunks = Vec::new();
        }
        state.open = false;
        state.awake = false;
        Ok(lent)
    }

    /// Bytes not yet taken by the task.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// From now on the end of each call wakes the task. True if no call is under way and nothing is to be sent.
    pub fn drain(&self) -> bool {
        let mut state = self.state.lock();
        state.draining = true;
        state.unanswered <= 0 && self.bytes.load(Relaxed) == 0 && !state.writing
    }

    /// Wakes the task, whatever it does.
    pub fn force_wake(&self) {
        let waker = self.state.lock().waker.clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Keeps `work` while `clogged` (asked under the lock) says so; else gives it back.
    pub fn hold(&self, clogged: impl FnOnce() -> bool, work: Held) -> Result<(), Held> {
        let mut state = self.state.lock();
        if state.closed || !clogged() {
            return Err(work);
        }
        state.held.push(work);
        self.has_held.store(true, Relaxed);
        Ok(())
    }

    /// Gives the task work to do, all with one wake-up. `Err` if it is gone.
    pub fn give(&self, mut work: Vec<Held>) -> Result<(), Vec<Held>> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(work);
        }
        state.held.append(&mut work);
        self.has_held.store(true, Relaxed);
        self.wake(state);
        Ok(())
    }

    /// A hint: what it misses, [`Outbox::rest`] sees.
    #[inline]
    pub fn has_held(&self) -> bool {
        self.has_held.load(Relaxed)
    }

    /// Takes the work that waited.
    pub fn take_held(&self) -> Vec<Held> {
        let mut state = self.state.lock();
        self.has_held.store(false, Relaxed);
        std::mem::take(&mut state.held)
    }

    /// Work that was taken and not done: before all that came since.
    pub fn put_back(&self, mut work: Vec<Held>) {
        if work.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        work.append(&mut state.held);
        state.held = work;
        self.has_held.store(true, Relaxed);
    }

    /// Forgets everything, now and later.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.chunks = Vec::new();
        state.open = false;
        state.waker = None;
        // Or the connection would live on.
        state.direct = None;
        self.bytes.store(0, Relaxed);
        let held = std::mem::take(&mut state.held);
        drop(state);
        // Its responders come back here.
        drop(held);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;
    use std::task::Wake;

    use bytes::Bytes;
    use martite_cell::{CellBuf, OwnedCell};

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Count>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn own(chunk: Chunk) -> Vec<u8> {
        match chunk {
            Chunk::Own(bytes) => bytes,
            Chunk::Shared(bytes) => bytes.to_vec(),
        }
    }

    struct Task {
        outbox: Outbox,
        wakes: Arc<Count>,
    }

    impl Task {
        fn new() -> Task {
            Task { outbox: Outbox::default(), wakes: Arc::default() }
        }
        fn begin(&self) -> Vec<Vec<u8>> {
            let mut into = Vec::new();
            let lend = Some(Vec::new());
            self.outbox.begin(&self.wakes.clone().into(), Exchange { calls: 0, lend, into: &mut into });
            into.into_iter().map(own).collect()
        }
        fn take(&self, calls: u32) -> Vec<Vec<u8>> {
            let mut into = Vec::new();
            self.outbox.take(Exchange { calls, lend: None, into: &mut into });
            into.into_iter().map(own).collect()
        }
        fn push(&self, head: &[u8], cells: Vec<u8>) {
            self.outbox.push(|out| out.extend_from_slice(head), cells.into());
        }
        fn wakes(&self) -> u32 {
            self.wakes.0.load(Relaxed)
        }
    }

    #[test]
    fn a_resting_task_is_woken_once() {
        let task = Task::new();
        task.begin();
        task.push(b"a", Vec::new());
        assert_eq!((task.wakes(), task.outbox.rest().is_err()), (0, true));
        assert_eq!(task.take(1), [b"a"]);
        assert!(task.outbox.rest().is_ok());
        task.push(b"b", Vec::new());
        task.push(b"c", Vec::new());
        assert_eq!((task.wakes(), task.begin()), (1, vec![b"bc".to_vec()]));
    }

    #[test]
    fn large_cell_blocks_keep_their_buffer_and_small_ones_join_their_head() {
        let task = Task::new();
        task.begin();
        let large = vec![1; SMALL_CELLS + 1];
        let address = large.as_ptr();
        task.push(b"a", b"small".to_vec());
        task.push(b"b", large.clone());
        task.push(b"c", Vec::new());
        task.push(b"d", large);
        assert_eq!(task.outbox.bytes(), 4 + 5 + 2 * (SMALL_CELLS + 1));
        let chunks = task.take(0);
        assert_eq!((&*chunks[0], &*chunks[2], chunks.len()), (&b"asmallb"[..], &b"cd"[..], 4));
        assert_eq!(chunks[3].as_ptr(), address);
        assert_eq!(task.outbox.bytes(), 0);
    }

    #[test]
    fn what_follows_a_full_chunk_has_room_from_the_start() {
        let task = Task::new();
        task.begin();
        let answer = vec![7; 1 << 10];
        (0..20).for_each(|_| task.push(b"head", answer.clone()));
        let chunks = task.take(20);
        let lengths: Vec<usize> = chunks.iter().map(Vec::len).collect();
        assert_eq!(lengths, [16 * (4 + answer.len()), 4 * (4 + answer.len())]);
        assert!(chunks[1].capacity() > HEAD_CHUNK, "{}", chunks[1].capacity());
    }

    #[test]
    fn a_draining_task_learns_when_the_last_call_ends() {
        let task = Task::new();
        task.begin();
        // One call ends within its batch, two stay.
        task.push(b"a", Vec::new());
        task.take(3);
        assert!(!task.outbox.drain() && task.outbox.rest().is_ok());
        task.outbox.end_call();
        assert_eq!(task.wakes(), 1);
        task.begin();
        assert!(!task.outbox.drain() && task.outbox.rest().is_ok());
        task.outbox.push_chunks([Chunk::Own(b"b".to_vec())]);
        task.begin();
        assert_eq!((task.wakes(), task.outbox.drain()), (2, true));
    }

    #[test]
    fn held_work_keeps_the_task_from_resting_and_goes_with_it() {
        let task = Task::new();
        task.begin();
        let alive = Arc::new(());
        let (now, later) = (alive.clone(), alive.clone());
        assert!(task.outbox.hold(|| false, Box::new(move || drop(now))).is_err());
        assert!(task.outbox.hold(|| true, Box::new(move || drop(later))).is_ok());
        assert!(task.outbox.has_held() && task.outbox.rest().is_err());
        task.outbox.close();
        assert_eq!(Arc::strong_count(&alive), 1);
        task.push(b"x", Vec::new());
        assert_eq!(task.outbox.bytes(), 0);
        assert!(task.outbox.hold(|| true, Box::new(|| ())).is_err());
    }

    /// A resting task's outbox with a socket, and the client at its other end.
    fn connected() -> (Task, std::net::TcpStream) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let task = Task::new();
        task.begin();
        task.outbox.allow_direct(server);
        (task, client)
    }

    fn read(client: &mut TcpStream, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        std::io::Read::read_exact(client, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_large_answer_leaves_at_once_while_the_task_rests() {
        let (task, mut client) = connected();
        let cells = vec![7; LARGE_CELLS];
        // The task is awake: it will write.
        assert_eq!(task.outbox.push(|out| out.push(1), cells.clone().into()), 0);
        task.take(1);
        assert!(task.outbox.rest().is_ok());
        assert_eq!(task.outbox.push(|out| out.push(2), cells.clone().into()), LARGE_CELLS + 1);
        assert_eq!(read(&mut client, LARGE_CELLS + 1), [&[2][..], &cells].concat());
        assert_eq!((task.wakes(), task.outbox.bytes()), (0, 0));
        // Many small cells have a large message, too.
        assert_eq!(task.outbox.push_chunks([vec![3; 9000], cells.clone()].map(Chunk::Own)), LARGE_CELLS + 9000);
        assert_eq!(read(&mut client, LARGE_CELLS + 9000), [&[3; 9000][..], &cells].concat());
        assert_eq!((task.wakes(), task.outbox.bytes()), (0, 0));
        assert_eq!(task.outbox.push(|out| out.push(4), vec![7; LARGE_CELLS - 1].into()), 0);
        assert_eq!(task.wakes(), 1);
    }

    #[test]
    fn what_a_full_socket_does_not_take_comes_before_all_else() {
        let (task, mut client) = connected();
        assert!(task.outbox.rest().is_ok());
        let cells: Vec<u8> = (0..64usize << 20).map(|i| (i * 7 / 3) as u8).collect();
        let sent = task.outbox.push(|out| out.push(2), cells.clone().into());
        assert!(sent > 1 && sent < cells.len(), "{sent}");
        task.push(b"next", Vec::new());
        assert_eq!((task.wakes(), task.outbox.bytes()), (1, 1 + cells.len() - sent + 4));
        let mut into = Vec::new();
        let exchange = Exchange { calls: 0, lend: Some(Vec::new()), into: &mut into };
        let found = task.outbox.begin(&task.wakes.clone().into(), exchange);
        assert_eq!(found, Found { written: sent - 1, wants_direct: false });
        let rest = [&into[0][found.written..], &into[1]].concat();
        let whole = [&[2], &cells[..], b"next"].concat();
        assert!([read(&mut client, sent), rest].concat() == whole);
        assert_eq!((task.outbox.bytes(), task.outbox.rest().is_ok()), (0, true));
    }

    /// A cell of 3 bytes, large ones that are lent, and a cell of 2 bytes.
    fn lent(large: &[Arc<Bytes>]) -> CellBuf {
        let cell = |value: &[u8]| OwnedCell::put(b"r", b"f", b"q", 1, value);
        let mut cells = CellBuf::new(false).borrowing(0);
        cells.push(&cell(b"abc").as_ref());
        for key_value in large {
            cells.push_or_borrow(key_value, key_value);
        }
        cells.push(&cell(b"de").as_ref());
        cells
    }

    fn large_cell(value: Vec<u8>) -> Arc<Bytes> {
        let mut cells = CellBuf::new(false);
        cells.push(&OwnedCell::put(b"r", b"f", b"q", 2, &value).as_ref());
        Arc::new(Bytes::from(cells.into_bytes()).slice(4..))
    }

    #[test]
    fn what_is_lent_is_not_copied_and_stands_in_its_place() {
        let task = Task::new();
        task.begin();
        let large = [large_cell(vec![5; LARGE_CELLS]), large_cell(vec![6; LARGE_CELLS / 2])];
        let cells = lent(&large);
        let (whole, len) = (cells.clone().into_bytes(), cells.size_bytes());
        assert_eq!(whole.len(), len);
        task.outbox.push(|out| out.push(1), cells.into_block());
        task.push(b"next", Vec::new());
        assert_eq!(task.outbox.bytes(), 1 + len + 4);
        let mut into = Vec::new();
        task.outbox.take(Exchange { calls: 2, lend: None, into: &mut into });
        let places = |bytes: &Arc<Bytes>| into.iter().position(|chunk| chunk.as_ptr() == bytes.as_ptr());
        assert_eq!(large.each_ref().map(places), [Some(2), Some(4)]);
        let all = into.into_iter().flat_map(own).collect::<Vec<_>>();
        assert!(all == [&[1][..], &whole, b"next"].concat());
    }

    #[test]
    fn what_is_lent_leaves_at_once_too_as_far_as_the_socket_takes_it() {
        let (task, mut client) = connected();
        assert!(task.outbox.rest().is_ok());
        let large: Vec<_> = (0..64).map(|n| large_cell(vec![n; 1 << 20])).collect();
        let cells = lent(&large);
        let whole = [&[2][..], &cells.clone().into_bytes()].concat();
        let sent = task.outbox.push(|out| out.push(2), cells.into_block());
        assert!(sent > 1 && sent < whole.len(), "{sent}");
        assert_eq!((task.wakes(), task.outbox.bytes()), (1, whole.len() - sent));
        let mut into = Vec::new();
        let found = task.outbox.begin(&task.wakes.clone().into(), Exchange { calls: 1, lend: None, into: &mut into });
        let rest = into.into_iter().flat_map(own).skip(found.written).collect();
        assert!([read(&mut client, sent), rest].concat() == whole);
        // Those that have left are nobody's any more.
        drop(task);
        assert!(large.into_iter().all(|bytes| bytes.is_unique()));
    }

    #[test]
    fn nobody_writes_while_another_does() {
        let task = Task::new();
        task.begin();
        assert!(task.outbox.rest().is_ok());
        task.outbox.state.lock().writing = true;
        task.push(b"a", Vec::new());
        assert_eq!((task.wakes(), task.begin()), (0, vec![Vec::<u8>::new()]));
        // It does not wait in a circle for what it may not take, nor ends before that has left.
        assert!(task.outbox.rest().is_ok() && !task.outbox.drain());
        task.outbox.state.lock().writing = false;
        task.outbox.end_call();
        assert_eq!((task.wakes(), task.begin()), (1, vec![b"a".to_vec()]));
    }

    #[test]
    fn a_socket_for_large_answers_is_asked_for_and_goes_with_the_connection() {
        let task = Task::new();
        task.begin();
        assert!(task.outbox.rest().is_ok());
        task.push(b"a", vec![0; LARGE_CELLS]);
        let mut into = Vec::new();
        let found = task.outbox.begin(&task.wakes.clone().into(), Exchange { calls: 0, lend: None, into: &mut into });
        assert!(found.wants_direct && into.len() == 2);
        let (task, mut client) = connected();
        task.outbox.close();
        assert_eq!(std::io::Read::read(&mut client, &mut [0]).unwrap(), 0);
    }
}
