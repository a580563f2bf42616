//! [`Shards`]: the network threads, each with a single-threaded runtime.

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
    threads: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Shards {
    /// Starts `threads` network threads (at least 1).
    pub fn start(threads: usize) -> io::Result<Shards> {
        let mut inner = Inner { handles: Vec::new(), threads: Vec::new() };
        for i in 0..threads.max(1) {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            let (stop, stopped) = oneshot::channel::<()>();
            inner.handles.push(runtime.handle().clone());
            let thread = std::thread::Builder::new().name(format!("net-{i}")).spawn(move || {
                // Ends when the sender is dropped.
                let _ = runtime.block_on(stopped);
            })?;
            inner.threads.push((stop, thread));
        }
        Ok(Shards(Arc::new(inner)))
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
