//! [`Call`]: one request, and [`Responder`]: the one answer to it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use martite_cell::CellBlock;
use martite_env::disk_time;
use martite_metrics::Waits;
use martite_proto::Message;

use crate::direct::{LARGE_CELLS, SMALL};
use crate::header::{MAX_ANSWER_HEAD, exception_frame, put_answer_head};
use crate::outbox::{Outbox, SMALL_CELLS};
use crate::writer::{Chunk, chunks};
use crate::{Connection, Exception};

/// One request of a connection.
#[derive(Debug)]
pub struct Call {
    pub conn: Arc<Connection>,
    /// The client's number for this call, unique among its calls under way.
    pub id: u32,
    /// Rpc name as in the .proto; interned per connection: cheap to clone.
    pub method: Arc<str>,
    /// The request message, undecoded. A slice of a read buffer of some 64 KiB: copy it if it is kept for long.
    pub param: Bytes,
    /// Request cell block in `conn.codec`'s form, decompressed; empty if there is none. A part of a read buffer, as `param`.
    pub cells: BytesMut,
    pub priority: Option<u32>,
    /// The client's timeout, at least 20 ms; 0 = none.
    pub timeout_ms: u32,
    /// When the read that brought this call returned; its batch has run on the network thread since then.
    pub received: Instant,
    /// Place of this call among the calls of the same read, from 0.
    pub batch_index: u32,
    /// Request attributes (2.6 clients).
    pub attributes: Vec<(String, Bytes)>,
    /// Bytes of the request frame.
    pub size_bytes: u32,
    pub responder: Responder,
}

impl Call {
    /// When the client stops waiting.
    pub fn deadline(&self) -> Option<Instant> {
        match self.timeout_ms {
            0 => None,
            ms => self.received.checked_add(Duration::from_millis(u64::from(ms))),
        }
    }

    /// Whether the client no longer waits, by its timeout or because it is gone: drop such a call with
    /// `responder.discard()`.
    pub fn expired(&self) -> bool {
        self.expired_at(Instant::now())
    }

    /// The same for a time that is known.
    pub fn expired_at(&self, now: Instant) -> bool {
        self.conn.is_closed() || self.deadline().is_some_and(|deadline| now > deadline)
    }
}

/// Answers one call, once. Send it anywhere. Dropping it unused answers with an internal error, so that a panic
/// leaves nobody waiting.
#[derive(Debug)]
#[must_use = "a call wants an answer"]
pub struct Responder {
    conn: Arc<Connection>,
    id: u32,
    size_bytes: u32,
    /// Place of the method among the timed ones.
    timed: u32,
    /// Where the call counts as queued; its connection may have moved on.
    shard: u32,
    received: Instant,
    /// Time in queues of the pool.
    pub(crate) waited: Duration,
    /// Time of reads from the disk.
    pub(crate) disk: Duration,
    took: Option<Duration>,
    is_part: bool,
    ended: bool,
}

impl Responder {
    /// The call counts as queued until the responder is gone.
    #[inline]
    pub(crate) fn new(conn: Arc<Connection>, id: u32, size_bytes: u32, timed: usize, received: Instant) -> Responder {
        let shard = conn.link.shard();
        conn.link.server.shards[shard].enqueue(size_bytes);
        let (timed, shard) = (timed as u32, shard as u32);
        let none = Duration::ZERO;
        let (waited, disk, took) = (none, none, None);
        Responder { conn, id, size_bytes, timed, shard, received, waited, disk, took, is_part: false, ended: false }
    }

    /// The call is a part of longer work: that its answer is small does not tell that its client waits for small ones.
    pub fn note_part(&mut self) {
        self.is_part = true;
    }

    /// Its answer leaves.
    #[inline]
    fn note_size(&self, bytes: usize) {
        if bytes < LARGE_CELLS && !self.is_part {
            SMALL.note();
        }
    }

    /// Time from the read that brought the call until now, when its answer is ready: asked once, it is the call's time
    /// in the server's counters too.
    #[inline]
    pub fn took(&mut self) -> Duration {
        *self.took.get_or_insert_with(|| self.received.elapsed())
    }

    /// For a call that goes on elsewhere: what this thread has read from the disk, it read for this call.
    #[inline]
    pub fn keep_disk_time(&mut self) {
        self.disk += disk_time::take();
    }

    /// Counts the call; before its answer leaves, so that who has the answer finds it counted.
    #[inline]
    fn end(&mut self) {
        self.ended = true;
        let took = self.took();
        self.keep_disk_time();
        let waits = Waits { queue: self.waited, disk: self.disk };
        self.conn.link.server.times.record(self.timed as usize, took, waits);
    }

    /// Answers with a message and its cells, in the connection codec's form, uncompressed; empty = no cell block.
    pub fn ok<M: Message>(self, message: &M, cells: impl Into<CellBlock>) {
        let message_len = message.encoded_len();
        if Outbox::is_large(message_len) {
            return self.ok_encoded(message.encode_to_vec(), cells);
        }
        self.answer(cells.into(), message_len, |out| {
            // A Vec takes everything.
            let _ = message.encode(out);
        });
    }

    /// Answers with a short message that is encoded already.
    #[inline]
    pub fn ok_short(self, message: &[u8], cells: impl Into<CellBlock>) {
        self.answer(cells.into(), message.len(), |out| out.extend_from_slice(message));
    }

    /// The same with cells in the connection codec's form that are copied: worth it if they are small ([`SMALL_CELLS`]).
    #[inline]
    pub fn ok_copied(self, message: &[u8], cells: &[u8]) {
        if self.conn.compressor.is_some() || cells.len() > SMALL_CELLS {
            return self.ok_short(message, cells.to_vec());
        }
        self.put((message.len(), cells.len()), CellBlock::default(), |out| {
            out.extend_from_slice(message);
            out.extend_from_slice(cells);
        });
    }

    /// Answers with a message that is encoded already.
    pub fn ok_encoded(mut self, message: Vec<u8>, cells: impl Into<CellBlock>) {
        if !Outbox::is_large(message.len()) {
            return self.ok_short(&message, cells);
        }
        let cells = match self.cell_block(cells.into()) {
            Ok(cells) => cells,
            Err(e) => return self.fail(e),
        };
        let mut head = Vec::with_capacity(MAX_ANSWER_HEAD);
        if put_answer_head(&mut head, self.id, message.len(), cells.len()).is_none() {
            return self.fail(too_large(message.len() + cells.len()));
        }
        self.end();
        self.note_size(message.len() + cells.len());
        let link = &self.conn.link;
        let sent = link.outbox.push_chunks([head, message].map(Chunk::Own).into_iter().chain(chunks(cells)));
        link.counters().sent_bytes.fetch_add(sent as u64, Relaxed);
    }

    fn answer(self, cells: CellBlock, message_len: usize, write: impl FnOnce(&mut Vec<u8>)) {
        match self.cell_block(cells) {
            Ok(cells) => self.put((message_len, cells.len()), cells, write),
            Err(e) => self.fail(e),
        }
    }

    /// `write` puts down the message, and those of its cells that are not in `cells`.
    #[inline]
    fn put(mut self, (message_len, cells_len): (usize, usize), cells: CellBlock, write: impl FnOnce(&mut Vec<u8>)) {
        // A frame that cannot be said is refused before anything is in the outbox.
        if message_len + cells_len + MAX_ANSWER_HEAD > i32::MAX as usize {
            return self.fail(too_large(message_len + cells_len));
        }
        self.end();
        let (id, written) = (self.id, message_len + cells_len - cells.len());
        self.note_size(cells_len);
        let link = &self.conn.link;
        let sent = link.outbox.push(
            |out| {
                out.reserve(MAX_ANSWER_HEAD + written);
                put_answer_head(out, id, message_len, cells_len);
                write(out);
            },
            cells,
        );
        if sent > 0 {
            link.counters().sent_bytes.fetch_add(sent as u64, Relaxed);
        }
    }

    /// The cell block as the client wants it.
    fn cell_block(&self, cells: CellBlock) -> Result<CellBlock, Exception> {
        match self.conn.compressor {
            Some(compressor) if !cells.is_empty() => {
                let mut out = Vec::with_capacity(cells.len() / 2);
                compressor
                    .compress(&cells.into_bytes(), &mut out)
                    .map_err(|e| Exception::io(format!("Failed to compress the cell block: {e}")))?;
                Ok(out.into())
            }
            _ => Ok(cells),
        }
    }

    /// Answers with an exception.
    pub fn fail(mut self, exception: Exception) {
        self.send_exception(&exception);
    }

    fn send_exception(&mut self, exception: &Exception) {
        self.end();
        self.conn.link.server.exceptions.count(&exception.class);
        let frame = exception_frame(self.id, exception, exception.stack_trace());
        self.conn.link.outbox.push_chunks([Chunk::Own(frame)]);
    }

    /// Does not answer: for calls that expired, as HBase does.
    pub fn discard(mut self) {
        self.ended = true;
        self.conn.link.outbox.end_call();
    }

    /// Whether the client is still there.
    pub fn is_connected(&self) -> bool {
        !self.conn.is_closed()
    }
}

impl Drop for Responder {
    #[inline]
    fn drop(&mut self) {
        self.conn.link.server.shards[self.shard as usize].dequeue(self.size_bytes);
        if !self.ended {
            self.send_exception(&Exception::io("Internal error: the call ended without an answer"));
        }
    }
}

fn too_large(bytes: usize) -> Exception {
    Exception::do_not_retry(format!("Response of {bytes} bytes is larger than a frame can be"))
}
