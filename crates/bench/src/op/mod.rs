//! Operations: what one client thread does again and again. An operation writes requests and judges their answers.

pub mod get;
pub mod multi_get;
pub mod put;
pub mod scan;
pub mod short_scan;

use crate::Error;
use crate::answer::Answer;
use martite_rpc::client::ClientError;
use std::time::Duration;

/// What an answer leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Another request of the same operation is written.
    More,
    /// The same of one that is long; rows that the server had to look at for it since the last answer.
    Part { rows: u64 },
    /// The operation is over; rows that the server had to look at for it, but for those that were told before.
    Done { rows: u64 },
    /// The server is too busy: a pause, then the same again.
    Again,
    /// A limit is exceeded: the same again after so long.
    Throttled(Duration),
    /// The operation is given up, because of a limit or not.
    Failed { throttled: bool },
}

/// The operations of one client thread, one after the other.
pub trait Op: Send {
    /// Writes the first request of the next operation; false: there are no more.
    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool;
    /// Whether it looks at the cells that it gets. Of those that it leaves unread it is told how many bytes they were.
    fn reads_cells(&self) -> bool {
        true
    }
    /// Judges cells of an answer that is not whole yet; how many bytes it has seen, which [`Op::answer`] is not shown again.
    fn some_cells(&mut self, _cells: &[u8]) -> Result<usize, Error> {
        Ok(0)
    }
    /// Judges an answer.
    fn answer(&mut self, id: u32, answer: Answer<'_>, out: &mut Vec<u8>) -> Result<Step, Error>;
    /// An exception instead of an answer.
    fn failed(&mut self, error: ClientError) -> Result<Step, Error> {
        Err(error.into())
    }
    /// Writes the request anew after [`Step::Again`] or [`Step::Throttled`].
    fn again(&mut self, _id: u32, _out: &mut Vec<u8>) {}
}
