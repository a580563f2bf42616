//! `martite bench`: loads on servers that speak HBase's protocol, and reports of what they bore.
//!
//! ```text
//! options ──▶ run ── server (start, end) ── setup (tables, cache)
//!                 └─ workload ──▶ drive: lanes on one or two threads ── op: requests, judged answers
//!                                   └─ recorder, process (CPU), profile ──▶ results ──▶ report: text, JSON, HTML
//! ```
//!
//! The load generator shares the machine with the server, so it does little for each row: requests are written as bytes,
//! answers are checked where they lie. A server is driven in a closed loop: each client thread has one operation under way.
#![forbid(unsafe_code)]

mod answer;
mod drive;
pub mod error;
mod lane;
mod machine;
mod op;
pub mod options;
mod process;
mod profile;
mod progress;
mod recorder;
mod report;
mod request;
mod results;
mod rows;
mod run;
mod server;
mod setup;
mod target;
mod workload;

pub use error::Error;
pub use options::{Bench, Offheap};
pub use run::run;
