//! The info ports: `/jmx` and `/prometheus` over figures that somebody else gathers.
//!
//! ```text
//! Source::records() ──▶ Record: Server, IPC, Tables …  ──▶ jmx::answer         {"beans":[…]}
//!                       name, value, labels             └─▶ prometheus::answer  name{label="…"} value
//! ```
//! What is absent: the server's own types, and any figure that is not measured.
#![forbid(unsafe_code)]

mod jmx;
mod prometheus;
mod query;
mod record;
mod server;

pub use record::{Figure, Kind, Record};
pub use server::{InfoServer, Page};

/// Gathers what is shown, each time that somebody asks.
pub trait Source: Send + Sync + 'static {
    fn records(&self) -> Vec<Record>;
}
