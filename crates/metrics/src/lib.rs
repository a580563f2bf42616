//! Times of calls, counted where nobody waits: [`Histogram`], [`CallTimes`] and what they say when they are read.
//!
//! What is absent: names, formats, and any idea of who asks.
#![forbid(unsafe_code)]

mod buckets;
mod calls;
mod histogram;
mod named;
mod snapshot;

pub use calls::{CallSnapshot, CallTimes, Waits};
pub use histogram::Histogram;
pub use named::Named;
pub use snapshot::Snapshot;
