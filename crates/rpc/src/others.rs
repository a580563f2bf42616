//! [`others_wait`]: whether somebody waits for a network thread that works on a call.

use std::cell::{Cell, RefCell};

use mio::Registry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

thread_local! {
    /// Of a network thread: its sockets.
    static SOCKETS: RefCell<Option<Registry>> = const { RefCell::new(None) };
    /// Connections are to have their turn with this one or after it; or calls came with this one.
    static KNOWN: Cell<Known> = const { Cell::new(Known { connections: false, calls: false }) };
}

#[derive(Clone, Copy)]
struct Known {
    connections: bool,
    calls: bool,
}

/// Whether others wait for the calling thread, a network thread that works on a call: connections with something to read,
/// answers that leave after this one. To be asked by who goes on for long: it costs a system call. Of other threads it is
/// false.
pub fn others_wait() -> bool {
    let Known { connections, calls } = KNOWN.get();
    connections || calls || SOCKETS.with_borrow(|sockets| sockets.as_ref().is_some_and(have_news))
}

/// Whether the calling thread is a network thread: what blocks does not belong there.
pub fn on_network_thread() -> bool {
    SOCKETS.with_borrow(Option::is_some)
}

fn have_news(sockets: &Registry) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut [PollFd::new(sockets, PollFlags::IN)], Some(&at_once)), Ok(1..))
}

/// The calling thread is one that has these sockets.
pub(crate) fn begin(sockets: &Registry) {
    match sockets.try_clone() {
        Ok(sockets) => SOCKETS.set(Some(sockets)),
        Err(e) => tracing::warn!("long calls on a network thread do not notice others: {e}"),
    }
}

/// Whether connections wait besides the one whose turn it is.
pub(crate) fn note_connections(wait: bool) {
    KNOWN.set(Known { connections: wait, calls: false });
}

/// Whether calls of the same connection wait, or their answers do.
pub(crate) fn note_calls(wait: bool) {
    KNOWN.set(Known { calls: wait, ..KNOWN.get() });
}
