//! Repository chores: `cargo xtask tidy | proto [--check] | e2e [...] | files | model [...] | crash [...] |
//! fuzz [...]`.
#![forbid(unsafe_code)]

mod crash;
mod e2e;
mod files;
mod fuzz;
mod model;
mod proto;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask tidy [--update]      the house rules; --update lowers the numbers of tidy-allow.txt to what they are
cargo xtask proto [--check]      makes crates/proto/src/pb.rs from crates/proto/proto; --check only compares
cargo xtask e2e [--client 2.2|2.4|2.5|2.6] [--test CLASS[,CLASS]] [--binary PATH]
                                 the stock Java client's tests against the real binary; without --client and --test more
cargo xtask files [--binary PATH]  files both ways between Martite and HBase's own classes
cargo xtask model --against QUORUM:PORT [--binary PATH] [--seed FIRST] [--seeds N] [--steps N] [--set NAME] [--shrink]
                                 the same random operations against Martite and another server
cargo xtask crash [--rounds N] [--seed S] [--binary PATH]
                                 kills the real binary at random moments under load
cargo xtask fuzz [TARGET…] [--seconds N] [--seed S] [--list]
                                 damaged bytes for everything that reads any; keeps what reaches new code";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match args[..] {
        ["tidy", ref rest @ ..] => tidy::run(rest),
        ["proto", ref rest @ ..] => proto::run(rest),
        ["e2e", ref rest @ ..] => e2e::run(rest),
        ["files", ref rest @ ..] => files::run(rest),
        ["model", ref rest @ ..] => model::run(rest),
        ["crash", ref rest @ ..] => crash::run(rest),
        ["fuzz", ref rest @ ..] => fuzz::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// What went wrong, as text for the terminal.
type Outcome<T = ()> = Result<T, String>;

/// The top of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Cargo, as it was called.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs to the end; an error unless it succeeds.
fn succeed(command: &mut Command) -> Outcome {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name}: {status}")),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// An error of the file system, with the file's name.
fn at(path: &Path) -> impl Fn(std::io::Error) -> String + '_ {
    move |error| format!("{}: {error}", path.display())
}
