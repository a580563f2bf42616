//! [`Connection`]: who is calling, as the connection header says, and whether they are still there.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use martite_cell::Codec;
use martite_compress::StreamCodec;

use crate::link::Link;
use crate::outbox::Piece;

/// One client connection after its header.
#[derive(Debug)]
pub struct Connection {
    /// Service name of the header; one service per connection.
    pub service: String,
    /// The effective user; empty if the header names none.
    pub user: String,
    /// The real user behind a proxy user.
    pub real_user: Option<String>,
    /// Cell block codec; `None` = this client wants all cells as protobuf.
    pub codec: Option<Codec>,
    /// Cell block compressor, both ways.
    pub compressor: Option<StreamCodec>,
    /// What the client says it is; `None` = oldest (asynchbase, gohbase).
    pub version: Option<ClientVersion>,
    pub peer: SocketAddr,
    /// Connection attributes (2.6 clients).
    pub attributes: Vec<(String, Bytes)>,
    pub(crate) link: Arc<Link>,
}

/// `version_info` of a connection header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientVersion {
    pub major: u32,
    pub minor: u32,
    /// The full text, for example `2.6.4`.
    pub text: String,
}

impl Connection {
    /// True once the socket is gone: whoever holds a call of it may drop the call.
    pub fn is_closed(&self) -> bool {
        self.link.is_closed()
    }

    /// True while the client has not taken its earlier answers: do not make large ones for it now.
    pub fn is_clogged(&self) -> bool {
        self.link.is_clogged()
    }

    /// Runs `work` now, or, while the connection is clogged, on the network thread once the client has taken its
    /// answers; never if it goes away. Keep it short.
    pub fn when_drained(&self, work: impl FnOnce() + Send + 'static) {
        if let Err(now) = self.link.outbox.hold(|| self.link.is_clogged(), Box::new(work)) {
            now.run();
        }
    }

    /// Runs `work` on the network thread soon, piece by piece, once the client has taken its earlier answers; never if it
    /// goes away. Keep each piece short.
    pub fn run_soon(&self, work: Vec<Box<dyn Piece>>) {
        // A connection that is gone takes nothing: its calls end with what `work` holds.
        drop(self.link.outbox.give(work));
    }

    /// A call of this connection is looked at, which is of low priority or not: a connection that has nothing but such calls
    /// is read after all others, or by a thread that stands back behind them.
    #[inline]
    pub fn saw_priority(&self, low: bool) {
        self.link.place.saw(low);
    }

    /// Whether the client is at least `major.minor`; a client without version counts as oldest.
    pub fn has_version(&self, major: u32, minor: u32) -> bool {
        self.version.as_ref().is_some_and(|v| (v.major, v.minor) >= (major, minor))
    }
}
