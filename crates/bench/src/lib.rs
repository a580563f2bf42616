//! `martite bench`: loads on servers that speak HBase's protocol, and reports of what they bore.
//!
//! ```text
//! options ──▶ run ── server (start, end) ── setup (tables, cache)
//!                 └─ workload ──▶ drive: lanes on one or two threads ── op: requests, judged answers
//!                                   └─ recorder, process (CPU), profile ──▶ results ──▶ report: text, JSON, HTML
//! ```
//!
//! The load generator shares the machine with the server, so it does little for each row: requests are written as bytes,
//! answers are checked where they lie. A server is driven in a closed loop, where each client thread has one operation under way,
//! or in an open one, where operations are due at a fixed rate.
#![forbid(unsafe_code)]

mod alarm;
mod answer;
mod beside;
mod beyond;
mod by_turns;
mod cores;
mod drive;
pub mod error;
mod lane;
mod machine;
mod of_peak;
mod op;
pub mod options;
mod pace;
mod pe;
mod process;
mod profile;
mod programs;
mod progress;
mod recorder;
mod report;
mod request;
mod rest;
mod results;
mod rounds;
mod rows;
mod run;
mod server;
mod setup;
mod target;
mod tenths;
mod throttled;
mod throttling;
mod timeline;
mod wire;
mod workload;
mod ycsb;
mod zipfian;

pub use error::Error;
pub use options::Bench;
pub use pe::{Pe, run as run_pe};
pub use ycsb::{Ycsb, run as run_ycsb};

/// Runs a benchmark; its report is printed and written.
pub fn run(bench: &Bench) -> Result<(), Error> {
    match bench {
        Bench::Offheap(options) => run::offheap(options),
        Bench::Throttling(options) => throttling::run(options),
        Bench::BeyondMemory(options) => beyond::run(options),
        Bench::Ycsb(options) => ycsb::experiment::run(options),
    }
}
