//! [`Shards`]: the network threads, each with a single-threaded runtime.

use std::io;

/// The network threads; connections are spread over them. Cheap to clone; the threads end with the last clone.
#[derive(Clone)]
pub struct Shards {
    _private: (),
}

impl Shards {
    /// Starts `threads` network threads (at least 1).
    pub fn start(_threads: usize) -> io::Result<Shards> {
        todo!()
    }
    /// Number of threads.
    pub fn len(&self) -> usize {
        todo!()
    }
    pub fn is_empty(&self) -> bool {
        false
    }
    /// Runtime of one shard, for timers and listeners of others (`zk`, parked calls).
    pub fn handle(&self, _shard: usize) -> tokio::runtime::Handle {
        todo!()
    }
}
