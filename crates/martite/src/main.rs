//! The binary: reads configuration, wires everything. `martite start`, `martite stop`, `martite bench`.
#![deny(unsafe_code)]

mod allocator;
mod args;
#[cfg(test)]
mod compatibility;
mod dispatch;
mod host;
mod info;
mod lock;
mod logging;
mod machine;
mod memory;
mod nodes;
mod reads;
mod refusals;
mod settings;
mod ssd_tier;
mod start;
mod stop;

use clap::Parser;
use std::process::ExitCode;

/// Exit codes of every command.
pub mod exit {
    /// Something failed; the message says what.
    pub const FAILED: u8 = 1;
    /// The command line or the configuration is wrong.
    pub const USAGE: u8 = 2;
    /// Another server uses the folder.
    pub const LOCKED: u8 = 3;
    /// The server gave up while it ran: its log could not be written.
    pub const ABORTED: u8 = 4;
}

/// An error with its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub code: u8,
    pub message: String,
}

impl Failure {
    pub fn new(code: u8, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }
    /// A plain failure of something.
    pub fn of(what: &str, error: impl std::fmt::Display) -> Failure {
        Failure::new(exit::FAILED, format!("{what}: {error}"))
    }
}

fn main() -> ExitCode {
    let outcome = match args::Args::parse().command {
        args::Command::Shell(args) => return shell(&args),
        args::Command::Start(args) => start::run(&args),
        args::Command::Stop(args) => stop::run(&args),
        args::Command::Bench(args) => bench(&args),
        args::Command::Ycsb(args) => martite_bench::run_ycsb(&args).map_err(|e| Failure::of("ycsb", e)),
        args::Command::Pe(args) => martite_bench::run_pe(&args).map_err(|e| Failure::of("pe", e)),
        args::Command::ImportTsv(args) => martite_import::run(&args).map_err(|e| Failure::of("import-tsv", e)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("martite: {failure}");
            ExitCode::from(failure.code)
        }
    }
}

fn shell(args: &martite_shell::ShellArgs) -> ExitCode {
    match martite_shell::run(args) {
        Ok(code) => ExitCode::from(code),
        Err(refused) => {
            eprintln!("martite: shell: {refused}");
            ExitCode::from(exit::USAGE)
        }
    }
}

fn bench(args: &martite_bench::Bench) -> Result<(), Failure> {
    martite_bench::run(args).map_err(|e| Failure::of("bench", e))
}
