//! RpcThrottlingException: what a client reads from it, and [`Patient`]: an operation that waits as HBase's Java client does.
//!
//! ```text
//! org.apache.hadoop.hbase.quotas.RpcThrottlingException: number of requests exceeded - wait 1min, 2sec, 30ms …
//! ```

use crate::Error;
use crate::answer::Answer;
use crate::op::{Op, Step};
use martite_rpc::client::ClientError;
use std::time::Duration;

const CLASS: &str = "org.apache.hadoop.hbase.quotas.RpcThrottlingException";
const BEFORE: &str = " - wait ";
/// Tries of one operation, hbase.client.retries.number and the first.
const TRIES: u32 = 16;
/// Where the text names no time: hbase.client.pause.
const PAUSE: Duration = Duration::from_millis(100);

/// How long the server wants the client to wait, if that is what the error says.
pub fn wait_of(error: &ClientError) -> Option<Duration> {
    match error {
        ClientError::Remote { class, text, .. } if class == CLASS => Some(wait_in(text).unwrap_or(PAUSE)),
        _ => None,
    }
}

/// `Nhr, ` or `Nhrs, `, `Nmin, ` or `Nmins, `, `Nsec, `, each if it is not 0, then `Nms`; anything may follow.
fn wait_in(text: &str) -> Option<Duration> {
    let (_, mut rest) = text.split_once(BEFORE)?;
    let mut ms = 0u64;
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
        let unit_ms = match &rest[..letters] {
            "ms" => return Some(Duration::from_millis(ms.saturating_add(number))),
            "sec" | "secs" => 1_000,
            "min" | "mins" => 60_000,
            "hr" | "hrs" => 3_600_000,
            _ => return None,
        };
        ms = ms.saturating_add(number.saturating_mul(unit_ms));
        rest = rest[letters..].strip_prefix(", ")?;
    }
}

/// An operation whose exceptions are counted and do not end the run: a throttled one waits and is tried again.
pub struct Patient<O> {
    op: O,
    tries: u32,
}

impl<O: Op> Patient<O> {
    pub fn new(op: O) -> Patient<O> {
        Patient { op, tries: 0 }
    }
}

impl<O: Op> Op for Patient<O> {
    fn begin(&mut self, id: u32, out: &mut Vec<u8>) -> bool {
        self.tries = 1;
        self.op.begin(id, out)
    }

    fn reads_cells(&self) -> bool {
        self.op.reads_cells()
    }
    fn some_cells(&mut self, cells: &[u8]) -> Result<usize, Error> {
        self.op.some_cells(cells)
    }

    fn answer(&mut self, id: u32, answer: Answer<'_>, out: &mut Vec<u8>) -> Result<Step, Error> {
        match self.op.answer(id, answer, out) {
            // Of a batch's part.
            Err(Error::Call(error)) if wait_of(&error).is_some() => self.failed(error),
            judged => judged,
        }
    }

    fn failed(&mut self, error: ClientError) -> Result<Step, Error> {
        let wait = wait_of(&error);
        Ok(match wait {
            Some(wait) if self.tries < TRIES => {
                self.tries += 1;
                Step::Throttled(wait)
            }
            _ => Step::Failed { throttled: wait.is_some() },
        })
    }

    fn again(&mut self, id: u32, out: &mut Vec<u8>) {
        self.op.again(id, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_in_the_text() {
        let said = |text: &str| wait_in(text).map(|wait| wait.as_millis());
        assert_eq!(said("x: number of requests exceeded - wait 0ms"), Some(0));
        assert_eq!(said("read size limit exceeded - wait 2sec, 30ms\n\tat x"), Some(2_030));
        assert_eq!(said("a - wait 1hr, 1min, 1sec, 1ms"), Some(3_661_001));
        assert_eq!(said("a - wait 2hrs, 3mins, 0ms; quota u.x"), Some(7_380_000));
        for wrong in
            ["", "a - wait ", "a - wait 5", "a - wait ms", "a - wait 1day, 1ms", "a - wait 1sec 2ms", "wait 1ms"]
        {
            assert_eq!(said(wrong), None, "{wrong}");
        }
    }

    fn remote(class: &str, text: &str) -> ClientError {
        let (class, text) = (class.to_owned(), text.to_owned());
        ClientError::Remote { class, text, do_not_retry: false, overloaded: false, moved_to: None }
    }

    #[test]
    fn only_one_class_is_a_wait() {
        assert_eq!(wait_of(&remote(CLASS, "x - wait 7ms")), Some(Duration::from_millis(7)));
        assert_eq!(wait_of(&remote(CLASS, "x")), Some(PAUSE));
        assert_eq!(wait_of(&remote("java.io.IOException", "x - wait 7ms")), None);
        assert_eq!(wait_of(&ClientError::Closed), None);
    }

    struct Nothing;

    impl Op for Nothing {
        fn begin(&mut self, _id: u32, _out: &mut Vec<u8>) -> bool {
            true
        }
        fn answer(&mut self, _id: u32, _answer: Answer<'_>, _out: &mut Vec<u8>) -> Result<Step, Error> {
            Ok(Step::Done { rows: 1 })
        }
    }

    #[test]
    fn an_operation_is_tried_as_often_as_the_java_client_does() {
        let mut op = Patient::new(Nothing);
        for _ in 0..2 {
            assert!(op.begin(0, &mut Vec::new()));
            for _ in 1..TRIES {
                let step = op.failed(remote(CLASS, "x - wait 7ms")).unwrap();
                assert_eq!(step, Step::Throttled(Duration::from_millis(7)));
            }
            let last = op.failed(remote(CLASS, "x - wait 7ms")).unwrap();
            assert_eq!(last, Step::Failed { throttled: true });
        }
        assert!(op.begin(0, &mut Vec::new()));
        assert_eq!(op.failed(remote("java.io.IOException", "")).unwrap(), Step::Failed { throttled: false });
    }
}
