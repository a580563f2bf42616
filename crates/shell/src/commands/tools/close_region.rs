//! `close_region`: is no more: see unassign.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "close_region",
    aliases: &[],
    summary: "is no more: see unassign",
    help: "\
Does nothing any more: use unassign.

  hbase> unassign 'REGIONNAME'
",
    arity: Arity::between(1, 2),
    run,
};

fn run(session: &mut Session, _arguments: Arguments) -> Run {
    session.print.puts("DEPRECATED!!! Use 'unassign' command instead.");
    Ok(Value::Nil)
}
