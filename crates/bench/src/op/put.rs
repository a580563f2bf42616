//! Loading: batches of Puts of rows that follow each other, shared by all client threads.

use super::{Op, Step};
use crate::Error;
use crate::answer::{self, Answer, Fields, Value};
use crate::request::{self, Scratch};
use crate::target::Target;
use martite_rpc::client::ClientError;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of values in a batch.
const BATCH_BYTES: usize = 1_000_000;
/// Times that a batch is sent again, a pause before each: a server that flushes may refuse for a while.
const ATTEMPTS: u32 = 1200;

pub struct Put {
    target: Arc<Target>,
    /// The first row that nobody has taken.
    next: Arc<AtomicU64>,
    rows: Range<u64>,
    attempts: u32,
    scratch: Scratch,
}

impl Put {
    pub fn new(target: Arc<Target>, next: Arc<AtomicU64>) -> Put {
        Put { target, next, rows: 0..0, attempts: 0, scratch: Scratch::default() }
    }

    fn refused(&mut self, error: ClientError) -> Result<Step, Error> {
        self.attempts += 1;
        match error {
            ClientError::Remote { do_not_retry: false, .. } if self.attempts < ATTEMPTS => Ok(Step::Again),
            _ => Err(error.into()),
        }
    }
}

impl Op for Put {
    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        let batch = (BATCH_BYTES / self.target.shape.row_bytes()).max(1) as u64;
        let start = self.next.fetch_add(batch, Ordering::Relaxed);
        if start >= self.target.rows {
            return false;
        }
        self.rows = start..(start + batch).min(self.target.rows);
        self.attempts = 0;
        self.again(id, out);
        true
    }

    fn again(&mut self, id: u32, out: &mut Vec<u8>) {
        request::multi_put(out, id, &self.target, self.rows.clone(), &mut self.scratch);
    }

    fn answer(&mut self, _id: u32, answer: Answer<'_>, _out: &mut Vec<u8>) -> Result<Step, Error> {
        let mut done = 0;
        for part in Fields(answer.message) {
            let (1, Value::Bytes(part)) = part? else { continue };
            for entry in Fields(part) {
                let exception = match entry? {
                    (1, Value::Bytes(entry)) => {
                        done += 1;
                        answer::entry_exception(entry)?
                    }
                    (2, Value::Bytes(exception)) => Some(exception),
                    _ => None,
                };
                if let Some(exception) = exception {
                    return self.refused(answer::embedded(exception));
                }
            }
        }
        let rows = self.rows.end - self.rows.start;
        if done != rows {
            return Err(Error::wrong(format!("{done} of {rows} puts are answered")));
        }
        Ok(Step::Done { rows })
    }

    fn failed(&mut self, error: ClientError) -> Result<Step, Error> {
        self.refused(error)
    }
}
