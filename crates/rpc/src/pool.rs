//! [`Pool`]: threads for work that may block; classes share them by weight.

use std::sync::Arc;

use crate::{Call, Exception};

/// Kinds of work that share the pool's threads by weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Gets and multi-gets.
    Read = 0,
    Scan = 1,
    Write = 2,
    /// Meta and system tables, and calls above priority 10.
    Priority = 3,
    Replication = 4,
    /// Administration; may wait long (flush, DDL).
    Admin = 5,
}

/// What one class may use.
#[derive(Debug, Clone, Copy)]
pub struct ClassOptions {
    /// Share of thread time when all classes want it.
    pub weight: u32,
    /// Jobs waiting beyond this are refused.
    pub max_queued: usize,
    /// Threads this class may hold at once.
    pub max_running: usize,
}

#[derive(Debug, Clone)]
pub struct PoolOptions {
    pub threads: usize,
    /// Indexed by `Class as usize`.
    pub classes: [ClassOptions; 6],
}

impl PoolOptions {
    /// Defaults for `threads` threads.
    pub fn new(threads: usize) -> PoolOptions {
        let one = ClassOptions { weight: 10, max_queued: 1000, max_running: threads.max(1) };
        PoolOptions { threads: threads.max(1), classes: [one; 6] }
    }
}

pub type Job = Box<dyn FnOnce() + Send>;

/// The worker threads. Dropping the pool finishes running jobs and drops waiting ones.
pub struct Pool {
    _private: (),
}

impl Pool {
    pub fn new(_options: PoolOptions) -> Arc<Pool> {
        todo!()
    }
    /// Queues a job. A full queue gives the exception to answer; the job is dropped.
    pub fn spawn(&self, _class: Class, _job: Job) -> Result<(), Exception> {
        todo!()
    }
    /// Queues the rest of a call. Answers CallQueueTooBig when the queue is full; drops the call without an answer if
    /// its client no longer waits when its turn comes; answers an internal error if `f` panics.
    pub fn spawn_call(&self, _class: Class, _call: Call, _f: impl FnOnce(Call) + Send + 'static) {
        todo!()
    }
    /// Jobs waiting and running, by class.
    pub fn queued(&self, _class: Class) -> (usize, usize) {
        todo!()
    }
}
