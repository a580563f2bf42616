//! [`Call`]: one request, and [`Responder`]: the one answer to it.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use martite_proto::Message;

use crate::{Connection, Exception};

/// One request of a connection.
pub struct Call {
    pub conn: Arc<Connection>,
    /// The client's number for this call, unique among its calls under way.
    pub id: u32,
    /// Rpc name as in the .proto; interned per connection: cheap to clone.
    pub method: Arc<str>,
    /// The request message, undecoded.
    pub param: Bytes,
    /// Request cell block in `conn.codec`'s form, decompressed; empty if there is none.
    pub cells: Bytes,
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
        todo!()
    }
    /// Whether the client no longer waits, by its timeout or because it is gone: drop such a call with
    /// `responder.discard()`.
    pub fn expired(&self) -> bool {
        todo!()
    }
}

/// Answers one call, once. Send it anywhere. Dropping it unused answers with an internal error.
pub struct Responder {
    _private: (),
}

impl Responder {
    /// Answers with a message and its cells, in the connection codec's form, uncompressed; empty = no cell block.
    pub fn ok<M: Message>(self, _message: &M, _cells: Vec<u8>) {
        todo!()
    }
    /// Answers with a message that is encoded already.
    pub fn ok_encoded(self, _message: Vec<u8>, _cells: Vec<u8>) {
        todo!()
    }
    /// Answers with an exception.
    pub fn fail(self, _exception: Exception) {
        todo!()
    }
    /// Does not answer: for calls that expired, as HBase does.
    pub fn discard(self) {
        todo!()
    }
    /// Whether the client is still there.
    pub fn is_connected(&self) -> bool {
        todo!()
    }
}
