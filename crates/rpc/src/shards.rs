//! [`Shards`]: the network threads, each with a single-threaded runtime. They run in short slices, so that none of our threads that
//! work for long (scans, flushes, compactions) holds up the answers of others for its own.
//!
//! One more stands back behind all others of the machine: to it go connections that have nothing but work of low priority
//! (`place`), whose reading and decoding would otherwise come before everybody else's calls.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// The network threads; connections are spread over them. Cheap to clone; the threads end with the last clone.
#[derive(Debug, Clone)]
pub struct Shards(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handles: Vec<Handle>,
    behind: Handle,
    threads: Vec<Started>,
}

impl Shards {
    /// Starts `threads` network threads (at least 1).
    pub fn start(threads: usize) -> io::Result<Shards> {
        let mut started = Vec::new();
        let mut handles = Vec::new();
        for i in 0..threads.max(1) {
            let prompt = || tell("a network thread runs in slices like all others", martite_env::thread::be_prompt());
            handles.push(start(format!("net-{i}"), prompt, &mut started)?);
        }
        let stand_back =
            || tell("the network thread for work of low priority keeps its own", martite_env::thread::stand_back());
        let behind = start("net-behind".to_owned(), stand_back, &mut started)?;
        Ok(Shards(Arc::new(Inner { handles, behind, threads: started })))
    }

    /// Number of threads.
    #[allow(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.0.handles.len()
    }

    /// Runtime of one shard (modulo their number), for timers and listeners of others.
    pub fn handle(&self, shard: usize) -> Handle {
        self.0.handles[shard % self.0.handles.len()].clone()
    }

    /// Runtime of the thread that stands back; it is not one of [`Shards::len`].
    pub fn behind(&self) -> Handle {
        self.0.behind.clone()
    }
}

fn tell(what: &str, outcome: io::Result<()>) {
    if let Err(e) = outcome {
        tracing::warn!("{what}: {e}");
    }
}

type Started = (oneshot::Sender<()>, JoinHandle<()>);

fn start(name: String, first: impl FnOnce() + Send + 'static, started: &mut Vec<Started>) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let handle = runtime.handle().clone();
    let thread = std::thread::Builder::new().name(name).spawn(move || {
        first();
        // Ends when the sender is dropped.
        let _ = runtime.block_on(stopped);
    })?;
    started.push((stop, thread));
    Ok(handle)
}

impl Drop for Inner {
    fn drop(&mut self) {
        let (stops, threads): (Vec<_>, Vec<_>) = self.threads.drain(..).unzip();
        drop(stops);
        let here = std::thread::current().id();
        for thread in threads.into_iter().filter(|t| t.thread().id() != here) {
            let _ = thread.join();
        }
    }
}
