//! What is shown while a session runs: YCSB's status lines, or a bar on a terminal.

use super::java::two_digits;
use super::measurement::Measurements;
use super::session::Session;
use crate::progress;
use indicatif::ProgressBar;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How often a bar moves.
const BAR: Duration = Duration::from_millis(500);
/// Seconds in larger units.
const UNITS: [(i64, &str); 3] = [(86_400, "day"), (3_600, "hour"), (60, "minute")];

pub struct Status {
    pub session: Rc<Session>,
    pub measurements: Rc<Measurements>,
    pub label: String,
    /// How often a line comes; none: a bar.
    pub every: Option<Duration>,
    /// Lines go to standard output, too.
    pub twice: bool,
    pub began: Instant,
    pub last: Cell<Line>,
}

impl Status {
    /// Shows how far it is, again and again; never ends.
    pub async fn show(&self) -> ! {
        match self.every {
            Some(every) => self.lines(every).await,
            None => self.bar().await,
        }
    }

    async fn lines(&self, every: Duration) -> ! {
        let mut due = self.began;
        loop {
            self.line();
            due += every;
            tokio::time::sleep_until(due.into()).await;
        }
    }

    /// The last line, when all is done: of the time since the one before, as all are.
    pub fn last_line(&self) {
        if self.every.is_some() {
            self.line();
        }
    }

    fn line(&self) {
        let (now, began) = (Instant::now(), self.began);
        let last = self.last.get();
        let operations = self.session.done.get();
        let ms = |since: Instant| now.saturating_duration_since(since).as_millis() as f64;
        let left = self.session.operations.map_or(0, |all| all.saturating_sub(operations));
        let current = 1000.0 * (operations - last.operations) as f64 / ms(last.at);
        let remaining = (left as f64 / (1000.0 * operations as f64 / ms(began))).ceil() as i64;
        let time = jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S:%3f");
        let mut text = format!("{}{time} {} sec: {operations} operations; ", self.label, ms(began) as u64 / 1000);
        if operations != 0 {
            text += &format!("{} current ops/sec; ", two_digits(current));
        }
        if left != 0 {
            text += &format!("est completion in {}", remaining_time(remaining));
        }
        text += &self.measurements.summary();
        eprintln!("{text}");
        if self.twice {
            println!("{text}");
        }
        self.last.set(Line { at: now, operations });
    }

    async fn bar(&self) -> ! {
        let bar = Cleared(progress::of_work(self.session.operations));
        loop {
            bar.0.set_position(self.session.done.get());
            tokio::time::sleep(BAR).await;
        }
    }
}

/// A bar that leaves no trace.
struct Cleared(ProgressBar);

impl Drop for Cleared {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// What the line before has told.
#[derive(Clone, Copy)]
pub struct Line {
    pub at: Instant,
    pub operations: u64,
}

/// `2 hours 5 minutes `, `1 day 3 hours `, `42 seconds `: minutes below a day, seconds below a minute. As YCSB has it, a number of
/// seconds of one digit is followed by `second`.
fn remaining_time(seconds: i64) -> String {
    let (mut left, mut text) = (seconds, String::new());
    for (length, name) in UNITS {
        if name == "minute" && seconds >= UNITS[0].0 {
            break;
        }
        let count = left / length;
        if count > 0 {
            text += &format!("{count} {name}{} ", if count == 1 { "" } else { "s" });
            left -= count * length;
        }
    }
    if text.is_empty() {
        text = format!("{left} second{} ", if (0..10).contains(&left) { "" } else { "s" });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_ycsb_does() {
        for (seconds, want) in [
            (0, "0 second "),
            (9, "9 second "),
            (10, "10 seconds "),
            (60, "1 minute "),
            (125, "2 minutes "),
            (3_725, "1 hour 2 minutes "),
            (90_000, "1 day 1 hour "),
            (86_460, "1 day "),
            (i64::MAX, "106751991167300 days 15 hours "),
        ] {
            assert_eq!(remaining_time(seconds), want);
        }
    }
}
