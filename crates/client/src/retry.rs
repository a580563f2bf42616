//! [`Attempts`]: how often and how long something is tried.
//!
//! ```text
//! wait before attempt 2, 3, …   1 2 3 5 10 20 40 100 100 100 100 200 200   times the pause, and up to 1 % more
//! ```

use crate::exception::Reaction;
use crate::{Error, Options};
use martite_env::random::{OsRandom, Random};
use std::time::Duration;
use tokio::time::Instant;

/// HBase 2.6 `HConstants.RETRY_BACKOFF`.
const BACKOFF: [u32; 13] = [1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200];

/// The attempts of one operation.
#[derive(Debug)]
pub(crate) struct Attempts<'a> {
    options: &'a Options,
    began: Instant,
    timeout: Duration,
    made: u32,
    /// The last one was answered with the region's new place.
    moved: bool,
}

impl<'a> Attempts<'a> {
    pub fn new(options: &'a Options, timeout: Duration) -> Attempts<'a> {
        Attempts { options, began: Instant::now(), timeout, made: 0, moved: false }
    }

    /// How long one call may take.
    pub fn limit(&self, call: Duration) -> Duration {
        // The first attempt has all the time there is.
        if self.made == 0 { call.min(self.timeout) } else { call.min(self.left()) }
    }

    fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.began.elapsed())
    }

    /// An attempt has failed: waits before the next, or gives up.
    pub async fn after(&mut self, error: Error, reaction: &Reaction) -> Result<(), Error> {
        if *reaction == Reaction::Fail {
            return Err(error);
        }
        if *reaction != Reaction::Immediately {
            self.made += 1;
        }
        let wait = self.wait(reaction);
        if self.made > self.options.retries || wait >= self.left() {
            return Err(self.given_up(error));
        }
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    fn wait(&mut self, reaction: &Reaction) -> Duration {
        let moved = std::mem::replace(&mut self.moved, matches!(reaction, Reaction::Moved(..)));
        match reaction {
            Reaction::Wait(wait) => *wait,
            Reaction::Immediately => Duration::ZERO,
            Reaction::Reopen if self.made <= 1 => Duration::ZERO,
            Reaction::Moved(..) if !moved => Duration::ZERO,
            Reaction::Overloaded => self.backoff(self.options.pause_overloaded),
            _ => self.backoff(self.options.pause),
        }
    }

    fn backoff(&self, pause: Duration) -> Duration {
        let at = (self.made.max(1) as usize - 1).min(BACKOFF.len() - 1);
        let wait = pause * BACKOFF[at];
        wait + Duration::from_nanos(OsRandom.below(wait.as_nanos() as u64 / 100 + 1))
    }

    fn given_up(&self, error: Error) -> Error {
        match self.made {
            // Nothing was repeated: the error says all.
            0 | 1 => error,
            attempts => Error::Retries { attempts, elapsed: self.began.elapsed(), last: Box::new(error) },
        }
    }
}

/// What to do about any error.
pub(crate) fn reaction(error: &Error) -> Reaction {
    match error {
        Error::Exception(exception) => Reaction::to(exception),
        Error::Connection { .. } | Error::TimedOut { .. } => Reaction::Relocate,
        Error::NoRegion { .. } | Error::Unknown(_) => Reaction::Retry,
        _ => Reaction::Fail,
    }
}
