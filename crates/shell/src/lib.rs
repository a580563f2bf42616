//! `martite shell`: HBase's shell without Ruby and Java.
//!
//! ```text
//! a line ─▶ language ─▶ commands::<group>::<name> ─▶ client ─▶ any HBase
//!                          └─▶ formatter ─▶ the terminal, a pipe
//! ```
//! | Module | Noun |
//! |---|---|
//! | [`language`] | the part of Ruby that people type |
//! | [`cells`] | how columns are named and cells printed |
//! | [`commands`] | a table of groups and commands, one file a command |
//! | [`formatter`] | rows and footers as HBase's shell lays them out |
//! | [`session`] | connection, printer and input of the commands |
//! | [`shell`] | lines in, statements evaluated, values shown |
//! | [`failure`] | exceptions in the words of HBase's shell |
#![forbid(unsafe_code)]

pub mod args;
pub mod cells;
pub mod commands;
mod complete;
pub mod failure;
pub mod formatter;
mod host;
pub mod language;
mod run;
pub mod session;
pub mod shell;
mod terminal;

pub use args::{Refused, ShellArgs};
pub use commands::{Arguments, Arity, Command, Options};
pub use failure::{Failure, Run};
pub use run::run;
pub use session::{Session, Setup};
pub use shell::Shell;
