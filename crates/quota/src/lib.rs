//! Quotas: what hbase:quota says, and the arithmetic of limits. Pure: the time is an argument, nothing waits here.
//!
//! ```text
//! hbase:quota ── Settings ── who calls what table ──► the limiters that count
//! ```
#![forbid(unsafe_code)]

mod settings;

pub use settings::{Settings, UserSettings};
