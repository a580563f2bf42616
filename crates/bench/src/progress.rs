//! How far the run is: a bar on a terminal, a line a step elsewhere. On standard error.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use martite_plot::number::short;
use std::fmt::Write;
use std::time::Duration;

/// A bar of so many operations, with their rate and the time that is left; it moves when it is told to.
pub fn of_work(operations: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(operations, ProgressDrawTarget::stderr());
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        // Whoever reads the bar has nobody to tell of an error.
        let _ = write!(out, "{}/s", short(state.per_sec()));
    };
    let template = "{elapsed_precise} {bar:30} {human_pos}/{human_len} {rate}, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("rate", rate));
    }
    bar
}

pub struct Progress {
    bar: ProgressBar,
    begun: std::cell::Cell<bool>,
}

impl Progress {
    pub fn new(steps: u64) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        // Rarely, for it costs time that is the client's.
        bar.enable_steady_tick(Duration::from_secs(1));
        Progress { bar, begun: std::cell::Cell::new(false) }
    }

    /// The next step begins.
    pub fn step(&self, what: &str) {
        if self.begun.replace(true) {
            self.bar.inc(1);
        }
        if self.bar.is_hidden() {
            eprintln!("{what}");
        } else {
            self.bar.set_message(what.to_owned());
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
