//! `version`: of this shell.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "version",
    aliases: &[],
    summary: "the version of this shell",
    help: "Prints the version of this shell, and of the HBase whose protocols it speaks.\n",
    arity: Arity::NONE,
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.puts(format!("{}, rMartite, as HBase 2.6", env!("CARGO_PKG_VERSION")));
    Ok(Value::Nil)
}
