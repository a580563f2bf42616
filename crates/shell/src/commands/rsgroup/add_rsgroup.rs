//! `add_rsgroup`: makes a group.

use crate::commands::{Arguments, Arity, Command};
use crate::failure::Run;
use crate::language::Value;
use crate::session::Session;

pub const COMMAND: Command = Command {
    name: "add_rsgroup",
    aliases: &[],
    summary: "makes a group",
    help: "\
Makes a group.

  hbase> add_rsgroup 'my_group'
",
    arity: Arity::exactly(1),
    run,
};

fn run(session: &mut Session, arguments: Arguments) -> Run {
    let admin = session.admin()?;
    session.wait(admin.add_rsgroup(&arguments.text(0)))?;
    Ok(Value::Nil)
}
