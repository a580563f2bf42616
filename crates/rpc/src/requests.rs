//! [`Requests`]: the frames of an open connection, decoded and handed to the handler.
//!
//! ```text
//! i32 length | varint | RequestHeader | varint | request message | cell block
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Buf, Bytes, BytesMut};

use crate::format::{FRAME_LEN, varint};
use crate::header::RequestHeader;
use crate::{Call, Connection, Exception, GATHERED, Handler, Responder, others};

/// Method names remembered per connection.
const MAX_METHODS: usize = 64;
/// A request header larger than this is not worth an answer when its frame is refused.
const MAX_REFUSED_HEADER: usize = 64 << 10;

/// How long one connection keeps its thread busy while others wait.
pub(crate) const SLICE: Duration = Duration::from_micros(200);
/// Calls between two looks at the clock.
const CALLS_PER_CLOCK: u32 = 8;

/// Decodes the requests of one connection.
#[derive(Debug)]
pub(crate) struct Requests {
    conn: Arc<Connection>,
    /// With their places among the timed ones.
    methods: Vec<(Arc<str>, usize)>,
    /// Calls that are handed out together with those that follow; empty between reads.
    gathered: Vec<Call>,
}

/// Why decoding stopped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The first frame in the buffer needs this many bytes.
    Need(usize),
    /// The client must take answers before more of its frames are looked at.
    Full,
    /// The slice is used up: other connections first.
    SliceEnd,
    /// Send what is ready, then close.
    Close,
    /// The bytes make no sense: close at once.
    Malformed(String),
}

/// What one read brought.
#[derive(Debug)]
pub(crate) struct Batch {
    pub received: Instant,
    /// When its decoding began, or went on after a pause.
    pub resumed: Instant,
    /// Calls handed out or refused so far.
    pub calls: u32,
    /// Unanswered calls and their bytes on other shards.
    pub elsewhere: (u64, u64),
    /// Bytes of answers that the connection may still take on.
    pub room: usize,
}

/// Where the parts of a request are, in bytes from the start of its frame length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    param_at: usize,
    param_len: usize,
    cells_len: usize,
    end: usize,
}

/// The parts of a request header that outlive its bytes.
#[derive(Debug)]
struct Fixed {
    id: u32,
    method: Arc<str>,
    timed: usize,
    priority: Option<u32>,
    timeout_ms: u32,
    attributes: Vec<(String, Bytes)>,
    size_bytes: u32,
}

impl Requests {
    pub fn new(conn: Connection) -> Requests {
        Requests { conn: Arc::new(conn), methods: Vec::new(), gathered: Vec::new() }
    }

    /// Hands out the calls in `buf`.
    pub fn decode(&mut self, buf: &mut BytesMut, batch: &mut Batch) -> Stop {
        let stop = self.decode_all(buf, batch);
        self.hand_out_gathered();
        self.gathered = Vec::new();
        stop
    }

    fn decode_all(&mut self, buf: &mut BytesMut, batch: &mut Batch) -> Stop {
        loop {
            let Some((len, _)) = buf.split_first_chunk::<FRAME_LEN>() else { return Stop::Need(FRAME_LEN) };
            let len = u32::from_be_bytes(*len) as usize;
            if len > self.conn.link.server.options.max_request_bytes {
                return self.refuse_large(&buf[FRAME_LEN..], len, batch);
            }
            if buf.len() - FRAME_LEN < len {
                return Stop::Need(FRAME_LEN + len);
            }
            if self.conn.link.outbox.bytes() >= batch.room {
                return Stop::Full;
            }
            if batch.calls % CALLS_PER_CLOCK == CALLS_PER_CLOCK - 1 && batch.resumed.elapsed() > SLICE {
                return Stop::SliceEnd;
            }
            if let Err(malformed) = self.frame(buf, FRAME_LEN + len, batch) {
                return Stop::Malformed(malformed);
            }
            batch.calls += 1;
        }
    }

    /// Takes one whole frame off `buf`. An error leaves no call that could be answered.
    fn frame(&mut self, buf: &mut BytesMut, end: usize, batch: &mut Batch) -> Result<(), String> {
        let frame = &buf[FRAME_LEN..end];
        let (header, body) =
            split_header(frame).ok_or_else(|| format!("a frame of {end} bytes does not hold its header"))?;
        let header = RequestHeader::decode(header).map_err(|e| e.to_string())?;
        let layout = layout(&header, body, end, self.conn.codec.is_some());
        let (method, timed) = self.intern(header.method_name.unwrap_or_default());
        let fixed = Fixed {
            id: header.call_id.unwrap_or(0),
            method,
            timed,
            priority: header.priority,
            timeout_ms: match header.timeout {
                None | Some(0) => 0,
                Some(ms) => ms.max(self.conn.link.server.options.min_call_timeout_ms),
            },
            attributes: header.attributes.into_iter().map(owned_attribute).collect(),
            size_bytes: end as u32,
        };
        let layout = match layout {
            Ok(layout) => layout,
            Err(exception) => {
                buf.advance(end);
                self.refuse(&fixed, exception, batch);
                return Ok(());
            }
        };
        buf.advance(layout.param_at);
        let param = buf.split_to(layout.param_len).freeze();
        let cells = if layout.cells_len > 0 { buf.split_to(layout.cells_len) } else { BytesMut::new() };
        buf.advance(end - layout.param_at - layout.param_len - layout.cells_len);
        match self.plain_cells(cells).and_then(|cells| self.admit(fixed.size_bytes, batch).map(|()| cells)) {
            Ok(cells) => self.hand_out(fixed, param, cells, batch, holds_frame(buf)),
            Err(exception) => self.refuse(&fixed, exception, batch),
        }
        Ok(())
    }

    /// The shared name of a method, and its place among the timed ones.
    #[inline]
    fn intern(&mut self, name: &str) -> (Arc<str>, usize) {
        if let Some(known) = self.methods.iter().find(|(known, _)| &**known == name) {
            return known.clone();
        }
        let method = (Arc::from(name), self.conn.link.server.times.place(name));
        if self.methods.len() < MAX_METHODS {
            self.methods.push(method.clone());
        }
        method
    }

    fn plain_cells(&self, cells: BytesMut) -> Result<BytesMut, Exception> {
        let Some(compressor) = self.conn.compressor.filter(|_| !cells.is_empty()) else { return Ok(cells) };
        compressor
            .decompress(&cells, self.conn.link.server.options.max_cell_block_bytes)
            // The only holder of the bytes gets them as they are.
            .map(|plain| Bytes::from(plain).into())
            .map_err(|e| Exception::do_not_retry(format!("Unable to decompress the cell block: {e}")))
    }

    /// Whether the server takes one more call.
    #[inline]
    fn admit(&self, size_bytes: u32, batch: &Batch) -> Result<(), Exception> {
        let server = &self.conn.link.server;
        let (calls, bytes) = self.conn.link.counters().queued();
        let bytes = bytes + batch.elsewhere.1 + u64::from(size_bytes);
        if bytes > server.options.max_queued_bytes as u64 {
            return Err(Exception::call_queue_too_big(format!(
                "Call queue is full on {}, is hbase.ipc.server.max.callqueue.size too small?",
                server.local
            )));
        }
        if calls + batch.elsewhere.0 >= server.options.max_queued_calls as u64 {
            return Err(Exception::call_queue_too_big(format!(
                "Call queue is full on {}, too many items queued ?",
                server.local
            )));
        }
        Ok(())
    }

    /// `more` = another call is at hand.
    fn hand_out(&mut self, fixed: Fixed, param: Bytes, cells: BytesMut, batch: &Batch, more: bool) {
        let call = Call {
            responder: Responder::new(self.conn.clone(), fixed.id, fixed.size_bytes, fixed.timed, batch.received),
            conn: self.conn.clone(),
            id: fixed.id,
            method: fixed.method,
            param,
            cells,
            priority: fixed.priority,
            timeout_ms: fixed.timeout_ms,
            received: batch.received,
            batch_index: batch.calls,
            attributes: fixed.attributes,
            size_bytes: fixed.size_bytes,
        };
        if (more || !self.gathered.is_empty()) && self.conn.link.server.handler.gathers(&call) {
            self.gathered.reserve_exact(GATHERED - self.gathered.len());
            self.gathered.push(call);
            if self.gathered.len() == GATHERED {
                self.hand_out_gathered();
            }
            return;
        }
        self.hand_out_gathered();
        others::note_calls(more || batch.calls > 0);
        self.call(call);
    }

    fn hand_out_gathered(&mut self) {
        let Some(first) = self.gathered.first().map(|call| call.id) else { return };
        let mut calls = std::mem::take(&mut self.gathered);
        self.guarded(first, |handler| handler.calls(&mut calls));
        calls.drain(..).for_each(|call| self.call(call));
        self.gathered = calls;
    }

    fn call(&self, call: Call) {
        self.guarded(call.id, |handler| handler.call(call));
    }

    /// A panic drops the calls that it had, whose responders then answer. `first` = the id of the only or first one.
    fn guarded(&self, first: u32, run: impl FnOnce(&dyn Handler)) {
        let handler = &*self.conn.link.server.handler;
        if catch_unwind(AssertUnwindSafe(|| run(handler))).is_err() {
            tracing::error!(peer = %self.conn.peer, call = first, "a call panicked on the network thread");
        }
    }

    fn refuse(&self, fixed: &Fixed, exception: Exception, batch: &Batch) {
        tracing::debug!(peer = %self.conn.peer, call = fixed.id, method = %fixed.method, class = %exception.class,
            message = exception.message, "call refused");
        let responder = Responder::new(self.conn.clone(), fixed.id, fixed.size_bytes, fixed.timed, batch.received);
        responder.fail(exception);
    }

    /// A frame above the limit: answered as soon as its header is there. `body` = what is there of it.
    fn refuse_large(&mut self, body: &[u8], len: usize, batch: &mut Batch) -> Stop {
        let header = match split_header(body) {
            Some((header, _)) => RequestHeader::decode(header),
            None if body.len() < MAX_REFUSED_HEADER => return Stop::Need(FRAME_LEN + body.len() + 1),
            None => return Stop::Malformed(format!("a frame of {len} bytes with a huge header")),
        };
        let id = match header {
            Ok(header) => header.call_id.unwrap_or(0),
            Err(e) => return Stop::Malformed(e.to_string()),
        };
        let message = format!(
            "RPC data length of {len} received from {} is greater than max allowed {}. Set \
             \"hbase.ipc.max.request.size\" on server to override this limit (not recommended)",
            self.conn.peer.ip(),
            self.conn.link.server.options.max_request_bytes
        );
        tracing::warn!(peer = %self.conn.peer, call = id, "{message}");
        // Clients before 1.3 do not know the class.
        let exception = if self.conn.has_version(1, 3) {
            Exception::fatal("org.apache.hadoop.hbase.exceptions.RequestTooBigException", message)
        } else {
            Exception::do_not_retry(message)
        };
        let others = self.conn.link.server.times.others();
        Responder::new(self.conn.clone(), id, 0, others, batch.received).fail(exception);
        batch.calls += 1;
        Stop::Close
    }
}

/// Whether `buf` begins with a whole frame.
#[inline]
fn holds_frame(buf: &[u8]) -> bool {
    buf.split_first_chunk::<FRAME_LEN>().is_some_and(|(len, rest)| rest.len() >= u32::from_be_bytes(*len) as usize)
}

/// `varint | header | rest`
#[inline]
fn split_header(frame: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = varint(frame)?;
    rest.split_at_checked(usize::try_from(len).ok()?)
}

/// Finds message and cell block in what follows the header.
#[inline]
fn layout(header: &RequestHeader<'_>, body: &[u8], end: usize, has_codec: bool) -> Result<Layout, Exception> {
    if header.request_param != Some(true) {
        let (id, method) = (header.call_id.unwrap_or(0), header.method_name.unwrap_or_default());
        let message =
            format!("Invalid request header: call_id: {id} method_name: \"{method}\", should have param set in it");
        return Err(Exception::do_not_retry(message));
    }
    let unreadable = |what| Exception::do_not_retry(format!("Unable to read call parameter: {what}"));
    let (param_len, rest) = varint(body).ok_or_else(|| unreadable("no length of the request message"))?;
    let param_len = usize::try_from(param_len).ok().filter(|len| *len <= rest.len());
    let param_len = param_len.ok_or_else(|| unreadable("the request message ends after its frame"))?;
    let cells_len = header.cell_block_meta.flatten().unwrap_or(0) as usize;
    if cells_len > rest.len() - param_len {
        return Err(unreadable("the cell block ends after its frame"));
    }
    if cells_len > 0 && !has_codec {
        return Err(unreadable("a cell block on a connection without a cell codec"));
    }
    Ok(Layout { param_at: end - rest.len(), param_len, cells_len, end })
}

fn owned_attribute((name, value): (&str, Option<&[u8]>)) -> (String, Bytes) {
    (name.to_owned(), Bytes::copy_from_slice(value.unwrap_or_default()))
}
