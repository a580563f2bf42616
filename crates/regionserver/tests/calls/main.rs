//! Calls by a client over a socket, on a region server in memory.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod bulk_loads;
mod compactions;
mod endpoints;
mod gets;
mod multi_parts;
mod rig;
mod scans;
