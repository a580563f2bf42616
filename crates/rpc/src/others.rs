//! [`others_wait`]: whether somebody waits for a network thread that works on a call.

use std::cell::{Cell, RefCell};

use mio::Registry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

thread_local! {
    /// Of a network thread: where news comes from.
    static SOURCES: RefCell<Option<Sources>> = const { RefCell::new(None) };
    /// Connections are to have their turn with this one or after it; or calls came with this one.
    static KNOWN: Cell<Known> = const { Cell::new(Known { connections: false, calls: false }) };
    /// It does the work of low priority that it gives to the pool by itself, as soon as it has nothing else to do.
    static HOSTS: Cell<bool> = const { Cell::new(false) };
}

struct Sources {
    sockets: Registry,
    /// Whether other threads have told it anything: of a connection that opens, of an answer that is ready.
    has_mail: Box<dyn Fn() -> bool>,
}

#[derive(Clone, Copy)]
struct Known {
    connections: bool,
    calls: bool,
}

/// Whether others wait for the calling thread, a network thread that works on a call: connections with something to read, or
/// that open; answers that leave after this one, or that other threads have made. To be asked by who goes on for long: it
/// costs a system call. Of other threads it is false.
pub fn others_wait() -> bool {
    let Known { connections, calls } = KNOWN.get();
    connections || calls || SOURCES.with_borrow(|sources| sources.as_ref().is_some_and(Sources::have_news))
}

/// Whether the calling thread is a network thread: what blocks does not belong there.
pub fn on_network_thread() -> bool {
    SOURCES.with_borrow(Option::is_some)
}

impl Sources {
    fn have_news(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let sockets = &mut [PollFd::new(&self.sockets, PollFlags::IN)];
        (self.has_mail)() || matches!(poll(sockets, Some(&at_once)), Ok(1..))
    }
}

/// The calling thread is one that has these sockets, and hears so of others.
pub(crate) fn begin(sockets: &Registry, has_mail: impl Fn() -> bool + 'static) {
    match sockets.try_clone() {
        Ok(sockets) => SOURCES.set(Some(Sources { sockets, has_mail: Box::new(has_mail) })),
        Err(e) => tracing::warn!("long calls on a network thread do not notice others: {e}"),
    }
}

/// Whether the calling thread is a host (`aside`).
pub(crate) fn is_host() -> bool {
    HOSTS.get()
}

pub(crate) fn note_host(hosts: bool) {
    HOSTS.set(hosts);
}

/// Whether connections wait besides the one whose turn it is.
pub(crate) fn note_connections(wait: bool) {
    KNOWN.set(Known { connections: wait, calls: false });
}

/// Whether calls of the same connection wait, or their answers do.
pub(crate) fn note_calls(wait: bool) {
    KNOWN.set(Known { calls: wait, ..KNOWN.get() });
}
