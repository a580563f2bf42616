//! Fuzzing: everything that reads bytes from outside is given damaged ones, for as long as one likes.
//!
//! ```text
//!  seeds, made by our own writers ──▶ corpus ──▶ mutate ──▶ target ──▶ judge: panic? too long? too much memory?
//!                                        ▲                    │
//!                                        └── new code reached ┘      (only in a build with coverage counters)
//! ```
//! A [`Target`] is a plain function of bytes. It must return, whatever the bytes; where it can, it also checks that what
//! was accepted means the same when it is written and read again. Everything runs on a stable compiler and repeats with
//! its seed.
//!
//! - `cargo test -p martite-fuzz`: a smoke test of all targets, some thousand executions each, and canaries that must
//!   fail.
//! - `cargo xtask fuzz [TARGET…] [--seconds N] [--seed S]`: an optimised build with checks and coverage.
//! - `crates/fuzz/regressions/<target>/`: inputs that once failed; the smoke test runs them first.
//!
//! What is absent: sanitizers. The one crate with unsafe code of its own (store, for its skip list) has other tests.
#![deny(unsafe_code)]

mod coverage;
mod dice;
pub mod engine;
mod judge;
pub mod memory;
pub mod mutate;
pub mod target;
pub mod targets;

pub use dice::Dice;
pub use engine::{Failure, Options, Progress};
pub use judge::{execute, note_panics, print_panics};
pub use target::{Budget, Target};
