//! [`Shards`]: the network threads. They run in short slices, so that none of our threads that work for long (scans, flushes,
//! compactions) holds up the answers of others for its own.
//!
//! Connections are on as few of them as carry the load (`balance`). One more stands back behind all others of the machine: to it go connections that have nothing but work of low priority
//! (`place`), whose reading and decoding would otherwise come before everybody else's calls, while no thread of their own has time for them (`aside`). And one has a runtime, for
//! listeners and for timers.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use crate::balance::Balance;
use crate::reactor::{Reactor, Remote};
use crate::room::Room;
use crate::seat::Seat;

/// The network threads; connections are spread over them. Cheap to clone; the threads end with the last clone.
#[derive(Debug, Clone)]
pub struct Shards(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    threads: Vec<Remote>,
    behind: Remote,
    balance: Arc<Balance>,
    runtime: Handle,
    /// Dropped to end the runtime's thread.
    stop: Option<oneshot::Sender<()>>,
    started: Vec<JoinHandle<()>>,
}

impl Shards {
    /// Starts `threads` network threads (at least 1).
    pub fn start(threads: usize) -> io::Result<Shards> {
        Shards::start_on(threads, std::thread::available_parallelism().ok().map(usize::from))
    }

    /// The same on so many processors. If they are not known, connections of low priority are read by the thread that stands back
    /// only.
    pub fn start_on(threads: usize, processors: Option<usize>) -> io::Result<Shards> {
        let prompt = || tell("a network thread runs in slices like all others", martite_env::thread::be_prompt());
        let stand_back =
            || tell("the network thread for work of low priority keeps its own", martite_env::thread::stand_back());
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let threads = threads.max(1);
        let (balance, room, origin) = (Arc::new(Balance::new(threads)), Arc::new(Room::new()), Instant::now());
        let (behind, thread) = start("net-behind".to_owned(), None, stand_back)?;
        let mut inner = Inner {
            threads: Vec::new(),
            behind,
            balance: balance.clone(),
            runtime: handle,
            stop: Some(stop),
            started: vec![thread],
        };
        for i in 0..threads {
            let (remote, thread) = start(
                format!("net-{i}"),
                Some(Seat::new(i, balance.clone(), room.clone(), origin, processors)),
                prompt,
            )?;
            inner.threads.push(remote);
            inner.started.push(thread);
        }
        // Ends when the sender is dropped.
        let run = move || drop(runtime.block_on(stopped));
        inner.started.push(std::thread::Builder::new().name("net-listen".to_owned()).spawn(run)?);
        Ok(Shards(Arc::new(inner)))
    }

    /// Number of threads.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.0.threads.len()
    }

    /// For timers and listeners, of others, too.
    pub fn runtime(&self) -> Handle {
        self.0.runtime.clone()
    }

    pub(crate) fn threads(&self) -> Vec<Remote> {
        self.0.threads.clone()
    }

    pub(crate) fn balance(&self) -> Arc<Balance> {
        self.0.balance.clone()
    }

    /// The thread that stands back; it is not one of [`Shards::len`].
    pub(crate) fn behind(&self) -> Remote {
        self.0.behind.clone()
    }
}

fn tell(what: &str, outcome: io::Result<()>) {
    if let Err(e) = outcome {
        tracing::warn!("{what}: {e}");
    }
}

fn start(
    name: String,
    seat: Option<Seat>,
    first: impl FnOnce() + Send + 'static,
) -> io::Result<(Remote, JoinHandle<()>)> {
    let (reactor, remote) = Reactor::new(seat)?;
    let thread = std::thread::Builder::new().name(name).spawn(move || {
        first();
        reactor.run();
    })?;
    Ok((remote, thread))
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop = None;
        self.threads.iter().chain([&self.behind]).for_each(Remote::stop);
        let here = std::thread::current().id();
        for thread in self.started.drain(..).filter(|t| t.thread().id() != here) {
            let _ = thread.join();
        }
    }
}
