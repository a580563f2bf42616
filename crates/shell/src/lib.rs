//! `martite shell`: HBase's shell without Ruby and Java.
//!
//! ```text
//! a line ─▶ language ─▶ commands::<group>::<name> ─▶ client ─▶ any HBase
//!                          └─▶ formatter ─▶ the terminal, a pipe
//! ```
//! | Module | Noun |
//! |---|---|
//! | [`language`] | the part of Ruby that people type |
//! | [`commands`] | a table of groups and commands, one file a command |
//! | [`formatter`] | rows and footers as HBase's shell lays them out |
//! | [`session`] | connection, printer and input of the commands |
//! | [`failure`] | exceptions in the words of HBase's shell |
#![forbid(unsafe_code)]

pub mod commands;
pub mod failure;
pub mod formatter;
pub mod language;
pub mod session;

pub use commands::{Arguments, Arity, Command, Options};
pub use failure::{Failure, Run};
pub use session::{Session, Setup};
